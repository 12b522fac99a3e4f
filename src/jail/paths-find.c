#include "jail/paths-find.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "jail/content.h"

#define LINKS_MAX 40 /* the kernel's */

/* A walk along one path of the rules. No guest runs yet, so nothing changes between check and use. */
typedef struct PathsFindWalk {
        MountPlan *plan;
        const Rootfs *fs;
        const JailSpec *spec;
        RulesPathKind kind;
        char done[PATH_MAX]; /* without links; empty: "/" */
        char rest[PATH_MAX]; /* begins with '/', or is empty */
        unsigned links;
        struct stat st; /* of the last part */
} PathsFindWalk;

static int paths_find_add(MountPlan *p, MountKind kind, const char *path, mode_t mode) {
        char *copy;

        for (size_t i = 0; i < p->n; i++)
                if (strcmp(p->places[i].path, path) == 0) {
                        p->places[i].kind = MAX_OF(p->places[i].kind, kind);
                        return 0;
                }
        if (p->n >= PATHS_MOUNTS_MAX)
                return -E2BIG;
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        p->places[p->n++] = (MountPlace) { .kind = kind, .path = copy, .tree = -EBADF, .directory = S_ISDIR(mode) };
        return 0;
}

void mount_plan_done(MountPlan *p) {
        for (size_t i = 0; i < p->n; i++) {
                free(p->places[i].path);
                p->places[i].tree = fd_close(p->places[i].tree);
        }
        p->n = 0;
}

