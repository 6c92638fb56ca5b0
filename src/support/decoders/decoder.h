#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mapdiag/support/decompress.h"

namespace mapdiag {

/// What one call of Decoder::step() did.
struct DecoderStep {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    /// The member (gzip) or frame (zstd) is complete and its checksum right.
    bool ended = false;
    /// What is wrong with the data; empty where nothing is.
    std::string damage;
};

/// Unpacks one member or frame after the other. Knows nothing of files.
class Decoder {
  public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;

    /// Makes ready for the next member or frame.
    virtual void start() = 0;
    virtual DecoderStep step(std::string_view input, std::span<char> output) = 0;
    /// True where `input`, the bytes after a member, may begin another one.
    virtual bool may_start(std::string_view input) const = 0;
};

std::unique_ptr<Decoder> make_gzip_decoder(bool use_isal);
std::unique_ptr<Decoder> make_zstd_decoder();

/// Nothing where libisal.so.2 can't be loaded, or mapdiag was built without its header.
std::unique_ptr<Decoder> find_isal_decoder();

}  // namespace mapdiag
