/* lifelog.h: what happens to sandboxes, as lines of the daemon's log: one for each change of status, end of an execution and security
 * event, each with the sandbox's id. All of the level info: strangers and guests can make as many of them as they like.
 * Must not know: where the log goes. */
#pragma once

#include "core/manager.h"

typedef struct Lifelog {
        CoreObserver observer;
} Lifelog;

void lifelog_start(Lifelog *l, Manager *m);
