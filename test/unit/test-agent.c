/* Agent executions: who is next, when it is tried again, whose failure it was, what is captured; with a provider that fails on purpose. */
#include "world.h"

#include "agent/glob.h"
#include "agent/internal.h"
#include "agent/language.h"
#include "core/limits.h"
#include "agent/rows.h"

/* The queue. */

static void add(Queue *q, const char *id, const char *tenant, const char *profile, int priority, usec_t not_before) {
        static uint64_t serial;

        serial++;
        check_result(id, queue_add(q, id, tenant, profile, serial, priority, /* since= */ serial * 1000, not_before), 0);
}

/* Takes all that can begin; gives their ids in a row. */
static const char *drain(Queue *q) {
        static char text[256];
        QueueEntry e;

        text[0] = '\0';
        while (queue_take(q, &e)) {
                (void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "", e.id);
        }
        return text;
}

TEST(queue_by_priority_then_first_come) {
        Queue *q;

        check_result("new", queue_new(&q), 0);
        add(q, "a", "t", "P", 0, 0);
        add(q, "b", "t", "P", 0, 0);
        add(q, "high", "t", "P", 100, 0);
        add(q, "low", "t", "P", -100, 0);
        add(q, "c", "t", "OTHER", 0, 0);
        add(q, "mid", "t", "OTHER", 50, 0);
        check_uint("size", queue_size(q), 6);
        check_uint("size of its tenant", queue_size_of(q, "t"), 6);
        check_string("order", drain(q), "high mid a b c low");
        check_uint("size", queue_size(q), 0);
        check_true("oldest of none", queue_oldest(q, NULL) == USEC_INFINITY);
        queue_free(q);
}

TEST(queue_tenants_in_turn) {
        Queue *q;

        check_result("new", queue_new(&q), 0);
        for (unsigned i = 0; i < 5; i++)
                add(q, (const char *const[]) { "a1", "a2", "a3", "a4", "a5" }[i], "big", "P", 0, 0);
        add(q, "b1", "small", "P", -100, 0); /* priorities are told apart within a tenant only */
        add(q, "b2", "small", "P", -100, 0);
        add(q, "n1", NULL, "P", 0, 0);
        check_string("order", drain(q), "a1 b1 n1 a2 b2 a3 a4 a5");
        queue_free(q);
}

TEST(queue_closed_lanes_let_others_pass) {
        Queue *q;

        check_result("new", queue_new(&q), 0);
        queue_close(q, "t", "FULL", true);
        add(q, "f1", "t", "FULL", 100, 0);
        add(q, "f2", "t", "FULL", 0, 0);
        add(q, "o1", "t", "P", 0, 0);
        check_string("the others", drain(q), "o1");
        queue_close(q, "t", "FULL", false);
        check_string("then they", drain(q), "f1 f2");
        queue_close(q, "nobody", "P", false);
        queue_close(q, "t", "FULL", true); /* freed with the queue */
        queue_free(q);
}

TEST(queue_aside_until_it_is_time) {
        Queue *q;

        check_result("new", queue_new(&q), 0);
        add(q, "old", "t", "P", 0, 300);
        add(q, "older", "t", "P", 0, 200);
        add(q, "now", "t", "P", 0, 0);
        check_uint("aside", queue_delayed(q), 2);
        check_uint("the next", queue_admit(q, 100), 200);
        check_string("those that may", drain(q), "now");
        add(q, "younger", "t", "P", 0, 0);
        check_uint("none is left", queue_admit(q, 1000), USEC_INFINITY);
        check_string("each where it was", drain(q), "old older younger");
        queue_free(q);
}

TEST(queue_remove) {
        Queue *q;

        check_result("new", queue_new(&q), 0);
        add(q, "a", "t", "P", 0, 0);
        add(q, "b", "t", "P", 0, 5000);
        add(q, "c", "u", "P", 7, 0);
        check_true("there", queue_find(q, "b") != NULL);
        check_true("aside", queue_remove(q, "b"));
        check_true("twice", !queue_remove(q, "b"));
        check_true("in line", queue_remove(q, "a"));
        check_uint("size of its tenant", queue_size_of(q, "t"), 0);
        check_string("the rest", drain(q), "c");
        queue_free(q);
}

