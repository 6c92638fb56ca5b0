#include "drop_in.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

using Words = std::vector<std::string>;

constexpr unsigned kHighestRate = 1000;

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_py_spy(std::string_view word) {
    const auto name = base_name(word);
    // "py-spy@0.4.1" is how a tool runner is asked for a version.
    return name == "py-spy" || name.starts_with("py-spy@");
}

// Programs whose arguments end in a command that they start.
bool starts_another(std::string_view program) {
    constexpr std::array kStarters = {"env",    "nice",    "ionice", "nohup", "setsid",
                                      "stdbuf", "timeout", "time",   "chrt",  "uv",
                                      "uvx",    "pipx",    "poetry", "pdm",   "pipenv",
                                      "hatch",  "rye",     "pixi",   "conda", "taskset"};
    return std::ranges::find(kStarters, base_name(program)) != kStarters.end();
}

// Where `py-spy record` stands; nothing where these words are some other program's arguments.
std::optional<std::size_t> find_place(const Words& command) {
    for (std::size_t i = 0; i + 1 < command.size(); ++i) {
        if (is_py_spy(command[i]) && command[i + 1] == "record") {
            return i == 0 || starts_another(command.front()) ? std::optional(i) : std::nullopt;
        }
    }
    return std::nullopt;
}

// Where a tool runner begins that ends in py-spy: without py-spy it would start the program as a
// tool of its own. `place` where there is none.
std::size_t begin_of_tool_runner(const Words& command, std::size_t place) {
    for (std::size_t i = 0; i < place; ++i) {
        const auto name = base_name(command[i]);
        const auto next = [&](std::size_t at) {
            return at < place ? std::string_view(command[at]) : std::string_view();
        };
        if (name == "uvx" || (name == "pipx" && next(i + 1) == "run") ||
            (name == "uv" && next(i + 1) == "tool" && next(i + 2) == "run")) {
            return i;
        }
    }
    return place;
}

struct Option {
    char letter;
    std::string_view name;
    bool takes_value;
};

// `py-spy record --help` of 0.4.
constexpr std::array kOptions = {
    Option{'p', "pid", true},           Option{'\0', "full-filenames", false},
    Option{'o', "output", true},        Option{'f', "format", true},
    Option{'d', "duration", true},      Option{'r', "rate", true},
    Option{'s', "subprocesses", false}, Option{'F', "function", false},
    Option{'\0', "nolineno", false},    Option{'t', "threads", false},
    Option{'g', "gil", false},          Option{'i', "idle", false},
    Option{'n', "native", false},       Option{'\0', "nonblocking", false},
    Option{'h', "help", false},         Option{'V', "version", false},
};

const Option* find_option(char letter) {
    const auto* found = std::ranges::find(kOptions, letter, &Option::letter);
    return letter != '\0' && found != kOptions.end() ? found : nullptr;
}

const Option* find_option(std::string_view name) {
    const auto* found = std::ranges::find(kOptions, name, &Option::name);
    return found != kOptions.end() ? found : nullptr;
}

// Reads the words behind `record`. As py-spy does: up to "--" its options may stand anywhere, also
// between the words of the program.
class OptionReader {
  public:
    OptionReader(const Words& command, std::size_t at) : command_(command), at_(at) {
        call_.settings.idle = false;
    }

    // The call; its `command` is the program that py-spy was to start.
    RecordCall read() {
        while (call_.obstacle.empty() && at_ < command_.size()) {
            read_word();
        }
        check_whole();
        return std::move(call_);
    }

  private:
    void read_word() {
        const std::string_view word = command_[at_++];
        if (word == "--") {
            call_.command.insert(call_.command.end(),
                                 command_.begin() + static_cast<std::ptrdiff_t>(at_),
                                 command_.end());
            at_ = command_.size();
        } else if (word.starts_with("--")) {
            read_long(word.substr(2));
        } else if (word.size() > 1 && word.front() == '-') {
            read_letters(word.substr(1));
        } else {
            call_.command.emplace_back(word);
        }
    }

