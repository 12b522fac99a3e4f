/* state.h: the one directory below which everything of a daemon lies.
 *
 *      DIR/lock          held while a daemon runs
 *      DIR/instance      eight characters that are in the name of every kernel object of this daemon
 *      DIR/cove.db       the store
 *      DIR/admin.token   for whoever may read it
 *      DIR/cove.sock
 *      DIR/run           sockets between our processes (core/run-names.h)
 *      DIR/box/ID-e1.out journals
 *      DIR/depot, DIR/depot.img   the spawner's; root's own
 *
 * Must not know: what the files say. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define STATE_INSTANCE_LENGTH 8

typedef struct DaemonState {
        const char *dir;
        int fd, lock_fd;
        char instance[STATE_INSTANCE_LENGTH + 1];
} DaemonState;

#define STATE_EMPTY { .fd = -EBADF, .lock_fd = -EBADF }

/* Makes what is missing, takes the lock (waiting a moment for a daemon that is about to end), and hands it all to the user who
 * will work there. -EBUSY: somebody else serves it. */
int state_open(const char *dir, uid_t uid, gid_t gid, DaemonState *ret, Error *reterr);
void state_close(DaemonState *s);
