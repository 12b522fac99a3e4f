#include "spawner/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "spawner/tree-job.h"
#include "wire/channel.h"

#define WAITING_MAX 4096
#define SWEEPS_MAX 8 /* attempts; a sweep that always dies must not hold up the rest */
#define OTHERS_MAX  (TREES_RUNNING_MAX - TREE_RUNS_MAX - 1) /* one place is for a resize */
#define ITEMS_TURN  256 /* in a row, before other work has a turn */

static bool is_run(const TreeJob *j) {
        return j->errand == ERRAND_REQUEST && j->request.operation == TREE_RUN;
}

static TreeJob *trees_job_free(TreeJob *j) {
        for (size_t i = 0; i < TREE_RUN_FDS; i++)
                (void) fd_close(j->fds[i]);
        (void) fd_close(j->fd);
        free(j);
        return NULL;
}

static TreeJob *job_new(TreeErrand errand, const SpawnMessage *m) {
        TreeJob *j = calloc(1, sizeof(*j));

        if (!j)
                return NULL;
        *j = (TreeJob) { .errand = errand, .fd = -EBADF, .fds = { -EBADF, -EBADF, -EBADF, -EBADF } };
        if (m) {
                j->request = m->tree;
                j->serial = m->serial;
        }
        return j;
}

static int trees_compare_names(const void *a, const void *b) {
        return strcmp(a, b);
}

static bool names_scratch(const TreeJob *j) {
        return j->errand == ERRAND_REQUEST && j->request.refs[0].kind == TREE_SCRATCH &&
               (j->request.operation == TREE_PUBLISH || j->request.operation == TREE_REMOVE);
}

/* Records a scratch tree that a program may have written to, until it is published or removed. The record is lost
 * with this process, and so is scratch. False: no memory. */
static bool note_written(Spawner *s, TreeJob *j) {
        const TreeRef *refs = j->request.refs;

        for (size_t i = 0; is_run(j) && i < j->request.n_refs; i++) {
                char *name, **place;

                if (refs[i].kind != TREE_SCRATCH || !refs[i].writable)
                        continue;
                name = strdup(refs[i].name);
                place = name ? tsearch(name, &s->trees_written, trees_compare_names) : NULL;
                if (!place || *place != name)
                        free(name);
                if (!place)
                        return false;
        }
        j->written = names_scratch(j) && tfind(refs[0].name, &s->trees_written, trees_compare_names);
        return true;
}

/* Called when no such scratch exists any more. */
static void forget_written(Spawner *s, const TreeJob *j, const TreeOutcome *o) {
        char **place, *name;

        if (!names_scratch(j) || (o->error.code < 0 && o->error.code != -EEXIST))
                return;
        place = tfind(j->request.refs[0].name, &s->trees_written, trees_compare_names);
        if (!place)
                return;
        name = *place;
        (void) tdelete(name, &s->trees_written, trees_compare_names);
        free(name);
}

/* A request goes behind those that wait already; the depot's own errands go before all requests. */
static void job_hook_in(Spawner *s, TreeJob *j) {
        TreeJob **place = &s->tree_jobs;

        while (*place && j->errand == ERRAND_REQUEST)
                place = &(*place)->next;
        j->next = *place;
        *place = j;
        s->n_tree_jobs++;
}

static TreeJob *job_take(Spawner *s, TreeJob **place) {
        TreeJob *j = *place;

        *place = j->next;
        s->n_tree_jobs--;
        if (j->pid > 0)
                s->n_tree_running[is_run(j)]--;
        return j;
}

