/* What is counted when things happen in the core, what of it outlives a restart, what it costs. */
#include "world.h"

#include <ctype.h>
#include <math.h>

#include "observe/internal.h"
#include "store/statement.h"

#define HOUR (3600 * USEC_PER_SEC)

typedef struct Watched {
        World w;
        Observe *o;
} Watched;

static void open_observe(Watched *x) {
        Error error = { 0 };

        check_result("observe", observe_new(x->w.manager, &x->o, &error), 0);
}

static void watched_new(Watched *x, const char *name) {
        world_new(&x->w, name);
        open_observe(x);
}

static void watched_close(Watched *x) {
        x->o = observe_free(x->o);
        world_close(&x->w);
}

/* As after a restart: everything in memory is gone. */
static void watched_again(Watched *x) {
        watched_close(x);
        world_open(&x->w);
        world_up(&x->w);
        open_observe(x);
}

static void check_near(const char *what, double found, double expected) {
        if (!(fabs(found - expected) <= fabs(expected) / 30 + 1e-9)) {
                (void) fprintf(stderr, "%s: %g, expected %g\n", what, found, expected);
                check_true(what, 0);
        }
}

static Sandbox *agent(Watched *x, const char *type) {
        Sandbox *sb = create_ready(&x->w, NULL);

        sb->spec.agent_type = type ? strdup(type) : NULL;
        return sb;
}

static void run(Watched *x, Sandbox *sb, int wait_status) {
        Execution *e = start(sb, "true");

        tell_exit(&x->w, sb, e->number, wait_status);
}

static void end(Watched *x, Sandbox *sb) {
        char id[SANDBOX_ID_LENGTH + 1];

        memcpy(id, sb->id, sizeof(id));
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        x->w.fake.provider.events->destroyed(id, NULL, x->w.manager);
}

static double total(Watched *x, Metric m, const char *label, const char *second) {
        return series_total(x->o, m, label, second, NULL);
}

TEST(names_are_good_prometheus_names_and_there_once) {
        for (Metric m = 0; m < _METRIC_MAX; m++) {
                const MetricInfo *i = metric_info(m);
                bool is_total = strlen(i->name) > 6 && strcmp(i->name + strlen(i->name) - 6, "_total") == 0;

                check_true(i->name, i->name && i->help && *i->help && i->help[strlen(i->help) - 1] != '.');
                for (const char *p = i->name; *p; p++)
                        check_true(i->name, islower((unsigned char) *p) || isdigit((unsigned char) *p) || *p == '_');
                check_int(i->name, is_total, i->type == METRIC_COUNTER);
                check_true("no sandbox is a label", strcmp(i->labels[0], "id") != 0 && strcmp(i->labels[0], "sandbox") != 0);
                for (Metric k = 0; k < m; k++)
                        check_true(i->name, strcmp(metric_info(k)->name, i->name) != 0);
        }
        for (Signal s = 0; s < _SIGNAL_MAX; s++) {
                check_true("name", signal_name(s) && signal_help(s));
                for (Signal k = 0; k < s; k++)
                        check_true(signal_name(s), strcmp(signal_name(k), signal_name(s)) != 0);
        }
}

