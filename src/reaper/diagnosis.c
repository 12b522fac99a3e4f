#include "reaper/diagnosis.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "reaper/diagnosis-internal.h"
#include "reaper/internal.h"

#define BUSY_SHARE      0.9  /* of the CPU that it may use */
#define STARVED_SHARE   0.1
#define CALM_PERCENT    2.0
#define GROWTH_BYTES    (UINT64_C(1) << 20) /* per second: less counts as noise */
#define PIDS_SHARE      0.9
#define QUIET_USEC      (60 * USEC_PER_SEC)  /* no output for so long: no recent logs */
#define LONG_USEC       (600 * USEC_PER_SEC) /* running for more than 10 minutes is a red flag */
#define PROVISION_USEC  (60 * USEC_PER_SEC)
#define TIMEOUTS_MANY   2

static const char *const names[_VERDICT_MAX] = {
        [VERDICT_ACTIVE] = "active",               [VERDICT_IDLE] = "idle",                     [VERDICT_BUSY_LOOP] = "busy-loop",
        [VERDICT_WAITING_ON_IO] = "waiting-on-io", [VERDICT_HUNG] = "hung",                     [VERDICT_MEMORY_GROWING] = "memory-growing",
        [VERDICT_FORK_STORM] = "fork-storm",       [VERDICT_NO_OPERATIONS] = "no-operations",   [VERDICT_PAUSED] = "paused",
        [VERDICT_STOPPED] = "stopped",             [VERDICT_PROVISIONING] = "provisioning",     [VERDICT_TERMINATING] = "terminating",
        [VERDICT_ENDED] = "ended",
};
const ShapeNames verdict_names = SHAPE_WORDS(names);

const char *verdict_name(Verdict v) {
        return shape_name(&verdict_names, (int) v);
}

/* One sample */

typedef struct Look {
        usec_t at;
        SandboxUsage usage;
        ProcessCount processes;
        uint64_t operations, output;
} Look;

typedef struct Examination {
        Reaper *reaper;
        Sandbox *sandbox;
        Look first;
        sd_event_source *timer;
        DiagnosisDone done;
        void *userdata;
        struct Examination *prev, *next;
} Examination;

static void diagnosis_look(Sandbox *sb, Look *ret) {
        Provider *p = sb->manager->provider;
        DiagnosisOutput output;

        *ret = (Look) { .at = clock_usec(), .operations = sb->operations };
        if (sandbox_status_is_live(sb->status) && sb->status != SANDBOX_INITIALIZING && p->ops->usage(p, sb, &ret->usage) < 0)
                memset(&ret->usage, 0, sizeof(ret->usage));
        if (sandbox_status_is_live(sb->status))
                processes_read(sb->pid, &ret->processes);
        diagnosis_read_output(sb, /* patterns= */ false, &output);
        ret->output = output.bytes;
}

static usec_t oldest_command(const Sandbox *sb) {
        const Execution *x, *next;
        usec_t oldest = 0;

        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x))
                        oldest = MAX_OF(oldest, execution_age(x));
        return oldest;
}

/* From the cgroup; without one from the processes, which is less exact: a process that ends takes its CPU time
 * with it. */
static void compare_cpu(const Look *a, const Look *b, double seconds, Diagnosis *d) {
        if (a->usage.has_cpu && b->usage.has_cpu && b->usage.cpu_usec >= a->usage.cpu_usec) {
                d->cpu_percent = (double) (b->usage.cpu_usec - a->usage.cpu_usec) / 1e6 / seconds * 100;
                d->cpu_known = true;
        } else if (a->processes.known && b->processes.known) {
                uint64_t ticks = b->processes.ticks > a->processes.ticks ? b->processes.ticks - a->processes.ticks : 0;

                d->cpu_percent = (double) ticks / (double) sysconf(_SC_CLK_TCK) / seconds * 100;
                d->cpu_known = true;
        }
}

