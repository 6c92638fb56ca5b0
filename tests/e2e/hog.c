/* hog MIB [HOLD_SECONDS [CHILDREN [STATUS]]]
 *
 * Touches MIB MiB of anonymous memory, prints "touched", holds it and leaves with STATUS. Each of
 * its CHILDREN does the same at the same time. In C because an interpreter's own memory and its
 * start, slow in a guest without hardware virtualisation, would blur what the tests measure.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void touch(size_t bytes) {
    char* area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        perror("hog: mmap");
        exit(120);
    }
    /* Whole huge pages would be charged for a few touched bytes and make figures uneven. */
    madvise(area, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096) {
        area[at] = 1;
    }
}

static void hold(double seconds) {
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0) {
    }
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: hog MIB [HOLD_SECONDS [CHILDREN [STATUS]]]\n");
        return 120;
    }
    const size_t bytes = strtoul(argv[1], NULL, 10) << 20;
    const double seconds = argc > 2 ? atof(argv[2]) : 0;
    const int children = argc > 3 ? atoi(argv[3]) : 0;
    const int status = argc > 4 ? atoi(argv[4]) : 0;

    int child = 0;
    for (int i = 0; i < children && !child; i++) {
        child = fork() == 0;
    }
    if (bytes > 0) {
        touch(bytes);
    }
    if (!child) {
        printf("touched\n");
        fflush(stdout);
    }
    hold(seconds);
    while (!child && wait(NULL) > 0) {
    }
    return child ? 0 : status;
}
