/* helper.h: a helper program that the daemon starts for one thing, and watches.
 *
 * Starts the program (base/program.h) with a pipe as its stderr, and tells its end once, with the failure that the program left there. What else the
 * program says, on stdout or over a channel, is between it and the caller.
 * Must not know: what the program does, sandboxes. */
#pragma once

#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/program.h"

typedef struct Helper Helper;
typedef void (*HelperEnded)(const Error *error /* NULL: well */, void *userdata); /* it is freed by then */

/* argv[0] is the program's name, "cove-…"; without a path it is looked for. Its descriptor 2 is the pipe, whatever fds has there. A failure has no words.
 * hang_usec: one that is stopped for so long is killed, and its end is -ETIMEDOUT; 0: nobody looks. One that waits for what it reads or writes is none. */
int helper_start(sd_event *event, const ProgramStart *start, usec_t hang_usec, HelperEnded ended, void *userdata, Helper **ret);
void helper_stop(Helper *h);    /* asks it to end; that is told */
Helper *helper_free(Helper *h); /* kills it; nothing is told. NULL is nothing */
