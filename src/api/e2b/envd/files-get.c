/* files-get.c: downloads of envd's clients. The worker inside opens the file; the kernel sends it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/e2b/envd/envd.h"
#include "api/e2b/envd/files-type.h"
#include "api/file.h"
#include "base/fd.h"

typedef struct Download {
        ApiRequest *q;
        EnvdLookup *lookup;
        FileOp *op;
        int fd;
        uint64_t size;
        int64_t mtime_nsec;
        char *path;
} Download;

static void files_get_download_destroy(ApiRequest *q, bool answered) {
        Download *d = q->state;

        envd_lookup_cancel(d->lookup);
        fileop_free(d->op);
        (void) fd_close(d->fd);
        free(d->path);
}

/* The content is untrusted. With these headers a browser shows it but runs nothing of it, whatever else is
 * served at this address. */
static void files_get_add_headers(Download *d, const char *date) {
        const char *slash = strrchr(d->path, '/');
        _cleanup_free_ char *disposition = files_disposition(slash ? slash + 1 : d->path);

        if (disposition)
                (void) http_add_header(d->q->http, "Content-Disposition", disposition);
        (void) http_add_header(d->q->http, "Vary", "Accept-Encoding");
        (void) http_add_header(d->q->http, "X-Content-Type-Options", "nosniff");
        (void) http_add_header(d->q->http, "Content-Security-Policy", "sandbox");
        if (date[0] != '\0')
                (void) http_add_header(d->q->http, "Last-Modified", date);
}

static void files_get_send_file(Download *d) {
        const char *range = http_header(d->q->http, "Range"), *if_range = http_header(d->q->http, "If-Range");
        char date[API_DATE_SIZE];

        api_file_date(d->mtime_nsec, date);
        files_get_add_headers(d, date);
        if (if_range && strcmp(if_range, date) != 0)
                range = NULL; /* the caller's part is of another version of the file */
        if (api_answer_file(d->q, files_type(d->path), range, &d->fd, d->size) == -ERANGE)
                (void) e2b_error(d->q, 416, "invalid range: failed to overlap");
}

static void files_get_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Download *d = userdata;

        d->fd = fd;
        d->size = entry->size;
        d->mtime_nsec = entry->mtime_nsec;
}

static void refuse_file(Download *d, int error) {
        if (error == -ENOENT)
                (void) e2b_error(d->q, 404, "path '%s' does not exist", d->path);
        else if (error == -EISDIR)
                (void) e2b_error(d->q, 400, "path '%s' is a directory", d->path);
        else if (error == -EOPNOTSUPP)
                (void) e2b_error(d->q, 400, "path '%s' is not a regular file", d->path);
        else if (error == -ENOTDIR || error == -ELOOP || error == -ENAMETOOLONG)
                (void) e2b_error(d->q, 400, "error checking if path exists '%s': stat %s: %s", d->path, d->path, envd_strerror(-error));
        else if (error == -EPIPE || error == -ESTALE)
                (void) e2b_proxy_missing(d->q, d->q->sandbox_id);
        else if (error == -EACCES || error == -EPERM)
                (void) e2b_error(d->q, 403, "error opening file '%s': open %s: %s", d->path, d->path, envd_strerror(-error));
        else
                (void) e2b_errno(d->q, error, NULL);
}

static void files_get_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Download *d = userdata;

        if (error < 0)
                refuse_file(d, error);
        else if (d->fd < 0)
                (void) e2b_errno(d->q, -EPROTO, "the sandbox did not send the file");
        else
                files_get_send_file(d);
}

static void files_get_on_user(int r, const EnvdUser *user, void *userdata) {
        static const FileOpHandlers handlers = { .entry = files_get_on_entry, .end = files_get_on_end };
        Download *d = userdata;
        const char *name = http_query(d->q->http, "username"), *path = http_query(d->q->http, "path");
        Sandbox *sb = envd_sandbox(d->q);
        Error error = { 0 };
        FileRequest g;

        if (r < 0 || !sb) {
                envd_files_refuse_user(d->q, r < 0 ? r : -EPIPE, name);
                return;
        }
        r = envd_path(user, sb->spec.workdir, path, &d->path);
        if (r == -EINVAL)
                (void) e2b_error(d->q, 400, "error expanding and resolving path '%s': cannot expand user-specific home dir, or too long", path);
        if (r < 0) {
                if (r != -EINVAL)
                        (void) e2b_errno(d->q, r, NULL);
                return;
        }
        envd_file_request(sb, /* user= */ NULL, FILE_READ, &g);
        (void) strcpy(g.path, d->path);
        r = fileop_start(sb, &g, &handlers, d, &d->op, &error);
        if (r < 0)
                refuse_file(d, r);
}

void envd_files_get(ApiRequest *q) {
        Download *d;

        if (!files_identity_is_fine(http_header(q->http, "Accept-Encoding"))) {
                (void) e2b_error(q, 406, "error parsing Accept-Encoding: no acceptable encoding found, supported: [identity]");
                return;
        }
        d = api_keep_state(q, sizeof(*d), files_get_download_destroy);
        if (!d)
                return;
        d->q = q;
        d->fd = -EBADF;
        envd_files_lookup(q, http_query(q->http, "username"), files_get_on_user, d, &d->lookup);
}
