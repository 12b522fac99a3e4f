/* files-post.c: uploads, one file as the body or several in a form. Nothing is stored here: data is passed on
 * as fast as the sandbox takes it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/e2b/envd/files-internal.h"
#include "base/fd.h"

#define RAW_TYPE  "application/octet-stream"
#define FORM_TYPE "multipart/"
#define INFLATE_SLACK ((uint64_t) 64 << 20) /* beyond the sandbox's disk, for parts that are no files */

static void files_post_upload_destroy(ApiRequest *q, bool answered) {
        Upload *u = q->state;

        envd_lookup_cancel(u->lookup);
        upload_close(u);
        inflate_free(u->inflate);
        free(u->form);
        json_decref(u->entries);
}

static void upload_answer(Upload *u) {
        size_t size;
        char *text = json_print(u->entries, &size);

        if (!text) {
                (void) e2b_errno(u->q, -ENOMEM, NULL);
                return;
        }
        u->q->answered = true;
        (void) http_answer_take(u->q->http, 200, "application/json", text, size);
}

static int files_post_begin_part(Upload *u) {
        const char *path = http_query(u->q->http, "path");

        if (strcmp(u->form->name, "file") != 0)
                return 0;
        if (!path && !u->form->has_filename)
                return e2b_error(u->q, 400, "error getting multipart custom part file name: filename not found in Content-Disposition header");
        return upload_open(u, path ? path : u->form->filename);
}

/* One step of the form. Adds the bytes used to *used. Returns 1 to continue, 0 to wait. */
static int form_step(Upload *u, const char *data, size_t size, size_t *used) {
        MultipartPiece piece;
        size_t n;
        ssize_t taken;
        int r = multipart_next(u->form, data + *used, size - *used, &n, &piece);

        *used += n;
        switch (r) {
        case MULTIPART_MORE: return 0;
        case MULTIPART_PART: return files_post_begin_part(u) < 0 ? -ECANCELED : 1;
        case MULTIPART_PART_END: return !u->op ? 1 : upload_commit(u) < 0 ? -ECANCELED : 0;
        case MULTIPART_END:
                u->form_ended = true;
                *used = size;
                return 0;
        case MULTIPART_DATA:
                taken = u->op ? upload_write(u, piece.data, piece.size) : (ssize_t) piece.size;
                if (taken < 0)
                        return -ECANCELED;
                *used += multipart_took(u->form, (size_t) taken);
                return (size_t) taken == piece.size;
        default:
                return e2b_error(u->q, 400, "error reading form: %s", r == -E2BIG ? "a header of a part is too long" : "it is not multipart/form-data as its boundary says");
        }
}

static ssize_t feed_form(Upload *u, const char *data, size_t size) {
        size_t used = 0;
        int r = 1;

        while (r > 0 && !u->waits)
                r = form_step(u, data, size, &used);
        return r < 0 ? r : (ssize_t) used;
}

static ssize_t feed_raw(Upload *u, const char *data, size_t size) {
        if (!u->op && upload_open(u, http_query(u->q->http, "path")) < 0)
                return -ECANCELED;
        return size > 0 ? upload_write(u, data, size) : 0;
}

static ssize_t feed(Upload *u, const char *data, size_t size) {
        if (u->waits || !u->has_user)
                return 0;
        return u->form ? feed_form(u, data, size) : feed_raw(u, data, size);
}

/* Passes on inflated data. Returns 1 if all of it was taken. */
static int files_post_drain(Upload *u) {
        size_t size;
        const char *data = inflate_output(u->inflate, &size);
        ssize_t n = size > 0 ? feed(u, data, size) : 0;

        if (n < 0)
                return (int) n;
        inflate_took(u->inflate, (size_t) n);
        return (size_t) n == size;
}

static ssize_t feed_compressed(Upload *u, const char *data, size_t size) {
        size_t used = 0;

        for (;;) {
                size_t made;
                ssize_t n;
                int r = files_post_drain(u);

                if (r <= 0)
                        return r < 0 ? r : (ssize_t) used;
                n = inflate_feed(u->inflate, data + used, size - used);
                if (n == -EFBIG)
                        return e2b_error(u->q, 507, "not enough disk space available");
                if (n < 0)
                        return e2b_error(u->q, 400, "error decompressing request body: %s", n == -EBADMSG ? "it is not gzip" : strerror((int) -n));
                used += (size_t) n;
                (void) inflate_output(u->inflate, &made);
                if (made == 0 && (n == 0 || used == size))
                        return (ssize_t) used;
        }
}

