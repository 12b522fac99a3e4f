#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "child.h"

static int run_rounds(Bench *b, WorkloadId id);
static int run_batches(Bench *b, WorkloadId id);
static int run_live(Bench *b, WorkloadId id);

const Workload workloads[_WORKLOAD_MAX] = {
        [WORKLOAD_TRUE]     = { "true",     "true, one at a time",          COMMAND_TRUE,   run_rounds  },
        [WORKLOAD_PYTHON]   = { "python",   "python3 -c 1, one at a time",  COMMAND_PYTHON, run_rounds  },
        [WORKLOAD_PARALLEL] = { "parallel", "true, 100 at once",            COMMAND_TRUE,   run_batches },
        [WORKLOAD_LIVE]     = { "live",     "true, while others are alive", COMMAND_TRUE,   run_live    },
};

WorkloadId workload_from_name(const char *name, size_t length) {
        for (int id = 0; id < _WORKLOAD_MAX; id++)
                if (strlen(workloads[id].name) == length && strncmp(workloads[id].name, name, length) == 0)
                        return id;
        return _WORKLOAD_INVALID;
}

/* One line that overwrites itself, for a person who waits. */
static void progress(const char *name, unsigned i, unsigned n) {
        if (isatty(STDERR_FILENO))
                fprintf(stderr, i < n ? "\r%s: round %u of %u " : "\r\033[K", name, i + 1, n);
}

static void order_fill(Order *o, Bench *b, CommandId command) {
        order_init(o);
        for (int id = 0; id < _SUBJECT_MAX; id++)
                if (subjects_ready(&b->subjects, id, command))
                        order_add(o, id);
}

/* Everybody once per round; what they did is thrown away. */
static int warm_up(Bench *b, Order *o, CommandId command) {
        Row row = {};
        int r = 0;

        for (unsigned round = 0; round < b->warmup && r >= 0; round++)
                for (size_t i = 0; i < o->n && r >= 0; i++)
                        r = measure_one(&b->subjects, o->ids[i], command, &row);
        row_done(&row);
        return r;
}

static int run_rounds(Bench *b, WorkloadId id) {
        CommandId command = workloads[id].command;
        Order order;
        int r;

        order_fill(&order, b, command);
        r = warm_up(b, &order, command);
        for (unsigned round = 0; round < b->rounds && r >= 0; round++) {
                progress(workloads[id].name, round, b->rounds);
                order_shuffle(&order);
                for (size_t i = 0; i < order.n && r >= 0; i++)
                        if (round % subject_types[order.ids[i]].every == 0)
                                r = measure_one(&b->subjects, order.ids[i], command,
                                                b->rows[id] + order.ids[i]);
        }
        progress(workloads[id].name, b->rounds, b->rounds);
        return r;
}

static int run_batches(Bench *b, WorkloadId id) {
        Order order;
        int r = 0;

        order_fill(&order, b, workloads[id].command);
        for (unsigned round = 0; round < b->batches && r >= 0; round++) {
                progress(workloads[id].name, round, b->batches);
                order_shuffle(&order);
                for (size_t i = 0; i < order.n && r >= 0; i++)
                        if (round % subject_types[order.ids[i]].every == 0)
                                r = measure_batch(&b->subjects, order.ids[i], workloads[id].command,
                                                PARALLEL_N, b->rows[id] + order.ids[i]);
        }
        progress(workloads[id].name, b->batches, b->batches);
        return r;
}

static int run_live(Bench *b, WorkloadId id) {
        return live_measure(&b->live, &b->subjects, b->rounds);
}

int bench_run(Bench *b) {
        for (int id = 0; id < _WORKLOAD_MAX; id++) {
                int r = b->selected[id] ? workloads[id].run(b, id) : 0;

                if (r >= 0 && child_interrupted())
                        r = -EINTR;
                if (r < 0)
                        return r;
        }
        return 0;
}

void bench_done(Bench *b) {
        for (int w = 0; w < _WORKLOAD_MAX; w++)
                for (int s = 0; s < _SUBJECT_MAX; s++)
                        row_done(b->rows[w] + s);
        live_done(&b->live);
        subjects_done(&b->subjects);
}
