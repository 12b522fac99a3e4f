#include "tree/inspect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "tree/accounts.h"
#include "tree/place.h"
#include "tree/report.h"
#include "tree/seen.h"

#define TEXT_MAX  (4 * 1024 * 1024)
#define DEPTH_MAX 2048

/* Reads a regular file; "" if there is none, or something of another type. The image is untrusted. */
static int tree_inspect_read_text(int tree, const char *path, char **ret) {
        _cleanup_close_ int fd = place_open(tree, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *text = NULL;
        struct stat st;
        ssize_t n = 0;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                st.st_size = 0;
        if (st.st_size > TEXT_MAX)
                return -EFBIG;
        text = calloc(1, (size_t) st.st_size + 1);
        if (!text)
                return -ENOMEM;
        if (st.st_size > 0)
                n = fd_read_full(fd, text, (size_t) st.st_size);
        if (n < 0)
                return (int) n;
        *ret = TAKE_PTR(text);
        return 0;
}

static int find_account(int tree, const char *user, TreeAccount *ret, Error *reterr) {
        _cleanup_free_ char *passwd = NULL, *group = NULL;
        int r = tree_inspect_read_text(tree, "etc/passwd", &passwd);

        if (r < 0)
                return error_set(reterr, r, "the image's /etc/passwd: %m");
        r = tree_inspect_read_text(tree, "etc/group", &group);
        if (r < 0)
                return error_set(reterr, r, "the image's /etc/group: %m");
        return accounts_find(user, passwd, group, ret, reterr);
}

/* PRETTY_NAME="…" of os-release; NULL: none. */
static char *find_os_name(int tree) {
        _cleanup_free_ char *text = NULL;
        const char *from;
        size_t n;

        if (tree_inspect_read_text(tree, "etc/os-release", &text) < 0 || text[0] == '\0') {
                free(text);
                text = NULL;
                if (tree_inspect_read_text(tree, "usr/lib/os-release", &text) < 0)
                        return NULL;
        }
        from = strncmp(text, "PRETTY_NAME=", 12) == 0 ? text : strstr(text, "\nPRETTY_NAME=");
        if (!from)
                return NULL;
        from = strchr(from, '=') + 1;
        from += *from == '"';
        n = strcspn(from, "\"\n");
        return strndup(from, MIN_OF(n, (size_t) 200));
}

static bool has_shell(int tree) {
        _cleanup_close_ int fd = place_open(tree, "bin/sh", O_PATH);
        struct stat st;

        return fd >= 0 && fstat(fd, &st) >= 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

typedef struct TreeInspectSum {
        uint64_t entries, bytes;
        Seen links; /* counted once */
} TreeInspectSum;

static int sum_up(TreeInspectSum *sum, int parent, const char *name, unsigned depth) {
        _cleanup_directory_ DIR *directory = directory_open_nofollow(parent, name);
        const struct dirent *entry;
        int r = !directory ? -errno : depth == 0 ? -ELOOP : 0;

        while (r >= 0 && (entry = directory_next(directory))) {
                struct stat st;

                if (fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return -errno;
                sum->entries++;
                if (S_ISREG(st.st_mode) && !(st.st_nlink > 1 && seen_has(&sum->links, &st, ""))) {
                        sum->bytes += (uint64_t) st.st_size;
                        if (st.st_nlink > 1)
                                r = seen_add(&sum->links, &st, "");
                } else if (S_ISDIR(st.st_mode))
                        r = sum_up(sum, dirfd(directory), entry->d_name, depth - 1);
                report_progress(sum->entries, sum->bytes);
        }
        return r;
}

static int tree_inspect_count(int tree, TreeInspectSum *sum, Error *reterr) {
        int r;

        seen_init(&sum->links);
        r = sum_up(sum, tree, ".", DEPTH_MAX);
        seen_done(&sum->links);
        return r < 0 ? error_set(reterr, r, "cannot look through the tree: %m") : 0;
}

int tree_inspect(int tree, const char *user, Error *reterr) {
        _cleanup_free_ char *os_name = NULL;
        TreeAccount account;
        TreeInspectSum sum = { 0 };
        JsonWriter w;
        int r;

        r = find_account(tree, user, &account, reterr);
        if (r >= 0)
                r = tree_inspect_count(tree, &sum, reterr);
        if (r < 0)
                return r;
        os_name = find_os_name(tree);
        report_begin_result(&w);
        json_write_integer(&w, "uid", account.uid);
        json_write_integer(&w, "gid", account.gid);
        json_write_string(&w, "name", account.name[0] != '\0' ? account.name : NULL);
        json_write_string(&w, "home", account.home);
        json_write_string(&w, "shell", account.shell);
        json_write_string(&w, "osName", os_name);
        json_write_bool(&w, "hasShell", has_shell(tree));
        json_write_integer(&w, "entries", (int64_t) sum.entries);
        json_write_integer(&w, "bytes", (int64_t) sum.bytes);
        return report_end_result(&w, reterr);
}
