/* accounts.h: who USER of an image is, by the image's own /etc/passwd and /etc/group. Pure text. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

typedef struct TreeAccount {
        char name[64]; /* "" when only a number is known */
        uid_t uid;
        gid_t gid;
        char home[256], shell[256];
} TreeAccount;

/* user: NAME, UID, NAME:GROUP, UID:GID …; NULL or "": root. A number need not be in the files; a name must be: -ENOENT.
 * passwd and group: the files' text, "" when there are none. */
int accounts_find(const char *user, const char *passwd, const char *group, TreeAccount *ret, Error *reterr);
