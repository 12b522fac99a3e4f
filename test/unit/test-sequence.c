/* base/sequence.h: every way in which three steps can go, with and without a cancellation in between. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sequence.h"

/* How a step goes, and how its undo does. */
typedef enum Way {
        WAY_DONE,
        WAY_WAITS,
        WAY_HEARD_WITHIN,
        WAY_FAILS,
        WAY_FAILS_LATER,
        WAY_FAILS_WITHIN,
        WAY_AGAIN,
        WAY_AGAIN_LATER,
        _WAY_MAX,
} Way;

typedef enum UndoWay {
        UNDO_DONE,
        UNDO_WAITS,
        UNDO_HEARD_WITHIN,
        UNDO_FAILS,
        _UNDO_WAY_MAX,
} UndoWay;

#define N 3

typedef struct Trial {
        SequenceRun run;
        Way ways[N];
        UndoWay undo;
        char said[256]; /* "a" begins, "A" is undone, "c" is hastened, "." and "!" are its ends */
        unsigned n_begun[N];
        unsigned n_ends;
        bool deferred;
        bool hearing; /* within sequence_heard() of one that defers */
        Error error;
} Trial;

static const Error broken = { -EIO, "broken" };

static void say(Trial *t, char c) {
        size_t n = strlen(t->said);

        check_true(t->said, !t->hearing);
        assert_true(n + 1 < sizeof(t->said));
        t->said[n] = c;
}

static int trial_begin(Trial *t, size_t i, Error *reterr) {
        Way way = t->ways[i];
        unsigned n = t->n_begun[i]++;

        say(t, (char) ('a' + i));
        switch (way) {
        case WAY_FAILS:
                return error_set(reterr, -EIO, "broken");
        case WAY_HEARD_WITHIN:
                sequence_heard(&t->run, NULL);
                return STEP_WAITS;
        case WAY_FAILS_WITHIN:
                sequence_heard(&t->run, &broken);
                return STEP_WAITS;
        case WAY_AGAIN:
                return n < 2 ? STEP_AGAIN : STEP_DONE;
        case WAY_DONE:
                return STEP_DONE;
        default:
                return STEP_WAITS;
        }
}

static int trial_undo(Trial *t, size_t i, Error *why) {
        check_result("what undoes", sequence_is_undoing(&t->run), 1);
        check_true("it knows why", why->code < 0);
        say(t, (char) ('A' + i));
        if (t->undo == UNDO_HEARD_WITHIN)
                sequence_heard(&t->run, NULL);
        if (t->undo == UNDO_FAILS)
                return error_set(why, -EIO, "broken");
        return t->undo == UNDO_DONE ? STEP_DONE : STEP_WAITS;
}

static int begin_a(void *t, Error *reterr) { return trial_begin(t, 0, reterr); }
static int begin_b(void *t, Error *reterr) { return trial_begin(t, 1, reterr); }
static int begin_c(void *t, Error *reterr) { return trial_begin(t, 2, reterr); }
static int undo_a(void *t, Error *why) { return trial_undo(t, 0, why); }
static int undo_b(void *t, Error *why) { return trial_undo(t, 1, why); }
static int undo_c(void *t, Error *why) { return trial_undo(t, 2, why); }

static void hasten(void *object) {
        Trial *t = object;

        say(t, '~');
        sequence_heard(&t->run, &broken);
}

static void trial_end(void *object, const Error *error) {
        Trial *t = object;

        t->n_ends++;
        say(t, error ? '!' : '.');
        t->error = error ? *error : (Error) { 0 };
        check_true("it is over", !sequence_is_under_way(&t->run));
        memset(&t->run, 0xaa, sizeof(t->run)); /* as if the object were gone */
}

static void trial_defer(void *object) {
        Trial *t = object;

        t->deferred = true;
}

static const SequenceStep steps[] = {
        { "first", begin_a, undo_a, NULL },
        { "second", begin_b, undo_b, hasten },
        { "third", begin_c, undo_c, NULL },
};
static const Sequence at_once = SEQUENCE("trial", steps, trial_end);
static const Sequence deferred = SEQUENCE("trial", steps, trial_end, .defer = trial_defer);