/* A6 57, 58, 61: totals, outcomes, by agent type. */
TEST(057_058_061_outcomes_are_counted_by_agent_type) {
        Watched x;
        Sandbox *good, *bad, *plain;

        watched_new(&x, "outcomes");
        good = agent(&x, "documentation");
        bad = agent(&x, "testing");
        plain = agent(&x, NULL);
        check_near("active", observe_signal(x.o, SIGNAL_ACTIVE), 3);
        check_true("no rate yet", isnan(observe_signal(x.o, SIGNAL_FAILURE_RATE)));
        run(&x, good, 0);
        run(&x, bad, 1 << 8);
        run(&x, plain, 1 << 8);
        check_near("success", total(&x, METRIC_EXECUTIONS, "documentation", "success"), 1);
        check_near("failure", total(&x, METRIC_EXECUTIONS, "testing", "failure"), 1);
        end(&x, good);
        end(&x, bad);
        end(&x, plain);
        check_near("completed", total(&x, METRIC_SANDBOXES_ENDED, "documentation", "completed"), 1);
        check_near("failed", total(&x, METRIC_SANDBOXES_ENDED, "testing", "failed"), 1);
        check_near("a person's failure is no failure of the sandbox", total(&x, METRIC_SANDBOXES_ENDED, "none", "completed"), 1);
        check_true("three are no rate", isnan(observe_signal(x.o, SIGNAL_FAILURE_RATE)));
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "documentation", "completed", 7);
        check_near("failure rate", observe_signal(x.o, SIGNAL_FAILURE_RATE), 1.0 / 10);
        check_near("timeout rate", observe_signal(x.o, SIGNAL_TIMEOUT_RATE), 0);
        check_near("active", observe_signal(x.o, SIGNAL_ACTIVE), 0);
        check_true("notes are gone", x.o->notes == NULL);
        watched_close(&x);
}

/* A time limit is a timeout when something ran, and expiry when nothing did. */
TEST(061_timeouts_are_not_expiries) {
        Watched x;
        Sandbox *busy, *idle;

        watched_new(&x, "timeouts");
        busy = agent(&x, "implementation");
        idle = agent(&x, "implementation");
        (void) start(busy, "sleep");
        sandbox_end(busy, SANDBOX_TERMINATED, /* delete= */ false, "timeout");
        sandbox_end(idle, SANDBOX_TERMINATED, /* delete= */ false, "timeout");
        x.w.fake.provider.events->destroyed(busy->id, NULL, x.w.manager);
        x.w.fake.provider.events->destroyed(idle->id, NULL, x.w.manager);
        check_near("timeout", total(&x, METRIC_SANDBOXES_ENDED, NULL, "timeout"), 1);
        check_near("expired", total(&x, METRIC_SANDBOXES_ENDED, NULL, "expired"), 1);
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "implementation", "completed", 8);
        check_near("timeout rate", observe_signal(x.o, SIGNAL_TIMEOUT_RATE), 0.1);
        check_near("of failures", observe_signal(x.o, SIGNAL_TIMEOUTS_OF_FAILURES), 1);
        watched_close(&x);
}

/* Limits that killed are written down, and violate nothing. */
TEST(402_only_what_breaks_a_rule_is_a_violation) {
        static const char *const limits[] = { "limit-kill", "oom-kill", "disk-kill", "audit-failed" };
        static const char *const violations[] = { "auth-failed", "network", "path-refused", "policy", "a-kind-of-tomorrow" };
        Watched x;

        watched_new(&x, "violations");
        for (size_t i = 0; i < ELEMENTSOF(limits); i++)
                observe_security(x.w.manager, limits[i], NULL, "told");
        check_near("counted", total(&x, METRIC_SECURITY_EVENTS, NULL, NULL), ELEMENTSOF(limits));
        check_near("no violation", observe_signal(x.o, SIGNAL_SECURITY_EVENTS), 0);
        for (size_t i = 0; i < ELEMENTSOF(violations); i++) {
                observe_security(x.w.manager, violations[i], NULL, "told");
                check_near(violations[i], observe_signal(x.o, SIGNAL_SECURITY_EVENTS), (double) (i + 1));
        }
        watched_close(&x);
}

TEST(connections_of_guests_are_no_refused_calls) {
        Watched x;

        watched_new(&x, "refused-calls");
        for (unsigned i = 0; i < 100; i++)
                observe_security_count(x.w.manager, "network");
        observe_security(x.w.manager, "oom-kill", NULL, "told");
        check_near("guests", observe_signal(x.o, SIGNAL_REFUSED_CALLS), 0);
        observe_security(x.w.manager, "auth-failed", NULL, "told");
        observe_security(x.w.manager, "path-refused", NULL, "told");
        check_near("callers", observe_signal(x.o, SIGNAL_REFUSED_CALLS), 2);
        check_near("all", observe_signal(x.o, SIGNAL_SECURITY_EVENTS), 102);
        watched_close(&x);
}

