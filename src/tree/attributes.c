#include "tree/attributes.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

bool attribute_is_kept(const char *name) {
        if (strcmp(name, "security.capability") == 0)
                return true;
        return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0;
}

/* The next name after `last` in sorted order, so that the file system's own order has no effect. NULL: no
 * more. */
static const char *attributes_next_name(const char *names, size_t size, const char *last) {
        const char *found = NULL;

        for (const char *name = names; name < names + size; name += strlen(name) + 1)
                if (attribute_is_kept(name) && (!last || strcmp(name, last) > 0) && (!found || strcmp(name, found) < 0))
                        found = name;
        return found;
}

int attributes_each(int fd, AttributeFunction function, void *userdata) {
        static char names[ATTRIBUTE_SIZE_MAX], value[ATTRIBUTE_SIZE_MAX];
        ssize_t n = flistxattr(fd, names, sizeof(names));

        if (n < 0)
                return errno == ENOTSUP ? 0 : -errno;
        for (const char *name = NULL; (name = attributes_next_name(names, (size_t) n, name));) {
                ssize_t size = fgetxattr(fd, name, value, sizeof(value));
                int r;

                if (size < 0 && errno == ENODATA)
                        continue;
                r = size < 0 ? -errno : function(name, value, (size_t) size, userdata);
                if (r < 0)
                        return r;
        }
        return 0;
}

typedef struct Comparison {
        int other;
        size_t n;
} Comparison;

static int compare_one(const char *name, const void *value, size_t size, void *userdata) {
        static char other[ATTRIBUTE_SIZE_MAX];
        Comparison *c = userdata;
        ssize_t n = fgetxattr(c->other, name, other, sizeof(other));

        if (n < 0)
                return errno == ENODATA ? -ENODATA : -errno;
        c->n++;
        return (size_t) n == size && memcmp(value, other, size) == 0 ? 0 : -ENODATA;
}

static int attributes_count_one(const char *name, const void *value, size_t size, void *userdata) {
        ++*(size_t *) userdata;
        return 0;
}

int attributes_are_same(int a, int b) {
        Comparison c = { .other = b };
        size_t n = 0;
        int r = attributes_each(a, compare_one, &c);

        if (r == -ENODATA)
                return false;
        if (r >= 0)
                r = attributes_each(b, attributes_count_one, &n);
        return r < 0 ? r : n == c.n;
}

static int attributes_copy_one(const char *name, const void *value, size_t size, void *userdata) {
        return fsetxattr(*(const int *) userdata, name, value, size, 0) < 0 ? -errno : 0;
}

int attributes_copy(int from, int to) {
        return attributes_each(from, attributes_copy_one, &to);
}

bool attribute_is(int fd, const char *name, const char *value) {
        char there[16];
        ssize_t n = fgetxattr(fd, name, there, sizeof(there));

        if (n < 0)
                return false;
        return !value || ((size_t) n == strlen(value) && memcmp(there, value, (size_t) n) == 0);
}
