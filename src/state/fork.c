/* fork.c: many out of one, all or none, or each for itself.
 *
 *      copy       of a live one's disk, into scratch
 *      acquire    each of them, from it or from the snapshot, all at once
 *      → all      scratch goes: each has a copy
 *      → one not  those that are there go too, unless each stands for itself
 *
 * A spawner that dies in between takes scratch with it: those that had no copy yet fail, and so do all. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/id.h"
#include "base/shape.h"
#include "state/internal.h"

typedef struct ForkChild {
        Fork *fork;
        SandboxSpec spec; /* until it is asked for */
        char name[SANDBOX_NAME_MAX + 1]; /* "": none */
        Acquisition *acquisition;
        Sandbox *sandbox; /* NULL: none yet */
        bool asked;
        Error error; /* its own, where each stands for itself */
} ForkChild;

struct Fork {
        State *state;
        char tenant[ACCESS_NAME_MAX + 1];
        Principal who;
        char snapshot[SNAPSHOT_ID_LENGTH + 1]; /* "": of a live one, */
        char scratch[SNAPSHOT_ID_LENGTH + 1];  /* whose copy this is */
        bool copying;
        ForkChild *children;
        size_t n, n_made;
        usec_t wait_usec;
        bool asking; /* within fork_all() */
        bool over;
        bool cancelled;
        Error error;
        ForkDone done;
        ForkEachDone each; /* instead */
        void *userdata;
        Fork *prev, *next;
};

static void fork_free(Fork *f) {
        DL_DELETE(f->state->forks, f);
        for (size_t i = 0; i < f->n; i++) {
                sandbox_spec_done(&f->children[i].spec);
                (void) sandbox_unref(f->children[i].sandbox);
        }
        free(f->children);
        free(f);
}

void forks_free(State *s) {
        while (s->forks) {
                Fork *f = s->forks;

                for (size_t i = 0; i < f->n; i++)
                        if (f->children[i].acquisition)
                                acquisition_cancel(f->children[i].acquisition);
                state_forget_caller(s, f);
                fork_free(f);
        }
}

static bool state_fork_is_ours(const Fork *f, const Sandbox *sb) {
        if (f->scratch[0])
                return strcmp(sb->spec.scratch, f->scratch) == 0;
        return sb->spec.snapshot && strcmp(sb->spec.snapshot, f->snapshot) == 0;
}

/* One with a name stays when nobody waits for it any more; but it is ours. */
static void delete_child(Fork *f, ForkChild *c) {
        Principal who = { .scope = SCOPE_ADMIN, .tenant = f->who.tenant };
        Sandbox *sb;

        if (c->acquisition)
                acquisition_cancel(TAKE_PTR(c->acquisition));
        sb = c->sandbox ? sandbox_unless_gone(c->sandbox) : c->name[0] && c->asked ? manager_find(f->state->manager, &who, c->name) : NULL;
        if (sb && state_fork_is_ours(f, sb))
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
}

static void undo(Fork *f) {
        for (size_t i = 0; i < f->n; i++)
                delete_child(f, f->children + i);
}

/* A copy that failed is everybody's failure. */
static void tell_each(Fork *f) {
        Sandbox **list = calloc(f->n, sizeof(*list));
        Error *errors = calloc(f->n, sizeof(*errors));

        for (size_t i = 0; list && errors && i < f->n; i++) {
                const ForkChild *c = f->children + i;

                list[i] = sandbox_unless_gone(c->sandbox);
                errors[i] = c->error.code < 0 ? c->error : f->error;
                if (!list[i] && errors[i].code == 0)
                        (void) error_set(errors + i, -ESTALE, "it was deleted while the others were made");
        }
        if (!list || !errors)
                undo(f);
        f->each(list, errors, list && errors ? f->n : 0, f->userdata);
        free(list);
        free(errors);
}

static void state_fork_tell(Fork *f) {
        Sandbox **list = NULL;

        if (f->cancelled)
                return;
        if (f->each) {
                tell_each(f);
                return;
        }
        if (f->error.code == 0) {
                list = calloc(f->n, sizeof(*list));
                if (!list)
                        (void) error_set(&f->error, -ENOMEM, "out of memory");
        }
        for (size_t i = 0; list && i < f->n; i++) {
                list[i] = sandbox_unless_gone(f->children[i].sandbox);
                if (!list[i])
                        (void) error_set(&f->error, -ESTALE, "%s was deleted while the others were made", f->children[i].sandbox->id);
        }
        if (f->error.code < 0)
                undo(f);
        f->done(f->error.code < 0 ? NULL : list, f->error.code < 0 ? 0 : f->n, f->error.code < 0 ? &f->error : NULL, f->userdata);
        free(list);
}

/* All have been heard of, or one has failed. */
static void check_over(Fork *f) {
        if (f->over || f->asking || (f->error.code == 0 && f->n_made < f->n))
                return;
        f->over = true;
        if (f->scratch[0])
                scratch_drop(f->state, f->scratch);
        state_fork_tell(f);
        fork_free(f);
}

