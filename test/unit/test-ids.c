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
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/id.h"
#include "jail/ids-name.h"
#include "jail/ids-users.h"
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

/* Names of sockets belong to a network namespace: in one of our own we disturb no sandbox of the host, and none disturbs us. */
static void enter_own_network(void) {
        if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
                unit_skip("no network namespace of our own (%s); run as root, or allow user namespaces", strerror(errno));
}

static void need_root(void) {
        if (geteuid() != 0)
                unit_skip("only root can be told from another user; run as root");
}

/* A table of its own directory. */
static IdRanges table_of(const char *name, uint32_t n) {
        IdRanges t;

        id_ranges_init(&t, unit_path(name), n);
        return t;
}

static IdRange claim(IdRanges *t) {
        IdRange range = ID_RANGE_EMPTY;
        Error error = { 0 };
        int r = id_range_claim(t, &range, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result("id_range_claim", r, 0);
        return range;
}

static uint32_t number_of(uid_t base) {
        return (base - ID_RANGE_FIRST) / ID_RANGE_SIZE;
}

static void check_base(uid_t base, uint32_t n) {
        check_true("within bounds", base >= ID_RANGE_FIRST && number_of(base) < n);
        check_uint("on a border", (base - ID_RANGE_FIRST) % ID_RANGE_SIZE, 0);
}

static void check_all_taken(IdRanges *t, const char *text) {
        size_t before = unit_count_descriptors();
        IdRange range = { .base = 77, .lock_fd = 77 };
        Error error = { 0 };

        check_result("id_range_claim", id_range_claim(t, &range, &error), -EUSERS);
        check_part("error", error.text, text);
        check_uint("output untouched", range.base, 77);
        check_int("output untouched", range.lock_fd, 77);
        check_uint("descriptors", unit_count_descriptors(), before);
}

static void one_range(_unused_ void *userdata) {
        IdRanges t = table_of("one", 0);
        struct stat st;
        IdRange range;

        enter_own_network();
        range = claim(&t);
        check_base(range.base, ID_RANGE_COUNT);
        check_int("FD_CLOEXEC", fcntl(range.lock_fd, F_GETFD), FD_CLOEXEC);
        check_int("nothing can be written to it", fcntl(range.lock_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
        check_true("a name too", range.name_fd >= 0);
        check_int("stat", stat(unit_path("one"), &st), 0);
        check_uint("nobody else's", st.st_mode & 07777, 0700);
        id_range_release(&range);
        id_ranges_done(&t);
}

TEST(range) {
        unit_run_in_child(one_range, NULL);
}

TEST(bounds) {
        uint64_t end = (uint64_t) ID_RANGE_FIRST + (uint64_t) ID_RANGE_MOST * ID_RANGE_SIZE;
        IdRanges t = table_of("bounds", ID_RANGE_MOST);
        uid_t foreign = 0x7ffe0000;

        check_true("by default below 2^31: some tools take no more", ID_RANGE_FIRST + (uint64_t) ID_RANGE_COUNT * ID_RANGE_SIZE <= UINT64_C(0x80000000));
        check_true("never (uid_t) -1", end <= UINT32_MAX);
        check_true("the first", id_range_has(ID_RANGE_FIRST));
        check_true("the last", id_range_has((uid_t) (end - 1)));
        check_true("one before", !id_range_has(ID_RANGE_FIRST - 1));
        check_true("one after", !id_range_has((uid_t) end));
        check_result("id_ranges_open", id_ranges_open(&t, /* reterr= */ NULL), 0);
        check_true("systemd's range for foreign files is left out", t.unfit[number_of(foreign) / 64] >> number_of(foreign) % 64 & 1);
        check_true("few are", t.n - t.n_fit < 100);
        id_ranges_done(&t);
}

TEST(order_is_random) {
        enum { N = 200 };
        IdRanges t = table_of("random", 2000);
        unsigned neighbours = 0;
        uid_t last = 0;

        for (int i = 0; i < N; i++) {
                IdRange range = claim(&t);

                neighbours += range.base - last == ID_RANGE_SIZE || last - range.base == ID_RANGE_SIZE;
                last = range.base;
                id_range_release(&range); /* but the table has not been told */
        }
        check_true("neighbours in a row", neighbours < N / 10);
        id_ranges_done(&t);
}

/* Many processes at once, all of which hold what they have got until the last one has it. */
static void claim_concurrently(_unused_ void *userdata) {
        enum { PROCESSES = 32, EACH = 16, N = 600 };
        static uid_t bases[PROCESSES * EACH];
        int start[2], report[2], stop[2];
        size_t failed = 0;

        enter_own_network();
        check_int("pipe", pipe2(start, O_CLOEXEC), 0);
        check_int("pipe", pipe2(report, O_CLOEXEC), 0);
        check_int("pipe", pipe2(stop, O_CLOEXEC), 0);
        for (int i = 0; i < PROCESSES; i++)
                if (fork() == 0) {
                        IdRanges t = table_of("at-once", N);
                        uid_t mine[EACH];
                        char c;

                        (void) close(start[1]);
                        (void) close(stop[1]);
                        (void) read(start[0], &c, 1); /* until all are there */
                        for (int j = 0; j < EACH; j++)
                                mine[j] = claim(&t).base;
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
                check_base(bases[i], N);
                if (i > 0)
                        check_true("nobody else's", bases[i] != bases[i - 1]);
        }
}

TEST(ranges_claimed_at_once_are_distinct) {
        unit_run_in_child(claim_concurrently, NULL);
}

/* A maker claims all but one range, each for a sandbox that it forks, and is killed. Its sandboxes keep theirs. */
static void maker_dies(_unused_ void *userdata) {
        enum { N = 12 };
        IdRanges next = table_of("maker", N);
        pid_t maker, sandboxes[N - 1];
        int report[2];
        uid_t left;

        enter_own_network();
        check_int("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        check_int("pipe", pipe2(report, O_CLOEXEC), 0);
        maker = fork();
        if (maker == 0) {
                IdRanges t = table_of("maker", N);

                for (int i = 0; i < N - 1; i++) {
                        IdRange range = claim(&t);

                        sandboxes[i] = fork();
                        if (sandboxes[i] == 0)
                                for (;;)
                                        (void) pause();
                        id_range_release(&range);
                }
                check_result("report", fd_write_all(report[1], sandboxes, sizeof(sandboxes)), 0);
                for (;;)
                        (void) pause();
        }
        check_int("sandboxes", fd_read_full(report[0], sandboxes, sizeof(sandboxes)), sizeof(sandboxes));
        (void) kill(maker, SIGKILL);
        (void) waitpid(maker, NULL, 0);

        left = claim(&next).base;
        check_all_taken(&next, "all 12 are taken");
        (void) kill(sandboxes[3], SIGKILL);
        (void) waitpid(sandboxes[3], NULL, 0);
        next.rest = 0; /* as later */
        check_true("the dead one's", claim(&next).base != left);
        check_all_taken(&next, "all 12 are taken");
        for (int i = 0; i < N - 1; i++)
                if (i != 3) {
                        (void) kill(sandboxes[i], SIGKILL);
                        (void) waitpid(sandboxes[i], NULL, 0);
                }
}

TEST(ranges_outlive_their_maker_and_not_their_sandbox) {
        unit_run_in_child(maker_dies, NULL);
}

static void take_all(_unused_ void *userdata) {
        enum { N = 300 };
        IdRanges t = table_of("all", N), other = table_of("all", N);
        static IdRange ranges[N];
        static bool seen[N];
        uid_t base;

        enter_own_network();
        check_result("id_ranges_open", id_ranges_open(&other, /* reterr= */ NULL), 0);
        for (uint32_t i = 0; i < N; i++) {
                ranges[i] = claim(&t);
                check_base(ranges[i].base, N);
                check_true("once", !seen[number_of(ranges[i].base)]);
                seen[number_of(ranges[i].base)] = true;
        }
        check_all_taken(&t, "no free range of user ids: all 300 are taken");
        check_all_taken(&other, "raise limits.idRanges (300 of at most 49151)");

        base = ranges[7].base;
        id_range_release(ranges + 7);
        id_ranges_ended(&t, base);
        ranges[7] = claim(&t);
        check_uint("the one that has ended", ranges[7].base, base);
        check_all_taken(&t, "all 300 are taken");

        id_range_release(ranges + 8); /* nobody tells the table */
        t.rest = 0;                   /* as later */
        check_uint("found", claim(&t).base, ranges[8].base);
        check_all_taken(&t, "all 300 are taken");
}

TEST(all_ranges_taken) {
        unit_run_in_child(take_all, NULL);
}

/* Whoever reports a living sandbox as ended is wrong, and its range stays taken. */
static void report_wrongly(_unused_ void *userdata) {
        IdRanges t = table_of("wrong", 1);
        IdRange range;

        enter_own_network();
        range = claim(&t);
        id_ranges_ended(&t, range.base);
        id_ranges_ended(&t, range.base);
        id_ranges_ended(&t, 0);
        id_ranges_ended(&t, range.base + ID_RANGE_SIZE);
        check_all_taken(&t, "all 1 are taken");
}

TEST(the_lock_decides) {
        unit_run_in_child(report_wrongly, NULL);
}

static void remove_under_lock(_unused_ void *userdata) {
        IdRanges t = table_of("purge", 1), other = table_of("purge", 1);
        IdRange first;
        char path[512];

        enter_own_network();
        first = claim(&t);
        (void) snprintf(path, sizeof(path), "%s/%u", unit_path("purge"), first.base / ID_RANGE_SIZE);
        id_range_release(&first);
        check_int("unlink", unlink(path), 0);
        first = claim(&other);
        check_int("a file that others find", access(path, F_OK), 0);
        id_ranges_ended(&t, first.base);
        check_all_taken(&t, "all 1 are taken");
}

TEST(a_removed_file_locks_nothing) {
        unit_run_in_child(remove_under_lock, NULL);
}

/* Names. */

static void names_of_root(_unused_ void *userdata) {
        IdRanges t = table_of("old", 8);
        int old = -EBADF;

        need_root();
        enter_own_network();
        for (uint32_t i = 0; i < 8; i++)
                if (i != 5)
                        check_true("bind", (old = id_name_bind(i)) >= 0);
        check_uint("what cove 0.1 has left", number_of(claim(&t).base), 5);
        check_result("cove 0.1 sees ours", id_name_bind(5), -EADDRINUSE);
        check_all_taken(&t, "all 8 are taken");
        (void) close(old);
        t.rest = 0;
        check_uint("its sandbox has ended", number_of(claim(&t).base), 7);
}

TEST(ranges_of_sandboxes_of_earlier_versions) {
        unit_run_in_child(names_of_root, NULL);
}

static void bind_as_nobody(uint32_t n, const int bound[2], const int stop[2]) {
        char c;

        if (setgid(65534) < 0 || setuid(65534) < 0)
                _exit(1);
        for (uint32_t i = 0; i < n; i++)
                if (id_name_bind(i) < 0)
                        _exit(1);
        if (open(unit_path("squat"), O_RDONLY) >= 0 || open(unit_path("squat/16384"), O_RDONLY) >= 0 || mkdir(unit_path("squat/x"), 0700) == 0)
                _exit(1);
        (void) close(stop[1]);
        if (write(bound[1], "b", 1) != 1)
                _exit(1);
        (void) read(stop[0], &c, 1);
        _exit(0);
}

static void squat(_unused_ void *userdata) {
        enum { N = 100 };
        IdRanges t = table_of("squat", N);
        int bound[2], stop[2], status;
        pid_t squatter;
        char c;

        need_root();
        enter_own_network();
        check_result("id_ranges_open", id_ranges_open(&t, /* reterr= */ NULL), 0);
        check_int("pipe", pipe2(bound, O_CLOEXEC), 0);
        check_int("pipe", pipe2(stop, O_CLOEXEC), 0);
        squatter = fork();
        if (squatter == 0)
                bind_as_nobody(N, bound, stop);
        (void) close(bound[1]);
        check_int("it has bound all names, and reached no lock", read(bound[0], &c, 1), 1);
        for (int i = 0; i < N; i++)
                check_int("no name", claim(&t).name_fd, -EBADF);
        check_all_taken(&t, "all 100 are taken");
        (void) close(stop[1]);
        (void) waitpid(squatter, &status, 0);
        check_int("squatter", status, 0);
}

TEST(another_user_takes_no_range) {
        unit_run_in_child(squat, NULL);
}

TEST(directory_of_somebody_else) {
        IdRanges t = table_of("open", 1);
        IdRange range;
        Error error = { 0 };

        check_int("mkdir", mkdir(unit_path("open"), 0777), 0);
        check_int("chmod", chmod(unit_path("open"), 0777), 0);
        check_result("open to others", id_range_claim(&t, &range, &error), -EPERM);
        check_part("error", error.text, "must belong to root and have mode 0700");
        check_int("rmdir", rmdir(unit_path("open")), 0);
        check_int("symlink", symlink("/tmp", unit_path("open")), 0);
        check_result("a link", id_range_claim(&t, &range, &error), -ENOTDIR);
        check_int("unlink", unlink(unit_path("open")), 0);
        check_result("id_ranges_open", id_ranges_open(&t, &error), 0);
        check_int("rmdir", rmdir(unit_path("open")), 0);
        check_result("removed", id_range_claim(&t, &range, &error), -ENOENT);
        check_part("error", error.text, "was removed: restart the daemon");
        id_ranges_done(&t);
}

/* Users of the machine. */

static void count_ids(uid_t first, uint64_t count, void *userdata) {
        uint64_t *sums = userdata;

        sums[0]++;
        sums[1] += first;
        sums[2] += count;
}

TEST(ids_of_users) {
        static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n\n# x\nbad\nalice:x:1073741824:1:::\nlong:x:99999999999999999999999999:0:::\nlast:x:5";
        static const char subuid[] = "alice:100000:65536\nbob:x:1\ncarol:1073741825:131072\n";
        uint64_t users[3] = { 0 }, ranges[3] = { 0 };

        ids_users_read(passwd, sizeof(passwd) - 1, 2, 0, count_ids, users);
        check_uint("users", users[0], 3);
        check_uint("their ids", users[1], UINT64_C(1073741824) + 5);
        ids_users_read(subuid, sizeof(subuid) - 1, 1, 2, count_ids, ranges);
        check_uint("ranges", ranges[0], 2);
        check_uint("their sizes", ranges[2], 65536 + 131072);
}
