/* report.h: what was measured, as a table for people and as JSON for programs.
 *
 * Must not know: how it was measured. */
#pragma once

#include <stdio.h>

#include "verdict.h"
#include "workload.h"

/* Used by both; 0 where there is nothing to tell. */
double report_p50(Row *row);
double report_ratio(double a, double b);
double report_rate(Row *row); /* of the median batch, in runs per second */

void report_table(FILE *f, Bench *b, const Verdict verdicts[static _VERDICT_MAX]);

/* All times in microseconds. Lists the subjects that were left out as well. */
void report_json(FILE *f, Bench *b, const Verdict verdicts[static _VERDICT_MAX]);
