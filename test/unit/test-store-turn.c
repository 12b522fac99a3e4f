/* Rows of running work, which are written at the end of a turn (core/store.h, store/wal.h). */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "store-rows.h"

static void count_unwritten(void *userdata) {
        ++*(unsigned *) userdata;
}

static uint64_t writes_of_this_process(void) {
        unsigned long long n = 0;
        char text[512];
        const char *line;

        check_true("io", file_read(AT_FDCWD, "/proc/self/io", text, sizeof(text)) >= 0);
        line = strstr(text, "syscw: ");
        check_true("syscw", line && sscanf(line, "syscw: %llu", &n) == 1);
        return n;
}

static void run_commands(Store *s, Sandbox *sb, uint64_t first, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                Execution x = plain_execution(sb, first + i);
                StoreEvent event = { .sandbox_id = sb->id, .type = "exec.start" };

                check_result("begin", store_begin(s), 0);
                check_result("execution", store_execution_insert(s, &x), 0);
                check_result("event", store_event_add(s, &event, NULL), 0);
                check_result("commit", store_commit(s), 0);
                check_result("update", store_execution_update(s, &x), 0);
        }
}

typedef struct Death {
        const char *name;
        bool flush, other, sync;
} Death;

/* Dies without closing the store. */
static void write_and_die(const Death *d) {
        Store *s = open_store(d->name);
        Sandbox sb = plain_sandbox(1), other = plain_sandbox(2);
        unsigned n = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        store_set_turn(s, count_unwritten, &n);
        run_commands(s, &sb, 1, 10);
        check_uint("each was told", n, 20);
        check_uint("and is seen here", n_executions(s), 10);
        if (d->flush)
                store_flush_or_end(s);
        if (d->other)
                check_result("another sandbox", store_sandbox_insert(s, &other), 0);
        if (d->sync)
                check_result("sync", store_sync(s), 0);
        (void) kill(getpid(), SIGKILL);
}

static size_t executions_after(const Death *d) {
        pid_t pid = fork();
        int status;
        Store *s;
        size_t n;

        check_true("fork", pid >= 0);
        if (pid == 0)
                write_and_die(d);
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        check_true("killed, and not ended by a check", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        s = open_store(d->name);
        n = n_executions(s);
        check_uint("sandboxes do not wait", n_sandboxes(s), d->other ? 2 : 1);
        store_close(s);
        return n;
}

TEST(a_killed_process_loses_the_turn_only) {
        check_uint("nobody has heard of them", executions_after(&(Death) { .name = "turn.db" }), 0);
        check_uint("flushed", executions_after(&(Death) { .name = "flushed.db", .flush = true }), 10);
        check_uint("a sandbox takes them along", executions_after(&(Death) { .name = "other.db", .other = true }), 10);
        check_uint("synced", executions_after(&(Death) { .name = "synced.db", .sync = true }), 10);
}

TEST(one_write_for_a_turn) {
        Store *s = open_store("writes.db");
        Sandbox sb = plain_sandbox(1);
        uint64_t before, alone;
        unsigned n = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        before = writes_of_this_process();
        run_commands(s, &sb, 1, 20);
        alone = writes_of_this_process() - before;
        store_set_turn(s, count_unwritten, &n);
        before = writes_of_this_process();
        run_commands(s, &sb, 21, 20);
        check_uint("none", writes_of_this_process() - before, 0);
        store_flush_or_end(s);
        check_true("many", alone >= 100);
        check_true("few instead", writes_of_this_process() - before <= alone / 10);
        store_flush_or_end(s);
        store_close(s);
        s = open_store("writes.db");
        check_uint("all are there", n_executions(s), 40);
        store_close(s);
}

/* The log is moved into the file while pieces of it wait, again and again, and is read in between. */
TEST(more_than_the_log_holds) {
        Store *s = open_store("long.db");
        Sandbox sb = plain_sandbox(1);
        unsigned n = 0;
        struct stat st;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        store_set_turn(s, count_unwritten, &n);
        for (unsigned i = 0; i < 300; i++) {
                run_commands(s, &sb, 1 + 10 * i, 10);
                if (i % 7 == 0)
                        store_flush_or_end(s);
                if (i % 50 == 0)
                        check_uint("so far", n_executions(s), 10 * (i + 1));
        }
        check_result("stat", stat(unit_path("long.db"), &st), 0);
        check_true("in the file", st.st_size > 500000);
        store_close(s);
        s = open_store("long.db");
        check_uint("all are there", n_executions(s), 3000);
        store_close(s);
}

TEST(a_transaction_alone_is_rolled_back) {
        Store *s = open_store("rollback.db");
        Sandbox sb = plain_sandbox(1);
        Execution x = plain_execution(&sb, 3);
        unsigned n = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        store_set_turn(s, count_unwritten, &n);
        run_commands(s, &sb, 1, 2);
        check_result("begin", store_begin(s), 0);
        check_result("execution", store_execution_insert(s, &x), 0);
        check_result("once more", store_execution_insert(s, &x), -EEXIST);
        check_result("commit", store_commit(s), -EEXIST);
        store_flush_or_end(s);
        check_uint("the others stay", n_executions(s), 2);
        store_close(s);
}

/* The device fails: nothing that was told as done inside the process may be answered, so it ends. */
static void fail_to_write(void) {
        Store *s = open_store("broken.db");
        Sandbox sb = plain_sandbox(1);
        struct rlimit limit = { 0 };
        unsigned n = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        store_set_turn(s, count_unwritten, &n);
        run_commands(s, &sb, 1, 1);
        (void) signal(SIGXFSZ, SIG_IGN);
        (void) getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 1;
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        store_flush_or_end(s);
        _exit(0);
}

TEST(what_cannot_be_written_ends_the_process) {
        pid_t pid = fork();
        int status;
        Store *s;

        check_true("fork", pid >= 0);
        if (pid == 0)
                fail_to_write();
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        check_true("its own failure", WIFEXITED(status) && WEXITSTATUS(status) == 125);
        s = open_store("broken.db");
        check_uint("nothing of the turn", n_executions(s), 0);
        check_uint("all of what was before", n_sandboxes(s), 1);
        store_close(s);
}
