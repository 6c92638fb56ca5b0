// mapdiag_manual FOLDER: writes the man page and the completions, made from the option table, into
// FOLDER. Part of the build, not installed.
#include <array>
#include <string>

#include "../app.h"
#include "../talk.h"
#include "completion.h"
#include "man_page.h"
#include "mapdiag/support/output_file.h"

int main(int argc, char** argv) {
    using namespace mapdiag;
    if (argc != 2) {
        cli::say_error("usage: mapdiag_manual FOLDER");
        return cli::kUsage;
    }
    cli::Action chosen;
    const auto table = cli::read_option_table(*cli::make_app(chosen));
    const std::string folder = argv[1];
    const std::array<std::pair<std::string, std::string>, 3> files = {{
        {"mapdiag.1", cli::man_page(table, MAPDIAG_VERSION)},
        {"mapdiag.bash", cli::bash_completion(table)},
        {"_mapdiag", cli::zsh_completion(table)},
    }};
    for (const auto& [name, text] : files) {
        if (const auto written = write_output_file(folder + "/" + name, text); !written) {
            cli::say_error(written.error().text());
            return cli::kFailed;
        }
    }
    return cli::kOk;
}