static void diagnosis_compare(const Look *a, const Look *b, Diagnosis *d) {
        double seconds = (double) (b->at - a->at) / (double) USEC_PER_SEC;

        d->sample = b->at - a->at;
        d->usage = b->usage;
        d->processes = b->processes;
        d->always_running = a->processes.running > 0 && b->processes.running > 0;
        if (seconds <= 0)
                return;
        compare_cpu(a, b, seconds, d);
        if (a->usage.has_memory && b->usage.has_memory)
                d->memory_growth = ((double) b->usage.memory_bytes - (double) a->usage.memory_bytes) / seconds;
        d->io_rate = NAN;
        if (a->usage.has_io && b->usage.has_io)
                d->io_rate = ((double) (b->usage.io_read_bytes + b->usage.io_write_bytes) -
                                             (double) (a->usage.io_read_bytes + a->usage.io_write_bytes)) / seconds;
        d->operations_delta = b->operations > a->operations ? b->operations - a->operations : 0;
        d->output_delta = b->output > a->output ? b->output - a->output : 0;
}

/* The verdict */

static bool diagnosis_conclude(Diagnosis *d, Verdict v, bool stuck, const char *suggestion, const char *format, ...) _printf_(5, 6);
static bool diagnosis_conclude(Diagnosis *d, Verdict v, bool stuck, const char *suggestion, const char *format, ...) {
        va_list ap;

        d->verdict = v;
        d->stuck = stuck;
        (void) snprintf(d->suggestion, sizeof(d->suggestion), "cove %s %s", suggestion, d->id);
        va_start(ap, format);
        (void) vsnprintf(d->summary, sizeof(d->summary), format, ap);
        va_end(ap);
        return true;
}

#define SECONDS(usec) ((double) (usec) / (double) USEC_PER_SEC)
#define MEGABYTES(n)  ((double) (n) / 1048576.0)

static bool by_status(const Sandbox *sb, const Config *c, Diagnosis *d) {
        bool late = d->age > MIN_OF(PROVISION_USEC, c->cleanup.orphan_timeout_usec);

        if (sandbox_status_is_ended(sb->status))
                return diagnosis_conclude(d, VERDICT_ENDED, false, "logs", "it has ended: %s", sb->reason ? sb->reason : "no reason given");
        switch (sb->status) {
        case SANDBOX_PAUSED:
                return diagnosis_conclude(d, VERDICT_PAUSED, false, "resume", "it is paused: all its processes are frozen");
        case SANDBOX_STOPPED:
                return diagnosis_conclude(d, VERDICT_STOPPED, false, "start", "it is stopped: no process runs");
        case SANDBOX_INITIALIZING:
                return diagnosis_conclude(d, VERDICT_PROVISIONING, late, late ? "rm --force" : "inspect", "it has been starting for %.1f s", SECONDS(d->age));
        case SANDBOX_TERMINATING:
                return diagnosis_conclude(d, VERDICT_TERMINATING, sandbox_since(sb, sb->changed_at) > GRACE_MAX, "logs",
                                "it has been ending for %.1f s", SECONDS(sandbox_since(sb, sb->changed_at)));
        default:
                return false;
        }
}

static bool is_fork_storm(Diagnosis *d) {
        return d->usage.has_pids && d->limits.pids > 0 && (double) d->usage.pids >= PIDS_SHARE * d->limits.pids &&
                        diagnosis_conclude(d, VERDICT_FORK_STORM, true, "rm --force", "%llu processes of %u that it may have: it forks without end",
                                        (unsigned long long) d->usage.pids, d->limits.pids);
}

static bool is_memory_growing(Diagnosis *d) {
        double left = (double) d->limits.memory_bytes - (double) d->usage.memory_bytes;

        if (!d->usage.has_memory || d->memory_growth < (double) GROWTH_BYTES)
                return false;
        return diagnosis_conclude(d, VERDICT_MEMORY_GROWING, true, "stats", "memory grows by %.1f MB/s: %.0f of %.0f MB are in use, full in %.0f s",
                        MEGABYTES(d->memory_growth), MEGABYTES(d->usage.memory_bytes), MEGABYTES(d->limits.memory_bytes),
                        left > 0 ? left / d->memory_growth : 0);
}

