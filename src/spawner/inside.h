/* inside.h: the first function of a sandbox's PID 1, which is a copy of the worker.
 *
 * Runs inside, behind all walls. Must not know: requests. */
#pragma once

#include "jail/enter.h"

/* A JailMain; arg is the JailSpec. */
void inside_main(const JailInside *inside, void *arg);
