#include "mapdiag/support/terminal.h"

#include <unistd.h>

namespace mapdiag {

bool stderr_is_terminal() {
    return ::isatty(STDERR_FILENO) == 1;
}
bool stdout_is_terminal() {
    return ::isatty(STDOUT_FILENO) == 1;
}
bool stdin_is_terminal() {
    return ::isatty(STDIN_FILENO) == 1;
}

}  // namespace mapdiag
