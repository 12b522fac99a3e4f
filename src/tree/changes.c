#include "tree/changes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "tree/patch.h"
#include "tree/report.h"

#define FILE_MAX (1024 * 1024)
#define ALL_MAX  (10 * 1024 * 1024)

static void write_mode(JsonWriter *w, const char *key, mode_t mode) {
        char text[8];

        (void) snprintf(text, sizeof(text), "%04o", (unsigned) (mode & 07777));
        json_write_string(w, key, text);
}

/* Reads a regular file, and adds a NUL. *ret is NULL if the side is absent or no regular file. -EFBIG: too
 * large to compare. */
static int read_side(const DeltaSide *s, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *data = NULL;
        ssize_t n;

        *ret = NULL;
        *ret_size = 0;
        if (!s || !S_ISREG(s->st.st_mode))
                return 0;
        if (s->text) {
                *ret = strdup(s->text);
                *ret_size = strlen(s->text);
                return *ret ? 0 : -ENOMEM;
        }
        if (s->st.st_size > FILE_MAX)
                return -EFBIG;
        fd = delta_open(s);
        if (fd < 0)
                return fd;
        data = malloc((size_t) s->st.st_size + 1);
        if (!data)
                return -ENOMEM;
        n = fd_read_full(fd, data, (size_t) s->st.st_size);
        if (n < 0)
                return (int) n;
        data[n] = '\0';
        *ret = TAKE_PTR(data);
        *ret_size = (size_t) n;
        return 0;
}

static int write_patch(Changes *c, const Delta *d, JsonWriter *w) {
        _cleanup_free_ char *before = NULL, *now = NULL, *patch = NULL;
        size_t n_before, n_now;
        int r = read_side(d->before, &before, &n_before);

        if (r >= 0)
                r = read_side(d->now, &now, &n_now);
        if (r == -EFBIG) {
                json_write_string(w, "patchOmitted", "too large");
                return 0;
        }
        if (r < 0)
                return r;
        if ((before && !patch_is_text(before, n_before)) || (now && !patch_is_text(now, n_now))) {
                json_write_bool(w, "binary", true);
                return 0;
        }
        json_write_bool(w, "binary", false);
        r = patch_make(d->path, before, n_before, now, n_now, &patch);
        if (r < 0)
                return r;
        if (strlen(patch) > ALL_MAX - c->patch_bytes) {
                json_write_string(w, "patchOmitted", "too many");
                return 0;
        }
        c->patch_bytes += strlen(patch);
        json_write_string(w, "patch", patch);
        return 0;
}

static int write_target(const char *key, const DeltaSide *s, JsonWriter *w) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(s->dirfd, s->name, target, sizeof(target) - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        json_write_string(w, key, target);
        return 0;
}

static int write_side(const DeltaSide *s, bool old, JsonWriter *w) {
        write_mode(w, old ? "oldMode" : "mode", s->st.st_mode);
        if (S_ISREG(s->st.st_mode))
                json_write_integer(w, old ? "oldSize" : "size", s->st.st_size);
        return S_ISLNK(s->st.st_mode) ? write_target(old ? "oldTarget" : "target", s, w) : 0;
}

static int write_details(Changes *c, const Delta *d, JsonWriter *w) {
        bool is_file = (d->now && S_ISREG(d->now->st.st_mode)) || (d->before && S_ISREG(d->before->st.st_mode));
        int r = 0;

        if (d->now && d->before && (d->now->st.st_mode & S_IFMT) != (d->before->st.st_mode & S_IFMT))
                json_write_string(w, "oldType", delta_type_name(d->before->st.st_mode));
        if (d->now)
                r = write_side(d->now, /* old= */ false, w);
        if (r >= 0 && d->before)
                r = write_side(d->before, /* old= */ true, w);
        if (r >= 0 && d->now && d->before && (d->now->st.st_uid != d->before->st.st_uid || d->now->st.st_gid != d->before->st.st_gid)) {
                json_write_integer(w, "uid", d->now->st.st_uid);
                json_write_integer(w, "gid", d->now->st.st_gid);
                json_write_integer(w, "oldUid", d->before->st.st_uid);
                json_write_integer(w, "oldGid", d->before->st.st_gid);
        }
        if (r >= 0 && c->options->patch && is_file && !d->same_content)
                r = write_patch(c, d, w);
        return r;
}

int changes_take(const Delta *d, void *userdata, Error *reterr) {
        Changes *c = userdata;
        JsonWriter w = { .compact = true };
        char path[PATH_MAX + 1];
        int r = 0;

        if (d->kind == DELTA_PASSAGE)
                return 0;
        if (c->n == c->options->limit) {
                c->cut = true;
                return -ECANCELED;
        }
        c->n++;
        report_progress(c->n, 0);
        (void) snprintf(path, sizeof(path), "%s%s", c->top, d->path);
        json_begin_object(&w, NULL);
        json_write_string(&w, "path", path);
        json_write_string(&w, "change", delta_kind_name(d->kind));
        json_write_string(&w, "type", delta_type_name((d->now ? d->now : d->before)->st.st_mode));
        if (!c->options->names)
                r = write_details(c, d, &w);
        json_end_object(&w);
        if (r < 0 && r != -ENOENT && r != -ESTALE) { /* these two occur if the disk is in use */
                json_discard(&w);
                return error_set(reterr, r, "'%.300s': %m", d->path);
        }
        r = json_finish(&w, STDOUT_FILENO);
        return r < 0 ? error_set(reterr, r, "cannot write the changes: %m") : 0;
}
