/* sequence.h: long work as a table of named steps, each with an undo.
 *
 *      static const SequenceStep steps[] = {
 *              { "copy", restore_copy, restore_uncopy, restore_stop_copying },
 *              { "park", restore_park, restore_unpark },
 *              { "swap", restore_swap, restore_unswap },
 *      };
 *      static const Sequence restore = SEQUENCE("restore", steps, restore_end);
 *
 * The table alone defines the order. A step's begin() returns that it is done, that it waits, or why it failed. The
 * callback that learns how a waiting step ended calls sequence_heard(); it may do so from within begin(). When a step
 * fails, or the work is cancelled, the undo of every step that was begun is called, the last one first; an undo may
 * wait as well. Finally end() is called, once; it may free the object. One loop calls the steps, so the stack does not
 * grow with their number.
 *
 *      step ─ done ─→ next step ─ … ─→ end(NULL)
 *        └─ failed, cancelled ─→ undo ─→ undo of the step before ─ … ─→ end(error)
 *
 * Must not know: event loops, what the steps do, the caller. Knows libc only. Owns nothing: at a program's end, drop
 * whatever would call sequence_heard() and free the object; if a step may cause that, call sequence_give_up() first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum SequenceResult {
        STEP_DONE,
        STEP_WAITS, /* sequence_heard() will be called */
        STEP_AGAIN, /* a part of it is done: call begin() again */
} SequenceResult;

typedef struct SequenceStep {
        const char *name; /* for logs and errors */
        /* SequenceResult; negative: it failed, and its undo is called as well. An error without a text gets one. */
        int (*begin)(void *object, Error *reterr);
        /* NULL: nothing to undo. `why` is the error that end() will get: undo may add to it, and reports its own
         * failure there. */
        int (*undo)(void *object, Error *why);
        void (*cancel)(void *object); /* hastens the end of a waiting step; NULL: wait for its end */
} SequenceStep;

typedef struct Sequence {
        const char *name;
        const SequenceStep *steps;
        size_t n_steps;
        void (*end)(void *object, const Error *error /* NULL: all steps are done */);
        void (*defer)(void *object); /* schedules sequence_continue() in the event loop; NULL: the next step follows at once */
} Sequence;

#define SEQUENCE(text, table, ends, ...) { .name = (text), .steps = (table), .n_steps = ELEMENTSOF(table), .end = (ends), ##__VA_ARGS__ }

/* Embedded in the object. Private to sequence.c. */
typedef struct SequenceRun {
        const Sequence *sequence;
        void *object;
        size_t at;     /* index of the step under way, or being undone */
        bool begun;    /* begin() of that step was called */
        bool undoing;
        bool waiting;  /* for sequence_heard() */
        bool deferred; /* for sequence_continue() */
        bool running;  /* within the loop, which takes up what sequence_heard() reports */
        bool starting; /* within sequence_start() */
        bool cancelled;
        bool given_up;
        Error error;
} SequenceRun;

/* 1: under way; end() will be called. 0: all steps are done; end() was called. Negative: it failed at once, every begun
 * step is undone, and end() is not called. With defer(), neither this nor sequence_heard() calls any function of the
 * table. */
int sequence_start(SequenceRun *run, const Sequence *sequence, void *object, Error *reterr);
/* Starts at a later step: an earlier life of the program did the steps before it; they are undone like the others. */
int sequence_start_at(SequenceRun *run, const Sequence *sequence, size_t step, void *object, Error *reterr);

/* May free the object. A failing undo does not stop the undoing; its error replaces the one that led to it. */
void sequence_heard(SequenceRun *run, const Error *error /* NULL: the step is done */);
void sequence_heard_again(SequenceRun *run); /* a part of the step is done: begin() is called again */
void sequence_continue(SequenceRun *run);

/* Hastens the step under way if it has a cancel(), and undoes everything. No effect if undoing has begun. May free the
 * object. */
void sequence_cancel(SequenceRun *run, const Error *why);

/* Drops the sequence without undoing anything and without calling end(); nothing may call sequence_heard() after this.
 * True: the object may be freed. False: a call of one of its steps is under way; after that returns, the sequence fails
 * with -ECANCELED and nothing is undone. */
bool sequence_give_up(SequenceRun *run);

bool sequence_is_under_way(const SequenceRun *run); /* false: not started, or about to call end() */
bool sequence_is_undoing(const SequenceRun *run);
const SequenceStep *sequence_step(const SequenceRun *run); /* the step under way or being undone; NULL: none */
