/* Copies into a sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/files/copy.h"
#include "client/files/upload.h"

static int copy_up_put_file(Copy *c, int fd, const struct stat *st, const char *name, const char *remote) {
        ClientUpload s = { .fd = fd, .name = name, .progress = &c->progress };
        bool regular = S_ISREG(st->st_mode);
        _cleanup_url_ Url u = copy_url(c, "/api/sandbox/%/files", remote);
        char mode[8];

        if (regular) {
                (void) snprintf(mode, sizeof(mode), "%04o", (unsigned) st->st_mode & 0777);
                url_query(&u, "mode", mode);
        }
        s.wait_fd = regular ? -EBADF : fd;
        return upload_send(&s, c->place, "PUT", &u, "application/octet-stream", regular ? (uint64_t) st->st_size : CALL_SIZE_UNKNOWN, /* ret= */ NULL);
}

static int put_archive(Copy *c, ClientUpload *s, const char *remote) {
        _cleanup_url_ Url u = copy_url(c, "/api/sandbox/%/files/archive", remote);

        return upload_send(s, c->place, "PUT", &u, "application/x-tar", CALL_SIZE_UNKNOWN, /* ret= */ NULL);
}

/* The directory that the archive's entries go into must be there. */
static int copy_up_make_directory(const Copy *c, const char *remote) {
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };

        json_put_text(&b, "path", remote);
        json_put_text(&b, "user", c->user);
        return client_need_path(c->place, &b, &a, "/api/sandbox/%s/files/mkdir", c->sandbox);
}

static int copy_up_put_directory(Copy *c, const char *local, const char *remote) {
        ClientUpload s = { .fd = -EBADF, .wait_fd = -EBADF, .name = local, .progress = &c->progress };
        _cleanup_pack_ Pack *pack = NULL;
        Error error = { 0 };
        int r = pack_new(local, &pack, &error);

        if (r < 0)
                return log_failure(r, "%s", error.text);
        r = copy_up_make_directory(c, remote);
        if (r < 0)
                return r;
        s.pack = pack;
        return put_archive(c, &s, remote);
}

static int put_standard_input(Copy *c, const char *remote) {
        ClientUpload s = { .fd = STDIN_FILENO, .wait_fd = STDIN_FILENO, .name = "standard input", .progress = &c->progress };
        struct stat st = { 0 };
        int r;

        if (c->archive) {
                r = copy_up_make_directory(c, remote);
                return r < 0 ? r : put_archive(c, &s, remote);
        }
        (void) fstat(STDIN_FILENO, &st);
        st.st_mode = (st.st_mode & S_IFMT) | 0644;
        if (S_ISREG(st.st_mode)) { /* from the descriptor's position */
                off_t position = lseek(STDIN_FILENO, 0, SEEK_CUR);
                st.st_size -= MIN_OF(MAX_OF(position, (off_t) 0), st.st_size);
        }
        return copy_up_put_file(c, STDIN_FILENO, &st, s.name, remote);
}

static int copy_up_put_path(Copy *c, const char *local, const char *remote) {
        _cleanup_close_ int fd = open(local, O_RDONLY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return log_failure(-errno, "cannot read '%s': %m", local);
        return S_ISDIR(st.st_mode) ? copy_up_put_directory(c, local, remote) : copy_up_put_file(c, fd, &st, local, remote);
}

int copy_up(Copy *c, const char *local, const char *remote, bool to_directory) {
        bool standard = strcmp(local, "-") == 0;
        _cleanup_free_ char *type = NULL, *name = standard ? strdup("") : copy_name(local), *target = NULL;
        bool directory = to_directory;
        int r;

        if (!directory && !standard) {
                r = copy_stat(c, remote, &type, /* ret_size= */ NULL);
                if (r < 0)
                        return r;
                directory = type && strcmp(type, "directory") == 0;
        }
        target = directory && name ? copy_join(remote, name) : strdup(remote);
        if (!name || !target)
                return log_failure(-ENOMEM, "out of memory");
        return standard ? put_standard_input(c, target) : copy_up_put_path(c, local, target);
}
