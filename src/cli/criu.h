/* criu.h: checks whether this machine could write processes to disk and restore them, by trying it.
 *
 * cove does not use this: pausing a sandbox to disk keeps its files, not its processes. The check is for
 * `cove doctor`, so that operators know what the machine could do. */
#pragma once

#include "jail/probe.h"

#define CRIU_NAME    "criu"
#define CRIU_PURPOSE "processes on disk (cove pause --to-disk keeps files only)"

Finding probe_criu(void);
