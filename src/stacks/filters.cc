#include "mapdiag/stacks/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "mapdiag/stacks/frame_parts.h"

namespace mapdiag::stacks {
namespace {

// `process 12 (python)` -> `process (python)`, `process 12:"..."` -> `process:"..."`, `P12` -> `P`,
// `thread (12): name` -> `thread: name`, `T0:12` -> `T`.
std::string without_ids(std::string_view frame) {
    if (frame.starts_with("process ")) {
        const auto rest = frame.substr(8);
        const auto end = rest.find_first_not_of("0123456789");
        return "process" + std::string(end == std::string_view::npos ? "" : rest.substr(end));
    }
    if (frame.starts_with("thread (")) {
        return "thread" + std::string(frame.substr(frame.find(')') + 1));
    }
    return std::string(frame.substr(0, 1));
}

class Filtering {
  public:
    Filtering(Profile& profile, const Filters& filters) : profile_(profile), filters_(filters) {
        const auto limit = profile.table.id_limit();
        included_ = marks(limit, filters.include);
        excluded_ = marks(limit, filters.exclude);
        roots_ = marks(limit, filters.root);
        hidden_ = marks(limit, filters.hide);
        if (filters.hide_startup) {
            startup_.resize(limit);
            for (std::uint32_t id = 1; id < limit; ++id) {
                startup_[id] = is_startup_frame(profile.table.text({id}));
            }
        }
        // Here the table grows, behind the ids that stacks have.
        renamed_.resize(limit);
        for (std::uint32_t id = 1; id < limit; ++id) {
            const auto text = profile.table.text({id});
            const bool merged =
                filters.merge_processes && (is_process_frame(text) || is_thread_frame(text));
            renamed_[id] = merged ? profile.table.intern(without_ids(text)) : FrameId{id};
        }
        all_hidden_ = profile.table.intern(kAllHidden);
        if (filters.collapse_recursion) {
            number_functions();
        }
    }

    Result<void> apply() {
        Weight total = 0;
        for (auto& part : profile_.parts) {
            total += apply(part);
        }
        profile_.total = total;
        note_effects();
        if (total == 0) {
            return std::unexpected(
                Error::because("show a profile", "", "the filters leave no samples of it"));
        }
        return {};
    }

  private:
    std::vector<bool> marks(std::size_t limit, const std::optional<Pattern>& pattern) const {
        std::vector<bool> marks;
        if (pattern) {
            marks.resize(limit);
            for (std::uint32_t id = 1; id < limit; ++id) {
                marks[id] = pattern->matches(profile_.table.text({id}));
            }
        }
        return marks;
    }

    void number_functions() {
        FrameTable functions;
        functions_.resize(profile_.table.id_limit());
        for (std::uint32_t id = 1; id < functions_.size(); ++id) {
            const auto parts = frame_parts(profile_.table.text({id}));
            std::string key(parts.function);
            key += '\0';
            key += parts.file;
            functions_[id] = functions.intern(key);
        }
    }

    // Works in place: no stack gets longer, except that an empty one gets a frame in place of those
    // that it lost.
    Weight apply(StackPart& part) {
        Weight total = 0;
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        std::size_t kept = 0;
        for (const auto stack : part.stacks) {
            const auto frames = std::span(part.frames).subspan(from, stack.end - from);
            from = stack.end;
            const auto first = first_frame(frames, stack.weight);
            if (!first) {
                continue;
            }
            to = keep_frames(part.frames, frames.subspan(*first), to);
            part.stacks[kept++] = {.end = to, .weight = stack.weight};
            total += stack.weight;
        }
        part.stacks.resize(kept);
        part.frames.resize(to);
        return total;
    }

