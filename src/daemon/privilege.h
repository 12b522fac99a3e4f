/* privilege.h: drops root for an unprivileged user.
 *
 * A daemon that parses untrusted input needs no privilege once its spawner runs. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct Identity {
        uid_t uid;
        gid_t gid;
        bool drop; /* false: keep the current user */
        char name[64];
} Identity;

/* Finds the identity to run as. If we are root: the named user; root only if it is named. If the default user
 * does not exist: an unused id from the range for dynamic users (61184–65519). */
int identity_find(const char *user, Identity *ret, Error *reterr);

/* Irrevocable: no way back, and programs executed later gain no privileges. */
int identity_assume(const Identity *id, Error *reterr);