static void state_fork_on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        ForkChild *c = userdata;
        Fork *f = c->fork;

        c->acquisition = NULL;
        if (error && f->each) {
                c->error = *error;
                f->n_made++; /* it has been heard of */
        } else if (error) {
                if (f->error.code == 0)
                        f->error = *error;
        } else if (result->existing) {
                c->name[0] = '\0';
                if (f->error.code == 0)
                        (void) error_set(&f->error, -EEXIST, "there is a sandbox '%s' already", sb->spec.name ? sb->spec.name : sb->id);
        } else {
                c->sandbox = sandbox_ref(sb);
                f->n_made++;
        }
        check_over(f);
}

static void fork_all(Fork *f) {
        f->asking = true;
        for (size_t i = 0; i < f->n && f->error.code == 0; i++) {
                ForkChild *c = f->children + i;
                int r = f->scratch[0] ? 0 : shape_text_set(&c->spec.snapshot, f->snapshot);
                Error error = { 0 };

                c->asked = true;
                memcpy(c->spec.scratch, f->scratch, sizeof(c->spec.scratch));
                c->spec.takes_scratch = f->n == 1;
                if (r < 0)
                        (void) error_set(&error, r, "out of memory");
                else
                        r = manager_acquire(f->state->manager, &f->who, &c->spec, f->wait_usec, state_fork_on_acquired, c, &c->acquisition, &error);
                if (r < 0 && f->error.code == 0)
                        f->error = error;
        }
        f->asking = false;
        check_over(f);
}

static void state_fork_on_copied(const Error *error, void *userdata) {
        Fork *f = userdata;

        f->copying = false;
        if (error && f->error.code == 0)
                f->error = *error;
        fork_all(f);
}

static int check_names(State *s, const Fork *f, Error *reterr) {
        Principal who = { .scope = SCOPE_ADMIN, .tenant = f->who.tenant };

        for (size_t i = 0; i < f->n; i++) {
                const Sandbox *sb = f->children[i].name[0] ? manager_find(s->manager, &who, f->children[i].name) : NULL;

                if (sb && !sandbox_is_ending(sb))
                        return error_set(reterr, -EEXIST, "there is a sandbox '%s' already", f->children[i].name);
                for (size_t k = 0; k < i; k++)
                        if (f->children[i].name[0] && strcmp(f->children[i].name, f->children[k].name) == 0)
                                return error_set(reterr, -EINVAL, "the name '%s' is given twice", f->children[i].name);
        }
        return 0;
}

static Fork *fork_new(State *s, const Principal *who, SandboxSpec *specs, size_t n) {
        Fork *f = calloc(1, sizeof(*f));

        if (f)
                f->children = calloc(n, sizeof(*f->children));
        if (!f || !f->children) {
                free(f);
                return NULL;
        }
        f->state = s;
        f->who = *who;
        if (who->tenant) { /* a key may go while this goes on */
                (void) snprintf(f->tenant, sizeof(f->tenant), "%s", who->tenant);
                f->who.tenant = f->tenant;
        }
        f->n = n;
        for (size_t i = 0; i < n; i++) {
                ForkChild *c = f->children + i;

                c->fork = f;
                c->spec = specs[i];
                specs[i] = (SandboxSpec) { .hub_fd = -EBADF };
                if (c->spec.name)
                        (void) snprintf(c->name, sizeof(c->name), "%s", c->spec.name);
        }
        DL_APPEND(s->forks, f);
        return f;
}

static int state_fork_begin(State *s, const Principal *who, Sandbox *of, Snapshot *from, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, ForkEachDone each, void *userdata,
                Fork **ret, Error *reterr) {
        Fork *f, *still;
        int r;

        *ret = NULL;
        if (n == 0 || n > FORK_MAX)
                return error_set(reterr, -EINVAL, "%zu forks at once: from 1 to %d", n, FORK_MAX);
        f = fork_new(s, who, specs, n);
        if (!f)
                return error_set(reterr, -ENOMEM, "out of memory");
        f->wait_usec = wait_usec;
        f->done = done;
        f->each = each;
        f->userdata = userdata;
        r = check_names(s, f, reterr);
        if (r >= 0 && of) {
                r = id_make(f->scratch);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot make a name: %m");
        }
        if (r >= 0 && of) {
                f->copying = true;
                r = disk_copy(s, of, f->scratch, state_fork_on_copied, f, reterr);
        }
        if (r < 0) {
                fork_free(f);
                return r;
        }
        if (from) {
                memcpy(f->snapshot, from->id, sizeof(f->snapshot));
                fork_all(f);
        }
        for (still = s->forks; still && still != f;) /* it may be over already */
                still = still->next;
        *ret = still;
        return 0;
}

int state_fork(State *s, const Principal *who, Sandbox *of, Snapshot *from, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, void *userdata, Fork **ret,
                Error *reterr) {
        return state_fork_begin(s, who, of, from, specs, n, wait_usec, done, /* each= */ NULL, userdata, ret, reterr);
}

int state_fork_each(State *s, const Principal *who, Sandbox *of, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkEachDone done, void *userdata, Fork **ret, Error *reterr) {
        return state_fork_begin(s, who, of, /* from= */ NULL, specs, n, wait_usec, /* done= */ NULL, done, userdata, ret, reterr);
}

void fork_cancel(Fork *f) {
        f->cancelled = true;
        if (f->error.code == 0)
                (void) error_set(&f->error, -ECANCELED, "nobody waits for it any more");
        if (f->copying)
                return; /* comes back by itself */
        undo(f);
        check_over(f);
}
