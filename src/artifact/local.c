/* local.c: the directory. A file is named by its artifact's id. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/internal.h"
#include "base/directory.h"
#include "base/dirs.h"
#include "base/fd.h"
#include "base/log.h"
#include "artifact/rows.h"

#define SWEEP_AT_ONCE 64

int local_open_directory(Artifacts *a, Error *reterr) {
        const char *chosen = artifacts_config(a)->directory;
        char path[4096];
        int r;

        if ((size_t) snprintf(path, sizeof(path), "%s%s", chosen ? chosen : a->manager->config.state_dir, chosen ? "" : "/artifacts") >=
                        sizeof(path))
                return error_set(reterr, -ENAMETOOLONG, "artifacts.directory: the path is too long");
        r = dir_make_parents(path, 0755);
        if (r < 0)
                return error_set(reterr, r, "cannot make the directories of '%s': %s", path, strerror(-r));
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s' for artifacts: %m", path);
        a->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (a->dirfd < 0)
                return error_set(reterr, -errno, "cannot open '%s' for artifacts: %m", path);
        if (faccessat(a->dirfd, ".", W_OK | X_OK, AT_EACCESS) < 0)
                return error_set(reterr, -errno, "cannot write to '%s' for artifacts: %m", path);
        return 0;
}

int local_create(Artifacts *a, const char *id) {
        int fd = openat(a->dirfd, id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

        return fd < 0 ? -errno : fd;
}

int local_open(Artifacts *a, const char *id) {
        int fd = openat(a->dirfd, id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

void local_remove(Artifacts *a, const char *id) {
        if (unlinkat(a->dirfd, id, 0) < 0 && errno != ENOENT)
                log_warning("artifact %s: cannot remove its file, ignoring: %m", id);
}

static bool looks_like_ours(const char *name) {
        return name[0] == 'a' && strlen(name) == ARTIFACT_ID_LENGTH && strspn(name + 1, "0123456789abcdef") == ARTIFACT_ID_LENGTH - 1;
}

/* A file is known if it is in the store, or was written after this sweep began. */
static bool local_is_known(Artifacts *a, const char *id) {
        Artifact found = { 0 };
        struct stat st;
        bool known = store_artifact_find(a->manager->store, id, &found) != -ENOENT;

        artifact_done(&found);
        if (known || fstatat(a->dirfd, id, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return true;
        return (usec_t) (st.st_mtim.tv_sec + 1) * USEC_PER_SEC >= a->manager->started_at;
}

bool local_sweep(Artifacts *a) {
        const struct dirent *entry = NULL;

        if (!a->sweep)
                a->sweep = directory_open(a->dirfd, ".");
        if (!a->sweep)
                return false;
        for (unsigned i = 0; i < SWEEP_AT_ONCE; i++) {
                entry = directory_next(a->sweep);
                if (!entry)
                        break;
                if (looks_like_ours(entry->d_name) && !local_is_known(a, entry->d_name))
                        local_remove(a, entry->d_name);
        }
        if (entry)
                return true;
        (void) closedir(a->sweep);
        a->sweep = NULL;
        return false;
}