/* Progress is output, I/O, or operations. */
static bool is_busy_loop(Diagnosis *d) {
        double possible = d->cpu_limit_percent > 0 ? MIN_OF(d->cpu_limit_percent, 100.0) : 100;
        bool all = d->cpu_percent >= BUSY_SHARE * possible, starved = d->always_running && d->cpu_percent >= STARVED_SHARE * possible;

        if (d->executions == 0 || (!all && !starved)) /* on a busy machine it gets only the rest, but is runnable in each sample */
                return false;
        if (d->output_delta > 0 || d->operations_delta > 0 || d->io_rate > 0)
                return diagnosis_conclude(d, VERDICT_ACTIVE, false, "top", "it computes (%.0f %% CPU) and makes progress", d->cpu_percent);
        return diagnosis_conclude(d, VERDICT_BUSY_LOOP, true, "ps", "%.0f %% CPU, and no output, I/O or operation: an endless loop, or heavy work (%s)",
                        d->cpu_percent, d->processes.name[0] ? d->processes.name : "process unknown");
}

static usec_t silence(const Diagnosis *d) {
        usec_t now = clock_wall_usec(), quiet = d->running_for;

        if (d->output.last_at > 0 && now > d->output.last_at)
                quiet = MIN_OF(quiet, now - d->output.last_at);
        return quiet;
}

static bool is_calm(Diagnosis *d) {
        const char *state = d->processes.blocked > 0 ? "uninterruptible (disk)" : "sleeping";

        if (d->executions == 0 || !d->cpu_known || d->cpu_percent > CALM_PERCENT || d->output_delta > 0 || d->io_rate > 0)
                return false;
        if (silence(d) > QUIET_USEC)
                return diagnosis_conclude(d, VERDICT_HUNG, true, "ps", "no CPU, no I/O and no output for %.0f s: hung, or a deadlock (%s is %s)",
                                SECONDS(silence(d)), d->processes.name[0] ? d->processes.name : "its process", state);
        return diagnosis_conclude(d, VERDICT_WAITING_ON_IO, false, "ps", "no CPU: it waits for data, a disk, or another process (%s is %s)",
                        d->processes.name[0] ? d->processes.name : "its process", state);
}

static bool is_unused(const Sandbox *sb, Diagnosis *d) {
        usec_t since = sandbox_since(sb, sb->changed_at);

        if (d->executions > 0)
                return false;
        if (sandbox_is_agents(sb) && since > QUIET_USEC)
                return diagnosis_conclude(d, VERDICT_NO_OPERATIONS, true, "rm", "nothing runs, and it was not used for %.0f s",
                                SECONDS(since));
        return diagnosis_conclude(d, VERDICT_IDLE, false, "exec", "nothing runs in it; it is ready");
}

static void diagnosis_judge(const Sandbox *sb, Diagnosis *d) {
        if (by_status(sb, sb->manager->settings, d) || is_fork_storm(d) || is_memory_growing(d) || is_busy_loop(d) || is_calm(d) ||
                        is_unused(sb, d))
                return;
        if (d->cpu_known)
                (void) diagnosis_conclude(d, VERDICT_ACTIVE, false, "top", "it works: %.0f %% CPU", d->cpu_percent);
        else
                (void) diagnosis_conclude(d, VERDICT_ACTIVE, false, "ps", "a command runs; this host does not report its CPU time");
}

/* Red flags */

static void flag(Diagnosis *d, const char *format, ...) _printf_(2, 3);
static void flag(Diagnosis *d, const char *format, ...) {
        va_list ap;

        if (d->n_red_flags == DIAGNOSIS_FINDINGS_MAX)
                return;
        va_start(ap, format);
        (void) vsnprintf(d->red_flags[d->n_red_flags++], DIAGNOSIS_TEXT_MAX, format, ap);
        va_end(ap);
}

