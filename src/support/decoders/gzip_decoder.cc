#include <zlib.h>

#include <algorithm>
#include <limits>

#include "decoder.h"

namespace mapdiag {
namespace {

// zlib counts in unsigned int.
unsigned at_most(std::size_t size) {
    return static_cast<unsigned>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

class ZlibDecoder : public Decoder {
  public:
    ZlibDecoder() {
        constexpr int kGzipOnly = 16;
        // The only way to fail is to have no memory, which step() then reports.
        ready_ = ::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
    }
    ZlibDecoder(const ZlibDecoder&) = delete;
    ZlibDecoder& operator=(const ZlibDecoder&) = delete;
    ~ZlibDecoder() override { ::inflateEnd(&stream_); }

    void start() override { ::inflateReset(&stream_); }

    DecoderStep step(std::string_view input, std::span<char> output) override {
        if (!ready_) {
            return {.damage = "no memory to unpack it"};
        }
        // zlib does not write to its input, though its type allows it.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
        stream_.avail_in = at_most(input.size());
        stream_.next_out = reinterpret_cast<Bytef*>(output.data());
        stream_.avail_out = at_most(output.size());
        const auto code = ::inflate(&stream_, Z_NO_FLUSH);
        DecoderStep done{.consumed = at_most(input.size()) - stream_.avail_in,
                         .produced = at_most(output.size()) - stream_.avail_out,
                         .ended = code == Z_STREAM_END};
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            done.damage = stream_.msg != nullptr ? stream_.msg : "not valid gzip data";
        }
        return done;
    }

    bool may_start(std::string_view input) const override { return input.starts_with('\x1F'); }

  private:
    z_stream stream_ = {};
    bool ready_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder(bool use_isal) {
    if (use_isal) {
        if (auto decoder = find_isal_decoder()) {
            return decoder;
        }
    }
    return std::make_unique<ZlibDecoder>();
}

}  // namespace mapdiag
