#include "tree/delta.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/attributes.h"
#include "tree/compare.h"
#include "tree/delta-disk.h"
#include "tree/listing.h"
#include "tree/place.h"

#define DEPTH_MAX 2048

/* How names in a directory are interpreted. */
typedef struct DeltaRules {
        bool upper;       /* of an overlay: has whiteouts */
        bool x_whiteouts; /* also whiteouts as attributes */
        bool all;         /* missing files are reported as deleted; else they are not reported */
        bool host_root;   /* root/ of a disk on the host */
} DeltaRules;

/* A directory on the path of the walk. An unchanged one is reported if something below it has changed. */
typedef struct DeltaLevel {
        struct DeltaLevel *above;
        const DeltaSide *now, *before;
        size_t n_path;
        bool told;
} DeltaLevel;

typedef struct TreeDeltaWalk {
        const DeltaWalk *w;
        int disk, base; /* descriptors of the disk and its base; -EBADF: no disk */
        bool on_host;
        unsigned depth;
        size_t n_path;
        char path[PATH_MAX];
} TreeDeltaWalk;

const char *delta_kind_name(DeltaKind k) {
        static const char *const names[_DELTA_KIND_MAX] = {
                [DELTA_ADDED] = "added", [DELTA_MODIFIED] = "modified", [DELTA_DELETED] = "deleted", [DELTA_PASSAGE] = "unchanged",
        };

        return names[k];
}

const char *delta_type_name(mode_t mode) {
        return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "other";
}

static int delta_fail(const TreeDeltaWalk *w, int r, Error *reterr) {
        return error_set(reterr, r, "'%.300s': %m", w->path);
}

static bool delta_wants(const TreeDeltaWalk *w) {
        return !w->w->options || tree_options_wants(w->w->options, w->path);
}

static bool leads(const TreeDeltaWalk *w) {
        return !w->w->options || tree_options_leads_to(w->w->options, w->path);
}

/* Reports the directories above, the outermost first, except the top. */
static int tell_passage(TreeDeltaWalk *w, DeltaLevel *l, Error *reterr) {
        char *end = l ? w->path + l->n_path : NULL, cut;
        int r;

        if (!l || l->told || l->n_path == 0)
                return 0;
        r = tell_passage(w, l->above, reterr);
        if (r < 0)
                return r;
        cut = *end;
        *end = '\0';
        r = w->w->function(&(Delta) { .kind = DELTA_PASSAGE, .path = w->path, .now = l->now, .before = l->before }, w->w->userdata, reterr);
        *end = cut;
        l->told = true;
        return r;
}

static int delta_tell(TreeDeltaWalk *w, DeltaLevel *above, DeltaKind kind, const DeltaSide *now, const DeltaSide *before, bool same_content, Error *reterr) {
        int r = tell_passage(w, above, reterr);

        if (r < 0)
                return r;
        return w->w->function(&(Delta) { .kind = kind, .path = w->path, .now = now, .before = before, .same_content = same_content },
                        w->w->userdata, reterr);
}

static int delta_push(TreeDeltaWalk *w, const char *name, Error *reterr) {
        size_t n = strlen(name);

        if (w->n_path + n + 2 > sizeof(w->path))
                return error_set(reterr, -ENAMETOOLONG, "'%.200s…' is deeper than names can be long", w->path);
        if (w->n_path > 0)
                w->path[w->n_path++] = '/';
        memcpy(w->path + w->n_path, name, n + 1);
        w->n_path += n;
        return 0;
}

static void delta_pop(TreeDeltaWalk *w, size_t n) {
        w->n_path = n;
        w->path[n] = '\0';
}

