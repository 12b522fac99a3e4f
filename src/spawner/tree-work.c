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

typedef struct Work {
        Spawner *s;
        const TreeJob *job;
        int fd;
        TreeOutcome outcome;
} Work;

static int make(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_make(&w->s->depot, t->refs, t->n_refs > 1 ? t->refs + 1 : NULL, t->bytes, reterr);
}

static int publish(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_publish(&w->s->depot, t->refs, t->refs + 1, w->job->written, reterr);
}

static int discard(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_remove(&w->s->depot, t->refs, reterr);
}

static int limit(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_limit(&w->s->depot, t->refs, t->bytes, reterr);
}

static int usage(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_usage(&w->s->depot, t->refs, &w->outcome.bytes, reterr);
}

static int verify(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_verify(&w->s->depot, t->refs, reterr);
}

static int write_out(Work *w, const TreeRequest *t, Error *reterr) {
        if (t->bytes > 0 && depot_waiting(&w->s->depot, t->refs) < t->bytes)
                return 0;
        return depot_sync(&w->s->depot, t->refs, reterr);
}

static int swap(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_swap(&w->s->depot, t->refs, t->refs + 1, reterr);
}

static int take(Work *w, const TreeRequest *t, Error *reterr) {
        return depot_take(&w->s->depot, t->refs + 1, t->refs, t->bytes, reterr);
}

static int tell_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        const SpawnTreeItem item = { .ref = *ref, .bytes = bytes };
        const Work *w = userdata;

        return channel_send_bytes(w->fd, &item, sizeof(item), NULL, 0, /* flags= */ 0);
}

static int list(Work *w, const TreeRequest *t, Error *reterr) {
        int r = depot_each(&w->s->depot, t->refs[0].kind, tell_item, w);

        return r < 0 ? error_set(reterr, r, "cannot list trees: %m") : 0;
}

static int run(Work *w, const TreeRequest *t, Error *reterr) {
        return tree_job_run(w->s, w->job, &w->outcome.status, reterr);
}

static int (*const operations[_TREE_OPERATION_MAX])(Work *w, const TreeRequest *t, Error *reterr) = {
        [TREE_MAKE]    = make,
        [TREE_PUBLISH] = publish,
        [TREE_REMOVE]  = discard,
        [TREE_LIMIT]   = limit,
        [TREE_USAGE]   = usage,
        [TREE_LIST]    = list,
        [TREE_VERIFY]  = verify,
        [TREE_RUN]     = run,
        [TREE_SYNC]    = write_out,
        [TREE_SWAP]    = swap,
        [TREE_TAKE]    = take,
};

/* In the mount namespace that we share with the worker: it is there for all of us. */
static void open_depot(Work *w) {
        Depot d;

        depot_open(&d, w->s->options->state_dir, w->s->options->storage_bytes);
        depot_sweep(&d);
        w->outcome.status = (int) d.backing;
        (void) snprintf(w->outcome.error.text, sizeof(w->outcome.error.text), "%s", d.reason);
}

static void do_errand(Work *w) {
        const TreeRequest *t = &w->job->request;

        switch (w->job->errand) {
        case ERRAND_OPEN:
                open_depot(w);
                break;
        case ERRAND_SWEEP:
                depot_sweep(&w->s->depot);
                break;
        case ERRAND_REQUEST:
                (void) operations[t->operation](w, t, &w->outcome.error);
                break;
        }
}

/* Those that the file system does in its memory: a child would cost more than they do. */
bool tree_job_is_quick(const Spawner *s, const TreeJob *job) {
        const TreeRequest *t = &job->request;

        if (job->errand != ERRAND_REQUEST || s->depot.backing != DEPOT_BTRFS)
                return false;
        switch (t->operation) {
        case TREE_MAKE:
                return t->n_refs == 1 && t->refs[0].kind != TREE_VOLUME && /* which waits for the disk, as a copy does */
                       !depot_is_tight(&s->depot);
        case TREE_SYNC:
                return t->bytes > 0 && depot_waiting(&s->depot, t->refs) < t->bytes;
        case TREE_REMOVE:
        case TREE_TAKE:
        case TREE_LIMIT:
        case TREE_USAGE:
        case TREE_VERIFY:
                return true;
        default:
                return false;
        }
}

TreeOutcome tree_job_do(Spawner *s, const TreeJob *job) {
        Work w = { .s = s, .job = job, .fd = -EBADF };

        do_errand(&w);
        return w.outcome;
}

void tree_job_main(Spawner *s, const TreeJob *job, pid_t worker, int fd) {
        Work w = { .s = s, .job = job, .fd = fd };

        title_set(job->errand == ERRAND_REQUEST && job->request.operation == TREE_RUN ? "cove-trees" : "cove-depot");
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != worker)
                _exit(1);
        if (job->errand == ERRAND_REQUEST)
                depot_join(&s->depot);
        do_errand(&w);
        _exit(channel_send_bytes(fd, &w.outcome, sizeof(w.outcome), NULL, 0, /* flags= */ 0) < 0);
}
