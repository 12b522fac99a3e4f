#include "daemon/reaper.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "json/json.h"
#include "observe/metric.h"
#include "observe/signal.h"

static void on_run(const CleanupReport *p, void *userdata) {
        Observe *o = userdata;
        const char *layer = cleanup_kind_name(p->kind);

        metric_add2(o, METRIC_CLEANUP_RUNS, layer, p->error[0] || p->counts.failed > 0 ? "failed" : "ok", 1);
        metric_observe(o, METRIC_CLEANUP_RUN, layer, (double) p->duration / (double) USEC_PER_SEC);
        for (size_t i = 0; i < cleanup_counts_shape.n_fields; i++) {
                const ShapeField *f = cleanup_counts_shape.fields + i;
                int64_t n = shape_get(f, &p->counts);

                if (n > 0 && strcmp(f->column, "found") != 0) /* in the words of the table of metrics */
                        metric_add2(o, METRIC_CLEANUP_ITEMS, layer, strcmp(f->column, "strays") == 0 ? "leaked" : f->column, (double) n);
        }
}

#define SOURCE(name)                                                                                         \
        static double read_##name(void *userdata) {                                                          \
                return reaper_##name(userdata);                                                              \
        }
SOURCE(lateness)
SOURCE(failure_rate)
SOURCE(item_failures)
SOURCE(stuck)
SOURCE(orphaned)
SOURCE(unhealthy)

static const struct {
        Signal signal;
        SignalRead read;
} sources[] = {
        { SIGNAL_SWEEP_LATENESS,     read_lateness      },
        { SIGNAL_SWEEP_FAILURE_RATE, read_failure_rate  },
        { SIGNAL_CLEANUP_FAILURES,   read_item_failures },
        { SIGNAL_STUCK,              read_stuck         },
        { SIGNAL_ORPHANED,           read_orphaned      },
        { SIGNAL_UNHEALTHY,          read_unhealthy     },
};

static json_t *sweeper_json(void *userdata) {
        const LayerStatus *l;
        ReaperStatus s;

        reaper_status(userdata, &s);
        l = &s.layers[CLEANUP_SWEEP];
        return json_pack("{s:b,s:o,s:o,s:o,s:o,s:b,s:o}", "healthy", s.faults == 0, "lastRun", json_time(l->last_at), "lastDurationMs",
                        json_real((double) l->last_duration / 1000), "lateSeconds", json_real((double) l->late / 1e6), "successRate",
                        isnan(l->success_rate) ? json_null() : json_real(l->success_rate), "running", l->running, "message",
                        json_text_or_null(s.fault_text[0] ? s.fault_text : NULL));
}

static void reaper_on_reload(const Config *settings, void *userdata) {
        reaper_reload(userdata);
}

/* Raises alerts that no signal covers. Stuck sandboxes and late layers have signals. */
static void on_alert(const char *kind, const char *text, void *userdata) {
        static const struct {
                const char *kind, *name;
                AlertSeverity severity;
        } events[] = {
                { "cleanup-failed", "cleanup_failed", SEVERITY_WARNING  },
                { "cleanup-blind",  "cleanup_blind",  SEVERITY_CRITICAL },
        };

        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                if (strcmp(events[i].kind, kind) == 0)
                        alerts_raise(userdata, events[i].name, events[i].severity, /* context= */ NULL, text);
}

int reaper_connect(Reaper *r, Observe *o, Alerts *alerts, Reload *reload) {
        int k = 0;

        reaper_set_alert(r, on_alert, alerts);
        reaper_set_run_over(r, on_run, o);
        for (size_t i = 0; i < ELEMENTSOF(sources) && k >= 0; i++)
                k = observe_set_source(o, sources[i].signal, sources[i].read, r);
        observe_set_sweeper(o, sweeper_json, r);
        return k < 0 ? k : reload_add(reload, reaper_on_reload, r);
}
