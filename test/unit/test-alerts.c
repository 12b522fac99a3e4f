/* The alert engine: signals and time are given, decisions are looked at. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/secret.h"
#include "observe/alert-engine.h"
#include "store/store.h"
#include "unit.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define WALL   ((usec_t) 1700000000 * SECOND)

typedef struct World {
        double signals[_SIGNAL_MAX];
        AlertsConfig config;
        AlertNow now;
        AlertEngine *engine;
        Store *store;
        char told[8192]; /* "fired:name " … */
} World;

static double read_signal(Signal s, void *userdata) {
        return ((World *) userdata)->signals[s];
}

static void tell(const Alert *a, AlertNews news, void *userdata) {
        World *w = userdata;
        size_t n = strlen(w->told);

        (void) snprintf(w->told + n, sizeof(w->told) - n, "%s:%s:%s ", shape_name(&alert_news_names, (int) news), alert_severity_name(a->severity),
                        a->row.name);
}

static void world_engine(World *w) {
        const AlertHooks hooks = { read_signal, tell, w };

        assert_int_equal(alert_engine_new(w->store, &hooks, w->now, &w->engine, NULL), 0);
}

static void world_init(World *w) {
        *w = (World) {
                .config = { .preset = ALERT_PRESET_MONOTASK, .enabled = true, .interval_usec = 10 * SECOND, .cooldown_usec = HOUR },
                .now = { 5 * MINUTE, WALL },
        };
        assert_true(secret_init() >= 0);
        for (Signal s = 0; s < _SIGNAL_MAX; s++)
                w->signals[s] = NAN;
        world_engine(w);
}

static void world_with_store(World *w, const char *name) {
        Error error = { 0 };

        world_init(w);
        alert_engine_free(w->engine);
        check_result(error.text, store_open(unit_path(name), &w->store, &error), 0);
        world_engine(w);
}

static void world_restart(World *w, usec_t pause, int64_t wall_jump) {
        alert_engine_free(w->engine);
        w->now.mono += pause;
        w->now.wall += pause + (usec_t) wall_jump;
        world_engine(w);
}

static void world_done(World *w) {
        alert_engine_free(w->engine);
        store_close(w->store);
}

/* Looks at once, then every interval until so much time has passed. */
static void pass(World *w, usec_t time) {
        alert_engine_evaluate(w->engine, &w->config, w->now);
        for (usec_t t = 0; t < time; t += w->config.interval_usec) {
                w->now.mono += w->config.interval_usec;
                w->now.wall += w->config.interval_usec;
                alert_engine_evaluate(w->engine, &w->config, w->now);
        }
}

#define check_told(w, expected)                                                                              \
        do {                                                                                                 \
                check_string("told", (w)->told, expected);                                                   \
                (w)->told[0] = 0;                                                                            \
        } while (0)

static Alert *newest(World *w, const char *name) {
        Alert *first = alert_engine_newest(w->engine);

        for (Alert *a = first; a; a = a->prev != first ? a->prev : NULL)
                if (strcmp(a->row.name, name) == 0)
                        return a;
        return NULL;
}

static Alert *must(World *w, const char *name) {
        Alert *a = newest(w, name);

        if (!a) {
                check_true(name, a != NULL);
                abort(); /* for the compiler */
        }
        return a;
}

static AlertStatus status_of(World *w, const char *name) {
        const Alert *a = newest(w, name);

        return a ? a->status : _ALERT_STATUS_MAX;
}

static void override(World *w, AlertOverride *o) {
        w->config.overrides = o;
        w->config.n_overrides = 1;
}

/* Which rule fires for a value of a signal, by itself, and which does not for the value of its threshold. */
static void check_rule(const char *name, Signal signal, AlertSeverity severity, double threshold, usec_t sustained) {
        char expected[128];
        World w;

        world_init(&w);
        w.signals[signal] = threshold;
        pass(&w, sustained + 30 * SECOND);
        check_int(name, status_of(&w, name), _ALERT_STATUS_MAX);

        w.told[0] = 0;
        w.signals[signal] = threshold * 1.001 + 1e-6;
        if (sustained > 0) {
                pass(&w, sustained - 10 * SECOND);
                check_int(name, status_of(&w, name), ALERT_PENDING);
                pass(&w, 10 * SECOND);
        } else
                pass(&w, 0);
        check_int(name, status_of(&w, name), ALERT_FIRING);
        (void) snprintf(expected, sizeof(expected), "fired:%s:%s ", alert_severity_name(severity), name);
        check_part(name, w.told, expected);
        world_done(&w);
}

