/* making.h: long work of the daemon's on a template, as a person at a terminal follows it: its log as lines, how far it is on one line below, and its end.
 *
 * Ctrl-C cancels the work and says so; a second one leaves it alone. Must not know: which kinds of work there are. */
#pragma once

#include "client/client.h"
#include "client/usage.h"

typedef struct MakingLook {
        bool quiet;  /* no log */
        bool detach; /* not at all: its id on stdout */
} MakingLook;

/* started: the answer that began it. json: only the end, as the daemon says it, on stdout. Returns the exit status: 0 when it was done;
 * what went wrong has been told. */
int making_follow(const Place *place, const Answer *started, const MakingLook *look, bool json);
