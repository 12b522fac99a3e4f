/* health.c: one word for the daemon's state, and the numbers behind it: GET /api/sandbox/health.
 *
 * The targets are those of the operators' guide. A missed target is reported, and does not make the daemon unhealthy. */

#include <math.h>
#include <string.h>

#include "core/admission.h"
#include "core/home.h"
#include "core/provider.h"
#include "observe/alert-rules.h"
#include "observe/internal.h"

typedef struct Condition {
        Signal signal;
        double above;
        const char *text;
        const char *rule; /* the alert whose threshold counts, as the configuration has it; NULL: above */
} Condition;

static const Condition unhealthy[] = {
        { SIGNAL_FAILURE_RATE,       0.25, "more than a quarter of the sandboxes of the last hour failed" },
        { SIGNAL_STUCK,              0,    "sandboxes are stuck", "sandbox_stuck"                           },
        { SIGNAL_DISK_USAGE,         0.98, "the disk is full"                                              },
        { SIGNAL_SWEEP_FAILURE_RATE, 0.5,  "the cleaners fail"                                             },
};

static const Condition degraded[] = {
        { SIGNAL_FAILURE_RATE,      0.10, "more than a tenth of the sandboxes of the last hour failed" },
        { SIGNAL_TIMEOUT_RATE,      0.10, "more than a tenth of the sandboxes of the last hour timed out" },
        { SIGNAL_ORPHANED,          3,    "sandboxes are orphaned", "sandbox_orphaned"                    },
        { SIGNAL_UNHEALTHY,         0,    "sandboxes do not answer", "sandbox_unhealthy"                  },
        { SIGNAL_SWEEP_LATENESS,    60,   "the sweeper is late"                                           },
        { SIGNAL_HTTP_ERROR_RATE,   0.05, "the daemon answers with errors"                                },
        { SIGNAL_POOL_WAIT,         30,   "callers wait for a sandbox"                                    },
        { SIGNAL_DISK_USAGE,        0.90, "the disk is nearly full"                                       },
        { SIGNAL_DEPOT_USAGE,       0.95, "templates, snapshots and volumes use nearly all of the depot"  },
        { SIGNAL_DEAD_LETTERS,      0,    "agent executions have failed for good"                           },
        { SIGNAL_DELIVERY_FAILURES, 0,    "notifications could not be delivered"                          },
};

static double health_read(Signal s, void *userdata) {
        return observe_signal(userdata, s);
}

static double condition_limit(Observe *o, const Condition *c) {
        const AlertRule *rule = c->rule ? alert_rule_find(c->rule) : NULL;

        return rule ? alert_rule_effective(rule, &o->manager->settings->alerts, health_read, o).measure.threshold : c->above;
}

static bool add_reasons(Observe *o, const Condition *conditions, size_t n, json_t *reasons) {
        bool any = false;

        for (size_t i = 0; i < n; i++) {
                double value = observe_signal(o, conditions[i].signal), limit = condition_limit(o, &conditions[i]);

                if (!(value > limit)) /* also if one of them is NAN */
                        continue;
                (void) json_array_append_new(reasons, json_pack("{s:s,s:f,s:f,s:s}", "signal", signal_name(conditions[i].signal),
                                "value", value, "limit", limit, "text", conditions[i].text));
                any = true;
        }
        return any;
}

/* Problems that were noticed and are not over (core/ailment.h). */
static bool add_ailments(const Observe *o, bool ill, json_t *reasons) {
        usec_t now = clock_wall_usec();
        bool any = false;

        for (size_t i = 0; i < AILMENTS_MAX; i++) {
                const Ailment *a = &o->manager->ailments[i];

                if (!a->name || a->ill != ill)
                        continue;
                (void) json_array_append_new(reasons, json_pack("{s:s,s:f,s:f,s:s,s:o}", "signal", a->name,
                                "value", now > a->since ? (double) (now - a->since) / USEC_PER_SEC : 0.0, "limit", 0.0, "text", a->text, "since", json_time(a->since)));
                any = true;
        }
        return any;
}

typedef struct Target {
        const char *name;
        double below;
        const char *unit;
        Signal signal;                        /* either a signal … */
        double (*read)(Observe *o, Metric m); /* … or, if there is none, this reader */
        Metric metric;
} Target;

static double health_oldest(Observe *o, Metric m) {
        uint64_t counts[16];
        usec_t age;

        count_ages(o, counts, &age);
        return (double) age / USEC_PER_SEC;
}

static double health_p95(Observe *o, Metric m) {
        ObserveSummary s;

        observe_summary(o, m, /* label= */ NULL, WINDOW_1H, &s);
        return s.p95;
}