    void read_long(std::string_view text) {
        const auto equals = text.find('=');
        const auto* option = find_option(text.substr(0, equals));
        const bool has_value = equals != std::string_view::npos;
        if (option == nullptr || (has_value && !option->takes_value)) {
            refuse("--" + std::string(text.substr(0, equals)));
        } else if (!option->takes_value) {
            set_flag(*option);
        } else if (has_value) {
            set_value(*option, text.substr(equals + 1));
        } else {
            take_next_word(*option);
        }
    }

    // -sr50, -r 50, -r=50
    void read_letters(std::string_view letters) {
        for (std::size_t i = 0; i < letters.size() && call_.obstacle.empty(); ++i) {
            const auto* option = find_option(letters[i]);
            if (option == nullptr) {
                refuse(std::string("-") + letters[i]);
            } else if (!option->takes_value) {
                set_flag(*option);
            } else {
                const auto rest = letters.substr(i + 1);
                if (rest.empty()) {
                    take_next_word(*option);
                } else {
                    set_value(*option, rest.starts_with('=') ? rest.substr(1) : rest);
                }
                return;
            }
        }
    }

    void take_next_word(const Option& option) {
        if (at_ < command_.size()) {
            set_value(option, command_[at_++]);
        } else {
            refuse("--" + std::string(option.name) + " without a value");
        }
    }

    void set_flag(const Option& option) {
        auto& settings = call_.settings;
        const std::array<std::pair<std::string_view, bool*>, 4> known = {
            {{"idle", &settings.idle},
             {"subprocesses", &settings.subprocesses},
             {"native", &settings.native},
             {"nonblocking", &settings.nonblocking}}};
        const auto* found =
            std::ranges::find(known, option.name, &std::pair<std::string_view, bool*>::first);
        if (found == known.end()) {
            refuse("--" + std::string(option.name));
        } else {
            *found->second = true;
        }
    }

    void set_value(const Option& option, std::string_view value) {
        const auto shown = "--" + std::string(option.name) + ' ' + printable(value);
        if (option.name == "rate") {
            const auto rate = find_u64(value);
            if (!rate || *rate == 0 || *rate > kHighestRate) {
                return refuse(shown);
            }
            call_.settings.rate = static_cast<unsigned>(*rate);
        } else if (option.name == "format") {
            if (value != "raw") {
                return refuse(shown);
            }
            raw_ = true;
        } else if (option.name == "output") {
            // A profile is put in its place whole, by a rename: that is for files only.
            if (value.empty() || value.starts_with("/dev/") || value.starts_with("/proc/")) {
                return refuse(shown);
            }
            call_.output = value;
        } else {
            refuse("--" + std::string(option.name));
        }
    }

    void check_whole() {
        if (!call_.obstacle.empty()) {
            return;
        }
        if (!raw_) {
            refuse("--format flamegraph, which is py-spy's default");
        } else if (call_.settings.native && call_.settings.nonblocking) {
            refuse("--native with --nonblocking");
        } else if (call_.command.empty()) {
            refuse("a call without a program");
        }
    }

    void refuse(std::string what) { call_.obstacle = std::move(what); }

    const Words& command_;
    std::size_t at_;
    bool raw_ = false;
    RecordCall call_;
};

}  // namespace

std::optional<RecordCall> find_record_call(const Words& command) {
    const auto place = find_place(command);
    if (!place) {
        return std::nullopt;
    }
    auto call = OptionReader(command, *place + 2).read();
    if (call.obstacle.empty()) {
        const auto kept = begin_of_tool_runner(command, *place);
        call.command.insert(call.command.begin(), command.begin(),
                            command.begin() + static_cast<std::ptrdiff_t>(kept));
    }
    return call;
}

std::string left_as_it_is(const std::string& obstacle) {
    return "the command's own py-spy record stays as it is, since mapdiag has nothing for " +
           obstacle +
           ": there is no profile of mapdiag's, and the exit status is py-spy's, which hides the "
           "job's. Remedy: take py-spy record out of the command, or use --format raw with --rate, "
           "--output, --idle, --subprocesses, --native or --nonblocking only";
}

}  // namespace mapdiag::run