/* One failure among a thousand, and that one was a timeout. */
TEST(400_timeouts_where_hardly_anything_fails) {
        Watched x;

        watched_new(&x, "few-failures");
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "testing", "completed", 999);
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "testing", "timeout", 1);
        check_true("no share", isnan(observe_signal(x.o, SIGNAL_TIMEOUTS_OF_FAILURES)));
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "testing", "failed", 99);
        check_near("a hundredth", observe_signal(x.o, SIGNAL_TIMEOUTS_OF_FAILURES), 0.01);
        watched_close(&x);
}

static double live_signal(Watched *x, Signal s) {
        x->o->live.at = 0; /* as if the last look were long ago */
        return observe_signal(x->o, s);
}

static Note *note_since(Watched *x, Sandbox *sb, unsigned minutes) {
        Note *n = note_find(x->o, sb);

        check_true("noted", n != NULL);
        n->activity = clock_wall_usec() - minutes * 60 * USEC_PER_SEC;
        return n;
}

TEST(unused_is_what_waits_for_nobody) {
        Sandbox *fresh, *idle, *busy, *paused;
        Answer a = { 0 };
        Watched x;

        watched_new(&x, "unused");
        check_near("none", live_signal(&x, SIGNAL_UNUSED), 0);
        fresh = agent(&x, NULL);
        idle = agent(&x, NULL);
        busy = agent(&x, NULL);
        paused = agent(&x, NULL);
        (void) start(busy, "sleep");
        sandbox_pause(paused, on_done, &a);
        x.w.fake.provider.events->frozen(paused, true, NULL, x.w.manager);
        check_string("paused", sandbox_status_name(paused->status), "paused");
        (void) note_since(&x, fresh, 59);
        (void) note_since(&x, idle, 61);
        (void) note_since(&x, busy, 600);
        (void) note_since(&x, paused, 600);
        check_near("the idle one", live_signal(&x, SIGNAL_UNUSED), 1);
        check_near("whatever it does", live_signal(&x, SIGNAL_SANDBOX_IDLE_MAX), 36000);
        (void) note_since(&x, fresh, 61);
        check_near("from one look for all rules", observe_signal(x.o, SIGNAL_UNUSED), 1);
        check_near("two", live_signal(&x, SIGNAL_UNUSED), 2);
        watched_close(&x);
}

TEST(short_of_what_they_may_have) {
        Watched x;

        watched_new(&x, "short");
        for (unsigned i = 0; i < 4; i++) {
                Note *n = note_since(&x, agent(&x, NULL), 0);

                n->sampled_at = i < 3; /* the last one was never looked at */
                n->memory_share = 0.87 + 0.01 * i;
                n->cpu_share = 0.9 + 0.01 * i;
        }
        check_near("memory", live_signal(&x, SIGNAL_SHORT_OF_MEMORY), 1);
        check_near("CPU", live_signal(&x, SIGNAL_SHORT_OF_CPU), 2);
        check_near("most", live_signal(&x, SIGNAL_SANDBOX_MEMORY_MAX), 0.89);
        check_near("allowed", observe_signal(x.o, SIGNAL_CAP), 16);
        watched_close(&x);
}

static double read_number(void *userdata) {
        return *(double *) userdata;
}

static const char *health_of(Watched *x) {
        static char status[16];
        json_t *j = observe_health_json(x->o);

        (void) snprintf(status, sizeof(status), "%s", json_string_value(json_object_get(j, "status")));
        json_decref(j);
        return status;
}

