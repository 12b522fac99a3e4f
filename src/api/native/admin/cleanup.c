/* cleanup.c: runs of the cleaners, asked for by a person, and how the cleaners themselves do. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/admin/cleanup.h"
#include "reaper/reaper.h"

#define HISTORY_DEFAULT 20
#define HISTORY_MAX     1000
#define AGE_MAX         (10 * 365 * 86400ULL)

/* A request that waits for the reaper. */

static void native_cleanup_forget(ApiRequest *q, bool answered) {
        reaper_forget(q->api->rooms.reaper, q);
        q->state = NULL;
}

Reaper *cleanup_reaper(ApiRequest *q) {
        Reaper *r = q->api->rooms.reaper;

        if (!r)
                (void) api_error(q, 501, "unsupported", NULL, "this daemon has no clean-up");
        return r;
}

void cleanup_keep(ApiRequest *q) {
        q->destroy = native_cleanup_forget;
}

json_t *cleanup_number(double value) {
        if (isnan(value))
                return json_null();
        value = round(value * 1000) / 1000;
        return floor(value) < value ? json_real(value) : json_integer((json_int_t) value);
}

json_t *cleanup_milliseconds(usec_t usec) {
        return cleanup_number((double) usec / (double) USEC_PER_MSEC);
}

/* Reports */

static json_t *item_json(const CleanupItem *item) {
        return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "id", item->name, "rule", cleanup_rule_name(item->rule), "outcome",
                        cleanup_state_name(item->state), "reason", json_text_or_null(item->text), "error",
                        json_text_or_null(item->error[0] ? item->error : NULL), "durationMs", cleanup_milliseconds(item->duration));
}

static json_t *items_json(const CleanupReport *p) {
        json_t *list = json_array();

        for (size_t i = 0; i < p->n_items; i++)
                (void) json_array_append_new(list, item_json(p->items[i]));
        return list;
}

static json_t *native_cleanup_report_json(const CleanupReport *p) {
        return json_pack("{s:s,s:s,s:b,s:b,s:o,s:o,s:o,s:I,s:o,s:o}", "kind", cleanup_kind_name(p->kind), "cause",
                        cleanup_cause_name(p->cause), "dryRun", p->dry_run, "ok", p->error[0] == '\0' && p->counts.failed == 0,
                        "startedAt", json_time(p->started_at), "durationMs", cleanup_milliseconds(p->duration), "counts",
                        shape_show(&cleanup_counts_shape, &p->counts), "deferred", (json_int_t) p->counts.deferred, "items", items_json(p), "error",
                        json_text_or_null(p->error[0] ? p->error : NULL));
}

static json_t *native_cleanup_names_json(const CleanupReport *p, CleanupRule rule) {
        json_t *list = json_array();

        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i]->rule == rule)
                        (void) json_array_append_new(list, json_text_or_null(p->items[i]->name));
        return list;
}

static json_t *unresponsive_json(const CleanupReport *p) {
        json_t *list = json_array();

        for (char **u = p->unresponsive; u && *u; u++)
                (void) json_array_append_new(list, json_string(*u));
        return list;
}

static json_t *audit_json(const CleanupReport *p) {
        return json_pack("{s:b,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "consistent", cleanup_is_consistent(p), "records",
                        (json_int_t) p->records, "actual", (json_int_t) p->actual, "orphanedRecords", native_cleanup_names_json(p, RULE_LOST),
                        "orphanedActual", native_cleanup_names_json(p, RULE_STRAY), "strayFiles", native_cleanup_names_json(p, RULE_FILE), "unresponsive",
                        unresponsive_json(p), "checkedAt", json_time(p->started_at), "durationMs", cleanup_milliseconds(p->duration),
                        "error", json_text_or_null(p->error[0] ? p->error : NULL));
}

static void native_cleanup_on_report(const CleanupReport *p, void *userdata) {
        (void) api_answer(userdata, 200, native_cleanup_report_json(p));
}

static void on_reconciled(const CleanupReport *p, void *userdata) {
        json_t *o = native_cleanup_report_json(p);

        (void) json_object_set_new(o, "audit", audit_json(p));
        (void) api_answer(userdata, 200, o);
}

/* An audit that could not be made has no answer. */
static void on_audited(const CleanupReport *p, void *userdata) {
        if (p->error[0])
                (void) api_error(userdata, 503, "unavailable", "try again in a moment", "%s", p->error);
        else
                (void) api_answer(userdata, 200, audit_json(p));
}

static void native_cleanup_run(ApiRequest *q, const CleanupRequest *request, CleanupDone done) {
        Reaper *r = cleanup_reaper(q);
        Error error = { 0 };
        int k;

        if (!r)
                return;
        cleanup_keep(q);
        k = reaper_run(r, request, done, q, &error);
        if (k < 0)
                (void) api_errno(q, k, error.text);
}

