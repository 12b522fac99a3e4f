/* internal.h: shared by the files of the reaper. */
#pragma once

#include "config/config.h"
#include "core/internal.h"
#include "core/reap.h"
#include "reaper/reaper.h"

#define HISTORY_LENGTH   10   /* last runs of a layer, for its success rate */
#define SLICE_ITEMS      100
#define SLICE_USEC       (2 * USEC_PER_MSEC)
#define ITEM_PATIENCE    (10 * USEC_PER_SEC) /* for one sandbox to end */
#define GRACE_MAX        (60 * USEC_PER_SEC) /* the most lateness allowed to what should happen by itself */
#define FAILURES_KEPT    256
#define SLACK            10 /* a timer may be late by a tenth of its interval, to save wake-ups */

/* rules.c */
#define RULE_BIT(r) (1u << (r))

typedef struct Judge {
        const Config *settings;
        unsigned rules; /* those that apply */
        bool has_max_age;
        usec_t max_age;
} Judge;

void judge_for(const Reaper *r, const CleanupRequest *q, Judge *ret);
/* RULE_NONE: the sandbox may stay. Otherwise text says why not. */
CleanupRule judge_sandbox(const Judge *j, const Sandbox *sb, char text[static CLEANUP_TEXT_MAX]);
/* The number of live sandboxes that break one of the rules now. */
unsigned judge_count(const Manager *m, unsigned rules);
#define RULES_STUCK (RULE_BIT(RULE_STUCK) | RULE_BIT(RULE_OVERDUE) | RULE_BIT(RULE_OVERRUN) | RULE_BIT(RULE_UNENDED))
bool sandbox_is_agents(const Sandbox *sb);
usec_t judge_stuck_after(const Config *c, const Sandbox *sb); /* an agent's */
usec_t judge_wall(const Config *c, const Sandbox *sb);        /* 0: none */
/* Checks that judge tells broken made-up sandboxes from sound ones; text says which it does not. */
typedef CleanupRule (*JudgeFunction)(const Judge *j, const Sandbox *sb, char text[static CLEANUP_TEXT_MAX]);
bool judge_self_test(JudgeFunction judge, const Config *settings, char text[static CLEANUP_TEXT_MAX]);

/* run.c: one run, from its scan to its report. */
typedef struct ReaperRun ReaperRun;

typedef struct RunItem {
        CleanupItem item; /* first: the report's list points here */
        ReaperRun *run;
        SandboxWatch watch;
        usec_t asked_at;
} RunItem;

typedef enum RunPhase {
        RUN_SCAN,
        RUN_ACT,
        RUN_WAIT,
        RUN_VERIFY, /* of a reconciliation: whether what was removed is gone */
        RUN_OVER,
} RunPhase;

struct ReaperRun {
        Reaper *reaper;
        CleanupRequest request;
        CleanupReport report;
        Judge judge;
        RunPhase phase;
        bool blind;                /* the self-test failed: nothing is touched */
        Sandbox **records; /* all of them, oldest first */
        size_t n_records, next_record;
        size_t items_room, next_item;
        size_t n_pending, n_max;   /* items that were asked to end and have not; most items of the run */
        usec_t began;              /* monotonic */
        sd_event_source *work, *patience;
        struct Reconcile *reconcile;
        CleanupDone done;
        void *userdata;
        ReaperRun *prev, *next;
};

int sweep_run_new(Reaper *r, const CleanupRequest *q, CleanupCause cause, ReaperRun **ret);
ReaperRun *sweep_run_free(ReaperRun *run);
int sweep_run_snapshot(ReaperRun *run); /* all records */
/* Adds an item. NULL: no memory. */
RunItem *sweep_run_add(ReaperRun *run, const char *name, CleanupRule rule, const char *text);
void sweep_run_go(ReaperRun *run);    /* starts or resumes: a slice per turn of the loop */
void sweep_run_pause(ReaperRun *run); /* until sweep_run_go() */
void sweep_run_fail(ReaperRun *run, const char *text);
void sweep_run_act(ReaperRun *run);   /* all items are found */

/* act.c */
bool sweep_run_act_slice(ReaperRun *run); /* true: all items were acted upon */
void item_done(RunItem *item);
void item_fail(RunItem *item, const char *format, ...) _printf_(2, 3);
void item_terminate(RunItem *item, Sandbox *sb);

/* pressure.c */
void pressure_read(const Manager *m, PressureStatus *ret);
bool pressure_is_over(const Config *c, PressureStatus *p); /* true: over a limit, which is pressure; writes the text */
void pressure_after(Reaper *r, const ReaperRun *run);
void pressure_scan(ReaperRun *run);
int pressure_next(ReaperRun *run); /* 1: act on the next. 0: enough. -EAGAIN: wait for those that were asked to end */

/* reconcile.c */
int reconcile_begin(ReaperRun *run);
void reconcile_verify(ReaperRun *run);
void reconcile_free(ReaperRun *run);
bool reconcile_slice(ReaperRun *run); /* true: the run's phase is over */

/* health.c */
int health_new(Reaper *r);
void health_free(Reaper *r);
void health_tick(Reaper *r);
void health_forget(Reaper *r, void *userdata);
unsigned health_unhealthy(const Reaper *r);

/* diagnosis.c */
void diagnosis_forget(Reaper *r, void *userdata);
void diagnosis_free(Reaper *r);

/* report.c */
void report_count(CleanupCounts *c, const CleanupItem *item);
void report_begin(const ReaperRun *run);
void report_found(const ReaperRun *run);
void report_item(const ReaperRun *run, const CleanupItem *item);
void report_end(ReaperRun *run); /* log, store, totals, alert */
void report_load(Reaper *r);

typedef struct Layer {
        CleanupKind kind;
        sd_event_source *timer;
        usec_t began;         /* monotonic: start of the last run, or of the wait for the first */
        usec_t due;           /* monotonic; 0: off */
        usec_t last_at, last_duration;
        bool running, last_ok, told_late;
        char error[CLEANUP_TEXT_MAX];
        uint64_t n_runs, n_failed;
        bool results[HISTORY_LENGTH]; /* of run number n at n % HISTORY_LENGTH */
} Layer;

struct Reaper {
        Manager *manager;
        Layer layers[_CLEANUP_KIND_MAX];
        ReaperRun *runs;
        usec_t patience;      /* ITEM_PATIENCE; less in tests */
        SandboxBirth cursor;  /* the last sandbox that a sweep has acted upon */
        CoreObserver observer;
        sd_event_source *kick; /* starts a due sweep after an execution */
        struct Health *health;
        struct Examination *examinations;
        PressureStatus pressure;
        usec_t pressure_quiet_until, pressure_quiet; /* the pause after a run that did not help */
        CleanupCounts totals;
        uint64_t total_runs, total_failed_runs;
        bool blind, told_blind;
        char blind_text[CLEANUP_TEXT_MAX];
        usec_t failures[FAILURES_KEPT]; /* when items failed (monotonic), a ring */
        uint64_t n_failures;
        bool results[HISTORY_LENGTH]; /* of any layer */
        uint64_t n_results;
        void (*sweep_run_over)(const CleanupReport *report, void *userdata);
        void *run_over_userdata;
        ReaperAlert alert;
        void *alert_userdata;
};

usec_t layer_interval(const Reaper *r, CleanupKind kind);
usec_t layer_lateness(const Reaper *r, const Layer *l); /* watch.c */
void layer_over(Reaper *r, const ReaperRun *run);
void reaper_alert(Reaper *r, const char *kind, const char *format, ...) _printf_(3, 4);