TEST(rules_062_to_066) {
        check_rule("failure_rate_critical", SIGNAL_FAILURE_RATE, SEVERITY_CRITICAL, 0.25, 0);
        check_rule("sandbox_stuck", SIGNAL_STUCK, SEVERITY_CRITICAL, 0, 0);
        check_rule("failure_rate_warning", SIGNAL_FAILURE_RATE, SEVERITY_WARNING, 0.10, 0);
        check_rule("sandbox_orphaned", SIGNAL_ORPHANED, SEVERITY_WARNING, 3, 0);
        check_rule("sandbox_active_high", SIGNAL_ACTIVE, SEVERITY_WARNING, 50, 0);
}

TEST(rules_114_115) {
        check_rule("sandbox_timeout_high", SIGNAL_TIMEOUT_RATE, SEVERITY_WARNING, 0.05, 0);
        check_string("title", alert_rule_find("sandbox_timeout_high")->title, "High Sandbox Timeout Rate");
        check_rule("sandbox_leak_detected", SIGNAL_ACTIVE, SEVERITY_CRITICAL, 20, 0);
        check_string("title", alert_rule_find("sandbox_leak_detected")->title, "Sandbox Leak Detected");
}

/* The numbers of the requirements are the preset's; a machine has its own, in proportion to its size. */
static void check_scaled(const char *name, Signal signal, Signal of, double whole, double threshold, usec_t sustained) {
        World w;

        world_init(&w);
        w.config.preset = ALERT_PRESET_MACHINE;
        w.signals[of] = whole;
        w.signals[signal] = threshold;
        pass(&w, sustained + MINUTE);
        check_int(name, status_of(&w, name), _ALERT_STATUS_MAX);
        w.signals[signal] = threshold + 1;
        pass(&w, sustained > 0 ? sustained - 10 * SECOND : 0);
        check_int(name, status_of(&w, name), sustained > 0 ? ALERT_PENDING : ALERT_FIRING);
        pass(&w, 20 * SECOND);
        check_int(name, status_of(&w, name), ALERT_FIRING);
        check_true(name, fabs(must(&w, name)->row.threshold - threshold) < 1e-9);
        w.signals[of] = NAN; /* no data: the rule says nothing, and what fires goes on firing for a while */
        w.signals[signal] = NAN;
        pass(&w, 4 * MINUTE);
        check_int(name, status_of(&w, name), ALERT_FIRING);
        world_done(&w);

        world_init(&w);
        w.config.preset = ALERT_PRESET_MACHINE;
        w.signals[signal] = 1e9;
        pass(&w, sustained + MINUTE);
        check_int(name, status_of(&w, name), _ALERT_STATUS_MAX);
        world_done(&w);
}

