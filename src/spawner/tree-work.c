/* tree-work.c: one operation, in a child of its own. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/title.h"
#include "spawner/tree-job.h"
#include "wire/channel.h"

typedef struct TreeWork {
        Spawner *s;
        const TreeJob *job;
        int fd;
        TreeOutcome outcome;
} TreeWork;

static int tree_work_make(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_make(&w->s->depot, t->refs, t->n_refs > 1 ? t->refs + 1 : NULL, t->bytes, &t->group, reterr);
}

static int tree_work_publish(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_publish(&w->s->depot, t->refs, t->refs + 1, w->job->written, reterr);
}

static int discard(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_remove(&w->s->depot, t->refs, reterr);
}

static int tree_work_limit(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_limit(&w->s->depot, t->refs, t->bytes, reterr);
}

static int usage(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_usage(&w->s->depot, t->refs, &w->outcome.bytes, reterr);
}

static int tree_work_verify(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_verify(&w->s->depot, t->refs, reterr);
}

static int tree_work_write_out(TreeWork *w, const TreeRequest *t, Error *reterr) {
        if (t->bytes > 0 && depot_waiting(&w->s->depot, t->refs) < t->bytes)
                return 0;
        return depot_sync(&w->s->depot, t->refs, reterr);
}

static int tree_work_swap(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_swap(&w->s->depot, t->refs, t->refs + 1, reterr);
}

static int tree_work_take(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_take(&w->s->depot, t->refs + 1, t->refs, t->bytes, reterr);
}

static int tree_work_group(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_group(&w->s->depot, &t->group, t->n_refs > 0 ? t->refs : NULL, reterr);
}

static int tree_work_shrink(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return depot_shrink_idle(&w->s->depot, &w->outcome.bytes, reterr);
}

static int tell_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        const SpawnTreeItem item = { .ref = *ref, .bytes = bytes };
        const TreeWork *w = userdata;

        return channel_send_bytes(w->fd, &item, sizeof(item), NULL, 0, /* flags= */ 0);
}

static int tree_work_list(TreeWork *w, const TreeRequest *t, Error *reterr) {
        int r = depot_each(&w->s->depot, t->refs[0].kind, tell_item, w);

        return r < 0 ? error_set(reterr, r, "cannot list trees: %m") : 0;
}

static int tree_work_run(TreeWork *w, const TreeRequest *t, Error *reterr) {
        return tree_job_run(w->s, w->job, &w->outcome.status, reterr);
}

static int (*const operations[_TREE_OPERATION_MAX])(TreeWork *w, const TreeRequest *t, Error *reterr) = {
        [TREE_MAKE] = tree_work_make,
        [TREE_PUBLISH] = tree_work_publish,
        [TREE_REMOVE] = discard,
        [TREE_LIMIT] = tree_work_limit,
        [TREE_USAGE] = usage,
        [TREE_LIST] = tree_work_list,
        [TREE_VERIFY] = tree_work_verify,
        [TREE_RUN] = tree_work_run,
        [TREE_SYNC] = tree_work_write_out,
        [TREE_SWAP] = tree_work_swap,
        [TREE_TAKE] = tree_work_take,
        [TREE_GROUP] = tree_work_group,
        [TREE_SHRINK] = tree_work_shrink,
};

/* The mount namespace is shared with the worker, so the depot is there for both. */
static void open_depot(TreeWork *w) {
        Depot d;

        depot_open(&d, w->s->options->state_dir, &w->s->options->storage);
        depot_sweep(&d);
        w->outcome.status = (int) d.backing;
        (void) snprintf(w->outcome.error.text, sizeof(w->outcome.error.text), "%s", d.reason);
}

static void do_errand(TreeWork *w) {
        const TreeRequest *t = &w->job->request;

        switch (w->job->errand) {
        case ERRAND_OPEN:
                open_depot(w);
                break;
        case ERRAND_SWEEP:
                depot_sweep(&w->s->depot);
                break;
        case ERRAND_RESIZE:
                (void) (t->bytes > 0 ? depot_grow(&w->s->depot, t->bytes, &w->outcome.error) : tree_work_shrink(w, t, &w->outcome.error));
                break;
        case ERRAND_REQUEST:
                (void) operations[t->operation](w, t, &w->outcome.error);
                break;
        }
}

/* The file system does these operations in memory: a child process would cost more than they do. */
bool tree_job_is_quick(const Spawner *s, const TreeJob *job) {
        const TreeRequest *t = &job->request;

        if (job->errand != ERRAND_REQUEST || s->depot.backing != DEPOT_BTRFS)
                return false;
        switch (t->operation) {
        case TREE_MAKE:
                return t->n_refs == 1 && t->refs[0].kind != TREE_VOLUME && /* a volume waits for the disk, as a copy does */
                       !depot_is_tight(&s->depot, &t->group);
        case TREE_SYNC:
                return t->bytes > 0 && depot_waiting(&s->depot, t->refs) < t->bytes;
        case TREE_REMOVE:
        case TREE_TAKE:
        case TREE_GROUP:
        case TREE_LIMIT:
        case TREE_USAGE:
        case TREE_VERIFY:
                return true;
        default:
                return false;
        }
}

TreeOutcome tree_job_do(Spawner *s, const TreeJob *job) {
        TreeWork w = { .s = s, .job = job, .fd = -EBADF };

        do_errand(&w);
        return w.outcome;
}

void tree_job_main(Spawner *s, const TreeJob *job, pid_t worker, int fd) {
        TreeWork w = { .s = s, .job = job, .fd = fd };

        title_set(job->errand == ERRAND_REQUEST && job->request.operation == TREE_RUN ? "cove-trees" : "cove-depot");
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != worker)
                _exit(1);
        if (job->errand == ERRAND_REQUEST || job->errand == ERRAND_RESIZE)
                depot_join(&s->depot);
        do_errand(&w);
        _exit(channel_send_bytes(fd, &w.outcome, sizeof(w.outcome), NULL, 0, /* flags= */ 0) < 0);
}
