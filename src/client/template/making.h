/* making.h: follows long work of the daemon on a template, for a person at a terminal: the log as lines, the
 * progress on one line below, and the result.
 *
 * Ctrl-C cancels the work and says so; a second one stops waiting for the end. Must not know: which kinds of
 * work exist. */
#pragma once

#include "client/client.h"
#include "client/usage.h"

typedef struct MakingLook {
        bool quiet;  /* no log */
        bool detach; /* do not follow: print its id to stdout */
} MakingLook;

/* started: the answer to the request that started the work. json: prints only the final answer, as JSON, to
 * stdout. Returns the exit status: 0 on success; failures have been reported. */
int making_follow(const Place *place, const Answer *started, const MakingLook *look, bool json);
