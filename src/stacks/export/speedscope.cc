// https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mapdiag/stacks/export.h"
#include "mapdiag/stacks/frame_parts.h"
#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kPiece = 1U << 16;

class SpeedscopeWriter {
  public:
    SpeedscopeWriter(const Profile& profile, const Sink& sink)
        : profile_(profile), sink_(sink), stacks_(merge_stacks(profile)) {}

    Result<void> write(const std::string& name) {
        out_ +=
            R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[)";
        if (auto done = frames(); !done) {
            return done;
        }
        const auto shown = text(name);
        out_ += fmt::format(
            R"(]}},"profiles":[{{"type":"sampled","name":{},"unit":"none","startValue":0,"endValue":{},"samples":[)",
            shown, format_weight(profile_.total, profile_.decimals));
        if (auto done = samples(); !done) {
            return done;
        }
        out_ += R"(],"weights":[)";
        for (std::size_t i = 0; i < stacks_.size(); ++i) {
            comma(i);
            out_ += format_weight(stacks_[i].weight, profile_.decimals);
            if (auto put = flush(kPiece); !put) {
                return put;
            }
        }
        out_ +=
            fmt::format(R"(]}}],"name":{},"activeProfileIndex":0,"exporter":"mapdiag"}})", shown);
        out_ += '\n';
        return flush(0);
    }

  private:
    Result<void> frames() {
        // Numbered by first use, so that the file does not depend on how frames are stored.
        numbers_.resize(profile_.table.id_limit());
        for (const auto& stack : stacks_) {
            for (const auto id : stack.frames) {
                if (numbers_[id.value] == 0) {
                    comma(used_);
                    numbers_[id.value] = ++used_;
                    frame(profile_.table.text(id));
                    if (auto put = flush(kPiece); !put) {
                        return put;
                    }
                }
            }
        }
        return {};
    }

    void frame(std::string_view text_of_frame) {
        const auto parts = frame_parts(text_of_frame);
        out_ += R"({"name":)" + text(parts.function);
        if (!parts.file.empty()) {
            out_ += R"(,"file":)" + text(parts.file);
        }
        if (const auto line = find_u64(parts.line)) {
            out_ += fmt::format(R"(,"line":{})", *line);
        }
        out_ += '}';
    }

    Result<void> samples() {
        for (std::size_t i = 0; i < stacks_.size(); ++i) {
            comma(i);
            out_ += '[';
            std::size_t at = 0;
            for (const auto id : stacks_[i].frames) {
                comma(at++);
                out_ += fmt::format_int(numbers_[id.value] - 1).c_str();
            }
            out_ += ']';
            if (auto put = flush(kPiece); !put) {
                return put;
            }
        }
        return {};
    }

    void comma(std::size_t index) {
        if (index > 0) {
            out_ += ',';
        }
    }

    static std::string text(std::string_view bytes) {
        return nlohmann::json(to_valid_utf8(bytes)).dump();
    }

    Result<void> flush(std::size_t from) {
        if (out_.size() < from) {
            return {};
        }
        auto put = sink_(out_);
        out_.clear();
        return put;
    }

    const Profile& profile_;
    const Sink& sink_;
    std::vector<MergedStack> stacks_;
    std::vector<std::uint32_t> numbers_;  ///< by frame id, 1 and up
    std::uint32_t used_ = 0;
    std::string out_;
};

}  // namespace

Result<void> write_speedscope(const Profile& profile, const std::string& name, const Sink& sink) {
    return SpeedscopeWriter(profile, sink).write(name);
}

}  // namespace mapdiag::stacks
