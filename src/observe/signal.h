/* signal.h: the numbers that alert rules compare.
 *
 * One table: name, meaning, time span. Metrics supply the values, rules compare them, the JSON of /api/sandbox/health
 * and Prometheus show them. Rates are 0…1 over the last hour unless noted otherwise. NAN: no data.
 * Must not know: thresholds, channels. */
#pragma once

typedef enum Signal {
        SIGNAL_FAILURE_RATE,        /* of sandboxes and agent executions that ended: failed */
        SIGNAL_TIMEOUT_RATE,        /* … ended by a time limit */
        SIGNAL_TIMEOUTS_OF_FAILURES, /* D5 400; no data while hardly anything fails */
        SIGNAL_STUCK,               /* sandboxes, now */
        SIGNAL_ORPHANED,            /* sandboxes, now */
        SIGNAL_ACTIVE,              /* sandboxes, now; pooled ones not counted */
        SIGNAL_HTTP_ERROR_RATE,     /* 5xx of all answers, last 5 minutes */
        SIGNAL_HTTP_TIMEOUT_RATE,   /* answers that were a timeout (408, 504, 429 after waiting), last 5 minutes */
        SIGNAL_QUEUE_DEPTH,         /* waiting agent executions and callers, now */
        SIGNAL_QUEUE_P95,           /* seconds, last 5 minutes */
        SIGNAL_STORE_P95,           /* seconds of one store transaction, last 5 minutes */
        SIGNAL_POOL_WAIT,           /* seconds that the longest waiting caller has waited, now */
        SIGNAL_SECURITY_EVENTS,     /* violations in the last hour; kills by limits and a failing audit log do not count */
        SIGNAL_SWEEP_LATENESS,      /* seconds by which the next sweep is overdue; 0: in time */
        SIGNAL_SWEEP_FAILURE_RATE,  /* of the last 10 runs of any layer */
        SIGNAL_CLEANUP_FAILURES,    /* items that could not be cleaned, last hour */
        SIGNAL_MEMORY_USAGE,        /* of the machine, 0…1 */
        SIGNAL_DISK_USAGE,          /* of the file system of the state directory, 0…1 */
        SIGNAL_DEPOT_USAGE,         /* of the largest size that the depot may have, 0…1 */
        SIGNAL_DELIVERY_FAILURES,   /* notifications given up, last hour */
        SIGNAL_DEAD_LETTERS,        /* agent executions, now */
        SIGNAL_UNHEALTHY,           /* sandboxes whose last health check failed, now */
        SIGNAL_SANDBOX_MEMORY_MAX,  /* highest use of its limit of any live sandbox, 0…1 (C6 293) */
        SIGNAL_SANDBOX_CPU_MAX,     /* highest use of its quota of any live sandbox, 0…1 */
        SIGNAL_SANDBOX_IDLE_MAX,    /* seconds since the last activity in the live sandbox that is idle longest (C6 293) */
        SIGNAL_CAP,                 /* sandboxes that the daemon allows */
        SIGNAL_UNUSED,              /* live sandboxes in which nothing has happened for an hour, without set-aside ones, now */
        SIGNAL_SHORT_OF_MEMORY,     /* live sandboxes that use nearly all of their memory limit, now */
        SIGNAL_SHORT_OF_CPU,        /* live sandboxes that use nearly all of their CPU quota, now */
        SIGNAL_REFUSED_CALLS,       /* violations by callers in the last hour: SIGNAL_SECURITY_EVENTS without what guests tried */
        _SIGNAL_MAX,
} Signal;

const char *signal_name(Signal s); /* "failure_rate" */
const char *signal_help(Signal s);
