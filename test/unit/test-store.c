/* What must outlive the daemon: every field there and back, answers, and transactions that are whole or not there. Files,
 * crashes and migrations have test-store-file.c. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "store-rows.h"

/* Sandboxes. */

static char *full_env[] = { (char *) "A=1", (char *) "EMPTY=", (char *) "LINES=a\nb", (char *) "BYTES=\xff\xfe", (char *) "",
                            NULL };

static SandboxVolume full_volumes[] = {
        { (char *) "data", (char *) "vabcdefghijklmnopqrst", (char *) "/data", true },
        { (char *) "cache", (char *) "wabcdefghijklmnopqrst", (char *) "/var/\xc3\xbc", false },
};

static Sandbox full_sandbox(void) {
        return (Sandbox) {
                .id = "abcdefghijklmnopqrstu",
                .spec = {
                        .name = (char *) "my-box",
                        .tenant = (char *) "acme",
                        .template_name = (char *) "host",
                        .profile = (char *) "strict",
                        .agent_type = (char *) "coder",
                        .task_id = (char *) "t'\"; DROP TABLE sandbox; --",
                        .limits = {
                                .memory_bytes = UINT64_MAX,
                                .cpu_milli = UINT32_MAX,
                                .cpu_time_usec = 3,
                                .disk_bytes = 4,
                                .pids = 5,
                                .exec_timeout_usec = USEC_INFINITY,
                                .output_bytes = 7,
                                .nofile = 8,
                        },
                        .env = { .items = full_env, .n = 5 },
                        .workdir = (char *) "/home/\xc3\xbcser",
                        .uid = UINT32_MAX,
                        .gid = 10,
                        .metadata = (char *) "{\"a\":\"\\u0000\"}",
                        .critical = true,
                        .timeout_usec = 11,
                        .on_timeout = ON_TIMEOUT_PAUSE,
                        .persistent = true,
                        .layer = (char *) "0123456789abcdef",
                        .base = (char *) "debian",
                        .digest = (char *) "sha256:0123",
                        .snapshot = (char *) "sabcdefghijklmnopqrst",
                        .parent = (char *) "pabcdefghijklmnopqrst",
                        .volumes = full_volumes,
                        .n_volumes = 2,
                        .record = true,
                },
                .status = SANDBOX_RUNNING,
                .reason = (char *) "because",
                .created_at = 1700000000000001,
                .changed_at = 1700000000000002,
                .ready_at = 1700000000000003,
                .ended_at = 1700000000000004,
                .expires_at = 1700000000000005,
                .guards_missing = UINT64_C(1) << 63,
                .id_base = 4000000000,
                .pid = 12345,
                .last_execution = 13,
                .operations = 14,
                .oom_seen = 15,
                .end_status = SANDBOX_COMPLETED,
                .end_delete = true,
                .parked = true,
                .cpu_before_usec = 16,
        };
}

static void check_strv(const char *what, const Strv *found, const Strv *expected) {
        check_uint(what, found->n, expected->n);
        for (size_t i = 0; i < found->n; i++)
                check_string(what, found->items[i], expected->items[i]);
        check_true(what, found->n == 0 || found->items[found->n] == NULL);
}

