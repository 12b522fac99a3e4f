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

/* A name, or #UID, which needs no entry. -ENOENT: there is no such user. */
int sudo_account_find(const char *user, SudoAccount *ret, Error *reterr);

/* Whoever that is; without an entry he has a number for a name. */
void account_of(uid_t uid, gid_t gid, SudoAccount *ret);

/* A name, or #GID. */
int account_find_group(const char *group, gid_t *ret, Error *reterr);