/* A6 67–70, 72, 73; B4 179–183. */
static const Target targets[] = {
        { "activeTypical",     10,   "sandboxes", SIGNAL_ACTIVE                },
        { "activeNormalLoad",  5,    "sandboxes", SIGNAL_ACTIVE                },
        { "oldestSandbox",     600,  "seconds",   .read = health_oldest         },
        { "failureRate",       0.10, "ratio",     SIGNAL_FAILURE_RATE          },
        { "timeoutRate",       0.02, "ratio",     SIGNAL_TIMEOUT_RATE          },
        { "orphaned",          1,    "sandboxes", SIGNAL_ORPHANED              },
        { "stuck",             1,    "sandboxes", SIGNAL_STUCK                 },
        { "cleanupRunP95",     10,   "seconds",   .read = health_p95, .metric = METRIC_CLEANUP_RUN    },
        { "sweepLateness",     60,   "seconds",   SIGNAL_SWEEP_LATENESS        },
        { "provisionP95",      0.5,  "seconds",   .read = health_p95, .metric = METRIC_STEP_PROVISION },
        { "cleanupSandboxP95", 0.2,  "seconds",   .read = health_p95, .metric = METRIC_STEP_CLEANUP   },
        { "memoryUsage",       0.8,  "ratio",     SIGNAL_MEMORY_USAGE          },
        { "diskUsage",         0.8,  "ratio",     SIGNAL_DISK_USAGE            },
};

static double target_value(Observe *o, const Target *t) {
        return t->read ? t->read(o, t->metric) : observe_signal(o, t->signal);
}

static json_t *targets_json(Observe *o) {
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
                double value = target_value(o, &targets[i]);

                (void) json_array_append_new(list, json_pack("{s:s,s:f,s:o,s:s,s:o}", "name", targets[i].name,
                                "below", targets[i].below, "value", number_or_null(value), "unit", targets[i].unit,
                                "met", isnan(value) ? json_null() : json_boolean(value < targets[i].below)));
        }
        return list;
}

static json_t *observe_health_signals_json(Observe *o) {
        json_t *object = json_object();

        for (Signal s = 0; s < _SIGNAL_MAX; s++)
                (void) json_object_set_new(object, signal_name(s), number_or_null(observe_signal(o, s)));
        return object;
}

static json_t *count_json(Observe *o, Signal s) {
        double x = observe_signal(o, s);

        return isnan(x) ? json_integer(0) : json_integer((json_int_t) x);
}

static json_t *from_hook(ObserveJson hook, void *userdata, json_t *otherwise) {
        json_t *j = hook ? hook(userdata) : NULL;

        if (!j)
                return otherwise;
        json_decref(otherwise);
        return j;
}

static json_t *depot_json(const Observe *o) {
        const ProviderRoom *room = o->manager->provider ? &o->manager->provider->room : NULL;

        return !room || room->bytes == 0 ? json_null() :
                                json_pack("{s:I,s:I,s:I}", "bytes", (json_int_t) room->bytes, "usedBytes", (json_int_t) room->used_bytes,
                                                "maxBytes", (json_int_t) room->most_bytes);
}

/* How many sandboxes may live, and what the machine has room for whatever the configuration says. */
static json_t *health_capacity_json(const Observe *o) {
        const Manager *m = o->manager;
        AdmissionStats s = { 0 };

        if (m->admission)
                admission_stats(m->admission, &s);
        return json_pack("{s:i,s:i,s:o,s:o}", "live", (int) s.live, "max", (int) s.cap, "machineMax", m->held_max > 0 ? json_integer(m->held_max) : json_null(),
                        "cure", json_text_or_null(m->held_max > 0 ? m->held_cure : NULL));
}

json_t *observe_health_json(Observe *o) {
        json_t *reasons = json_array();
        usec_t now = clock_wall_usec(), start = o->manager->started_at;
        bool ill = add_ailments(o, /* ill= */ true, reasons), weak = add_ailments(o, /* ill= */ false, reasons);

        ill = add_reasons(o, unhealthy, ELEMENTSOF(unhealthy), reasons) || ill;
        weak = add_reasons(o, degraded, ELEMENTSOF(degraded), reasons) || weak;

        return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:f}",
                        "status", ill ? "unhealthy" : weak ? "degraded" : "healthy",
                        "reasons", reasons,
                        "activeCount", count_json(o, SIGNAL_ACTIVE),
                        "stuckCount", count_json(o, SIGNAL_STUCK),
                        "orphanedCount", count_json(o, SIGNAL_ORPHANED),
                        "unhealthyCount", count_json(o, SIGNAL_UNHEALTHY),
                        "queueDepth", count_json(o, SIGNAL_QUEUE_DEPTH),
                        "failureRate", number_or_null(observe_signal(o, SIGNAL_FAILURE_RATE)),
                        "timeoutRate", number_or_null(observe_signal(o, SIGNAL_TIMEOUT_RATE)),
                        "activeAlerts", from_hook(o->alerts, o->alerts_data, json_array()),
                        "sweeper", from_hook(o->sweeper, o->sweeper_data, json_null()),
                        "depot", depot_json(o),
                        "capacity", health_capacity_json(o),
                        "signals", observe_health_signals_json(o),
                        "targets", targets_json(o),
                        "at", json_time(now),
                        "incarnation", (json_int_t) (o->manager->home ? o->manager->home->incarnation : 0),
                        "uptimeSeconds", now > start ? (double) (now - start) / USEC_PER_SEC : 0.0);
}
