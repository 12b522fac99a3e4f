/* diagnosis.c: the health of one sandbox, with the reasons. */

#include <errno.h>
#include <string.h>

#include "api/native/admin/cleanup.h"
#include "api/native/routes/routes.h"
#include "reaper/diagnosis.h"

#define SAMPLE_MIN_MS 50

typedef struct NativeHealth {
        const char *id;
        bool healthy;
        const char *message;
        usec_t duration, checked_at;
} NativeHealth;

static const Shape native_sandbox_health_answer = SHAPE_FIELDS(
        { "id",         SHAPE_BORROWED, offsetof(NativeHealth, id),         SHAPE_ALWAYS },
        { "healthy",    SHAPE_BOOL,     offsetof(NativeHealth, healthy) },
        { "message",    SHAPE_BORROWED, offsetof(NativeHealth, message) },
        { "durationMs", SHAPE_UINT64,   offsetof(NativeHealth, duration),   .unit = SHAPE_MILLISECONDS },
        { "checkedAt",  SHAPE_UINT64,   offsetof(NativeHealth, checked_at), SHAPE_ALWAYS, .unit = SHAPE_TIME });

static void on_health(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata) {
        (void) api_show(userdata, 200, &(NativeHealth) { sb->id, healthy, text, duration, clock_wall_usec() });
}

static void native_sandbox_health(ApiRequest *q) {
        Reaper *r = cleanup_reaper(q);
        int k;

        if (!r)
                return;
        cleanup_keep(q);
        k = reaper_check_health(r, q->sandbox, on_health, q);
        if (k == -ESTALE)
                (void) api_error(q, 409, "not_running", NULL, "Sandbox not running (state: %s)", sandbox_status_name(q->sandbox->status));
        else if (k == -EALREADY)
                (void) api_error(q, 409, "conflict", "try again in a moment", "a check is under way");
        else if (k < 0)
                (void) api_errno(q, k, NULL);
}

/* Unknown values are null. */

static json_t *diagnosis_show_flags(const ShapeField *f, const void *object) {
        const Diagnosis *d = object;
        json_t *list = json_array();

        for (unsigned i = 0; i < d->n_red_flags; i++)
                (void) json_array_append_new(list, json_text_or_null(d->red_flags[i]));
        return list;
}

SHAPE_SHOWN(diagnosis_show_running, Diagnosis, d, d->executions > 0 ? json_number((double) d->running_for / 1e6) : json_null());
SHAPE_SHOWN(diagnosis_show_cpu_limit, Diagnosis, d, d->cpu_limit_percent > 0 ? json_number(d->cpu_limit_percent) : json_null());
SHAPE_SHOWN(diagnosis_show_growth, Diagnosis, d, json_number(d->memory_growth / 1048576));
SHAPE_SHOWN(process_show_busiest, ProcessCount, c, json_text_or_null(c->busiest > 0 ? c->name : NULL));
SHAPE_SHOWN(process_show_state, ProcessCount, c, c->busiest > 0 ? json_stringn(&c->state, 1) : json_null());

#define OF(member)            offsetof(Diagnosis, member)
#define MEASURED(member, has) OF(member), SHAPE_MEASURED, .count = OF(has)
static const Shape evidence_shape = SHAPE_FIELDS(
        { "sampleMs",                SHAPE_UINT64, OF(sample),               .unit = SHAPE_MILLISECONDS },
        { "ageSeconds",              SHAPE_UINT64, OF(age),                  .unit = SHAPE_SECONDS },
        { "runningSeconds",          SHAPE_DOUBLE, 0,                        SHAPE_NULLABLE, .json = SHAPE_SHOW(diagnosis_show_running) },
        { "executions",              SHAPE_UINT32, OF(executions) },
        { "cpuPercent",              SHAPE_DOUBLE, MEASURED(cpu_percent, cpu_known) },
        { "cpuLimitPercent",         SHAPE_DOUBLE, 0,                        SHAPE_NULLABLE, .json = SHAPE_SHOW(diagnosis_show_cpu_limit) },
        { "memoryMB",                SHAPE_UINT64, MEASURED(usage.memory_bytes, usage.has_memory), .unit = SHAPE_MEGABYTES },
        { "memoryLimitMB",           SHAPE_UINT64, OF(limits.memory_bytes),  .unit = SHAPE_MEGABYTES },
        { "memoryGrowthMBPerSecond", SHAPE_DOUBLE, MEASURED(memory_growth, usage.has_memory), .json = SHAPE_SHOW(diagnosis_show_growth) },
        { "ioBytesPerSecond",        SHAPE_DOUBLE, MEASURED(io_rate, usage.has_io) },
        { "pids",                    SHAPE_UINT64, MEASURED(usage.pids, usage.has_pids) },
        { "pidsLimit", SHAPE_UINT32, OF(limits.pids) }, { "oomKills", SHAPE_UINT64, OF(usage.oom_kills) },
        { "operations", SHAPE_UINT64, OF(operations) },
        { "operationsDelta", SHAPE_UINT64, OF(operations_delta) },
        { "outputBytes", SHAPE_UINT64, OF(output.bytes) }, { "outputDelta", SHAPE_UINT64, OF(output_delta) },
        { "lastOutputAt",            SHAPE_UINT64, OF(output.last_at),       .unit = SHAPE_TIME });