/* One in a thousand is not the state of all. */
TEST(health_follows_the_rules) {
        double active = 10, stuck = 0;
        Watched x;

        watched_new(&x, "health-scaled");
        check_result("source", observe_set_source(x.o, SIGNAL_ACTIVE, read_number, &active), 0);
        check_result("source", observe_set_source(x.o, SIGNAL_STUCK, read_number, &stuck), 0);
        check_true("healthy", strcmp(health_of(&x), "unhealthy") != 0);
        stuck = 1;
        check_string("one of ten", health_of(&x), "unhealthy");
        active = 1000;
        check_true("one of a thousand", strcmp(health_of(&x), "unhealthy") != 0);
        stuck = 11;
        check_string("eleven", health_of(&x), "unhealthy");
        x.w.settings->alerts.preset = ALERT_PRESET_MONOTASK;
        stuck = 1;
        check_string("with the preset", health_of(&x), "unhealthy");
        watched_close(&x);
}

/* Of ten answers two were refused: a fifth, and no rate. */
TEST(189_a_few_errors_are_no_rate) {
        Watched x;

        watched_new(&x, "refused");
        check_true("no answers", isnan(observe_signal(x.o, SIGNAL_HTTP_ERROR_RATE)));
        metric_add2(x.o, METRIC_HTTP_REQUESTS, "GET /", "2xx", 8);
        check_near("no errors", observe_signal(x.o, SIGNAL_HTTP_ERROR_RATE), 0);
        metric_add2(x.o, METRIC_HTTP_REQUESTS, "POST /", "5xx", 2);
        metric_add(x.o, METRIC_HTTP_TIMEOUTS, NULL, 2);
        check_true("two errors", isnan(observe_signal(x.o, SIGNAL_HTTP_ERROR_RATE)));
        check_true("two timeouts", isnan(observe_signal(x.o, SIGNAL_HTTP_TIMEOUT_RATE)));
        metric_add2(x.o, METRIC_HTTP_REQUESTS, "POST /", "5xx", 6);
        metric_add(x.o, METRIC_HTTP_TIMEOUTS, NULL, 6);
        check_near("eight errors", observe_signal(x.o, SIGNAL_HTTP_ERROR_RATE), 0.5);
        check_near("eight timeouts", observe_signal(x.o, SIGNAL_HTTP_TIMEOUT_RATE), 0.5);
        watched_close(&x);
}

TEST(agent_types_beyond_the_limit_are_other) {
        Watched x;
        char name[32];

        watched_new(&x, "bounded");
        x.w.settings->metrics.agent_types_max = 5;
        for (unsigned i = 0; i < 1000; i++) {
                (void) snprintf(name, sizeof(name), "type-%u", i);
                metric_add(x.o, METRIC_SANDBOXES_CREATED, name, 1);
                metric_add2(x.o, METRIC_EXECUTIONS, name, "success", 1);
        }
        check_uint("series", HASH_COUNT(x.o->series[METRIC_SANDBOXES_CREATED]), 6);
        check_near("other", total(&x, METRIC_SANDBOXES_CREATED, "other", NULL), 995);
        check_near("all", total(&x, METRIC_EXECUTIONS, NULL, "success"), 1000);
        check_true("told", total(&x, METRIC_LABELS_DROPPED, NULL, NULL) > 0);
        for (unsigned i = 0; i < 5000; i++) { /* not even labels that we choose ourselves can grow for ever */
                (void) snprintf(name, sizeof(name), "kind-%u", i);
                metric_add(x.o, METRIC_SECURITY_EVENTS, name, 1);
        }
        check_true("bounded", HASH_COUNT(x.o->series[METRIC_SECURITY_EVENTS]) <= METRIC_SERIES_MAX + 1);
        watched_close(&x);
}