TEST(thresholds_scale_with_the_machine) {
        static const struct {
                const char *name;
                Signal signal, of;
                usec_t sustained;
                double whole[3], threshold[3];
        } cases[] = {
                { "sandbox_stuck",         SIGNAL_STUCK,           SIGNAL_ACTIVE, 0,          { 3, 250, 10000 },  { 0, 2, 100 }          },
                { "sandbox_orphaned",      SIGNAL_ORPHANED,        SIGNAL_ACTIVE, 0,          { 3, 450, 10000 },  { 3, 4, 100 }          },
                { "sandbox_unhealthy",     SIGNAL_UNHEALTHY,       SIGNAL_ACTIVE, MINUTE,     { 3, 250, 10000 },  { 0, 2, 100 }          },
                { "sandbox_active_high",   SIGNAL_ACTIVE,          SIGNAL_CAP,    5 * MINUTE, { 8, 800, 10000 },  { 7, 720, 9000 }       },
                { "sandbox_leak_detected", SIGNAL_UNUSED,          SIGNAL_CAP,    5 * MINUTE, { 4, 800, 10000 },  { 3, 400, 5000 }       },
                { "SandboxTimeout",        SIGNAL_UNUSED,          SIGNAL_CAP,    0,          { 8, 800, 10000 },  { 3, 200, 2500 }       },
                { "HighMemoryUsage",       SIGNAL_SHORT_OF_MEMORY, SIGNAL_ACTIVE, 5 * MINUTE, { 3, 100, 10000 },  { 1, 25, 2500 }        },
                { "CPUSaturation",         SIGNAL_SHORT_OF_CPU,    SIGNAL_ACTIVE, 2 * MINUTE, { 1, 100, 10000 },  { 1, 50, 5000 }        },
                { "queue_processing_slow", SIGNAL_QUEUE_DEPTH,     SIGNAL_CAP,    5 * MINUTE, { 8, 800, 10000 },  { 20, 200, 2500 }      },
                { "queue_backup",          SIGNAL_QUEUE_DEPTH,     SIGNAL_CAP,    5 * MINUTE, { 8, 800, 10000 },  { 100, 600, 7500 }     },
                { "security_violation",    SIGNAL_REFUSED_CALLS,   SIGNAL_ACTIVE, 0,          { 3, 800, 10000 },  { 10, 80, 1000 }       },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (size_t k = 0; k < 3; k++)
                        check_scaled(cases[i].name, cases[i].signal, cases[i].of, cases[i].whole[k], cases[i].threshold[k], cases[i].sustained);
}

/* Busy, with some sandboxes of each kind that one of a thousand may be; and the same for a small one. */
TEST(a_healthy_machine_has_no_alert) {
        static const struct {
                double cap, active, queue, stuck, memory, cpu, unused, refused;
        } machines[] = { { 10000, 8900, 900, 9, 890, 4000, 2000, 600 }, { 64, 50, 10, 0, 3, 20, 15, 9 }, { 8, 2, 1, 0, 1, 1, 1, 3 } };

        for (size_t i = 0; i < ELEMENTSOF(machines); i++) {
                World w;

                world_init(&w);
                w.config.preset = ALERT_PRESET_MACHINE;
                w.signals[SIGNAL_CAP] = machines[i].cap;
                w.signals[SIGNAL_ACTIVE] = machines[i].active;
                w.signals[SIGNAL_QUEUE_DEPTH] = machines[i].queue;
                w.signals[SIGNAL_STUCK] = w.signals[SIGNAL_UNHEALTHY] = w.signals[SIGNAL_ORPHANED] = machines[i].stuck;
                w.signals[SIGNAL_SHORT_OF_MEMORY] = machines[i].memory;
                w.signals[SIGNAL_SHORT_OF_CPU] = machines[i].cpu;
                w.signals[SIGNAL_UNUSED] = machines[i].unused;
                w.signals[SIGNAL_REFUSED_CALLS] = machines[i].refused;
                w.signals[SIGNAL_SECURITY_EVENTS] = 1e6; /* untrusted code that looks for a way out */
                w.signals[SIGNAL_SANDBOX_MEMORY_MAX] = w.signals[SIGNAL_SANDBOX_CPU_MAX] = 1;
                w.signals[SIGNAL_SANDBOX_IDLE_MAX] = 86400;
                pass(&w, HOUR);
                check_told(&w, "");
                check_true("none", !alert_engine_newest(w.engine));
                world_done(&w);
        }
}

TEST(108_how_many_timeouts_are_many) {
        AlertsConfig config = { .preset = ALERT_PRESET_MACHINE };

        check_uint("few", (uint64_t) alert_timeouts_many(&config, 5), 3);
        check_uint("not known", (uint64_t) alert_timeouts_many(&config, NAN), 3);
        check_uint("many", (uint64_t) alert_timeouts_many(&config, 10000), 100);
        config.preset = ALERT_PRESET_MONOTASK;
        check_uint("fixed", (uint64_t) alert_timeouts_many(&config, 10000), 3);
}

TEST(a_threshold_that_is_written_down_counts) {
        AlertOverride o = { .name = "sandbox_active_high", .said = 1 << OVERRIDE_THRESHOLD, .threshold = 30 };
        World w;

        world_init(&w);
        w.config.preset = ALERT_PRESET_MACHINE;
        w.signals[SIGNAL_CAP] = 800;
        w.signals[SIGNAL_ACTIVE] = 31;
        override(&w, &o);
        pass(&w, 6 * MINUTE);
        check_told(&w, "fired:warning:sandbox_active_high ");
        check_string("text", must(&w, "sandbox_active_high")->row.text, "active is 31, above 30");
        world_done(&w);
}

TEST(rules_189_to_192) {
        check_rule("elevated_error_rate", SIGNAL_HTTP_ERROR_RATE, SEVERITY_WARNING, 0.01, 5 * MINUTE);
        check_rule("critical_error_rate", SIGNAL_HTTP_ERROR_RATE, SEVERITY_CRITICAL, 0.05, 5 * MINUTE);
        check_rule("queue_processing_slow", SIGNAL_QUEUE_DEPTH, SEVERITY_WARNING, 100, 5 * MINUTE);
        check_rule("queue_backup", SIGNAL_QUEUE_DEPTH, SEVERITY_CRITICAL, 500, 5 * MINUTE);
        check_rule("queue_latency_high", SIGNAL_QUEUE_P95, SEVERITY_WARNING, 5, 5 * MINUTE);
        check_rule("slow_database_queries", SIGNAL_STORE_P95, SEVERITY_WARNING, 0.1, 0);
        check_rule("d1_query_latency_high", SIGNAL_STORE_P95, SEVERITY_CRITICAL, 0.5, 0);
        check_rule("worker_timeout_high", SIGNAL_HTTP_TIMEOUT_RATE, SEVERITY_WARNING, 0.02, 0);
        check_rule("request_timeout_elevated", SIGNAL_HTTP_TIMEOUT_RATE, SEVERITY_CRITICAL, 0.10, 0);
}

TEST(rules_293) {
        check_rule("HighMemoryUsage", SIGNAL_SANDBOX_MEMORY_MAX, SEVERITY_WARNING, 0.88, 5 * MINUTE);
        check_rule("CPUSaturation", SIGNAL_SANDBOX_CPU_MAX, SEVERITY_WARNING, 0.90, 2 * MINUTE);
        check_rule("SandboxTimeout", SIGNAL_SANDBOX_IDLE_MAX, SEVERITY_WARNING, 3600, 0);
}

TEST(rules_399_to_402) {
        check_rule("execution_error_rate", SIGNAL_FAILURE_RATE, SEVERITY_WARNING, 0.05, 5 * MINUTE);
        check_rule("failures_by_timeout", SIGNAL_TIMEOUTS_OF_FAILURES, SEVERITY_WARNING, 0.10, 0);
        check_rule("pool_exhaustion", SIGNAL_POOL_WAIT, SEVERITY_WARNING, 30, 0);
        check_rule("security_violation", SIGNAL_SECURITY_EVENTS, SEVERITY_WARNING, 0, 0);
}

TEST(rules_of_the_daemon_055_187) {
        check_rule("cleanup_late", SIGNAL_SWEEP_LATENESS, SEVERITY_CRITICAL, 60, 0);
        check_rule("cleanup_failing", SIGNAL_SWEEP_FAILURE_RATE, SEVERITY_CRITICAL, 0.5, 0);
        check_rule("cleanup_failures", SIGNAL_CLEANUP_FAILURES, SEVERITY_WARNING, 0, 0);
        check_rule("disk_nearly_full", SIGNAL_DISK_USAGE, SEVERITY_CRITICAL, 0.9, MINUTE);
        check_rule("memory_pressure", SIGNAL_MEMORY_USAGE, SEVERITY_WARNING, 0.9, MINUTE);
        check_rule("notification_failing", SIGNAL_DELIVERY_FAILURES, SEVERITY_WARNING, 0, 0);
        check_rule("dead_letters", SIGNAL_DEAD_LETTERS, SEVERITY_WARNING, 0, 0);
        check_rule("sandbox_unhealthy", SIGNAL_UNHEALTHY, SEVERITY_WARNING, 0, MINUTE);
}

TEST(table_is_whole) {
        const char *const *names = alert_rule_names();
        const AlertRule *rules;
        size_t n = alert_rules(&rules);

        for (size_t i = 0; i < n; i++) {
                check_string("in the list of names", names[i], rules[i].name);
                check_true("found is itself", alert_rule_find(rules[i].name) == &rules[i]);
                check_true("has words", rules[i].title[0] && rules[i].description[0] && rules[i].runbook[0]);
                check_true("fits", strlen(rules[i].name) <= ALERT_NAME_MAX);
        }
        check_true("ends", !names[n]);
}

TEST(severity_classes_108) {
        static const struct {
                const char *class;
                AlertSeverity severity;
        } cases[] = {
                { "database", SEVERITY_CRITICAL },   { "fatal", SEVERITY_CRITICAL },     { "repeated_timeout", SEVERITY_CRITICAL },
                { "syntax", SEVERITY_CRITICAL },     { "validation", SEVERITY_WARNING }, { "rate_limit", SEVERITY_WARNING },
                { "client", SEVERITY_WARNING },      { "whatever", SEVERITY_INFO },      { NULL, SEVERITY_INFO },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_int(cases[i].class ? cases[i].class : "none", alert_rule_of_error(cases[i].class)->severity, cases[i].severity);
}

TEST(short_peaks_are_no_alert) {
        World w;

        world_init(&w);
        for (unsigned i = 0; i < 20; i++) {
                w.signals[SIGNAL_QUEUE_DEPTH] = 1000;
                pass(&w, 4 * MINUTE);
                check_int("pending", status_of(&w, "queue_backup"), ALERT_PENDING);
                w.signals[SIGNAL_QUEUE_DEPTH] = 0;
                pass(&w, 10 * SECOND);
                check_int("forgotten", status_of(&w, "queue_backup"), _ALERT_STATUS_MAX);
        }
        check_told(&w, "");
        world_done(&w);
}

/* Two looks an hour apart are not an hour above the threshold. */
TEST(sleep_does_not_count_as_sustained) {
        World w;

        world_init(&w);
        w.signals[SIGNAL_QUEUE_DEPTH] = 1000;
        pass(&w, 0);
        w.now.mono += HOUR;
        w.now.wall += HOUR;
        pass(&w, 0);
        check_int("pending", status_of(&w, "queue_backup"), ALERT_PENDING);
        world_done(&w);
}

TEST(cooldown_109) {
        World w;

        world_init(&w);
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, 59 * MINUTE);
        check_told(&w, "fired:critical:sandbox_stuck ");
        pass(&w, 2 * MINUTE);
        check_told(&w, "repeated:critical:sandbox_stuck ");
        pass(&w, 58 * MINUTE);
        check_told(&w, "");

        w.signals[SIGNAL_STUCK] = 0;
        pass(&w, MINUTE);
        check_told(&w, "resolved:critical:sandbox_stuck ");
        check_int("resolved", status_of(&w, "sandbox_stuck"), ALERT_RESOLVED);
        pass(&w, 5 * HOUR);
        check_told(&w, "");
        world_done(&w);
}

/* Back within the cooldown: nobody is told again, neither of its beginning nor of its end; but if it stays, it is told. */
TEST(flapping_is_told_once) {
        World w;

        world_init(&w);
        for (unsigned i = 0; i < 10; i++) {
                w.signals[SIGNAL_STUCK] = 1;
                pass(&w, MINUTE);
                w.signals[SIGNAL_STUCK] = 0;
                pass(&w, MINUTE);
        }
        check_told(&w, "fired:critical:sandbox_stuck resolved:critical:sandbox_stuck ");
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, HOUR);
        check_told(&w, "fired:critical:sandbox_stuck ");
        world_done(&w);
}

