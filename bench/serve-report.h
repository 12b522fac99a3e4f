/* serve-report.h: the numbers of a daemon bench, as a table for people and as JSON, and whether they hold what was promised.
 *
 * Must not know: how they were measured. */
#pragma once

#include <stdio.h>

#include "serve-work.h"

void serve_report(FILE *f, ServeBench *b);
void serve_report_json(FILE *f, ServeBench *b);

/* All that was asked for was shown. */
bool serve_promises_hold(ServeBench *b);
