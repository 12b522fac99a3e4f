/* warden.h: the process that cleans up when the supervisor is killed.
 *
 * Everything of a sandbox disappears with its processes, except its cgroup directories. The warden is forked before
 * the first one is made, out of the guest's reach. It holds their names and waits for the supervisor's end of a pipe
 * to close. On a regular end the supervisor removes the directories itself and dismisses the warden.
 * Must not know: anything but cgroups. */
#pragma once

#include <sys/types.h>

#include "jail/cgroup.h"

typedef struct Warden {
        pid_t pid; /* 0: none */
        int alive_fd;
} Warden;

#define WARDEN_EMPTY { .alive_fd = -EBADF }

int warden_start(const Cgroup *cg, Warden *ret);

/* Call after cgroup_make() has changed the groups' paths. */
void warden_update(const Cgroup *cg);

void warden_dismiss(Warden *w);
