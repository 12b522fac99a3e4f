/* Copies out of a sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/files/copy.h"
#include "client/files/unpack.h"
#include "client/waiting.h"

#define FILES "/api/sandbox/%/files"

/* The target: a descriptor, or the unpacker of an archive. */
typedef struct Drain {
        Progress *progress;
        ClientFile file;
        Unpack *unpack;
} Drain;

static int write_drain(void *userdata, const void *data, size_t size) {
        Drain *d = userdata;
        int r = d->unpack ? unpack_write(d->unpack, data, size) : client_file_take(&d->file, data, size);

        if (r < 0 && d->unpack)
                d->file.error = *unpack_error(d->unpack);
        if (d->progress)
                progress_add(d->progress, size);
        return r;
}

static int copy_down_get(const Place *place, Drain *d, const Url *u, const char *name, uint64_t size, Answer *ret) {
        int r;

        if (d->progress)
                progress_begin(d->progress, name, size);
        r = client_transfer(place, &REQUEST(.path = url_text(u), .sink = write_drain, .sink_data = d),
                        &d->file.error, ret);
        if (d->progress)
                progress_end(d->progress);
        return r;
}

int copy_unpack(const Place *place, const Url *u, int dirfd, const char *name, Progress *progress) {
        _cleanup_unpack_ Unpack *unpack = unpack_new(dirfd);
        Drain d = { .progress = progress, .unpack = unpack };
        int r = unpack ? copy_down_get(place, &d, u, name, PROGRESS_UNKNOWN, /* ret= */ NULL)
                       : log_failure(-ENOMEM, "out of memory");

        if (r < 0)
                return r;
        r = unpack_finish(unpack);
        return r < 0 ? log_failure(r, "%s", unpack_error(unpack)->text) : 0;
}

/* Octal digits: "0644". */
static mode_t copy_down_mode_of(const HttpReader *head) {
        const char *text = http_reader_header(head, "X-File-Mode");
        mode_t mode = 0;

        for (; text && *text >= '0' && *text <= '7'; text++)
                mode = (mode << 3 | (mode_t) (*text - '0')) & 07777;
        return text && *text == '\0' ? mode : 0644;
}

/* Copies into an existing file that is not a plain one: a pipe, a terminal, /dev/null. */
static int get_into(Copy *c, const Url *u, uint64_t size, int fd, const char *name) {
        Drain d = { .progress = &c->progress, .file = { .fd = fd, .name = name } };

        return copy_down_get(c->place, &d, u, name, size, /* ret= */ NULL);
}

/* Writes a temporary file beside the target, and renames it when it is complete. */
static int get_new_file(Copy *c, const char *remote, uint64_t size, const char *local) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        _cleanup_url_ Url u = copy_url(c, FILES, remote);
        _cleanup_answer_ Answer a = { 0 };
        Drain d = { .progress = &c->progress, .file = { .name = local } };
        mode_t mask = umask(0);
        int r;

        (void) umask(mask);
        if (asprintf(&temporary, "%s.XXXXXX", local) < 0) {
                temporary = NULL;
                return log_failure(-ENOMEM, "out of memory");
        }
        fd = d.file.fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0)
                return log_failure(-errno, "cannot write '%s': %m", local);
        farewell_set(temporary, "interrupted: '%s' is as it was", local);
        r = copy_down_get(c->place, &d, &u, local, size, &a);
        if (r >= 0 && (fchmod(fd, copy_down_mode_of(&a.head) & 0777 & ~mask) < 0 || rename(temporary, local) < 0)) {
                r = -errno;
                log_error("cannot write '%s': %m", local);
        }
        if (r < 0)
                (void) unlink(temporary);
        farewell_clear();
        return r;
}

static int copy_down_get_file(Copy *c, const char *remote, uint64_t size, const char *local) {
        _cleanup_url_ Url u = copy_url(c, FILES, remote);
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (stat(local, &st) < 0 || S_ISREG(st.st_mode))
                return get_new_file(c, remote, size, local);
        if (S_ISDIR(st.st_mode))
                return log_failure(-EISDIR, "cannot write '%s': it is a directory", local);
        fd = open(local, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return log_failure(-errno, "cannot write '%s': %m", local);
        return get_into(c, &u, size, fd, local);
}

static Url archive_url(const Copy *c, const char *remote) {
        Url u = copy_url(c, FILES "/archive", remote);

        url_query(&u, "compress", "none");
        return u;
}

static int get_directory(Copy *c, const char *remote, const char *local) {
        _cleanup_close_ int dirfd = -EBADF;
        _cleanup_url_ Url u = archive_url(c, remote);

        if (mkdir(local, 0777) < 0 && errno != EEXIST)
                return log_failure(-errno, "cannot make '%s': %m", local);
        dirfd = open(local, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dirfd < 0)
                return log_failure(-errno, "cannot open '%s': %m", local);
        return copy_unpack(c->place, &u, dirfd, remote, &c->progress);
}

static int get_to_standard_output(Copy *c, const char *remote, const char *type, uint64_t size) {
        bool archive = c->archive || strcmp(type, "directory") == 0;
        _cleanup_url_ Url u = archive ? archive_url(c, remote) : copy_url(c, FILES, remote);

        if (archive && isatty(STDOUT_FILENO))
                return log_failure(-EISDIR,
                                "'%s' is a directory, and its archive is nothing for a terminal: send it to "
                                "a file",
                                remote);
        return get_into(c, &u, archive ? PROGRESS_UNKNOWN : size, STDOUT_FILENO, "standard output");
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
