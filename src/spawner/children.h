/* children.h: the sandboxes that this process has started and not yet reaped, found by id and by pid.
 *
 * A pid here is good to be signalled: until we reap it, it is nobody else's. No descriptor is held for a sandbox, since each
 * new one would get a copy of all of them.
 * Must not know: requests, cgroups. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "jail/spec.h"

typedef struct Child {
        char id[JAIL_ID_LENGTH + 1];
        pid_t pid;
} Child;

typedef struct Children {
        void *by_id, *by_pid; /* trees of <search.h> */
} Children;

/* Before it is started, when there is still a way back; -EEXIST, -ENOMEM. */
int children_reserve(Children *c, const char *id, Child **ret);
int children_started(Children *c, Child *child, pid_t pid); /* -ENOMEM */
void children_drop(Children *c, Child *child);

Child *children_find(const Children *c, const char *id);
Child *children_find_pid(const Children *c, pid_t pid);

/* Whether it has ended; then it is gone from here too. */
bool children_reap(Children *c, Child *child);

void children_walk(const Children *c, void (*visit)(const Child *child, void *userdata), void *userdata);
