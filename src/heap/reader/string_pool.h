#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapdiag::heap {

/// 64 bits of hash of `bytes`; the same key and bytes give the same hash. With a secret key the
/// hash tells nothing about the bytes.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t key);

/// Distinct strings, numbered from 0 in order of first appearance, in flat arrays.
class StringPool {
  public:
    StringPool();

    /// The number of `text`, which is added where it is new.
    std::uint32_t intern(std::string_view text);
    std::optional<std::uint32_t> find(std::string_view text) const;

    std::string_view operator[](std::uint32_t number) const {
        return std::string_view(bytes_).substr(starts_[number],
                                               starts_[number + 1] - starts_[number]);
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(starts_.size() - 1); }

    const std::string& bytes() const { return bytes_; }
    const std::vector<std::uint64_t>& starts() const { return starts_; }

  private:
    std::size_t slot_of(std::string_view text) const;
    void grow();

    std::string bytes_;
    std::vector<std::uint64_t> starts_;  // one more than there are strings
    std::vector<std::uint32_t> slots_;   // open addressing; number + 1, 0 = free
    std::uint32_t last_ = UINT32_MAX;    // dumps repeat types: the last answer is tried first
};

}  // namespace mapdiag::heap
