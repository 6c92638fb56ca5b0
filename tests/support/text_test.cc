#include "mapdiag/support/text.h"

#include "support/catch.h"

using namespace mapdiag;

TEST_CASE("numbers are read strictly") {
    CHECK(find_u64("18446744073709551615") == 18446744073709551615ULL);
    CHECK(!find_u64("18446744073709551616"));
    CHECK(!find_u64("-1"));
    CHECK(!find_u64(""));
    CHECK(!find_u64("1 "));
    CHECK(find_i64("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    CHECK(!find_i64("+1"));
}

TEST_CASE("split and trim") {
    CHECK(split("a::b", ':') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split("", ':') == std::vector<std::string_view>{""});
    CHECK(split_words("  a\tb \n") == std::vector<std::string_view>{"a", "b"});
    CHECK(split_words(" ").empty());
    CHECK(trim(" \r\na b\t") == "a b");
    CHECK(trim(" ").empty());
}

TEST_CASE("a key's value is found on its own line only") {
    constexpr std::string_view kStat = "rss 1\nrss_huge 2\ntotal_rss 3\n";
    CHECK(find_key_value(kStat, "rss") == 1U);
    CHECK(find_key_value(kStat, "rss_huge") == 2U);
    CHECK(!find_key_value(kStat, "huge"));
    CHECK(!find_key_value("rss x\n", "rss"));
}

TEST_CASE("what is printed can't steer a terminal or break a line") {
    CHECK(printable("caf\xC3\xA9") == "caf\xC3\xA9");
    CHECK(printable("a\nb\tc\x1B[2J") == "a\\nb\\tc\\x1b[2J");
    CHECK(printable("\xC2\x9B") == "\\x9b");
    CHECK(printable("\xFF") == "\\xff");
    CHECK(quoted("x") == "\"x\"");
}

TEST_CASE("UTF-8 is checked as the standard says") {
    CHECK(utf8_length("a") == 1);
    CHECK(utf8_length("\xC0\x80") == 0);          // overlong
    CHECK(utf8_length("\xED\xA0\x80") == 0);      // surrogate
    CHECK(utf8_length("\xF4\x90\x80\x80") == 0);  // over U+10FFFF
    CHECK(utf8_length("\xF0\x9F\x98\x80") == 4);
    CHECK(utf8_length("\xE2\x82") == 0);  // cut
    CHECK(to_valid_utf8("a\xFFz") == "a\xEF\xBF\xBDz");
}
