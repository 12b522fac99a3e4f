/* net.c: cove-bench-net: how long the networks of sandboxes take to make, one after the other, and how long the kernel takes to be rid
 * of them again. Root only. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "jail/net.h"

#define ROUNDS     200u
#define ROUNDS_MAX 10000u

static const struct {
        const char *name;
        SpawnNetwork shape;
} kinds[] = {
        { "none",   SPAWN_NETWORK_NONE   },
        { "gated",  SPAWN_NETWORK_GATED  },
        { "linked", SPAWN_NETWORK_LINKED },
};

static int compare(const void *a, const void *b) {
        const usec_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static int make(SpawnNetwork shape, int hub_fd, unsigned i, Network *ret) {
        Error error = { 0 };
        char id[32];
        NetRequest q = { .shape = shape, .userns_fd = -EBADF, .id = id, .address = 0x0ad50002 + i, .hub_fd = hub_fd };
        int r;

        (void) snprintf(id, sizeof(id), "%014u0000000", i);
        r = net_make(&q, ret, &error);
        if (r < 0 && r != -ENOSPC)
                fprintf(stderr, "%s\n", error.text);
        return r;
}

/* All of one shape at once, as they live together; linked ones in one group. With room for just as many, the next one can only be made when
 * the first of those that were let go is gone, and as many only when all are. */
static int measure(size_t kind, unsigned n, Network *networks, usec_t *times) {
        usec_t begun, gone;

        for (unsigned i = 0; i < n; i++) {
                begun = clock_usec();
                if (make(kinds[kind].shape, i > 0 ? networks[0].fds[1] : -EBADF, i, networks + i) < 0)
                        return -1;
                times[i] = clock_usec() - begun;
        }
        qsort(times, n, sizeof(*times), compare);
        begun = clock_usec();
        for (unsigned i = 0; i < n; i++)
                net_done(networks + i);
        gone = clock_usec();
        for (unsigned i = 0; i < n; i++)
                while (make(SPAWN_NETWORK_NONE, -EBADF, i, networks + i) == -ENOSPC)
                        (void) usleep(1000);
        printf("%-8s make p50 %5.2f ms, p99 %5.2f ms; let go %.3f ms each; all %u gone and made anew as 'none' %.0f ms later\n", kinds[kind].name,
                        (double) times[n / 2] / 1000, (double) times[n * 99 / 100] / 1000, (double) (gone - begun) / 1000 / n, n,
                        (double) (clock_usec() - gone) / 1000);
        for (unsigned i = 0; i < n; i++)
                net_done(networks + i);
        return 0;
}

/* In a user namespace of its own, which has room for just as many. */
static int measure_in_child(size_t kind, unsigned n) {
        pid_t pid = fork();
        int status;

        if (pid < 0)
                return -1;
        if (pid == 0) {
                Network *networks = calloc(n, sizeof(*networks));
                usec_t *times = calloc(n, sizeof(*times));

                if (!networks || !times || unshare(CLONE_NEWUSER) < 0 ||
                                file_write_format(AT_FDCWD, "/proc/sys/user/max_net_namespaces", "%u", n + 1) < 0) {
                        fprintf(stderr, "cannot begin: %s\n", strerror(errno));
                        _exit(2);
                }
                exit(measure(kind, n, networks, times) < 0 ? 2 : 0);
        }
        return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

int main(int argc, char **argv) {
        uint64_t n = ROUNDS;

        if (argc > 2 || (argc == 2 && parse_uint64(argv[1], 2, ROUNDS_MAX, &n) < 0)) {
                fprintf(stderr, "usage: cove-bench-net [NUMBER]\n");
                return 2;
        }
        for (size_t kind = 0; kind < ELEMENTSOF(kinds); kind++)
                if (measure_in_child(kind, (unsigned) n) < 0)
                        return 2;
        return 0;
}
