#include "state/state.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "state/internal.h"

/* What goes on. */

void work_begin(Work *w, State *s, void *userdata, void (*free_work)(Work *w)) {
        w->state = s;
        w->userdata = userdata;
        w->free = free_work;
        DL_APPEND(s->works, w);
}

void work_end(Work *w) {
        DL_DELETE(w->state->works, w);
        tree_call_forget(w->call);
        w->free(w);
}

int work_start(Work *w, const Sequence *sequence, Error *reterr) {
        int r = sequence_start(&w->run, sequence, w, reterr);

        if (r < 0)
                work_end(w);
        return r < 0 ? r : 0;
}

void work_on_answer(const TreeAnswer *answer, const Error *error, void *work) {
        Work *w = work;

        w->call = NULL;
        sequence_heard(&w->run, error);
}

void work_on_done(const Error *error, void *work) {
        sequence_heard(&((Work *) work)->run, error);
}

int work_ask(Work *w, TreeOperation operation, const TreeRef *ref, const TreeRef *second, uint64_t bytes, Error *reterr) {
        TreeRequest request = { .operation = (uint8_t) operation, .bytes = bytes, .n_refs = second ? 2 : 1, .refs = { *ref } };
        int r;

        if (second)
                request.refs[1] = *second;
        r = trees_ask(w->state->manager, &request, /* fds= */ NULL, /* item= */ NULL, work_on_answer, w, &w->call, reterr);
        return r < 0 ? r : STEP_WAITS;
}

Error work_error(const Error *error) {
        Error told = error ? *error : (Error) { 0 };

        if (told.code == -ECONNRESET)
                told.code = -EAGAIN;
        return told;
}

void state_forget_caller(State *s, void *userdata) {
        Work *w;

        DL_FOREACH(s->works, w)
                if (w->userdata == userdata)
                        w->forgotten = true;
}

/* The start: what was in the middle of something goes; of the rest it is asked whether it is there. */

typedef struct StateLoad {
        State *state;
        Strv unfinished;
} StateLoad;

static int load_snapshot(Snapshot *row, void *userdata) {
        StateLoad *l = userdata;
        Snapshot *n;
        int r;

        if (row->pending)
                return strv_push(&l->unfinished, row->id);
        n = snapshot_new();
        if (!n)
                return -ENOMEM;
        *n = *row;
        memset(row, 0, sizeof(*row));
        r = snapshot_register(l->state, n);
        if (r < 0)
                snapshot_free(n);
        else
                snapshot_set_last(l->state, n->sandbox, n->id);
        return r == -EEXIST ? 0 : r;
}

static void free_census(Work *w) {
        free(w);
}

static void state_on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Work *w = userdata;
        Snapshot *n;

        HASH_FIND_STR(w->state->snapshots, ref->name, n);
        if (n)
                n->unseen = false;
}

static void state_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Work *w = userdata;
        Snapshot *n, *next;

        w->call = NULL;
        HASH_ITER(hh, w->state->snapshots, n, next) {
                n->missing = n->unseen && !error; /* without a list nobody knows */
                n->unseen = false;
                if (n->missing)
                        log_error("snapshot %s: its files are gone: it can only be removed", n->id);
        }
        if (error)
                log_warning("cannot ask which snapshots are there: %s", error->text);
        work_end(w);
}

static int take_census(State *s) {
        TreeRequest request = { .operation = TREE_LIST, .n_refs = 1, .refs = { { .kind = TREE_SNAPSHOT } } };
        Snapshot *n, *next;
        Error error = { 0 };
        Work *w;

        if (!s->snapshots)
                return 0; /* and maybe no place for them either, which asking would make */
        w = calloc(1, sizeof(*w));
        if (!w)
                return -ENOMEM;
        HASH_ITER(hh, s->snapshots, n, next)
                n->unseen = true;
        work_begin(w, s, /* userdata= */ NULL, free_census);
        if (trees_ask(s->manager, &request, /* fds= */ NULL, state_on_item, state_on_listed, w, &w->call, &error) < 0)
                state_on_listed(NULL, &error, w);
        return 0;
}

int state_new(Manager *m, State **ret, Error *reterr) {
        State *s = calloc(1, sizeof(*s));
        StateLoad l = { s, STRV_INIT(SIZE_MAX) };
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "out of memory");
        s->manager = m;
        r = store_snapshot_each(m->store, load_snapshot, &l);
        for (size_t i = 0; i < l.unfinished.n && r >= 0; i++)
                snapshot_drop(s, l.unfinished.items[i]);
        strv_done(&l.unfinished);
        if (r >= 0)
                r = take_census(s);
        if (r < 0)
                (void) error_set(reterr, r, "cannot read the snapshots: %m");
        else
                r = volumes_load(s, reterr);
        if (r < 0) {
                state_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

State *state_free(State *s) {
        Snapshot *n, *next;

        if (!s)
                return NULL;
        while (s->works)
                work_end(s->works);
        HASH_ITER(hh, s->snapshots, n, next) {
                snapshot_unregister(s, n);
                snapshot_free(n);
        }
        volumes_free(s);
        while (s->lasts) {
                SnapshotLast *last = s->lasts;

                HASH_DEL(s->lasts, last);
                free(last);
        }
        free(s);
        return NULL;
}
