/* measure.h: the clock around a launch.
 *
 * measure_one() starts one and waits for it; measure_batch() starts many at once. A run that fails is counted apart and
 * gives no time. What is made ready beforehand (arguments, names) and cleared up afterwards is outside of the time.
 * Must not know: which subjects are compared, how often, how it is told. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sample.h"
#include "subject.h"

typedef struct Row {
        Samples latency_usec; /* from just before the start to the end, as its parent sees it */
        Samples batch_usec;   /* a whole batch, from first start to last end */
        size_t n_failed;
        Error failure; /* the first one */
} Row;

void row_done(Row *row);
int row_absorb(Row *row, const Row *from); /* adds what the other has, and leaves it as it is */

/* -EINTR when the user wants to leave; other errors are the bench's own. A failing subject is not an error. */
int measure_one(Subjects *s, SubjectId id, CommandId command, Row *row);
int measure_batch(Subjects *s, SubjectId id, CommandId command, size_t n, Row *row);

/* The order of the subjects in one round, drawn anew for each: a fixed or merely rotated order would let each subject
 * always run in the wake of the same neighbour, whose teardown goes on in the background. */
typedef struct Order {
        SubjectId ids[_SUBJECT_MAX];
        size_t n;
        unsigned long long state; /* fixed seed: two runs see the same orders */
} Order;

void order_init(Order *o);
void order_add(Order *o, SubjectId id);
void order_shuffle(Order *o);
