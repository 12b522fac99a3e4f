/* helper.h: a helper program that the daemon starts for one job, and supervises.
 *
 * Starts the program (base/program.h) with a pipe as its stderr, and reports its end once, with the failure that
 * the program wrote to the pipe. The caller alone handles its stdout and other channels.
 * Must not know: what the program does, sandboxes. */
#pragma once

#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/program.h"

typedef struct Helper Helper;
typedef void (*HelperEnded)(const Error *error /* NULL: well */, void *userdata); /* the helper is freed already */

/* argv[0] is the program's name, "cove-…"; without start->path it is searched for. Descriptor 2 is the pipe,
 * whatever fds has there. Returns a bare errno, without a text.
 * hang_usec: a program that is in the stopped state for this long is killed, and its end is -ETIMEDOUT; 0: no
 * limit. A program that blocks in a read or write is not stopped. */
int helper_start(sd_event *event, const ProgramStart *start, usec_t hang_usec, HelperEnded ended, void *userdata, Helper **ret);
void helper_stop(Helper *h);    /* sends SIGTERM; the end is reported */
Helper *helper_free(Helper *h); /* kills it; the end is not reported. NULL is fine */