static void check_sandbox(const Sandbox *a, const Sandbox *b) {
        const SandboxLimits *l = &a->spec.limits, *m = &b->spec.limits;

        check_string("id", a->id, b->id);
        check_string("name", a->spec.name, b->spec.name);
        check_string("tenant", a->spec.tenant, b->spec.tenant);
        check_string("template_name", a->spec.template_name, b->spec.template_name);
        check_string("profile", a->spec.profile, b->spec.profile);
        check_string("agent_type", a->spec.agent_type, b->spec.agent_type);
        check_string("task_id", a->spec.task_id, b->spec.task_id);
        check_uint("memory_bytes", l->memory_bytes, m->memory_bytes);
        check_uint("cpu_milli", l->cpu_milli, m->cpu_milli);
        check_uint("cpu_time_usec", l->cpu_time_usec, m->cpu_time_usec);
        check_uint("disk_bytes", l->disk_bytes, m->disk_bytes);
        check_uint("pids", l->pids, m->pids);
        check_uint("exec_timeout_usec", l->exec_timeout_usec, m->exec_timeout_usec);
        check_uint("output_bytes", l->output_bytes, m->output_bytes);
        check_uint("nofile", l->nofile, m->nofile);
        check_strv("env", &a->spec.env, &b->spec.env);
        check_string("workdir", a->spec.workdir, b->spec.workdir);
        check_uint("uid", a->spec.uid, b->spec.uid);
        check_uint("gid", a->spec.gid, b->spec.gid);
        check_string("metadata", a->spec.metadata, b->spec.metadata);
        check_uint("critical", a->spec.critical, b->spec.critical);
        check_uint("timeout_usec", a->spec.timeout_usec, b->spec.timeout_usec);
        check_int("on_timeout", a->spec.on_timeout, b->spec.on_timeout);
        check_int("status", a->status, b->status);
        check_string("reason", a->reason, b->reason);
        check_uint("created_at", a->created_at, b->created_at);
        check_uint("changed_at", a->changed_at, b->changed_at);
        check_uint("ready_at", a->ready_at, b->ready_at);
        check_uint("ended_at", a->ended_at, b->ended_at);
        check_uint("expires_at", a->expires_at, b->expires_at);
        check_uint("guards_missing", a->guards_missing, b->guards_missing);
        check_uint("id_base", a->id_base, b->id_base);
        check_int("pid", a->pid, b->pid);
        check_uint("last_execution", a->last_execution, b->last_execution);
        check_uint("operations", a->operations, b->operations);
        check_uint("oom_seen", a->oom_seen, b->oom_seen);
        check_int("end_status", a->end_status, b->end_status);
        check_uint("end_delete", a->end_delete, b->end_delete);
        check_uint("parked", a->parked, b->parked);
        check_uint("cpu_before_usec", a->cpu_before_usec, b->cpu_before_usec);
        check_uint("persistent", a->spec.persistent, b->spec.persistent);
        check_string("layer", a->spec.layer, b->spec.layer);
        check_string("base", a->spec.base, b->spec.base);
        check_string("digest", a->spec.digest, b->spec.digest);
        check_string("snapshot", a->spec.snapshot, b->spec.snapshot);
        check_string("parent", a->spec.parent, b->spec.parent);
        check_uint("record", a->spec.record, b->spec.record);
        check_uint("volumes", a->spec.n_volumes, b->spec.n_volumes);
        for (size_t i = 0; i < a->spec.n_volumes; i++) {
                check_string("volume's name", a->spec.volumes[i].name, b->spec.volumes[i].name);
                check_string("volume's tree", a->spec.volumes[i].tree, b->spec.volumes[i].tree);
                check_string("volume's target", a->spec.volumes[i].target, b->spec.volumes[i].target);
                check_uint("volume's access", a->spec.volumes[i].writable, b->spec.volumes[i].writable);
        }
}

static int check_sandbox_row(Sandbox *row, void *userdata) {
        check_sandbox(row, userdata);
        return 0;
}

TEST(sandbox_fields) {
        Store *s = open_store("fields.db");
        Sandbox sb = full_sandbox();

        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_result("each", store_sandbox_each(s, check_sandbox_row, &sb), 0);
        s = store_close(s);
        s = open_store("fields.db");
        check_uint("rows", n_sandboxes(s), 1);
        check_result("each, opened again", store_sandbox_each(s, check_sandbox_row, &sb), 0);

        sb.status = SANDBOX_TERMINATING;
        sb.reason = NULL;
        sb.changed_at = sb.ready_at = sb.ended_at = 0;
        sb.expires_at = USEC_INFINITY;
        sb.spec.timeout_usec = 111;
        sb.spec.on_timeout = ON_TIMEOUT_KILL;
        sb.guards_missing = 0;
        sb.id_base = 0;
        sb.pid = -1;
        sb.last_execution = sb.operations = 1000;
        sb.oom_seen = 0;
        sb.end_status = SANDBOX_FAILED;
        sb.end_delete = sb.parked = false;
        check_result("update", store_sandbox_update(s, &sb), 0);
        check_result("each, updated", store_sandbox_each(s, check_sandbox_row, &sb), 0);
        store_close(s);
}

TEST(sandbox_with_nothing) {
        Store *s = open_store("nothing.db");
        Sandbox sb = { .id = "abcdefghijklmnopqrstu" };

        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_uint("rows", n_sandboxes(s), 1);
        check_result("each", store_sandbox_each(s, check_sandbox_row, &sb), 0);
        store_close(s);
}

/* A tenant of "" is not a tenant of NULL. */
TEST(sandbox_empty_strings) {
        Store *s = open_store("empty-strings.db");
        Sandbox sb = plain_sandbox(1);

        sb.spec.tenant = sb.spec.metadata = sb.reason = (char *) "";
        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_result("each", store_sandbox_each(s, check_sandbox_row, &sb), 0);
        store_close(s);
}

TEST(sandbox_large) {
        static char metadata[SANDBOX_METADATA_MAX], value[4096];
        char *env[SANDBOX_ENV_MAX + 1] = { 0 };
        Store *s = open_store("large.db");
        Sandbox sb = plain_sandbox(1);

        memset(metadata, 'm', sizeof(metadata) - 1);
        memset(value, 'v', sizeof(value) - 1);
        for (size_t i = 0; i < SANDBOX_ENV_MAX; i++)
                env[i] = value;
        sb.spec.metadata = metadata;
        sb.spec.env = (Strv) { .items = env, .n = SANDBOX_ENV_MAX };
        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_result("each", store_sandbox_each(s, check_sandbox_row, &sb), 0);
        store_close(s);
}

