/* worker.h: starts a worker for one file operation.
 *
 * A fork of PID 1 that becomes the requested user and closes everything but its channel. It ends with the operation, or
 * when the client hangs up. Like PID 1 it is not dumpable, so a guest cannot trace it or read its memory. It may access
 * only the files that the requested user may access.
 *
 *      { .operation = …, .uid = … } + channel [+ pipe with data]
 *
 * Must not know: the control channel, executions. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "wire/guest.h"

/* The caller keeps the descriptors and closes them. Returns the pid, or a negative errno; a failure is also reported
 * over the channel, if one came. single_id: there is one id only, which is ours already. file_size_max: a larger file
 * fails with EFBIG; 0: no limit. */
pid_t worker_start(const FileRequest *request, bool single_id, uint64_t file_size_max, const int *fds, size_t n_fds);
