#include "observe/signal.h"

#include <stddef.h>

static const struct {
        const char *name, *help;
} signals[_SIGNAL_MAX] = {
        [SIGNAL_FAILURE_RATE]         = { "failure_rate", "Share of sandboxes that ended in the last hour and have failed, timeouts included; of ten at least" },
        [SIGNAL_TIMEOUT_RATE]         = { "timeout_rate", "Share of sandboxes that ended in the last hour and were ended at their work by a time limit; of ten at least" },
        [SIGNAL_TIMEOUTS_OF_FAILURES] = { "timeouts_of_failures", "Share of the failures of the last hour that were timeouts; if one sandbox in twenty fails at least" },
        [SIGNAL_STUCK]                = { "stuck", "Sandboxes that run for longer than they should" },
        [SIGNAL_ORPHANED]             = { "orphaned", "Sandboxes that do not get ready" },
        [SIGNAL_ACTIVE]               = { "active", "Sandboxes that are live, those of pools not counted" },
        [SIGNAL_HTTP_ERROR_RATE]      = { "http_error_rate", "Share of answers of the last five minutes that were an error of the daemon (5xx); of five errors at least" },
        [SIGNAL_HTTP_TIMEOUT_RATE]    = { "http_timeout_rate", "Share of answers of the last five minutes that were a timeout; of five timeouts at least" },
        [SIGNAL_QUEUE_DEPTH]          = { "queue_depth", "Agent executions and callers that wait" },
        [SIGNAL_QUEUE_P95]            = { "queue_p95", "Seconds in the queue, 95th percentile of the last five minutes" },
        [SIGNAL_STORE_P95]            = { "store_p95", "Seconds of one transaction of the store, 95th percentile of the last five minutes" },
        [SIGNAL_POOL_WAIT]            = { "pool_wait", "Seconds that the longest waiting caller has waited for a sandbox" },
        [SIGNAL_SECURITY_EVENTS]      = { "security_events", "Violations of the last hour: refused paths, keys, connections and calls; programs that ran into their limits are not counted" },
        [SIGNAL_SWEEP_LATENESS]       = { "sweep_lateness", "Seconds beyond its interval that the last sweep is ago" },
        [SIGNAL_SWEEP_FAILURE_RATE]   = { "sweep_failure_rate", "Share of the last runs of the cleaners that have failed" },
        [SIGNAL_CLEANUP_FAILURES]     = { "cleanup_failures", "What could not be cleaned in the last hour" },
        [SIGNAL_MEMORY_USAGE]         = { "memory_usage", "Share of the machine's memory that is in use" },
        [SIGNAL_DISK_USAGE]           = { "disk_usage", "Share of the state directory's file system that is in use" },
        [SIGNAL_DEPOT_USAGE]          = { "depot_usage", "Share of what the depot can take that is in use" },
        [SIGNAL_DELIVERY_FAILURES]    = { "delivery_failures", "Notifications that were given up in the last hour" },
        [SIGNAL_DEAD_LETTERS]         = { "dead_letters", "Agent executions that have used all their attempts" },
        [SIGNAL_UNHEALTHY]            = { "unhealthy", "Sandboxes whose last health check has failed" },
        [SIGNAL_SANDBOX_MEMORY_MAX]   = { "sandbox_memory_max", "Highest use of its memory limit of any live sandbox, 0 to 1" },
        [SIGNAL_SANDBOX_CPU_MAX]      = { "sandbox_cpu_max", "Highest use of its CPU quota of any live sandbox, 0 to 1" },
        [SIGNAL_SANDBOX_IDLE_MAX]     = { "sandbox_idle_max", "Seconds since anything happened in the live sandbox that has waited longest" },
        [SIGNAL_CAP]                  = { "cap", "Sandboxes that the daemon allows" },
        [SIGNAL_UNUSED]               = { "unused", "Live sandboxes in which nothing runs and nothing has happened for an hour; paused and stopped ones are not counted" },
        [SIGNAL_SHORT_OF_MEMORY]      = { "short_of_memory", "Live sandboxes that use more than 88 % of their memory limit" },
        [SIGNAL_SHORT_OF_CPU]         = { "short_of_cpu", "Live sandboxes that use more than 90 % of their CPU quota" },
        [SIGNAL_REFUSED_CALLS]        = { "refused_calls", "Keys, paths and calls of callers that were refused in the last hour" },
};

const char *signal_name(Signal s) {
        return s >= 0 && s < _SIGNAL_MAX ? signals[s].name : NULL;
}

const char *signal_help(Signal s) {
        return s >= 0 && s < _SIGNAL_MAX ? signals[s].help : NULL;
}