typedef struct Order {
        unsigned n, ids[8];
} Order;

static int note_order(Sandbox *row, void *userdata) {
        Order *o = userdata;

        o->ids[o->n++] = (unsigned) strtoul(row->id + 1, NULL, 10);
        return 0;
}

/* By when they were inserted, not by name, and not by a clock that may have been set. */
TEST(sandbox_order) {
        static const unsigned ids[] = { 5, 3, 9, 1 };
        Store *s = open_store("order.db");
        Order o = { 0 };

        for (unsigned i = 0; i < ELEMENTSOF(ids); i++) {
                Sandbox sb = plain_sandbox(ids[i]);

                sb.created_at = 100 - i;
                check_result("insert", store_sandbox_insert(s, &sb), 0);
        }
        check_result("delete the newest", store_sandbox_delete(s, "a00000000000000000001"), 0);
        check_result("insert", store_sandbox_insert(s, &(Sandbox) { .id = "a00000000000000000002" }), 0);
        check_result("each", store_sandbox_each(s, note_order, &o), 0);
        check_uint("rows", o.n, 4);
        check_uint("first", o.ids[0], 5);
        check_uint("second", o.ids[1], 3);
        check_uint("third", o.ids[2], 9);
        check_uint("last", o.ids[3], 2);
        store_close(s);
}

static int take_spec(Sandbox *row, void *userdata) {
        SandboxSpec *taken = userdata;

        memcpy(taken, &row->spec, sizeof(*taken));
        memset(&row->spec, 0, sizeof(row->spec));
        return 0;
}

/* What is taken is the taker's, and lists may grow up to their ceiling; the rest is freed (the leak checker looks). */
TEST(sandbox_taken) {
        Store *s = open_store("taken.db");
        Sandbox sb = full_sandbox();
        SandboxSpec taken = { 0 };

        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_result("each", store_sandbox_each(s, take_spec, &taken), 0);
        store_close(s);

        check_string("name", taken.name, "my-box");
        check_uint("ceiling", taken.env.max, SANDBOX_ENV_MAX);
        check_result("one more", strv_push(&taken.env, "MORE=1"), 0);
        sandbox_spec_done(&taken);
}

static int stop_at_two(Sandbox *row, void *userdata) {
        return ++*(size_t *) userdata == 2 ? -ECANCELED : 0;
}

static int each_in_each(Sandbox *row, void *userdata) {
        size_t n = 0;

        check_result("each in each", store_sandbox_each(userdata, count_sandbox, &n), -EBUSY);
        check_uint("rows seen inside", n, 0);
        return 0;
}

static int delete_each(Sandbox *row, void *userdata) {
        return store_sandbox_delete(userdata, row->id);
}

TEST(each_stops_and_nests) {
        Store *s = open_store("each.db");
        size_t n = 0;

        for (unsigned i = 0; i < 5; i++) {
                Sandbox sb = plain_sandbox(i);

                check_result("insert", store_sandbox_insert(s, &sb), 0);
        }
        check_result("stopped", store_sandbox_each(s, stop_at_two, &n), -ECANCELED);
        check_uint("calls", n, 2);
        check_result("in itself", store_sandbox_each(s, each_in_each, s), 0);
        check_uint("rows", n_sandboxes(s), 5);
        check_result("deleting", store_sandbox_each(s, delete_each, s), 0);
        check_uint("rows", n_sandboxes(s), 0);
        store_close(s);
}

/* Executions. */

static char *full_args[] = { (char *) "/bin/sh", (char *) "-c", (char *) "", (char *) "echo \"$1\"\n", NULL };

static Execution full_execution(Sandbox *sb) {
        return (Execution) {
                .sandbox = sb,
                .number = 42,
                .id = "e42",
                .spec = {
                        .args = { .items = full_args, .n = 4 },
                        .env = { .items = full_env, .n = 5 },
                        .cwd = (char *) "/tmp",
                        .has_user = true,
                        .uid = 1001,
                        .gid = 1002,
                        .has_timeout = true,
                        .timeout_usec = 1003,
                        .stdin_open = true,
                        .pty = true,
                        .columns = UINT16_MAX,
                        .rows = 24,
                        .background = true,
                        .tag = (char *) "a tag",
                },
                .status = EXECUTION_EXITED,
                .reason = EXECUTION_REASON_TIMEOUT,
                .exit_code = 124,
                .signal = 9,
                .message = (char *) "took too long",
                .pid = 17,
                .started_at = 1700000000000001,
                .ended_at = 1700000000000002,
                .duration_usec = 4,
                .user_usec = 5,
                .system_usec = 6,
                .max_rss_bytes = 7,
                .journals = { { 8, true }, { UINT64_MAX, true } },
                .stdin_closed = true,
                .journals_gone = true,
                .kill_reason = EXECUTION_REASON_CANCELLED,
        };
}

