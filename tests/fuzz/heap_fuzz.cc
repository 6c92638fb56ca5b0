// Any bytes as a heap dump: no crash, no sanitizer report, and the invariants of
// tests/heap/check_bytes.h.
#include <cstddef>
#include <cstdint>

#include "heap/check_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mapdiag::test::check_dump_bytes({reinterpret_cast<const char*>(data), size});
    return 0;
}
