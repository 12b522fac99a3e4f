/* files-write.c: one file of an upload: opens it, writes as fast as the worker inside takes the data, commits
 * it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/e2b/envd/files-internal.h"

#define METADATA_HEADER "X-Metadata-"
#define METADATA_KEY_MAX (255 - (sizeof(FILE_LABEL_PREFIX) - 1)) /* the kernel's limit on the whole name */

void upload_close(Upload *u) {
        u->op = fileop_free(u->op);
        json_decref(u->entry);
        u->entry = NULL;
        free(u->path);
        u->path = NULL;
        u->committed = u->waits = false;
}

static void refuse_write(Upload *u, int error, const char *path) {
        const char *length = http_header(u->q->http, "Content-Length");

        if ((error == -ENOSPC || error == -EDQUOT) && length)
                (void) e2b_error(u->q, 507, "attempted to write %.20s bytes: not enough disk space available", length);
        else if (error == -ENOSPC || error == -EDQUOT)
                (void) e2b_error(u->q, 507, "not enough disk space available");
        else if (error == -EISDIR)
                (void) e2b_error(u->q, 400, "path is a directory: %s", u->path);
        else if (error == -ENOTDIR)
                (void) e2b_error(u->q, 400, "error ensuring directories: path is a file: %s", path);
        else if (error == -EOPNOTSUPP)
                (void) e2b_error(u->q, 400, "path is not a regular file: %s", u->path);
        else if (error == -ENAMETOOLONG || error == -ELOOP || error == -EINVAL || error == -ETXTBSY)
                (void) e2b_error(u->q, 400, "error opening file: open %s: %s", u->path, envd_strerror(-error));
        else if (error == -EACCES || error == -EPERM || error == -EROFS)
                (void) e2b_error(u->q, 403, "error opening file: open %s: %s", u->path, envd_strerror(-error));
        else if (error == -EFBIG)
                (void) e2b_error(u->q, 413, "error writing file: write %s: file too large", u->path);
        else if (error == -EPIPE || error == -ESTALE)
                (void) e2b_proxy_missing(u->q, u->q->sandbox_id);
        else
                (void) e2b_errno(u->q, error, NULL);
}

/* {"path", "name", "type"}, and "metadata" if there is any. Nothing else, because clients compare these
 * objects. */
static json_t *files_write_entry_json(const Upload *u, const FileEntry *e) {
        const char *slash = strrchr(u->path, '/'), *key, *value;
        json_t *metadata = json_object(), *j;
        size_t offset = 0;

        while (file_labels_next(e->labels, e->labels_size, &offset, &key, &value)) {
                json_t *text = json_utf8(value, strlen(value));

                if (text)
                        (void) json_object_set_new(metadata, key, text);
        }
        j = json_pack("{s:o, s:o, s:s}", "path", json_utf8(u->path, strlen(u->path)), "name",
                        json_utf8(slash ? slash + 1 : u->path, strlen(slash ? slash + 1 : u->path)), "type", "file");
        if (j && json_object_size(metadata) > 0)
                (void) json_object_set(j, "metadata", metadata);
        json_decref(metadata);
        return j;
}

static void files_write_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Upload *u = userdata;

        json_decref(u->entry);
        u->entry = files_write_entry_json(u, entry);
}

/* May come in the middle of the body, if the disk is full. */
static void files_write_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Upload *u = userdata;

        if (u->q->answered)
                return;
        if (error < 0)
                refuse_write(u, error, path && path[0] ? path : u->path);
        else if (!u->committed || !u->entry)
                (void) e2b_errno(u->q, -EPROTO, "the sandbox did not report the result");
        else if (json_array_append_new(u->entries, TAKE_PTR(u->entry)) < 0)
                (void) e2b_errno(u->q, -ENOMEM, NULL);
        else {
                upload_close(u);
                upload_go_on(u);
        }
}

static int files_write_check_path(Upload *u) {
        size_t n = json_array_size(u->entries);
        bool cut;

        if (utf8_prefix(u->path, strlen(u->path), &cut) != strlen(u->path))
                return e2b_error(u->q, 400, "error resolving path: it is not UTF-8");
        if (n >= UPLOAD_FILES_MAX)
                return e2b_error(u->q, 400, "more than %d files in one upload request", UPLOAD_FILES_MAX);
        for (size_t i = 0; i < n; i++)
                if (strcmp(json_string_value(json_object_get(json_array_get(u->entries, i), "path")), u->path) == 0)
                        return e2b_error(u->q, 400,
                                        "you cannot upload multiple files to the same path '%s' in one upload request, only the first specified file "
                                        "was uploaded",
                                        u->path);
        return 0;
}

