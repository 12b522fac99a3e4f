/* account.h: users and groups of the sandbox, as its own /etc/passwd and /etc/group have them. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

typedef struct SudoAccount {
        char name[64];
        char home[256], shell[256];
        uid_t uid;
        gid_t gid;
} SudoAccount;

/* user: a name, or #UID, which needs no entry. -ENOENT: no such user. */
int sudo_account_find(const char *user, SudoAccount *ret, Error *reterr);

/* The account of a uid; without an entry its name is a number. */
void account_of(uid_t uid, gid_t gid, SudoAccount *ret);

/* group: a name, or #GID. */
int account_find_group(const char *group, gid_t *ret, Error *reterr);
