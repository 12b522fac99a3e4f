/* observer.h: what happens in the core, told to whoever counts, measures or writes it down.
 *
 * The core knows no metrics, no alerts and no audit log; they hang themselves in here. Told after the store was written.
 * An observer must return soon, and must not end, delete or create sandboxes from within a call: it may take a note, or arm a
 * timer that does. Every function may be NULL. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"

/* The steps of a life that take time, each told once with how long it took. */
typedef enum LifeStep {
        STEP_QUEUE,     /* waiting for room, until a place was given */
        STEP_PROVISION, /* from its row to `ready` (a pooled one: until it could be claimed) */
        STEP_CLAIM,     /* of a pooled one, by a caller */
        STEP_EXEC,      /* one execution, its start to its end */
        STEP_CLEANUP,   /* from `terminating` until nothing of it is left */
        STEP_LIFETIME,  /* from the moment it belonged to somebody to its end */
        _STEP_MAX,
} LifeStep;

const char *life_step_name(LifeStep s);

/* Since it was told last. */
typedef struct NetworkNews {
        const char *kind;   /* "denied", "asked", "answered", "traffic", "restart" (of what looks after networks) */
        const char *reason; /* denied: one of a few fixed words */
        const char *text;   /* asked, answered: what, in words */
        uint64_t count;     /* of denials, questions, restarts */
        uint64_t up_bytes, down_bytes, requests; /* traffic */
} NetworkNews;

typedef struct CoreObserver {
        /* from == to: it has just been made (initializing), or claimed out of a pool. */
        void (*status)(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata);
        void (*execution_started)(Execution *x, void *userdata);
        void (*execution_ended)(Execution *x, void *userdata);
        /* sb may be NULL (a place in the queue that was given up). start: wall clock. x: for STEP_EXEC. */
        void (*step)(LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration, void *userdata);
        /* Usage at the end of a life, read before its cgroups go. Once per sandbox, also when nothing could be read. */
        void (*usage)(Sandbox *sb, const SandboxUsage *usage, void *userdata);
        /* Something that a security reviewer wants to know of: kind is a short fixed word ("limit-kill", "oom-kill", "path-refused",
         * "policy", "auth-failed", "escape-attempt"). sb may be NULL. text NULL: one of many, to be counted and not
         * to be written down. */
        void (*security)(const char *kind, Sandbox *sb, const char *text, void *userdata);
        /* What went into the events of a sandbox: "timeout", "stuck", "status", "exec.start", … x may be NULL. */
        void (*event)(Sandbox *sb, const char *type, const Execution *x, const char *text, void *userdata);
        /* What went through the network of a sandbox, or tried to. sb may be NULL. */
        void (*network)(Sandbox *sb, const NetworkNews *news, void *userdata);
        void *userdata;
        struct CoreObserver *next; /* the manager's */
} CoreObserver;

void manager_observe(Manager *m, CoreObserver *o); /* o stays the caller's */
void manager_unobserve(Manager *m, CoreObserver *o);
void manager_unobserve_all(Manager *m); /* the end: the rooms go one after the other, and must not be told of each other's */

void observe_status(Sandbox *sb, SandboxStatus from, SandboxStatus to);
void observe_execution_started(Execution *x);
void observe_execution_ended(Execution *x);
void observe_step(Manager *m, LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration);
void observe_usage(Sandbox *sb, const SandboxUsage *usage);
void observe_security(Manager *m, const char *kind, Sandbox *sb, const char *format, ...) _printf_(4, 5);
void observe_security_count(Manager *m, const char *kind); /* one more, which is not written down */
void observe_network(Manager *m, Sandbox *sb, const NetworkNews *news);
void observe_event(Sandbox *sb, const char *type, const Execution *x, const char *text);