static void files_write_on_writable(FileOp *op, void *userdata) {
        upload_go_on(userdata);
}

int upload_open(Upload *u, const char *path) {
        static const FileOpHandlers handlers = { .entry = files_write_on_entry, .writable = files_write_on_writable, .end = files_write_on_end };
        Sandbox *sb = envd_sandbox(u->q);
        Error error = { 0 };
        FileRequest g;
        int r;

        upload_close(u);
        r = sb ? envd_path(&u->user, sb->spec.workdir, path, &u->path) : -EPIPE;
        if (r == -EINVAL)
                (void) e2b_error(u->q, 400, "error resolving path: failed to expand path '%s' for user '%s': cannot expand user-specific home dir, or too long", path,
                                u->user.name);
        else if (r < 0)
                refuse_write(u, r, path);
        if (r < 0 || files_write_check_path(u) < 0)
                return -ECANCELED;
        envd_file_request(sb, &u->user, FILE_WRITE, &g);
        (void) strcpy(g.path, u->path);
        g.flags = FILE_PARENTS | FILE_IN_PLACE | FILE_OWN_PARENTS | FILE_SET_LABELS | FILE_DETAILS;
        if (g.owner == FILE_ID_NONE)
                g.flags &= ~(uint32_t) FILE_OWN_PARENTS;
        g.labels = u->labels;
        g.labels_size = u->labels_size;
        r = fileop_start(sb, &g, &handlers, u, &u->op, &error);
        if (r < 0) {
                refuse_write(u, r, u->path);
                return -ECANCELED;
        }
        return 0;
}

static int upload_heard(Upload *u, ssize_t n) {
        u->waits |= n == -EPIPE; /* the worker has given up; its last message says why */
        if (n >= 0 || n == -EPIPE)
                return 0;
        refuse_write(u, (int) n, u->path);
        return -ECANCELED;
}

ssize_t upload_write(Upload *u, const char *data, size_t size) {
        ssize_t n = fileop_write(u->op, data, size);
        int r = upload_heard(u, n);

        return r < 0 ? r : MAX_OF(n, (ssize_t) 0);
}

int upload_commit(Upload *u) {
        u->committed = u->waits = true;
        return upload_heard(u, fileop_commit(u->op));
}

/* Headers such as "X-Metadata-Key: value". */

static const char *files_write_add_label(Upload *u, const char *key, const char *value, size_t *total) {
        const size_t key_size = strlen(key), value_size = strlen(value);

        if (key_size == 0)
                return "metadata key must not be empty";
        if (key_size > METADATA_KEY_MAX)
                return "metadata key is longer than 246 bytes";
        for (const char *p = value; *p; p++)
                if (*p < 0x20 || *p > 0x7e)
                        return "metadata value contains a byte that is not printable ASCII";
        *total += sizeof(FILE_LABEL_PREFIX) - 1 + key_size + value_size;
        if (*total > FILE_LABELS_MAX || u->labels_size + key_size + value_size + 2 > sizeof(u->labels))
                return "total metadata size exceeds 4096 bytes";
        for (size_t i = 0; i <= key_size; i++) {
                if (key[i] != '\0' && (key[i] <= 0x20 || key[i] > 0x7e))
                        return "metadata key contains a byte that is not printable ASCII";
                u->labels[u->labels_size++] = (uint8_t) (key[i] >= 'A' && key[i] <= 'Z' ? key[i] + ('a' - 'A') : key[i]);
        }
        memcpy(u->labels + u->labels_size, value, value_size + 1);
        u->labels_size += value_size + 1;
        return NULL;
}

typedef struct Labelling {
        Upload *upload;
        size_t total;
        const char *complaint;
} Labelling;

static bool has_label(const Upload *u, const char *wanted) {
        const char *key, *value;
        size_t offset = 0;

        while (file_labels_next(u->labels, u->labels_size, &offset, &key, &value))
                if (strcasecmp(key, wanted) == 0)
                        return true;
        return false;
}

static int each_header(const char *name, const char *value, void *userdata) {
        static const size_t length = sizeof(METADATA_HEADER) - 1;
        Labelling *l = userdata;

        if (strncasecmp(name, METADATA_HEADER, length) != 0 || name[length] == '\0' || has_label(l->upload, name + length))
                return 0;
        l->complaint = files_write_add_label(l->upload, name + length, value ? value : "", &l->total);
        return l->complaint ? -EINVAL : 0;
}

int upload_read_labels(Upload *u) {
        Labelling l = { .upload = u };

        (void) http_header_each(u->q->http, each_header, &l);
        if (!l.complaint)
                return 0;
        return e2b_error(u->q, 400, "invalid metadata: %s", l.complaint);
}
