#include "py_spy_finder.h"

#include <signal.h>

#include <algorithm>
#include <array>

#include "mapdiag/support/text.h"

#include "python_programs.h"

namespace mapdiag::run {
namespace {

using record::ProfilerSource;

constexpr auto kUvPatience = std::chrono::seconds(120);
constexpr const char* kName = "py-spy";

std::vector<std::string> asking(std::vector<std::string> words) {
    // The answer is where py-spy stands in uv's cache: it stays there.
    const std::array question = {"sh", "-c", "command -v py-spy"};
    words.insert(words.end(), question.begin(), question.end());
    return words;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos || slash == 0 ? std::string() : path.substr(0, slash);
}

// The last line of an answer: uv may have said more before.
std::string last_line(std::string_view output) {
    std::string last;
    for (const auto line : split(output, '\n')) {
        if (!trim(line).empty()) {
            last = trim(line);
        }
    }
    return last;
}

// Ways to have uv provide py-spy and print where it is. --no-project: the job's own project is
// neither needed nor to be changed. The first way uses what uv has in its cache already, the others
// may fetch it.
std::vector<UvWay> uv_ways() {
    return {
        {ProfilerSource::uv, "uv",
         asking({"run", "--offline", "--quiet", "--no-project", "--with", kName, "--"}), false},
        {ProfilerSource::uv, "uv", asking({"run", "--no-project", "--with", kName, "--"}), true},
        {ProfilerSource::uvx, "uvx", asking({"--from", kName}), true},
    };
}

}  // namespace

PySpyFinder::PySpyFinder(const ProfilerOptions& options, ProfilerSystem& system)
    : options_(options), system_(system), ways_(uv_ways()) {
    only_named_ = !options.py_spy.empty() || !options.py_spy_variable.empty();
    if (!options.py_spy.empty()) {
        look_at_named(ProfilerSource::option, options.py_spy);
    } else if (!options.py_spy_variable.empty()) {
        look_at_named(ProfilerSource::variable, options.py_spy_variable);
    } else {
        look_along(ProfilerSource::search_path, kName);
    }
}

void PySpyFinder::missed(ProfilerSource source, std::string place, std::string reason) {
    looked_at_.push_back(
        {.source = source, .place = printable(place), .reason = printable(reason)});
}

bool PySpyFinder::try_path(ProfilerSource source, const std::string& path) {
    if (!system_.is_executable(path) || std::ranges::find(discarded_, path) != discarded_.end()) {
        return false;
    }
    found_ = record::FoundProfiler{.source = source, .path = path, .version = {}};
    return true;
}

std::string PySpyFinder::find_along(const std::string& name) const {
    for (const auto folder : split(options_.search_path, ':')) {
        // An empty entry means the current folder.
        const auto path = (folder.empty() ? std::string(".") : std::string(folder)) + '/' + name;
        if (system_.is_executable(path) &&
            std::ranges::find(discarded_, path) == discarded_.end()) {
            return path;
        }
    }
    return {};
}

bool PySpyFinder::look_along(ProfilerSource source, const std::string& name) {
    const auto path = find_along(name);
    if (!path.empty() && try_path(source, path)) {
        return true;
    }
    missed(source, source == ProfilerSource::search_path ? options_.search_path : name);
    return false;
}

bool PySpyFinder::look_at_named(ProfilerSource source, const std::string& value) {
    if (value.find('/') == std::string::npos) {
        return look_along(source, value);
    }
    if (try_path(source, value)) {
        return true;
    }
    missed(source, value, "it is no file that can be executed");
    return false;
}

void PySpyFinder::offer_interpreter(std::int32_t pid, const std::string& executable) {
    if (found_ || only_named_) {
        return;
    }
    std::vector<std::string> folders;
    const auto arguments = system_.proc().arguments(pid);
    // argv[0] is the interpreter of the environment, where the executable is what it links to;
    // argv[1] may be a console script of the environment.
    for (std::size_t i = 0; i < std::min<std::size_t>(arguments.size(), 2); ++i) {
        folders.push_back(folder_of(arguments[i]));
    }
    folders.push_back(folder_of(executable));
    for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        const auto value = system_.proc().environment_value(pid, variable);
        folders.push_back(value && !value->empty() ? *value + "/bin" : std::string());
    }
    for (const auto& folder : folders) {
        // A relative one has another meaning for the job than for mapdiag.
        if (!folder.starts_with('/') || std::ranges::find(folders_, folder) != folders_.end()) {
            continue;
        }
        folders_.push_back(folder);
        if (try_path(ProfilerSource::interpreter, folder + '/' + kName)) {
            return;
        }
        missed(ProfilerSource::interpreter, folder);
    }
}

void PySpyFinder::discard(std::string reason) {
    if (!found_) {
        return;
    }
    discarded_.push_back(found_->path);
    missed(found_->source, found_->path, std::move(reason));
    const bool along_path = found_->source == ProfilerSource::search_path;
    found_.reset();
    if (along_path && !only_named_) {
        const auto next = find_along(kName);
        if (!next.empty()) {
            try_path(ProfilerSource::search_path, next);
        }
    }
}

void PySpyFinder::poll(Clock::time_point now) {
    if (uv_) {
        uv_->poll();
        if (uv_->end()) {
            take_uv_answer();
            uv_.reset();
        } else if (now - uv_since_ > kUvPatience) {
            uv_->signal_group(SIGKILL);
            uv_.reset();
            missed(ways_[next_way_ - 1].source, {}, "it gave no answer within two minutes");
        }
    }
    while (!found_ && !uv_ && !only_named_ && next_way_ < ways_.size()) {
        ask_uv(ways_[next_way_++], now);
    }
}

void PySpyFinder::ask_uv(const UvWay& way, Clock::time_point now) {
    const auto program = find_along(way.program);
    if (program.empty()) {
        if (way.last) {
            missed(way.source, {}, std::string(way.program) + " is not in PATH");
        }
        return;
    }
    std::vector<std::string> command = {program};
    command.insert(command.end(), way.arguments.begin(), way.arguments.end());
    auto started = system_.start({.command = std::move(command), .environment = {}});
    if (!started) {
        missed(way.source, program, started.error().text());
        return;
    }
    uv_ = std::move(*started);
    uv_since_ = now;
}

void PySpyFinder::take_uv_answer() {
    const auto& way = ways_[next_way_ - 1];
    const auto end = uv_->end();
    const auto* exited = std::get_if<linux_os::HelperExited>(&*end);
    const auto answer = last_line(uv_->output());
    if (found_ || (exited != nullptr && exited->code == 0 && answer.starts_with('/') &&
                   try_path(way.source, system_.resolved(answer)))) {
        return;
    }
    if (way.last) {
        missed(way.source, {}, answer.substr(0, 200));
    }
}

void PySpyFinder::give_up() {
    if (!uv_) {
        return;
    }
    uv_->signal_group(SIGKILL);
    uv_.reset();
    if (!found_) {
        missed(ways_[next_way_ - 1].source, {}, "it had not answered when the job ended");
    }
}

}  // namespace mapdiag::run
