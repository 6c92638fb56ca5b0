// Any bytes as a folded profile: no crash, no sanitizer report, and the invariants of
// tests/stacks/check_bytes.h. A file in memory, since the reader takes paths.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "stacks/check_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const int file = ::memfd_create("folded", MFD_CLOEXEC);
    static const auto path = "/proc/self/fd/" + std::to_string(file);
    if (file < 0 || ::ftruncate(file, 0) != 0 ||
        ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
        return 0;
    }
    mapdiag::test::check_folded_file(path, 1 + size % 97);
    return 0;
}
