/* report.h: what cove-tree tells (tree.h): how far it is, and its result. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

#define REPORT_FD 3

void report_init(void); /* whether anybody listens */

/* Counts, and tells at most ten times a second. */
void report_progress(uint64_t entries, uint64_t bytes);

/* Between the two, members are written. */
void report_begin_result(JsonWriter *w);
int report_end_result(JsonWriter *w, Error *reterr);
