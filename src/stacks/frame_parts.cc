#include "mapdiag/stacks/frame_parts.h"

#include <algorithm>
#include <array>

namespace mapdiag::stacks {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// The blank before the bracket that the final ')' closes; names and files may have brackets too.
std::size_t place_opening(std::string_view frame) {
    int depth = 0;
    for (auto at = frame.size(); at > 0; --at) {
        const char c = frame[at - 1];
        depth += c == ')' ? 1 : c == '(' ? -1 : 0;
        if (depth == 0) {
            return at >= 2 && frame[at - 2] == ' ' ? at - 2 : std::string_view::npos;
        }
    }
    return std::string_view::npos;
}

std::string_view without_suffix(std::string_view name) {
    return frame_kind(name).empty() ? name : name.substr(0, name.size() - 4);
}

// `file:name:line`, from the right because a Windows path has a colon too.
FrameParts austin_parts(std::string_view frame) {
    const auto last = frame.rfind(':');
    if (last == std::string_view::npos || last == 0 || !all_digits(frame.substr(last + 1))) {
        return {.function = without_suffix(frame)};
    }
    const auto before = frame.rfind(':', last - 1);
    if (before == std::string_view::npos || before == 0 || before + 1 == last) {
        return {.function = without_suffix(frame)};
    }
    return {.function = frame.substr(before + 1, last - before - 1),
            .file = frame.substr(0, before),
            .line = frame.substr(last + 1)};
}

std::string_view part_below_packages(std::string_view path) {
    for (const std::string_view folder : {"site-packages/", "dist-packages/"}) {
        if (const auto at = path.rfind(folder); at != std::string_view::npos) {
            return path.substr(at + folder.size());
        }
    }
    // /usr/lib/python3.11/json/encoder.py
    if (const auto at = path.find("/lib/python"); path.starts_with('/') && at < path.size()) {
        const auto slash = path.find('/', at + 5);
        return slash == std::string_view::npos ? path : path.substr(slash + 1);
    }
    return path;
}

}  // namespace

std::string_view frame_kind(std::string_view frame) {
    if (frame.size() < 5) {
        return {};
    }
    const auto suffix = frame.substr(frame.size() - 4);
    return suffix == "_[k]"   ? "kernel"
           : suffix == "_[j]" ? "compiled just in time"
           : suffix == "_[i]" ? "inlined"
           : suffix == "_[w]" ? "waker"
                              : "";
}

FrameParts frame_parts(std::string_view frame) {
    if (is_process_frame(frame) || is_thread_frame(frame)) {
        return {.function = frame};
    }
    if (!frame.ends_with(')')) {
        return austin_parts(frame);
    }
    const auto opening = place_opening(frame);
    if (opening == std::string_view::npos || opening == 0) {
        return {.function = frame};
    }
    FrameParts parts{.function = without_suffix(frame.substr(0, opening))};
    const auto place = frame.substr(opening + 2, frame.size() - opening - 3);
    const auto colon = place.rfind(':');
    if (colon != std::string_view::npos && all_digits(place.substr(colon + 1))) {
        parts.file = place.substr(0, colon);
        parts.line = place.substr(colon + 1);
    } else {
        parts.file = place;
    }
    return parts;
}

bool is_process_frame(std::string_view frame) {
    if (frame.starts_with('P') && all_digits(frame.substr(1))) {
        return true;
    }
    if (!frame.starts_with("process")) {
        return false;
    }
    const auto rest = frame.substr(7);
    if (rest.starts_with(" (") && rest.ends_with(')')) {
        return true;
    }
    const auto end = std::min(rest.find_first_not_of(kDigits, 1), rest.size());
    if (!rest.starts_with(' ') || end < 2) {
        return false;
    }
    const auto after = rest.substr(end);
    return after.empty() || after.starts_with(":\"") || after.starts_with(" (");
}

bool is_thread_frame(std::string_view frame) {
    if (frame.starts_with('T')) {
        const auto colon = frame.find(':');
        return colon < frame.size() && all_digits(frame.substr(1, colon - 1)) &&
               all_digits(frame.substr(colon + 1));
    }
    if (!frame.starts_with("thread")) {
        return false;
    }
    const auto rest = frame.substr(6);
    if (rest.empty() || rest.starts_with(": ")) {
        return true;
    }
    const auto close = rest.find(')');
    return rest.starts_with(" (") && close < rest.size() && all_digits(rest.substr(2, close - 2)) &&
           (close + 1 == rest.size() || rest[close + 1] == ':');
}

std::string frame_module(std::string_view frame) {
    auto file = frame_parts(frame).file;
    // <frozen importlib._bootstrap>
    if (file.starts_with("<frozen ") && file.ends_with('>')) {
        const auto name = file.substr(8, file.size() - 9);
        return std::string(name.substr(0, name.find('.')));
    }
    file = part_below_packages(file);
    if (!file.starts_with('/')) {
        if (const auto slash = file.find('/'); slash != std::string_view::npos) {
            return std::string(file.substr(0, slash));
        }
    }
    file.remove_prefix(file.find_last_of('/') + 1);
    return std::string(file.ends_with(".py") ? file.substr(0, file.size() - 3) : file);
}

bool is_startup_frame(std::string_view frame) {
    const auto parts = frame_parts(frame);
    if (parts.file.empty()) {
        return false;
    }
    constexpr auto kFiles = std::to_array<std::string_view>(
        {"<frozen runpy>", "runpy.py", "<frozen importlib._bootstrap>",
         "<frozen importlib._bootstrap_external>", "importlib/__init__.py",
         "importlib/_bootstrap.py", "importlib/_bootstrap_external.py", "click/core.py",
         "click/decorators.py"});
    const auto is_file = [&](std::string_view name) {
        return parts.file == name || (parts.file.ends_with(name) &&
                                      parts.file[parts.file.size() - name.size() - 1] == '/');
    };
    if (std::ranges::any_of(kFiles, is_file)) {
        return true;
    }
    if (is_file("threading.py")) {
        return parts.function.ends_with("_bootstrap") ||
               parts.function.ends_with("_bootstrap_inner");
    }
    // A console script has no ending: `<module> (linkml-map:8)`, `<module>
    // (/venv/bin/linkml-map:8)`.
    auto name = parts.file;
    name.remove_prefix(name.find_last_of('/') + 1);
    return parts.function == "<module>" && !name.starts_with('<') && !name.contains('.');
}

}  // namespace mapdiag::stacks
