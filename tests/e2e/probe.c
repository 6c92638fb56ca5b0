/* probe WORD [ARGUMENT...]: a job that tells what reaches it. In C since an interpreter takes most
 * of a second to start in a guest without hardware virtualisation.
 *
 *   probe state            prints what a process inherits, one fact a line
 *   probe exit N           leaves with status N
 *   probe die N            ends itself by signal N with its default action, without a core file
 *   probe signals          prints "ready", then "got N CODE VALUE" for each signal, until stdin
 * ends probe run FILE         prints its pid to FILE, then sleeps for ever probe daemon FILE leaves
 * a process behind (own session, no descriptors), pid in FILE probe bytes N SEED     writes N bytes
 * to stdout probe lines N TAG      writes N short lines, each with one write probe spike MIB MS
 * touches MIB MiB and gives them back after MS milliseconds probe cache MIB FILE   writes MIB MiB
 * to FILE and leaves them in the page cache probe shared MIB N     N children touch one shared area
 * of MIB MiB
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int usage(void) {
    fprintf(stderr, "probe: see the head of probe.c\n");
    return 120;
}

static void sleep_for_ever(void) {
    for (;;) {
        pause();
    }
}

/* state ----------------------------------------------------------------------------------------*/

static void print_status_lines(void) {
    static const char* const wanted[] = {
        "Umask:",   "Uid:",          "Gid:",       "Groups:",     "SigBlk:",
        "SigIgn:",  "SigCgt:",       "SigPnd:",    "ShdPnd:",     "CapInh:",
        "CapPrm:",  "CapEff:",       "CapBnd:",    "CapAmb:",     "NoNewPrivs:",
        "Seccomp:", "Cpus_allowed:", "TracerPid:", "THP_enabled:"};
    FILE* status = fopen("/proc/self/status", "r");
    char line[4096];
    while (status && fgets(line, sizeof line, status)) {
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0) {
                fputs(line, stdout);
            }
        }
    }
}

static void print_descriptors(void) {
    for (int fd = 0; fd < 1024; fd++) {
        struct stat s;
        if (fstat(fd, &s) == 0) {
            printf("descriptor %d kind %o flags %x %o inode %lu\n", fd, s.st_mode & S_IFMT,
                   fcntl(fd, F_GETFD), fcntl(fd, F_GETFL), fd == 1 || fd == 2 ? 0 : s.st_ino);
        }
    }
}

static void print_file(const char* path) {
    char text[256] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) >= 0) {
        printf("%s %s", path, text);
    }
    close(fd);
}

static int state(void) {
    print_descriptors();
    print_status_lines();
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit r;
        getrlimit(i, &r);
        printf("rlimit %d %lx %lx\n", i, (long)r.rlim_cur, (long)r.rlim_max);
    }
    int signal = 0;
    int subreaper = 0;
    prctl(PR_GET_PDEATHSIG, &signal);
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    printf("death signal %d subreaper %d dumpable %d keepcaps %d slack %d\n", signal, subreaper,
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS), prctl(PR_GET_TIMERSLACK));
    printf("nice %d policy %d personality %x\n", getpriority(PRIO_PROCESS, 0),
           sched_getscheduler(0), personality(0xffffffff));
    printf("session %d group %d\n", getsid(0), getpgrp());
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    printf("terminal %s group %d\n", terminal >= 0 ? "yes" : "no",
           terminal >= 0 ? tcgetpgrp(terminal) : 0);
    print_file("/proc/self/oom_score_adj");
    char folder[4096];
    printf("folder %s\n", getcwd(folder, sizeof folder));
    printf("children %s\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "none" : "some");
    for (char** entry = environ; *entry; entry++) {
        printf("environment %s\n", *entry);
    }
    return 0;
}

/* signals --------------------------------------------------------------------------------------*/

static int signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    struct pollfd polled[2] = {{signalfd(-1, &all, SFD_CLOEXEC), POLLIN, 0}, {0, POLLIN, 0}};
    dprintf(1, "ready\n");
    for (;;) {
        if (poll(polled, 2, -1) < 0) {
            return 121;
        }
        if (polled[0].revents) {
            struct signalfd_siginfo info;
            if (read(polled[0].fd, &info, sizeof info) == sizeof info) {
                dprintf(1, "got %u %s %d\n", info.ssi_signo,
                        info.ssi_code == SI_QUEUE ? "queue"
                        : info.ssi_code > 0       ? "kernel"
                                                  : "user",
                        info.ssi_int);
            }
        } else if (polled[1].revents) {
            return 0;
        }
    }
}

