#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"
#include "child.h"

#define MEASURE_PATIENCE       (60 * USEC_PER_SEC)
#define MEASURE_PATIENCE_BATCH (300 * USEC_PER_SEC)
#define MEASURE_SETTLE_BATCH   (500 * USEC_PER_MSEC)
#define ORDER_SEED             0x9e3779b97f4a7c15ull

typedef struct Flight {
        Launch launch;
        pid_t pid; /* 0 when not running */
        usec_t started;
} Flight;

void row_done(Row *row) {
        samples_done(&row->latency_usec);
        samples_done(&row->batch_usec);
}

static void row_fail(Row *row, const Error *error) {
        if (row->n_failed++ == 0)
                row->failure = *error;
}

int row_absorb(Row *row, const Row *from) {
        int r;

        if (row->n_failed == 0)
                row->failure = from->failure;
        row->n_failed += from->n_failed;
        r = samples_add_all(&row->latency_usec, &from->latency_usec);
        if (r < 0)
                return r;
        return samples_add_all(&row->batch_usec, &from->batch_usec);
}

static void settle(usec_t time) {
        if (time > 0)
                (void) usleep((useconds_t) time);
}

/* The time counts when the run ended well. */
static int row_add(Row *row, int status, usec_t time) {
        Error error = {};

        if (child_check(status, &error) < 0) {
                row_fail(row, &error);
                return 0;
        }
        return samples_add(&row->latency_usec, time);
}

static int flight_start(Flight *f, Row *row) {
        Error error = {};
        int r;

        f->started = clock_usec();
        r = launch_start(&f->launch, child_quiet, &f->pid);
        if (r < 0) {
                (void) error_set(&error, r, "cannot be started: %m");
                row_fail(row, &error);
        }
        return r;
}

static int wait_failed(int r, Row *row) {
        Error error = {};

        if (r != -ETIME)
                return r;
        (void) error_set(&error, r, "did not end in time");
        row_fail(row, &error);
        return 0;
}

int measure_one(Subjects *s, SubjectId id, CommandId command, Row *row) {
        Flight f = {};
        int status, r;

        if (child_interrupted())
                return -EINTR;
        r = launch_init(&f.launch, s, id, command);
        if (r >= 0 && flight_start(&f, row) >= 0) {
                usec_t ended;

                child_deadline(MEASURE_PATIENCE);
                r = child_wait(f.pid, /* ret_pid= */ NULL, &status);
                ended = clock_usec();
                child_deadline(0);
                if (r < 0) {
                        child_kill(f.pid);
                        r = wait_failed(r, row);
                } else
                        r = row_add(row, status, ended - f.started);
        }
        launch_done(&f.launch);
        settle(subject_types[id].settle);
        return r;
}

static Flight *flight_of(Flight *flights, size_t n, pid_t pid) {
        for (size_t i = 0; i < n; i++)
                if (flights[i].pid == pid)
                        return flights + i;
        return NULL;
}

/* Waits for all that fly; children that are not ours here (the docker daemon) are passed over. */
static int flights_land(Flight *flights, size_t n, size_t n_flying, Row *row) {
        int r = 0;

        while (n_flying > 0 && r >= 0) {
                Flight *f;
                int status;
                pid_t pid;

                r = child_wait(-1, &pid, &status);
                if (r < 0)
                        break;
                f = flight_of(flights, n, pid);
                if (!f)
                        continue;
                r = row_add(row, status, clock_usec() - f->started);
                f->pid = 0;
                n_flying--;
        }

        for (size_t i = 0; i < n && n_flying > 0; i++)
                if (flights[i].pid > 0)
                        child_kill(flights[i].pid);
        return r < 0 ? wait_failed(r, row) : 0;
}

int measure_batch(Subjects *s, SubjectId id, CommandId command, size_t n, Row *row) {
        _cleanup_free_ Flight *flights = calloc(n, sizeof(*flights));
        size_t n_flying = 0, n_failed = row->n_failed;
        usec_t began;
        int r = 0;

        if (!flights)
                return -ENOMEM;
        if (child_interrupted())
                return -EINTR;
        for (size_t i = 0; i < n && r >= 0; i++)
                r = launch_init(&flights[i].launch, s, id, command);

        child_deadline(MEASURE_PATIENCE_BATCH);
        began = clock_usec();
        for (size_t i = 0; i < n && r >= 0; i++)
                n_flying += flight_start(flights + i, row) >= 0;
        if (r >= 0)
                r = flights_land(flights, n, n_flying, row);
        if (r >= 0 && row->n_failed == n_failed)
                r = samples_add(&row->batch_usec, clock_usec() - began);
        child_deadline(0);

        for (size_t i = 0; i < n; i++)
                launch_done(&flights[i].launch);
        settle(MEASURE_SETTLE_BATCH);
        return r;
}

void order_init(Order *o) {
        *o = (Order) { .state = ORDER_SEED };
}

void order_add(Order *o, SubjectId id) {
        o->ids[o->n++] = id;
}

/* Fisher-Yates over xorshift64: even enough for this, and the same everywhere. */
void order_shuffle(Order *o) {
        for (size_t i = o->n; i > 1; i--) {
                size_t k;
                SubjectId id;

                o->state ^= o->state << 13;
                o->state ^= o->state >> 7;
                o->state ^= o->state << 17;
                k = o->state % i;
                id = o->ids[i - 1];
                o->ids[i - 1] = o->ids[k];
                o->ids[k] = id;
        }
}