/* 100,000 of them, from a hundred tenants: none is lost, none comes twice, and nobody is overtaken by his own. */
TEST(queue_of_many) {
        static uint64_t last[100];
        char tenant[16], id[JOB_ID_LENGTH + 1];
        usec_t began = clock_usec();
        unsigned n = 0;
        QueueEntry e;
        Queue *q;

        check_result("new", queue_new(&q), 0);
        for (unsigned i = 0; i < 100000; i++) {
                (void) snprintf(tenant, sizeof(tenant), "t%u", i % 100);
                (void) snprintf(id, sizeof(id), "x%u", i);
                check_result("add", queue_add(q, id, tenant, "P", i + 1, 0, i, 0), 0);
        }
        while (queue_take(q, &e)) {
                unsigned from = (unsigned) (e.serial - 1) % 100;

                check_uint("tenants in turn", from, n % 100);
                check_true("in order", e.serial > last[from]);
                last[from] = e.serial;
                n++;
        }
        check_uint("all", n, 100000);
        check_true("in no time", clock_usec() - began < 20 * USEC_PER_SEC);
        queue_free(q);
}

/* Again, and whose failure. */

TEST(pauses_grow) {
        AgentsConfig c = { .backoff_usec = 1000, .backoff_max_usec = 5000 };

        check_uint("2^0", run_pause(&c, 1), 1000);
        check_uint("2^1", run_pause(&c, 2), 2000);
        check_uint("2^2", run_pause(&c, 3), 4000);
        check_uint("not for ever", run_pause(&c, 4), 5000);
        check_uint("nor beyond", run_pause(&c, 64), 5000);
}

TEST(whose_failure) {
        static const struct {
                ExecutionReason reason;
                int code;
                ResultBlame blame;
        } cases[] = {
                { EXECUTION_REASON_EXITED, 0, BLAME_NOBODY },
                { EXECUTION_REASON_EXITED, 1, BLAME_PROGRAM },
                { EXECUTION_REASON_SIGNALED, -1, BLAME_PROGRAM },
                { EXECUTION_REASON_TIMEOUT, 124, BLAME_PROGRAM },
                { EXECUTION_REASON_CPU_TIME, 124, BLAME_PROGRAM },
                { EXECUTION_REASON_MEMORY, -1, BLAME_PROGRAM },
                { EXECUTION_REASON_DISK, 1, BLAME_PROGRAM },
                { EXECUTION_REASON_NOT_FOUND, 127, BLAME_PROGRAM },
                { EXECUTION_REASON_NOT_EXECUTABLE, 126, BLAME_PROGRAM },
                { EXECUTION_REASON_CANCELLED, -1, BLAME_CALLER },
                { EXECUTION_REASON_SANDBOX_ENDED, -1, BLAME_SANDBOX },
                { EXECUTION_REASON_INTERNAL, -1, BLAME_SANDBOX },
        };
        char timeout[] = "timeout", other[] = "its PID 1 died";
        Sandbox sb = { .reason = other };
        Execution x = { .sandbox = &sb };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                x.reason = cases[i].reason;
                x.exit_code = cases[i].code;
                check_int(execution_reason_name(x.reason), result_blame(&x), cases[i].blame);
        }
        x.reason = EXECUTION_REASON_SANDBOX_ENDED;
        sb.reason = timeout;
        check_int("the sandbox's own time was up", result_blame(&x), BLAME_PROGRAM);
}

/* Patterns, languages. */

