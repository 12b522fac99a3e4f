/* criu.h: whether this machine could write processes to disk and take them up again, tried for real.
 *
 * Nothing here does it: a sandbox that is paused to disk keeps files, and no processes. This is for `cove doctor`, so that whoever asks for more knows what
 * there is. */
#pragma once

#include "jail/probe.h"

#define CRIU_NAME    "criu"
#define CRIU_PURPOSE "processes on disk (cove pause --to-disk keeps files only)"

Finding probe_criu(void);
