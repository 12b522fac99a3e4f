/* cleanup.c: clean-up on request, and the state of the cleaners. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/admin/cleanup.h"
#include "api/native/routes/routes.h"
#include "reaper/reaper.h"

#define HISTORY_DEFAULT 20
#define HISTORY_MAX     1000
#define AGE_MAX         (10 * 365 * 86400ULL)

/* Requests that wait for the reaper. */

static void native_cleanup_forget(ApiRequest *q, bool answered) {
        reaper_forget(q->api->rooms.reaper, q);
        q->state = NULL;
}

Reaper *cleanup_reaper(ApiRequest *q) {
        return native_room(q, q->api->rooms.reaper, "this daemon has no clean-up");
}

void cleanup_keep(ApiRequest *q) {
        q->destroy = native_cleanup_forget;
}

/* Reports */

SHAPE_SHOWN(cleanup_show_rule, CleanupItem, i, json_text_or_null(cleanup_rule_name(i->rule))); /* all but "none" */

static const Shape cleanup_item_shape = SHAPE_FIELDS(
        { "id",         SHAPE_CHARS,  SHAPE_AT(CleanupItem, name),     .flags = SHAPE_ALWAYS         },
        { "rule",       SHAPE_TEXT,   0, .flags = SHAPE_ALWAYS, .json = SHAPE_SHOW(cleanup_show_rule) },
        { "outcome",    SHAPE_ENUM,   SHAPE_AT(CleanupItem, state),    .names = &cleanup_state_names },
        { "reason",     SHAPE_CHARS,  SHAPE_AT(CleanupItem, text)                                    },
        { "error",      SHAPE_CHARS,  SHAPE_AT(CleanupItem, error)                                   },
        { "durationMs", SHAPE_UINT64, SHAPE_AT(CleanupItem, duration), .unit = SHAPE_MILLISECONDS    });

static json_t *cleanup_show_items(const ShapeField *f, const void *object) {
        const CleanupReport *p = object;
        json_t *list = json_array();

        for (size_t i = 0; i < p->n_items; i++)
                (void) json_array_append_new(list, shape_show(&cleanup_item_shape, p->items[i]));
        return list;
}

static json_t *cleanup_names(const CleanupReport *p, CleanupRule rule) {
        json_t *list = json_array();

        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i]->rule == rule)
                        (void) json_array_append_new(list, json_text_or_null(p->items[i]->name));
        return list;
}

static json_t *cleanup_show_unresponsive(const ShapeField *f, const void *object) {
        json_t *list = json_array();

        for (char **u = ((const CleanupReport *) object)->unresponsive; u && *u; u++)
                (void) json_array_append_new(list, json_string(*u));
        return list;
}

SHAPE_SHOWN(cleanup_show_ok, CleanupReport, p, json_boolean(p->error[0] == '\0' && p->counts.failed == 0));
SHAPE_SHOWN(cleanup_show_consistent, CleanupReport, p, json_boolean(cleanup_is_consistent(p)));
SHAPE_SHOWN(cleanup_show_lost, CleanupReport, p, cleanup_names(p, RULE_LOST));
SHAPE_SHOWN(cleanup_show_strays, CleanupReport, p, cleanup_names(p, RULE_STRAY));
SHAPE_SHOWN(cleanup_show_files, CleanupReport, p, cleanup_names(p, RULE_FILE));

#define OF(member) offsetof(CleanupReport, member)
static const Shape native_cleanup_answer = SHAPE_FIELDS(
        { "kind",       SHAPE_ENUM,   OF(kind),            .names = &cleanup_kind_names },
        { "cause",      SHAPE_ENUM,   OF(cause),           .names = &cleanup_cause_names },
        { "dryRun",     SHAPE_BOOL,   OF(dry_run) },
        { "ok",         SHAPE_BOOL,   0,                   .json = SHAPE_SHOW(cleanup_show_ok) },
        { "startedAt",  SHAPE_UINT64, OF(started_at),      SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "durationMs", SHAPE_UINT64, OF(duration),        .unit = SHAPE_MILLISECONDS },
        { "counts",     SHAPE_OBJECT, OF(counts),          .shape = &cleanup_counts_shape },
        { "deferred",   SHAPE_UINT64, OF(counts.deferred) },
        { "items",      SHAPE_LIST,   0,                   .shape = &cleanup_item_shape, .json = SHAPE_SHOW(cleanup_show_items) },
        { "error",      SHAPE_CHARS,  SHAPE_AT(CleanupReport, error) });

