/* account.h: users and groups by name, as /etc/passwd and /etc/group of a sandbox have them. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/passwd.h"

typedef struct Account {
        uint32_t uid, gid;
        char home[PASSWD_HOME_BYTES]; /* "/" where nothing says more */
} Account;

/* "user", "user:group", names or numbers; passwd and group: the files' texts, NULL: there is none. A number needs no entry; its group is that of its entry, else 0.
 * chown: "user" alone has the group of the same number, as COPY --chown has it. -ENOENT: no such name. */
int account_find(const char *text, const char *passwd, const char *group, bool chown, Account *ret, Error *reterr);
