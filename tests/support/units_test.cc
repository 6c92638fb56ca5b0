#include "mapdiag/support/units.h"

#include "support/catch.h"

using namespace mapdiag;

TEST_CASE("bytes are rounded in binary units") {
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_bytes(1023) == "1023 B");
    CHECK(format_bytes(1024) == "1.00 KiB");
    CHECK(format_bytes(104857600) == "100.0 MiB");
    CHECK(format_bytes(8589934592) == "8.00 GiB");
    CHECK(format_bytes(1048575) == "1.00 MiB");
    CHECK(format_bytes(18446744073709551615ULL) == "16.0 EiB");
}

TEST_CASE("durations, shares and counts") {
    CHECK(format_seconds(0) == "0.00 s");
    CHECK(format_seconds(3.004) == "3.00 s");
    CHECK(format_seconds(12.34) == "12.3 s");
    CHECK(format_seconds(245) == "4 min 05 s");
    CHECK(format_seconds(7620) == "2 h 07 min");
    CHECK(format_share(110, 400) == "27.5 %");
    CHECK(format_share(0, 400) == "0 %");
    CHECK(format_share(1, 1e9) == "< 0.1 %");
    CHECK(format_share(1, 0) == "no share");
    CHECK(format_count(999) == "999");
    CHECK(format_count(1234567) == "1 234 567");
}

TEST_CASE("sizes are read with the kernel's factors, and SI ones where the unit says so") {
    CHECK(parse_size("512") == 512U);
    CHECK(parse_size("1.5G") == 1610612736U);
    CHECK(parse_size("2 GiB") == 2147483648U);
    CHECK(parse_size("100MB") == 100000000U);
    CHECK(parse_size("1x").error().text() ==
          "can't read the size \"1x\": the unit must be one of B, K, M, G, T, KiB, MiB, GiB, TiB, "
          "KB, MB, GB, TB");
    CHECK(parse_size("-1").error().text() ==
          "can't read the size \"-1\": not a number of 0 or more");
    CHECK(parse_size("nan").error().text() ==
          "can't read the size \"nan\": not a number of 0 or more");
    CHECK(parse_size("99999999999T").error().text() ==
          "can't read the size \"99999999999T\": more than 2^64 bytes");
}

TEST_CASE("durations are read") {
    CHECK(parse_duration("30") == std::chrono::seconds(30));
    CHECK(parse_duration("250ms") == std::chrono::milliseconds(250));
    CHECK(parse_duration("1.5h") == std::chrono::minutes(90));
    CHECK(parse_duration("2w").error().text() ==
          "can't read the duration \"2w\": the unit must be one of s, ms, m, h, d");
    CHECK(parse_duration("999999d").error().text() ==
          "can't read the duration \"999999d\": more than 285 years");
}
