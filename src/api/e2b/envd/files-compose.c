/* files-compose.c: joins the uploaded parts into one file and deletes them. The parts are read in order into
 * a new file, which takes its place only when it is complete. So a failure changes nothing. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/e2b/envd/envd.h"
#include "base/fd.h"

#define SOURCES_MAX 1000
#define PIECE_SIZE  ((size_t) 64 << 10)
#define TURN_PIECES 64 /* pieces in one turn of the loop, however fast the worker takes them */
#define FILE_MODE   0644

typedef struct Compose {
        ApiRequest *q;
        EnvdLookup *lookup;
        EnvdUser user;
        json_t *body;
        json_t *sources; /* of it */
        char *destination;
        size_t next; /* source */
        FileOp *reader, *writer, *remover;
        int fd;
        uint64_t offset;
        bool committed;
} Compose;

static void compose_destroy(ApiRequest *q, bool answered) {
        Compose *c = q->state;

        envd_lookup_cancel(c->lookup);
        fileop_free(c->reader);
        fileop_free(c->writer);
        fileop_free(c->remover);
        (void) fd_close(c->fd);
        json_decref(c->body);
        free(c->destination);
}

static const char *source_text(const Compose *c) {
        return json_string_value(json_array_get(c->sources, c->next));
}

/* Ends both operations at once. The request itself may stay for as long as its caller does not read the
 * answer. */
static void compose_fail(Compose *c, int error) {
        c->reader = fileop_free(c->reader);
        c->writer = fileop_free(c->writer);
        c->fd = fd_close(c->fd);
        if (c->q->answered)
                return;
        if (error == -EPIPE || error == -ESTALE)
                (void) e2b_proxy_missing(c->q, c->q->sandbox_id);
        else if (error == -ENOSPC || error == -EDQUOT)
                (void) e2b_error(c->q, 507, "not enough disk space available");
        else if (error == -EISDIR || error == -ENOTDIR || error == -EOPNOTSUPP || error == -ENAMETOOLONG || error == -ELOOP)
                (void) e2b_error(c->q, 400, "error creating destination file: open %s: %s", c->destination, envd_strerror(-error));
        else
                (void) e2b_errno(c->q, error, NULL);
}

static void refuse_source(Compose *c, int error) {
        if (error == -ENOENT || error == -ENOTDIR)
                (void) e2b_error(c->q, 404, "source file not found: %s", source_text(c));
        else if (error == -EISDIR || error == -EOPNOTSUPP)
                (void) e2b_error(c->q, 400, "source path is not a regular file: %s", source_text(c));
        compose_fail(c, error);
}

static int source_path(Compose *c, const Sandbox *sb, char ret[static FILE_PATH_BYTES]) {
        _cleanup_free_ char *path = NULL;
        int r = envd_path(&c->user, sb->spec.workdir, source_text(c), &path);

        if (r < 0)
                return r;
        (void) strcpy(ret, path);
        return 0;
}

/* Removes the sources one by one. A failure is ignored, because the requested file exists. */
static void remove_next(Compose *c);
static void files_compose_on_removed(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Compose *c = userdata;

        c->next++;
        remove_next(c);
}

static void compose_answer(Compose *c) {
        const char *slash = strrchr(c->destination, '/');

        (void) api_answer(c->q, 200,
                        json_pack("{s:s, s:s, s:s}", "path", c->destination, "name", slash ? slash + 1 : c->destination, "type", "file"));
}

static void remove_next(Compose *c) {
        static const FileOpHandlers handlers = { .end = files_compose_on_removed };
        Sandbox *sb = envd_sandbox(c->q);
        Error error = { 0 };
        FileRequest g;

        c->remover = fileop_free(c->remover);
        if (c->next < json_array_size(c->sources) && sb) {
                envd_file_request(sb, NULL, FILE_REMOVE, &g);
                g.flags = FILE_MISSING_OK;
                if (source_path(c, sb, g.path) >= 0 && fileop_start(sb, &g, &handlers, c, &c->remover, &error) >= 0)
                        return;
        }
        compose_answer(c);
}

static void files_compose_on_written(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Compose *c = userdata;

        if (error < 0 || !c->committed) {
                compose_fail(c, error < 0 ? error : -EPROTO);
                return;
        }
        c->next = 0;
        remove_next(c);
}

static void files_compose_read_next(Compose *c);

/* Copies as much as the pipe takes and one turn allows. Returns 1 if everything is copied, 0 to wait. */
static int files_compose_copy_some(Compose *c) {
        char buffer[PIECE_SIZE];

        for (int i = 0; i < TURN_PIECES; i++) {
                ssize_t n = pread(c->fd, buffer, sizeof(buffer), (off_t) c->offset), written;

                if (n < 0)
                        return -errno;
                if (n == 0)
                        return 1;
                written = fileop_write(c->writer, buffer, (size_t) n);
                if (written < 0)
                        return written == -EPIPE ? 0 : (int) written; /* the worker's last message says why */
                c->offset += (uint64_t) written;
                if (written < n)
                        return 0;
        }
        return MIN_OF(fileop_wait(c->writer), 0);
}

