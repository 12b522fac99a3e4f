/* hooks.c: counts the events of the core.
 *
 * An ended sandbox has failed if its status says so, or if it has an agent type and its last execution failed. In other
 * sandboxes a failed program is the caller's business. An end by the time limit counts as a timeout if something was
 * running, and as expiry otherwise. */

#include <string.h>

#include "observe/internal.h"

#define WAITED (100 * USEC_PER_MSEC) /* a refusal after so long had waited for a place */

static const char *execution_outcome(const Execution *x) {
        switch (x->reason) {
        case EXECUTION_REASON_EXITED:
                return x->exit_code == 0 ? "success" : "failure";
        case EXECUTION_REASON_TIMEOUT:
        case EXECUTION_REASON_CPU_TIME:
                return "timeout";
        case EXECUTION_REASON_CANCELLED:
        case EXECUTION_REASON_SANDBOX_ENDED:
                return "cancelled";
        default:
                return "failure";
        }
}

static const char *sandbox_outcome(const Sandbox *sb, const Note *n) {
        if (n && n->ending)
                return n->ending;
        if (sb->status == SANDBOX_FAILED)
                return "failed";
        if (n && n->outcome && sb->spec.agent_type) {
                if (strcmp(n->outcome, "failure") == 0)
                        return "failed";
                if (strcmp(n->outcome, "timeout") == 0)
                        return "timeout";
        }
        return "completed";
}

/* Called at the beginning of the end, while it is known what runs. */
static void note_ending(Note *n, const Sandbox *sb) {
        if (n && sb->reason && strcmp(sb->reason, "timeout") == 0)
                n->ending = n->alive > 0 || sb->n_alive > 0 ? "timeout" : "expired";
}

static void hooks_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        Observe *o = userdata;
        Note *n;

        if (sb->pooled) {
                if (sandbox_status_is_ended(to))
                        note_remove(o, sb);
                return;
        }
        n = note_get(o, sb);
        if (n)
                n->activity = clock_wall_usec();
        if (from == to)
                metric_add(o, METRIC_SANDBOXES_CREATED, agent_label(sb), 1);
        else if (to == SANDBOX_TERMINATING)
                note_ending(n, sb);
        else if (sandbox_status_is_ended(to)) {
                metric_add2(o, METRIC_SANDBOXES_ENDED, agent_label(sb), sandbox_outcome(sb, n), 1);
                note_remove(o, sb);
        }
}

static void hooks_on_execution_started(Execution *x, void *userdata) {
        Note *n = note_get(userdata, x->sandbox);

        if (!n)
                return;
        n->activity = clock_wall_usec();
        if (n->alive++ == 0)
                n->busy_since = clock_usec();
}

static void hooks_on_execution_ended(Execution *x, void *userdata) {
        Observe *o = userdata;
        const char *outcome = execution_outcome(x);
        Note *n = note_get(o, x->sandbox);

        metric_add2(o, METRIC_EXECUTIONS, agent_label(x->sandbox), outcome, 1);
        if (!n)
                return;
        n->activity = clock_wall_usec();
        n->outcome = outcome;
        if (n->alive > 0 && --n->alive == 0)
                n->busy += clock_usec() - n->busy_since;
}

static const Metric step_metrics[_STEP_MAX] = {
        [STEP_QUEUE] = METRIC_STEP_QUEUE, [STEP_PROVISION] = METRIC_STEP_PROVISION, [STEP_CLAIM] = METRIC_STEP_CLAIM,
        [STEP_EXEC] = METRIC_STEP_EXEC,   [STEP_CLEANUP] = METRIC_STEP_CLEANUP,     [STEP_LIFETIME] = METRIC_STEP_LIFETIME,
};

static void hooks_on_step(LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration, void *userdata) {
        if (sb && sb->pooled && step == STEP_LIFETIME)
                return; /* it had no owner */
        metric_observe(userdata, step_metrics[step], agent_label(sb), (double) duration / USEC_PER_SEC);
}

static void hooks_on_usage(Sandbox *sb, const SandboxUsage *usage, void *userdata) {
        if (!sb->pooled)
                usage_record(userdata, sb, usage);
}

static void hooks_on_security(const char *kind, Sandbox *sb, const char *text, void *userdata) {
        metric_add(userdata, METRIC_SECURITY_EVENTS, kind, 1);
}

static void on_traffic(Observe *o, Sandbox *sb, const NetworkNews *news) {
        const char *agent = agent_label(sb);

        metric_add(o, METRIC_EGRESS_BYTES, agent, (double) news->up_bytes);
        metric_add(o, METRIC_INGRESS_BYTES, agent, (double) news->down_bytes);
        metric_add(o, METRIC_NETWORK_REQUESTS, agent, (double) news->requests);
        if (sb && sb->status == SANDBOX_TERMINATING)
                usage_late(o, sb, news->up_bytes);
}

static void hooks_on_network(Sandbox *sb, const NetworkNews *news, void *userdata) {
        if (strcmp(news->kind, "traffic") == 0)
                on_traffic(userdata, sb, news);
        else if (strcmp(news->kind, "denied") == 0)
                metric_add(userdata, METRIC_EGRESS_DENIED, news->reason, (double) news->count);
        else if (strcmp(news->kind, "asked") == 0)
                metric_add(userdata, METRIC_EGRESS_ASKS, NULL, (double) news->count);
        else if (strcmp(news->kind, "restart") == 0)
                metric_add(userdata, METRIC_GATE_RESTARTS, NULL, (double) news->count);
}

void observe_hook(Observe *o) {
        o->observer = (CoreObserver) {
                .status = hooks_on_status,
                .execution_started = hooks_on_execution_started,
                .execution_ended = hooks_on_execution_ended,
                .step = hooks_on_step,
                .usage = hooks_on_usage,
                .security = hooks_on_security,
                .network = hooks_on_network,
                .userdata = o,
        };
        manager_observe(o->manager, &o->observer);
}

void observe_http(Observe *o, const char *route, unsigned status, usec_t duration) {
        static const char *const classes[] = { "1xx", "2xx", "3xx", "4xx", "5xx" };

        if (!o || status < 100 || status > 599)
                return;
        metric_add2(o, METRIC_HTTP_REQUESTS, route, classes[status / 100 - 1], 1);
        metric_observe(o, METRIC_HTTP_SECONDS, route, (double) duration / USEC_PER_SEC);
        if (status == 408 || status == 504 || (status == 429 && duration >= WAITED))
                metric_add(o, METRIC_HTTP_TIMEOUTS, NULL, 1);
}
