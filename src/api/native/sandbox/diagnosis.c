/* diagnosis.c: whether one sandbox is well, and why it is not. */

#include <errno.h>
#include <string.h>

#include "api/native/admin/cleanup.h"
#include "reaper/diagnosis.h"

#define SAMPLE_MIN_MS 50

static void on_health(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata) {
        (void) api_answer(userdata, 200, json_pack("{s:s,s:b,s:o,s:o,s:o}", "id", sb->id, "healthy", healthy, "message",
                        json_text_or_null(text && *text ? text : NULL), "durationMs", cleanup_milliseconds(duration), "checkedAt",
                        json_time(clock_wall_usec())));
}

void native_sandbox_health(ApiRequest *q) {
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

/* What cannot be told is null. */
static json_t *evidence_json(const Diagnosis *d) {
        const SandboxUsage *u = &d->usage;
        const struct {
                const char *name;
                bool known;
                double value;
        } rows[] = {
                { "sampleMs", true, (double) d->sample / 1000 },
                { "ageSeconds", true, (double) d->age / 1e6 },
                { "runningSeconds", d->executions > 0, (double) d->running_for / 1e6 },
                { "executions", true, d->executions },
                { "cpuPercent", d->cpu_known, d->cpu_percent },
                { "cpuLimitPercent", d->cpu_limit_percent > 0, d->cpu_limit_percent },
                { "memoryMB", u->has_memory, (double) u->memory_bytes / 1048576 },
                { "memoryLimitMB", true, (double) d->limits.memory_bytes / 1048576 },
                { "memoryGrowthMBPerSecond", u->has_memory, d->memory_growth / 1048576 },
                { "ioBytesPerSecond", u->has_io, d->io_rate },
                { "pids", u->has_pids, (double) u->pids },
                { "pidsLimit", true, d->limits.pids },
                { "oomKills", true, (double) u->oom_kills },
                { "operations", true, (double) d->operations },
                { "operationsDelta", true, (double) d->operations_delta },
                { "outputBytes", true, (double) d->output.bytes },
                { "outputDelta", true, (double) d->output_delta },
        };
        json_t *o = json_object();

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                (void) json_object_set_new(o, rows[i].name, rows[i].known ? cleanup_number(rows[i].value) : json_null());
        (void) json_object_set_new(o, "lastOutputAt", json_time(d->output.last_at));
        return o;
}

static json_t *processes_json(const ProcessCount *c) {
        char state[2] = { c->state, '\0' };

        if (!c->known)
                return json_null();
        return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:o,s:o,s:o}", "total", (int) c->total, "running", (int) c->running, "sleeping",
                        (int) c->sleeping, "blocked", (int) c->blocked, "stopped", (int) c->stopped, "zombies", (int) c->zombies,
                        "busiest", json_text_or_null(c->busiest > 0 ? c->name : NULL), "busiestState",
                        json_text_or_null(c->busiest > 0 ? state : NULL), "waitChannel",
                        json_text_or_null(c->wait_channel[0] ? c->wait_channel : NULL));
}

static json_t *patterns_json(const DiagnosisOutput *output) {
        json_t *list = json_array();

        for (unsigned i = 0; i < output->n_patterns; i++)
                (void) json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "pattern", output->patterns[i].pattern, "meaning",
                                output->patterns[i].meaning, "execution", output->patterns[i].execution));
        return list;
}

static json_t *flags_json(const Diagnosis *d) {
        json_t *list = json_array();

        for (unsigned i = 0; i < d->n_red_flags; i++)
                (void) json_array_append_new(list, json_text_or_null(d->red_flags[i]));
        return list;
}

static void on_diagnosis(const Diagnosis *d, void *userdata) {
        if (!d) {
                (void) api_error(userdata, 404, "not_found", NULL, "the sandbox has gone meanwhile");
                return;
        }
        (void) api_answer(userdata, 200, json_pack("{s:s,s:s,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "id", d->id, "status",
                        sandbox_status_name(d->status), "verdict", verdict_name(d->verdict), "stuck", d->stuck, "summary",
                        json_text_or_null(d->summary), "evidence", evidence_json(d), "processes", processes_json(&d->processes),
                        "patterns", patterns_json(&d->output), "redFlags", flags_json(d), "suggestion",
                        json_text_or_null(d->suggestion)));
}

void native_diagnosis(ApiRequest *q) {
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
