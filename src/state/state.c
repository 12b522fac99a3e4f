#include "state/state.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "state/internal.h"

/* Operations in progress. */

void work_begin(Work *w, State *s, void *userdata, void (*free_work)(Work *w)) {
        w->state = s;
        w->userdata = userdata;
        w->free = free_work;
        DL_APPEND(s->works, w);
}

void work_free_plain(Work *w) {
        free(w);
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

int work_make(Work *w, const char *tenant, const TreeRef *ref, const TreeRef *from, uint64_t limit, Error *reterr) {
        int r = trees_make(w->state->manager, tenant, ref, from, limit, work_on_answer, w, &w->call, reterr);

        return r < 0 ? r : STEP_WAITS;
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

int state_new(Manager *m, State **ret, Error *reterr) {
        State *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "out of memory");
        s->manager = m;
        s->snapshots = (HeldTable) { .kind = &snapshot_kind, .state = s };
        s->volumes = (HeldTable) { .kind = &volume_kind, .state = s };
        r = held_load(&s->snapshots, reterr);
        for (const HeldTree *t = s->snapshots.by_id; t; t = t->hh.next)
                snapshot_set_last(s, ((const Snapshot *) t)->sandbox, t->id);
        if (r >= 0)
                r = volumes_load(s, reterr);
        if (r < 0) {
                state_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

State *state_free(State *s) {
        if (!s)
                return NULL;
        while (s->works)
                work_end(s->works);
        volumes_stop(s);
        held_done(&s->snapshots);
        held_done(&s->volumes);
        while (s->lasts) {
                SnapshotLast *last = s->lasts;

                HASH_DEL(s->lasts, last);
                free(last);
        }
        free(s);
        return NULL;
}
