#include "api/e2b/template/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "base/directory.h"
#include "base/fd.h"
#include "build/steps.h"
#include "config/config.h"

#define DIRECTORY   "uploads"
#define OF          "of-"
#define KEPT_SECS   (7 * 24 * 3600)
#define KEPT_FILES  1000
#define KEPT_FACTOR 4 /* times the maximum of one build */
#define PATH_SIZE   (sizeof(OF) + ACCESS_NAME_MAX + STEPS_HASH + 2)

typedef struct KeptUpload {
        LedgerEntry charge;
        E2bUploads *all;
        time_t used_at;
        UT_hash_handle hh;    /* the oldest first */
        char path[PATH_SIZE]; /* of-TENANT/HASH */
} KeptUpload;

struct E2bUploads {
        Manager *manager;
        int dirfd;
        KeptUpload *files;
};

static void kept_upload_path(const char *tenant, const char *hash, char ret[static PATH_SIZE]) {
        (void) snprintf(ret, PATH_SIZE, OF "%.*s/%.*s", ACCESS_NAME_MAX, tenant ? tenant : "", STEPS_HASH, hash);
}

static KeptUpload *kept_upload_find(const E2bUploads *u, const char *path) {
        KeptUpload *f;

        HASH_FIND_STR(u->files, path, f);
        return f;
}

static void kept_upload_free(KeptUpload *f) {
        HASH_DEL(f->all->files, f);
        ledger_release(&f->charge);
        free(f);
}

static void kept_upload_remove(KeptUpload *f) {
        (void) unlinkat(f->all->dirfd, f->path, 0);
        kept_upload_free(f);
}

/* As the youngest. */
static int kept_upload_add(E2bUploads *u, const char *tenant, const char *path, uint64_t bytes, time_t used_at) {
        KeptUpload *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        f->all = u;
        f->used_at = used_at;
        (void) snprintf(f->path, sizeof(f->path), "%s", path);
        HASH_ADD_STR(u->files, path, f);
        return ledger_charge(u->manager, &f->charge, tenant, LEDGER_UPLOAD, bytes);
}

/* Room. */

static KeptUpload *kept_upload_of(const LedgerEntry *e) {
        return (KeptUpload *) (void *) ((char *) e - offsetof(KeptUpload, charge));
}

static unsigned kept_upload_rank(const LedgerEntry *e) {
        return 1;
}

static void uploads_make_room(E2bUploads *u) {
        const time_t old = time(NULL) - KEPT_SECS;
        LedgerEntry *e;

        while (u->files && (u->files->used_at < old || HASH_COUNT(u->files) > KEPT_FILES))
                kept_upload_remove(u->files);
        while ((e = ledger_victim(u->manager, LEDGER_UPLOAD, u->manager->settings->build.context_bytes_max * KEPT_FACTOR, kept_upload_rank)))
                kept_upload_remove(kept_upload_of(e));
}

/* Use. */

static int uploads_open_directory(E2bUploads *u) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/" DIRECTORY, u->manager->config.state_dir) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        u->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return u->dirfd < 0 ? -errno : 0;
}

