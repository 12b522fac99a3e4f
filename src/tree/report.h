/* report.h: the reports of cove-tree (tree.h): progress and result. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

#define REPORT_FD 3

void report_init(void); /* checks whether descriptor 3 is open */

/* Reports the counts, at most ten times a second. */
void report_progress(uint64_t entries, uint64_t bytes);

/* The caller writes the members of the result between these two calls. */
void report_begin_result(JsonWriter *w);
int report_end_result(JsonWriter *w, Error *reterr);
