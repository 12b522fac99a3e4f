/* account.h: looks up users and groups in the text of a sandbox's /etc/passwd and /etc/group. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/passwd.h"

typedef struct Account {
        uint32_t uid, gid;
        char home[PASSWD_HOME_BYTES]; /* "/" if unknown */
} Account;

/* text: "user" or "user:group", names or numbers. passwd and group: the text of the files, NULL if they do
 * not exist. A number needs no entry; without one its group is 0. chown: a number without a group means the
 * group of the same number, as in COPY --chown. -ENOENT: no such name. */
int account_find(const char *text, const char *passwd, const char *group, bool chown, Account *ret, Error *reterr);
