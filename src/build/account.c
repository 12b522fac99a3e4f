#include "build/account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define FIELDS_MAX 7
#define ID_MAX     65535
#define NAME_BYTES 256

typedef struct BuildAccountLine {
        const char *fields[FIELDS_MAX];
        size_t sizes[FIELDS_MAX];
        unsigned n;
} BuildAccountLine;

/* False: that was the last. */
static bool build_account_next_line(const char **text, BuildAccountLine *ret) {
        const char *p = *text, *end;

        if (!p || *p == '\0')
                return false;
        end = p + strcspn(p, "\n");
        ret->n = 0;
        while (ret->n < FIELDS_MAX) {
                const char *colon = memchr(p, ':', (size_t) (end - p));

                ret->fields[ret->n] = p;
                ret->sizes[ret->n++] = (size_t) ((colon ? colon : end) - p);
                if (!colon)
                        break;
                p = colon + 1;
        }
        *text = *end == '\n' ? end + 1 : end;
        return true;
}

static bool build_account_field_is(const BuildAccountLine *l, unsigned i, const char *text) {
        return i < l->n && l->sizes[i] == strlen(text) && memcmp(l->fields[i], text, l->sizes[i]) == 0;
}

static bool field_number(const BuildAccountLine *l, unsigned i, uint32_t *ret) {
        char text[16];
        uint64_t value;

        if (i >= l->n || l->sizes[i] >= sizeof(text))
                return false;
        memcpy(text, l->fields[i], l->sizes[i]);
        text[l->sizes[i]] = '\0';
        if (parse_uint64(text, 0, ID_MAX, &value) < 0)
                return false;
        *ret = (uint32_t) value;
        return true;
}

static bool is_number(const char *text, uint32_t *ret) {
        uint64_t value;

        if (parse_uint64(text, 0, UINT32_MAX, &value) < 0)
                return false;
        *ret = (uint32_t) value;
        return true;
}

static int build_account_find_user(const char *name, const char *passwd, bool chown, Account *ret, Error *reterr) {
        uint32_t number, uid;
        const bool numeric = is_number(name, &number);
        BuildAccountLine l;

        while (build_account_next_line(&passwd, &l)) {
                if (!field_number(&l, 2, &uid) || !(numeric ? uid == number : build_account_field_is(&l, 0, name)))
                        continue;
                ret->uid = uid;
                if (!field_number(&l, 3, &ret->gid))
                        ret->gid = 0;
                if (l.n > 5 && l.sizes[5] > 0)
                        (void) snprintf(ret->home, sizeof(ret->home), "%.*s", (int) l.sizes[5], l.fields[5]);
                if (numeric && chown)
                        ret->gid = number;
                return 0;
        }
        if (!numeric)
                return error_set(reterr, -ENOENT, "there is no user '%.100s' in the /etc/passwd of this stage (RUN useradd %.100s, or write a number)", name, name);
        ret->uid = number;
        ret->gid = chown ? number : 0;
        return 0;
}

static int find_group(const char *name, const char *group, Account *ret, Error *reterr) {
        BuildAccountLine l;

        if (is_number(name, &ret->gid))
                return 0;
        while (build_account_next_line(&group, &l))
                if (build_account_field_is(&l, 0, name) && field_number(&l, 2, &ret->gid))
                        return 0;
        return error_set(reterr, -ENOENT, "there is no group '%.100s' in the /etc/group of this stage (RUN groupadd %.100s, or write a number)", name, name);
}

int account_find(const char *text, const char *passwd, const char *group, bool chown, Account *ret, Error *reterr) {
        Account a = { .home = "/" };
        const char *colon = strchr(text, ':');
        char name[NAME_BYTES];
        int r = 0;

        if (!colon)
                colon = text + strlen(text);
        if ((size_t) (colon - text) >= sizeof(name) || colon == text)
                return error_set(reterr, -EINVAL, "'%.100s' is no user", text);
        memcpy(name, text, (size_t) (colon - text));
        name[colon - text] = '\0';
        r = build_account_find_user(name, passwd, chown, &a, reterr);
        if (r >= 0 && *colon == ':' && colon[1] != '\0')
                r = find_group(colon + 1, group, &a, reterr);
        if (r < 0)
                return r;
        if (a.uid > ID_MAX || a.gid > ID_MAX)
                return error_set(reterr, -ERANGE, "'%.100s': a sandbox has users and groups up to %d", text, ID_MAX);
        *ret = a;
        return 0;
}
