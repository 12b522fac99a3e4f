/* reaper.h: cleans up sandboxes, records and files that should not exist any more.
 *
 * Every sandbox has timers of its own (core/sandbox/timers.c). This room finds what they miss, in independent layers:
 *
 *      sweep       every sweepInterval: what is provably broken or over; batchSize per run, oldest first, none starves
 *      age         every ageInterval: agents' sandboxes that are older than maxAge and than their profile's execution time
 *      pressure    every pressureInterval: when memory, disk or places run out, ends idle sandboxes, oldest first
 *      reconcile   every reconcileInterval: compares records and kernel in both directions; files without a record
 *      health      every healthInterval: a trivial command in each sandbox that runs something or is an agent's
 *
 * Every sandbox is subject to the rules for what is provably broken or over: it is in the making for longer than
 * orphanTimeout; its own timeout is overdue, because a timer got lost; a command is beyond its own time limit; it is
 * terminating without an end; it has ended, and its record is older than recordAge. An agent's sandbox (one with a
 * profile or an agent type) is also ended when it is stuck (one command runs longer than the profile's stuckTimeout,
 * which is never below its execution time), too old, or unhealthy and old. A plain sandbox belongs to its caller and
 * may live for ever. A paused sandbox is ended only by pressure and emergencies. Pressure and emergencies spare
 * `critical` sandboxes. Pooled sandboxes without an owner are left to their pool while they are sound, but under
 * pressure they are ended before others.
 *
 * Nothing blocks the loop: a run works in slices, and waits for the ends that it has requested. An item that fails is
 * counted and named in the report, and stops nothing. Every run first judges made-up sandboxes, broken and sound ones,
 * so that a broken detection is noticed. There are three faults: not running, failing, detection broken.
 *
 * Knows the core and the store's reports. Must not know: HTTP, SQL, JSON, metrics and alerts: it provides numbers. */
#pragma once

#include "core/manager.h"

typedef struct Reaper Reaper;

#define CLEANUP_NAME_MAX   320 /* an id, or a file's name */
#define CLEANUP_TEXT_MAX   256
#define CLEANUP_ITEMS_MAX  10000 /* of one run; the rest is left to the next */

typedef enum CleanupKind {
        CLEANUP_SWEEP,
        CLEANUP_AGE,
        CLEANUP_PRESSURE,
        CLEANUP_RECONCILE,
        CLEANUP_MANUAL,    /* the rules of sweep and age, without batchSize; also records of failed ones older than maxAge */
        CLEANUP_EMERGENCY, /* every sandbox that is not `critical`, at a person's request */
        CLEANUP_HEALTH,    /* ends a sandbox that was found unhealthy */
        _CLEANUP_KIND_MAX,
} CleanupKind;

extern const ShapeNames cleanup_kind_names;
const char *cleanup_kind_name(CleanupKind k);

typedef enum CleanupCause {
        CLEANUP_BY_TIMER,
        CLEANUP_BY_EXECUTION, /* an execution has ended, and a run was due */
        CLEANUP_BY_REQUEST,
        _CLEANUP_CAUSE_MAX,
} CleanupCause;

extern const ShapeNames cleanup_cause_names;
const char *cleanup_cause_name(CleanupCause c);

/* The reason to remove an item. */
typedef enum CleanupRule {
        RULE_NONE,
        RULE_ORPHANED,  /* in the making for too long */
        RULE_STUCK,     /* an agent's command runs for too long */
        RULE_OVERDUE,   /* its own timeout has passed, and it was not ended */
        RULE_OVERRUN,   /* a command is past its own time limit */
        RULE_UNENDED,   /* terminating, without an end */
        RULE_OLD,       /* the record of a sandbox that ended long ago */
        RULE_FAILED,    /* the record of a sandbox that failed, older than maxAge; manual runs only */
        RULE_AGED,
        RULE_UNHEALTHY,
        RULE_PRESSURE,
        RULE_EMERGENCY,
        RULE_LOST,      /* a record whose sandbox does not exist */
        RULE_STRAY,     /* something in the kernel without a record */
        RULE_FILE,      /* a file without a record */
        _RULE_MAX,
} CleanupRule;

const char *cleanup_rule_name(CleanupRule r);

typedef enum CleanupState {
        CLEANUP_FOUND,   /* nothing was done: a dry run */
        CLEANUP_PENDING, /* asked for */
        CLEANUP_DONE,
        CLEANUP_FAILED,
        _CLEANUP_STATE_MAX,
} CleanupState;

extern const ShapeNames cleanup_state_names;
const char *cleanup_state_name(CleanupState s);

typedef struct CleanupItem {
        char name[CLEANUP_NAME_MAX];
        CleanupRule rule;
        CleanupState state;
        char text[CLEANUP_TEXT_MAX];  /* why it is to be removed */
        char error[CLEANUP_TEXT_MAX]; /* CLEANUP_FAILED: why it is still there */
        usec_t duration;
} CleanupItem;

typedef struct CleanupCounts {
        uint64_t scanned, found, orphaned, stuck, old, aged, unhealthy, emergency, lost, strays, files;
        uint64_t removed, failed; /* of those found */
        uint64_t deferred;        /* found beyond the batch: left to the next run, without an item */
} CleanupCounts;
extern const Shape cleanup_counts_shape; /* the columns of their rows, and their names for callers; defined with the rows */

