/* diagnosis-internal.h: the parts of a sample of a sandbox. */
#pragma once

#include "reaper/diagnosis.h"

/* processes.c: all processes below PID 1, except cove's own. */
void processes_read(int pid_one, ProcessCount *ret);

/* output.c: the ends of the journals of its newest commands. */
void diagnosis_read_output(const Sandbox *sb, bool patterns, DiagnosisOutput *ret);