static int job_start(Spawner *s, TreeJob *j, Error *reterr) {
        pid_t worker = getpid();
        int fds[2], r;

        r = channel_pair(fds);
        if (r < 0)
                return error_set(reterr, r, "cannot make a channel: %m");
        j->pid = fork();
        if (j->pid == 0) {
                (void) fd_close(fds[0]);
                tree_job_main(s, j, worker, fds[1]);
        }
        r = j->pid < 0 ? -errno : 0;
        (void) fd_close(fds[1]);
        if (r < 0) {
                j->pid = 0;
                (void) fd_close(fds[0]);
                return error_set(reterr, r, "cannot fork: %m");
        }
        j->fd = fds[0];
        s->n_tree_running[is_run(j)]++;
        for (size_t i = 0; i < TREE_RUN_FDS; i++)
                j->fds[i] = fd_close(j->fds[i]);
        return 0;
}

static void trees_answer(Spawner *s, const TreeJob *j, const TreeOutcome *o) {
        if (o->error.code < 0)
                spawner_answer_failed(s, j->serial, &o->error);
        else if (j->request.operation == TREE_LIST)
                spawner_answer(s, &(SpawnMessage) { .type = SPAWN_END, .serial = j->serial });
        else
                spawner_answer(s, &(SpawnMessage) {
                        .type = SPAWN_DONE,
                        .serial = j->serial,
                        .done = { .status = o->status, .bytes = o->bytes },
                });
}

static void trees_answer_error(Spawner *s, const TreeJob *j, int r, const char *text) {
        TreeOutcome o = { 0 };

        (void) error_set(&o.error, r, "%s", text);
        trees_answer(s, j, &o);
}

static bool may_start(const Spawner *s, const TreeJob *j) {
        if (j->errand != ERRAND_REQUEST)
                return true;
        return !s->depot_busy && s->n_tree_running[is_run(j)] < (is_run(j) ? TREE_RUNS_MAX : OTHERS_MAX);
}

static void do_here(Spawner *s, TreeJob *j) {
        const TreeOutcome outcome = tree_job_do(s, j);

        forget_written(s, j, &outcome);
        trees_answer(s, j, &outcome);
        (void) trees_job_free(j);
}

static void start_some(Spawner *s) {
        for (TreeJob **place = &s->tree_jobs; *place;) {
                TreeJob *j = *place;
                Error error = { 0 };

                if (j->pid == 0 && may_start(s, j) && tree_job_is_quick(s, j)) {
                        do_here(s, job_take(s, place));
                        continue;
                }
                if (j->pid > 0 || !may_start(s, j) || job_start(s, j, &error) >= 0) {
                        place = &j->next;
                        continue;
                }
                (void) job_take(s, place);
                if (j->errand == ERRAND_REQUEST)
                        trees_answer_error(s, j, error.code, error.text);
                else if (j->errand != ERRAND_RESIZE)
                        s->depot_busy = false; /* the next request that needs the depot tries again */
                (void) trees_job_free(j);
        }
}

static void send_errand(Spawner *s, TreeErrand errand) {
        TreeJob *j = job_new(errand, /* m= */ NULL);

        if (!j)
                return;
        s->depot_busy = true;
        job_hook_in(s, j);
}

void tree_jobs_resize(Spawner *s, uint64_t bytes) {
        TreeJob *j = job_new(ERRAND_RESIZE, /* m= */ NULL);

        if (!j)
                return;
        j->request.bytes = bytes;
        job_hook_in(s, j);
        start_some(s);
}

/* The child has opened the depot in our namespace, so it can be found there. */
static void depot_opened(Spawner *s, const TreeOutcome *o) {
        s->depot_busy = false;
        depot_done(&s->depot);
        depot_find(&s->depot, s->options->state_dir, &s->options->storage);
        if (s->depot.backing == (DepotBacking) o->status || s->depot.reason[0] == '\0')
                (void) snprintf(s->depot.reason, sizeof(s->depot.reason), "%.*s", (int) sizeof(s->depot.reason) - 1, o->error.text);
        s->depot_tried = s->depot.backing != DEPOT_NONE;
        log_info("depot: %s%s%s", depot_backing_name(s->depot.backing), s->depot.reason[0] ? ": " : "", s->depot.reason);
        tree_room_begin(s);
}