static void check_execution(const Execution *a, const Execution *b) {
        check_uint("number", a->number, b->number);
        check_string("id", a->id, b->id);
        check_strv("args", &a->spec.args, &b->spec.args);
        check_strv("env", &a->spec.env, &b->spec.env);
        check_string("cwd", a->spec.cwd, b->spec.cwd);
        check_uint("has_user", a->spec.has_user, b->spec.has_user);
        check_uint("uid", a->spec.uid, b->spec.uid);
        check_uint("gid", a->spec.gid, b->spec.gid);
        check_uint("has_timeout", a->spec.has_timeout, b->spec.has_timeout);
        check_uint("timeout_usec", a->spec.timeout_usec, b->spec.timeout_usec);
        check_uint("stdin_open", a->spec.stdin_open, b->spec.stdin_open);
        check_uint("pty", a->spec.pty, b->spec.pty);
        check_uint("columns", a->spec.columns, b->spec.columns);
        check_uint("rows", a->spec.rows, b->spec.rows);
        check_uint("background", a->spec.background, b->spec.background);
        check_string("tag", a->spec.tag, b->spec.tag);
        check_int("status", a->status, b->status);
        check_int("reason", a->reason, b->reason);
        check_int("exit_code", a->exit_code, b->exit_code);
        check_int("signal", a->signal, b->signal);
        check_string("message", a->message, b->message);
        check_int("pid", a->pid, b->pid);
        check_uint("started_at", a->started_at, b->started_at);
        check_uint("ended_at", a->ended_at, b->ended_at);
        check_uint("duration_usec", a->duration_usec, b->duration_usec);
        check_uint("user_usec", a->user_usec, b->user_usec);
        check_uint("system_usec", a->system_usec, b->system_usec);
        check_uint("max_rss_bytes", a->max_rss_bytes, b->max_rss_bytes);
        for (size_t i = 0; i < _STREAM_MAX; i++) {
                check_uint("bytes", a->journals[i].bytes, b->journals[i].bytes);
                check_uint("truncated", a->journals[i].truncated, b->journals[i].truncated);
        }
        check_uint("stdin_closed", a->stdin_closed, b->stdin_closed);
        check_uint("journals_gone", a->journals_gone, b->journals_gone);
        check_int("kill_reason", a->kill_reason, b->kill_reason);
}

static int check_execution_row(const char *sandbox_id, Execution *row, void *userdata) {
        const Execution *expected = userdata;

        check_string("sandbox", sandbox_id, expected->sandbox->id);
        check_true("no owner", row->sandbox == NULL);
        check_execution(row, expected);
        return 0;
}

TEST(execution_fields) {
        Store *s = open_store("execution.db");
        Sandbox sb = full_sandbox();
        Execution x = full_execution(&sb);

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        check_result("insert", store_execution_insert(s, &x), 0);
        s = store_close(s);
        s = open_store("execution.db");
        check_uint("rows", n_executions(s), 1);
        check_result("each", store_execution_each(s, check_execution_row, &x), 0);

        x.status = EXECUTION_RUNNING;
        x.reason = x.kill_reason = EXECUTION_REASON_NONE;
        x.exit_code = -1;
        x.signal = 0;
        x.message = NULL;
        x.pid = 0;
        x.started_at = x.ended_at = x.duration_usec = x.user_usec = x.system_usec = x.max_rss_bytes = 99;
        memset(x.journals, 0, sizeof(x.journals));
        x.spec.columns = x.spec.rows = 1;
        x.stdin_closed = x.journals_gone = false;
        check_result("update", store_execution_update(s, &x), 0);
        check_result("each, updated", store_execution_each(s, check_execution_row, &x), 0);
        store_close(s);
}

typedef struct Numbers {
        unsigned n;
        uint64_t numbers[8];
        char sandboxes[8];
} Numbers;

static int note_number(const char *sandbox_id, Execution *row, void *userdata) {
        Numbers *o = userdata;

        o->sandboxes[o->n] = sandbox_id[SANDBOX_ID_LENGTH - 1];
        o->numbers[o->n++] = row->number;
        return 0;
}

