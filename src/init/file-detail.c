#include "init/file-detail.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/fd.h"
#include "base/passwd.h"
#include "init/file-ops.h"

#define LIST_MAX       65536 /* the kernel's */
#define NAME_BYTES_MAX 256
#define PREFIX         FILE_LABEL_PREFIX
#define PREFIX_LENGTH  (sizeof(PREFIX) - 1)

_Static_assert(FILE_NAME_BYTES >= PASSWD_NAME_BYTES, "a name must fit");

/* A file that is read once, since a worker is short-lived. */
typedef struct Names {
        const char *path;
        char *text;
        size_t size;
        bool read;
        bool known; /* id and name are the last answer */
        uint32_t id;
        char name[FILE_NAME_BYTES];
} Names;

static void names_read(Names *n) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        ssize_t size;

        n->read = true;
        if (regular_open_path(n->path, &st, &fd) < 0 || st.st_size <= 0 || (size_t) st.st_size > PASSWD_FILE_MAX)
                return;
        n->text = malloc((size_t) st.st_size);
        size = n->text ? fd_read_full(fd, n->text, (size_t) st.st_size) : 0;
        n->size = size > 0 ? (size_t) size : 0;
}

static const char *names_find(Names *n, uint32_t id, bool group) {
        PasswdUser user;

        if (!n->read)
                names_read(n);
        if (n->known && n->id == id)
                return n->name;
        n->known = true;
        n->id = id;
        n->name[0] = '\0';
        if (group)
                (void) group_find_gid(n->text, n->size, id, n->name);
        else if (passwd_find_uid(n->text, n->size, id, &user))
                (void) snprintf(n->name, sizeof(n->name), "%s", user.name);
        return n->name;
}

static void fill_link(const char *path, FileEntry *e) {
        char resolved[PATH_MAX];
        struct stat st;

        if (realpath(path, resolved) && stat(resolved, &st) >= 0) {
                e->target_mode = st.st_mode;
                (void) snprintf(e->target, sizeof(e->target), "%s", resolved);
        } else {
                e->target_mode = 0;
                (void) snprintf(e->target, sizeof(e->target), "%s", path);
        }
}

/* Puts one pair, if there is room for it and it is text. */
static size_t file_detail_put_label(const char *path, const char *name, uint8_t *at, size_t room) {
        size_t key = strlen(name) - PREFIX_LENGTH + 1;
        ssize_t n;

        if (key < 2 || key + 1 > room)
                return 0;
        memcpy(at, name + PREFIX_LENGTH, key);
        n = getxattr(path, name, at + key, room - key - 1);
        if (n < 0 || (n > 0 && memchr(at + key, 0, (size_t) n)))
                return 0;
        at[key + (size_t) n] = 0;
        return key + (size_t) n + 1;
}

static void file_detail_fill_labels(const char *path, FileEntry *e) {
        static char names[LIST_MAX];
        static uint8_t labels[FILE_LABELS_MAX];
        ssize_t n = listxattr(path, names, sizeof(names));

        e->labels = labels;
        e->labels_size = 0;
        for (ssize_t i = 0; i < n; i += (ssize_t) strlen(names + i) + 1)
                if (strncmp(names + i, PREFIX, PREFIX_LENGTH) == 0)
                        e->labels_size += file_detail_put_label(path, names + i, labels + e->labels_size, sizeof(labels) - e->labels_size);
}

void detail_fill(const char *path, const struct stat *st, FileEntry *e) {
        static Names users = { .path = "/etc/passwd" }, groups = { .path = "/etc/group" };

        e->detailed = true;
        (void) snprintf(e->owner, sizeof(e->owner), "%s", names_find(&users, st->st_uid, /* group= */ false));
        (void) snprintf(e->group, sizeof(e->group), "%s", names_find(&groups, st->st_gid, /* group= */ true));
        if (S_ISLNK(st->st_mode))
                fill_link(path, e);
        file_detail_fill_labels(path, e);
}

static bool has_key(const uint8_t *labels, size_t size, const char *wanted) {
        const char *key, *value;
        size_t offset = 0;

        while (file_labels_next(labels, size, &offset, &key, &value))
                if (strcmp(key, wanted) == 0)
                        return true;
        return false;
}

static bool is_unsupported(int error) {
        return error == EOPNOTSUPP || error == ENOSYS;
}

int labels_replace(int fd, const uint8_t *labels, size_t size) {
        static char names[LIST_MAX];
        char name[NAME_BYTES_MAX];
        const char *key, *value;
        size_t offset = 0;
        ssize_t n = flistxattr(fd, names, sizeof(names));

        if (n < 0)
                return is_unsupported(errno) ? 0 : -errno;
        for (ssize_t i = 0; i < n; i += (ssize_t) strlen(names + i) + 1)
                if (strncmp(names + i, PREFIX, PREFIX_LENGTH) == 0 && !has_key(labels, size, names + i + PREFIX_LENGTH) &&
                    fremovexattr(fd, names + i) < 0 && errno != ENODATA)
                        return -errno;
        while (file_labels_next(labels, size, &offset, &key, &value)) {
                if ((size_t) snprintf(name, sizeof(name), PREFIX "%s", key) >= sizeof(name))
                        return -ENAMETOOLONG;
                if (fsetxattr(fd, name, value, strlen(value), 0) < 0)
                        return is_unsupported(errno) ? 0 : -errno;
        }
        return 0;
}
