#include "cli/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cli/verbs.h"

static const char *const reason_names[_REASON_MAX] = {
        [REASON_EXITED] = "exited",
        [REASON_SIGNALED] = "signaled",
        [REASON_TIMEOUT] = "timeout",
        [REASON_CPU_TIME] = "cpu_time",
        [REASON_MEMORY] = "memory",
        [REASON_OUTPUT_LIMIT] = "output_limit",
        [REASON_DISK] = "disk",
        [REASON_CANCELLED] = "cancelled",
        [REASON_INTERNAL] = "internal",
};

const char *reason_name(Reason r) {
        return reason_names[r];
}

static void outcome_say(Outcome *out, const char *words) {
        (void) snprintf(out->message, sizeof(out->message), "%s", words);
}

static void conclude_program(Outcome *out, const Ending *e) {
        bool oom = out->usage.cgroup.oom_kills > 0;

        if (WIFEXITED(e->wait_status)) {
                out->exit_code = WEXITSTATUS(e->wait_status);
                out->exit_status = out->exit_code;
                out->reason = REASON_EXITED;
        } else {
                out->signal = WTERMSIG(e->wait_status);
                out->exit_status = EXIT_SIGNAL_BASE + out->signal;
                out->reason = REASON_SIGNALED;
        }

        /* The kernel counts its own kills; a shell reports a killed child as status 137. */
        if (oom && (out->signal == SIGKILL || out->exit_code == EXIT_SIGNAL_BASE + SIGKILL)) {
                out->reason = REASON_MEMORY;
                outcome_say(out, "out of memory: killed by the kernel at the limit");
        } else if (out->disk_full && out->exit_status != 0) {
                out->reason = REASON_DISK;
                outcome_say(out, "failed with its disk full");
        } else if ((out->guards_missing & GUARD_BIT(GUARD_CPU)) && e->cpu_time != USEC_INFINITY &&
                        (out->signal == SIGXCPU ||
                                        (out->signal == SIGKILL &&
                                                        out->usage.user_usec + out->usage.system_usec >= e->cpu_time))) {
                out->reason = REASON_CPU_TIME;
                out->exit_status = EXIT_TIMED_OUT;
                outcome_say(out, "used up its CPU time");
        }
}

static void conclude_killed(Outcome *out) {
        switch (out->reason) {
        case REASON_TIMEOUT:
        case REASON_CPU_TIME:
                out->signal = SIGKILL;
                out->exit_status = EXIT_TIMED_OUT;
                break;
        case REASON_CANCELLED: /* the status already has our signal */
                out->signal = SIGKILL;
                break;
        default:
                if (out->exit_status == 0)
                        out->exit_status = EXIT_OWN_FAILURE;
        }
}

/* Too much output counts even if it is found after the program has ended. */
static void conclude_output_limit(Outcome *out, const Ending *e) {
        out->reason = REASON_OUTPUT_LIMIT;
        out->exit_status = EXIT_SIGNAL_BASE + SIGKILL;
        if (e->exited && WIFEXITED(e->wait_status))
                out->exit_code = WEXITSTATUS(e->wait_status);
        else
                out->signal = e->exited ? WTERMSIG(e->wait_status) : SIGKILL;
        outcome_say(out, "more output than --output-limit");
}

void outcome_conclude(Outcome *out, const Ending *e) {
        if (out->stdout_truncated || out->stderr_truncated)
                conclude_output_limit(out, e);
        else if (e->exited)
                conclude_program(out, e);
        else if (e->killed)
                conclude_killed(out);
        else if (out->usage.cgroup.oom_kills > 0) {
                out->reason = REASON_MEMORY;
                out->signal = SIGKILL;
                out->exit_status = EXIT_SIGNAL_BASE + SIGKILL;
                outcome_say(out, "out of memory: killed by the kernel at the limit");
        } else {
                out->reason = REASON_INTERNAL;
                out->exit_status = EXIT_OWN_FAILURE;
                outcome_say(out, "the sandbox was killed from outside");
        }
}
