/* verdict.h: the promises that a bench must show, and whether this one did.
 *
 * Each is a ratio of two medians of the same run, so that the machine's speed cancels out.
 * Must not know: how it is printed. */
#pragma once

#include "workload.h"

typedef enum VerdictState {
        VERDICT_PASS,
        VERDICT_MISS,
        VERDICT_NOT_SHOWN, /* wanted, but something it needs was left out: as bad as a miss */
        VERDICT_NOT_ASKED, /* the user chose other subjects or workloads */
        _VERDICT_STATE_MAX,
} VerdictState;

typedef struct Verdict {
        const char *text;
        double measured, limit;
        size_t n_failed; /* runs of cove that failed: then no ratio is good enough */
        VerdictState state;
} Verdict;

typedef enum VerdictId {
        VERDICT_BWRAP,
        VERDICT_FLOOR,
        VERDICT_LIVE,
        _VERDICT_MAX,
} VerdictId;

const char *verdict_state_to_string(VerdictState state);

void verdicts_judge(Bench *b, Verdict ret[static _VERDICT_MAX]);
bool verdicts_hold(const Verdict verdicts[static _VERDICT_MAX]);