static int delta_look(int dirfd, const char *name, DeltaSide *ret) {
        *ret = (DeltaSide) { .dirfd = dirfd, .name = name };
        if (dirfd < 0)
                return -ENOENT;
        return fstatat(dirfd, name, &ret->st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static bool delta_is_whiteout(const DeltaSide *s, const DeltaRules *rules) {
        _cleanup_close_ int fd = -EBADF;

        if (!rules->upper)
                return false;
        if (S_ISCHR(s->st.st_mode))
                return s->st.st_rdev == makedev(0, 0);
        if (!rules->x_whiteouts || !S_ISREG(s->st.st_mode) || s->st.st_size != 0)
                return false;
        fd = delta_open(s);
        return fd >= 0 && attribute_is(fd, "user.overlay.whiteout", NULL);
}

static int walk_directory(TreeDeltaWalk *w, int now_fd, int before_fd, const DeltaRules *rules, DeltaLevel *level, Error *reterr);

static int delta_open_directory(const DeltaSide *s) {
        int fd = openat(s->dirfd, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static int overlay_place(TreeDeltaWalk *w, DeltaLevel *level, Error *reterr);

static int go_into(TreeDeltaWalk *w, const DeltaSide *now, const DeltaSide *before, const DeltaRules *rules, DeltaLevel *level, Error *reterr) {
        _cleanup_close_ int now_fd = delta_open_directory(now), before_fd = -EBADF;
        DeltaRules inner = *rules;
        int r;

        if (now_fd == -ENOENT)
                return 0; /* gone meanwhile */
        if (now_fd < 0)
                return delta_fail(w, now_fd, reterr);
        if (before && before->dirfd >= 0 && S_ISDIR(before->st.st_mode)) {
                before_fd = delta_open_directory(before);
                if (before_fd < 0)
                        return delta_fail(w, before_fd, reterr);
        }
        if (rules->upper) {
                inner.all = rules->all || attribute_is(now_fd, "user.overlay.opaque", "y");
                inner.x_whiteouts = attribute_is(now_fd, "user.overlay.opaque", "x");
        }
        if (w->depth == DEPTH_MAX)
                return delta_fail(w, -ELOOP, reterr);
        w->depth++;
        r = rules->host_root ? overlay_place(w, level, reterr) : 0;
        if (r == 0)
                r = walk_directory(w, now_fd, before_fd, &inner, level, reterr);
        w->depth--;
        return r;
}

/* Compares both sides and reports a difference. before may be NULL: the entry is an addition. */
static int delta_compare(TreeDeltaWalk *w, const DeltaSide *now, const DeltaSide *before, bool unchanged, const DeltaRules *rules, DeltaLevel *above, Error *reterr) {
        DeltaLevel level = { .above = above, .now = now, .before = before, .n_path = w->n_path };
        int same = unchanged ? SAME : before ? compare_sides(now, before, w->w->count) : DIFFERENT, r = 0;
        DeltaKind kind = before ? DELTA_MODIFIED : DELTA_ADDED;

        if (same == -ENOENT || same == -ESTALE)
                return 0; /* it has changed or disappeared: the disk is in use */
        if (same < 0)
                return delta_fail(w, same, reterr);
        if (same != SAME && delta_wants(w)) {
                level.told = true;
                r = delta_tell(w, above, kind, now, before, same == SAME_CONTENT, reterr);
        }
        if (r < 0 || !S_ISDIR(now->st.st_mode) || !leads(w))
                return r;
        return go_into(w, now, before && S_ISDIR(before->st.st_mode) ? before : NULL, rules, &level, reterr);
}

static int delta_visit(TreeDeltaWalk *w, int now_fd, int before_fd, const char *name, const DeltaRules *rules, DeltaLevel *above, Error *reterr) {
        DeltaSide now, before, made;
        DiskJudgement j = DISK_GUEST;
        bool is, was, unchanged = false;
        int r = delta_look(now_fd, name, &now);

        if (r < 0 && r != -ENOENT)
                return delta_fail(w, r, reterr);
        is = r >= 0 && !delta_is_whiteout(&now, rules);
        if (r < 0 && !rules->all && !rules->host_root)
                return 0;
        r = delta_look(before_fd, name, &before);
        if (r < 0 && r != -ENOENT)
                return delta_fail(w, r, reterr);
        was = r >= 0;

        if (w->base >= 0)
                j = disk_judge(w->base, w->on_host, w->on_host && rules->host_root, w->path, is ? &now : NULL, &made);
        if (j == DISK_NOTHING)
                return 0;
        if (j == DISK_BEFORE) {
                was = true;
                before = made;
        }
        unchanged = j == DISK_OURS && !was;
        if (is)
                return delta_compare(w, &now, was ? &before : NULL, unchanged, rules, above, reterr);
        return was && leads(w) ? delta_tell(w, above, DELTA_DELETED, NULL, &before, false, reterr) : 0;
}

static int add_furniture(const char *name, void *userdata) {
        return listing_add(userdata, name);
}

static int walk_directory(TreeDeltaWalk *w, int now_fd, int before_fd, const DeltaRules *rules, DeltaLevel *level, Error *reterr) {
        _cleanup_listing_ TreeListing names = { 0 };
        const size_t n_path = w->n_path;
        int r = listing_add_directory(&names, now_fd);

        if (r >= 0 && rules->all && before_fd >= 0)
                r = listing_add_directory(&names, before_fd);
        if (r >= 0 && rules->host_root)
                r = disk_each_furniture(w->path, add_furniture, &names);
        if (r < 0)
                return delta_fail(w, r, reterr);
        listing_sort(&names);
        for (size_t i = 0; i < names.n; i++) {
                r = delta_push(w, names.names[i], reterr);
                if (r >= 0 && leads(w))
                        r = delta_visit(w, now_fd, before_fd, names.names[i], rules, level, reterr);
                delta_pop(w, n_path);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Returns 1 if an overlay is mounted on this directory; then the overlay's upper was walked instead. */
static int overlay_place(TreeDeltaWalk *w, DeltaLevel *level, Error *reterr) {
        const DeltaRules rules = { .upper = true };
        _cleanup_close_ int upper = -EBADF, lower = -EBADF;
        char name[64];
        int r;

        if (!disk_upper_name(w->path, name, sizeof(name)))
                return 0;
        upper = openat(w->disk, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (upper < 0)
                return errno == ENOENT ? 0 : delta_fail(w, -errno, reterr);
        lower = openat(w->base, w->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (lower < 0)
                return delta_fail(w, -errno, reterr);
        r = walk_directory(w, upper, lower, &rules, level, reterr);
        return r < 0 ? r : 1;
}

static int delta_walk(const DeltaWalk *w, int now, int before, const DeltaRules *rules, int disk, int base, Error *reterr) {
        _cleanup_free_ TreeDeltaWalk *walk_state = calloc(1, sizeof(*walk_state));
        DeltaLevel top = { 0 };

        if (!walk_state)
                return error_set(reterr, -ENOMEM, "out of memory");
        walk_state->w = w;
        walk_state->disk = disk;
        walk_state->base = base;
        walk_state->on_host = rules->host_root;
        return walk_directory(walk_state, now, before, rules, &top, reterr);
}

int delta_trees(const DeltaWalk *w, int now, int before, Error *reterr) {
        return delta_walk(w, now, before, &(DeltaRules) { .all = true }, -EBADF, -EBADF, reterr);
}

int delta_upper(const DeltaWalk *w, int upper, int lower, Error *reterr) {
        _cleanup_close_ int top = openat(upper, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (top < 0)
                return error_set(reterr, -errno, "cannot look into the upper directory: %m");
        return delta_walk(w, top, lower, &(DeltaRules) { .upper = true, .all = attribute_is(top, "user.overlay.opaque", "y") }, -EBADF, -EBADF, reterr);
}

int delta_disk(const DeltaWalk *w, int disk, int base, Error *reterr) {
        _cleanup_close_ int root = openat(disk, "upper-root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (root >= 0)
                return delta_walk(w, root, base, &(DeltaRules) { .upper = true }, disk, base, reterr);
        root = openat(disk, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (root < 0)
                return error_set(reterr, -errno, "this is no disk of a sandbox: there is neither upper-root nor root in it");
        return delta_walk(w, root, -EBADF, &(DeltaRules) { .host_root = true }, disk, base, reterr);
}
