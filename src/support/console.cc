#include "mapdiag/support/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace mapdiag {

bool is_terminal(int fd) {
    return ::isatty(fd) == 1;
}

std::optional<std::size_t> terminal_width(int fd) {
    winsize size = {};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return std::nullopt;
    }
    return size.ws_col;
}

bool use_colour(ColourChoice choice, int fd) {
    if (choice != ColourChoice::automatic) {
        return choice == ColourChoice::always;
    }
    // Set to anything but nothing, says no-color.org.
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    return is_terminal(fd) && (no_colour == nullptr || *no_colour == '\0') &&
           (term == nullptr || std::string_view(term) != "dumb");
}

}  // namespace mapdiag
