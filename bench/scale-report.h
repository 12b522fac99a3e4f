/* scale-report.h: puts the results of cove-bench-scale into words and JSON, and judges the promises. */
#pragma once

#include <stdio.h>

#include "scale.h"

void scale_report(FILE *f, ScaleBench *b);
void scale_report_json(FILE *f, ScaleBench *b);
bool scale_promises_hold(ScaleBench *b);
