/* A build: each thing that it asks for fails in its turn, or the build is cancelled while it waits. Its sandboxes go, no scratch is left, what the cache got stays,
 * and the end is told once. */
#include "depot.h"

#include "build/build.h"
#include "build/internal.h"

static const char dockerfile[] = "FROM host\nUSER 5\nWORKDIR /a\nCOPY <<E /x\nhello\nE\nRUN true\n";

/* Sandboxes and files that answer when they are told to. */

static struct {
        FileOp *ops[8];
        FileRequest requests[8];
        int data_fd; /* of the last one */
        size_t n_ops;
        unsigned n_ended, n_asked; /* until then */
        unsigned turns, ended_in, cancel_at; /* of the loop */
} files;

static int files_start(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op) {
        assert_true(files.n_ops < ELEMENTSOF(files.ops));
        files.requests[files.n_ops] = *request;
        files.ops[files.n_ops++] = op;
        (void) fd_close(files.data_fd);
        files.data_fd = data_fd >= 0 ? fcntl(data_fd, F_DUPFD_CLOEXEC, 3) : -EBADF;
        return 0;
}

static void files_end(Provider *p, FileOp *op) {
        for (size_t i = 0; i < files.n_ops; i++)
                if (files.ops[i] == op) {
                        memmove(files.ops + i, files.ops + i + 1, (files.n_ops - i - 1) * sizeof(*files.ops));
                        memmove(files.requests + i, files.requests + i + 1, (files.n_ops - i - 1) * sizeof(*files.requests));
                        files.n_ops--;
                        return;
                }
}

static bool fails_now(void) {
        bool fails = depot.n++ == depot.fail_at;

        if (fails && depot.way == IS_CANCELLED)
                making_cancel(depot.making);
        return fails;
}

static void answer_file(void) {
        FileOp *op = files.ops[0];
        const FileRequest q = files.requests[0];
        FileEntry entry = { .mode = S_IFREG | 0644 };

        if (fails_now()) {
                if (depot.way != IS_CANCELLED)
                        fileop_on_failed(op, -EIO, q.path);
        } else if (q.operation == FILE_READ || (q.operation == FILE_STAT && strcmp(q.path, "/x") != 0))
                fileop_on_failed(op, -ENOENT, q.path); /* which is an answer */
        else {
                (void) snprintf(entry.path, sizeof(entry.path), "%s", q.path);
                fileop_on_entry(op, &entry, -EBADF);
                if (files.n_ops > 0 && files.ops[0] == op)
                        fileop_on_end(op, 1);
        }
}

static void answer_sandbox(World *w) {
        static const Error broken = { -EIO, "it is broken" };
        Sandbox *sb = TAKE_PTR(w->fake.created);

        if (!fails_now() || depot.way == IS_CANCELLED)
                w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
        else
                w->fake.provider.events->created(sb, 0, 0, 0, &broken, w->manager);
}

static void answer_command(World *w) {
        Sandbox *sb = w->manager->sandboxes;
        uint64_t number = w->fake.last_exec;
        bool fails = fails_now();

        w->fake.last_exec = 0;
        if (fails && depot.way == IS_CANCELLED)
                return;
        w->fake.provider.events->exec_started(sb, number, 4712, w->manager);
        tell_exit(w, sb, number, fails ? 3 << 8 : 0);
}

/* Until the build is over and nothing is left to do. */
static void settle(World *w, Making *k) {
        unsigned n_destroyed = 0;

        for (unsigned idle = 0, waited = 0; idle < 3 && waited < 600;) {
                bool awaited, busy;

                if (files.turns++ == files.cancel_at)
                        making_cancel(k);
                awaited = !k->ended;
                busy = sd_event_run(w->event, awaited && idle > 0 ? 50000 : 0) > 0 || depot.n_queue > 0 || files.n_ops > 0 || w->fake.created ||
                        w->fake.last_exec || n_destroyed < w->fake.n_destroyed;

                waited += awaited && !busy;
                idle = busy ? 0 : awaited ? 1 : idle + 1;
                if (depot.n_queue > 0)
                        depot_answer();
                else if (files.n_ops > 0)
                        answer_file();
                else if (w->fake.created)
                        answer_sandbox(w);
                else if (w->fake.last_exec)
                        answer_command(w);
                else if (n_destroyed < w->fake.n_destroyed)
                        w->fake.provider.events->destroyed(w->fake.destroyed[n_destroyed++], NULL, w->manager);
        }
}