TEST(sources_are_added_up_or_the_highest_counts) {
        double a = 3, b = 4;
        Watched x;

        watched_new(&x, "sources");
        (void) observe_set_source(x.o, SIGNAL_STUCK, read_number, &a);
        (void) observe_set_source(x.o, SIGNAL_STUCK, read_number, &b);
        (void) observe_set_source(x.o, SIGNAL_SWEEP_LATENESS, read_number, &a);
        (void) observe_set_source(x.o, SIGNAL_SWEEP_LATENESS, read_number, &b);
        check_near("added", observe_signal(x.o, SIGNAL_STUCK), 7);
        check_near("highest", observe_signal(x.o, SIGNAL_SWEEP_LATENESS), 4);
        a = NAN;
        check_near("one knows nothing", observe_signal(x.o, SIGNAL_STUCK), 4);
        check_true("nobody knows", isnan(observe_signal(x.o, SIGNAL_DEAD_LETTERS)));
        check_near("not above one", observe_signal(x.o, SIGNAL_MEMORY_USAGE) <= 1, 1);
        check_true("nobody watches", isnan(observe_signal(NULL, SIGNAL_STUCK)));
        metric_add(NULL, METRIC_EXECUTIONS, "x", 1);
        watched_close(&x);
}

/* A6 76: totals, windows and rows are there after a restart. */
TEST(076_a_restart_loses_nothing) {
        ObserveSummary before, after;
        json_t *history = NULL;
        Error error = { 0 };
        Watched x;

        watched_new(&x, "restart");
        for (unsigned i = 0; i < 10; i++)
                metric_observe(x.o, METRIC_STEP_EXEC, "testing", 0.25);
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "testing", "failed", 4);
        metric_add2(x.o, METRIC_SANDBOXES_ENDED, "testing", "completed", 12);
        observe_summary(x.o, METRIC_STEP_EXEC, "testing", WINDOW_1H, &before);
        watched_again(&x);
        check_near("total", total(&x, METRIC_SANDBOXES_ENDED, "testing", "completed"), 12);
        observe_summary(x.o, METRIC_STEP_EXEC, "testing", WINDOW_1H, &after);
        check_uint("count", after.count, before.count);
        check_near("p95", after.p95, before.p95);
        observe_summary(x.o, METRIC_STEP_EXEC, "testing", WINDOW_24H, &after);
        check_uint("of the day", after.count, 10);
        check_near("failure rate", observe_signal(x.o, SIGNAL_FAILURE_RATE), 0.25);
        check_result("history", observe_history_json(x.o, clock_wall_usec() - HOUR, clock_wall_usec() + 1, 0, &history, &error), 0);
        check_true("a row", json_array_size(json_object_get(history, "points")) > 0);
        json_decref(history);
        watched_again(&x); /* nothing happened meanwhile: nothing is counted twice */
        check_near("total", total(&x, METRIC_SANDBOXES_ENDED, "testing", "completed"), 12);
        observe_summary(x.o, METRIC_STEP_EXEC, "testing", WINDOW_24H, &after);
        check_uint("still", after.count, 10);
        watched_close(&x);
}

static int count_row(const HistoryRow *row, void *userdata) {
        ++*(unsigned *) userdata;
        return 0;
}

static unsigned rows(Watched *x, bool hourly) {
        unsigned n = 0;

        check_result("rows", store_history_each(x->w.store, hourly, 0, INT64_MAX, count_row, &n), 0);
        return n;
}

static int take_body(const HistoryRow *row, void *userdata) {
        *(json_t **) userdata = json_loads(row->body, 0, NULL);
        return 0;
}