static void trees_finish(Spawner *s, const TreeJob *j, const TreeOutcome *o) {
        switch (j->errand) {
        case ERRAND_OPEN:
                depot_opened(s, o);
                break;
        case ERRAND_SWEEP:
                s->depot_busy = false;
                break;
        case ERRAND_RESIZE:
                tree_room_resized(s, j, &o->error);
                break;
        case ERRAND_REQUEST:
                forget_written(s, j, o);
                trees_answer(s, j, o);
                break;
        }
}

_Static_assert(sizeof(TreeOutcome) != sizeof(SpawnTreeItem), "told apart by their size");

/* True after the last message of a job. */
static bool job_hear(Spawner *s, TreeJob *j) {
        union {
                TreeOutcome outcome;
                SpawnTreeItem item;
        } told;

        for (int i = 0; i < ITEMS_TURN && outbox_is_empty(&s->outbox); i++) {
                size_t size, n_fds;
                int r = channel_receive_bytes(j->fd, MSG_DONTWAIT, &told, sizeof(told), &size, NULL, 0, &n_fds);

                if (error_is_shortage(r))
                        return false;
                if (r == 1 && size == sizeof(told.item))
                        spawner_answer(s, &(SpawnMessage) { .type = SPAWN_TREE_ITEM, .serial = j->serial, .tree_item = told.item });
                else if (r == 1 && size == sizeof(told.outcome)) {
                        trees_finish(s, j, &told.outcome);
                        return true;
                } else {
                        TreeOutcome died = { .status = DEPOT_NONE };

                        depot_clean_after(&s->depot, j->pid);
                        s->sweep_again = j->errand == ERRAND_SWEEP && s->n_sweeps_died++ < SWEEPS_MAX;
                        if (j->stopped)
                                (void) error_set(&died.error, -EBUSY, "the depot stays as large as it was, since it is being written to: try again later");
                        else
                                (void) error_set(&died.error, -EIO, "the process that worked on the tree died");
                        trees_finish(s, j, &died);
                        return true;
                }
        }
        return false;
}

/* Returns the running jobs, in their order. While answers wait to be sent, no job is read. */
size_t tree_jobs_poll(const Spawner *s, struct pollfd ret[static TREES_RUNNING_MAX]) {
        size_t n = 0;

        for (const TreeJob *j = s->tree_jobs; j && n < TREES_RUNNING_MAX && outbox_is_empty(&s->outbox); j = j->next)
                if (j->pid > 0)
                        ret[n++] = (struct pollfd) { .fd = j->fd, .events = POLLIN };
        return n;
}

void tree_jobs_handle(Spawner *s, const struct pollfd *fds, size_t n) {
        TreeJob **place = &s->tree_jobs;
        bool some = false;

        for (size_t i = 0; i < n && *place;) {
                TreeJob *j = *place;

                if (j->pid > 0 && fds[i++].revents && job_hear(s, j)) {
                        (void) trees_job_free(job_take(s, place));
                        some = true;
                } else
                        place = &j->next;
        }
        if (s->sweep_again) { /* before any request: a tree to be swept must not be mistaken for one of a request */
                s->sweep_again = false;
                send_errand(s, ERRAND_SWEEP);
        }
        if (some)
                start_some(s);
}

/* A waiting RUN has not begun; a running one dies with the process that waits for it. Both are answered with
 * -ECANCELED. */
static void trees_cancel(Spawner *s, const SpawnMessage *m) {
        for (TreeJob **place = &s->tree_jobs; *place; place = &(*place)->next) {
                TreeJob *j = *place;

                if (!is_run(j) || j->serial != m->tree.cancels)
                        continue;
                (void) job_take(s, place);
                if (j->pid > 0)
                        (void) kill(j->pid, SIGKILL); /* not reaped yet, so its pid is still its own */
                trees_answer_error(s, j, -ECANCELED, "it was cancelled");
                (void) trees_job_free(j);
                break;
        }
        spawner_answer_done(s, m->serial);
        start_some(s);
}

