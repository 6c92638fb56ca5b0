#include "mapdiag/stacks/profile.h"

#include <fmt/format.h>

#include "wide.h"

namespace mapdiag::stacks {

std::uint64_t Profile::stack_count() const {
    std::uint64_t count = 0;
    for (const auto& part : parts) {
        count += part.stacks.size();
    }
    return count;
}

std::string format_weight(Weight weight, unsigned decimals) {
    if (decimals == 0) {
        return std::to_string(weight);
    }
    auto digits = fmt::format("{:0{}}", weight, decimals + 1);
    digits.insert(digits.size() - decimals, 1, '.');
    digits.resize(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') {
        digits.pop_back();
    }
    return digits;
}

std::string counted(std::string_view number, std::string_view thing) {
    return fmt::format("{} {}{}", number, thing, number == "1" ? "" : "s");
}

std::string counted(std::uint64_t number, std::string_view thing) {
    return counted(std::to_string(number), thing);
}

std::string samples_text(Weight weight, unsigned decimals) {
    return counted(format_weight(weight, decimals), "sample");
}

std::string format_percent(Weight part, Weight whole) {
    if (whole == 0) {
        return "0.00";
    }
    const auto hundredths = static_cast<std::uint64_t>((product(part, 10000) * 2 + whole) /
                                                       (static_cast<Wide>(whole) * 2));
    return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

}  // namespace mapdiag::stacks