TEST(execution_order_and_delete) {
        static const uint64_t numbers[] = { 10, 9, 2 };
        Store *s = open_store("execution-order.db");
        Sandbox sb[2] = { plain_sandbox(1), plain_sandbox(2) };
        Numbers o = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(sb); i++) {
                check_result("sandbox", store_sandbox_insert(s, &sb[i]), 0);
                for (size_t j = 0; j < ELEMENTSOF(numbers); j++) {
                        Execution x = plain_execution(&sb[i], numbers[j]);

                        check_result("insert", store_execution_insert(s, &x), 0);
                }
        }
        check_result("delete", store_execution_delete(s, sb[1].id, 9), 0);
        check_result("delete what is not there", store_execution_delete(s, sb[1].id, 9), 0);
        check_result("each", store_execution_each(s, note_number, &o), 0);
        check_uint("rows", o.n, 5);
        check_true("sandboxes", memcmp(o.sandboxes, "11122", 5) == 0);
        check_true("oldest first", memcmp(o.numbers, (uint64_t[]) { 2, 9, 10, 2, 10 }, 5 * sizeof(uint64_t)) == 0);
        store_close(s);
}

/* Answers. */

TEST(errors) {
        Store *s = open_store("errors.db");
        Sandbox sb = plain_sandbox(1), absent = plain_sandbox(2);
        Execution x = plain_execution(&sb, 1), orphan = plain_execution(&absent, 1);
        StoreEvent event = { .sandbox_id = absent.id, .type = "created" };
        Key key = { .id = "key_1", .name = "n", .tenant = "absent", .prefix = "e2b_1" };

        check_result("insert", store_sandbox_insert(s, &sb), 0);
        check_result("insert again", store_sandbox_insert(s, &sb), -EEXIST);
        check_result("update of no sandbox", store_sandbox_update(s, &absent), -ENOENT);
        check_result("delete of no sandbox", store_sandbox_delete(s, absent.id), 0);

        check_result("update of no execution", store_execution_update(s, &x), -ENOENT);
        check_result("execution", store_execution_insert(s, &x), 0);
        check_result("execution again", store_execution_insert(s, &x), -EEXIST);
        check_result("execution of no sandbox", store_execution_insert(s, &orphan), -ENOENT);

        check_result("ledger", store_footprint_add(s, sb.id, FOOTPRINT_SOCKET, "x"), 0);
        check_result("ledger again", store_footprint_add(s, sb.id, FOOTPRINT_SOCKET, "x"), 0);
        check_result("ledger of no sandbox", store_footprint_add(s, absent.id, FOOTPRINT_SOCKET, "x"), -ENOENT);
        check_result("event of no sandbox", store_event_add(s, &event, NULL), -ENOENT);
        check_result("key of no tenant", store_key_insert(s, &key), -ENOENT);

        check_uint("sandboxes", n_sandboxes(s), 1);
        check_uint("executions", n_executions(s), 1);
        check_uint("ledger", n_footprint(s), 1);
        store_close(s);
}

TEST(delete_takes_all) {
        Store *s = open_store("delete.db");
        Sandbox a = plain_sandbox(1), b = plain_sandbox(2);

        for (Sandbox *sb = &a;; sb = &b) {
                StoreEvent event = { .sandbox_id = sb->id, .type = "created" };
                Execution x = plain_execution(sb, 1);

                check_result("sandbox", store_sandbox_insert(s, sb), 0);
                check_result("execution", store_execution_insert(s, &x), 0);
                check_result("ledger", store_footprint_add(s, sb->id, FOOTPRINT_CGROUP, "x"), 0);
                check_result("event", store_event_add(s, &event, NULL), 0);
                if (sb == &b)
                        break;
        }
        check_result("delete", store_sandbox_delete(s, a.id), 0);
        check_uint("sandboxes", n_sandboxes(s), 1);
        check_uint("executions", n_executions(s), 1);
        check_uint("ledger", n_footprint(s), 1);
        check_uint("events of it", n_events(s, a.id), 0);
        check_uint("events of the other", n_events(s, b.id), 1);
        store_close(s);
}

/* Ledger, counters. */

static int check_footprint_row(const char *sandbox_id, FootprintKind kind, const char *name, void *userdata) {
        unsigned *seen = userdata;

        check_string("sandbox", sandbox_id, "a00000000000000000001");
        check_string("name", name, footprint_kind_name(kind));
        *seen |= 1u << kind;
        return 0;
}

TEST(footprints) {
        Store *s = open_store("ledger.db");
        Sandbox sb = plain_sandbox(1);
        unsigned seen = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        for (FootprintKind k = 0; k < _FOOTPRINT_MAX; k++)
                check_result(footprint_kind_name(k), store_footprint_add(s, sb.id, k, footprint_kind_name(k)), 0);
        check_result("each", store_footprint_each(s, check_footprint_row, &seen), 0);
        check_uint("kinds", seen, (1u << _FOOTPRINT_MAX) - 1);
        check_string("no kind", footprint_kind_name(_FOOTPRINT_MAX), NULL);

        check_result("remove", store_footprint_remove(s, sb.id), 0);
        check_result("remove again", store_footprint_remove(s, sb.id), 0);
        check_uint("rows", n_footprint(s), 0);
        check_uint("sandboxes", n_sandboxes(s), 1);
        store_close(s);
}

