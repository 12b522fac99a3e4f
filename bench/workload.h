/* workload.h: what the subjects are put through.
 *
 * A table of workloads; each runs all ready subjects in interleaved rounds and fills its rows.
 * Must not know: how a subject is started, how results are told. */
#pragma once

#include <errno.h>

#include "live.h"
#include "measure.h"

#define PARALLEL_N 100u

typedef enum WorkloadId {
        WORKLOAD_TRUE,
        WORKLOAD_PYTHON,
        WORKLOAD_PARALLEL,
        WORKLOAD_LIVE,
        _WORKLOAD_MAX,
        _WORKLOAD_INVALID = -EINVAL,
} WorkloadId;

typedef struct Bench Bench;

typedef struct Workload {
        const char *name;
        const char *title;
        CommandId command;
        int (*run)(Bench *b, WorkloadId id);
} Workload;

extern const Workload workloads[_WORKLOAD_MAX];

struct Bench {
        unsigned rounds, warmup, batches;
        double load; /* of the machine, by others, before we began */
        bool selected[_WORKLOAD_MAX];
        Subjects subjects;
        Row rows[_WORKLOAD_MAX][_SUBJECT_MAX];
        Live live;
};

WorkloadId workload_from_name(const char *name, size_t length);

/* Runs the selected ones in turn; -EINTR when the user wants to leave. */
int bench_run(Bench *b);
void bench_done(Bench *b);
