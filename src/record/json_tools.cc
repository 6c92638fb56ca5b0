#include "json_tools.h"

#include <cmath>
#include <limits>

#include "mapdiag/support/text.h"

namespace mapdiag::record {
namespace {

constexpr std::size_t kLongestText = 4096;

}  // namespace

Json seconds_json(double seconds) {
    return std::isfinite(seconds) ? Json(std::round(seconds * 1e6) / 1e6) : Json(nullptr);
}

std::string safe_text(std::string_view text) {
    auto safe = printable(text.substr(0, kLongestText));
    if (safe.size() > kLongestText) {
        safe.resize(kLongestText);
        safe = to_valid_utf8(safe);
    }
    return safe;
}

const Json* Members::find(const char* key) const {
    if (!object_.is_object()) {
        return nullptr;
    }
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> find_count(const Json& json) {
    // A number that was made in memory may be of a signed kind, a parsed one is unsigned.
    if (!json.is_number_integer() || (!json.is_number_unsigned() && json.get<std::int64_t>() < 0)) {
        return std::nullopt;
    }
    return json.get<std::uint64_t>();
}

std::optional<std::uint64_t> Members::count(const char* key) const {
    const auto* member = find(key);
    return member == nullptr ? std::nullopt : find_count(*member);
}

std::optional<std::int64_t> Members::integer(const char* key) const {
    const auto* member = find(key);
    if (member == nullptr || !member->is_number_integer()) {
        return std::nullopt;
    }
    if (member->is_number_unsigned() &&
        member->get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
    }
    return member->get<std::int64_t>();
}

std::optional<double> Members::number(const char* key) const {
    const auto* member = find(key);
    if (member == nullptr || !member->is_number()) {
        return std::nullopt;
    }
    const auto value = member->get<double>();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> Members::flag(const char* key) const {
    const auto* member = find(key);
    return member != nullptr && member->is_boolean() ? std::optional(member->get<bool>())
                                                     : std::nullopt;
}

std::optional<std::string> Members::text(const char* key) const {
    const auto* member = find(key);
    if (member == nullptr || !member->is_string()) {
        return std::nullopt;
    }
    return safe_text(member->get_ref<const std::string&>());
}

void Members::take(const char* key, std::string& target) const {
    if (auto found = text(key)) {
        target = std::move(*found);
    }
}

void Members::take(const char* key, double& target) const {
    if (const auto found = number(key)) {
        target = *found;
    }
}

void Members::take(const char* key, bool& target) const {
    if (const auto found = flag(key)) {
        target = *found;
    }
}

void Members::take(const char* key, std::uint64_t& target) const {
    if (const auto found = count(key)) {
        target = *found;
    }
}

void Members::take(const char* key, std::uint32_t& target) const {
    const auto found = count(key);
    if (found && *found <= std::numeric_limits<std::uint32_t>::max()) {
        target = static_cast<std::uint32_t>(*found);
    }
}

void Members::take(const char* key, std::int32_t& target) const {
    const auto found = integer(key);
    if (found && *found <= std::numeric_limits<std::int32_t>::max() &&
        *found >= std::numeric_limits<std::int32_t>::min()) {
        target = static_cast<std::int32_t>(*found);
    }
}

}  // namespace mapdiag::record