TEST(counters) {
        Store *s = open_store("counters.db");
        uint64_t value = 7;

        check_result("never set", store_counter_get(s, "x", &value), 0);
        check_uint("never set", value, 0);
        check_result("set", store_counter_set(s, "x", UINT64_MAX), 0);
        check_result("set again", store_counter_set(s, "x", UINT64_MAX - 1), 0);
        check_result("another", store_counter_set(s, "y", 1), 0);
        s = store_close(s);
        s = open_store("counters.db");
        check_result("get", store_counter_get(s, "x", &value), 0);
        check_uint("get", value, UINT64_MAX - 1);
        store_close(s);
}

/* Events. */

typedef struct Events {
        size_t n;
        uint64_t first, last;
} Events;

static int note_event(const StoreEvent *event, void *userdata) {
        Events *e = userdata;

        if (e->n++ == 0)
                e->first = event->serial;
        else
                check_true("serials grow", event->serial > e->last);
        e->last = event->serial;
        return 0;
}

static int check_event_row(const StoreEvent *event, void *userdata) {
        const StoreEvent *expected = userdata;

        check_string("sandbox", event->sandbox_id, expected->sandbox_id);
        check_uint("serial", event->serial, expected->serial);
        check_uint("at", event->at, expected->at);
        check_string("type", event->type, expected->type);
        check_string("execution", event->execution_id, expected->execution_id);
        check_string("text", event->text, expected->text);
        return 0;
}

TEST(event_fields) {
        Store *s = open_store("event.db");
        Sandbox sb = plain_sandbox(1);
        StoreEvent full = { .sandbox_id = sb.id, .at = 10, .type = "exec.exit", .execution_id = "e1", .text = "code 0" };
        StoreEvent bare = { .sandbox_id = sb.id, .at = 20, .type = "ready" };
        size_t n = 0;

        check_result("sandbox", store_sandbox_insert(s, &sb), 0);
        check_result("add", store_event_add(s, &full, &full.serial), 0);
        check_result("add", store_event_add(s, &bare, &bare.serial), 0);
        check_true("serials grow", bare.serial > full.serial && full.serial > 0);
        check_result("after the first", store_event_each(s, sb.id, full.serial, 0, check_event_row, &bare), 0);
        check_result("since the second", store_event_each(s, sb.id, 0, 20, check_event_row, &bare), 0);
        check_result("after the last", store_event_each(s, sb.id, bare.serial, 0, count_event, &n), 0);
        check_result("since later", store_event_each(s, sb.id, 0, 21, count_event, &n), 0);
        check_result("after all", store_event_each(s, sb.id, UINT64_MAX, USEC_INFINITY, count_event, &n), 0);
        check_result("of nobody", store_event_each(s, "nobody", 0, 0, count_event, &n), 0);
        check_uint("none of them", n, 0);
        check_uint("all", n_events(s, sb.id), 2);
        store_close(s);
}

/* The newest thousand stay, of each sandbox by itself. */
TEST(event_ceiling) {
        Store *s = open_store("ceiling.db");
        Sandbox busy = plain_sandbox(1), quiet = plain_sandbox(2);
        StoreEvent event = { .sandbox_id = quiet.id, .type = "status" };
        uint64_t serial = 0;
        Events e = { 0 };

        check_result("sandbox", store_sandbox_insert(s, &busy), 0);
        check_result("sandbox", store_sandbox_insert(s, &quiet), 0);
        check_result("add", store_event_add(s, &event, NULL), 0);
        event.sandbox_id = busy.id;
        for (unsigned i = 0; i < 2500; i++) {
                check_result("add", store_event_add(s, &event, &serial), 0);
                if (i == 998 || i == 999 || i == 1000)
                        check_uint("at the ceiling", n_events(s, busy.id), i < 1000 ? i + 1 : 1000);
        }
        check_result("each", store_event_each(s, busy.id, 0, 0, note_event, &e), 0);
        check_uint("events", e.n, 1000);
        check_uint("the newest", e.last, serial);
        check_uint("the oldest", e.first, serial - 999);
        check_uint("of the other", n_events(s, quiet.id), 1);
        store_close(s);
}

