/* files.c: file operations with one short answer: stat, list, mkdir, move, copy, chmod, remove. */

#include "api/native/files/files.h"
#include "api/native/routes/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"

#define LIST_DEFAULT 10000
#define LIST_MAX     100000
#define DEPTH_MAX    64

static int files_set_path(ApiRequest *q, const char *field, const char *path, char target[static FILE_PATH_BYTES]) {
        _cleanup_free_ char *absolute = NULL;

        if (!path || path[0] == '\0')
                return native_complain(q, field, "must be given");
        absolute = native_path(q->sandbox, path);
        if (!absolute) {
                (void) api_errno(q, -ENOMEM, NULL);
                return -ENOMEM;
        }
        path_simplify(absolute);
        if (strlen(absolute) >= FILE_PATH_BYTES) {
                (void) api_error(q, 400, "name_too_long", NULL, "%s: '%.64s…' has %zu bytes, a path can have %d", field,
                                absolute, strlen(absolute), NATIVE_PATH_MAX);
                return -ENAMETOOLONG;
        }
        memcpy(target, absolute, strlen(absolute) + 1);
        return 0;
}

int file_request(ApiRequest *q, FileOperation operation, const char *field, const char *path, const NativeUser *user,
                FileRequest *ret) {
        const SandboxSpec *spec = &q->sandbox->spec;

        *ret = (FileRequest) {
                .operation = (uint16_t) operation,
                .uid = user->given ? user->uid : spec->uid,
                .gid = user->given ? user->gid : spec->gid,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };
        return files_set_path(q, field, path, ret->path);
}

int file_set_target(ApiRequest *q, const char *field, const char *path, FileRequest *g) {
        return files_set_path(q, field, path, g->target);
}

int file_request_query(ApiRequest *q, FileOperation operation, FileRequest *ret) {
        NativeUser user = { 0 };

        if (native_query_user(q, "user", &user) < 0)
                return -EINVAL;
        return file_request(q, operation, "path", http_query(q->http, "path"), &user, ret);
}

/* One operation in progress. */

typedef struct FileCall {
        ApiRequest *q;
        FileOp *op;
        bool has_entry;
        FileEntry entry; /* the last one */
        char path[FILE_PATH_BYTES];

        /* list */
        Text text;
        Error error; /* why it was aborted */
        uint64_t n_entries, limit;
} FileCall;

static void files_call_destroy(ApiRequest *q, bool answered) {
        FileCall *c = q->state;

        fileop_free(c->op);
        text_done(&c->text);
        free(c);
        q->state = NULL;
}

static void files_call_start(ApiRequest *q, const FileRequest *g, const FileOpHandlers *handlers, FileCall **ret) {
        FileCall *c = calloc(1, sizeof(*c));
        Error error = { 0 };
        int r;

        if (ret)
                *ret = NULL;
        if (!c) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        c->q = q;
        c->text.max = FILE_ANSWER_MAX;
        memcpy(c->path, g->path, sizeof(c->path));
        q->state = c;
        q->destroy = files_call_destroy;
        r = fileop_start(q->sandbox, g, handlers, c, &c->op, &error);
        if (r < 0) {
                (void) native_core_error(q, r, error.text);
                return;
        }
        if (ret)
                *ret = c;
}

static void files_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FileCall *c = userdata;

        c->has_entry = true;
        c->entry = *entry;
}

/* The thing afterwards. */
static void files_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileCall *c = userdata;

        if (error < 0)
                (void) file_answer_error(c->q, error, path && path[0] ? path : c->path);
        else if (!c->has_entry)
                (void) api_errno(c->q, -EPROTO, "the sandbox did not report the result");
        else
                (void) file_answer_entry(c->q, 200, &c->entry);
}

static const FileOpHandlers entry_handlers = { .entry = files_on_entry, .end = files_on_end };

static void native_file_stat(ApiRequest *q) {
        bool follow = true;
        FileRequest g;

        if (file_request_query(q, FILE_STAT, &g) < 0 || api_query_bool(q, "follow", &follow) < 0)
                return;
        if (!follow)
                g.flags |= FILE_NO_FOLLOW;
        files_call_start(q, &g, &entry_handlers, /* ret= */ NULL);
}

static void files_on_removed(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileCall *c = userdata;

        if (error < 0)
                (void) file_answer_error(c->q, error, path && path[0] ? path : c->path);
        else
                (void) api_show(c->q, 200, &(const bool) { count > 0 });
}