static const Shape native_audit_answer = SHAPE_FIELDS(
        { "consistent",      SHAPE_BOOL,   0,              .json = SHAPE_SHOW(cleanup_show_consistent)   },
        { "records",         SHAPE_UINT64, OF(records)                                                   },
        { "actual",          SHAPE_UINT64, OF(actual)                                                    },
        { "orphanedRecords", SHAPE_STRV,   0,              .json = SHAPE_SHOW(cleanup_show_lost)         },
        { "orphanedActual",  SHAPE_STRV,   0,              .json = SHAPE_SHOW(cleanup_show_strays)       },
        { "strayFiles",      SHAPE_STRV,   0,              .json = SHAPE_SHOW(cleanup_show_files)        },
        { "unresponsive",    SHAPE_STRV,   0,              .json = SHAPE_SHOW(cleanup_show_unresponsive) },
        { "checkedAt",       SHAPE_UINT64, OF(started_at), SHAPE_ALWAYS, .unit = SHAPE_TIME              },
        { "durationMs",      SHAPE_UINT64, OF(duration),   .unit = SHAPE_MILLISECONDS                    },
        { "error",           SHAPE_CHARS,  SHAPE_AT(CleanupReport, error)                                });

static const Shape native_reconcile_answer = SHAPE_FIELDS(
        { NULL,    SHAPE_OBJECT, 0, SHAPE_BEARER, .shape = &native_cleanup_answer },
        { "audit", SHAPE_OBJECT, 0, .shape = &native_audit_answer                 });
#undef OF

static void native_cleanup_on_report(const CleanupReport *p, void *userdata) {
        (void) api_show(userdata, 200, p);
}

/* If the audit failed, there is no report to answer with. */
static void on_audited(const CleanupReport *p, void *userdata) {
        if (p->error[0])
                (void) api_error(userdata, 503, "unavailable", "try again in a moment", "%s", p->error);
        else
                (void) api_show(userdata, 200, p);
}

static void native_cleanup_run(ApiRequest *q, const CleanupRequest *request, CleanupDone done) {
        Reaper *r = cleanup_reaper(q);
        Error error = { 0 };

        if (!r)
                return;
        cleanup_keep(q);
        native_begun(q, reaper_run(r, request, done, q, &error), &error);
}

static void native_cleanup(ApiRequest *q) {
        CleanupRequest request = { .kind = CLEANUP_MANUAL };
        uint64_t seconds = 0;
        int r;

        r = api_query_uint(q, "maxAgeSeconds", 0, AGE_MAX, &seconds);
        if (r < 0 || api_query_bool(q, "dryRun", &request.dry_run) < 0)
                return;
        request.has_max_age = r > 0;
        request.max_age_usec = seconds * USEC_PER_SEC;
        native_cleanup_run(q, &request, native_cleanup_on_report);
}

static void native_cleanup_emergency(ApiRequest *q) {
        CleanupRequest request = { .kind = CLEANUP_EMERGENCY };

        if (api_query_bool(q, "dryRun", &request.dry_run) >= 0)
                native_cleanup_run(q, &request, native_cleanup_on_report);
}

static void native_reconcile(ApiRequest *q) {
        CleanupRequest request = { .kind = CLEANUP_RECONCILE };

        if (api_query_bool(q, "dryRun", &request.dry_run) >= 0)
                native_cleanup_run(q, &request, native_cleanup_on_report);
}

static void native_audit(ApiRequest *q) {
        native_cleanup_run(q, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, on_audited);
}

/* The cleaners themselves */

SHAPE_SHOWN(layer_show_kind, LayerStatus, l, json_text_or_null(cleanup_kind_name(l->kind))); /* the periodic cleaners */
SHAPE_SHOWN(layer_show_enabled, LayerStatus, l, json_boolean(l->interval > 0));
SHAPE_SHOWN(layer_show_next, LayerStatus, l, l->interval > 0 ? json_number((double) l->next_in / (double) USEC_PER_SEC) : json_null());