int e2b_uploads_open(E2bUploads *u, const char *tenant, const char *hash) {
        char path[PATH_SIZE];
        uint64_t bytes;
        KeptUpload *f;
        int fd;

        kept_upload_path(tenant, hash, path);
        f = kept_upload_find(u, path);
        if (!f)
                return -ENOENT;
        fd = openat(u->dirfd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        bytes = f->charge.amount;
        kept_upload_free(f);
        if (fd < 0)
                return -errno;
        /* Marks it as the most recently used, also for the time after a restart. */
        (void) utimensat(u->dirfd, path, /* times= */ NULL, AT_SYMLINK_NOFOLLOW);
        (void) kept_upload_add(u, tenant, path, bytes, time(NULL));
        return fd;
}

int e2b_uploads_keep(E2bUploads *u, const char *tenant, const char *hash, const Spool *body) {
        char path[PATH_SIZE], directory[PATH_SIZE], self[64];
        KeptUpload *old;
        int r;

        kept_upload_path(tenant, hash, path);
        (void) snprintf(directory, sizeof(directory), "%.*s", (int) strcspn(path, "/"), path);
        if (mkdirat(u->dirfd, directory, 0700) < 0 && errno != EEXIST)
                return -errno;
        old = kept_upload_find(u, path);
        if (old)
                kept_upload_remove(old);
        (void) snprintf(self, sizeof(self), "/proc/self/fd/%d", spool_fd(body));
        if (linkat(AT_FDCWD, self, u->dirfd, path, AT_SYMLINK_FOLLOW) < 0)
                return -errno;
        r = kept_upload_add(u, tenant, path, spool_size(body), time(NULL));
        if (r < 0)
                (void) unlinkat(u->dirfd, path, 0);
        uploads_make_room(u);
        return r;
}

/* The start. */

static int uploads_load_tenant(E2bUploads *u, const char *directory) {
        _cleanup_directory_ DIR *d = directory_open_nofollow(u->dirfd, directory);
        const char *tenant = directory + strlen(OF);
        const struct dirent *e;
        char path[PATH_SIZE];
        struct stat st;
        int r = 0;

        while (r >= 0 && d && (e = directory_next(d)))
                if (steps_hash_is_valid(e->d_name) && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0) {
                        kept_upload_path(tenant, e->d_name, path);
                        r = kept_upload_add(u, tenant, path, (uint64_t) st.st_size, st.st_mtime);
                }
        return r;
}

static int kept_upload_compare(const KeptUpload *a, const KeptUpload *b) {
        return a->used_at < b->used_at ? -1 : a->used_at > b->used_at;
}

/* Sorts the table, and the charges in the ledger, in the order of last use. */
static void uploads_sort(E2bUploads *u) {
        HASH_SORT(u->files, kept_upload_compare);
        for (KeptUpload *f = u->files; f; f = f->hh.next) {
                LedgerEntry held = f->charge;
                char tenant[ACCESS_NAME_MAX + 1];

                (void) snprintf(tenant, sizeof(tenant), "%s", ledger_tenant(&held));
                ledger_release(&f->charge);
                (void) ledger_charge(u->manager, &f->charge, tenant, LEDGER_UPLOAD, held.amount);
        }
}

static int uploads_load(E2bUploads *u) {
        _cleanup_directory_ DIR *d = NULL;
        const struct dirent *e;
        int r = uploads_open_directory(u);

        d = r < 0 ? NULL : directory_open(u->dirfd, ".");
        while (r >= 0 && d && (e = directory_next(d)))
                if (strncmp(e->d_name, OF, strlen(OF)) == 0 && strlen(e->d_name) <= strlen(OF) + ACCESS_NAME_MAX)
                        r = uploads_load_tenant(u, e->d_name);
                else if (steps_hash_is_valid(e->d_name))
                        (void) unlinkat(u->dirfd, e->d_name, 0); /* of an earlier version, which recorded no tenant */
        if (r >= 0)
                uploads_sort(u);
        return r;
}

int e2b_uploads_new(Manager *m, E2bUploads **ret, Error *reterr) {
        E2bUploads *u = calloc(1, sizeof(*u));
        int r;

        if (!u)
                return error_set(reterr, -ENOMEM, "out of memory");
        *u = (E2bUploads) { .manager = m, .dirfd = -EBADF };
        r = uploads_load(u);
        if (r < 0) {
                (void) e2b_uploads_free(u);
                return error_set(reterr, r, "cannot look at the files that were sent for builds: %s", strerror(-r));
        }
        *ret = u;
        return 0;
}

E2bUploads *e2b_uploads_free(E2bUploads *u) {
        if (!u)
                return NULL;
        while (u->files)
                kept_upload_free(u->files);
        (void) fd_close(u->dirfd);
        free(u);
        return NULL;
}
