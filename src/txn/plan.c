#include "txn/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"

#define PERMISSIONS 07777

typedef struct Planning {
        const Txn *t;
        int dir_fd;
        const CommitOptions *o;
        const Journal *journal;
        TxnPlan *plan;
        Error *reterr;
} Planning;

void plan_done(TxnPlan *p) {
        for (size_t i = 0; i < p->n; i++)
                free(p->steps[i].path);
        free(p->steps);
        *p = (TxnPlan) { 0 };
}

static uint64_t plan_nsec_of(const struct timespec *t) {
        return t->tv_sec < 0 ? 0 : (uint64_t) t->tv_sec * UINT64_C(1000000000) + (uint64_t) t->tv_nsec;
}

static void clash(Planning *p, const char *path, const struct stat *now, const char *why) {
        if (p->o->force || journal_has(p->journal, path, now))
                return;
        p->plan->conflicts++;
        if (p->o->conflict)
                p->o->conflict(path, why, p->o->userdata);
}

/* For a directory only its contents count: entries that others have added do not conflict, unless the directory is to
 * be removed or replaced. */
static bool changed_since(const Planning *p, const Change *c) {
        const struct stat *st = &c->before;

        if (!S_ISDIR(st->st_mode))
                return plan_nsec_of(&st->st_ctim) > p->t->since_nsec;
        if (S_ISDIR(c->after.st_mode))
                return plan_nsec_of(&st->st_ctim) > p->t->since_nsec;
        return plan_nsec_of(&st->st_mtim) > p->t->since_nsec;
}

/* A file that the guest changed is gone, or the guest gave it another name. The directory tells which: if it
 * has not changed on the host, nothing was removed there. */
static bool parent_changed(const Planning *p, const char *path) {
        const char *name;
        _cleanup_close_ int parent = beneath_open_parent(p->dir_fd, path, &name);
        struct stat st;

        if (parent < 0)
                return false; /* its directory is new as well, and is checked itself */
        return fstat(parent, &st) == 0 && plan_nsec_of(&st.st_mtim) > p->t->since_nsec;
}

static void look_for_clash(Planning *p, const Change *c) {
        if (c->kind == CHANGE_ADDED) {
                if (c->copied && !c->implied && parent_changed(p, c->path))
                        clash(p, c->path, &c->before, "was deleted on the host");
                return;
        }
        if (changed_since(p, c))
                clash(p, c->path, &c->before, S_ISDIR(c->before.st_mode) && c->kind == CHANGE_DELETED ? "has new contents on the host" : "was changed on the host");
}

static bool covers(const Step *s, const char *path) {
        size_t n = strlen(s->path);

        return !s->directory_mode && strncmp(path, s->path, n) == 0 && path[n] == '/';
}

/* Steps are in the order of the walk ("a", "a/c", "a.b"), not in that of strings ("a", "a.b", "a/c"): paths
 * below a step follow it without another step between. */
static bool is_covered(const TxnPlan *plan, const char *path) {
        return plan->n > 0 && covers(plan->steps + plan->n - 1, path);
}

static int txn_plan_add_step(Planning *p, const Change *c) {
        TxnPlan *plan = p->plan;
        char *path;

        if (ARRAY_RESERVE(plan->steps, plan->room, plan->n + 1) < 0)
                return -ENOMEM;
        path = strdup(c->path);
        if (!path)
                return -ENOMEM;
        plan->steps[plan->n++] = (Step) {
                .path = path,
                .kind = c->kind,
                .before = c->before,
                .after = c->after,
                .directory_mode = c->kind == CHANGE_MODIFIED && S_ISDIR(c->before.st_mode) && S_ISDIR(c->after.st_mode),
        };
        return 0;
}

static bool can_be_made(mode_t mode) {
        return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

static int plan_one(const Change *c, void *userdata) {
        Planning *p = userdata;

        if (!change_is_wanted(c->path, p->o->paths, p->o->n_paths))
                return 0;
        if (c->kind != CHANGE_DELETED && !can_be_made(c->after.st_mode)) {
                if (!is_covered(p->plan, c->path)) { /* otherwise the copy of the covering step reports it */
                        p->plan->left_out++;
                        if (p->o->left_out)
                                p->o->left_out(c->path, "is neither a file nor a directory nor a link", p->o->userdata);
                }
                return 0;
        }
        look_for_clash(p, c);
        p->plan->count.kinds[c->kind]++;
        p->plan->count.total++;
        if (c->kind != CHANGE_DELETED)
                p->plan->bytes += (uint64_t) c->after.st_blocks * 512;
        return is_covered(p->plan, c->path) ? 0 : txn_plan_add_step(p, c);
}

int plan_make(const Txn *t, int dir_fd, int upper_fd, const CommitOptions *o, const Journal *journal, TxnPlan *ret, Error *reterr) {
        Planning p = { .t = t, .dir_fd = dir_fd, .o = o, .journal = journal, .plan = ret, .reterr = reterr };

        return changes_walk(dir_fd, upper_fd, plan_one, &p, reterr);
}