static void files_compose_copy(Compose *c) {
        int r = files_compose_copy_some(c);

        if (r < 0) {
                compose_fail(c, r);
                return;
        }
        if (r == 0)
                return;
        c->fd = fd_close(c->fd);
        c->next++;
        files_compose_read_next(c);
}

static void files_compose_on_writable(FileOp *op, void *userdata) {
        files_compose_copy(userdata);
}

static void files_compose_on_source(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Compose *c = userdata;

        c->fd = fd;
        c->offset = 0;
}

static void on_source_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Compose *c = userdata;

        if (error < 0 || c->fd < 0)
                refuse_source(c, error < 0 ? error : -EPROTO);
        else
                files_compose_copy(c);
}

static void files_compose_commit(Compose *c) {
        int r;

        c->committed = true;
        r = fileop_commit(c->writer);
        if (r < 0 && r != -EPIPE)
                compose_fail(c, r);
}

static void files_compose_read_next(Compose *c) {
        static const FileOpHandlers handlers = { .entry = files_compose_on_source, .end = on_source_end };
        Sandbox *sb = envd_sandbox(c->q);
        Error error = { 0 };
        FileRequest g;
        int r;

        c->reader = fileop_free(c->reader);
        if (c->next >= json_array_size(c->sources)) {
                files_compose_commit(c);
                return;
        }
        if (!sb) {
                compose_fail(c, -EPIPE);
                return;
        }
        envd_file_request(sb, NULL, FILE_READ, &g);
        r = source_path(c, sb, g.path);
        if (r >= 0)
                r = fileop_start(sb, &g, &handlers, c, &c->reader, &error);
        if (r < 0)
                compose_fail(c, r);
}

/* Each source must be a valid path, and none may be the destination. */
static int files_compose_check_sources(Compose *c, const Sandbox *sb) {
        char path[FILE_PATH_BYTES];

        for (c->next = 0; c->next < json_array_size(c->sources); c->next++) {
                if (source_path(c, sb, path) < 0)
                        return e2b_error(c->q, 400, "error resolving source path \"%s\"", source_text(c));
                if (strcmp(path, c->destination) == 0)
                        return e2b_error(c->q, 400, "source path \"%s\" cannot be the same as destination", source_text(c));
        }
        c->next = 0;
        return 0;
}

static void files_compose_on_user(int r, const EnvdUser *user, void *userdata) {
        static const FileOpHandlers handlers = { .writable = files_compose_on_writable, .end = files_compose_on_written };
        Compose *c = userdata;
        const char *name = json_string_value(json_object_get(c->body, "username"));
        Sandbox *sb = envd_sandbox(c->q);
        Error error = { 0 };
        FileRequest g;

        if (r < 0 || !sb) {
                envd_files_refuse_user(c->q, r < 0 ? r : -EPIPE, name);
                return;
        }
        c->user = *user;
        if (envd_path(user, sb->spec.workdir, json_string_value(json_object_get(c->body, "destination")), &c->destination) < 0) {
                (void) e2b_error(c->q, 400, "error resolving destination path");
                return;
        }
        if (files_compose_check_sources(c, sb) < 0)
                return;
        envd_file_request(sb, user, FILE_WRITE, &g);
        (void) strcpy(g.path, c->destination);
        g.mode = FILE_MODE;
        g.flags = FILE_PARENTS | (g.owner != FILE_ID_NONE ? FILE_OWN_PARENTS : 0);
        r = fileop_start(sb, &g, &handlers, c, &c->writer, &error);
        if (r < 0)
                compose_fail(c, r);
        else
                files_compose_read_next(c);
}

static const char *check_body(const Compose *c) {
        const char *destination = json_string_value(json_object_get(c->body, "destination"));
        json_t *name = json_object_get(c->body, "username");

        if (json_array_size(c->sources) == 0)
                return "source_paths must not be empty";
        if (json_array_size(c->sources) > SOURCES_MAX)
                return "source_paths has more than 1000 paths";
        for (size_t i = 0; i < json_array_size(c->sources); i++)
                if (!json_is_string(json_array_get(c->sources, i)) || *json_string_value(json_array_get(c->sources, i)) == '\0')
                        return "invalid request body: source_paths must be texts";
        if (!destination || *destination == '\0')
                return "destination is required";
        return name && !json_is_string(name) && !json_is_null(name) ? "invalid request body: username must be a text" : NULL;
}

void envd_files_compose(ApiRequest *q) {
        Compose *c = api_keep_state(q, sizeof(*c), compose_destroy);
        const char *text, *complaint;
        size_t size;

        if (!c)
                return;
        c->q = q;
        c->fd = -EBADF;
        text = http_body(q->http, &size);
        c->body = text ? json_loadb(text, size, 0, NULL) : NULL;
        c->sources = json_object_get(c->body, "source_paths");
        complaint = json_is_object(c->body) ? check_body(c) : "invalid request body: it is no JSON object";
        if (complaint) {
                (void) e2b_error(q, 400, "%s", complaint);
                return;
        }
        envd_files_lookup(q, json_string_value(json_object_get(c->body, "username")), files_compose_on_user, c, &c->lookup);
}
