#include "daemon/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/macro.h"

#define DYNAMIC_FIRST 61184
#define DYNAMIC_LAST  65519

int identity_find(const char *user, Identity *ret, Error *reterr) {
        struct passwd *found;

        *ret = (Identity) { .uid = geteuid(), .gid = getegid() };
        if (geteuid() != 0) {
                found = getpwuid(geteuid());
                (void) snprintf(ret->name, sizeof(ret->name), "%s", found ? found->pw_name : "a plain user");
                return 0;
        }
        (void) snprintf(ret->name, sizeof(ret->name), "%s", user);
        if (strcmp(user, "root") == 0)
                return 0;

        ret->drop = true;
        found = getpwnam(user);
        if (found) {
                ret->uid = found->pw_uid;
                ret->gid = found->pw_gid;
                return 0;
        }
        if (strcmp(user, "cove") != 0)
                return error_set(reterr, -ENOENT, "--user: there is no user '%s'", user);
        for (uid_t uid = DYNAMIC_FIRST; uid <= DYNAMIC_LAST; uid++)
                if (!getpwuid(uid) && !getgrgid(uid)) {
                        ret->uid = ret->gid = uid;
                        (void) snprintf(ret->name, sizeof(ret->name), "uid %u", uid);
                        return 0;
                }
        return error_set(reterr, -ENOENT, "no user 'cove' and no free id: create one with `useradd --system cove`");
}

int identity_assume(const Identity *id, Error *reterr) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return error_set(reterr, -errno, "PR_SET_NO_NEW_PRIVS: %m");
        if (!id->drop)
                return 0;
        if (setgroups(0, NULL) < 0 || setresgid(id->gid, id->gid, id->gid) < 0 || setresuid(id->uid, id->uid, id->uid) < 0)
                return error_set(reterr, -errno, "cannot become %s: %m", id->name);
        if (setresuid(-1, 0, -1) == 0 || geteuid() == 0)
                return error_set(reterr, -EPERM, "became %s but can still regain root", id->name);
        return 0;
}