/* Not after a restart, not after a rollback, not when the newest have been deleted. */
TEST(event_serials_are_used_once) {
        uint64_t last = 0, serial = 0;

        for (unsigned round = 0; round < 4; round++) {
                Store *s = open_store("serials.db");
                Sandbox sb = plain_sandbox(1);
                StoreEvent event = { .sandbox_id = sb.id, .type = "status" };

                check_result("sandbox", store_sandbox_insert(s, &sb), 0);
                for (unsigned i = 0; i < 1500; i++) {
                        bool undone = i % 100 == 99 || i == 0;

                        check_result("begin", store_begin(s), 0);
                        check_result("add", store_event_add(s, &event, &serial), 0);
                        check_true("serials grow", serial > last);
                        last = serial;
                        if (undone)
                                store_rollback(s);
                        else
                                check_result("commit", store_commit(s), 0);
                }
                check_result("delete", store_sandbox_delete(s, sb.id), 0);
                store_close(s);
        }
}

/* Keys and tenants. */

static int check_key_row(const Key *key, void *userdata) {
        const Key *expected = userdata;

        check_string("id", key->id, expected->id);
        check_string("name", key->name, expected->name);
        check_int("scope", key->scope, expected->scope);
        check_string("tenant", key->tenant, expected->tenant);
        check_true("hash", memcmp(key->hash, expected->hash, sizeof(key->hash)) == 0);
        check_string("prefix", key->prefix, expected->prefix);
        check_uint("created_at", key->created_at, expected->created_at);
        check_uint("last_used_at", key->last_used_at, expected->last_used_at);
        return 0;
}

static int check_tenant_row(const Tenant *tenant, void *userdata) {
        const Tenant *expected = userdata;

        check_string("name", tenant->name, expected->name);
        check_uint("sandboxes_max", tenant->sandboxes_max, expected->sandboxes_max);
        check_uint("cpu_milli_max", tenant->cpu_milli_max, expected->cpu_milli_max);
        check_uint("memory_bytes_max", tenant->memory_bytes_max, expected->memory_bytes_max);
        check_uint("disk_bytes_max", tenant->disk_bytes_max, expected->disk_bytes_max);
        check_uint("created_at", tenant->created_at, expected->created_at);
        return 0;
}

static int fail_if_called_key(const Key *key, void *userdata) {
        return -EEXIST;
}

static int fail_if_called_tenant(const Tenant *tenant, void *userdata) {
        return -EEXIST;
}

TEST(keys_and_tenants) {
        Store *s = open_store("keys.db");
        Tenant tenant = { .name = "acme", .sandboxes_max = 1, .cpu_milli_max = 2, .memory_bytes_max = UINT64_MAX, .disk_bytes_max = 4, .created_at = 5 };
        Key key = { .id = "key_0123456789abcdef", .name = "ci", .scope = SCOPE_USE, .tenant = "acme", .hash = { 1, 0, 255 },
                    .prefix = "e2b_012345", .created_at = 1, .last_used_at = 0 };

        check_result("tenant", store_tenant_put(s, &tenant), 0);
        check_result("key", store_key_insert(s, &key), 0);
        check_result("key again", store_key_insert(s, &key), -EEXIST);
        check_result("tenant in use", store_tenant_delete(s, tenant.name), -EBUSY);
        check_result("used", store_key_used(s, key.id, 77), 0);
        key.last_used_at = 77;
        tenant.sandboxes_max = tenant.cpu_milli_max = 10;
        check_result("tenant again", store_tenant_put(s, &tenant), 0);
        s = store_close(s);

        s = open_store("keys.db");
        check_result("keys", store_key_each(s, check_key_row, &key), 0);
        check_result("tenants", store_tenant_each(s, check_tenant_row, &tenant), 0);
        check_result("there is a key", store_key_each(s, fail_if_called_key, NULL), -EEXIST);
        check_result("there is a tenant", store_tenant_each(s, fail_if_called_tenant, NULL), -EEXIST);
        check_result("delete", store_key_delete(s, key.id), 0);
        check_result("delete again", store_key_delete(s, key.id), 0);
        check_result("delete", store_tenant_delete(s, tenant.name), 0);
        check_result("no key", store_key_each(s, fail_if_called_key, NULL), 0);
        check_result("no tenant", store_tenant_each(s, fail_if_called_tenant, NULL), 0);
        store_close(s);
}

/* Transactions. */

TEST(transaction_whole_or_nothing) {
        Store *s = open_store("transaction.db");
        Sandbox a = plain_sandbox(1), b = plain_sandbox(2);

        store_rollback(s); /* none: nothing happens */
        check_result("begin", store_begin(s), 0);
        check_result("insert", store_sandbox_insert(s, &a), 0);
        check_uint("seen inside", n_sandboxes(s), 1);
        store_rollback(s);
        check_uint("undone", n_sandboxes(s), 0);

        check_result("begin", store_begin(s), 0);
        check_result("insert", store_sandbox_insert(s, &a), 0);
        check_result("insert", store_sandbox_insert(s, &b), 0);
        check_result("commit", store_commit(s), 0);
        check_uint("done", n_sandboxes(s), 2);

        check_result("begin", store_begin(s), 0);
        check_result("delete", store_sandbox_delete(s, a.id), 0);
        store_close(s); /* undoes */
        s = open_store("transaction.db");
        check_uint("rows", n_sandboxes(s), 2);
        store_close(s);
}

