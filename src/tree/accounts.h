/* accounts.h: looks up the USER of an image in the image's own /etc/passwd and /etc/group. Pure text. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

typedef struct TreeAccount {
        char name[64]; /* "" if only a number is known */
        uid_t uid;
        gid_t gid;
        char home[256], shell[256];
} TreeAccount;

/* user: NAME, UID, NAME:GROUP, UID:GID …; NULL or "": root. A number need not be in the files; a name must
 * be: -ENOENT. passwd and group: the text of the files, "" if they do not exist. */
int accounts_find(const char *user, const char *passwd, const char *group, TreeAccount *ret, Error *reterr);