typedef struct CleanupReport {
        CleanupKind kind;
        CleanupCause cause;
        bool dry_run;
        usec_t started_at, duration; /* started: wall clock */
        CleanupCounts counts;
        CleanupItem **items; /* owned by the report */
        size_t n_items;
        char error[CLEANUP_TEXT_MAX]; /* why the run itself failed; "": it did not */

        /* Of a reconciliation. */
        uint64_t records, actual; /* live records; ids in the kernel */
        char **unresponsive;      /* ids of live ones that did not answer in time, NULL-terminated; may be NULL */
} CleanupReport;

static inline bool cleanup_is_consistent(const CleanupReport *r) {
        return r->error[0] == '\0' && r->counts.lost + r->counts.strays + r->counts.files == 0;
}

int reaper_new(Manager *m, Reaper **ret, Error *reterr);
Reaper *reaper_free(Reaper *r);
void reaper_reload(Reaper *r); /* the settings have changed */

typedef struct CleanupRequest {
        CleanupKind kind;
        bool dry_run;
        bool has_max_age;
        usec_t max_age_usec; /* manual: in place of maxAge, and plain sandboxes older than this that are not critical, too */
} CleanupRequest;

/* Called once, when the run is over and never before reaper_run() has returned. The report is valid during the call. */
typedef void (*CleanupDone)(const CleanupReport *report, void *userdata);
int reaper_run(Reaper *r, const CleanupRequest *q, CleanupDone done, void *userdata, Error *reterr);
void reaper_forget(Reaper *r, void *userdata); /* callbacks with this userdata are not called any more; the run goes on */

/* done is called exactly once, never before the call has returned. -ESTALE: the sandbox cannot run anything now. */
typedef void (*HealthDone)(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata);
int reaper_check_health(Reaper *r, Sandbox *sb, HealthDone done, void *userdata);

/* The state of the cleaners. */
typedef enum ReaperFault {
        REAPER_NOT_RUNNING = 1 << 0,    /* a layer is late */
        REAPER_FAILING = 1 << 1,        /* the last run of a layer failed, or items of it */
        REAPER_BLIND = 1 << 2,          /* the last run did not tell broken made-up sandboxes from sound ones */
} ReaperFault;

typedef struct LayerStatus {
        CleanupKind kind;
        usec_t interval;       /* 0: off */
        usec_t last_at;        /* wall clock; 0: never */
        usec_t last_duration;
        usec_t next_in;        /* from now */
        usec_t late;           /* beyond its interval */
        bool running, last_ok;
        double success_rate;   /* of the last runs; NAN: none */
        uint64_t n_runs, n_failed;
        char error[CLEANUP_TEXT_MAX]; /* of the last run; "": none */
} LayerStatus;

typedef struct PressureStatus {
        bool over;
        double memory_usage, disk_usage, places_usage; /* 0…1; NAN: not known */
        double psi;              /* memory, full avg10, in percent; NAN: the kernel has none */
        char text[CLEANUP_TEXT_MAX]; /* what is short; "": nothing */
} PressureStatus;

typedef struct ReaperStatus {
        LayerStatus layers[_CLEANUP_KIND_MAX]; /* those that matter have an interval, or have run */
        unsigned faults; /* ReaperFault */
        char fault_text[CLEANUP_TEXT_MAX];
        PressureStatus pressure;
        CleanupCounts totals; /* since the store was made */
        uint64_t total_runs, total_failed_runs;
        unsigned orphaned, stuck; /* now */
        unsigned unhealthy;       /* live ones whose last health checks failed */
        uint64_t failures_last_hour; /* items that could not be cleaned */
} ReaperStatus;

void reaper_status(const Reaper *r, ReaperStatus *ret);

/* The stored summary of a run. */
typedef struct CleanupRow {
        uint64_t serial; /* grows; given by the store */
        char kind[16], cause[16];
        usec_t started_at, duration_usec;
        CleanupCounts counts;
        char *freed;  /* names, a line each; may be NULL */
        char *failures; /* "name: why", a line each; may be NULL */
        char *error;  /* why the run itself failed; may be NULL */
} CleanupRow;

/* The last runs, newest first. */
int reaper_history(const Reaper *r, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata);

/* Numbers for metrics and alerts. */
double reaper_lateness(const Reaper *r);      /* seconds by which the next sweep is overdue */
double reaper_failure_rate(const Reaper *r);  /* of the last 10 runs of any layer */
double reaper_item_failures(const Reaper *r); /* items that could not be cleaned, last hour */
double reaper_stuck(const Reaper *r);         /* sandboxes that a sweep would end as stuck, now */
double reaper_orphaned(const Reaper *r);
double reaper_unhealthy(const Reaper *r);

/* Called after every run that failed or had failed items, when a fault begins, and for each sandbox that was stuck.
 * kind: "cleanup-failed", "cleanup-late", "cleanup-blind", "stuck". */
typedef void (*ReaperAlert)(const char *kind, const char *text, void *userdata);
/* Called after every run but dry runs. */
void reaper_set_run_over(Reaper *r, void (*over)(const CleanupReport *report, void *userdata), void *userdata);
void reaper_set_alert(Reaper *r, ReaperAlert alert, void *userdata);