static void on_ended(Images *i, const Making *ended, void *userdata) {
        files.n_ended += ended != NULL;
        files.n_asked = depot.n;
        files.ended_in = files.turns;
}

/* How many things it asks for in all, with this text; cancel_at: in which turn of the loop it is cancelled. */
static unsigned try_build(const char *text, unsigned at, Way way, const char *table, unsigned cancel_at) {
        const bool whole = at == NEVER && !table && cancel_at == NEVER;
        World w;
        Images *i = depot_open(&w, "build", table);
        ProviderOps ops = fake_ops;
        BuildRequest request = { .name = strdup("made"), .text = strdup(text) };
        Builds *builds = NULL;
        Making *k = NULL;
        MakingInfo info;
        Error error = { 0 };
        char what[64];
        unsigned n;

        (void) snprintf(what, sizeof(what), "build %u %u %s %u", at, way, table ? table : "", cancel_at);
        memset(&files, 0, sizeof(files));
        files.data_fd = -EBADF;
        files.cancel_at = cancel_at;
        ops.file_start = files_start;
        ops.file_end = files_end;
        w.fake.provider.ops = &ops;
        images_observe(i, on_ended, NULL);
        check_result(what, builds_new(i, w.manager, &builds, &error), 0);
        check_result(error.text, build_start(builds, &admin, &request, &k, &error), 0);
        depot_fail(at, way, k);
        settle(&w, k);
        n = files.n_asked;
        making_info(k, &info);
        check_string(info.error ? info.error : what, making_status_name(info.status),
                        making_status_name(whole ? MAKING_DONE : (way == IS_CANCELLED || cancel_at != NEVER) && !table ? MAKING_CANCELLED : MAKING_FAILED));
        if (info.status == MAKING_CANCELLED)
                check_string(what, info.error, "cancelled");
        else if (info.status == MAKING_FAILED && !table)
                check_part(what, info.error, "Dockerfile:");
        check_uint(what, files.n_ended, 1);
        check_true(what, !k->works && !builds->list);
        check_uint(what, depot_count(TREE_SCRATCH), 0);
        check_uint(what, depot_count(TREE_SNAPSHOT), HASH_COUNT(i->cache));
        check_true(what, !w.manager->sandboxes);
        check_uint(what, files.n_ops, 0);
        check_int(what, images_find(i, "", "made") != NULL, whole);
        (void) fd_close(files.data_fd);
        build_request_done(&request);
        builds_free(builds);
        depot_close(&w, i);
        return n;
}

TEST(each_thing_that_a_build_asks_for_fails) {
        unsigned n = try_build(dockerfile, NEVER, FAILS_LATER, NULL, NEVER);

        check_true("there is much", n > 15);
        (void) try_build(dockerfile, NEVER, FAILS_LATER, "build_cache", NEVER);
        (void) try_build(dockerfile, NEVER, FAILS_LATER, "image", NEVER);
        for (unsigned at = 0; at < n; at++) {
                (void) try_build(dockerfile, at, FAILS_LATER, NULL, NEVER);
                (void) try_build(dockerfile, at, IS_CANCELLED, NULL, NEVER);
        }
}

TEST(a_build_is_cancelled_in_each_turn_of_the_loop) {
        unsigned turns;

        (void) try_build("FROM host\nRUN true\n", NEVER, FAILS_LATER, NULL, NEVER);
        turns = files.ended_in;
        check_true("there are many", turns > 15);
        for (unsigned at = 0; at < turns; at++)
                (void) try_build("FROM host\nRUN true\n", NEVER, FAILS_LATER, NULL, at);
}
