/* sequence.h: long work as a table of named steps, each with an undo.
 *
 *      static const SequenceStep steps[] = {
 *              { "copy", restore_copy, restore_uncopy, restore_stop_copying },
 *              { "park", restore_park, restore_unpark },
 *              { "swap", restore_swap, restore_unswap },
 *      };
 *      static const Sequence restore = SEQUENCE("restore", steps, restore_end);
 *
 * The order stands in the table and nowhere else. A step begins, and returns that it is done, that it waits, or why it failed. Whoever
 * hears how a waiting step ended says so by sequence_heard(), from any callback, also from within the step that asked. When a step
 * fails, or the work is cancelled, the undo of each step that was begun is called, the last first; undos may wait as well. At last the
 * end is told, once, and may free the object. A callback's depth never grows: steps are called from one loop.
 *
 *      step ─ done ─→ next step ─ … ─→ end(NULL)
 *        └─ failed, cancelled ─→ undo ─→ undo of the step before ─ … ─→ end(error)
 *
 * Must not know: event loops, what the steps do, who asked. Knows libc only. Owns nothing: to give up a sequence without a word, at a
 * program's end, forget whatever calls sequence_heard() and free the object; where a step may lead to that, sequence_give_up(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum SequenceResult {
        STEP_DONE,
        STEP_WAITS, /* sequence_heard() will be called */
        STEP_AGAIN, /* a part of it is done: it is to begin once more */
} SequenceResult;

typedef struct SequenceStep {
        const char *name; /* what is going on, for logs and errors */
        int (*begin)(void *object, Error *reterr); /* SequenceResult; negative: it failed, and its undo is called as well. An error without a text gets one */
        int (*undo)(void *object, Error *why); /* NULL: nothing to undo. It may say more in `why`, the error that will be told; one that fails says so there */
        void (*cancel)(void *object); /* hastens the end of the step while it waits; NULL: its end is awaited */
} SequenceStep;

typedef struct Sequence {
        const char *name;
        const SequenceStep *steps;
        size_t n_steps;
        void (*end)(void *object, const Error *error /* NULL: all steps are done */);
        void (*defer)(void *object); /* calls sequence_continue() from the event loop, soon; NULL: what follows an end follows it at once */
} Sequence;

#define SEQUENCE(text, table, ends, ...) { .name = (text), .steps = (table), .n_steps = ELEMENTSOF(table), .end = (ends), ##__VA_ARGS__ }

/* Lies in the object. Its members are sequence.c's own. */
typedef struct SequenceRun {
        const Sequence *sequence;
        void *object;
        size_t at;     /* of the step that goes on, or is being undone */
        bool begun;    /* that one */
        bool undoing;
        bool waiting;  /* for sequence_heard() */
        bool deferred; /* for sequence_continue() */
        bool running;  /* within the loop: what is heard now is taken up there */
        bool starting; /* within sequence_start() */
        bool cancelled;
        bool given_up;
        Error error;
} SequenceRun;

/* 1: under way; end() will be told. 0: all is done; end() has been told. Negative: it failed at once, all that was begun is undone, and end() is not told.
 * With defer(), nothing of the table is called from within this, nor from within sequence_heard(). */
int sequence_start(SequenceRun *run, const Sequence *sequence, void *object, Error *reterr);
/* The same from a step in the middle: those before it were done by an earlier life of the program, and are undone like others. */
int sequence_start_at(SequenceRun *run, const Sequence *sequence, size_t step, void *object, Error *reterr);

/* The object may be gone afterwards. An undo that fails does not end the undoing; its error is told in place of the one that led to it. */
void sequence_heard(SequenceRun *run, const Error *error /* NULL: the step is done */);
void sequence_heard_again(SequenceRun *run); /* a part of the step is done: it begins once more */
void sequence_continue(SequenceRun *run);

/* What is under way is hastened where that can be, and all is undone. Nothing happens to one that is being undone already. The object may be gone afterwards. */
void sequence_cancel(SequenceRun *run, const Error *why);

/* Without a word, and with nothing undone; whatever would call sequence_heard() is forgotten. True: the object may be freed now. False: one of its steps is being called
 * just now; when that has returned, the sequence fails with -ECANCELED and nothing is undone. */
bool sequence_give_up(SequenceRun *run);

bool sequence_is_under_way(const SequenceRun *run); /* false: not started, or about to tell its end */
bool sequence_is_undoing(const SequenceRun *run);
const SequenceStep *sequence_step(const SequenceRun *run); /* that goes on or is being undone; NULL: none */
