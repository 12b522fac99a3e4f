#include "base/sequence.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"

bool sequence_give_up(SequenceRun *run) {
        if (run->running) {
                run->given_up = true;
                (void) error_set(&run->error, -ECANCELED, "given up");
        } else
                run->sequence = NULL;
        return !run->running;
}

bool sequence_is_under_way(const SequenceRun *run) {
        return run->sequence;
}

bool sequence_is_undoing(const SequenceRun *run) {
        return run->sequence && run->undoing;
}

const SequenceStep *sequence_step(const SequenceRun *run) {
        return run->sequence && run->at < run->sequence->n_steps ? run->sequence->steps + run->at : NULL;
}

static void sequence_turn_back(SequenceRun *run, const Error *why) {
        const SequenceStep *step = sequence_step(run);

        assert(why->code < 0);
        run->undoing = true;
        run->error = *why;
        if (!run->error.text[0])
                (void) error_set(&run->error, why->code, "%s: %s", step->name, strerror(-why->code));
        log_debug("%s: '%s' failed: %s", run->sequence->name, step->name, run->error.text);
}

/* Takes the result of begin() or undo() of the step under way. */
static void sequence_take(SequenceRun *run, int result, const Error *error) {
        if (run->undoing) {
                if (error && error->code < 0)
                        run->error = *error;
                if (run->at == 0)
                        run->at = run->sequence->n_steps; /* nothing is left to undo */
                else
                        run->at--;
        } else if (result < 0)
                sequence_turn_back(run, run->cancelled ? &run->error : error);
        else if (run->cancelled)
                sequence_turn_back(run, &run->error);
        else if (result != STEP_AGAIN) {
                run->at++;
                run->begun = false;
        }
}

static int sequence_call(SequenceRun *run, Error *reterr) {
        const SequenceStep *step = sequence_step(run);
        int r;

        if (run->undoing)
                return step->undo ? step->undo(run->object, &run->error) : STEP_DONE;
        run->begun = true;
        r = step->begin(run->object, reterr);
        if (r < 0)
                reterr->code = r;
        return r;
}

static void sequence_hasten(SequenceRun *run) {
        const SequenceStep *step = sequence_step(run);

        if (step && step->cancel)
                step->cancel(run->object);
}

static void sequence_defer(SequenceRun *run) {
        run->deferred = true;
        run->sequence->defer(run->object);
}

/* Runs all steps that can run now. Returns as sequence_start() does. */
static int sequence_go_on(SequenceRun *run, Error *reterr) {
        const Sequence *sequence = run->sequence;
        bool failed, starting = run->starting;

        run->running = true;
        while (sequence_step(run)) {
                Error error = { 0 };
                int r;

                run->waiting = true; /* its result may come before its begin returns */
                r = sequence_call(run, &error);
                if (run->given_up)
                        break;
                if (r != STEP_WAITS) {
                        assert(run->waiting); /* otherwise its result has come twice */
                        run->waiting = false;
                        sequence_take(run, r, &error);
                } else if (run->waiting && run->cancelled && !run->undoing) /* cancelled meanwhile */
                        sequence_hasten(run);
                if (run->waiting)
                        break;
                if (sequence->defer && !run->undoing && sequence_step(run)) {
                        sequence_defer(run);
                        break;
                }
        }
        run->running = false;
        if (!run->given_up && sequence_step(run))
                return 1;

        failed = run->undoing || run->given_up;
        run->sequence = NULL;
        if (failed && starting) {
                if (reterr)
                        *reterr = run->error;
                return run->error.code;
        }
        sequence->end(run->object, failed ? &run->error : NULL); /* and both may be freed by then */
        return 0;
}

int sequence_start_at(SequenceRun *run, const Sequence *sequence, size_t step, void *object, Error *reterr) {
        int r;

        assert(sequence->n_steps > step);
        *run = (SequenceRun) { .sequence = sequence, .object = object, .at = step };
        if (sequence->defer) {
                sequence_defer(run);
                return 1;
        }
        run->starting = true;
        r = sequence_go_on(run, reterr);
        if (r > 0)
                run->starting = false;
        return r;
}

int sequence_start(SequenceRun *run, const Sequence *sequence, void *object, Error *reterr) {
        return sequence_start_at(run, sequence, /* step= */ 0, object, reterr);
}

static void sequence_hear(SequenceRun *run, int result, const Error *error) {
        assert(run->sequence);
        assert(run->waiting);
        run->waiting = false;
        sequence_take(run, result, error);
        if (run->running)
                return;
        if (run->sequence->defer) /* the caller may be in the middle of something */
                sequence_defer(run);
        else
                (void) sequence_go_on(run, /* reterr= */ NULL);
}

void sequence_heard(SequenceRun *run, const Error *error) {
        sequence_hear(run, error ? error->code : STEP_DONE, error);
}

void sequence_heard_again(SequenceRun *run) {
        sequence_hear(run, STEP_AGAIN, /* error= */ NULL);
}

void sequence_continue(SequenceRun *run) {
        if (!run->deferred)
                return;
        run->deferred = false;
        (void) sequence_go_on(run, /* reterr= */ NULL);
}

void sequence_cancel(SequenceRun *run, const Error *why) {
        assert(why->code < 0);
        if (!sequence_step(run) || run->undoing || run->cancelled)
                return;
        run->cancelled = true;
        run->error = *why;
        if (run->running)
                return; /* the loop notices it when the step returns */
        if (!run->deferred) {
                sequence_hasten(run);
                return;
        }
        run->deferred = false;
        sequence_turn_back(run, why);
        if (!run->begun)
                sequence_take(run, STEP_DONE, /* error= */ NULL); /* continues with the step before */
        (void) sequence_go_on(run, /* reterr= */ NULL);
}
