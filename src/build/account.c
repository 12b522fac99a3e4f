#include "build/account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define ID_MAX     65535
#define NAME_BYTES 256

static bool is_number(const char *text, uint32_t *ret) {
        uint64_t value;

        if (parse_uint64(text, 0, UINT32_MAX, &value) < 0)
                return false;
        *ret = (uint32_t) value;
        return true;
}

static int build_account_find_user(const char *name, const char *passwd, bool chown, Account *ret, Error *reterr) {
        uint32_t number;
        const bool numeric = is_number(name, &number);
        PasswdUser u;

        if (numeric ? passwd_find_uid(passwd, strlen(passwd), number, &u) : passwd_find_name(passwd, strlen(passwd), name, &u)) {
                *ret = (Account) { .uid = u.uid, .gid = numeric && chown ? number : u.gid };
                memcpy(ret->home, u.home, sizeof(ret->home));
                return 0;
        }
        if (!numeric)
                return error_set(reterr, -ENOENT, "there is no user '%.100s' in the /etc/passwd of this stage (RUN useradd %.100s, or write a number)", name, name);
        *ret = (Account) { .uid = number, .gid = chown ? number : 0, .home = "/" };
        return 0;
}

static int find_group(const char *name, const char *group, Account *ret, Error *reterr) {
        if (is_number(name, &ret->gid) || group_find_name(group, strlen(group), name, &ret->gid))
                return 0;
        return error_set(reterr, -ENOENT, "there is no group '%.100s' in the /etc/group of this stage (RUN groupadd %.100s, or write a number)", name, name);
}

int account_find(const char *text, const char *passwd, const char *group, bool chown, Account *ret, Error *reterr) {
        Account a;
        const char *colon = strchrnul(text, ':');
        char name[NAME_BYTES];
        int r;

        if ((size_t) (colon - text) >= sizeof(name) || colon == text)
                return error_set(reterr, -EINVAL, "'%.100s' is no user", text);
        memcpy(name, text, (size_t) (colon - text));
        name[colon - text] = '\0';
        r = build_account_find_user(name, passwd ? passwd : "", chown, &a, reterr);
        if (r >= 0 && *colon == ':' && colon[1] != '\0')
                r = find_group(colon + 1, group ? group : "", &a, reterr);
        if (r < 0)
                return r;
        if (a.uid > ID_MAX || a.gid > ID_MAX)
                return error_set(reterr, -ERANGE, "'%.100s': a sandbox has users and groups up to %d", text, ID_MAX);
        *ret = a;
        return 0;
}