static void native_file_delete(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = files_on_entry, .end = files_on_removed };
        bool recursive = false, missing_ok = false;
        FileRequest g;

        if (file_request_query(q, FILE_REMOVE, &g) < 0 || api_query_bool(q, "recursive", &recursive) < 0 ||
            api_query_bool(q, "missingOk", &missing_ok) < 0)
                return;
        g.flags = (recursive ? FILE_RECURSIVE : 0) | (missing_ok ? FILE_MISSING_OK : 0);
        files_call_start(q, &g, &handlers, /* ret= */ NULL);
}

/* Lists. Requests one more entry than it returns, to detect whether there are more. */

static void files_on_listed(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FileCall *c = userdata;

        if (entry->path[0] == '\0' && S_ISDIR(entry->mode))
                return; /* itself */
        if (c->n_entries++ >= c->limit)
                return;
        text_put_string(&c->text, c->n_entries > 1 ? "," : "");
        file_put_entry(&c->text, entry, c->path);
        if (c->text.room > HTTP_SMALL_MAX && c->text.room != c->q->answer.amount && api_hold(c->q, c->text.room, &c->error) < 0) {
                text_done(&c->text);
                c->text.error = -ENOBUFS; /* refuses further entries */
        }
}

static void files_on_list_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileCall *c = userdata;

        if (error < 0) {
                (void) file_answer_error(c->q, error, path && path[0] ? path : c->path);
                return;
        }
        if (c->text.error == -ENOBUFS) {
                (void) api_errno(c->q, -ENOBUFS, c->error.text);
                return;
        }
        text_format(&c->text, "],\"truncated\":%s}", c->n_entries > c->limit ? "true" : "false");
        (void) file_answer_text(c->q, 200, &c->text);
}

static void native_file_list(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = files_on_listed, .end = files_on_list_end };
        uint64_t depth = 1, limit = LIST_DEFAULT;
        FileCall *c;
        FileRequest g;

        if (file_request_query(q, FILE_LIST, &g) < 0 || api_query_uint(q, "depth", 1, DEPTH_MAX, &depth) < 0 ||
            api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0)
                return;
        g.depth = (uint32_t) depth;
        g.limit = limit + 1;
        files_call_start(q, &g, &handlers, &c);
        if (!c)
                return;
        c->limit = limit;
        text_put_string(&c->text, "{");
        file_put_path(&c->text, "path", c->path);
        text_put_string(&c->text, ",\"entries\":[");
}

/* With a body. */

typedef struct FileBody {
        char *path, *from, *to;
        bool parents, recursive, replace;
        uint32_t mode;
        NativeUser owner, user;
} FileBody;

static void files_body_done(FileBody *b) {
        free(b->path);
        free(b->from);
        free(b->to);
}

#define FIELD_PATH(field, member) { field, SHAPE_TEXT, offsetof(FileBody, member), SHAPE_MANDATORY, .min = 1 }
#define FIELD_FLAG(field, member) { field, SHAPE_BOOL, offsetof(FileBody, member) }
#define FIELD_USER(field, member) { field, SHAPE_CUSTOM, offsetof(FileBody, member), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) }
#define FIELD_MODE                { "mode", SHAPE_CUSTOM, offsetof(FileBody, mode), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_mode) }

static const Shape native_mkdir_shape = SHAPE_FIELDS(
        FIELD_PATH("path", path), FIELD_FLAG("parents", parents), FIELD_MODE, FIELD_USER("user", user));

static const Shape native_move_shape = SHAPE_FIELDS(
        FIELD_PATH("from", from), FIELD_PATH("to", to), FIELD_FLAG("replace", replace), FIELD_USER("user", user));

static const Shape native_copy_shape = SHAPE_FIELDS(
        FIELD_PATH("from", from),          FIELD_PATH("to", to),     FIELD_FLAG("recursive", recursive),
        FIELD_FLAG("replace", replace), FIELD_USER("user", user));

static const Shape native_chmod_shape = SHAPE_FIELDS(
        FIELD_PATH("path", path), FIELD_MODE, FIELD_USER("owner", owner), FIELD_FLAG("recursive", recursive),
        FIELD_USER("user", user));

