/* The audit log: the chain, new files, crashes, full disks, and every way to tamper with it (items 18, 396). */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/config.h"
#include "core/secret.h"
#include "observe/audit.h"
#include "core/rows.h"
#include "core/settle.h"
#include "store/store.h"

typedef struct World {
        char state[512];
        sd_event *event;
        Store *store;
        Access *access;
        Config *settings;
        Manager *manager;
        Audit *audit;
        unsigned alarms;
        CoreObserver observer;
} World;

static void on_security(const char *kind, Sandbox *sb, const char *text, void *userdata) {
        if (strcmp(kind, "audit-failed") == 0)
                ((World *) userdata)->alarms++;
}

static void world_open(World *w, const char *name) {
        ManagerConfig config = { .state_dir = w->state, .sandboxes_max = 10 };
        char path[600];
        Error error = { 0 };

        (void) snprintf(w->state, sizeof(w->state), "%s", unit_path(name));
        (void) mkdir(w->state, 0700);
        (void) snprintf(path, sizeof(path), "%s/run", w->state);
        (void) mkdir(path, 0700);
        (void) snprintf(path, sizeof(path), "%s/box", w->state);
        (void) mkdir(path, 0700);
        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        check_true("loop", sd_event_new(&w->event) >= 0);
        check_result("store", store_open(path, &w->store, &error), 0);
        check_result("access", access_new(w->store, w->state, &w->access, &error), 0);
        check_result("settings", config_defaults(&w->settings), 0);
        check_result("manager", manager_new(&config, w->settings, w->event, w->store, w->access, &w->manager, &error), 0);
        w->alarms = 0;
        w->observer = (CoreObserver) { .security = on_security, .userdata = w };
        manager_observe(w->manager, &w->observer);
}

static void audit_up(World *w) {
        Error error = { 0 };

        check_result("audit", audit_new(w->manager, &w->audit, &error), 0);
}

static void world_close(World *w) {
        w->audit = audit_free(w->audit);
        w->manager = manager_free(w->manager);
        w->settings = config_free(w->settings);
        w->access = access_free(w->access);
        w->store = store_close(w->store);
        w->event = sd_event_unref(w->event);
}

static void calls(World *w, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                const AuditCall call = {
                        .actor = "admin",
                        .remote = "unix",
                        .method = "POST",
                        .route = "/api/sandbox/{id}/exec",
                        .path = "/api/sandbox/s/exec",
                        .sandbox = "s0000000000000000000x",
                        .status = 200,
                        .duration_usec = 1234,
                };

                audit_call(w->audit, &call);
        }
}

