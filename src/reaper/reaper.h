/* reaper.h: clean-up that can be trusted.
 *
 * Every sandbox has timers of its own (core/sandbox/timers.c). This room is for what they miss, in layers that do not rely on each other:
 *
 *      sweep       every sweepInterval: what is provably broken or over; batchSize per run, oldest first, none starves
 *      age         every ageInterval: agents' sandboxes that are older than maxAge and than their profile's execution time
 *      pressure    every pressureInterval: when memory, disk or places run out, what is idle goes, oldest first
 *      reconcile   every reconcileInterval: records against the kernel, in both directions, and files without a record
 *      health      every healthInterval: a trivial command inside of those that run something or are an agent's
 *
 * Who is subject to what. An agent's sandbox (one with a profile or an agent type) is ended when it is stuck (one command runs
 * longer than the profile's stuckTimeout, which is never below its execution time), too old, or unhealthy and old. A plain
 * sandbox belongs to its caller and may live for ever: of those only what is provably broken counts, as of all: in the making for
 * longer than orphanTimeout; its own timeout overdue, because a timer got lost; a command beyond its own time limit; terminating
 * without an end; ended, and the record older than recordAge. Paused ones were put aside by somebody: only pressure ends them.
 * `critical` ones are spared by pressure and by emergencies. Pooled ones that nobody has claimed are their pool's own business,
 * but under pressure they are the first to go.
 *
 * Nothing blocks the loop: a run works in slices, and waits for the ends it has asked for. One item's failure is counted, named in
 * the report, and stops nothing. Every run first judges made-up sandboxes, broken and sound ones, so that a detection that has
 * become blind shows (the three faults: not running, failing, detection broken).
 *
 * Knows the core and the store's reports. Must not know: HTTP, SQL, JSON, metrics and alerts: it provides numbers. */
#pragma once

#include "core/manager.h"

typedef struct Reaper Reaper;

#define CLEANUP_NAME_MAX   320 /* an id, or a file's name */
#define CLEANUP_TEXT_MAX   256
#define CLEANUP_ITEMS_MAX  10000 /* of one run; more are the next one's */

typedef enum CleanupKind {
        CLEANUP_SWEEP,
        CLEANUP_AGE,
        CLEANUP_PRESSURE,
        CLEANUP_RECONCILE,
        CLEANUP_MANUAL,    /* the rules of sweep and age at once, without a batch; failed ones older than maxAge too */
        CLEANUP_EMERGENCY, /* everything but `critical`, because a person says so */
        CLEANUP_HEALTH,    /* ends what was found unhealthy */
        _CLEANUP_KIND_MAX,
} CleanupKind;

extern const ShapeNames cleanup_kind_names;
const char *cleanup_kind_name(CleanupKind k);

typedef enum CleanupCause {
        CLEANUP_BY_TIMER,
        CLEANUP_BY_EXECUTION, /* one has ended, and a run was due */
        CLEANUP_BY_REQUEST,
        _CLEANUP_CAUSE_MAX,
} CleanupCause;

extern const ShapeNames cleanup_cause_names;
const char *cleanup_cause_name(CleanupCause c);

/* Why something is to go. */
typedef enum CleanupRule {
        RULE_NONE,
        RULE_ORPHANED,  /* in the making for too long */
        RULE_STUCK,     /* an agent's command runs for too long */
        RULE_OVERDUE,   /* its own timeout is past, and nothing has happened */
        RULE_OVERRUN,   /* a command is past its own time limit */
        RULE_UNENDED,   /* terminating, without an end */
        RULE_OLD,       /* a record of one that ended long ago */
        RULE_FAILED,    /* a record of one that failed, older than maxAge; manual runs only */
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
        char text[CLEANUP_TEXT_MAX];  /* why it is to go */
        char error[CLEANUP_TEXT_MAX]; /* CLEANUP_FAILED: why it is still there */
        usec_t duration;
} CleanupItem;

typedef struct CleanupCounts {
        uint64_t scanned, found, orphaned, stuck, old, aged, unhealthy, emergency, lost, strays, files;
        uint64_t removed, failed; /* of those found */
        uint64_t deferred;        /* found, and beyond the batch: the next run's. Not described */
} CleanupCounts;
extern const Shape cleanup_counts_shape; /* beside the rows that keep them: their columns, and their names for callers */