/* A caller who does not look at every answer does not commit half of what was meant. */
TEST(transaction_error_sticks) {
        Store *s = open_store("sticks.db");
        Sandbox a = plain_sandbox(1), b = plain_sandbox(2);

        check_result("begin", store_begin(s), 0);
        check_result("insert", store_sandbox_insert(s, &a), 0);
        check_result("insert again", store_sandbox_insert(s, &a), -EEXIST);
        check_result("anything", store_sandbox_insert(s, &b), -EEXIST);
        check_result("commit", store_commit(s), -EEXIST);
        store_rollback(s);
        check_uint("rows", n_sandboxes(s), 0);

        check_result("begin", store_begin(s), 0);
        check_result("update of nothing", store_sandbox_update(s, &a), -ENOENT);
        check_result("commit", store_commit(s), -ENOENT);
        check_result("and on", store_sandbox_insert(s, &a), 0);
        check_uint("rows", n_sandboxes(s), 1);
        store_close(s);
}

static void fill_the_disk(void *userdata) {
        Store *s = open_store("full.db");
        Sandbox a = plain_sandbox(1), b = plain_sandbox(2);
        static char metadata[1 << 20];
        struct rlimit limit;

        memset(metadata, 'm', sizeof(metadata) - 1);
        check_result("insert", store_sandbox_insert(s, &a), 0);
        check_result("getrlimit", getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = 256 * 1024;
        (void) signal(SIGXFSZ, SIG_IGN);
        check_result("setrlimit", setrlimit(RLIMIT_FSIZE, &limit), 0);

        b.spec.metadata = metadata;
        check_result("begin", store_begin(s), 0);
        check_result("a small one", store_footprint_add(s, a.id, FOOTPRINT_CGROUP, "x"), 0);
        (void) store_sandbox_insert(s, &b); /* fails here or at the commit */
        check_true("commit", store_commit(s) < 0);
        check_uint("sandboxes", n_sandboxes(s), 1);
        check_uint("ledger", n_footprint(s), 0);

        limit.rlim_cur = limit.rlim_max;
        check_result("setrlimit", setrlimit(RLIMIT_FSIZE, &limit), 0);
        check_result("there is room again", store_sandbox_insert(s, &b), 0);
        check_uint("sandboxes", n_sandboxes(s), 2);
        store_close(s);
}

static bool no_room(void *userdata) {
        (*(unsigned *) userdata)++;
        return false;
}

/* Where the disk is full nothing is begun, and what is there can be changed and removed. */
TEST(nothing_is_begun_without_room) {
        Store *s = open_store("begun.db");
        Sandbox sb = plain_sandbox(0), other = plain_sandbox(1);
        Execution x = plain_execution(&sb, 1);
        StoreEvent event = { .sandbox_id = sb.id, .type = "created" };
        unsigned asked = 0;

        check_result("insert", store_sandbox_insert(s, &sb), 0);
        store_set_room(s, no_room, &asked);
        check_result("another", store_sandbox_insert(s, &other), -ENOSPC);
        check_result("execution", store_execution_insert(s, &x), -ENOSPC);
        check_uint("asked", asked, 2);
        check_result("begin", store_begin(s), 0);
        check_result("another, within", store_sandbox_insert(s, &other), -ENOSPC);
        check_result("commit", store_commit(s), -ENOSPC);
        sb.status = SANDBOX_STOPPED;
        check_result("update", store_sandbox_update(s, &sb), 0);
        check_result("event", store_event_add(s, &event, NULL), 0);
        check_result("delete", store_sandbox_delete(s, sb.id), 0);
        check_uint("not asked", asked, 3);
        store_set_room(s, NULL, NULL);
        check_result("with room", store_sandbox_insert(s, &other), 0);
        s = store_close(s);
}

TEST(transaction_without_room) {
        Store *s;

        unit_run_in_child(fill_the_disk, NULL);
        s = open_store("full.db");
        check_uint("sandboxes", n_sandboxes(s), 2);
        store_close(s);
}

TEST(sync) {
        Store *s = open_store("sync.db");
        Sandbox a = plain_sandbox(1);

        check_result("with nothing", store_sync(s), 0);
        check_result("insert", store_sandbox_insert(s, &a), 0);
        check_result("with something", store_sync(s), 0);
        check_result("begin", store_begin(s), 0);
        check_result("in a transaction", store_sync(s), 0);
        check_result("delete", store_sandbox_delete(s, a.id), 0);
        check_result("commit", store_commit(s), 0);
        check_uint("rows", n_sandboxes(s), 0);
        store_close(s);
}
