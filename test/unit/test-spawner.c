/* The spawner when something runs short: it waits, it does not spin, and it does not give up for good. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "spawner/spawner.h"
#include "wire/channel.h"

#define ATTEMPTS 5
#define REST     (100 * USEC_PER_MSEC) /* of the loop, after a shortage */

/* Shared with the worker. */
typedef struct Injected {
        _Atomic int error; /* of every message that is sent */
        _Atomic unsigned n;
        _Atomic usec_t first, last; /* attempts */
} Injected;

static Injected *injected;

/* Instead of libc's: the kernel cannot be made to lack something on demand. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
        if (!injected || injected->error == 0)
                return syscall(SYS_sendmsg, fd, message, flags);
        if (injected->n++ == 0)
                injected->first = clock_usec();
        injected->last = clock_usec();
        errno = injected->error;
        return -1;
}

TEST(an_answer_that_cannot_be_sent_is_tried_again_after_a_rest) {
        static const int errors[] = { ENOBUFS, ENOMEM, ETOOMANYREFS };
        const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

        injected = mmap(NULL, sizeof(*injected), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(injected != MAP_FAILED);
        for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
                SpawnerOptions options = { 0 };
                int ends[2], status;
                uint8_t hello[SPAWN_MESSAGE_MAX];
                size_t size;
                pid_t pid, self = getpid();

                check_result("pair", channel_pair(ends), 0);
                *injected = (Injected) { .error = errors[i] };
                pid = fork();
                if (pid == 0) {
                        options.channel_fd = ends[1];
                        (void) fd_close(ends[0]);
                        _exit(spawner_run(&options, self, /* lost= */ false));
                }
                (void) fd_close(ends[1]);
                for (unsigned turn = 0; injected->n < ATTEMPTS && turn < 6000; turn++)
                        (void) nanosleep(&pause, NULL);
                check_true("tried again", injected->n >= ATTEMPTS);
                /* the first is the answer's own, and the loop's own follows at once */
                check_true("with a rest between", injected->last - injected->first >= (ATTEMPTS - 2) * REST);
                injected->error = 0;
                check_result("it comes when there is room", channel_receive_bytes(ends[0], 0, hello, sizeof(hello), &size, NULL, 0, NULL), 1);
                (void) fd_close(ends[0]);
                check_int("it ends with its daemon", waitpid(pid, &status, 0), pid);
        }
        (void) munmap(injected, sizeof(*injected));
        injected = NULL;
}

static void may_open(rlim_t n) {
        struct rlimit limit;

        assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = n;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void make_all(Ahead *a) {
        for (unsigned i = 0; i < 64; i++) {
                a->rest = 0;
                ahead_make_one(a);
        }
}

TEST(what_is_made_ahead_is_made_again_after_a_shortage) {
        struct rlimit limit;
        Ahead a;

        if (geteuid() != 0)
                unit_skip("only root makes things ahead: run it as root");
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
        ahead_init(&a, /* privileged= */ true);
        may_open(3);
        for (unsigned i = 0; i < 4; i++) {
                check_true("there is something to do", ahead_next(&a) != USEC_INFINITY);
                ahead_make_one(&a);
                check_true("not at once again", ahead_next(&a) > clock_usec());
                a.rest = 0;
        }
        make_all(&a);
        may_open(limit.rlim_cur);
        check_uint("nothing was made", a.n_devs + a.stocks[SPAWN_NETWORK_NONE].n, 0);
        check_true("and nothing is given up", !a.dev_broken && !a.etc_broken && !a.stocks[SPAWN_NETWORK_NONE].broken);
        make_all(&a);
        check_true("devices", a.dev_broken || a.n_devs == AHEAD_DEVS_MAX);
        check_true("networks", a.stocks[SPAWN_NETWORK_NONE].broken || a.stocks[SPAWN_NETWORK_NONE].n == AHEAD_NETWORKS_MAX);
        check_true("/etc", a.etc_tried);
        check_true("then there is nothing to do", ahead_next(&a) == USEC_INFINITY);
        while (a.n_devs > 0)
                (void) fd_close(ahead_take_dev(&a));
        while (a.stocks[SPAWN_NETWORK_NONE].n > 0) {
                Network network = ahead_take_network(&a, SPAWN_NETWORK_NONE);

                net_done(&network);
        }
        sharedetc_done(&a.etc);
        (void) fd_close(a.home_netns_fd);
}
