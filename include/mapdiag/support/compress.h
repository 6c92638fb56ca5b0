#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mapdiag/support/error.h"
#include "mapdiag/support/output_file.h"

namespace mapdiag {

class Packer;

/// An output file that is packed on the way, by the ending of its name: .gz with gzip, .zst with
/// zstd, anything else not at all. It appears whole or not at all, as OutputFile does.
class PackedOutput {
  public:
    static Result<PackedOutput> create(const std::string& path, unsigned mode = 0666);

    PackedOutput(PackedOutput&&) noexcept;
    PackedOutput& operator=(PackedOutput&&) = delete;
    PackedOutput(const PackedOutput&) = delete;
    PackedOutput& operator=(const PackedOutput&) = delete;
    ~PackedOutput();

    Result<void> write(std::string_view bytes);
    /// Ends the packed stream and puts the file in its place.
    Result<void> commit();

  private:
    PackedOutput(OutputFile file, std::unique_ptr<Packer> packer);

    OutputFile file_;
    std::unique_ptr<Packer> packer_;  // null: plain
};

}  // namespace mapdiag