/* A6 76, K14: rows by the interval for seven days, by the hour for ever. */
TEST(076_rows_become_hours_and_go_after_their_time) {
        usec_t now = clock_wall_usec() / HOUR * HOUR + HOUR / 2, then = now - 9 * 24 * HOUR;
        json_t *body = NULL, *shown, *list;
        Watched x;

        watched_new(&x, "hours");
        for (unsigned i = 0; i < 120; i++) { /* two hours, nine days ago */
                metric_add2(x.o, METRIC_EXECUTIONS, "testing", "success", 1);
                metric_observe(x.o, METRIC_STEP_EXEC, "testing", i % 60 < 30 ? 0.1 : 0.9);
                x.o->row_began = then / HOUR * HOUR + i * 60 * USEC_PER_SEC;
                check_result("write", history_write(x.o, x.o->row_began + 60 * USEC_PER_SEC), 0);
        }
        check_uint("minutes", rows(&x, false), 120);
        while (history_fold(x.o, now) > 0)
                ;
        check_uint("hours", rows(&x, true), 2);
        check_result("fold again", history_fold(x.o, now), 0);
        (void) store_history_each(x.w.store, /* hourly= */ true, 0, then / HOUR * HOUR + 1, take_body, &body);
        shown = body_show(body);
        list = json_object_get(shown, "cove_exec_seconds");
        check_int("count", json_integer_value(json_object_get(json_array_get(list, 0), "count")), 60);
        check_near("p50", json_number_value(json_object_get(json_array_get(list, 0), "p50")), 0.1);
        check_near("p95", json_number_value(json_object_get(json_array_get(list, 0), "p95")), 0.9);
        list = json_object_get(shown, "cove_executions_total");
        check_near("executions", json_number_value(json_object_get(json_array_get(list, 0), "value")), 60);
        check_string("label", json_string_value(json_object_get(json_array_get(list, 0), "outcome")), "success");
        json_decref(shown);
        json_decref(body);
        history_trim(x.o, now);
        check_uint("minutes are gone", rows(&x, false), 0);
        check_uint("hours stay", rows(&x, true), 2);
        watched_close(&x);
}

TEST(retention_is_kept) {
        usec_t now = clock_wall_usec();
        Watched x;

        watched_new(&x, "retention");
        x.o->row_began = now - 2 * 24 * HOUR;
        check_result("write", history_write(x.o, x.o->row_began + 1), 0);
        history_trim(x.o, now);
        check_uint("within seven days", rows(&x, false), 1);
        x.w.settings->metrics.retention_usec = 24 * HOUR;
        history_trim(x.o, now);
        check_uint("beyond one", rows(&x, false), 0);
        watched_close(&x);
}

/* A disk that is full for a while. */
TEST(what_could_not_be_written_is_written_later) {
        json_t *body = NULL;
        Watched x;

        watched_new(&x, "unwritten");
        metric_add2(x.o, METRIC_EXECUTIONS, "testing", "success", 3);
        for (unsigned i = 0; i < 300; i++) { /* more than fits where there is room already */
                char kind[16];

                (void) snprintf(kind, sizeof(kind), "kind-%u", i);
                metric_add(x.o, METRIC_SECURITY_EVENTS, kind, 1);
        }
        check_int("no page more", sqlite3_exec(x.w.store->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL), 0);
        check_result("refused", history_write(x.o, clock_wall_usec()), -ENOSPC);
        check_uint("no row", rows(&x, false), 0);
        check_int("pages again", sqlite3_exec(x.w.store->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL), 0);
        metric_add2(x.o, METRIC_EXECUTIONS, "testing", "success", 4);
        check_result("written", history_write(x.o, clock_wall_usec()), 0);
        check_uint("one row", rows(&x, false), 1);
        (void) store_history_each(x.w.store, /* hourly= */ false, 0, INT64_MAX, take_body, &body);
        check_near("with both", json_number_value(json_object_get(json_object_get(body, "cove_executions_total"), "testing\x1fsuccess")), 7);
        json_decref(body);
        watched_close(&x);
}

static double cost_number(Watched *x, const char *by, const char *tenant, const char *field, size_t *ret_n) {
        json_t *body = NULL;
        Error error = { 0 };
        double value;

        check_result("cost", observe_cost_json(x->o, by, clock_wall_usec() - HOUR, clock_wall_usec() + HOUR, tenant, 100, &body, &error), 0);
        value = json_number_value(json_object_get(json_object_get(body, "total"), field));
        *ret_n = json_array_size(json_object_get(body, "items"));
        json_decref(body);
        return value;
}

