/* observer.h: reports events of the core to the rooms that count, measure or log them.
 *
 * The core knows no metrics, no alerts and no audit log; these register here. Observers are called after the store
 * was written. An observer must return soon, and must not end, delete or create sandboxes from within a call; it
 * can arm a timer that does. Every function may be NULL. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"

/* The steps of a sandbox's life that take time; each is reported once, with its duration. */
typedef enum LifeStep {
        STEP_QUEUE,     /* in the queue, until a place was granted or given up */
        STEP_PROVISION, /* from its row to `ready` (a pooled one: until it could be claimed) */
        STEP_CLAIM,     /* the claim of a pooled one */
        STEP_EXEC,      /* one execution, from start to end */
        STEP_CLEANUP,   /* from `terminating` until nothing of it is left */
        STEP_LIFETIME,  /* from the moment it had an owner to its end */
        _STEP_MAX,
} LifeStep;

const char *life_step_name(LifeStep s);

/* Changes since the last report. */
typedef struct NetworkNews {
        const char *kind;   /* "denied", "asked", "answered", "traffic", "restart" (of the gate) */
        const char *reason; /* denied: one of a few fixed words */
        const char *text;   /* asked, answered: a description */
        uint64_t count;     /* of denials, questions, restarts */
        uint64_t up_bytes, down_bytes, requests; /* traffic */
} NetworkNews;

typedef struct CoreObserver {
        /* from == to: it has just been made (initializing), or claimed from a pool. */
        void (*status)(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata);
        void (*execution_started)(Execution *x, void *userdata);
        void (*execution_ended)(Execution *x, void *userdata);
        /* sb may be NULL (a place in the queue that was given up). start: wall clock. x: for STEP_EXEC. */
        void (*step)(LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration, void *userdata);
        /* Usage at the end of a sandbox, read before its cgroups are removed. Once per sandbox, also if nothing could be
         * read. */
        void (*usage)(Sandbox *sb, const SandboxUsage *usage, void *userdata);
        /* An event for security reviews. kind is a short fixed word ("limit-kill", "oom-kill", "path-refused", "policy",
         * "auth-failed", "escape-attempt"). sb may be NULL. text NULL: one of many, to be counted and not logged. */
        void (*security)(const char *kind, Sandbox *sb, const char *text, void *userdata);
        /* An event of a sandbox's log: "timeout", "stuck", "status", "exec.start", … x may be NULL. */
        void (*event)(Sandbox *sb, const char *type, const Execution *x, const char *text, void *userdata);
        /* Traffic and denials of a sandbox's network. sb may be NULL. */
        void (*network)(Sandbox *sb, const NetworkNews *news, void *userdata);
        void *userdata;
        struct CoreObserver *next; /* private to the manager */
} CoreObserver;

void manager_observe(Manager *m, CoreObserver *o); /* o stays the caller's */
void manager_unobserve(Manager *m, CoreObserver *o);
void manager_unobserve_all(Manager *m); /* at shutdown: rooms are freed one after the other and must not get each other's events */

void observe_status(Sandbox *sb, SandboxStatus from, SandboxStatus to);
void observe_execution_started(Execution *x);
void observe_execution_ended(Execution *x);
void observe_step(Manager *m, LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration);
void observe_usage(Sandbox *sb, const SandboxUsage *usage);
void observe_security(Manager *m, const char *kind, Sandbox *sb, const char *format, ...) _printf_(4, 5);
void observe_security_count(Manager *m, const char *kind); /* with text NULL: only counted */
void observe_network(Manager *m, Sandbox *sb, const NetworkNews *news);
void observe_event(Sandbox *sb, const char *type, const Execution *x, const char *text);
