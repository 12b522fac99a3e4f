/* Out of a sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "client/files/copy.h"
#include "client/files/unpack.h"
#include "client/verbs.h"

#define FILES "/api/sandbox/%/files"

typedef struct Drain {
        Copy *copy;
        int fd;
        Unpack *unpack; /* instead of the descriptor */
        const char *name;
        Error error;
} Drain;

static int write_drain(void *userdata, const void *data, size_t size) {
        Drain *d = userdata;
        int r;

        if (d->unpack) {
                r = unpack_write(d->unpack, data, size);
                if (r < 0)
                        d->error = *unpack_error(d->unpack);
        } else {
                r = fd_write_all(d->fd, data, size);
                if (r < 0)
                        (void) error_set(&d->error, r, "cannot write '%s': %m", d->name);
        }
        progress_add(&d->copy->progress, size);
        return r;
}

static int copy_down_get(Copy *c, Drain *d, const Url *u, uint64_t size, Answer *ret) {
        int r;

        progress_begin(&c->progress, d->name, size);
        r = client_transfer(c->place, &REQUEST(.path = url_text(u), .sink = write_drain, .sink_data = d), &d->error, ret);
        progress_end(&c->progress);
        return r;
}

/* Octal digits: "0644". */
static mode_t copy_down_mode_of(const HttpReader *head) {
        const char *text = http_reader_header(head, "X-File-Mode");
        mode_t mode = 0;

        for (; text && *text >= '0' && *text <= '7'; text++)
                mode = (mode << 3 | (mode_t) (*text - '0')) & 07777;
        return text && *text == '\0' ? mode : 0644;
}

/* Into something that is there and is no plain file: a pipe, a terminal, /dev/null. */
static int get_into(Copy *c, const char *remote, uint64_t size, int fd, const char *name) {
        Drain d = { .copy = c, .fd = fd, .name = name };
        _cleanup_url_ Url u = copy_url(c, FILES, remote);

        return copy_down_get(c, &d, &u, size, /* ret= */ NULL);
}

/* A file beside the one to be, which takes its name when all is there. */
static int get_new_file(Copy *c, const char *remote, uint64_t size, const char *local) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        _cleanup_url_ Url u = copy_url(c, FILES, remote);
        _cleanup_answer_ Answer a = { 0 };
        Drain d = { .copy = c, .name = local };
        mode_t mask = umask(0);
        int r;

        (void) umask(mask);
        if (asprintf(&temporary, "%s.XXXXXX", local) < 0) {
                temporary = NULL;
                log_error("out of memory");
                return -ENOMEM;
        }
        fd = d.fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0)
                return log_failure(-errno, "cannot write '%s': %m", local);
        r = copy_down_get(c, &d, &u, size, &a);
        if (r >= 0 && (fchmod(fd, copy_down_mode_of(&a.head) & 0777 & ~mask) < 0 || rename(temporary, local) < 0)) {
                r = -errno;
                log_error("cannot write '%s': %m", local);
        }
        if (r < 0)
                (void) unlink(temporary);
        return r;
}

static int copy_down_get_file(Copy *c, const char *remote, uint64_t size, const char *local) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (stat(local, &st) < 0 || S_ISREG(st.st_mode))
                return get_new_file(c, remote, size, local);
        if (S_ISDIR(st.st_mode))
                return log_failure(-EISDIR, "cannot write '%s': it is a directory", local);
        fd = open(local, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return log_failure(-errno, "cannot write '%s': %m", local);
        return get_into(c, remote, size, fd, local);
}

static Url archive_url(const Copy *c, const char *remote) {
        Url u = copy_url(c, FILES "/archive", remote);

        url_query(&u, "compress", "none");
        return u;
}

static int get_directory(Copy *c, const char *remote, const char *local) {
        _cleanup_unpack_ Unpack *unpack = NULL;
        _cleanup_close_ int dirfd = -EBADF;
        _cleanup_url_ Url u = archive_url(c, remote);
        Drain d = { .copy = c, .name = remote };
        int r;

        if (mkdir(local, 0777) < 0 && errno != EEXIST)
                return log_failure(-errno, "cannot make '%s': %m", local);
        dirfd = open(local, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dirfd < 0)
                return log_failure(-errno, "cannot open '%s': %m", local);
        d.unpack = unpack = unpack_new(dirfd);
        if (!unpack)
                return log_failure(-ENOMEM, "out of memory");
        r = copy_down_get(c, &d, &u, PROGRESS_UNKNOWN, /* ret= */ NULL);
        if (r < 0)
                return r;
        r = unpack_finish(unpack);
        if (r < 0)
                log_error("%s", unpack_error(unpack)->text);
        return r;
}

static int get_to_standard_output(Copy *c, const char *remote, const char *type, uint64_t size) {
        Drain d = { .copy = c, .fd = STDOUT_FILENO, .name = "standard output" };
        _cleanup_url_ Url u = archive_url(c, remote);

        if (!c->archive && strcmp(type, "directory") != 0)
                return get_into(c, remote, size, STDOUT_FILENO, "standard output");
        if (isatty(STDOUT_FILENO))
                return log_failure(-EISDIR, "'%s' is a directory, and its archive is nothing for a terminal: send it to a file", remote);
        return copy_down_get(c, &d, &u, PROGRESS_UNKNOWN, /* ret= */ NULL);
}

static bool copy_down_is_directory(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int copy_down(Copy *c, const char *remote, const char *local, bool to_directory) {
        _cleanup_free_ char *type = NULL, *name = copy_name(remote), *target = NULL;
        uint64_t size = 0;
        int r = copy_stat(c, remote, &type, &size);

        if (r < 0)
                return r;
        if (!type)
                return log_failure(-ENOENT, "there is no '%s' in sandbox '%s'", remote, c->sandbox);
        if (strcmp(local, "-") == 0)
                return get_to_standard_output(c, remote, type, size);

        target = name && (to_directory || copy_down_is_directory(local)) ? copy_join(local, name) : strdup(local);
        if (!name || !target)
                return log_failure(-ENOMEM, "out of memory");
        return strcmp(type, "directory") == 0 ? get_directory(c, remote, target) : copy_down_get_file(c, remote, size, target);
}