TEST(no_data_is_not_good_news) {
        World w;

        world_init(&w);
        w.signals[SIGNAL_FAILURE_RATE] = 0.2;
        pass(&w, MINUTE);
        w.signals[SIGNAL_FAILURE_RATE] = NAN;
        pass(&w, 4 * MINUTE);
        check_int("goes on", status_of(&w, "failure_rate_warning"), ALERT_FIRING);
        w.signals[SIGNAL_FAILURE_RATE] = 0.2;
        pass(&w, MINUTE);
        w.signals[SIGNAL_FAILURE_RATE] = NAN;
        pass(&w, 4 * MINUTE);
        check_int("counts anew", status_of(&w, "failure_rate_warning"), ALERT_FIRING);
        pass(&w, 2 * MINUTE);
        check_int("the window is empty", status_of(&w, "failure_rate_warning"), ALERT_RESOLVED);
        world_done(&w);
}

TEST(acknowledged_is_not_repeated) {
        World w;
        Alert *a;

        world_init(&w);
        w.signals[SIGNAL_STUCK] = 2;
        w.signals[SIGNAL_QUEUE_DEPTH] = 200;
        pass(&w, 0);
        a = must(&w, "queue_processing_slow");
        check_result("pending", alert_engine_acknowledge(w.engine, a, w.now, "me", NULL), -ESTALE);
        a = must(&w, "sandbox_stuck");
        check_result("firing", alert_engine_acknowledge(w.engine, a, w.now, "me", "looking"), 0);
        check_result("again", alert_engine_acknowledge(w.engine, a, w.now, NULL, "found"), 0);
        check_string("by", a->row.acknowledged_by, "me");
        check_string("note", a->row.note, "found");
        check_told(&w, "fired:critical:sandbox_stuck acknowledged:critical:sandbox_stuck ");
        w.signals[SIGNAL_QUEUE_DEPTH] = 0;
        pass(&w, 3 * HOUR);
        check_told(&w, "");
        w.signals[SIGNAL_STUCK] = 0;
        pass(&w, 0);
        check_told(&w, "resolved:critical:sandbox_stuck ");
        check_result("over", alert_engine_acknowledge(w.engine, a, w.now, "me", NULL), -ESTALE);
        world_done(&w);
}