/* The step that waits hears of its end. */
static void answer(Trial *t) {
        size_t i;

        if (t->deferred) {
                t->deferred = false;
                sequence_continue(&t->run);
                return;
        }
        i = (size_t) (sequence_step(&t->run) - steps);
        t->hearing = t->run.sequence->defer;
        if (sequence_is_undoing(&t->run))
                sequence_heard(&t->run, NULL);
        else if (t->ways[i] == WAY_FAILS_LATER)
                sequence_heard(&t->run, &broken);
        else if (t->ways[i] == WAY_AGAIN_LATER && t->n_begun[i] < 3)
                sequence_heard_again(&t->run);
        else
                sequence_heard(&t->run, NULL);
        t->hearing = false;
}

static bool fails(Way way) {
        return way == WAY_FAILS || way == WAY_FAILS_LATER || way == WAY_FAILS_WITHIN;
}

/* Each step begins after the one before it; all that began are undone, the last first; nothing is said twice. */
static void check_order(const Trial *t, bool over_at_once) {
        size_t last = 0, k = 0, n = strlen(t->said);
        bool failed = false;

        for (size_t i = 0; i < N; i++) {
                unsigned times = t->ways[i] == WAY_AGAIN || t->ways[i] == WAY_AGAIN_LATER ? 3 : 1;

                if (k >= n || t->said[k] != (char) ('a' + i))
                        break;
                for (; k < n && t->said[k] == (char) ('a' + i) && times > 0; times--)
                        k++;
                last = i + 1;
        }
        if (k < n && t->said[k] == '~')
                k++;
        failed = last == 0 || (k < n && t->said[k] >= 'A' && t->said[k] <= 'C');
        for (size_t i = last; failed && i > 0; i--)
                check_int(t->said, t->said[k++], (char) ('A' + i - 1));
        if (over_at_once)
                check_int(t->said, (int) t->n_ends, 0);
        else {
                check_int(t->said, t->said[k++], failed ? '!' : '.');
                check_int(t->said, (int) t->n_ends, 1);
        }
        check_uint(t->said, n, k);
        if (!failed && !over_at_once)
                check_uint(t->said, last, N);
}

static void try_trial(const Sequence *sequence, const Way ways[static N], UndoWay undo, int cancel_after) {
        Trial t = { .undo = undo };
        Error error = { 0 };
        bool expect_failure = fails(ways[0]) || fails(ways[1]) || fails(ways[2]);
        int r, n = 0;

        memcpy(t.ways, ways, sizeof(t.ways));
        r = sequence_start(&t.run, sequence, &t, &error);
        if (r < 0) {
                check_result(t.said, r, -EIO);
                check_string(t.said, error.text, "broken");
                check_order(&t, /* over_at_once= */ true);
                return;
        }
        while (t.n_ends == 0) {
                assert_true(n < 50);
                if (n++ == cancel_after) {
                        bool undoing = sequence_is_undoing(&t.run), late = !sequence_step(&t.run); /* only its end is left */

                        sequence_cancel(&t.run, &(Error) { -ECANCELED, "not wanted" });
                        if (undoing)
                                check_int(t.said, (int) t.n_ends, 0);
                        expect_failure |= !late;
                        if (t.n_ends > 0)
                                break;
                }
                answer(&t);
        }
        check_int(t.said, t.error.code < 0, expect_failure);
        if (cancel_after < 0 && expect_failure)
                check_string(t.said, t.error.text, "broken");
        check_order(&t, /* over_at_once= */ false);
}

TEST(every_way) {
        for (int a = 0; a < _WAY_MAX; a++)
                for (int b = 0; b < _WAY_MAX; b++)
                        for (int c = 0; c < _WAY_MAX; c++)
                                for (int u = 0; u < _UNDO_WAY_MAX; u++)
                                        for (int cancel = -1; cancel < 8; cancel++) {
                                                const Way ways[N] = { (Way) a, (Way) b, (Way) c };

                                                try_trial(&at_once, ways, (UndoWay) u, cancel);
                                                try_trial(&deferred, ways, (UndoWay) u, cancel);
                                        }
}

TEST(a_deferred_start_calls_nothing) {
        Trial t = { 0 };
        Error error = { 0 };

        check_result("start", sequence_start(&t.run, &deferred, &t, &error), 1);
        check_string("nothing has begun", t.said, "");
        sequence_cancel(&t.run, &(Error) { -ECANCELED, "not wanted" });
        check_string("nothing is undone", t.said, "!");
        check_string("why", t.error.text, "not wanted");
}

