/* worker.h: from PID 1 to a worker that does one file operation.
 *
 * A fork of PID 1 that becomes the asked-for user, lets go of everything but its channel, and ends with the operation or when
 * nobody listens any more. Like PID 1 it cannot be traced: not dumpable, and its memory is not the guest's. What it may touch
 * is what that user may touch.
 *
 *      { .operation = …, .uid = … } + channel [+ pipe with data]
 *
 * Must not know: the control channel, executions. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "wire/guest.h"

/* The descriptors stay the caller's, who closes them. Returns the pid, or a negative errno; the channel has been told by
 * then. single_id: there is one id only, which is ours already. file_size_max: 0: no limit; a larger file is
 * EFBIG. */
pid_t worker_start(const FileRequest *request, bool single_id, uint64_t file_size_max, const int *fds, size_t n_fds);
