/* hog MIB [HOLD_SECONDS [CHILDREN [STATUS [HOW]]]]
 *
 * Touches MIB MiB, prints "touched", holds it and leaves with STATUS. HOLD_SECONDS "-" holds it
 * until stdin ends. HOW is one of
 *   own     anonymous memory, as much again by each of the CHILDREN at the same time (as without)
 *   shared  one shared area, which all the children touch too
 *   read    memory of the parent's, which the children read after fork: it is there once
 *   write   memory of the parent's, which the children write after fork: each gets its own
 *   file    a file "hog.data" in the current folder, written
 * In C because an interpreter's own memory and its start, slow in a guest without hardware
 * virtualisation, would blur what the tests measure.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void fail(const char* what) {
    perror(what);
    exit(120);
}

static volatile char* reserve(size_t bytes, int kind) {
    char* area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        fail("hog: mmap");
    }
    /* Whole huge pages would be charged for a few touched bytes and make figures uneven. */
    madvise(area, bytes, MADV_NOHUGEPAGE);
    return area;
}

static void write_pages(volatile char* area, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PAGE) {
        area[at] = 1;
    }
}

static int read_pages(const volatile char* area, size_t bytes) {
    int sum = 0;
    for (size_t at = 0; at < bytes; at += PAGE) {
        sum += area[at];
    }
    return sum;
}

static void write_file(size_t bytes) {
    static const char page[PAGE];
    const int fd = open("hog.data", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail("hog: hog.data");
    }
    for (size_t at = 0; at < bytes; at += PAGE) {
        if (write(fd, page, PAGE) != PAGE) {
            fail("hog: hog.data");
        }
    }
    close(fd);
}

static void wait_for_end(int fd) {
    char byte;
    while (read(fd, &byte, 1) > 0) {
    }
}

static void hold(const char* how_long) {
    if (strcmp(how_long, "-") == 0) {
        wait_for_end(0);
        return;
    }
    const double seconds = atof(how_long);
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0) {
    }
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: hog MIB [HOLD_SECONDS [CHILDREN [STATUS [HOW]]]]\n");
        return 120;
    }
    const size_t bytes = strtoul(argv[1], NULL, 10) << 20;
    const char* seconds = argc > 2 ? argv[2] : "0";
    const int children = argc > 3 ? atoi(argv[3]) : 0;
    const int status = argc > 4 ? atoi(argv[4]) : 0;
    const char* how = argc > 5 ? argv[5] : "own";

    const int own = strcmp(how, "own") == 0;
    volatile char* area = NULL;
    if (strcmp(how, "file") == 0) {
        write_file(bytes);
    } else if (bytes > 0) {
        area = reserve(bytes, strcmp(how, "shared") == 0 ? MAP_SHARED : MAP_PRIVATE);
        if (!own) {
            write_pages(area, bytes);
        }
    }
    /* Each child closes its end of `done` when it has touched all, and stays until `go` ends. */
    int done[2];
    int go[2];
    if (pipe(done) != 0 || pipe(go) != 0) {
        fail("hog: pipe");
    }
    int child = 0;
    for (int i = 0; i < children && !child; i++) {
        child = fork() == 0;
    }
    if (area && (own || (child && strcmp(how, "write") == 0))) {
        write_pages(area, bytes);
    } else if (area && child && read_pages(area, bytes) == 0) {
        return 121;
    }
    close(done[1]);
    if (child) {
        close(go[1]);
        wait_for_end(go[0]);
    } else {
        wait_for_end(done[0]);
        close(go[1]);
        printf("touched\n");
        fflush(stdout);
    }
    hold(seconds);
    while (!child && wait(NULL) > 0) {
    }
    return child ? 0 : status;
}