static int open_dir(const World *w) {
        char path[600];

        (void) snprintf(path, sizeof(path), "%s/audit", w->state);
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static AuditVerdict verify(const World *w) {
        _cleanup_close_ int fd = open_dir(w);
        AuditVerifier v;
        AuditVerdict verdict;
        int r = audit_verify_begin(&v, fd, secret_sha256, NULL);

        check_result("verify", r, 0);
        while ((r = audit_verify_slice(&v, 4096)) > 0)
                ;
        check_result("verify", r, 0);
        verdict = v.verdict;
        audit_verify_done(&v);
        return verdict;
}

static void check_broken(const World *w, const char *what, const char *words) {
        AuditVerdict v = verify(w);

        check_true(what, !v.intact);
        check_part(what, v.problem, words);
}

static char *slurp(const World *w, const char *name, size_t *ret_size) {
        _cleanup_close_ int fd = open_dir(w);
        char *data = NULL;

        check_result(name, file_read_alloc(fd, name, 1 << 24, &data, ret_size), 0);
        return data;
}

static void spill(const World *w, const char *name, const char *data, size_t size) {
        char path[700];

        (void) snprintf(path, sizeof(path), "%s/audit/%s", w->state, name);
        unit_write_file(path, data, size);
}

TEST(chain) {
        World w = { 0 };
        AuditStats stats;
        AuditVerdict v;

        world_open(&w, "chain");
        audit_up(&w);
        calls(&w, 10);
        audit_stats(w.audit, &stats);
        check_uint("records", stats.records, 11); /* and the start */
        v = verify(&w);
        check_true("intact", v.intact);
        check_uint("records", v.records, 11);
        check_string("head", v.hash, stats.hash);
        world_close(&w);

        world_open(&w, "chain"); /* goes on where it was */
        audit_up(&w);
        calls(&w, 1);
        v = verify(&w);
        check_true("intact after a restart", v.intact);
        check_uint("records", v.records, 11 + 1 + 2);
        check_uint("torn", v.torn, 0);
        world_close(&w);
}

TEST(no_secret_and_no_control_character) {
        World w = { 0 };
        const AuditCall call = { .actor = "admin", .method = "GET", .path = "/a\n\"b\xff", .file = "\",\"hash\":\"x", .status = 404 };
        size_t size;
        char *data;

        world_open(&w, "quoting");
        audit_up(&w);
        audit_call(w.audit, &call);
        data = slurp(&w, "audit-000001.jsonl", &size);
        check_part("quoted", data, "\"path\":\"/a\\n\\\"b\\ufffd\"");
        check_true("intact", verify(&w).intact);
        free(data);
        world_close(&w);
}

TEST(rotation) {
        World w = { 0 };
        AuditFiles files = { 0 };
        _cleanup_close_ int fd = -EBADF;
        AuditVerdict v;

        world_open(&w, "rotation");
        w.settings->audit.file_bytes = 2000;
        audit_up(&w);
        calls(&w, 50);
        fd = open_dir(&w);
        check_result("list", audit_files_list(fd, &files), 0);
        check_true("several files", files.n >= 5);
        v = verify(&w);
        check_true("intact", v.intact);
        check_uint("all", v.records, 51);
        check_uint("files", v.n_files, files.n);
        audit_files_done(&files);
        world_close(&w);
}

/* Any byte of any file, the head included. */
TEST(every_changed_byte_is_found) {
        static const char *const names[] = { "audit-000001.jsonl", "audit-000002.jsonl", AUDIT_HEAD_FILE };
        World w = { 0 };

        world_open(&w, "bytes");
        w.settings->audit.file_bytes = 1200;
        audit_up(&w);
        calls(&w, 4);
        for (size_t k = 0; k < ELEMENTSOF(names); k++) {
                size_t size;
                char *data = slurp(&w, names[k], &size);

                for (size_t i = 0; i < size; i++) {
                        char what[64], before = data[i];

                        data[i] ^= 1;
                        spill(&w, names[k], data, size);
                        (void) snprintf(what, sizeof(what), "%s, byte %zu", names[k], i);
                        check_true(what, !verify(&w).intact);
                        data[i] = before;
                }
                spill(&w, names[k], data, size);
                free(data);
        }
        check_true("put back", verify(&w).intact);
        world_close(&w);
}

/* Removed, repeated, exchanged. */
TEST(records_that_are_moved) {
        World w = { 0 };
        size_t size, first;
        char *data, *copy;
        AuditVerdict v;

        world_open(&w, "moved");
        audit_up(&w);
        calls(&w, 3);
        data = slurp(&w, "audit-000001.jsonl", &size);
        copy = malloc(2 * size);
        first = (size_t) (strchr(data, '\n') - data) + 1;

        spill(&w, "audit-000001.jsonl", data + first, size - first);
        check_broken(&w, "the first is missing", "missing");
        memcpy(copy, data, first);
        memcpy(copy + first, data, size);
        spill(&w, "audit-000001.jsonl", copy, size + first);
        check_broken(&w, "the first is there twice", "does not follow");
        v = verify(&w);
        check_string("its file", v.file, "audit-000001.jsonl");
        check_uint("its line", v.line, 2);
        spill(&w, "audit-000001.jsonl", data, size);
        check_true("put back", verify(&w).intact);
        free(data);
        free(copy);
        world_close(&w);
}

TEST(missing_files) {
        World w = { 0 };
        char path[700];
        size_t size;
        char *data;

        world_open(&w, "files");
        w.settings->audit.file_bytes = 1000;
        audit_up(&w);
        calls(&w, 9);
        for (unsigned i = 1; i <= 3; i++) {
                char name[32];

                audit_file_name(i, name);
                data = slurp(&w, name, &size);
                (void) snprintf(path, sizeof(path), "%s/audit/%s", w.state, name);
                check_result("unlink", unlink(path), 0);
                check_broken(&w, name, "missing");
                spill(&w, name, data, size);
                free(data);
        }
        data = slurp(&w, AUDIT_HEAD_FILE, &size);
        (void) snprintf(path, sizeof(path), "%s/audit/head", w.state);
        check_result("unlink", unlink(path), 0);
        check_broken(&w, "no head", "'head' is missing");
        spill(&w, AUDIT_HEAD_FILE, data, size);
        free(data);
        check_true("put back", verify(&w).intact);
        world_close(&w);
}

/* Cut at any length: what is left is a chain, but too short. And the next start does not make it good. */
TEST(cut_end) {
        World w = { 0 };
        size_t size, last;
        char *data;

        world_open(&w, "cut");
        audit_up(&w);
        calls(&w, 3);
        w.audit = audit_free(w.audit);
        data = slurp(&w, "audit-000001.jsonl", &size);
        last = (size_t) ((const char *) memrchr(data, '\n', size - 1) - data) + 1;
        for (size_t n = last; n < size; n++) {
                spill(&w, "audit-000001.jsonl", data, n);
                check_broken(&w, "cut", "the end is missing");
        }
        spill(&w, "audit-000001.jsonl", data, last);
        free(data);
        world_close(&w);

        world_open(&w, "cut");
        audit_up(&w);
        calls(&w, 1);
        check_broken(&w, "after a restart", "1 records before record 6 are missing");
        world_close(&w);
}

/* kill -9 in the middle of a write: the head does not know of it. */
TEST(torn_record) {
        World w = { 0 };
        size_t size;
        char *data, *copy;
        AuditVerdict v;

        world_open(&w, "torn");
        audit_up(&w);
        calls(&w, 2);
        w.audit = audit_free(w.audit);
        data = slurp(&w, "audit-000001.jsonl", &size);
        copy = malloc(size + 32);
        memcpy(copy, data, size);
        memcpy(copy + size, "{\"seq\":5,\"prev\":\"00", 19);
        spill(&w, "audit-000001.jsonl", copy, size + 19);
        check_true("not broken", verify(&w).intact);
        check_uint("but torn", verify(&w).torn, 1);
        world_close(&w);

        world_open(&w, "torn");
        audit_up(&w);
        calls(&w, 1);
        v = verify(&w);
        check_true("goes on", v.intact);
        check_uint("noted", v.torn, 1);
        free(data);
        data = slurp(&w, "audit-000001.jsonl", &size);
        check_part("by a record", data, "\"event\":\"log-torn\",\"bytes\":19");
        free(data);
        free(copy);
        world_close(&w);
}

/* Killed between the record and its head: the record counts. */
TEST(head_one_behind) {
        World w = { 0 };
        size_t size;
        char *head;

        world_open(&w, "behind");
        audit_up(&w);
        calls(&w, 2);
        head = slurp(&w, AUDIT_HEAD_FILE, &size);
        calls(&w, 1);
        spill(&w, AUDIT_HEAD_FILE, head, size);
        check_true("intact", verify(&w).intact);
        calls(&w, 2);
        spill(&w, AUDIT_HEAD_FILE, head, size);
        check_broken(&w, "more than one", "after 3");
        free(head);
        world_close(&w);
}

/* No room: counted, told once, noted when it works again. A file that may not grow stands for a full disk. */
static void fill_disk(void *userdata) {
        World w = { 0 };
        struct rlimit limit = { 0 };
        AuditStats stats;
        AuditVerdict v;

        (void) signal(SIGXFSZ, SIG_IGN);
        world_open(&w, "full");
        audit_up(&w);
        calls(&w, 20);
        (void) getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 6000; /* in the middle of a record */
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        calls(&w, 5);
        audit_stats(w.audit, &stats);
        check_true("lost some", stats.lost >= 5 && stats.error < 0);
        check_uint("told once", w.alarms, 1);
        check_true("accepts nothing", !audit_accepts(w.audit));
        w.settings->audit.required = false;
        check_true("unless it need not", audit_accepts(w.audit));
        check_true("what is there is whole", verify(&w).intact);

        limit.rlim_cur = limit.rlim_max;
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        calls(&w, 1);
        check_true("accepts again", audit_accepts(w.audit));
        v = verify(&w);
        check_true("intact", v.intact);
        check_uint("noted", v.lost, stats.lost);
        world_close(&w);
}

TEST(full_disk) {
        unit_run_in_child(fill_disk, NULL);
}

/* The records of a turn are written by one call, and none of them before the turn ends. */
TEST(one_write_for_a_turn) {
        World w = { 0 };
        Settle settle = { 0 };
        AuditStats stats;
        AuditVerdict v;

        world_open(&w, "turn");
        w.manager->settle = &settle;
        audit_up(&w);
        settle_end(&settle);
        check_uint("the start", verify(&w).records, 1);
        calls(&w, 50);
        check_true("waits", settle_held(&settle));
        check_uint("nothing yet", verify(&w).records, 1);
        settle_end(&settle);
        v = verify(&w);
        check_true("intact", v.intact);
        check_uint("all", v.records, 51);
        audit_stats(w.audit, &stats);
        check_uint("written", stats.written, 51);

        calls(&w, 3);
        check_true("a reader has them written", audit_directory(w.audit) >= 0);
        check_uint("all", verify(&w).records, 54);
        calls(&w, 2000);
        settle_end(&settle);
        check_uint("more than are kept", verify(&w).records, 2054);
        calls(&w, 1);
        world_close(&w);
        v = verify(&w);
        check_true("the end too", v.intact && v.records == 2056);
}

/* The records of a turn that cannot be written are lost together, and counted. */
static void fill_disk_in_a_turn(void *userdata) {
        World w = { 0 };
        struct rlimit limit = { 0 };
        Settle settle = { 0 };
        AuditStats stats;
        AuditVerdict v;
        size_t size;

        (void) signal(SIGXFSZ, SIG_IGN);
        world_open(&w, "full-turn");
        w.manager->settle = &settle;
        audit_up(&w);
        calls(&w, 2);
        settle_end(&settle);
        (void) getrlimit(RLIMIT_FSIZE, &limit);
        free(slurp(&w, "audit-000001.jsonl", &size));
        limit.rlim_cur = size + 100; /* in the middle of the first */
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        calls(&w, 20);
        check_true("not known yet", audit_accepts(w.audit));
        settle_end(&settle);
        audit_stats(w.audit, &stats);
        check_uint("all of them are lost", stats.lost, 20);
        check_uint("told once", w.alarms, 1);
        calls(&w, 9);
        check_true("accepts nothing", !audit_accepts(w.audit));
        v = verify(&w);
        check_true("what is there is whole", v.intact);

        limit.rlim_cur = limit.rlim_max;
        check_result("limit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        calls(&w, 1);
        check_true("accepts again", audit_accepts(w.audit));
        audit_stats(w.audit, &stats);
        calls(&w, 5);
        check_true("gathers again", settle_held(&settle));
        settle_end(&settle);
        v = verify(&w);
        check_true("intact", v.intact);
        check_uint("noted", v.lost, stats.lost);
        world_close(&w);
}

TEST(full_disk_in_a_turn) {
        unit_run_in_child(fill_disk_in_a_turn, NULL);
}

/* The oldest files go, with a record that says so; without it, they are missing. */
TEST(expiry) {
        World w = { 0 };
        const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
        _cleanup_close_ int fd = -EBADF;
        AuditVerdict v;
        usec_t deadline = clock_usec() + 60 * USEC_PER_SEC;

        world_open(&w, "expiry");
        w.settings->audit.file_bytes = 1000;
        audit_up(&w);
        calls(&w, 9);
        fd = open_dir(&w);
        check_result("old", utimensat(fd, "audit-000001.jsonl", old, 0), 0);
        check_result("old", utimensat(fd, "audit-000002.jsonl", old, 0), 0);
        w.settings->audit.keep_usec = 3600 * USEC_PER_SEC;
        while (faccessat(fd, "audit-000002.jsonl", F_OK, 0) == 0 && clock_usec() < deadline)
                check_true("loop", sd_event_run(w.event, USEC_PER_SEC) >= 0);
        check_true("gone", faccessat(fd, "audit-000001.jsonl", F_OK, 0) < 0 && faccessat(fd, "audit-000002.jsonl", F_OK, 0) < 0);
        v = verify(&w);
        check_true("intact", v.intact);
        check_true("begins later", v.first > 1);
        check_result("unlink", unlinkat(fd, "audit-000003.jsonl", 0), 0);
        check_broken(&w, "one more", "missing");
        world_close(&w);
}

/* Likewise when all are too large together; the newest stays whatever its size. */
TEST(total_size) {
        World w = { 0 };
        _cleanup_close_ int fd = -EBADF;
        AuditVerdict v;
        usec_t deadline = clock_usec() + 60 * USEC_PER_SEC;

        world_open(&w, "total");
        w.settings->audit.file_bytes = 1000;
        audit_up(&w);
        w.settings->audit.total_bytes = 3000;
        calls(&w, 30);
        fd = open_dir(&w);
        while (faccessat(fd, "audit-000001.jsonl", F_OK, 0) == 0 && clock_usec() < deadline)
                check_true("loop", sd_event_run(w.event, USEC_PER_SEC) >= 0);
        v = verify(&w);
        check_true("intact", v.intact);
        check_true("begins later", v.first > 1);
        check_true("few files", v.n_files <= 4);
        w.settings->audit.total_bytes = 1;
        calls(&w, 9);
        v = verify(&w);
        check_true("goes on", v.intact && v.records > 0);
        world_close(&w);
}

TEST(switched_off) {
        World w = { 0 };
        AuditStats stats;
        size_t size;
        char *data;

        world_open(&w, "off");
        audit_up(&w);
        w.settings->audit.enabled = false;
        calls(&w, 3);
        w.settings->audit.enabled = true;
        calls(&w, 1);
        audit_stats(w.audit, &stats);
        check_uint("start, off, on, call", stats.records, 4);
        data = slurp(&w, "audit-000001.jsonl", &size);
        check_part("noted", data, "\"event\":\"log-off\"");
        free(data);
        world_close(&w);
}

/* Which records. */
TEST(filter) {
        static const char line[] = "{\"seq\":7,\"prev\":\"" AUDIT_ZEROS "\",\"at\":\"2025-06-01T00:00:00.000Z\",\"actor\":\"k1\","
                                   "\"path\":\"/x\\\",\\\"sandbox\\\":\\\"evil\",\"sandbox\":\"s1\",\"hash\":\"" AUDIT_ZEROS "\"}";
        size_t n = sizeof(line) - 1;

        check_true("all", audit_filter_fits(&(AuditFilter) { 0 }, line, n));
        check_true("sandbox", audit_filter_fits(&(AuditFilter) { .sandbox = "s1" }, line, n));
        check_true("no sandbox by a quoted one", !audit_filter_fits(&(AuditFilter) { .sandbox = "evil" }, line, n));
        check_true("other sandbox", !audit_filter_fits(&(AuditFilter) { .sandbox = "s" }, line, n));
        check_true("actor", audit_filter_fits(&(AuditFilter) { .actor = "k1", .sandbox = "s1" }, line, n));
        check_true("other actor", !audit_filter_fits(&(AuditFilter) { .actor = "k2" }, line, n));
        check_true("after", audit_filter_fits(&(AuditFilter) { .after = 6 }, line, n));
        check_true("not after", !audit_filter_fits(&(AuditFilter) { .after = 7 }, line, n));
        check_true("since", audit_filter_fits(&(AuditFilter) { .since = "2025-06-01T00:00:00.000Z" }, line, n));
        check_true("too old", !audit_filter_fits(&(AuditFilter) { .since = "2025-06-01T00:00:00.001Z" }, line, n));
        check_true("until", !audit_filter_fits(&(AuditFilter) { .until = "2025-06-01T00:00:00.000Z" }, line, n));
}

/* A call must not feel it. The quickest of some rounds: a machine that stands still for a moment costs one of them. */
TEST(cost) {
        enum { ROUNDS = 10, CALLS = 500 };
        World w = { 0 };
        usec_t least = USEC_INFINITY;

        world_open(&w, "cost");
        audit_up(&w);
        for (unsigned i = 0; i < ROUNDS; i++) {
                usec_t began = clock_usec();

                calls(&w, CALLS);
                least = MIN_OF(least, clock_usec() - began);
        }
        print_message("%.2f µs per record\n", (double) least / CALLS);
        check_true("less than 200 µs, on a busy machine too", least < CALLS * 200);
        world_close(&w);
}