/* processes ------------------------------------------------------------------------------------*/

static void write_pid(const char* path) {
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.fresh", path);
    FILE* file = fopen(fresh, "w");
    if (!file) {
        exit(122);
    }
    fprintf(file, "%d\n", getpid());
    fclose(file);
    if (rename(fresh, path) != 0) {
        exit(122);
    }
}

static int run_for_ever(const char* path) {
    write_pid(path);
    sleep_for_ever();
    return 0;
}

static int leave_daemon(const char* path) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            close_range(0, ~0U, 0);
            write_pid(path);
            sleep_for_ever();
        }
        _exit(0);
    }
    wait(NULL);
    while (access(path, F_OK) != 0) {
        usleep(1000);
    }
    return 0;
}

static int die(int number) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    kill(getpid(), number);
    sleep_for_ever();
    return 0;
}

/* output ---------------------------------------------------------------------------------------*/

static int bytes(size_t left, uint64_t seed) {
    static unsigned char block[1 << 16];
    while (left > 0) {
        const size_t size = left < sizeof block ? left : sizeof block;
        for (size_t i = 0; i < size; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            block[i] = (unsigned char)(seed >> 56);
        }
        for (size_t done = 0; done < size;) {
            const ssize_t put = write(1, block + done, size - done);
            if (put < 0) {
                return 123;
            }
            done += (size_t)put;
        }
        left -= size;
    }
    return 0;
}

static int lines(int count, const char* tag) {
    for (int i = 0; i < count; i++) {
        dprintf(1, "%s %d\n", tag, i);
    }
    return 0;
}

/* memory ---------------------------------------------------------------------------------------*/

static char* map(size_t mib, int kind) {
    char* area = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        exit(120);
    }
    madvise(area, mib << 20, MADV_NOHUGEPAGE);
    return area;
}

static void touch(char* area, size_t mib) {
    for (size_t at = 0; at < mib << 20; at += 4096) {
        area[at] = 1;
    }
}

static int spike(size_t mib, int ms) {
    char* area = map(mib, MAP_PRIVATE);
    touch(area, mib);
    usleep((useconds_t)ms * 1000);
    munmap(area, mib << 20);
    usleep(100000);
    return 0;
}

static int cache(size_t mib, const char* path) {
    static char block[1 << 20];
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    for (size_t i = 0; i < mib; i++) {
        if (write(file, block, sizeof block) != (ssize_t)sizeof block) {
            return 123;
        }
    }
    return 0;
}

static int shared(size_t mib, int children) {
    char* area = map(mib, MAP_SHARED);
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            touch(area, mib);
            usleep(300000);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}

int main(int argc, char** argv) {
    const char* word = argc > 1 ? argv[1] : "";
    const char* first = argc > 2 ? argv[2] : NULL;
    const char* second = argc > 3 ? argv[3] : NULL;
    if (strcmp(word, "state") == 0) {
        return state();
    }
    if (strcmp(word, "signals") == 0) {
        return signals();
    }
    if (!first) {
        return usage();
    }
    if (strcmp(word, "exit") == 0) {
        return atoi(first);
    }
    if (strcmp(word, "die") == 0) {
        return die(atoi(first));
    }
    if (strcmp(word, "run") == 0) {
        return run_for_ever(first);
    }
    if (strcmp(word, "daemon") == 0) {
        return leave_daemon(first);
    }
    if (!second) {
        return usage();
    }
    if (strcmp(word, "bytes") == 0) {
        return bytes(strtoul(first, NULL, 10), strtoul(second, NULL, 10));
    }
    if (strcmp(word, "lines") == 0) {
        return lines(atoi(first), second);
    }
    if (strcmp(word, "spike") == 0) {
        return spike(strtoul(first, NULL, 10), atoi(second));
    }
    if (strcmp(word, "cache") == 0) {
        return cache(strtoul(first, NULL, 10), second);
    }
    if (strcmp(word, "shared") == 0) {
        return shared(strtoul(first, NULL, 10), atoi(second));
    }
    return usage();
}
