#include "sudo/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define ID_MAX (UINT32_MAX - 1)

static void sudo_account_take(const struct passwd *p, SudoAccount *ret) {
        *ret = (SudoAccount) { .uid = p->pw_uid, .gid = p->pw_gid };
        (void) snprintf(ret->name, sizeof(ret->name), "%s", p->pw_name);
        (void) snprintf(ret->home, sizeof(ret->home), "%s", p->pw_dir && *p->pw_dir ? p->pw_dir : "/");
        (void) snprintf(ret->shell, sizeof(ret->shell), "%s", p->pw_shell && *p->pw_shell ? p->pw_shell : "/bin/sh");
}

void account_of(uid_t uid, gid_t gid, SudoAccount *ret) {
        const struct passwd *p = getpwuid(uid);

        if (p) {
                sudo_account_take(p, ret);
                return;
        }
        *ret = (SudoAccount) { .uid = uid, .gid = gid };
        if (uid == 0)
                (void) snprintf(ret->name, sizeof(ret->name), "root");
        else
                (void) snprintf(ret->name, sizeof(ret->name), "#%u", uid);
        (void) snprintf(ret->home, sizeof(ret->home), "%s", uid == 0 ? "/root" : "/");
        (void) snprintf(ret->shell, sizeof(ret->shell), "/bin/sh");
}

int sudo_account_find(const char *user, SudoAccount *ret, Error *reterr) {
        const struct passwd *p;
        uint64_t uid;

        if (user[0] == '#') {
                if (parse_uint64(user + 1, 0, ID_MAX, &uid) < 0)
                        return error_set(reterr, -EINVAL, "'%.100s' is no #UID", user);
                account_of((uid_t) uid, (gid_t) uid, ret);
                return 0;
        }
        p = getpwnam(user);
        if (p) {
                sudo_account_take(p, ret);
                return 0;
        }
        if (strcmp(user, "root") != 0)
                return error_set(reterr, -ENOENT, "unknown user: %.100s", user);
        account_of(0, 0, ret); /* root exists even in a root directory without users */
        return 0;
}

int account_find_group(const char *group, gid_t *ret, Error *reterr) {
        const struct group *g;
        uint64_t gid;

        if (group[0] == '#') {
                if (parse_uint64(group + 1, 0, ID_MAX, &gid) < 0)
                        return error_set(reterr, -EINVAL, "'%.100s' is no #GID", group);
                *ret = (gid_t) gid;
                return 0;
        }
        g = getgrnam(group);
        if (!g)
                return error_set(reterr, -ENOENT, "unknown group: %.100s", group);
        *ret = g->gr_gid;
        return 0;
}
