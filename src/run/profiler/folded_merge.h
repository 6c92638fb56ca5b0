#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mapdiag/support/error.h"

namespace mapdiag::run {

/// Samples whose stack holds no Python frame are kept under this name, so that totals stay right.
inline constexpr std::string_view kNoFrame = "[no Python frame]";

/// What was read from one raw file of py-spy.
struct RawCounts {
    std::uint64_t samples = 0;  ///< all, also those without a frame
    std::uint64_t without_frame = 0;
    std::uint64_t mended_lines = 0;  ///< put together from pieces: a name held line ends
    std::uint64_t lost_lines = 0;    ///< no stack with a count could be seen in them
};

/// The profile of a run: equal stacks of several py-spys are summed.
class FoldedMerge {
  public:
    /// Adds what a raw file holds. `root`: frames to put at the root of every stack, each with a
    /// ';' behind it. Frames that py-spy builds from command lines are reduced to
    /// `process <pid> (<program>)`: nothing of an argument gets through.
    RawCounts add(std::string_view raw, const std::string& root = {});

    std::uint64_t samples() const { return samples_; }
    std::uint64_t stacks() const { return counts_.size(); }
    /// Samples that hold at least one frame.
    std::uint64_t samples_with_frames() const { return samples_ - without_frame_; }

    /// One line a stack, sorted, whole or not at all.
    Result<void> write(const std::string& path) const;

  private:
    void count(std::string stack, std::uint64_t count);

    std::unordered_map<std::string, std::uint64_t> counts_;
    std::uint64_t samples_ = 0;
    std::uint64_t without_frame_ = 0;
};

}  // namespace mapdiag::run
