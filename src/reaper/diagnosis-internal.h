/* diagnosis-internal.h: the parts of a look at a sandbox. */
#pragma once

#include "reaper/diagnosis.h"

/* processes.c: everything below PID 1 but what is ours. */
void processes_read(int pid_one, ProcessCount *ret);

/* output.c: the ends of the journals of its newest commands. */
void output_read(const Sandbox *sb, bool patterns, DiagnosisOutput *ret);
