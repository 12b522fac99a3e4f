/* volume-files.c: operations on the files of a volume. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/e2b/volume/volumes.h"
#include "base/fd.h"

#define OWNER       1000 /* uid and gid of "user" in sandboxes */
#define DIR_MODE    0755
#define FILE_MODE   0644
#define MODE_MAX    07777
#define ENTRIES_MAX 10000
#define DEPTH_MAX   64
#define FILE_TYPE   "application/octet-stream"

static const char *volume_files_type_of(uint32_t mode) {
        return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "symlink" : "unknown";
}

json_t *e2b_volume_entry(const FileEntry *e, const char *path) {
        const char *slash = strrchr(path, '/');
        json_t *mtime = json_time((uint64_t) (e->mtime_nsec > 0 ? e->mtime_nsec : 0) / 1000 + (e->mtime_nsec <= 0)),
               *j = json_pack("{s:o, s:s, s:o, s:I, s:i, s:I, s:I, s:O, s:o, s:o}",
                        "name", json_text_or_null(slash && slash[1] ? slash + 1 : path),
                        "type", volume_files_type_of(e->mode),
                        "path", json_text_or_null(path),
                        "size", (json_int_t) e->size,
                        "mode", (int) (e->mode & MODE_MAX),
                        "uid", (json_int_t) e->uid,
                        "gid", (json_int_t) e->gid,
                        "atime", mtime, /* access times are not recorded there */
                        "mtime", mtime,
                        "ctime", json_time((uint64_t) (e->ctime_nsec > 0 ? e->ctime_nsec : 0) / 1000 + (e->ctime_nsec <= 0)));

        if (S_ISLNK(e->mode) && *e->target)
                (void) json_object_set_new(j, "target", json_text_or_null(e->target));
        return j;
}

static void volume_files_take_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        VolumeCall *k = userdata;

        (void) fd_close(fd);
        k->entry = *entry;
        k->has_entry = true;
}

static void answer_entry(VolumeCall *k, unsigned status, int error) {
        if (error < 0)
                e2b_volume_fail(k->q, error, k->path);
        else if (!k->has_entry)
                e2b_volume_fail(k->q, -EPROTO, k->path);
        else
                (void) api_answer(k->q, status, e2b_volume_entry(&k->entry, k->path));
}

/* Reads ?uid=, ?gid=, ?mode= and ?force= for new files. */
static int read_making(VolumeCall *k, uint32_t mode, bool *ret_force) {
        uint64_t uid = OWNER, gid = OWNER, bits = mode;

        if (api_query_uint(k->q, "uid", 0, UINT16_MAX, &uid) < 0 || api_query_uint(k->q, "gid", 0, UINT16_MAX, &gid) < 0 ||
                        api_query_uint(k->q, "mode", 0, MODE_MAX, &bits) < 0 || api_query_bool(k->q, "force", ret_force) < 0)
                return -EINVAL;
        k->request.owner = (uint32_t) uid;
        k->request.group = (uint32_t) gid;
        k->request.mode = (uint32_t) bits;
        return 0;
}

/* GET …/path */

static void volume_files_on_stat(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        answer_entry(userdata, 200, error);
}

void e2b_volume_stat(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_take_entry, .end = volume_files_on_stat };
        VolumeCall *k = e2b_volume_call(q, FILE_STAT);

        if (!k)
                return;
        k->request.flags = FILE_NO_FOLLOW;
        e2b_volume_begin(k, &handlers);
}

/* PATCH …/path */

/* Returns 1 if present, 0 if absent, or -EINVAL. */
static int volume_files_read_number(const json_t *body, const char *name, json_int_t max, uint32_t *ret) {
        const json_t *v = json_object_get(body, name);

        if (!v || json_is_null(v))
                return 0;
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
                return -EINVAL;
        *ret = (uint32_t) json_integer_value(v);
        return 1;
}

static int read_change(ApiRequest *q, FileRequest *g) {
        size_t size;
        const char *text = http_body(q->http, &size);
        _cleanup_json_ json_t *body = json_loadb(text, size, 0, NULL);
        int uid, gid, mode;

        if (!json_is_object(body))
                return -EINVAL;
        uid = volume_files_read_number(body, "uid", UINT16_MAX, &g->owner);
        gid = volume_files_read_number(body, "gid", UINT16_MAX, &g->group);
        mode = volume_files_read_number(body, "mode", MODE_MAX, &g->mode);
        return uid < 0 || gid < 0 || mode < 0 ? -EINVAL : uid + gid + mode;
}

void e2b_volume_change(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_take_entry, .end = volume_files_on_stat };
        VolumeCall *k = e2b_volume_call(q, FILE_CHMOD);
        int n;

        if (!k)
                return;
        n = read_change(q, &k->request);
        if (n < 0) {
                (void) e2b_volume_refuse(q, 400, "the body must be {uid, gid, mode}: numbers, up to 65535, and of a mode up to 4095");
                return;
        }
        if (n == 0) /* nothing to change: only returns the entry */
                k->request.operation = FILE_STAT;
        e2b_volume_begin(k, &handlers);
}