static unsigned count_timeouts(const Sandbox *sb) {
        const Execution *x, *next;
        unsigned n = 0;

        HASH_ITER(hh, sb->executions, x, next)
                n += x->reason == EXECUTION_REASON_TIMEOUT || x->reason == EXECUTION_REASON_CPU_TIME;
        return n;
}

static void find_flags(const Sandbox *sb, Diagnosis *d) {
        bool live = sandbox_status_is_live(sb->status), agents = sandbox_is_agents(sb);
        usec_t limit = agents ? judge_stuck_after(sb->manager->settings, sb) : 0;
        unsigned timeouts = count_timeouts(sb);

        if (d->running_for > LONG_USEC)
                flag(d, "a command has been running for %.1f minutes, more than 10", SECONDS(d->running_for) / 60);
        if (limit > 0 && d->running_for > limit)
                flag(d, "a command has been running for %.0f s, longer than its profile's stuck time of %.0f s", SECONDS(d->running_for), SECONDS(limit));
        if (d->verdict == VERDICT_PROVISIONING && d->stuck)
                flag(d, "stuck in provisioning");
        if (live && (!sb->spec.task_id || !*sb->spec.task_id) && !agents)
                flag(d, "no task and no agent type: its purpose is unknown");
        if (timeouts >= TIMEOUTS_MANY)
                flag(d, "%u of its commands were ended by a time limit", timeouts);
        if (d->executions > 0 && silence(d) > QUIET_USEC)
                flag(d, "no recent logs: nothing was written for %.0f s", SECONDS(silence(d)));
        if (d->usage.oom_kills > 0)
                flag(d, "%llu processes were killed for lack of memory", (unsigned long long) d->usage.oom_kills);
}

static void examine(Sandbox *sb, const Look *first, Diagnosis *d) {
        Look second;

        *d = (Diagnosis) {
                .status = sb->status,
                .age = sandbox_age(sb),
                .running_for = oldest_command(sb),
                .executions = sb->n_alive,
                .operations = sb->operations,
                .limits = sb->spec.limits,
                .cpu_limit_percent = sb->spec.limits.cpu_milli / 10.0,
                .io_rate = NAN,
        };
        memcpy(d->id, sb->id, sizeof(d->id));
        diagnosis_look(sb, &second);
        diagnosis_compare(first, &second, d);
        diagnosis_read_output(sb, /* patterns= */ true, &d->output);
        diagnosis_judge(sb, d);
        find_flags(sb, d);
}

/* Two samples */

static void examination_free(Examination *e) {
        DL_DELETE(e->reaper->examinations, e);
        sd_event_source_disable_unref(e->timer);
        (void) sandbox_unref(e->sandbox);
        free(e);
}

static int diagnosis_on_second(sd_event_source *source, uint64_t usec, void *userdata) {
        Examination *e = userdata;
        DiagnosisDone done = e->done;
        void *who = e->userdata;
        bool there = !sandbox_is_gone(e->sandbox);
        Diagnosis d;

        if (there)
                examine(e->sandbox, &e->first, &d);
        examination_free(e);
        if (done)
                done(there ? &d : NULL, who);
        return 0;
}

int reaper_diagnose(Reaper *r, Sandbox *sb, usec_t sample_usec, DiagnosisDone done, void *userdata) {
        Examination *e = calloc(1, sizeof(*e));
        int k;

        if (!e)
                return -ENOMEM;
        *e = (Examination) { .reaper = r, .sandbox = sandbox_ref(sb), .done = done, .userdata = userdata };
        diagnosis_look(sb, &e->first);
        DL_APPEND(r->examinations, e);
        k = sd_event_add_time_relative(r->manager->event, &e->timer, CLOCK_MONOTONIC, sample_usec, USEC_PER_MSEC, diagnosis_on_second, e);
        if (k < 0)
                examination_free(e);
        return k;
}

void diagnosis_forget(Reaper *r, void *userdata) {
        Examination *e, *next;

        DL_FOREACH_SAFE(r->examinations, e, next)
                if (e->userdata == userdata)
                        examination_free(e);
}

void diagnosis_free(Reaper *r) {
        while (r->examinations)
                examination_free(r->examinations);
}