TEST(from_the_middle) {
        Trial t = { .ways = { WAY_DONE, WAY_WAITS, WAY_FAILS } };
        Error error = { 0 };

        check_result("start", sequence_start_at(&t.run, &at_once, 1, &t, &error), 1);
        check_string("the step", sequence_step(&t.run)->name, "second");
        sequence_heard(&t.run, NULL);
        check_string("those before are undone too", t.said, "bcCBA!");
}

static int begin_silent(void *object, Error *reterr) {
        return -ENOSPC;
}

TEST(an_error_without_a_text_names_the_step) {
        static const SequenceStep silent[] = { { .name = "write", .begin = begin_silent } };
        static const Sequence sequence = SEQUENCE("trial", silent, trial_end);
        SequenceRun run;
        Error error = { 0 };

        check_result("start", sequence_start(&run, &sequence, NULL, &error), -ENOSPC);
        check_string("text", error.text, "write: No space left on device");
}

static int begin_and_cancel(void *object, Error *reterr) {
        Trial *t = object;

        say(t, 'b');
        sequence_cancel(&t->run, &(Error) { -ECANCELED, "not wanted" });
        return STEP_WAITS;
}

TEST(cancelled_by_the_step_itself) {
        static const SequenceStep own[] = { { "first", begin_a, undo_a, NULL }, { "second", begin_and_cancel, undo_b, hasten }, { "third", begin_c, undo_c, NULL } };
        static const Sequence sequence = SEQUENCE("trial", own, trial_end);
        Trial t = { 0 };
        Error error = { 0 };

        check_result("start", sequence_start(&t.run, &sequence, &t, &error), -ECANCELED);
        check_string("it is hastened", t.said, "ab~BA");
        check_string("why", error.text, "not wanted");
}

TEST(an_undo_that_fails_is_what_is_told) {
        Trial t = { .ways = { WAY_DONE, WAY_WAITS, WAY_FAILS }, .undo = UNDO_WAITS };
        Error error = { 0 };

        check_result("start", sequence_start(&t.run, &at_once, &t, &error), 1);
        sequence_heard(&t.run, NULL);
        check_string("the third is undone", t.said, "abcC");
        sequence_heard(&t.run, &(Error) { -ENOSPC, "no room to go back" });
        check_string("the next one all the same", t.said, "abcCB");
        sequence_heard(&t.run, NULL);
        sequence_heard(&t.run, NULL);
        check_string("its end", t.said, "abcCBA!");
        check_result("code", t.error.code, -ENOSPC);
        check_string("text", t.error.text, "no room to go back");
}

static int begin_and_give_up(void *object, Error *reterr) {
        Trial *t = object;

        say(t, 'b');
        check_true("not while it is called", !sequence_give_up(&t->run));
        return t->ways[1] == WAY_DONE ? STEP_DONE : STEP_WAITS;
}

TEST(given_up) {
        static const SequenceStep own[] = { { "first", begin_a, undo_a, NULL }, { "second", begin_and_give_up, undo_b, hasten }, { "third", begin_c, undo_c, NULL } };
        static const Sequence sequence = SEQUENCE("trial", own, trial_end);
        Error error = { 0 };

        for (unsigned i = 0; i < 4; i++) {
                Trial t = { .ways = { i % 2 ? WAY_WAITS : WAY_DONE, i / 2 ? WAY_WAITS : WAY_DONE } };
                int r = sequence_start(&t.run, &sequence, &t, &error);

                check_result("start", r, i % 2 ? 1 : -ECANCELED);
                if (i % 2)
                        sequence_heard(&t.run, NULL);
                check_string("nothing is undone", t.said, i % 2 ? "ab!" : "ab");
        }
        for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
                Trial t = { .ways = { WAY_WAITS } };

                check_result("start", sequence_start(&t.run, &at_once, &t, &error), 1);
                if (cancelled)
                        sequence_cancel(&t.run, &(Error) { -ECANCELED, "not wanted" });
                check_true("while it waits", sequence_give_up(&t.run));
                check_true("it is over", !sequence_is_under_way(&t.run));
                check_string("without a word", t.said, "a");
        }
}
