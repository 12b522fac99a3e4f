/* state.h: the directory that contains everything of a daemon.
 *
 *      DIR/lock          held while a daemon runs
 *      DIR/instance      eight characters in the name of every kernel object of this daemon
 *      DIR/cove.db       the store
 *      DIR/admin.token   the admin token, for users who may read the file
 *      DIR/cove.sock
 *      DIR/run           sockets between cove's processes (core/run-names.h)
 *      DIR/box/ID-e1.out journals
 *      DIR/depot, DIR/depot.img   the spawner's; owned by root
 *
 * Must not know: what the files contain. */
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

/* Creates what is missing, takes the lock (waiting briefly for a daemon that is ending), and gives everything
 * to the user who will work there. -EBUSY: another process holds the lock. */
int state_open(const char *dir, uid_t uid, gid_t gid, DaemonState *ret, Error *reterr);
void state_close(DaemonState *s);
