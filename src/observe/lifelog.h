/* lifelog.h: logs the lives of sandboxes: a line for each change of status, end of an execution and security event,
 * with the id of the sandbox. All have the level info, because unauthenticated clients and guests can cause any number
 * of them.
 * Must not know: where the log goes. */
#pragma once

#include "core/manager.h"

typedef struct Lifelog {
        CoreObserver observer;
} Lifelog;

void lifelog_start(Lifelog *l, Manager *m);
