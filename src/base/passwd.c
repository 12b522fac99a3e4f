#include "base/passwd.h"

#include <string.h>

#include "base/parse.h"

#define FIELDS_MAX 7

typedef struct PasswdLine {
        const char *fields[FIELDS_MAX];
        size_t sizes[FIELDS_MAX];
        unsigned n;
} PasswdLine;

static bool passwd_next_line(const char **p, const char *end, PasswdLine *ret) {
        const char *at = *p, *stop;

        if (at >= end)
                return false;
        stop = memchr(at, '\n', (size_t) (end - at));
        stop = stop ? stop : end;
        *p = stop + (stop < end);
        ret->n = 0;
        while (ret->n < FIELDS_MAX) {
                const char *colon = memchr(at, ':', (size_t) (stop - at));

                ret->fields[ret->n] = at;
                ret->sizes[ret->n++] = (size_t) ((colon ? colon : stop) - at);
                if (!colon)
                        break;
                at = colon + 1;
        }
        return true;
}

static bool passwd_copy_field(const PasswdLine *l, unsigned i, char *ret, size_t size) {
        if (i >= l->n || l->sizes[i] >= size || memchr(l->fields[i], 0, l->sizes[i]))
                return false;
        memcpy(ret, l->fields[i], l->sizes[i]);
        ret[l->sizes[i]] = '\0';
        return true;
}

static bool passwd_read_number(const PasswdLine *l, unsigned i, uint32_t *ret) {
        char text[16];
        uint64_t value;

        if (!passwd_copy_field(l, i, text, sizeof(text)) || parse_uint64(text, 0, UINT32_MAX - 1, &value) < 0)
                return false;
        *ret = (uint32_t) value;
        return true;
}

static bool passwd_read_user(const PasswdLine *l, PasswdUser *ret) {
        if (!passwd_copy_field(l, 0, ret->name, sizeof(ret->name)) || ret->name[0] == '\0' || !passwd_read_number(l, 2, &ret->uid) ||
            !passwd_read_number(l, 3, &ret->gid))
                return false;
        if (!passwd_copy_field(l, 5, ret->home, sizeof(ret->home)) || ret->home[0] != '/')
                (void) strcpy(ret->home, "/");
        return true;
}

static bool passwd_find(const char *text, size_t size, const char *name, uint32_t uid, PasswdUser *ret) {
        const char *p = text;
        PasswdLine l;
        PasswdUser u;

        while (passwd_next_line(&p, text + size, &l)) {
                if (!passwd_read_user(&l, &u) || (name ? strcmp(u.name, name) != 0 : u.uid != uid))
                        continue;
                *ret = u;
                return true;
        }
        return false;
}

bool passwd_find_name(const char *text, size_t size, const char *name, PasswdUser *ret) {
        return passwd_find(text, size, name, 0, ret);
}

bool passwd_find_uid(const char *text, size_t size, uint32_t uid, PasswdUser *ret) {
        return passwd_find(text, size, /* name= */ NULL, uid, ret);
}

static bool group_find(const char *text, size_t size, const char *name, char ret_name[static PASSWD_NAME_BYTES], uint32_t *gid) {
        const char *p = text;
        PasswdLine l;
        uint32_t number;
        char own[PASSWD_NAME_BYTES];

        while (passwd_next_line(&p, text + size, &l)) {
                if (!passwd_read_number(&l, 2, &number) || !passwd_copy_field(&l, 0, own, sizeof(own)) || own[0] == '\0' ||
                    (name ? strcmp(own, name) != 0 : number != *gid))
                        continue;
                (void) strcpy(ret_name, own);
                *gid = number;
                return true;
        }
        return false;
}

bool group_find_gid(const char *text, size_t size, uint32_t gid, char ret_name[static PASSWD_NAME_BYTES]) {
        return group_find(text, size, /* name= */ NULL, ret_name, &gid);
}

bool group_find_name(const char *text, size_t size, const char *name, uint32_t *ret) {
        char own[PASSWD_NAME_BYTES];

        return group_find(text, size, name, own, ret);
}
