/* privilege.h: from root to nobody in particular.
 *
 * A daemon that parses what strangers send needs no privilege once its spawner runs. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct Identity {
        uid_t uid;
        gid_t gid;
        bool drop; /* false: stay who we are */
        char name[64];
} Identity;

/* Whom to become: not root, unless told so by name. Without a user of that name, an id of the range that is meant for services
 * made on the fly (61184–65519) which nobody has. */
int identity_find(const char *user, Identity *ret, Error *reterr);

/* For good: no way back, and nothing that is executed later gains anything. */
int identity_assume(const Identity *id, Error *reterr);