/* 101: cost per sandbox, task, agent type, tenant. */
TEST(101_cost_is_usage_times_prices) {
        static const char *const kinds[] = { "sandbox", "task", "agentType", "tenant" };
        static const size_t expected[] = { 3, 2, 2, 2 };
        json_t *body = NULL;
        Error error = { 0 };
        size_t n;
        Watched x;

        watched_new(&x, "cost");
        x.w.settings->cost.per_cpu_second = 2;
        x.w.settings->cost.per_egress_gb = 0.5;
        x.w.fake.usage = (SandboxUsage) { .has_cpu = true, .cpu_usec = 3 * USEC_PER_SEC, .has_memory = true, .memory_peak_bytes = 1 << 20,
                                          .has_network = true, .network_tx_bytes = UINT64_C(1) << 30 };
        for (unsigned i = 0; i < 3; i++) {
                Sandbox *sb = agent(&x, i == 0 ? "testing" : "documentation");

                sb->spec.task_id = strdup(i == 2 ? "t2" : "t1");
                free(sb->spec.tenant);
                sb->spec.tenant = strdup(i == 0 ? "a" : "b");
                end(&x, sb);
        }
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
                check_near(kinds[i], cost_number(&x, kinds[i], NULL, "cost", &n), 3 * (3 * 2 + 0.5));
                check_uint(kinds[i], n, expected[i]);
                check_near(kinds[i], cost_number(&x, kinds[i], NULL, "cpuSeconds", &n), 9);
        }
        check_near("one tenant's", cost_number(&x, "sandbox", "a", "cpuSeconds", &n), 3);
        check_uint("one tenant's", n, 1);
        check_near("nobody's", cost_number(&x, "tenant", "c", "cpuSeconds", &n), 0);
        watched_again(&x); /* prices are those of today */
        x.w.settings->cost.per_cpu_second = 1;
        check_near("kept", cost_number(&x, "agentType", NULL, "cost", &n), 9);
        check_result("by nonsense", observe_cost_json(x.o, "colour", 0, 1, NULL, 1, &body, &error), -EINVAL);
        /* Records go, sums stay. */
        check_result("trim", store_usage_trim(x.w.store, clock_wall_usec() + 1, 100), 0);
        check_near("records", cost_number(&x, "sandbox", NULL, "cpuSeconds", &n), 0);
        check_near("sums", cost_number(&x, "tenant", NULL, "cpuSeconds", &n), 9);
        watched_close(&x);
}

/* One question looks at so many records at most: of those that it is about. */
TEST(101_what_others_used_hides_nothing_of_a_tenants_own) {
        UsageRow row = { .sandbox = "s", .tenant = (char *) "a", .cpu_usec = 3 * USEC_PER_SEC, .basis = "peak" };
        Watched x;
        size_t n;

        watched_new(&x, "cost-crowd");
        row.started_at = clock_wall_usec() - 10 * USEC_PER_SEC;
        row.ended_at = row.started_at + USEC_PER_SEC;
        check_result("begin", store_begin(x.w.store), 0);
        check_result("its own", store_usage_add(x.w.store, &row), 0);
        row.tenant = (char *) "b";
        row.ended_at += USEC_PER_SEC;
        for (unsigned i = 0; i < 20000; i++)
                assert_int_equal(store_usage_add(x.w.store, &row), 0);
        check_result("commit", store_commit(x.w.store), 0);
        check_near("its own", cost_number(&x, "task", "a", "cpuSeconds", &n), 3);
        watched_close(&x);
}

