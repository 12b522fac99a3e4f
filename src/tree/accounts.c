#include "tree/accounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define ID_MAX 65535

typedef struct AccountsField {
        const char *text;
        int size;
} AccountsField;

/* The n-th field of a line; empty if the line has fewer. */
static AccountsField field(const char *line, unsigned n) {
        size_t size;

        for (;; n--) {
                size = strcspn(line, ":\n");
                if (n == 0)
                        return (AccountsField) { line, (int) size };
                if (line[size] != ':')
                        return (AccountsField) { "", 0 };
                line += size + 1;
        }
}

static bool accounts_field_is(AccountsField f, const char *text, size_t size) {
        return (size_t) f.size == size && memcmp(f.text, text, size) == 0;
}

static bool accounts_number(const char *text, size_t size, uint32_t *ret) {
        char copy[16];
        uint64_t n;

        if (size == 0 || size >= sizeof(copy))
                return false;
        memcpy(copy, text, size);
        copy[size] = '\0';
        if (parse_uint64(copy, 0, UINT32_MAX, &n) < 0)
                return false;
        *ret = (uint32_t) n;
        return true;
}

/* Finds the line whose first field is `who` or, if `who` is a number, whose third field is that number. A
 * name may look like a number. */
static const char *accounts_find_line(const char *text, const char *who, size_t size) {
        uint32_t id = 0, own = 0;
        bool is_number = accounts_number(who, size, &id);
        const char *found = NULL;

        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                AccountsField third = field(line, 2);

                if (accounts_field_is(field(line, 0), who, size))
                        return line;
                if (!found && is_number && accounts_number(third.text, (size_t) third.size, &own) && own == id)
                        found = line;
        }
        return found;
}

static void accounts_copy_field(char *to, size_t size, const char *line, unsigned n, const char *otherwise) {
        AccountsField f = field(line, n);

        if (f.size > 0 && (size_t) f.size < size)
                (void) snprintf(to, size, "%.*s", f.size, f.text);
        else
                (void) snprintf(to, size, "%s", otherwise);
}

static int accounts_check_id(uint32_t id, const char *user, Error *reterr) {
        return id > ID_MAX ? error_set(reterr, -EOVERFLOW, "user '%.64s': a sandbox has ids from 0 to %d, not %u", user, ID_MAX, id) : 0;
}

static int accounts_find_user(const char *user, size_t size, const char *passwd, TreeAccount *ret, Error *reterr) {
        const char *line = accounts_find_line(passwd, user, size);
        uint32_t uid = 0, gid = 0;
        AccountsField f;
        int r;

        if (!line && !accounts_number(user, size, &uid) && !(size == 4 && memcmp(user, "root", 4) == 0))
                return error_set(reterr, -ENOENT, "the image's /etc/passwd has no user '%.*s'", (int) MIN_OF(size, (size_t) 64), user);
        if (!line && uid == 0)
                line = "root:x:0:0:root:/root:";
        if (line) {
                f = field(line, 2);
                if (!accounts_number(f.text, (size_t) f.size, &uid))
                        return error_set(reterr, -EBADMSG, "the image's /etc/passwd has no number for user '%.64s'", user);
                f = field(line, 3);
                (void) accounts_number(f.text, (size_t) f.size, &gid);
        }
        r = accounts_check_id(MAX_OF(uid, gid), user, reterr);
        if (r < 0)
                return r;
        *ret = (TreeAccount) { .uid = uid, .gid = gid };
        accounts_copy_field(ret->name, sizeof(ret->name), line ? line : "", 0, "");
        accounts_copy_field(ret->home, sizeof(ret->home), line ? line : "", 5, "/");
        accounts_copy_field(ret->shell, sizeof(ret->shell), line ? line : "", 6, "/bin/sh");
        return 0;
}

int accounts_find(const char *user, const char *passwd, const char *group, TreeAccount *ret, Error *reterr) {
        const char *colon, *line;
        uint32_t gid;
        AccountsField f;
        int r;

        if (!user || user[0] == '\0')
                user = "0";
        colon = strchrnul(user, ':');
        r = colon == user ? accounts_find_user("0", 1, passwd, ret, reterr) : accounts_find_user(user, (size_t) (colon - user), passwd, ret, reterr);
        if (r < 0 || colon[0] == '\0' || colon[1] == '\0')
                return r;
        line = accounts_find_line(group, colon + 1, strlen(colon + 1));
        f = line ? field(line, 2) : (AccountsField) { colon + 1, (int) strlen(colon + 1) };
        if (!accounts_number(f.text, (size_t) f.size, &gid))
                return error_set(reterr, -ENOENT, "the image's /etc/group has no group '%.64s'", colon + 1);
        r = accounts_check_id(gid, user, reterr);
        if (r >= 0)
                ret->gid = gid;
        return r;
}
