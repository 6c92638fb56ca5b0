#include "mapdiag/support/big_array.h"

#include <sys/mman.h>

#include <new>

namespace mapdiag::detail {
namespace {

// Below this a huge page would waste more than it saves.
constexpr std::size_t kHugePageWorthwhile = 4U << 20;

}  // namespace

void* map_pages(std::size_t bytes, Pages pages) {
    const int reserve = pages == Pages::kReserve ? MAP_NORESERVE : 0;
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
    if (data == MAP_FAILED) {
        throw std::bad_alloc();
    }
    if (pages == Pages::kHuge && bytes >= kHugePageWorthwhile) {
        ::madvise(data, bytes, MADV_HUGEPAGE);
    }
    return data;
}

void unmap_pages(void* data, std::size_t bytes) {
    ::munmap(data, bytes);
}

}  // namespace mapdiag::detail
