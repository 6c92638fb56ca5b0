#include "mapdiag/stacks/export.h"

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kPiece = 1U << 16;

}  // namespace

Result<void> write_folded(const Profile& profile, const Sink& sink) {
    std::string out;
    for (const auto& stack : merge_stacks(profile)) {
        bool first = true;
        for (const auto id : stack.frames) {
            if (!first) {
                out += ';';
            }
            first = false;
            out += profile.table.text(id);
        }
        out += ' ';
        out += format_weight(stack.weight, profile.decimals);
        out += '\n';
        if (out.size() > kPiece) {
            if (auto put = sink(out); !put) {
                return put;
            }
            out.clear();
        }
    }
    return sink(out);
}

}  // namespace mapdiag::stacks