/* If no tree was ever made, the depot is not made for the sake of an answer. */
static void answer_without_depot(Spawner *s, const SpawnMessage *m) {
        const TreeJob j = { .request = m->tree, .serial = m->serial };
        const TreeOutcome nothing = { 0 };

        if (s->depot.reason[0])
                trees_answer_error(s, &j, -EOPNOTSUPP, s->depot.reason);
        else if (m->tree.operation == TREE_LIST || m->tree.operation == TREE_REMOVE || m->tree.operation == TREE_SHRINK)
                trees_answer(s, &j, &nothing);
        else
                trees_answer_error(s, &j, -ENOENT, "there is no such tree");
}

static void trees_enqueue(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        TreeJob *j = s->n_tree_jobs < WAITING_MAX ? job_new(ERRAND_REQUEST, m) : NULL;
        Error error = { 0 };

        if (j && !note_written(s, j))
                j = trees_job_free(j);
        if (!j) {
                (void) error_set(&error, -EBUSY, "too many requests about trees at once");
                spawner_answer_failed(s, m->serial, &error);
                return;
        }
        for (size_t i = 0; i < n_fds; i++)
                j->fds[i] = TAKE_FD(fds[i]);
        job_hook_in(s, j);
        start_some(s);
}

/* Such jobs were requested while no sandbox used the disk, and may not be done yet. */
bool tree_jobs_touch_disk(const Spawner *s, const char *id) {
        for (const TreeJob *j = s->tree_jobs; j; j = j->next)
                if (j->errand == ERRAND_REQUEST && tree_job_touches_disk(&j->request, id))
                        return true;
        return false;
}

void tree_jobs_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        Error error = { 0 };
        int r = tree_job_check(s, &m->tree, n_fds, &error);

        if (r >= 0 && (!s->privileged || !s->options->state_dir))
                r = error_set(&error, -EOPNOTSUPP, "%s", s->depot.reason);
        if (r < 0) {
                spawner_answer_failed(s, m->serial, &error);
                return;
        }
        if (m->tree.operation == TREE_CANCEL) {
                trees_cancel(s, m);
                return;
        }
        if (!s->depot_tried && !s->depot_busy && tree_job_makes_depot(&m->tree))
                send_errand(s, ERRAND_OPEN);
        if (s->depot.backing == DEPOT_NONE && !s->depot_busy && m->tree.operation != TREE_RUN)
                answer_without_depot(s, m);
        else
                trees_enqueue(s, m, fds, n_fds);
}

static int trees_open_program(void) {
        _cleanup_free_ char *path = NULL;

        return program_path("cove-tree", &path) < 0 ? -EBADF : open(path, O_PATH | O_CLOEXEC);
}

void tree_jobs_init(Spawner *s) {
        s->depot = (Depot) DEPOT_EMPTY;
        s->room_due = USEC_INFINITY;
        s->tree_program_fd = -EBADF;
        if (!s->privileged || !s->options->state_dir) {
                (void) snprintf(s->depot.reason, sizeof(s->depot.reason), "%s",
                                s->privileged ? "the spawner was given no state directory" :
                                                "trees need a daemon started by root (`cove serve` as root)");
                return;
        }
        s->tree_program_fd = trees_open_program();
        depot_find(&s->depot, s->options->state_dir, &s->options->storage);
        s->depot_tried = s->depot.backing == DEPOT_BTRFS;
        if (s->depot.backing == DEPOT_NONE)
                return;
        depot_await_others(&s->depot); /* unfinished work of former processes must not take effect after our own */
        tree_room_begin(s);
        send_errand(s, ERRAND_SWEEP);
        start_some(s);
}

void tree_jobs_describe(const Spawner *s, SpawnHello *hello) {
        Depot d = s->depot;

        if (s->privileged && s->options->state_dir && d.backing != DEPOT_BTRFS && d.reason[0] == '\0')
                depot_probe(&d, s->options->state_dir);
        hello->depot = (uint8_t) d.backing;
        (void) snprintf(hello->depot_reason, sizeof(hello->depot_reason), "%s", d.reason);
}