    // Where the stack begins after --root; nothing where a filter removes it.
    std::optional<std::size_t> first_frame(std::span<const FrameId> frames, Weight weight) {
        const auto any = [&](const std::vector<bool>& marks) {
            return std::ranges::any_of(frames, [&](FrameId id) { return marks[id.value]; });
        };
        if (filters_.include && !any(included_)) {
            removed(by_include_, weight);
            return std::nullopt;
        }
        if (filters_.exclude && any(excluded_)) {
            removed(by_exclude_, weight);
            return std::nullopt;
        }
        if (!filters_.root) {
            return 0;
        }
        const auto root =
            std::ranges::find_if(frames, [&](FrameId id) { return roots_[id.value]; });
        if (root == frames.end()) {
            removed(by_root_, weight);
            return std::nullopt;
        }
        const auto first = static_cast<std::size_t>(root - frames.begin());
        by_root_.frames += first;
        return first;
    }

    std::uint64_t keep_frames(std::vector<FrameId>& frames, std::span<const FrameId> stack,
                              std::uint64_t to) {
        const auto first = to;
        for (const auto id : stack) {
            if (filters_.hide_startup && startup_[id.value]) {
                ++by_startup_.frames;
                continue;
            }
            if (filters_.hide && hidden_[id.value]) {
                ++by_hide_.frames;
                continue;
            }
            const auto name = renamed_[id.value];
            by_merge_.frames += name != id ? 1 : 0;
            if (filters_.collapse_recursion && to > first &&
                functions_[frames[to - 1].value] == functions_[name.value]) {
                // The inner call stays, since its line is where the time went.
                frames[to - 1] = name;
                ++by_collapse_.frames;
                continue;
            }
            frames[to++] = name;
        }
        if (to == first) {
            frames[to++] = all_hidden_;
        }
        return to;
    }

    static void removed(FilterEffect& effect, Weight weight) {
        effect.removed += weight;
        ++effect.stacks;
    }

    void note_effects() {
        const auto note = [&](bool used, FilterEffect& effect, const char* name) {
            if (used) {
                effect.filter = name;
                profile_.effects.push_back(effect);
            }
        };
        note(filters_.include.has_value(), by_include_, "--include");
        note(filters_.exclude.has_value(), by_exclude_, "--exclude");
        note(filters_.root.has_value(), by_root_, "--root");
        note(filters_.hide_startup, by_startup_, "--hide-startup");
        note(filters_.hide.has_value(), by_hide_, "--hide");
        note(filters_.merge_processes, by_merge_, "--merge-processes");
        note(filters_.collapse_recursion, by_collapse_, "--collapse-recursion");
    }

    Profile& profile_;
    const Filters& filters_;
    std::vector<bool> included_;
    std::vector<bool> excluded_;
    std::vector<bool> roots_;
    std::vector<bool> hidden_;
    std::vector<bool> startup_;
    std::vector<FrameId> renamed_;
    std::vector<FrameId> functions_;
    FrameId all_hidden_;
    FilterEffect by_include_;
    FilterEffect by_exclude_;
    FilterEffect by_root_;
    FilterEffect by_startup_;
    FilterEffect by_hide_;
    FilterEffect by_merge_;
    FilterEffect by_collapse_;
};

bool asks_for_anything(const Filters& filters) {
    return filters.include || filters.exclude || filters.root || filters.hide ||
           filters.hide_startup || filters.merge_processes || filters.collapse_recursion;
}

}  // namespace

Result<void> apply_filters(Profile& profile, const Filters& filters) {
    return asks_for_anything(filters) ? Filtering(profile, filters).apply() : Result<void>{};
}

std::string describe(const FilterEffect& effect, const Profile& profile) {
    auto left_out = fmt::format("{} left out {} in {}", effect.filter,
                                samples_text(effect.removed, profile.decimals),
                                counted(effect.stacks, "stack"));
    if (effect.filter == "--include" || effect.filter == "--exclude") {
        return left_out;
    }
    const auto frames = counted(effect.frames, "frame");
    if (effect.filter == "--root") {
        return fmt::format("{}, and {} above it in the others", left_out, frames);
    }
    return fmt::format("{} {} {}", effect.filter,
                       effect.filter == "--merge-processes" ? "renamed" : "dropped", frames);
}

}  // namespace mapdiag::stacks