#define OF(member) offsetof(LayerStatus, member)
static const Shape layer_shape = SHAPE_FIELDS(
        { "layer",            SHAPE_TEXT,   0,                 SHAPE_ALWAYS, .json = SHAPE_SHOW(layer_show_kind) },
        { "enabled",          SHAPE_BOOL,   0,                 .json = SHAPE_SHOW(layer_show_enabled) },
        { "intervalSeconds",  SHAPE_UINT64, OF(interval),      .unit = SHAPE_SECONDS },
        { "running",          SHAPE_BOOL,   OF(running) },
        { "lastRun",          SHAPE_UINT64, OF(last_at),       .unit = SHAPE_TIME },
        { "lastDurationMs",   SHAPE_UINT64, OF(last_duration), .unit = SHAPE_MILLISECONDS },
        { "nextRunInSeconds", SHAPE_DOUBLE, 0,                 SHAPE_NULLABLE, .json = SHAPE_SHOW(layer_show_next) },
        { "lateSeconds",      SHAPE_UINT64, OF(late),          .unit = SHAPE_SECONDS },
        { "lastOk",           SHAPE_BOOL,   OF(last_ok) },
        { "successRate",      SHAPE_DOUBLE, OF(success_rate),  SHAPE_NULLABLE },
        { "runs",             SHAPE_UINT64, OF(n_runs) },
        { "failedRuns",       SHAPE_UINT64, OF(n_failed) },
        { "error",            SHAPE_CHARS,  SHAPE_AT(LayerStatus, error) });
#undef OF

static json_t *cleanup_show_layers(const ShapeField *f, const void *object) {
        const ReaperStatus *s = shape_at(f, object);
        json_t *list = json_array();

        for (CleanupKind k = 0; k < _CLEANUP_KIND_MAX; k++)
                if (k != CLEANUP_MANUAL && k != CLEANUP_EMERGENCY)
                        (void) json_array_append_new(list, shape_show(&layer_shape, &s->layers[k]));
        return list;
}

static json_t *cleanup_show_faults(const ShapeField *f, const void *object) {
        static const struct {
                unsigned bit;
                const char *name;
        } names[] = {
                { REAPER_NOT_RUNNING, "not-running"      },
                { REAPER_FAILING,     "failing"          },
                { REAPER_BLIND,       "detection-broken" },
        };
        const unsigned *faults = shape_at(f, object);
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (*faults & names[i].bit)
                        (void) json_array_append_new(list, json_string(names[i].name));
        return list;
}

SHAPE_SHOWN(pressure_show_psi, PressureStatus, p, json_boolean(!isnan(p->psi)));

#define OF(member) offsetof(PressureStatus, member)
static const Shape pressure_shape = SHAPE_FIELDS(
        { "over",               SHAPE_BOOL,   OF(over)                                           },
        { "memoryUsage",        SHAPE_DOUBLE, OF(memory_usage), SHAPE_NULLABLE                   },
        { "diskUsage",          SHAPE_DOUBLE, OF(disk_usage),   SHAPE_NULLABLE                   },
        { "sandboxUsage",       SHAPE_DOUBLE, OF(places_usage), SHAPE_NULLABLE                   },
        { "memoryStallPercent", SHAPE_DOUBLE, OF(psi),          SHAPE_NULLABLE                   },
        { "psiAvailable",       SHAPE_BOOL,   0,                .json = SHAPE_SHOW(pressure_show_psi) },
        { "message",            SHAPE_CHARS,  SHAPE_AT(PressureStatus, text)                     });
#undef OF

static json_t *cleanup_show_lines(const ShapeField *f, const void *object) {
        const char *text = *(const char *const *) shape_at(f, object);
        json_t *list = json_array();

        while (text && *text) {
                size_t n = strcspn(text, "\n");

                (void) json_array_append_new(list, json_stringn(text, n));
                text += n + (text[n] == '\n');
        }
        return list;
}

