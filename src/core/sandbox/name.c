#include "core/name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789"

static bool name_is_well_formed(const char *text, size_t max) {
        size_t n = strspn(text, NAME_LETTERS "-_.");

        return n > 0 && n <= max && text[n] == '\0' && strchr(NAME_LETTERS, text[0]) && strchr(NAME_LETTERS, text[n - 1]);
}

bool object_name_is_valid(const char *text, size_t max) {
        return name_is_well_formed(text, max) && !id_is_valid(text);
}

int object_name_check(const char *text, size_t max, Error *reterr) {
        if (object_name_is_valid(text, max))
                return 0;
        return error_set(reterr, -EINVAL, "'%.100s' is not a valid name: use up to %zu lower-case letters and digits, with '-', '_', '.' inside; a name must not look like an id", text, max);
}

void object_host_name(const char *name, const char *id, char ret[static HOST_NAME_BYTES]) {
        (void) snprintf(ret, HOST_NAME_BYTES, "%.*s", name ? HOST_NAME_BYTES - 1 : ID_SHORT, name ? name : id);
        for (char *p = ret; (p = strpbrk(p, "_."));)
                *p = '-';
}
