/* blobs.c: DIR/blobs: compressed layers, manifests and configurations, as cove-registry stores them:
 * sha256-HEX, or with .part while they are fetched.
 *
 * A tenant's pulls and imports go to a directory of its own, of-TENANT. A complete blob gets a hard link in
 * the common directory. So a tenant can use a blob only after it has fetched or sent every byte of it; to
 * know the digest is not enough. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "image/internal.h"

#define PREFIX    "sha256-"
#define PART      ".part"
#define YOUNG_SEC 3600 /* age from which unknown files are removed: a younger one may still be written */

int blobs_open(Images *i, Error *reterr) {
        if (asprintf(&i->blobs_path, "%s/blobs", i->manager->config.state_dir) < 0) {
                i->blobs_path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        if (mkdir(i->blobs_path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s': %m", i->blobs_path);
        i->blobs_fd = open(i->blobs_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (i->blobs_fd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", i->blobs_path);
        return 0;
}

int blobs_of_tenant(Images *i, const char *tenant, char **ret_path, Error *reterr) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, *tenant ? "%s/" BLOBS_OF "%s" : "%s", i->blobs_path, tenant) < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        if (*tenant && mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make the directory of tenant '%s' for layers: %m", tenant);
        *ret_path = TAKE_PTR(path);
        return 0;
}

int blob_adopt(Images *i, const char *tenant, const char *digest, Error *reterr) {
        char name[sizeof(PREFIX) + DIGEST_HEX], path[sizeof(BLOBS_OF) + ACCESS_NAME_MAX + sizeof(name) + 1];

        if (!*tenant)
                return 0;
        if (!image_digest_is_valid(digest))
                return error_set(reterr, -EINVAL, "'%.80s' is not a digest", digest);
        (void) snprintf(name, sizeof(name), PREFIX "%.64s", digest + strlen(DIGEST_PREFIX));
        (void) snprintf(path, sizeof(path), BLOBS_OF "%.*s/%s", ACCESS_NAME_MAX, tenant, name);
        if (linkat(i->blobs_fd, path, i->blobs_fd, name, 0) >= 0)
                return 0;
        if (errno == EEXIST && faccessat(i->blobs_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0)
                return 0;
        return error_set(reterr, -errno, "blob %s is not there: %m", digest);
}

int blob_open(Images *i, const char *digest) {
        char name[sizeof(PREFIX) + DIGEST_HEX];
        int fd;

        if (!image_digest_is_valid(digest))
                return -EINVAL;
        (void) snprintf(name, sizeof(name), PREFIX "%.64s", digest + strlen(DIGEST_PREFIX));
        fd = openat(i->blobs_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

typedef struct BlobName {
        char hex[DIGEST_HEX + 1];
        UT_hash_handle hh;
} BlobName;

static int blobs_note(BlobName **names, const char *digest) {
        BlobName *b;

        if (!digest || !image_digest_is_valid(digest))
                return 0;
        HASH_FIND_STR(*names, digest + strlen(DIGEST_PREFIX), b);
        if (b)
                return 0;
        b = calloc(1, sizeof(*b));
        if (!b)
                return -ENOMEM;
        memcpy(b->hex, digest + strlen(DIGEST_PREFIX), DIGEST_HEX);
        HASH_ADD_STR(*names, hex, b);
        return 0;
}

/* Notes the blobs that templates with a name need for a push. */
static int note_images(Images *i, BlobName **names) {
        int r = 0;

        for (const ImageEntry *e = i->images; e && r >= 0; e = e->hh.next) {
                const char *chain = e->image.layer;
                LayerEntry *l;

                if (e->n_names == 0 || !images_config(i)->keep_blobs)
                        continue;
                r = blobs_note(names, e->image.digest);
                if (r >= 0)
                        r = blobs_note(names, e->image.config_digest);
                for (; *chain && r >= 0; chain = l->row.parent) {
                        HASH_FIND_STR(i->layers, chain, l);
                        if (!l)
                                break;
                        r = blobs_note(names, l->row.digest);
                }
        }
        return r;
}

static void names_free(BlobName **names) {
        BlobName *b, *next;

        HASH_ITER(hh, *names, b, next) {
                HASH_DEL(*names, b);
                free(b);
        }
}

/* Partial blobs are kept for a day, so that the next pull can continue. */
static bool is_waste(BlobName *names, const char *file, const struct stat *st) {
        const char *hex = file + strlen(PREFIX);
        time_t age = time(NULL) - st->st_mtime;
        bool part = strlen(hex) > DIGEST_HEX;
        char bare[DIGEST_HEX + 1] = "";
        BlobName *b;

        if (strncmp(file, PREFIX, strlen(PREFIX)) != 0 || strlen(hex) < DIGEST_HEX)
                return age > YOUNG_SEC;
        memcpy(bare, hex, DIGEST_HEX);
        HASH_FIND_STR(names, bare, b);
        return part ? age > 24 * YOUNG_SEC : !b;
}

static bool somebody_needs_them(const Images *i) {
        const Making *k;

        DL_FOREACH(i->makings, k)
                if (!k->ended && k->row.kind != MAKING_GC && k->row.kind != MAKING_COMMIT)
                        return true;
        return false;
}

/* A blob without another hard link belongs to no template. Partial blobs are kept as above. */
static void sweep_tenant(int blobs_fd, const char *name) {
        _cleanup_directory_ DIR *dir = directory_open_nofollow(blobs_fd, name);
        const struct dirent *de;
        struct stat st;

        if (!dir)
                return;
        while ((de = directory_next(dir)))
                if (de->d_name[0] != '.' && fstatat(dirfd(dir), de->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
                                is_waste(NULL, de->d_name, &st))
                        (void) unlinkat(dirfd(dir), de->d_name, 0);
        (void) unlinkat(blobs_fd, name, AT_REMOVEDIR); /* an empty one */
}

void blobs_drop_parts(Images *i, const Making *of) {
        char path[sizeof(BLOBS_OF) + ACCESS_NAME_MAX];
        _cleanup_directory_ DIR *dir = NULL;
        const struct dirent *de;
        const Making *k;

        DL_FOREACH(i->makings, k)
                if (k != of && !k->ended && strcmp(k->row.tenant, of->row.tenant) == 0)
                        return; /* the partial blobs may belong to that making */
        (void) snprintf(path, sizeof(path), BLOBS_OF "%.*s", ACCESS_NAME_MAX, of->row.tenant);
        dir = *of->row.tenant ? directory_open_nofollow(i->blobs_fd, path) : NULL;
        while (dir && (de = directory_next(dir))) {
                size_t n = strlen(de->d_name);

                if (n > strlen(PART) && strcmp(de->d_name + n - strlen(PART), PART) == 0)
                        (void) unlinkat(dirfd(dir), de->d_name, 0);
        }
}

static void sweep_tenants(Images *i) {
        _cleanup_directory_ DIR *dir = directory_open(i->blobs_fd, ".");
        const struct dirent *de;

        while ((de = directory_next(dir)))
                if (strncmp(de->d_name, BLOBS_OF, strlen(BLOBS_OF)) == 0)
                        sweep_tenant(i->blobs_fd, de->d_name);
}

uint64_t blobs_waste(Images *i, bool remove, ImagesWasteItem item, void *userdata, unsigned *ret_n) {
        _cleanup_(names_free) BlobName *names = NULL;
        _cleanup_directory_ DIR *dir = directory_open(i->blobs_fd, ".");
        uint64_t bytes = 0, left = 0;
        const struct dirent *de;
        struct stat st;
        bool busy = somebody_needs_them(i) || note_images(i, &names) < 0;

        *ret_n = 0;
        if (!dir)
                return 0;
        while ((de = directory_next(dir))) {
                if (de->d_name[0] == '.' || fstatat(i->blobs_fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
                        continue;
                if (busy || !is_waste(names, de->d_name, &st) || (remove && unlinkat(i->blobs_fd, de->d_name, 0) < 0)) {
                        left += (uint64_t) st.st_blocks * 512;
                        continue;
                }
                bytes += (uint64_t) st.st_blocks * 512;
                (*ret_n)++;
                if (item)
                        item("blob", de->d_name, (uint64_t) st.st_blocks * 512, userdata);
        }
        if (remove && !busy) {
                sweep_tenants(i);
                blobs_charge_all(i);
        }
        i->blob_bytes = left + (remove ? 0 : bytes);
        return bytes;
}