typedef struct CleanupReport {
        CleanupKind kind;
        CleanupCause cause;
        bool dry_run;
        usec_t started_at, duration; /* started: wall clock */
        CleanupCounts counts;
        CleanupItem **items; /* the report's own */
        size_t n_items;
        char error[CLEANUP_TEXT_MAX]; /* why the run itself has failed; "": it has not */

        /* Of a reconciliation. */
        uint64_t records, actual; /* live records; ids in the kernel */
        char **unresponsive;      /* live ones that did not answer in time, ended by a NULL; may be NULL */
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
        usec_t max_age_usec; /* manual: everything older than this that is not critical, plain sandboxes too */
} CleanupRequest;

/* Called once, when the run is over and never before reaper_run() has returned. The report is good for the call only. */
typedef void (*CleanupDone)(const CleanupReport *report, void *userdata);
int reaper_run(Reaper *r, const CleanupRequest *q, CleanupDone done, void *userdata, Error *reterr);
void reaper_forget(Reaper *r, void *userdata); /* the asker has gone; the run goes on */

/* Health: exactly once, never before the call has returned. -ESTALE: not in a state to run anything. */
typedef void (*HealthDone)(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata);
int reaper_check_health(Reaper *r, Sandbox *sb, HealthDone done, void *userdata);

/* The cleaners themselves. */
typedef enum ReaperFault {
        REAPER_NOT_RUNNING = 1 << 0,    /* a layer is late */
        REAPER_FAILING = 1 << 1,        /* the last run of a layer failed, or items of it */
        REAPER_BLIND = 1 << 2,          /* made-up cases were not told apart */
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
        double memory_usage, disk_usage, places_usage; /* 0…1; NAN: cannot be told */
        double psi;              /* memory, full avg10, in percent; NAN: the kernel has none */
        char text[CLEANUP_TEXT_MAX]; /* what is short; "": nothing */
} PressureStatus;

typedef struct ReaperStatus {
        LayerStatus layers[_CLEANUP_KIND_MAX]; /* those that run by themselves: interval, or has run */
        unsigned faults; /* ReaperFault */
        char fault_text[CLEANUP_TEXT_MAX];
        PressureStatus pressure;
        CleanupCounts totals; /* since the store was made */
        uint64_t total_runs, total_failed_runs;
        unsigned orphaned, stuck; /* now */
        unsigned unhealthy;       /* whose last health check failed */
        uint64_t failures_last_hour; /* items that could not be cleaned */
} ReaperStatus;

void reaper_status(const Reaper *r, ReaperStatus *ret);

/* What a run did, as it is kept. */
typedef struct CleanupRow {
        uint64_t serial; /* grows; given by the store */
        char kind[16], cause[16];
        usec_t started_at, duration_usec;
        CleanupCounts counts;
        char *freed;  /* names, a line each; may be NULL */
        char *failures; /* "name: why", a line each; may be NULL */
        char *error;  /* why the run itself has failed; may be NULL */
} CleanupRow;

/* The last runs, newest first. */
int reaper_history(const Reaper *r, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata);

/* Numbers for whoever watches. */
double reaper_lateness(const Reaper *r);      /* seconds beyond its interval that the last sweep is ago */
double reaper_failure_rate(const Reaper *r);  /* of the last 10 runs of any layer */
double reaper_item_failures(const Reaper *r); /* items that could not be cleaned, last hour */
double reaper_stuck(const Reaper *r);         /* sandboxes that a sweep would end as stuck, now */
double reaper_orphaned(const Reaper *r);
double reaper_unhealthy(const Reaper *r);

/* Told after every run that failed or had items that failed, and when a fault begins: whoever raises alerts hangs itself in. */
typedef void (*ReaperAlert)(const char *kind, const char *text, void *userdata); /* "cleanup-failed", "cleanup-late", "cleanup-blind", "stuck" */
/* Told after every run that was no dry one. */
void reaper_set_run_over(Reaper *r, void (*over)(const CleanupReport *report, void *userdata), void *userdata);
void reaper_set_alert(Reaper *r, ReaperAlert alert, void *userdata);