TEST(memory_is_integrated_from_samples) {
        const usec_t second = USEC_PER_SEC; /* its life is long: what this takes does not count */
        Note n = { .born = 10 * second };
        Sandbox sb = { .spec.limits = { .memory_bytes = 100, .cpu_milli = 500 }, .created_at = clock_wall_usec() - 2000 * second };
        SandboxUsage low = { .has_memory = true, .memory_bytes = 50, .memory_peak_bytes = 90, .has_cpu = true, .cpu_usec = second };
        SandboxUsage high = low;
        const char *basis;

        check_near("gone before the first look: the peak", note_byte_seconds(&n, &sb, &low, 0, &basis), 90 * 2000);
        check_string("basis", basis, "peak");
        note_sampled(&n, &sb, &low, 14 * second); /* 4 s at 50 */
        high.memory_bytes = 100;
        high.cpu_usec = 2 * second;
        note_sampled(&n, &sb, &high, 18 * second); /* 4 s from 50 to 100 */
        check_near("mean of what was seen, over its life", note_byte_seconds(&n, &sb, &high, 0, &basis), (4 * 50 + 4 * 75) / 8.0 * 2000);
        check_string("basis", basis, "sampled");
        check_near("share of memory", n.memory_share, 1);
        check_near("share of the CPU quota", n.cpu_share, 0.5);
        check_near("nothing is known: the limit", note_byte_seconds(NULL, &sb, &(SandboxUsage) { 0 }, 0, &basis), 100 * 2000);
        check_string("basis", basis, "limit");
        free(n.moments);
}

/* 106: recommendations out of quantiles. */
TEST(106_recommendations) {
        SandboxLimits limits = { .memory_bytes = UINT64_C(512) << 20, .cpu_milli = 2000 };
        Watched x;

        watched_new(&x, "recommend");
        for (unsigned i = 0; i < 19; i++)
                metric_observe(x.o, METRIC_MEMORY_PEAK, "testing", 100 << 20);
        x.w.settings->prediction.automatic = true;
        check_int("too few", observe_recommended(x.o, "TESTING", &limits), 0);
        metric_observe(x.o, METRIC_MEMORY_PEAK, "testing", 100 << 20);
        metric_observe(x.o, METRIC_CPU_CORES, "testing", 0.5);
        check_int("enough", observe_recommended(x.o, "TESTING", &limits), 1);
        check_uint("memory, in steps of 16 MiB", limits.memory_bytes >> 20, 128);
        check_true("cores with margin", limits.cpu_milli >= 600 && limits.cpu_milli <= 700);
        limits = (SandboxLimits) { .memory_bytes = 64 << 20, .cpu_milli = 100 };
        check_int("never above the profile", observe_recommended(x.o, "testing", &limits), 0);
        check_uint("memory", limits.memory_bytes, 64 << 20);
        x.w.settings->prediction.automatic = false;
        limits.memory_bytes = UINT64_C(512) << 20;
        check_int("not asked for", observe_recommended(x.o, "testing", &limits), 0);
        watched_close(&x);
}

/* A6 74 and the limit of this project, which is a tenth of it: all hooks of one execution, with its request and its transactions. */
TEST(074_overhead_of_one_execution) {
        enum { ROUNDS = 20, EACH = 100, TRANSACTIONS = 4 };
        Watched x;
        Sandbox *sb;
        Execution *e;
        usec_t least = USEC_INFINITY; /* of the rounds: in one of them the machine may stand still */
        double each;

        watched_new(&x, "overhead");
        sb = agent(&x, "implementation");
        e = start(sb, "true");
        tell_exit(&x.w, sb, e->number, 0);
        for (unsigned round = 0; round < ROUNDS; round++) {
                usec_t began = clock_usec();

                for (unsigned i = 0; i < EACH; i++) {
                        observe_execution_started(e);
                        for (unsigned k = 0; k < TRANSACTIONS; k++)
                                metric_observe(x.o, METRIC_STORE_SECONDS, NULL, 0.00001 * i);
                        observe_step(x.w.manager, STEP_EXEC, sb, e, 0, (round * EACH + i) * 37);
                        observe_execution_ended(e);
                        observe_http(x.o, "POST /api/sandbox/{id}/exec", 200, (round * EACH + i) * 41);
                }
                least = MIN_OF(least, clock_usec() - began);
        }
        each = (double) least / EACH;
        printf("monitoring costs %.2f us per execution\n", each);
        check_true("less than 1 ms", each < 1000);
        watched_close(&x);
}