/* The target of a link ("/a/b", "../c/d") is put before the rest of the path. */
static int paths_find_follow(PathsFindWalk *w, const char *link) {
        char target[PATH_MAX], rest[PATH_MAX];
        ssize_t n = readlink(link, target, sizeof(target) - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        if (++w->links > LINKS_MAX)
                return -ELOOP;
        if ((size_t) snprintf(rest, sizeof(rest), "/%s%s", target, w->rest) >= sizeof(rest))
                return -ENAMETOOLONG;
        memcpy(w->rest, rest, sizeof(rest));
        if (target[0] == '/')
                w->done[0] = '\0';
        return 0;
}

static void step_up(PathsFindWalk *w) {
        char *slash = strrchr(w->done, '/');

        if (slash)
                *slash = '\0';
}

/* Takes the next part of the rest; false: there is none. */
static bool take_part(PathsFindWalk *w, char part[static NAME_MAX + 1]) {
        const char *start = w->rest + strspn(w->rest, "/");
        size_t n = strcspn(start, "/");

        if (n == 0 || n > NAME_MAX)
                return false;
        memcpy(part, start, n);
        part[n] = '\0';
        memmove(w->rest, start + n, strlen(start + n) + 1);
        return true;
}

/* Makes a missing path. A writable one is given to the user. A path that must not be read, or not written, is
 * made as well, empty, so that the guest cannot make it. */
static int make_missing(const PathsFindWalk *w, const char *path) {
        if (w->kind == RULES_READ_ONLY)
                return -ENOENT;
        if (mkdir(path, 0755) < 0)
                return -errno;
        return w->kind == RULES_WRITABLE ? content_give_to_user(w->fs, w->spec, path) : 0;
}

/* Walks one part further. */
static int paths_find_step(PathsFindWalk *w, const char *part) {
        char path[PATH_MAX];
        bool last;
        int r = 0;

        if (strcmp(part, ".") == 0)
                return 0;
        if (strcmp(part, "..") == 0) {
                step_up(w);
                return 0;
        }
        if ((size_t) snprintf(path, sizeof(path), "%s/%s", w->done, part) >= sizeof(path))
                return -ENAMETOOLONG;
        if (lstat(path, &w->st) < 0)
                r = errno == ENOENT ? make_missing(w, path) : -errno;
        if (r >= 0 && lstat(path, &w->st) < 0)
                r = -errno;
        if (r < 0)
                return r;

        last = w->rest[strspn(w->rest, "/")] == '\0';
        if (S_ISLNK(w->st.st_mode)) {
                r = paths_find_add(w->plan, MOUNT_PIN, path, w->st.st_mode);
                return r < 0 ? r : paths_find_follow(w, path);
        }
        memcpy(w->done, path, sizeof(path));
        if (last)
                return 0;
        return S_ISDIR(w->st.st_mode) ? paths_find_add(w->plan, MOUNT_PIN, path, w->st.st_mode) : -ENOTDIR;
}

/* Devices, terminals and processes are the sandbox's own; without them nothing runs. */
static bool is_untouchable(const char *path) {
        return path[0] == '\0' || path_is_below(path, "/proc") || path_is_below(path, "/sys") ||
               (path_is_below(path, "/dev") && strcmp(path, "/dev/shm") != 0);
}

static int paths_find_walk(PathsFindWalk *w, const char *path) {
        char part[NAME_MAX + 1];

        (void) snprintf(w->rest, sizeof(w->rest), "%s", path);
        while (take_part(w, part)) {
                int r = paths_find_step(w, part);
                if (r < 0)
                        return r;
        }
        if (is_untouchable(w->done))
                return -EPERM;
        return stat(w->done, &w->st) < 0 ? -errno : 0;
}

static const char *const kind_names[_RULES_PATH_KIND_MAX] = {
        [RULES_READ_ONLY] = "read-only",
        [RULES_READ_ONLY_IF_THERE] = "read-only",
        [RULES_WRITABLE] = "writable",
        [RULES_DENIED] = "denied",
};

static const MountKind kinds[_RULES_PATH_KIND_MAX] = {
        [RULES_READ_ONLY] = MOUNT_READ_ONLY,
        [RULES_READ_ONLY_IF_THERE] = MOUNT_READ_ONLY,
        [RULES_WRITABLE] = MOUNT_WRITABLE,
        [RULES_DENIED] = MOUNT_DENIED,
};

static int paths_find(MountPlan *p, const Rootfs *fs, const JailSpec *spec, RulesPathKind kind, const char *path, Error *reterr) {
        PathsFindWalk w = { .plan = p, .fs = fs, .spec = spec, .kind = kind };
        int r = paths_find_walk(&w, path);

        if (r == -ENOENT)
                return error_set(reterr, r, "the %s path '%s' is not there", kind_names[kind], path);
        if (r == -EPERM)
                return error_set(reterr, r, "the %s path '%s' leads to '%s', which belongs to the sandbox itself", kind_names[kind],
                                path, w.done[0] ? w.done : "/");
        if (r >= 0)
                r = paths_find_add(p, kinds[kind], w.done, w.st.st_mode);
        return r < 0 ? error_set(reterr, r, "%s path '%s'", kind_names[kind], path) : 0;
}

static int paths_find_compare(const void *a, const void *b) {
        return strcmp(((const MountPlace *) a)->path, ((const MountPlace *) b)->path);
}

static bool is_below_kind(const MountPlan *p, const char *path, MountKind kind) {
        for (size_t i = 0; i < p->n; i++)
                if (p->places[i].kind == kind && strcmp(p->places[i].path, path) != 0 && path_is_below(path, p->places[i].path))
                        return true;
        return false;
}

/* A pin is needless where nothing can be renamed; any place is needless below a denied one. */
static bool is_needless(const MountPlan *p, const MountPlace *place, bool sealed) {
        return is_below_kind(p, place->path, MOUNT_DENIED) ||
               (place->kind == MOUNT_PIN && sealed && !is_below_kind(p, place->path, MOUNT_WRITABLE));
}

static void drop_needless(MountPlan *p, bool sealed) {
        bool needless[PATHS_MOUNTS_MAX];
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                needless[i] = is_needless(p, p->places + i, sealed);
        for (size_t i = 0; i < p->n; i++) {
                if (needless[i])
                        free(p->places[i].path);
                else
                        p->places[n++] = p->places[i];
        }
        p->n = n;
}

int mount_plan_make(MountPlan *p, const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        RulesPathKind kind;

        for (const char *path = NULL; (path = rules_next_path(spec->rules, path, &kind));) {
                int r = paths_find(p, fs, spec, kind, path, reterr);
                if (r < 0)
                        return r;
        }
        drop_needless(p, spec->rules->flags & RULES_SEALED);
        qsort(p->places, p->n, sizeof(MountPlace), paths_find_compare);
        return 0;
}
