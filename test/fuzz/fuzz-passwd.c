/* /etc/passwd and /etc/group of a sandbox: what is found stands in a line of the text, and is found again by its number. */
#include "fuzz.h"

#include "base/passwd.h"

static void check_user(const char *text, size_t size, const PasswdUser *u) {
        PasswdUser first;

        MUST(u->name[0] && !strpbrk(u->name, ":\n") && u->home[0] == '/' && !strpbrk(u->home, ":\n"));
        MUST(memmem(text, size, u->name, strlen(u->name)));
        MUST(passwd_find_uid(text, size, u->uid, &first) && first.uid == u->uid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const uint8_t *end = memchr(data, '\n', size); /* the first line is whom to look for */
        size_t n = end ? (size_t) (end - data) : size;
        char *name = fuzz_string(data, n), *text = fuzz_string(data + n, size - n), found[PASSWD_NAME_BYTES], again[PASSWD_NAME_BYTES];
        uint32_t number = (uint32_t) strtoul(name, NULL, 10), gid;
        PasswdUser u;

        if (passwd_find_name(text, size - n, name, &u)) {
                MUST(strcmp(u.name, name) == 0);
                check_user(text, size - n, &u);
        }
        if (passwd_find_uid(text, size - n, number, &u)) {
                MUST(u.uid == number);
                check_user(text, size - n, &u);
        }
        if (group_find_name(text, size - n, name, &gid))
                MUST(group_find_gid(text, size - n, gid, again));
        if (group_find_gid(text, size - n, number, found))
                MUST(found[0] && !strpbrk(found, ":\n") && group_find_name(text, size - n, found, &gid));
        free(name);
        free(text);
        return 0;
}