void native_cleanup(ApiRequest *q) {
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

void native_cleanup_emergency(ApiRequest *q) {
        CleanupRequest request = { .kind = CLEANUP_EMERGENCY };

        if (api_query_bool(q, "dryRun", &request.dry_run) >= 0)
                native_cleanup_run(q, &request, native_cleanup_on_report);
}

void native_reconcile(ApiRequest *q) {
        CleanupRequest request = { .kind = CLEANUP_RECONCILE };

        if (api_query_bool(q, "dryRun", &request.dry_run) >= 0)
                native_cleanup_run(q, &request, on_reconciled);
}

void native_audit(ApiRequest *q) {
        native_cleanup_run(q, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, on_audited);
}

/* The cleaners themselves */

static json_t *seconds_json(usec_t usec) {
        return cleanup_number((double) usec / (double) USEC_PER_SEC);
}

static json_t *layer_json(const LayerStatus *l) {
        bool on = l->interval > 0;

        return json_pack("{s:s,s:b,s:o,s:b,s:o,s:o,s:o,s:o,s:b,s:o,s:I,s:I,s:o}", "layer", cleanup_kind_name(l->kind), "enabled", on,
                        "intervalSeconds", seconds_json(l->interval), "running", l->running, "lastRun", json_time(l->last_at),
                        "lastDurationMs", cleanup_milliseconds(l->last_duration), "nextRunInSeconds",
                        on ? seconds_json(l->next_in) : json_null(), "lateSeconds", seconds_json(l->late), "lastOk", l->last_ok,
                        "successRate", cleanup_number(l->success_rate), "runs", (json_int_t) l->n_runs, "failedRuns",
                        (json_int_t) l->n_failed, "error", json_text_or_null(l->error[0] ? l->error : NULL));
}

static json_t *layers_json(const ReaperStatus *s) {
        json_t *list = json_array();

        for (CleanupKind k = 0; k < _CLEANUP_KIND_MAX; k++)
                if (k != CLEANUP_MANUAL && k != CLEANUP_EMERGENCY)
                        (void) json_array_append_new(list, layer_json(&s->layers[k]));
        return list;
}

static json_t *faults_json(unsigned faults) {
        static const struct {
                unsigned bit;
                const char *name;
        } names[] = {
                { REAPER_NOT_RUNNING, "not-running"      },
                { REAPER_FAILING,     "failing"          },
                { REAPER_BLIND,       "detection-broken" },
        };
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (faults & names[i].bit)
                        (void) json_array_append_new(list, json_string(names[i].name));
        return list;
}

static json_t *pressure_json(const PressureStatus *p) {
        return json_pack("{s:b,s:o,s:o,s:o,s:o,s:b,s:o}", "over", p->over, "memoryUsage", cleanup_number(p->memory_usage), "diskUsage",
                        cleanup_number(p->disk_usage), "sandboxUsage", cleanup_number(p->places_usage), "memoryStallPercent",
                        cleanup_number(p->psi), "psiAvailable", !isnan(p->psi), "message", json_text_or_null(p->text[0] ? p->text : NULL));
}

static json_t *lines_json(const char *text) {
        json_t *list = json_array();

        while (text && *text) {
                size_t n = strcspn(text, "\n");

                (void) json_array_append_new(list, json_stringn(text, n));
                text += n + (text[n] == '\n');
        }
        return list;
}

static int history_row(const CleanupRow *row, void *userdata) {
        return json_array_append_new(userdata, json_pack("{s:I,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "serial", (json_int_t) row->serial,
                                     "kind", row->kind, "cause", row->cause, "startedAt", json_time(row->started_at), "durationMs",
                                     cleanup_milliseconds(row->duration_usec), "counts", shape_show(&cleanup_counts_shape, &row->counts), "freed",
                                     lines_json(row->freed), "failures", lines_json(row->failures), "error", json_text_or_null(row->error))) < 0 ? -ENOMEM : 0;
}

void native_cleanup_status(ApiRequest *q) {
        const Reaper *r = cleanup_reaper(q);
        uint64_t limit = HISTORY_DEFAULT;
        json_t *history = json_array();
        ReaperStatus s;

        if (!r || api_query_uint(q, "limit", 0, HISTORY_MAX, &limit) < 0) {
                json_decref(history);
                return;
        }
        reaper_status(r, &s);
        (void) reaper_history(r, (unsigned) limit, history_row, history);
        (void) api_answer(q, 200, json_pack("{s:b,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:i,s:i,s:i,s:I,s:o}", "healthy", s.faults == 0, "faults",
                        faults_json(s.faults), "message", json_text_or_null(s.fault_text[0] ? s.fault_text : NULL), "layers",
                        layers_json(&s), "pressure", pressure_json(&s.pressure), "totals", shape_show(&cleanup_counts_shape, &s.totals), "runs",
                        (json_int_t) s.total_runs, "failedRuns", (json_int_t) s.total_failed_runs, "orphaned", (int) s.orphaned, "stuck",
                        (int) s.stuck, "unhealthy", (int) s.unhealthy, "failuresLastHour", (json_int_t) s.failures_last_hour, "history",
                        history));
}
