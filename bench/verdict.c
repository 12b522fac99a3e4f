#include "verdict.h"

/* Medians, since the noise of a shared machine is one-sided: it makes single runs slow, never fast, and leaves the
 * middle where it is as long as fewer than half of the rounds are hit. The first two compare medians of interleaved
 * rounds, and need no margin.
 *
 * The third cannot be 1.0 for anybody: pivot_root walks all tasks of the system to find those that stand in the old
 * root (chroot_fs_refs() in the kernel), about 0.1 us for each, so that 500 sandboxes of four tasks cost every start
 * 0.2 ms. The control shows it. The limit of 1.3 is room for that and for the noise between neighbouring seconds; a
 * start path of 2.5 ms that grew by another microsecond per live sandbox would miss it. */
static const Verdict promises[_VERDICT_MAX] = {
        [VERDICT_BWRAP] = { .text = "cove, true: p50 at or below bwrap's",            .limit = 1.0 },
        [VERDICT_FLOOR] = { .text = "cove, true: p50 at most 2.5 x namespaces floor", .limit = 2.5 },
        [VERDICT_LIVE]  = { .text = "cove, true: p50 with many live as with one",     .limit = 1.3 },
};

const char *verdict_state_to_string(VerdictState state) {
        static const char *const names[_VERDICT_STATE_MAX] = {
                [VERDICT_PASS] = "PASS",
                [VERDICT_MISS] = "MISS",
                [VERDICT_NOT_SHOWN] = "NOT SHOWN",
                [VERDICT_NOT_ASKED] = "not asked",
        };

        return names[state];
}

static double ratio_of(Bench *b, SubjectId other) {
        Row *rows = b->rows[WORKLOAD_TRUE];
        uint64_t mine = samples_quantile(&rows[SUBJECT_COVE].latency_usec, 500);
        uint64_t theirs = samples_quantile(&rows[other].latency_usec, 500);

        return theirs > 0 ? (double) mine / (double) theirs : 0;
}

static void judge(Verdict *v, bool asked, double measured, size_t n_failed) {
        v->measured = measured;
        v->n_failed = n_failed;
        if (!asked)
                v->state = VERDICT_NOT_ASKED;
        else if (measured <= 0)
                v->state = VERDICT_NOT_SHOWN;
        else
                v->state = measured <= v->limit && n_failed == 0 ? VERDICT_PASS : VERDICT_MISS;
}

void verdicts_judge(Bench *b, Verdict ret[static _VERDICT_MAX]) {
        const Subject *items = b->subjects.items;
        bool true_asked = b->selected[WORKLOAD_TRUE] && items[SUBJECT_COVE].selected;
        bool live_asked = b->selected[WORKLOAD_LIVE] && items[SUBJECT_COVE].selected;
        size_t true_failed = b->rows[WORKLOAD_TRUE][SUBJECT_COVE].n_failed, live_failed = 0;

        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++)
                live_failed += b->live.cove.phases[phase].n_failed;
        for (int i = 0; i < _VERDICT_MAX; i++)
                ret[i] = promises[i];

        judge(ret + VERDICT_BWRAP, true_asked && items[SUBJECT_BWRAP].selected, ratio_of(b, SUBJECT_BWRAP),
                        true_failed);
        judge(ret + VERDICT_FLOOR, true_asked && items[SUBJECT_NAMESPACES].selected,
                        ratio_of(b, SUBJECT_NAMESPACES), true_failed);
        judge(ret + VERDICT_LIVE, live_asked, b->live.done ? live_ratio(&b->live.cove) : 0, live_failed);
}

bool verdicts_hold(const Verdict verdicts[static _VERDICT_MAX]) {
        for (int i = 0; i < _VERDICT_MAX; i++)
                if (verdicts[i].state != VERDICT_PASS && verdicts[i].state != VERDICT_NOT_ASKED)
                        return false;
        return true;
}