/* DELETE …/path */

static void volume_files_on_gone(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        VolumeCall *k = userdata;

        if (error < 0)
                e2b_volume_fail(k->q, error, k->path);
        else
                (void) e2b_empty(k->q, 204);
}

void e2b_volume_delete_path(ApiRequest *q) {
        static const FileOpHandlers handlers = { .end = volume_files_on_gone };
        VolumeCall *k = e2b_volume_call(q, FILE_REMOVE);

        if (!k)
                return;
        if (strcmp(k->path, "/") == 0) {
                (void) e2b_volume_refuse(q, 400, "the top of a volume cannot be removed: remove what is in it, or the volume");
                return;
        }
        k->request.flags = FILE_RECURSIVE;
        e2b_volume_begin(k, &handlers);
}

/* GET …/dir */

static void volume_files_on_listed(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        VolumeCall *k = userdata;
        _cleanup_free_ char *path = NULL;

        (void) fd_close(fd);
        if (*entry->path == '\0')
                return;
        if (asprintf(&path, "%s/%s", strcmp(k->path, "/") == 0 ? "" : k->path, entry->path) < 0) {
                path = NULL;
                return;
        }
        (void) json_array_append_new(k->list, e2b_volume_entry(entry, path));
}

static void volume_files_on_list_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        VolumeCall *k = userdata;

        if (error < 0)
                e2b_volume_fail(k->q, error, k->path);
        else if (count > ENTRIES_MAX)
                (void) e2b_volume_refuse(k->q, 413, "more than 10000 entries: list its subdirectories one by one");
        else
                (void) api_answer(k->q, 200, TAKE_PTR(k->list));
}

void e2b_volume_dir(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_on_listed, .end = volume_files_on_list_end };
        VolumeCall *k = e2b_volume_call(q, FILE_LIST);
        uint64_t depth = 1;

        if (!k || api_query_uint(q, "depth", 1, DEPTH_MAX, &depth) < 0)
                return;
        k->request.depth = (uint32_t) depth;
        k->request.limit = ENTRIES_MAX;
        k->list = json_array();
        e2b_volume_begin(k, &handlers);
}

/* POST …/dir */

static void volume_files_on_made(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        answer_entry(userdata, 201, error);
}

void e2b_volume_mkdir(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_take_entry, .end = volume_files_on_made };
        VolumeCall *k = e2b_volume_call(q, FILE_MKDIR);
        bool force = false;

        if (!k || read_making(k, DIR_MODE, &force) < 0)
                return;
        k->request.flags = force ? FILE_PARENTS | FILE_OWN_PARENTS : 0;
        e2b_volume_begin(k, &handlers);
}

/* GET …/file */

static void volume_files_on_opened(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        VolumeCall *k = userdata;

        k->fd = fd;
        k->entry = *entry;
}

static void on_read_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        VolumeCall *k = userdata;

        if (error < 0)
                e2b_volume_fail(k->q, error, k->path);
        else if (k->fd < 0)
                e2b_volume_fail(k->q, -EPROTO, k->path);
        else {
                k->q->answered = true;
                (void) http_answer_fd(k->q->http, 200, FILE_TYPE, TAKE_FD(k->fd), 0, k->entry.size);
        }
}

void e2b_volume_read(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_on_opened, .end = on_read_end };
        VolumeCall *k = e2b_volume_call(q, FILE_READ);

        if (k)
                e2b_volume_begin(k, &handlers);
}

/* PUT …/file: data that arrives before the sandbox is ready waits. */

static void volume_files_on_writable(FileOp *op, void *userdata) {
        VolumeCall *k = userdata;

        http_request_continue(k->q->http);
}

static void volume_files_on_written(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        VolumeCall *k = userdata;

        answer_entry(k, 201, error < 0 ? error : k->committed ? 0 : -EPROTO);
}

void e2b_volume_write(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = volume_files_take_entry, .writable = volume_files_on_writable, .end = volume_files_on_written };
        VolumeCall *k = e2b_volume_call(q, FILE_WRITE);
        bool force = false;

        if (!k || read_making(k, FILE_MODE, &force) < 0)
                return;
        k->request.flags = force ? FILE_PARENTS | FILE_OWN_PARENTS : FILE_NO_REPLACE;
        e2b_volume_begin(k, &handlers);
}

ssize_t e2b_volume_put(VolumeCall *k, const void *data, size_t size) {
        ssize_t n = size == 0 ? fileop_commit(k->op) : fileop_write(k->op, data, size);

        k->committed |= size == 0;
        if (n == -EPIPE)
                return 0;
        if (n < 0)
                e2b_volume_fail(k->q, (int) n, k->path);
        return n;
}

ssize_t e2b_volume_write_data(ApiRequest *q, const void *data, size_t size) {
        VolumeCall *k = q->state;

        if (q->answered || !k)
                return -ECANCELED;
        if (!k->started) {
                k->ended = size == 0;
                return 0;
        }
        return e2b_volume_put(k, data, size);
}