TEST(overrides_109_K3) {
        AlertOverride o = { .name = "sandbox_leak_detected", .said = 1 << OVERRIDE_THRESHOLD, .threshold = 500 };
        World w;

        world_init(&w);
        override(&w, &o);
        w.signals[SIGNAL_ACTIVE] = 45;
        pass(&w, MINUTE);
        check_told(&w, "");
        w.signals[SIGNAL_ACTIVE] = 60;
        pass(&w, MINUTE);
        check_told(&w, "fired:warning:sandbox_active_high ");
        w.signals[SIGNAL_ACTIVE] = 501;
        o.said |= 1 << OVERRIDE_SEVERITY | 1 << OVERRIDE_SUSTAINED;
        o.severity = SEVERITY_INFO;
        o.sustained_usec = 2 * MINUTE;
        pass(&w, MINUTE);
        check_told(&w, "");
        pass(&w, MINUTE);
        check_told(&w, "fired:info:sandbox_leak_detected ");
        o.said |= 1 << OVERRIDE_ENABLED;
        o.enabled = false;
        pass(&w, 0);
        check_told(&w, "resolved:info:sandbox_leak_detected ");
        pass(&w, HOUR);
        check_int("stays so", status_of(&w, "sandbox_leak_detected"), ALERT_RESOLVED);
        world_done(&w);
}

