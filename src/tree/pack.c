#include "tree/pack.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/links.h"
#include "tree/report.h"

#define WHITEOUT ".wh."

struct Packer {
        LayerWriter *writer;
        Links links;
        PackCounts counts;
        char path[PATH_MAX + sizeof(WHITEOUT)];
        char target[PATH_MAX];
};

int packer_new(int fd, Compression compression, Packer **ret, Error *reterr) {
        Packer *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = layer_writer_new(fd, compression, &p->writer, reterr);
        if (r < 0) {
                (void) packer_free(p);
                return r;
        }
        *ret = p;
        return 0;
}

Packer *packer_free(Packer *p) {
        if (!p)
                return NULL;
        (void) layer_writer_free(p->writer);
        links_done(&p->links);
        free(p);
        return NULL;
}

void packer_freep(Packer **p) {
        *p = packer_free(*p);
}

static const char *pack_last_part(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* Checks every part of the path: files below a directory with such a name could not be unpacked either. */
static bool has_whiteout_name(const char *path) {
        return strncmp(path, WHITEOUT, strlen(WHITEOUT)) == 0 || strstr(path, "/" WHITEOUT);
}

static int put_whiteout(Packer *p, const Delta *d, Error *reterr) {
        const char *name = pack_last_part(d->path);
        const LayerPut put = { .path = p->path, .st = { .st_mode = S_IFREG }, .content = -EBADF };

        (void) snprintf(p->path, sizeof(p->path), "%.*s" WHITEOUT "%s", (int) (name - d->path), d->path, name);
        p->counts.entries++;
        return layer_writer_put(p->writer, &put, reterr);
}

static int pack_put(Packer *p, const Delta *d, Error *reterr) {
        _cleanup_close_ int content = -EBADF;
        LayerPut put = { .path = p->path, .st = d->now->st, .content = -EBADF };
        const char *first;
        int r;

        (void) snprintf(p->path, sizeof(p->path), "%s%s", d->path, S_ISDIR(put.st.st_mode) ? "/" : "");
        r = links_first(&p->links, &put.st, d->path, &first);
        if (r < 0)
                return error_set(reterr, r, "'%.300s': %m", d->path);
        if (first) {
                put.hard = true;
                put.target = first;
        } else if (S_ISLNK(put.st.st_mode)) {
                ssize_t n = readlinkat(d->now->dirfd, d->now->name, p->target, sizeof(p->target) - 1);

                if (n < 0)
                        return error_set(reterr, -errno, "'%.300s': %m", d->path);
                p->target[n] = '\0';
                put.target = p->target;
        } else if (S_ISREG(put.st.st_mode) || S_ISDIR(put.st.st_mode)) {
                content = put.content = delta_open(d->now);
                if (content < 0 || fstat(content, &put.st) < 0)
                        return error_set(reterr, content < 0 ? content : -errno, "'%.300s': %m", d->path);
                p->counts.bytes += S_ISREG(put.st.st_mode) ? (uint64_t) put.st.st_size : 0;
        }
        p->counts.entries++;
        report_progress(p->counts.entries, p->counts.bytes);
        return layer_writer_put(p->writer, &put, reterr);
}

int packer_take(const Delta *d, void *userdata, Error *reterr) {
        Packer *p = userdata;

        if (has_whiteout_name(d->path) || (d->now && (S_ISSOCK(d->now->st.st_mode) || S_ISCHR(d->now->st.st_mode) || S_ISBLK(d->now->st.st_mode)))) {
                p->counts.left_out++;
                return 0;
        }
        return d->now ? pack_put(p, d, reterr) : put_whiteout(p, d, reterr);
}

int packer_end(Packer *p, PackCounts *ret, StreamSummary *ret_summary, Error *reterr) {
        *ret = p->counts;
        return layer_writer_end(p->writer, ret_summary, reterr);
}
