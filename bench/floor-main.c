/* floor-main.c: cove-floor, one floor as a program of its own, for a profiler or another bench.
 *
 * Runs the floor so many times and tells its percentiles; its own start is not in them. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "child.h"
#include "floor.h"
#include "sample.h"

static const struct {
        const char *name;
        int (*start)(const FloorCommand *command, pid_t *ret);
} floors[] = {
        { "fork-exec",  floor_start_exec       },
        { "namespaces", floor_start_namespaces },
};

/* Our own static `true` lies beside us. */
static int open_true(void) {
        char path[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("cove-bench-true"));
        int fd;

        if (n < 0)
                return -errno;
        path[n] = '\0';
        strcpy(strrchr(path, '/') + 1, "cove-bench-true");
        fd = open(path, O_PATH | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static int run(int (*start)(const FloorCommand *command, pid_t *ret), int exec_fd, uint64_t rounds) {
        static const int stdio[] = { 0, 1, 2 };
        static const char *const argv[] = { "true", NULL };
        const FloorCommand command = { .exec_fd = exec_fd, .argv = argv, .stdio = stdio };
        Samples samples = {};
        int r = 0;

        for (uint64_t i = 0; i < rounds && r >= 0; i++) {
                usec_t began = clock_usec();
                pid_t pid;
                int status;

                r = start(&command, &pid);
                if (r >= 0)
                        r = child_wait(pid, /* ret_pid= */ NULL, &status);
                if (r >= 0)
                        r = child_check(status, /* reterr= */ NULL);
                if (r >= 0)
                        r = samples_add(&samples, clock_usec() - began);
        }
        if (r >= 0)
                printf("n %zu  p50 %lu us  p95 %lu us  p99 %lu us\n", samples.n,
                                samples_quantile(&samples, 500), samples_quantile(&samples, 950),
                                samples_quantile(&samples, 990));
        samples_done(&samples);
        return r;
}

int main(int argc, char *argv[]) {
        uint64_t rounds = 1;
        int fd, r;

        if (argc < 2 || argc > 3 || (argc == 3 && parse_uint64(argv[2], 1, SAMPLES_MAX / 2, &rounds) < 0)) {
                fputs("usage: cove-floor fork-exec|namespaces [ROUNDS]\n", stderr);
                return 2;
        }
        for (size_t i = 0; i < ELEMENTSOF(floors); i++) {
                if (strcmp(argv[1], floors[i].name) != 0)
                        continue;
                fd = open_true();
                r = fd < 0 ? fd : run(floors[i].start, fd, rounds);
                if (r < 0)
                        fprintf(stderr, "cove-floor: %s: %s\n", argv[1], strerror(-r));
                return r < 0 ? 1 : 0;
        }
        fprintf(stderr, "cove-floor: no floor '%s'\n", argv[1]);
        return 2;
}
