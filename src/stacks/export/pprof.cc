// https://github.com/google/pprof/blob/main/proto/profile.proto
#include <fmt/format.h>
#include <zlib.h>

#include <limits>
#include <protozero/pbf_writer.hpp>

#include "mapdiag/stacks/export.h"
#include "mapdiag/stacks/frame_parts.h"
#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kPiece = 1U << 18;

namespace field {
enum Profile : protozero::pbf_tag_type {
    sample_type = 1,
    sample = 2,
    location = 4,
    function = 5,
    string_table = 6,
};
enum ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum Sample : protozero::pbf_tag_type { location_id = 1, value = 2 };
enum Location : protozero::pbf_tag_type { id = 1, line = 4 };
enum Line : protozero::pbf_tag_type { function_id = 1, line_number = 2 };
enum Function : protozero::pbf_tag_type { own_id = 1, name = 2, system_name = 3, filename = 4 };
}  // namespace field

/// Packs what it is given as one gzip member without a time in it.
class GzipSink {
  public:
    explicit GzipSink(const Sink& sink) : sink_(sink) {
        constexpr int kGzip = 16;
        constexpr int kMemory = 8;
        // Level 3: twice as fast as the usual 6 for a file that is a tenth larger.
        ready_ = ::deflateInit2(&stream_, 3, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                                Z_DEFAULT_STRATEGY) == Z_OK;
    }
    GzipSink(const GzipSink&) = delete;
    GzipSink& operator=(const GzipSink&) = delete;
    ~GzipSink() { ::deflateEnd(&stream_); }

    Result<void> put(std::string_view bytes, bool last) {
        if (!ready_) {
            return std::unexpected(Error::because("pack", "the profile", "no memory"));
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<unsigned>(bytes.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
            stream_.avail_out = static_cast<unsigned>(packed_.size());
            ::deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
            const auto size = packed_.size() - stream_.avail_out;
            if (auto written = sink_(std::string_view(packed_).substr(0, size)); !written) {
                return written;
            }
        } while (stream_.avail_out == 0);
        return {};
    }

  private:
    const Sink& sink_;
    z_stream stream_ = {};
    bool ready_ = false;
    std::string packed_ = std::string(kPiece, '\0');
};

/// A file is a sequence of fields in any order, so it is written as its parts become known:
/// samples, then the places, functions and strings that they use.
class PprofWriter {
  public:
    PprofWriter(const Profile& profile, const Sink& sink)
        : profile_(profile), gzip_(sink), numbers_(profile.table.id_limit()) {
        string("");
    }

    Result<void> write() {
        protozero::pbf_writer writer(out_);
        {
            protozero::pbf_writer type(writer, field::sample_type);
            type.add_int64(field::type, string("samples"));
            type.add_int64(
                field::unit,
                string(profile_.decimals == 0 ? "count"
                                              : fmt::format("1e-{} count", profile_.decimals)));
        }
        for (const auto& stack : merge_stacks(profile_)) {
            sample(stack);
            if (auto put = flush(false); !put) {
                return put;
            }
        }
        for (std::size_t at = 0; at < frames_.size(); ++at) {
            frame(at + 1, profile_.table.text(frames_[at]));
            if (auto put = flush(false); !put) {
                return put;
            }
        }
        for (std::uint32_t id = 1; id < strings_.id_limit(); ++id) {
            // By its number: the table numbers texts in order of first sight.
            writer.add_string(field::string_table, text_of(id));
            if (auto put = flush(false); !put) {
                return put;
            }
        }
        return flush(true);
    }

  private:
    // Innermost frame first, as the format wants it.
    void sample(const MergedStack& stack) {
        ids_.clear();
        for (auto at = stack.frames.size(); at > 0; --at) {
            auto& number = numbers_[stack.frames[at - 1].value];
            if (number == 0) {
                frames_.push_back(stack.frames[at - 1]);
                number = frames_.size();
            }
            ids_.push_back(number);
        }
        const auto value = static_cast<std::int64_t>(stack.weight);
        protozero::pbf_writer writer(out_);
        protozero::pbf_writer sample(writer, field::sample);
        sample.add_packed_uint64(field::location_id, ids_.begin(), ids_.end());
        sample.add_packed_int64(field::value, &value, &value + 1);
    }

    // A frame is one place and one function here: both have its number.
    void frame(std::uint64_t number, std::string_view text) {
        const auto parts = frame_parts(text);
        protozero::pbf_writer writer(out_);
        {
            protozero::pbf_writer function(writer, field::function);
            function.add_uint64(field::own_id, number);
            function.add_int64(field::name, string(to_valid_utf8(parts.function)));
            function.add_int64(field::system_name, string(to_valid_utf8(text)));
            function.add_int64(field::filename, string(to_valid_utf8(parts.file)));
        }
        protozero::pbf_writer location(writer, field::location);
        location.add_uint64(field::id, number);
        protozero::pbf_writer line(location, field::line);
        line.add_uint64(field::function_id, number);
        line.add_int64(field::line_number, find_i64(parts.line).value_or(0));
    }

    std::int64_t string(std::string_view text) { return strings_.intern(text).value - 1; }
    std::string text_of(std::uint32_t id) const { return std::string(strings_.text({id})); }

    Result<void> flush(bool last) {
        if (!last && out_.size() < kPiece) {
            return {};
        }
        auto put = gzip_.put(out_, last);
        out_.clear();
        return put;
    }

    const Profile& profile_;
    GzipSink gzip_;
    std::vector<std::uint64_t> numbers_;  ///< by frame id, 1 and up
    std::vector<FrameId> frames_;
    std::vector<std::uint64_t> ids_;
    FrameTable strings_;
    std::string out_;
};

}  // namespace

Result<void> write_pprof(const Profile& profile, const Sink& sink) {
    if (profile.total > static_cast<Weight>(std::numeric_limits<std::int64_t>::max())) {
        return std::unexpected(
            Error::because("write", "a pprof file", "it has no counts over 2^63-1"));
    }
    return PprofWriter(profile, sink).write();
}

}  // namespace mapdiag::stacks