#define OF(member) offsetof(CleanupRow, member)
static const Shape cleanup_run_shape = SHAPE_FIELDS(
        { "serial",     SHAPE_UINT64, OF(serial) },
        { "kind",       SHAPE_CHARS,  SHAPE_AT(CleanupRow, kind),  .flags = SHAPE_ALWAYS },
        { "cause",      SHAPE_CHARS,  SHAPE_AT(CleanupRow, cause), .flags = SHAPE_ALWAYS },
        { "startedAt",  SHAPE_UINT64, OF(started_at),    SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "durationMs", SHAPE_UINT64, OF(duration_usec), .unit = SHAPE_MILLISECONDS },
        { "counts",     SHAPE_OBJECT, OF(counts),        .shape = &cleanup_counts_shape },
        { "freed",      SHAPE_STRV,   OF(freed),         .json = SHAPE_SHOW(cleanup_show_lines) },
        { "failures",   SHAPE_STRV,   OF(failures),      .json = SHAPE_SHOW(cleanup_show_lines) },
        { "error",      SHAPE_TEXT,   OF(error) });
#undef OF

typedef struct NativeCleanupStatus {
        ReaperStatus reaper;
        json_t *history;
} NativeCleanupStatus;

SHAPE_SHOWN(cleanup_show_healthy, NativeCleanupStatus, s, json_boolean(s->reaper.faults == 0));

#define OF(member) offsetof(NativeCleanupStatus, reaper.member)
static const Shape native_cleanup_status_answer = SHAPE_FIELDS(
        { "healthy",          SHAPE_BOOL,   0,                     .json = SHAPE_SHOW(cleanup_show_healthy) },
        { "faults",           SHAPE_STRV,   OF(faults),            .json = SHAPE_SHOW(cleanup_show_faults) },
        { "message",          SHAPE_CHARS,  SHAPE_AT(NativeCleanupStatus, reaper.fault_text) },
        { "layers",           SHAPE_LIST,   0,                     .shape = &layer_shape, .json = SHAPE_SHOW(cleanup_show_layers) },
        { "pressure",         SHAPE_OBJECT, OF(pressure),          .shape = &pressure_shape },
        { "totals",           SHAPE_OBJECT, OF(totals),            .shape = &cleanup_counts_shape },
        { "runs", SHAPE_UINT64, OF(total_runs) }, { "failedRuns", SHAPE_UINT64, OF(total_failed_runs) },
        { "orphaned", SHAPE_UINT32, OF(orphaned) }, { "stuck", SHAPE_UINT32, OF(stuck) },
        { "unhealthy", SHAPE_UINT32, OF(unhealthy) },
        { "failuresLastHour", SHAPE_UINT64, OF(failures_last_hour) },
        { "history",          SHAPE_LIST,   offsetof(NativeCleanupStatus, history), .shape = &cleanup_run_shape, .json = SHAPE_MADE });

static int cleanup_add_run(const CleanupRow *row, void *userdata) {
        return json_array_append_new(userdata, shape_show(&cleanup_run_shape, row)) < 0 ? -ENOMEM : 0;
}

static void native_cleanup_status(ApiRequest *q) {
        const Reaper *r = cleanup_reaper(q);
        uint64_t limit = HISTORY_DEFAULT;
        NativeCleanupStatus s;

        if (!r || api_query_uint(q, "limit", 0, HISTORY_MAX, &limit) < 0)
                return;
        reaper_status(r, &s.reaper);
        s.history = json_array();
        (void) reaper_history(r, (unsigned) limit, cleanup_add_run, s.history);
        (void) api_show(q, 200, &s);
        json_decref(s.history);
}

const ApiRoute cleanup_routes[] = {
        { "GET",  "/api/sandbox/cleanup",           MAY_ADMIN, .handle = native_cleanup_status, ANSWER(cleanup_status), .queries = QUERIES("limit") },
        { "POST", "/api/sandbox/cleanup",           MAY_ADMIN, .handle = native_cleanup, JSON_BODY(empty), ANSWER(cleanup),
          .queries = QUERIES("dryRun", "maxAgeSeconds") },
        { "POST", "/api/sandbox/cleanup/emergency", MAY_ADMIN, .handle = native_cleanup_emergency, JSON_BODY(empty), ANSWER(cleanup),
          .queries = QUERIES("dryRun") },
        { "POST", "/api/sandbox/reconcile",         MAY_ADMIN, .handle = native_reconcile, JSON_BODY(empty), ANSWER(reconcile), .queries = QUERIES("dryRun") },
        { "GET",  "/api/sandbox/audit",             MAY_ADMIN, .handle = native_audit, ANSWER(audit) },
        { 0 },
};
