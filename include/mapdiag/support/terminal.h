#pragma once

namespace mapdiag {

/// Whether a person looks at it: file descriptor 2 (1, 0) is a terminal.
bool stderr_is_terminal();
bool stdout_is_terminal();
bool stdin_is_terminal();

}  // namespace mapdiag