/* The body is complete: passes on the rest of it, commits the last file, and answers. */
static void files_post_finish(Upload *u) {
        if (u->q->answered || u->waits || !u->has_user)
                return;
        if (u->inflate) {
                if (feed_compressed(u, "", 0) < 0 || u->waits)
                        return;
                if (!inflate_is_whole(u->inflate)) {
                        size_t left;

                        (void) inflate_output(u->inflate, &left);
                        if (left == 0)
                                (void) e2b_error(u->q, 400, "error decompressing request body: unexpected EOF");
                        return;
                }
        }
        if (!u->form && json_array_size(u->entries) == 0) {
                if (u->op || feed_raw(u, "", 0) >= 0)
                        (void) upload_commit(u);
                return;
        }
        if (u->form && !u->form_ended) {
                (void) e2b_error(u->q, 400, "error reading form: multipart: NextPart: EOF");
                return;
        }
        upload_answer(u);
}

void upload_go_on(Upload *u) {
        if (u->q->answered)
                return;
        if (u->body_ended)
                files_post_finish(u);
        else
                http_request_continue(u->q->http);
}

ssize_t envd_files_post_data(ApiRequest *q, const void *data, size_t size) {
        Upload *u = q->state;

        if (q->answered || !u)
                return -ECANCELED;
        if (size == 0) {
                u->body_ended = true;
                files_post_finish(u);
                return 0;
        }
        return u->inflate ? feed_compressed(u, data, size) : feed(u, data, size);
}

static void files_post_on_user(int r, const EnvdUser *user, void *userdata) {
        Upload *u = userdata;

        if (r < 0) {
                envd_files_refuse_user(u->q, r, http_query(u->q->http, "username"));
                return;
        }
        u->user = *user;
        u->has_user = true;
        upload_go_on(u);
}

static int files_post_read_type(Upload *u) {
        const char *type = http_header(u->q->http, "Content-Type");
        size_t n = type ? strcspn(type, "; \t") : 0;

        if (n == strlen(RAW_TYPE) && strncasecmp(type, RAW_TYPE, n) == 0) {
                if (http_query(u->q->http, "path"))
                        return 0;
                return e2b_error(u->q, 400, "path query parameter is required for raw body upload");
        }
        if (n <= strlen(FORM_TYPE) || strncasecmp(type, FORM_TYPE, strlen(FORM_TYPE)) != 0)
                return e2b_error(u->q, 400, "unsupported content type: %s, expected multipart/form-data or application/octet-stream", type ? type : "");
        u->form = calloc(1, sizeof(*u->form));
        if (!u->form)
                return e2b_errno(u->q, -ENOMEM, NULL);
        if (multipart_init(u->form, type) < 0)
                return e2b_error(u->q, 400, "error parsing multipart form: no multipart boundary param in Content-Type");
        return 0;
}

static int read_encoding(Upload *u) {
        const char *encoding = http_header(u->q->http, "Content-Encoding");
        int r;

        if (!encoding || encoding[0] == '\0' || strcasecmp(encoding, "identity") == 0)
                return 0;
        if (strcasecmp(encoding, "gzip") != 0)
                return e2b_error(u->q, 400, "error decompressing request body: unsupported Content-Encoding: %s, supported: [gzip]", encoding);
        r = inflate_new(u->q->sandbox->spec.limits.disk_bytes + INFLATE_SLACK, &u->inflate);
        if (r < 0)
                (void) e2b_errno(u->q, r, NULL);
        return r;
}

void envd_files_post(ApiRequest *q) {
        Upload *u;

        u = api_keep_state(q, sizeof(*u), files_post_upload_destroy);
        if (!u)
                return;
        u->q = q;
        u->entries = json_array();
        if (read_encoding(u) < 0 || files_post_read_type(u) < 0 || upload_read_labels(u) < 0)
                return;
        envd_files_lookup(q, http_query(q->http, "username"), files_post_on_user, u, &u->lookup);
}