#define PROCESS(member) offsetof(ProcessCount, member)
static const Shape process_shape = SHAPE_FIELDS(
        { "total", SHAPE_UINT32, PROCESS(total) }, { "running", SHAPE_UINT32, PROCESS(running) },
        { "sleeping", SHAPE_UINT32, PROCESS(sleeping) }, { "blocked", SHAPE_UINT32, PROCESS(blocked) },
        { "stopped", SHAPE_UINT32, PROCESS(stopped) }, { "zombies", SHAPE_UINT32, PROCESS(zombies) },
        { "busiest",      SHAPE_TEXT,   0, .json = SHAPE_SHOW(process_show_busiest)        },
        { "busiestState", SHAPE_TEXT,   0, .json = SHAPE_SHOW(process_show_state)          },
        { "waitChannel",  SHAPE_CHARS,  SHAPE_AT(ProcessCount, wait_channel)               });

#define PATTERN(member) SHAPE_AT(DiagnosisPattern, member), .flags = SHAPE_ALWAYS
static const ShapeField pattern_fields[] = {
        { "pattern",   SHAPE_CHARS, PATTERN(pattern)   },
        { "meaning",   SHAPE_CHARS, PATTERN(meaning)   },
        { "execution", SHAPE_CHARS, PATTERN(execution) },
};
static const Shape pattern_shape = SHAPE_OF(pattern, DiagnosisPattern);

static const Shape native_diagnosis_answer = SHAPE_FIELDS(
        { "id",         SHAPE_CHARS,  SHAPE_AT(Diagnosis, id),      .flags = SHAPE_ALWAYS },
        { "status",     SHAPE_ENUM,   OF(status),                   .names = &sandbox_status_names },
        { "verdict",    SHAPE_ENUM,   OF(verdict),                  .names = &verdict_names },
        { "stuck",      SHAPE_BOOL,   OF(stuck) },
        { "summary",    SHAPE_CHARS,  SHAPE_AT(Diagnosis, summary), .flags = SHAPE_ALWAYS },
        { "evidence",   SHAPE_OBJECT, 0,                            .shape = &evidence_shape },
        { "processes",  SHAPE_OBJECT, OF(processes),                SHAPE_MEASURED, .count = OF(processes.known), .shape = &process_shape },
        { "patterns",   SHAPE_ARRAY,  OF(output.patterns),          .count = OF(output.n_patterns), .shape = &pattern_shape },
        { "redFlags",   SHAPE_STRV,   0,                            .json = SHAPE_SHOW(diagnosis_show_flags) },
        { "suggestion", SHAPE_CHARS,  SHAPE_AT(Diagnosis, suggestion), .flags = SHAPE_ALWAYS });

static void on_diagnosis(const Diagnosis *d, void *userdata) {
        if (d)
                (void) api_show(userdata, 200, d);
        else
                (void) api_error(userdata, 404, "not_found", NULL, "the sandbox has ended");
}

static void native_diagnosis(ApiRequest *q) {
        Reaper *r = cleanup_reaper(q);
        uint64_t sample = DIAGNOSIS_SAMPLE_DEFAULT / USEC_PER_MSEC;
        int k;

        if (!r || api_query_uint(q, "sampleMs", SAMPLE_MIN_MS, DIAGNOSIS_SAMPLE_MAX / USEC_PER_MSEC, &sample) < 0)
                return;
        cleanup_keep(q);
        k = reaper_diagnose(r, q->sandbox, sample * USEC_PER_MSEC, on_diagnosis, q);
        if (k < 0)
                (void) api_errno(q, k, NULL);
}

const ApiRoute diagnosis_routes[] = {
        { "GET", "/api/sandbox/{id}/diagnosis", MAY_SEE, .handle = native_diagnosis, ANSWER(diagnosis), .queries = QUERIES("sampleMs") },
        { "GET", "/api/sandbox/{id}/health",    MAY_SEE, .handle = native_sandbox_health, ANSWER(sandbox_health) },
        { 0 },
};
