#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "mapdiag/record/reading.h"
#include "mapdiag/record/record_json.h"

namespace mapdiag::record {

/// Seconds with microseconds: more digits than that are noise.
Json seconds_json(double seconds);

template <class T>
Json optional_json(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

template <class T, class ToJson>
Json reading_json(const Reading<T>& reading, ToJson to_json) {
    Json json = Json::object();
    if (reading) {
        json["value"] = to_json(*reading);
        json["source"] = reading.source();
    } else {
        json["value"] = nullptr;
        json["reason"] = reading.reason();
    }
    return json;
}

/// Reads members of an object that nobody vouches for: a missing member and one of a wrong type are
/// the same, and text is made printable and cut.
class Members {
  public:
    explicit Members(const Json& object) : object_(object) {}

    const Json* find(const char* key) const;
    std::optional<std::uint64_t> count(const char* key) const;
    std::optional<std::int64_t> integer(const char* key) const;
    std::optional<double> number(const char* key) const;
    std::optional<bool> flag(const char* key) const;
    std::optional<std::string> text(const char* key) const;

    /// Puts the member into `target`, where it is there.
    void take(const char* key, std::string& target) const;
    void take(const char* key, double& target) const;
    void take(const char* key, bool& target) const;
    void take(const char* key, std::uint64_t& target) const;
    void take(const char* key, std::uint32_t& target) const;
    void take(const char* key, std::int32_t& target) const;

    /// Puts a reading into `target`, where the member is there; `read` makes a value from JSON, or
    /// nothing where it has the wrong type.
    template <class T, class Read>
    void take_reading(const char* key, Reading<T>& target, Read read) const {
        const auto* member = find(key);
        if (member == nullptr || !member->is_object()) {
            return;
        }
        const Members reading(*member);
        const auto* value = reading.find("value");
        auto made = value == nullptr ? std::optional<T>() : read(*value);
        if (made) {
            target = Reading<T>::of(std::move(*made), reading.text("source").value_or(""));
        } else {
            target = Reading<T>::unavailable(
                reading.text("reason").value_or("the journal does not hold it"));
        }
    }

    /// Calls `each` for every object in the array that the member is.
    template <class Each>
    void for_each(const char* key, Each each) const {
        const auto* member = find(key);
        if (member == nullptr || !member->is_array()) {
            return;
        }
        for (const auto& item : *member) {
            if (item.is_object()) {
                each(Members(item));
            }
        }
    }

  private:
    const Json& object_;
};

/// A whole number of 0 or more.
std::optional<std::uint64_t> find_count(const Json& json);

/// Text from a file that nobody vouches for: printable, 4 KiB at most.
std::string safe_text(std::string_view text);

}  // namespace mapdiag::record
