#pragma once

#include <string>
#include <utility>
#include <variant>

namespace mapdiag::record {

/// One measured value with the source that it came from, or the reason why it could not be had.
/// Nothing else in a record stands for a measurement: there is no 0 that means "unknown".
template <class T>
class Reading {
  public:
    /// Not looked at yet; a reading that stays like this says so.
    Reading() : state_(Missing{"it was not read"}) {}

    /// `source` is what a person would look at: "memory.peak of the job's own cgroup".
    static Reading of(T value, std::string source) {
        return Reading(Value{std::move(value), std::move(source)});
    }
    /// `reason` completes "not available, because ...".
    static Reading unavailable(std::string reason) { return Reading(Missing{std::move(reason)}); }

    bool available() const { return std::holds_alternative<Value>(state_); }
    explicit operator bool() const { return available(); }
    /// Only where available().
    const T& value() const { return std::get<Value>(state_).value; }
    const T& operator*() const { return value(); }
    const T* operator->() const { return &value(); }
    const std::string& source() const { return std::get<Value>(state_).source; }
    /// Only where not available().
    const std::string& reason() const { return std::get<Missing>(state_).reason; }

  private:
    struct Value {
        T value;
        std::string source;
    };
    struct Missing {
        std::string reason;
    };
    explicit Reading(Value value) : state_(std::move(value)) {}
    explicit Reading(Missing missing) : state_(std::move(missing)) {}

    std::variant<Value, Missing> state_;
};

}  // namespace mapdiag::record