TEST(globs) {
        static const struct {
                const char *pattern, *path;
                bool match;
        } cases[] = {
                { "*.txt", "a.txt", true },
                { "*.txt", "a/b.txt", false },
                { "**/*.txt", "a/b.txt", true },
                { "**/*.txt", "b.txt", true },
                { "**/x", "ax", false },
                { "**/x", "a/x", true },
                { "out/**", "out/a/b", true },
                { "out/**", "outer/a", false },
                { "out/**", "out/a", true },
                { "**", "a/b/c", true },
                { "a?c", "abc", true },
                { "a?c", "a/c", false },
                { "*", "", true },
                { "a*", "a", true },
                { "a", "a", true },
                { "a", "ab", false },
                { "ab", "a", false },
                { "*b*", "aabaa", true },
                { "a/**/z", "a/z", true },
                { "a/**/z", "a/b/c/z", true },
                { "a/**/z", "a/bz", false },
                { "****/a", "x/ya", true },
                { "**x**/a", "x.xa", true },
                { "**/**/a*", "b/c/ad", true },
                { "**/b/*.c", "x/b/y/b/z.c", true },
                { "", "a", false },
                { "*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_int(cases[i].pattern, glob_match(cases[i].pattern, cases[i].path), cases[i].match);
}

/* Of patterns that could be tried in ever so many ways: as long as of one that fits at once, give or take. */
TEST(globs_take_no_time) {
        char path[16 * 251], hard[] = "**?*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", easy[sizeof(hard)];
        usec_t least[2] = { USEC_INFINITY, USEC_INFINITY };

        memset(path, 'a', sizeof(path));
        for (size_t i = 250; i < sizeof(path); i += 251)
                path[i] = '/';
        path[sizeof(path) - 1] = '\0';
        memset(easy, 'x', sizeof(easy) - 1);
        easy[sizeof(easy) - 1] = '\0';
        for (unsigned i = 0; i < 10; i++)
                for (unsigned k = 0; k < 2; k++) {
                        usec_t began = clock_usec();

                        check_true("no match", !glob_match(k ? hard : easy, path));
                        least[k] = MIN_OF(least[k], clock_usec() - began);
                }
        check_true("both are quick", least[1] <= 20 * least[0] + USEC_PER_MSEC);
}

TEST(languages) {
        _cleanup_(strv_done) Strv command = STRV_INIT(8);
        const char *file = NULL;
        Error error = { 0 };

        check_result("sh", language_find("SHELL", "/", &file, &command, &error), 0);
        check_string("file", file, "main.sh");
        check_string("program", command.items[0], "sh");
        check_result("unknown", language_find("cobol", "/", &file, &command, &error), -EINVAL);
        check_part("which there are", error.text, "python, javascript");
        check_result("an empty template", language_find("python", unit_path("."), &file, &command, &error), -ENOENT);
        check_part("what is missing", error.text, "none of: python3");
}

/* The room, with a provider that cannot make sandboxes. */

typedef struct Room {
        World world;
        Agents *agents;
} Room;

static void room_new(Room *r, const char *name) {
        Error error = { 0 };

        world_new(&r->world, name);
        r->world.settings->agents.backoff_usec = 1000;
        r->world.settings->agents.backoff_max_usec = 2000;
        check_result("agents", agents_new(r->world.manager, NULL, NULL, &r->agents, &error), 0);
}

static void room_free(Room *r) {
        r->agents = agents_free(r->agents);
        world_close(&r->world);
}

static void submit(Room *r, unsigned retries, char id[static JOB_ID_LENGTH + 1]) {
        _cleanup_(strv_done) Strv command = STRV_INIT(2);
        AgentRequest q = { .task_id = "t", .agent_type = "validation", .command = &command, .has_retries = true, .retries = retries };
        const char *field;
        Error error = { 0 };
        bool existing;

        check_result("push", strv_push(&command, "/bin/true"), 0);
        limits_unsaid(&q.limits);
        check_result("submit", agents_submit(r->agents, &admin, &q, id, &existing, &field, &error), 0);
}

static Job look(Room *r, const char *id) {
        Job j = { 0 };

        check_result("find", agents_find(r->agents, &admin, id, &j), 0);
        return j;
}

static JobStatus status_of(Room *r, const char *id) {
        _cleanup_(job_done) Job j = look(r, id);

        return j.status;
}

/* Runs the loop; what is asked to be made fails, what is to be taken down goes. */
static void fail_all(Room *r, const char *id, JobStatus until) {
        Fake *f = &r->world.fake;
        const ProviderEvents *e = f->provider.events;
        unsigned destroyed = 0;
        usec_t deadline = clock_usec() + 60 * USEC_PER_SEC;

        while (status_of(r, id) != until && clock_usec() < deadline) {
                Sandbox *sb = f->created;

                (void) sd_event_run(r->world.event, 5000);
                sb = f->created;
                f->created = NULL;
                if (sb)
                        e->created(sb, 0, 0, 0, &(Error) { -EIO, "it fails on purpose" }, r->world.manager);
                for (; destroyed < f->n_destroyed; destroyed++)
                        e->destroyed(f->destroyed[destroyed % 64], NULL, r->world.manager);
        }
        check_string("status", job_status_name(status_of(r, id)), job_status_name(until));
}

static int count_attempt(JobAttempt *row, void *userdata) {
        unsigned *n = userdata;

        (*n)++;
        check_uint("number", row->number, *n);
        check_string("code", row->error_code, "provisioning_failed");
        check_part("why", row->error, "it fails on purpose");
        return 0;
}

TEST(a_sandbox_that_cannot_be_made_is_a_dead_letter_in_the_end) {
        char id[JOB_ID_LENGTH + 1];
        AgentQueueStats stats;
        unsigned n = 0;
        Error error = { 0 };
        Room r;

        room_new(&r, "dead");
        submit(&r, 2, id);
        fail_all(&r, id, JOB_DEAD);
        check_uint("made", r.world.fake.n_created, 3);
        check_result("attempts", store_attempt_each(r.world.store, id, count_attempt, &n), 0);
        check_uint("attempts", n, 3);
        check_result("stats", agents_queue_stats(r.agents, NULL, &stats), 0);
        check_uint("dead", stats.dead, 1);
        check_uint("retried", stats.retried, 2);
        check_uint("depth", stats.depth, 0);
        check_uint("active", stats.active, 0);

        check_result("again", agents_retry(r.agents, &admin, id, &error), 0);
        fail_all(&r, id, JOB_DEAD);
        check_uint("made", r.world.fake.n_created, 6);
        check_result("delete", agents_delete(r.agents, &admin, id, &error), 0);
        check_result("stats", agents_queue_stats(r.agents, NULL, &stats), 0);
        check_uint("dead", stats.dead, 0);
        room_free(&r);
}

TEST(cancelled_while_it_is_made) {
        char id[JOB_ID_LENGTH + 1];
        Error error = { 0 };
        Room r;

        room_new(&r, "cancel");
        submit(&r, 2, id);
        for (unsigned i = 0; i < 50 && !r.world.fake.created; i++)
                (void) sd_event_run(r.world.event, 10000);
        check_string("status", job_status_name(status_of(&r, id)), "provisioning");
        check_result("cancel", agents_cancel(r.agents, &admin, id, &error), 0);
        check_string("status", job_status_name(status_of(&r, id)), "cancelled");
        check_uint("what was being made goes", r.world.fake.n_destroyed, 1);
        room_free(&r);
}

/* The daemon is gone in the middle of it; the next one takes it up, and no attempt is lost or made twice. */
TEST(taken_up_after_a_restart) {
        char first[JOB_ID_LENGTH + 1], second[JOB_ID_LENGTH + 1];
        Error error = { 0 };
        Room r;

        room_new(&r, "restart");
        r.world.settings->agents.concurrency = 1;
        submit(&r, 0, first);
        submit(&r, 0, second);
        for (unsigned i = 0; i < 50 && !r.world.fake.created; i++)
                (void) sd_event_run(r.world.event, 10000);
        check_string("first", job_status_name(status_of(&r, first)), "provisioning");
        check_string("second", job_status_name(status_of(&r, second)), "queued");
        r.agents = agents_free(r.agents);
        world_close(&r.world);

        world_open(&r.world);
        r.world.settings->agents.concurrency = 1;
        check_result("agents", agents_new(r.world.manager, NULL, NULL, &r.agents, &error), 0);
        world_up(&r.world);
        for (unsigned i = 0; i < r.world.fake.n_destroyed; i++) /* what was half made is taken down */
                r.world.fake.provider.events->destroyed(r.world.fake.destroyed[i], NULL, r.world.manager);
        check_true("recovered", !r.world.manager->recovering);
        fail_all(&r, second, JOB_DEAD);
        check_string("first", job_status_name(status_of(&r, first)), "dead");
        room_free(&r);
}

TEST(tenants_do_not_see_each_other) {
        const Principal other = { .kind = PRINCIPAL_USE_KEY, .tenant = "other" };
        char id[JOB_ID_LENGTH + 1];
        Error error = { 0 };
        Job j = { 0 };
        Room r;

        room_new(&r, "tenants");
        submit(&r, 0, id);
        check_result("find", agents_find(r.agents, &other, id, &j), -ENOENT);
        check_result("cancel", agents_cancel(r.agents, &other, id, &error), -ENOENT);
        check_result("delete", agents_delete(r.agents, &other, id, &error), -ENOENT);
        check_result("retry", agents_retry(r.agents, &other, id, &error), -ENOENT);
        check_result("nonsense", agents_find(r.agents, &admin, "../etc", &j), -ENOENT);
        room_free(&r);
}

/* Lists: what is wanted is found however much there is, and no page looks at all of it. */

static unsigned n_rows;

static int count_row(Job *row, void *userdata) {
        n_rows++;
        check_string("task", row->sandbox.task_id, userdata);
        return 0;
}

static void insert(World *w, unsigned i, const char *tenant, const char *task, JobStatus status) {
        Job j = { .created_at = i + 1, .queued_at = i + 1, .ended_at = i + 1, .status = status, .attempts_max = 1 };
        char type[] = "validation", profile[] = "VALIDATION", who[32], what[32];

        (void) snprintf(j.id, sizeof(j.id), "run_%020u", i);
        (void) snprintf(who, sizeof(who), "%s", tenant);
        (void) snprintf(what, sizeof(what), "%s", task);
        j.sandbox.tenant = who;
        j.sandbox.task_id = what;
        j.sandbox.agent_type = type;
        j.sandbox.profile = profile;
        check_result("insert", store_job_insert(w->store, &j), 0);
}

static unsigned list_all(World *w, JobFilter f, const char *task, unsigned *ret_pages) {
        usec_t longest = 0;

        n_rows = 0;
        *ret_pages = 0;
        do {
                usec_t began = clock_usec();

                check_result("each", store_job_each(w->store, &f, count_row, (void *) (uintptr_t) task, &f.before), 0);
                longest = MAX_OF(longest, clock_usec() - began);
                (*ret_pages)++;
        } while (f.before > 0);
        check_true("no page takes long", longest < 20 * USEC_PER_SEC);
        return n_rows;
}

TEST(lists_of_many) {
        unsigned pages;
        World w;

        world_new(&w, "lists");
        check_result("begin", store_begin(w.store), 0);
        for (unsigned i = 0; i < 50000; i++) {
                bool rare = i % 10000 == 5;

                insert(&w, i, rare ? "rare" : "common", rare ? "seldom" : "often", rare ? JOB_DEAD : JOB_COMPLETED);
        }
        check_result("commit", store_commit(w.store), 0);
        check_uint("by status", list_all(&w, (JobFilter) { .statuses = 1U << JOB_DEAD, .limit = 100 }, "seldom", &pages), 5);
        check_uint("at once", pages, 1);
        check_uint("by task", list_all(&w, (JobFilter) { .task_id = "seldom", .limit = 100 }, "seldom", &pages), 5);
        check_uint("at once", pages, 1);
        check_uint("by tenant", list_all(&w, (JobFilter) { .tenant = "rare", .limit = 100 }, "seldom", &pages), 5);
        check_uint("at once", pages, 1);
        check_uint("without an index", list_all(&w, (JobFilter) { .statuses = 1U << JOB_DEAD | 1U << JOB_CANCELLED, .limit = 100 }, "seldom", &pages), 5);
        check_uint("piece by piece", pages, 3);
        check_uint("nothing", list_all(&w, (JobFilter) { .agent_type = "none", .limit = 100 }, "seldom", &pages), 0);
        world_close(&w);
}
