#include "mapdiag/linux/wait.h"

#include <poll.h>

#include <algorithm>
#include <array>

namespace mapdiag::linux_os {

void wait_readable(std::initializer_list<int> descriptors, std::chrono::nanoseconds at_most) {
    std::array<pollfd, 8> polled = {};
    nfds_t count = 0;
    for (const int fd : descriptors) {
        if (count < polled.size()) {
            polled[count++] = {.fd = fd, .events = POLLIN, .revents = 0};
        }
    }
    const auto ns = std::max<std::chrono::nanoseconds::rep>(at_most.count(), 0);
    const timespec timeout = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    ::ppoll(polled.data(), count, &timeout, nullptr);
}

bool is_readable(int descriptor) {
    pollfd polled = {.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, 0) == 1;
}

}  // namespace mapdiag::linux_os
