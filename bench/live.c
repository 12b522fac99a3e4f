#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"

#define LIVE_AT_ONCE  16u /* started without waiting for each other */
#define LIVE_PATIENCE (60 * USEC_PER_SEC)
#define LIVE_SETTLE   (2 * USEC_PER_SEC) /* the kernel takes 500 network namespaces down in the background */

/* A number of sandboxes that are alive. At start they say one line on `said`; then they read `hold`, to which nobody
 * writes. */
typedef struct Crowd {
        pid_t *pids;
        size_t n, room;
        int hold_read, hold_write, said_read, said_write;
} Crowd;

#define CROWD_EMPTY                                                                                         \
        { .hold_read = -EBADF, .hold_write = -EBADF, .said_read = -EBADF, .said_write = -EBADF }

static void live_rows_done(LiveRows *rows) {
        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++)
                row_done(rows->phases + phase);
        samples_done(&rows->ratios);
}

void live_done(Live *live) {
        live_rows_done(&live->cove);
        live_rows_done(&live->control);
}

static int pipe_open(int *ret_read, int *ret_write) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        return 0;
}

static int crowd_open(Crowd *c, size_t room) {
        int r;

        c->pids = calloc(room, sizeof(*c->pids));
        if (!c->pids)
                return -ENOMEM;
        c->room = room;
        r = pipe_open(&c->hold_read, &c->hold_write);
        if (r < 0)
                return r;
        return pipe_open(&c->said_read, &c->said_write);
}

static int crowd_start_one(Crowd *c, Subjects *s, Error *reterr) {
        const int stdio[] = { c->hold_read, c->said_write, child_quiet[2] };
        Launch launch;
        int r;

        r = launch_init(&launch, s, SUBJECT_COVE, COMMAND_HOLD);
        if (r >= 0)
                r = launch_start(&launch, stdio, c->pids + c->n);
        launch_done(&launch);
        if (r < 0)
                return error_set(reterr, r, "sandbox %zu cannot be started: %m", c->n + 1);
        c->n++;
        return 0;
}

/* One byte for each that has come up. */
static int crowd_hear(Crowd *c, size_t n_expected, Error *reterr) {
        usec_t until = clock_usec() + LIVE_PATIENCE;
        char bytes[LIVE_AT_ONCE];

        while (n_expected > 0) {
                struct pollfd p = { .fd = c->said_read, .events = POLLIN };
                ssize_t n;

                if (child_interrupted())
                        return -EINTR;
                if (clock_usec() > until)
                        return error_set(reterr, -ETIME, "%zu sandboxes of %zu did not come up", n_expected,
                                        c->n);
                if (poll(&p, 1, /* timeout= */ 1000) <= 0)
                        continue;
                n = read(c->said_read, bytes, MIN_OF(n_expected, sizeof(bytes)));
                if (n > 0)
                        n_expected -= (size_t) n;
        }
        return 0;
}

static int crowd_start(Crowd *c, Subjects *s, size_t n, Error *reterr) {
        int r;

        r = crowd_open(c, n);
        if (r < 0)
                return error_set(reterr, r, "%m");
        while (c->n < n) {
                size_t some = MIN_OF(n - c->n, (size_t) LIVE_AT_ONCE);

                for (size_t i = 0; i < some; i++) {
                        r = crowd_start_one(c, s, reterr);
                        if (r < 0)
                                return r;
                }
                r = crowd_hear(c, some, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Closing the pipe ends them all; who is still there after our patience is killed. Copes with a half-started crowd. */
static void crowd_stop(Crowd *c) {
        c->hold_write = fd_close(c->hold_write);

        child_deadline(LIVE_PATIENCE);
        for (size_t i = 0; i < c->n; i++) {
                int status;

                if (child_wait(c->pids[i], /* ret_pid= */ NULL, &status) < 0)
                        child_kill(c->pids[i]);
        }
        child_deadline(0);

        c->hold_read = fd_close(c->hold_read);
        c->said_read = fd_close(c->said_read);
        c->said_write = fd_close(c->said_write);
        free(c->pids);
        *c = (Crowd) CROWD_EMPTY;
}

/* What one cycle measures. */
typedef struct Cycle {
        Row cove[_LIVE_PHASE_MAX], control[_LIVE_PHASE_MAX];
} Cycle;

static int phase_measure(Cycle *cycle, Subjects *s, LivePhase phase, unsigned rounds, bool control) {
        Order order;

        order_init(&order);
        order_add(&order, SUBJECT_COVE);
        if (control)
                order_add(&order, SUBJECT_NAMESPACES);

        (void) usleep(LIVE_SETTLE);
        for (unsigned round = 0; round < rounds; round++) {
                order_shuffle(&order);
                for (size_t i = 0; i < order.n; i++) {
                        SubjectId id = order.ids[i];
                        Row *rows = id == SUBJECT_COVE ? cycle->cove : cycle->control;
                        int r = measure_one(s, id, COMMAND_TRUE, rows + phase);

                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int rows_absorb(LiveRows *all, Row cycle[static _LIVE_PHASE_MAX]) {
        uint64_t one = samples_quantile(&cycle[LIVE_ONE].latency_usec, 500);
        uint64_t many = samples_quantile(&cycle[LIVE_MANY].latency_usec, 500);
        int r = 0;

        if (one > 0 && many > 0)
                r = samples_add(&all->ratios, many * 1000 / one);
        for (int phase = 0; phase < _LIVE_PHASE_MAX && r >= 0; phase++)
                r = row_absorb(all->phases + phase, cycle + phase);
        return r;
}

static int cycle_measure(Live *live, Subjects *s, unsigned rounds, bool control) {
        Crowd many = CROWD_EMPTY;
        Cycle cycle = {};
        int r;

        r = phase_measure(&cycle, s, LIVE_ONE, rounds, control);
        if (r >= 0)
                r = crowd_start(&many, s, live->n - 1, &live->reason);
        if (r >= 0)
                r = phase_measure(&cycle, s, LIVE_MANY, rounds, control);
        crowd_stop(&many);

        if (r >= 0)
                r = rows_absorb(&live->cove, cycle.cove);
        if (r >= 0)
                r = rows_absorb(&live->control, cycle.control);
        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++) {
                row_done(cycle.cove + phase);
                row_done(cycle.control + phase);
        }
        return r;
}

int live_measure(Live *live, Subjects *s, unsigned rounds) {
        bool control = subjects_ready(s, SUBJECT_NAMESPACES, COMMAND_TRUE);
        unsigned rounds_per_cycle = (rounds + live->cycles - 1) / live->cycles;
        Crowd one = CROWD_EMPTY;
        int r;

        if (!subjects_ready(s, SUBJECT_COVE, COMMAND_TRUE) ||
                        !subjects_ready(s, SUBJECT_COVE, COMMAND_HOLD)) {
                (void) error_set(&live->reason, -ENOENT, "cove is left out");
                return 0;
        }

        r = crowd_start(&one, s, 1, &live->reason);
        for (unsigned cycle = 0; cycle < live->cycles && r >= 0; cycle++)
                r = cycle_measure(live, s, rounds_per_cycle, control);
        crowd_stop(&one);

        live->done = r >= 0;
        if (live->reason.code != 0)
                return 0; /* cove's failure, not the bench's; the reason tells it */
        return r;
}

double live_ratio(LiveRows *rows) {
        return (double) samples_quantile(&rows->ratios, 500) / 1000;
}
