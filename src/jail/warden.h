/* warden.h: the process that tidies up when the supervisor is killed.
 *
 * Everything of a sandbox dies with its processes, but for its cgroup directories. The warden is forked before the
 * first one is made, outside of all that the guest can reach, holds their names, and waits for the supervisor's end of
 * a pipe to close. On a regular end the supervisor removes them itself and dismisses the warden.
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

/* When making the groups has changed where they are. */
void warden_update(const Cgroup *cg);

void warden_dismiss(Warden *w);