static int raise_event(World *w, const char *sandbox) {
        return alert_engine_raise(w->engine, &w->config, w->now, "sandbox_event_timeout", SEVERITY_WARNING, sandbox, "{}", "text");
}

TEST(events_are_kept_each_and_told_once) {
        World w;
        Alert *a;

        world_init(&w);
        check_result("raise", raise_event(&w, "a"), 0);
        check_result("raise", raise_event(&w, "b"), 0);
        check_result("raise", raise_event(&w, "a"), 0);
        check_told(&w, "fired:warning:sandbox_event_timeout ");
        a = must(&w, "sandbox_event_timeout");
        check_string("b has its own", a->row.subject, "b");
        check_uint("so often", a->prev->row.count, 2);
        check_result("measured", alert_engine_raise(w.engine, &w.config, w.now, "sandbox_stuck", SEVERITY_INFO, NULL, NULL, NULL), -EINVAL);

        pass(&w, 59 * MINUTE);
        check_int("still there", status_of(&w, "sandbox_event_timeout"), ALERT_FIRING);
        pass(&w, 2 * MINUTE);
        check_int("over", status_of(&w, "sandbox_event_timeout"), ALERT_RESOLVED);
        check_told(&w, "resolved:warning:sandbox_event_timeout "); /* of the one that was told */
        check_result("raise", raise_event(&w, "a"), 0);
        check_told(&w, "fired:warning:sandbox_event_timeout ");
        world_done(&w);
}

TEST(events_are_bounded) {
        World w;
        unsigned n = 0;
        Alert *first;

        world_init(&w);
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, 0);
        check_result("raise", alert_engine_raise(w.engine, &w.config, w.now, "cleanup_blind", SEVERITY_CRITICAL, NULL, NULL, "blind"), 0);
        for (unsigned i = 0; i < 3 * ALERTS_KEPT_MAX; i++) {
                char name[16];

                (void) snprintf(name, sizeof(name), "s%u", i);
                check_result("raise", raise_event(&w, name), 0);
        }
        first = alert_engine_newest(w.engine);
        for (Alert *a = first; a; a = a->prev != first ? a->prev : NULL)
                n++;
        check_uint("kept", n, ALERTS_KEPT_MAX);
        check_int("a rule that fires stays", status_of(&w, "sandbox_stuck"), ALERT_FIRING);
        check_int("many small ones hide no great one", status_of(&w, "cleanup_blind"), ALERT_FIRING);
        world_done(&w);
}

