/* children.h: the sandboxes that this process has started and not yet reaped, found by id and by pid.
 *
 * A pid here is safe to signal: until we reap it, the kernel does not reuse it. No descriptor is held for a sandbox,
 * since each new sandbox would get a copy of all of them.
 * Must not know: requests, cgroups. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "jail/spec.h"

typedef struct Child {
        char id[JAIL_ID_LENGTH + 1];
        pid_t pid;
        uid_t id_base;
} Child;

typedef struct Children {
        void *by_id, *by_pid; /* trees of <search.h> */
} Children;

/* Call before the start, while a failure can still be undone; -EEXIST, -ENOMEM. */
int children_reserve(Children *c, const char *id, Child **ret);
int children_started(Children *c, Child *child, pid_t pid); /* -ENOMEM */
void children_drop(Children *c, Child *child);

Child *children_find(const Children *c, const char *id);
Child *children_find_pid(const Children *c, pid_t pid);

/* True: it has ended, and the caller drops the entry. */
bool child_reap(const Child *child);

void children_walk(const Children *c, void (*visit)(const Child *child, void *userdata), void *userdata);
