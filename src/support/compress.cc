#include "mapdiag/support/compress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>

namespace mapdiag {

/// One way of packing: takes bytes, gives packed ones to a file.
class Packer {
  public:
    Packer() = default;
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;
    virtual ~Packer() = default;

    virtual Result<void> pack(std::string_view bytes, bool is_end, OutputFile& file) = 0;
};

namespace {

constexpr std::size_t kBuffer = 1U << 16;
constexpr int kZstdLevel = 3;
// windowBits for a gzip header, by zlib's manual: 15 and 16.
constexpr int kGzipWindow = 15 + 16;
constexpr int kGzipMemory = 8;

Error no_memory() {
    return Error::because("pack", "the output", "not enough memory");
}

class GzipPacker : public Packer {
  public:
    GzipPacker() {
        ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kGzipMemory,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~GzipPacker() override {
        if (ready_) {
            deflateEnd(&stream_);
        }
    }

    Result<void> pack(std::string_view bytes, bool is_end, OutputFile& file) override {
        if (!ready_) {
            return std::unexpected(no_memory());
        }
        do {
            // zlib counts input in 32 bits.
            const auto size = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
            stream_.avail_in = static_cast<uInt>(size);
            bytes.remove_prefix(size);
            if (auto done = drain(is_end && bytes.empty() ? Z_FINISH : Z_NO_FLUSH, file); !done) {
                return done;
            }
        } while (!bytes.empty());
        return {};
    }

  private:
    Result<void> drain(int flush, OutputFile& file) {
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
            stream_.avail_out = static_cast<uInt>(buffer_.size());
            deflate(&stream_, flush);
            const auto packed = buffer_.size() - stream_.avail_out;
            if (auto written = file.write({buffer_.data(), packed}); !written) {
                return written;
            }
        } while (stream_.avail_out == 0);
        return {};
    }

    z_stream stream_ = {};
    bool ready_ = false;
    std::array<char, kBuffer> buffer_{};
};

class ZstdPacker : public Packer {
  public:
    ZstdPacker() : context_(ZSTD_createCCtx()) {
        if (context_ != nullptr) {
            ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kZstdLevel);
            ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
        }
    }
    ~ZstdPacker() override { ZSTD_freeCCtx(context_); }

    Result<void> pack(std::string_view bytes, bool is_end, OutputFile& file) override {
        if (context_ == nullptr) {
            return std::unexpected(no_memory());
        }
        ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
        for (;;) {
            ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), 0};
            const auto left =
                ZSTD_compressStream2(context_, &out, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left) != 0) {
                return std::unexpected(
                    Error::because("pack", "the output", ZSTD_getErrorName(left)));
            }
            if (auto written = file.write({buffer_.data(), out.pos}); !written) {
                return written;
            }
            if (is_end ? left == 0 : in.pos == in.size) {
                return {};
            }
        }
    }

  private:
    ZSTD_CCtx* context_;
    std::array<char, kBuffer> buffer_{};
};

}  // namespace

PackedOutput::PackedOutput(OutputFile file, std::unique_ptr<Packer> packer)
    : file_(std::move(file)), packer_(std::move(packer)) {}
PackedOutput::PackedOutput(PackedOutput&&) noexcept = default;
PackedOutput::~PackedOutput() = default;

Result<PackedOutput> PackedOutput::create(const std::string& path, unsigned mode) {
    auto file = OutputFile::create(path, mode);
    if (!file) {
        return std::unexpected(file.error());
    }
    std::unique_ptr<Packer> packer;
    if (path.ends_with(".gz")) {
        packer = std::make_unique<GzipPacker>();
    } else if (path.ends_with(".zst")) {
        packer = std::make_unique<ZstdPacker>();
    }
    return PackedOutput(std::move(*file), std::move(packer));
}

Result<void> PackedOutput::write(std::string_view bytes) {
    return packer_ ? packer_->pack(bytes, false, file_) : file_.write(bytes);
}

Result<void> PackedOutput::commit() {
    if (packer_) {
        if (auto packed = packer_->pack({}, true, file_); !packed) {
            return packed;
        }
    }
    return file_.commit();
}

}  // namespace mapdiag