TEST(restart_keeps_state_and_cooldown) {
        World w;
        Alert *a;

        world_with_store(&w, "restart.db");
        w.signals[SIGNAL_STUCK] = 1;
        w.signals[SIGNAL_QUEUE_DEPTH] = 200;
        pass(&w, 4 * MINUTE);
        a = must(&w, "sandbox_stuck");
        check_result("ack", alert_engine_acknowledge(w.engine, a, w.now, "me", "note"), 0);
        check_result("event", raise_event(&w, "box"), 0);
        w.told[0] = 0;

        world_restart(&w, 10 * SECOND, 0);
        check_int("acknowledged", status_of(&w, "sandbox_stuck"), ALERT_ACKNOWLEDGED);
        a = must(&w, "sandbox_stuck");
        check_string("note", a->row.note, "note");
        check_int("event", status_of(&w, "sandbox_event_timeout"), ALERT_FIRING);
        check_int("pending", status_of(&w, "queue_processing_slow"), ALERT_PENDING);
        pass(&w, MINUTE); /* the four minutes before count */
        check_told(&w, "fired:warning:queue_processing_slow ");
        check_result("event", raise_event(&w, "other"), 0);
        check_told(&w, ""); /* within the cooldown */

        w.signals[SIGNAL_STUCK] = 0;
        world_restart(&w, 10 * SECOND, 0);
        pass(&w, 0);
        check_told(&w, "resolved:critical:sandbox_stuck ");
        world_restart(&w, 10 * SECOND, 0);
        check_int("resolved", status_of(&w, "sandbox_stuck"), ALERT_RESOLVED);
        world_done(&w);
}

TEST(clock_jumps_do_not_silence) {
        World w;

        world_with_store(&w, "jumps.db");
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, MINUTE);
        check_told(&w, "fired:critical:sandbox_stuck ");
        w.now.wall -= 1000 * HOUR; /* while it runs: nobody looks at the calendar */
        pass(&w, HOUR);
        check_told(&w, "repeated:critical:sandbox_stuck ");

        world_restart(&w, 10 * SECOND, -(int64_t) (24 * HOUR)); /* told tomorrow */
        pass(&w, HOUR - MINUTE);
        check_told(&w, "");
        pass(&w, 2 * MINUTE);
        check_told(&w, "repeated:critical:sandbox_stuck ");

        world_restart(&w, 10 * SECOND, (int64_t) (24 * HOUR));
        pass(&w, 0);
        check_told(&w, "repeated:critical:sandbox_stuck ");
        world_done(&w);
}

/* An alert must get through when the store does not work: that may be what it is about. */
TEST(store_failure_does_not_matter) {
        struct rlimit limit, none;
        int last;
        World w;

        world_with_store(&w, "broken.db");
        (void) signal(SIGXFSZ, SIG_IGN);
        check_result("limit", getrlimit(RLIMIT_FSIZE, &limit), 0);
        none = (struct rlimit) { 0, limit.rlim_max };
        check_result("no file may grow", setrlimit(RLIMIT_FSIZE, &none), 0);
        check_true("the store fails", store_counter_set(w.store, "x", 1) < 0);
        check_uint("and says so", store_failures(w.store, &last), 1);
        check_true("how", last == -EIO || last == -ENOSPC);
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, 0);
        check_told(&w, "fired:critical:sandbox_stuck ");
        w.signals[SIGNAL_STUCK] = 0;
        pass(&w, 0);
        check_told(&w, "resolved:critical:sandbox_stuck ");
        w.signals[SIGNAL_STUCK] = 1;
        pass(&w, 0);
        check_result("as before", setrlimit(RLIMIT_FSIZE, &limit), 0);
        pass(&w, HOUR);
        check_told(&w, "fired:critical:sandbox_stuck ");
        world_restart(&w, SECOND, 0);
        check_int("is written when it can be", status_of(&w, "sandbox_stuck"), ALERT_FIRING);
        world_done(&w);
}
