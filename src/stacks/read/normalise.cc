#include "normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "line.h"
#include "mapdiag/stacks/frame_parts.h"

namespace mapdiag::stacks {
namespace {

// What a frame's text says of a join with the frames after it.
enum class Shape : unsigned char {
    whole,
    thread,       // `thread (21405): worker`, to which a blank and the rest of the name may follow
    open_file,    // `busy (/tmp/odd`, to which ` name 3.py:23)` must follow
    thread_rest,  // ` one 7`
    file_rest,    // ` name 3.py:23)`
};

Shape shape_of(std::string_view text) {
    const auto opening = text.find(" (");
    if (opening == std::string_view::npos) {
        if (text.ends_with(')') && !text.contains('(')) {
            return Shape::file_rest;
        }
        return text.starts_with(' ') ? Shape::thread_rest : Shape::whole;
    }
    if (is_thread_frame(text)) {
        return Shape::thread;
    }
    return text.ends_with(')') || text.find(')', opening) != std::string_view::npos
               ? Shape::whole
               : Shape::open_file;
}

class Joiner {
  public:
    explicit Joiner(Profile& profile) : profile_(profile) {
        bool opens = false;
        bool goes_on = false;
        for (std::uint32_t id = 0; id < profile.table.id_limit(); ++id) {
            const auto shape = id == 0 ? Shape::whole : shape_of(profile.table.text({id}));
            shapes_.push_back(shape);
            opens = opens || shape == Shape::thread || shape == Shape::open_file;
            goes_on = goes_on || shape == Shape::thread_rest || shape == Shape::file_rest;
        }
        needed_ = opens && goes_on;
    }

    void join_all() {
        if (!needed_) {
            return;
        }
        for (auto& part : profile_.parts) {
            std::uint64_t from = 0;
            std::uint64_t to = 0;
            for (auto& stack : part.stacks) {
                to = join(part.frames, from, stack.end, to);
                from = stack.end;
                stack.end = to;
            }
            part.frames.resize(to);
        }
    }

  private:
    // Moves frames [from, end) down to `to`, joined; gives where they end then.
    std::uint64_t join(std::vector<FrameId>& frames, std::uint64_t from, std::uint64_t end,
                       std::uint64_t to) {
        while (from < end) {
            const auto last = last_of_frame(frames, from, end);
            frames[to++] = last == from ? frames[from] : joined(frames, from, last);
            from = last + 1;
        }
        return to;
    }

    std::uint64_t last_of_frame(const std::vector<FrameId>& frames, std::uint64_t at,
                                std::uint64_t end) const {
        // A file name with more than a few `;` is none.
        constexpr std::uint64_t kMostPieces = 8;
        const auto limit = std::min(end, at + kMostPieces);
        const auto shape = shapes_[frames[at].value];
        auto last = at;
        if (shape == Shape::thread) {
            while (last + 1 < limit && shapes_[frames[last + 1].value] == Shape::thread_rest) {
                ++last;
            }
        } else if (shape == Shape::open_file) {
            for (auto next = at + 1; next < limit; ++next) {
                const auto next_shape = shapes_[frames[next].value];
                if (next_shape == Shape::file_rest) {
                    return next;
                }
                if (next_shape == Shape::thread || next_shape == Shape::open_file) {
                    break;
                }
            }
        }
        return last;
    }

    FrameId joined(const std::vector<FrameId>& frames, std::uint64_t first, std::uint64_t last) {
        std::string text(profile_.table.text(frames[first]));
        for (auto at = first + 1; at <= last; ++at) {
            text += ';';
            text += profile_.table.text(frames[at]);
        }
        const auto id = profile_.table.intern(text);
        shapes_.resize(std::max<std::size_t>(shapes_.size(), id.value + 1U), Shape::whole);
        return id;
    }

    Profile& profile_;
    std::vector<Shape> shapes_;
    bool needed_ = false;
};

// `process 12:"/usr/bin/python3 -m x"` -> `process 12 (python3)`
std::string without_arguments(std::string_view frame) {
    const auto opening = process_opening(frame);
    auto program = frame.substr(opening);
    program = program.substr(0, program.find_first_of(" \n\t"));
    program = program.substr(0, program.find('"'));
    program.remove_prefix(program.find_last_of('/') + 1);
    const auto process = frame.substr(0, opening - 2);
    return program.empty() ? std::string(process) : fmt::format("{} ({})", process, program);
}

void reduce_command_lines(Profile& profile) {
    std::vector<FrameId> reduced(profile.table.id_limit());
    bool any = false;
    for (std::uint32_t id = 1; id < reduced.size(); ++id) {
        const auto text = profile.table.text({id});
        reduced[id] = {id};
        if (process_opening(text) > 0) {
            reduced[id] = profile.table.intern(without_arguments(text));
            any = true;
        }
    }
    if (!any) {
        return;
    }
    for (auto& part : profile.parts) {
        for (auto& frame : part.frames) {
            frame = reduced[frame.value];
        }
    }
}

}  // namespace

void normalise_frames(Profile& profile, bool keep_command_lines) {
    Joiner(profile).join_all();
    if (!keep_command_lines) {
        reduce_command_lines(profile);
    }
}

}  // namespace mapdiag::stacks
