#include <zstd.h>

#include "decoder.h"

namespace mapdiag {
namespace {

class ZstdDecoder : public Decoder {
  public:
    void start() override { ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }

    DecoderStep step(std::string_view input, std::span<char> output) override {
        ZSTD_inBuffer in = {input.data(), input.size(), 0};
        ZSTD_outBuffer out = {output.data(), output.size(), 0};
        const auto left = ZSTD_decompressStream(context_.get(), &out, &in);
        DecoderStep done{.consumed = in.pos, .produced = out.pos};
        if (ZSTD_isError(left) != 0) {
            done.damage = ZSTD_getErrorName(left);
        } else {
            done.ended = left == 0;
        }
        return done;
    }

    // A frame begins with a magic number of its own or with one of the sixteen of skippable frames.
    bool may_start(std::string_view input) const override {
        return input.starts_with('\x28') || (input.front() & '\xF0') == '\x50';
    }

  private:
    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() {
    return std::make_unique<ZstdDecoder>();
}

}  // namespace mapdiag