static void native_file_mkdir(ApiRequest *q) {
        _cleanup_(files_body_done) FileBody b = { .parents = true, .mode = FILE_MODE_NONE };
        FileRequest g;

        if (api_read(q, &b) < 0 || file_request(q, FILE_MKDIR, "path", b.path, &b.user, &g) < 0)
                return;
        g.mode = b.mode;
        g.flags = b.parents ? FILE_PARENTS : 0;
        files_call_start(q, &g, &entry_handlers, /* ret= */ NULL);
}

static void move_or_copy(ApiRequest *q, FileOperation operation, FileBody *b) {
        FileRequest g;

        if (api_read(q, b) < 0 || file_request(q, operation, "from", b->from, &b->user, &g) < 0 ||
            file_set_target(q, "to", b->to, &g) < 0)
                return;
        g.flags = (b->replace ? 0 : FILE_NO_REPLACE) | (operation == FILE_COPY && b->recursive ? FILE_RECURSIVE : 0);
        files_call_start(q, &g, &entry_handlers, /* ret= */ NULL);
}

static void native_file_move(ApiRequest *q) {
        _cleanup_(files_body_done) FileBody b = { .replace = true };

        move_or_copy(q, FILE_MOVE, &b);
}

static void native_file_copy(ApiRequest *q) {
        _cleanup_(files_body_done) FileBody b = { .replace = true, .recursive = true };

        move_or_copy(q, FILE_COPY, &b);
}

static void native_file_chmod(ApiRequest *q) {
        _cleanup_(files_body_done) FileBody b = { .mode = FILE_MODE_NONE };
        FileRequest g;

        if (api_read(q, &b) < 0 || file_request(q, FILE_CHMOD, "path", b.path, &b.user, &g) < 0)
                return;
        if (b.mode == FILE_MODE_NONE && !b.owner.given) {
                (void) native_complain(q, "mode", "must be given, or owner");
                return;
        }
        g.mode = b.mode;
        if (b.owner.given) {
                g.owner = b.owner.uid;
                g.group = b.owner.gid;
        }
        g.flags = b.recursive ? FILE_RECURSIVE : 0;
        files_call_start(q, &g, &entry_handlers, /* ret= */ NULL);
}

static const Shape native_file_removed_answer = SHAPE_FIELDS({ "removed", SHAPE_BOOL, 0 });

static const Shape native_unpacked_answer = SHAPE_FIELDS({ "entries", SHAPE_UINT64, 0 });

#define FILES "/api/sandbox/{id}/files"

const ApiRoute file_routes[] = {
        { "GET",    FILES,            MAY_READ,  .handle = native_file_read, .queries = QUERIES("path", "user") },
        { "HEAD",   FILES,            MAY_READ,  .handle = native_file_read, .queries = QUERIES("path", "user") },
        { "PUT",    FILES,            MAY_WRITE, .handle = native_file_write, BYTES_BODY(native_file_write_data),
          .queries = QUERIES("path", "user", "mode", "owner", "parents", "replace") },
        { "DELETE", FILES,            MAY_WRITE, .handle = native_file_delete, ANSWER(file_removed), .queries = QUERIES("path", "user", "recursive", "missingOk") },
        { "GET",    FILES "/list",    MAY_READ,  .handle = native_file_list, .queries = QUERIES("path", "user", "depth", "limit") },
        { "GET",    FILES "/stat",    MAY_READ,  .handle = native_file_stat, .queries = QUERIES("path", "user", "follow") },
        { "POST",   FILES "/mkdir",   MAY_WRITE, .handle = native_file_mkdir, JSON_BODY(mkdir) },
        { "POST",   FILES "/move",    MAY_WRITE, .handle = native_file_move, JSON_BODY(move) },
        { "POST",   FILES "/copy",    MAY_WRITE, .handle = native_file_copy, JSON_BODY(copy) },
        { "POST",   FILES "/chmod",   MAY_WRITE, .handle = native_file_chmod, JSON_BODY(chmod) },
        { "GET",    FILES "/archive", MAY_READ,  .handle = native_archive_get, .queries = QUERIES("path", "user", "compress") },
        { "PUT",    FILES "/archive", MAY_WRITE, .handle = native_archive_put, BYTES_BODY(native_archive_put_data), ANSWER(unpacked),
          .queries = QUERIES("path", "user") },
        { "GET",    FILES "/watch",   MAY_READ,  .handle = native_file_watch, .queries = QUERIES("path", "user", "recursive") },
        { 0 },
};
