/* Names of sandboxes, and user id ranges that no two of them share. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/id.h"
#include "jail/ids.h"

static int compare_names(const void *a, const void *b) {
        return strcmp(a, b);
}

static int compare_ids(const void *a, const void *b) {
        uid_t x = *(const uid_t *) a, y = *(const uid_t *) b;
        return x < y ? -1 : x > y;
}

TEST(names) {
        static char names[10000][ID_LENGTH + 1];

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                check_result("id_make", id_make(names[i]), 0);
                check_uint(names[i], strlen(names[i]), ID_LENGTH);
                check_uint(names[i], strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789"),
                                ID_LENGTH);
                check_true(names[i], names[i][0] >= 'a' && names[i][0] <= 'z');
        }
        qsort(names, ELEMENTSOF(names), sizeof(names[0]), compare_names);
        for (size_t i = 1; i < ELEMENTSOF(names); i++)
                check_true(names[i], strcmp(names[i - 1], names[i]) != 0);
}

/* Abstract socket names belong to a network namespace: in one of our own we disturb no sandbox of the host, and none
 * disturbs us. Where that is not possible, the tests that would take too many are skipped. */
static bool enter_own_network(void) {
        return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static void claim(uid_t *ret_base, int *ret_holder) {
        Error error = { 0 };
        int r = id_range_claim(ret_base, ret_holder, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result("id_range_claim", r, 0);
}

static void check_base(uid_t base) {
        check_true("within bounds",
                        base >= ID_RANGE_FIRST &&
                                        base <= ID_RANGE_FIRST + (ID_RANGE_COUNT - 1) * ID_RANGE_SIZE);
        check_uint("on a border", (base - ID_RANGE_FIRST) % ID_RANGE_SIZE, 0);
}

TEST(range) {
        int holder = -EBADF;
        uid_t base = 0;

        claim(&base, &holder);
        check_base(base);
        check_int("FD_CLOEXEC", fcntl(holder, F_GETFD), FD_CLOEXEC);
        (void) close(holder);
}

TEST(all_ranges_fit) {
        uint64_t end = (uint64_t) ID_RANGE_FIRST + (uint64_t) ID_RANGE_COUNT * ID_RANGE_SIZE;

        check_true("below 2^31: some file systems and tools take no more", end <= UINT64_C(0x80000000));
}

/* Many processes at once, all of which hold what they have got until the last one has it. */
static void claim_concurrently(_unused_ void *userdata) {
        enum { PROCESSES = 32, EACH = 16 };
        static uid_t bases[PROCESSES * EACH];
        int start[2], report[2], stop[2];
        size_t failed = 0;

        (void) enter_own_network();
        check_int("pipe", pipe2(start, O_CLOEXEC), 0);
        check_int("pipe", pipe2(report, O_CLOEXEC), 0);
        check_int("pipe", pipe2(stop, O_CLOEXEC), 0);
        for (int i = 0; i < PROCESSES; i++)
                if (fork() == 0) {
                        uid_t mine[EACH];
                        char c;

                        (void) close(start[1]);
                        (void) close(stop[1]);
                        (void) read(start[0], &c, 1); /* until all are there */
                        for (int j = 0; j < EACH; j++)
                                claim(mine + j, &(int) { -EBADF });
                        check_result("report", fd_write_all(report[1], mine, sizeof(mine)), 0);
                        (void) read(stop[0], &c, 1);
                        _exit(0);
                }
        (void) close(report[1]);
        (void) close(start[1]);
        check_int("ranges", fd_read_full(report[0], bases, sizeof(bases)), sizeof(bases));
        (void) close(stop[1]);
        for (int status; wait(&status) > 0;)
                failed += status != 0;
        check_uint("processes that failed", failed, 0);

        qsort(bases, ELEMENTSOF(bases), sizeof(bases[0]), compare_ids);
        for (size_t i = 0; i < ELEMENTSOF(bases); i++) {
                check_base(bases[i]);
                if (i > 0)
                        check_true("nobody else's", bases[i] != bases[i - 1]);
        }
}

TEST(ranges_claimed_at_once_are_distinct) {
        unit_run_in_child(claim_concurrently, NULL);
}

/* The name is what different versions of cove agree on: it must stay. */
static int hold(uint32_t slot) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cove/id-range/%u", slot);

        if (fd < 0 || bind(fd, (const struct sockaddr *) &address,
                                      (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                                                      (size_t) n)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static uint32_t slot_of(uid_t base) {
        return (base - ID_RANGE_FIRST) / ID_RANGE_SIZE;
}

static void holder_dies(_unused_ void *userdata) {
        int report[2], taken;
        uid_t base = 0;
        pid_t pid;

        (void) enter_own_network();
        check_int("pipe", pipe2(report, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                claim(&base, &(int) { -EBADF });
                check_result("report", fd_write_all(report[1], &base, sizeof(base)), 0);
                for (;;)
                        (void) pause();
        }
        check_int("range", fd_read_full(report[0], &base, sizeof(base)), sizeof(base));
        check_result("while it lives", hold(slot_of(base)), -EADDRINUSE);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        taken = hold(slot_of(base));
        check_true("free again", taken >= 0);
}

TEST(range_comes_back_when_the_holder_dies) {
        unit_run_in_child(holder_dies, NULL);
}

static void holder_closes(_unused_ void *userdata) {
        int holder = -EBADF, taken;
        uid_t base = 0;

        (void) enter_own_network(); /* where nobody takes it meanwhile */
        claim(&base, &holder);
        check_result("while it is held", hold(slot_of(base)), -EADDRINUSE);
        (void) close(holder);
        taken = hold(slot_of(base));
        check_true("free again", taken >= 0);
        (void) close(taken);
}

TEST(range_comes_back_when_closed) {
        unit_run_in_child(holder_closes, NULL);
}

static void take_all_but(uint32_t first, uint32_t n) {
        struct rlimit limit;

        if (!enter_own_network())
                unit_skip("no network namespace of our own (%s); run as root, or allow user namespaces",
                                strerror(errno));
        check_int("getrlimit", getrlimit(RLIMIT_NOFILE, &limit), 0);
        if (limit.rlim_max < ID_RANGE_COUNT + 64)
                unit_skip("only %llu descriptors; raise the limit (ulimit -Hn %u)",
                                (unsigned long long) limit.rlim_max, ID_RANGE_COUNT + 64);
        limit.rlim_cur = limit.rlim_max;
        check_int("setrlimit", setrlimit(RLIMIT_NOFILE, &limit), 0);
        for (uint32_t slot = 0; slot < ID_RANGE_COUNT; slot++)
                if (slot < first || slot >= first + n)
                        check_true("hold", hold(slot) >= 0);
}

static void all_taken(_unused_ void *userdata) {
        Error error = { 0 };
        int holder = 77;
        uid_t base = 77;
        size_t before;

        take_all_but(0, 0);
        before = unit_count_descriptors();
        check_result("id_range_claim", id_range_claim(&base, &holder, &error), -EBUSY);
        check_part("error", error.text, "no free user id range: all 12288 are taken");
        check_uint("output untouched", base, 77);
        check_int("output untouched", holder, 77);
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(all_ranges_taken) {
        unit_run_in_child(all_taken, NULL);
}

/* A hundred in a row are free: as many are found, and no other. */
static void few_left(_unused_ void *userdata) {
        take_all_but(500, 100);
        for (int i = 0; i < 100; i++) {
                uid_t base = 0;

                claim(&base, &(int) { -EBADF });
                check_true("one of the free ones", slot_of(base) >= 500 && slot_of(base) < 600);
        }
        check_result("one more", id_range_claim(&(uid_t) { 0 }, &(int) { -EBADF }, /* reterr= */ NULL), -EBUSY);
}

TEST(few_ranges_left) {
        unit_run_in_child(few_left, NULL);
}
