#include "line.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace mapdiag::stacks {
namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct Split {
    std::string_view before;
    std::string_view last;
    bool has_blank = false;
};

// The last word, and what stands before the blanks in front of it.
Split split_last_word(std::string_view text) {
    const auto blank = text.find_last_of(" \t");
    if (blank == std::string_view::npos) {
        return {.before = {}, .last = text, .has_blank = false};
    }
    return {.before = without_end_blanks(text.substr(0, blank)),
            .last = text.substr(blank + 1),
            .has_blank = true};
}

enum class NumberKind { whole, fraction, list, none };

// The kind of word that stands where a count should be: "12", "1.5", "12,1,-40" (austin in full
// mode).
NumberKind kind_of(std::string_view word) {
    if (word.empty() || word.find_first_not_of("0123456789.,-") != std::string_view::npos ||
        !is_digit(word.back())) {
        return NumberKind::none;
    }
    if (word.contains(',')) {
        return NumberKind::list;
    }
    if (!is_digit(word.front()) || word.contains('-')) {
        return NumberKind::none;
    }
    const auto dots = std::ranges::count(word, '.');
    return dots == 0 ? NumberKind::whole : dots == 1 ? NumberKind::fraction : NumberKind::none;
}

std::optional<Weight> whole_number(std::string_view digits) {
    Weight value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [at, failure] = std::from_chars(digits.data(), end, value);
    return failure == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}

// "1.5" as 1 and 500000 millionths; further decimals are rounded half up.
std::optional<Count> read_fraction(std::string_view word) {
    const auto dot = word.find('.');
    const auto whole = whole_number(word.substr(0, dot));
    if (!whole) {
        return std::nullopt;
    }
    auto decimals = word.substr(dot + 1);
    decimals = decimals.substr(0, decimals.find_last_not_of('0') + 1);
    Count count{.whole = *whole, .rounded = decimals.size() > kMostDecimals};
    std::uint32_t unit = 1000000;
    for (const char digit : decimals.substr(0, kMostDecimals)) {
        unit /= 10;
        count.millionths += static_cast<std::uint32_t>(digit - '0') * unit;
    }
    if (count.rounded && decimals[kMostDecimals] >= '5') {
        ++count.millionths;
    }
    if (count.millionths == 1000000) {
        count.millionths = 0;
        if (++count.whole == 0) {
            return std::nullopt;
        }
    }
    return count;
}

struct CountWord {
    Count count;
    std::optional<Problem> problem;
    Weight negative = 0;
};

// A negative count, or a word that is no count at all.
CountWord read_refused_count(std::string_view word) {
    if (word.starts_with('-')) {
        const auto kind = kind_of(word.substr(1));
        if (kind == NumberKind::whole || kind == NumberKind::fraction) {
            const auto whole = word.substr(1, word.find('.') - 1);
            return {.problem = Problem::negative_count,
                    .negative = whole_number(whole).value_or(std::numeric_limits<Weight>::max())};
        }
    }
    return {.problem = Problem::no_count};
}

CountWord read_count(std::string_view word) {
    if (const auto whole = whole_number(word)) {
        return {.count = {.whole = *whole}};
    }
    switch (kind_of(word)) {
        case NumberKind::fraction:
            if (const auto count = read_fraction(word)) {
                return {.count = *count};
            }
            return {.problem = Problem::large_count};
        case NumberKind::whole:
            return {.problem = Problem::large_count};
        case NumberKind::list:
            return {.problem = Problem::austin_full_metrics};
        case NumberKind::none:
            break;
    }
    return read_refused_count(word);
}

bool is_count(std::string_view word) {
    const auto kind = kind_of(word);
    return kind == NumberKind::whole || kind == NumberKind::fraction;
}

}  // namespace

std::string_view without_end_blanks(std::string_view text) {
    const auto last = text.find_last_not_of(kBlanks);
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool says_nothing(std::string_view text) {
    if (text.empty()) {
        return true;
    }
    // "# key: value" of austin, "# comment" of others; a frame may be called "#1".
    return text.front() == '#' && (text.size() == 1 || text[1] == ' ' || text[1] == '\t');
}

bool has_two_counts(std::string_view text) {
    const auto last = split_last_word(text);
    const auto before = split_last_word(last.before);
    return last.has_blank && before.has_blank && is_count(last.last) && is_count(before.last);
}

Line read_line(std::string_view text, unsigned columns) {
    const auto last = split_last_word(text);
    const auto word = read_count(last.last);
    Line line{.stack = last.before, .count = word.count, .problem = word.problem};
    line.negative = word.negative;
    if (line.problem) {
        return line;
    }
    if (!last.has_blank) {
        line.problem = Problem::no_stack;
        return line;
    }
    if (columns == 2) {
        const auto before = split_last_word(last.before);
        const auto first = read_count(before.last);
        if (!before.has_blank || first.problem) {
            line.problem = Problem::one_count_of_two;
            return line;
        }
        line.stack = before.before;
        line.second = line.count;
        line.count = first.count;
    }
    return line;
}

std::size_t process_opening(std::string_view text) {
    constexpr std::string_view kWord = "process ";
    if (!text.starts_with(kWord)) {
        return 0;
    }
    auto at = kWord.size();
    while (at < text.size() && is_digit(text[at])) {
        ++at;
    }
    return at > kWord.size() && text.substr(at).starts_with(":\"") ? at + 2 : 0;
}

std::size_t process_frame_length(std::string_view stack) {
    const auto opening = process_opening(stack);
    std::size_t last = 0;
    for (auto at = stack.find("\";", opening); at != std::string_view::npos;
         at = stack.find("\";", at + 2)) {
        last = at + 1;
        if (process_opening(stack.substr(at + 2)) > 0) {
            return last;
        }
    }
    if (last == 0 && stack.size() > opening && stack.ends_with('"')) {
        return stack.size();
    }
    return last;
}

}  // namespace mapdiag::stacks
