/* timers.c: timeouts, expiry, the CPU time limit and retries of a sandbox.
 *
 * The times are in the store; a timer here only wakes the daemon for the next of them. So they survive a restart: a
 * timer that expired meanwhile fires at once. */

#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "core/internal.h"

#define CPU_CHECK_MIN (20 * USEC_PER_MSEC)
#define ACCURACY      (10 * USEC_PER_MSEC)
#define BUSY_RETRY    USEC_PER_SEC
#define RETRY_USEC    (1 * USEC_PER_SEC)

typedef struct SandboxTimers {
        sd_event_source *expiry; /* of a live sandbox: its timeout; of an ended one: the deletion of its row */
        sd_event_source *cpu;
        sd_event_source *retry;
        void (*again)(Sandbox *sb); /* the operation to retry */
} SandboxTimers;

static SandboxTimers *timers_of(Sandbox *sb) {
        if (!sb->timers)
                sb->timers = calloc(1, sizeof(*sb->timers));
        return sb->timers;
}

void sandbox_timers_free(Sandbox *sb) {
        if (!sb->timers)
                return;
        sd_event_source_disable_unref(sb->timers->expiry);
        sd_event_source_disable_unref(sb->timers->cpu);
        sd_event_source_disable_unref(sb->timers->retry);
        free(sb->timers);
        sb->timers = NULL;
}

static int timers_on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Sandbox *sb = userdata;

        sb->timers->again(sb);
        return 0;
}

int sandbox_retry_later(Sandbox *sb, void (*again)(Sandbox *sb)) {
        SandboxTimers *t = timers_of(sb);

        if (!t)
                return -ENOMEM;
        t->again = again;
        t->retry = sd_event_source_disable_unref(t->retry);
        return sd_event_add_time_relative(sb->manager->event, &t->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, timers_on_retry, sb);
}

/* A sandbox that cannot be parked at its timeout is ended. */
static void timers_on_parked(Sandbox *sb, const Error *error, void *userdata) {
        if (!error || sb->status == SANDBOX_PAUSED || sandbox_is_ending(sb))
                return;
        if (error->code == -EBUSY || error_is_shortage(error->code)) { /* its disk is being copied, it is being stopped, or there is no room: try again soon */
                sb->expires_at = clock_wall_usec() + BUSY_RETRY;
                sandbox_row_wrote(sb, store_sandbox_update(sb->manager->store, sb), "its time");
                (void) sandbox_arm_timers(sb);
                return;
        }
        log_error("sandbox %s: cannot be paused to disk at its timeout: %s", sb->id, error->text);
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, "timeout");
}

/* A pause uses the timeout up; it returns only when a caller sets another. */
static void expire_live(Sandbox *sb) {
        static const SandboxParking parking = { .end_processes = true, .why = EXECUTION_REASON_PARKED, .reason = "timeout" };

        sandbox_event(sb, "timeout", NULL, "%s", on_timeout_name(sb->spec.on_timeout));
        sb->expires_at = 0;
        sandbox_row_wrote(sb, store_sandbox_update(sb->manager->store, sb), "its time");
        if (sb->spec.on_timeout == ON_TIMEOUT_KILL)
                sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, "timeout");
        else if (!sandbox_is_up(sb))
                return;
        else if (sb->spec.on_timeout == ON_TIMEOUT_PARK)
                sandbox_park(sb, &parking, timers_on_parked, NULL);
        else
                sandbox_pause(sb, NULL, NULL);
}

static int timers_on_expiry(sd_event_source *source, uint64_t usec, void *userdata) {
        Sandbox *sb = userdata;

        if (sandbox_status_is_ended(sb->status))
                sandbox_end(sb, sb->status, /* delete= */ true, "deleted"); /* frees it */
        else if (sb->status == SANDBOX_PAUSED)
                (void) sandbox_arm_timers(sb);
        else /* also if the clock was set back meanwhile: the given time has passed */
                expire_live(sb);
        return 0;
}

static usec_t next_time(const Sandbox *sb) {
        if (sandbox_status_is_ended(sb->status))
                return sb->ended_at + sb->manager->config.keep_ended_usec;
        return sb->status == SANDBOX_TERMINATING || sb->status == SANDBOX_PAUSED ? 0 : sb->expires_at;
}

/* Corrects expires_at by the timer, because the wall clock may have been set since the timer was armed. */
void sandbox_time_stands(Sandbox *sb) {
        uint64_t at, now;

        if (sb->expires_at == 0 || !sb->timers || !sb->timers->expiry || sd_event_source_get_time(sb->timers->expiry, &at) < 0 ||
                        sd_event_now(sb->manager->event, CLOCK_BOOTTIME, &now) < 0)
                return;
        sb->expires_at = sb->changed_at + (at > now ? at - now : 1);
}

void sandbox_time_goes_on(Sandbox *sb) {
        if (sb->expires_at > sb->changed_at)
                sb->expires_at = clock_wall_usec() + (sb->expires_at - sb->changed_at);
}

/* Uses a clock that counts while the machine sleeps, and does not jump. */
int sandbox_arm_timers(Sandbox *sb) {
        SandboxTimers *t;
        usec_t next = next_time(sb), now = clock_wall_usec();

        if (next == 0) {
                if (sb->timers)
                        sb->timers->expiry = sd_event_source_disable_unref(sb->timers->expiry);
                return 0;
        }
        t = timers_of(sb);
        if (!t)
                return -ENOMEM;
        t->expiry = sd_event_source_disable_unref(t->expiry);
        return sd_event_add_time_relative(sb->manager->event, &t->expiry, CLOCK_BOOTTIME, next > now ? next - now : 0, ACCURACY,
                        timers_on_expiry, sb);
}

static int on_cpu(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) sandbox_check_cpu_time(userdata); /* it acts on the result itself */
        return 0;
}

static void timers_kill_all(Sandbox *sb, ExecutionReason why) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                execution_kill(x, why);
}

/* The next check is due when all cores together could have used up the rest. */
int sandbox_check_cpu_time(Sandbox *sb) {
        SandboxUsage usage = { 0 };
        SandboxTimers *t;
        usec_t left;
        int r;

        if (sb->spec.limits.cpu_time_usec == 0 || sb->n_alive == 0)
                return 0;
        t = timers_of(sb);
        if (!t)
                return -ENOMEM;
        r = sandbox_read_usage(sb, &usage);
        if (r >= 0 && !usage.has_cpu)
                r = -ENODATA;
        if (r < 0) {
                log_error("sandbox %s: cannot read the CPU time, which is limited: ending it", sb->id);
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ false, "its CPU time cannot be read");
                return r;
        }
        t->cpu = sd_event_source_disable_unref(t->cpu);
        if (usage.cpu_usec >= sb->spec.limits.cpu_time_usec) {
                timers_kill_all(sb, EXECUTION_REASON_CPU_TIME);
                return 0;
        }
        left = (sb->spec.limits.cpu_time_usec - usage.cpu_usec) / (usec_t) MAX_OF(get_nprocs(), 1);
        return sd_event_add_time_relative(sb->manager->event, &t->cpu, CLOCK_MONOTONIC, MAX_OF(left, CPU_CHECK_MIN), ACCURACY,
                        on_cpu, sb);
}
