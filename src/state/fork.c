/* fork.c: makes many sandboxes from one: all or none, or each with its own result.
 *
 *      copy       of a live sandbox's disk, to a scratch tree
 *      acquire    all of them at once, from the scratch tree or the snapshot
 *      → all      the scratch tree is removed: each sandbox has a copy
 *      → one not  the others are deleted too, unless each has its own result
 *
 * If the spawner dies in between, the scratch tree is lost: sandboxes without a copy fail, and so do all of them
 * unless each has its own result. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/id.h"
#include "base/shape.h"
#include "core/allowance.h"
#include "core/secrets.h"
#include "state/internal.h"

typedef struct ForkChild {
        Fork *fork;
        SandboxSpec spec; /* until the sandbox is requested */
        char name[SANDBOX_NAME_MAX + 1]; /* "": none */
        Acquisition *acquisition;
        Sandbox *sandbox; /* NULL: none yet */
        bool asked;
        Error error; /* if each sandbox has its own result */
} ForkChild;

struct Fork {
        Work work;
        char tenant[ACCESS_NAME_MAX + 1];
        Principal who;
        Sandbox *of; /* until it is copied */
        char snapshot[SNAPSHOT_ID_LENGTH + 1]; /* "": forks a live sandbox, … */
        char scratch[SNAPSHOT_ID_LENGTH + 1];  /* … with this copy of its disk */
        ForkChild *children;
        Sandbox **list; /* the sandboxes for the callback */
        Error *errors;  /* likewise, if each has its own result */
        size_t n, n_heard;
        usec_t wait_usec;
        bool asked, asking; /* the sandboxes are requested; inside fork_acquire() */
        Error error;        /* the first failure, unless each has its own result */
        ForkDone done;
        ForkEachDone each;  /* used instead of `done` */
};

static void fork_free(Work *w) {
        Fork *f = (Fork *) w;

        for (size_t i = 0; f->children && i < f->n; i++) {
                if (f->children[i].acquisition)
                        acquisition_cancel(f->children[i].acquisition);
                sandbox_spec_done(&f->children[i].spec);
                (void) sandbox_unref(f->children[i].sandbox);
        }
        free(f->children);
        free(f->list);
        free(f->errors);
        free(f);
}

/* Also undoes a copy. */
static int fork_remove(void *object, Error *reterr) {
        Fork *f = object;

        if (f->scratch[0])
                scratch_drop(f->work.state, f->scratch);
        return STEP_DONE;
}

static int fork_copy(void *object, Error *reterr) {
        Fork *f = object;
        int r;

        if (!f->of)
                return STEP_DONE;
        r = id_make(f->scratch);
        if (r < 0)
                return error_set(reterr, r, "cannot make a name: %m");
        r = disk_copy(f->work.state, f->of, f->scratch, work_on_done, f, reterr);
        if (r < 0)
                f->scratch[0] = '\0'; /* nothing to remove */
        return r < 0 ? r : STEP_WAITS;
}

static bool state_fork_is_ours(const Fork *f, const Sandbox *sb) {
        if (f->scratch[0])
                return strcmp(sb->spec.scratch, f->scratch) == 0;
        return sb->spec.snapshot && strcmp(sb->spec.snapshot, f->snapshot) == 0;
}

/* A sandbox with a name is made even if no request waits for it any more, so it is looked up by its name. */
static void fork_delete_child(Fork *f, ForkChild *c) {
        Sandbox *sb;

        if (c->acquisition)
                acquisition_cancel(TAKE_PTR(c->acquisition));
        sb = c->sandbox ? sandbox_unless_gone(c->sandbox) : c->name[0] && c->asked ? manager_find(f->work.state->manager, &f->who, c->name) : NULL;
        if (sb && state_fork_is_ours(f, sb))
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
}

static int fork_delete(void *object, Error *why) {
        Fork *f = object;

        for (size_t i = 0; i < f->n; i++)
                fork_delete_child(f, f->children + i);
        return STEP_DONE;
}

static bool fork_is_heard(const Fork *f) {
        return f->error.code < 0 || f->n_heard == f->n;
}

static void state_fork_on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        ForkChild *c = userdata;
        Fork *f = c->fork;

        c->acquisition = NULL;
        f->n_heard++;
        if (error)
                c->error = *error;
        else if (result->existing) {
                c->name[0] = '\0';
                (void) error_set(&c->error, -EEXIST, "there is a sandbox '%s' already", sb->spec.name ? sb->spec.name : sb->id);
        } else
                c->sandbox = sandbox_ref(sb);
        if (c->error.code < 0 && f->error.code == 0 && !f->each)
                f->error = c->error;
        if (!f->asking && !sequence_is_undoing(&f->work.run) && fork_is_heard(f))
                sequence_heard(&f->work.run, f->error.code < 0 ? &f->error : NULL);
}

static int fork_acquire(void *object, Error *reterr) {
        Fork *f = object;

        f->asked = f->asking = true;
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
                        r = manager_acquire(f->work.state->manager, &f->who, &c->spec, f->wait_usec, state_fork_on_acquired, c, &c->acquisition, &error);
                if (r < 0)
                        state_fork_on_acquired(NULL, NULL, &error, c);
        }
        f->asking = false;
        if (f->error.code < 0)
                *reterr = f->error;
        return f->error.code < 0 ? f->error.code : fork_is_heard(f) ? STEP_DONE : STEP_WAITS;
}

static void fork_stop_acquiring(void *object) {
        work_on_done(/* error= */ NULL, object);
}

/* The sandboxes that were made, in the order of the request. One that is missing is an error, unless each has
 * its own result. */
static int fork_list(void *object, Error *reterr) {
        Fork *f = object;
        int r = STEP_DONE;

        for (size_t i = 0; i < f->n; i++) {
                const ForkChild *c = f->children + i;

                f->list[i] = sandbox_unless_gone(c->sandbox);
                if (f->each)
                        f->errors[i] = c->error;
                if (f->list[i] || c->error.code < 0)
                        continue;
                if (f->each)
                        (void) error_set(f->errors + i, -ESTALE, "it was deleted while the others were made");
                else
                        r = error_set(reterr, -ESTALE, "%s was deleted while the others were made", c->sandbox->id);
        }
        return r;
}

/* A copy that failed is the error of all. */
static void fork_end(void *object, const Error *error) {
        Fork *f = object;

        for (size_t i = 0; f->each && error && i < f->n; i++)
                f->errors[i] = *error;
        if (f->each && !f->work.forgotten)
                f->each(f->list, f->errors, f->n, f->work.userdata);
        else if (!f->work.forgotten)
                f->done(error ? NULL : f->list, error ? 0 : f->n, error, f->work.userdata);
        work_end(&f->work);
}

static const SequenceStep fork_steps[] = {
        { "copy",    fork_copy,    fork_remove },
        { "acquire", fork_acquire, fork_delete, fork_stop_acquiring },
        { "list",    fork_list },
        { "remove",  fork_remove },
};
const Sequence fork_sequence = SEQUENCE("fork", fork_steps, fork_end);

static int fork_check_names(State *s, const Fork *f, Error *reterr) {
        for (size_t i = 0; i < f->n; i++) {
                const Sandbox *sb = f->children[i].name[0] ? manager_find(s->manager, &f->who, f->children[i].name) : NULL;

                if (sb && !sandbox_is_ending(sb))
                        return error_set(reterr, -EEXIST, "there is a sandbox '%s' already", f->children[i].name);
                for (size_t k = 0; k < i; k++)
                        if (f->children[i].name[0] && strcmp(f->children[i].name, f->children[k].name) == 0)
                                return error_set(reterr, -EINVAL, "the name '%s' is given twice", f->children[i].name);
        }
        return 0;
}

static void fork_take_specs(Fork *f, SandboxSpec *specs) {
        for (size_t i = 0; i < f->n; i++) {
                ForkChild *c = f->children + i;

                c->fork = f;
                c->spec = specs[i];
                specs[i] = (SandboxSpec) { .hub_fd = -EBADF };
                if (c->spec.name)
                        (void) snprintf(c->name, sizeof(c->name), "%s", c->spec.name);
        }
}

static Fork *fork_new(State *s, const Principal *who, SandboxSpec *specs, size_t n, ForkEachDone each, void *userdata) {
        Fork *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        work_begin(&f->work, s, userdata, fork_free);
        f->n = n;
        f->children = calloc(n, sizeof(*f->children));
        f->list = calloc(n, sizeof(*f->list));
        f->errors = each ? calloc(n, sizeof(*f->errors)) : NULL;
        if (!f->children || !f->list || (each && !f->errors)) {
                work_end(&f->work);
                return NULL;
        }
        f->each = each;
        f->who = (Principal) { .kind = PRINCIPAL_ADMIN }; /* the caller's rights have been checked, … */
        if (who->tenant) { /* … and its key may be removed meanwhile */
                (void) snprintf(f->tenant, sizeof(f->tenant), "%s", who->tenant);
                f->who.tenant = f->tenant;
        }
        fork_take_specs(f, specs);
        return f;
}

static int state_fork_begin(State *s, const Principal *who, Sandbox *of, Snapshot *from, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, ForkEachDone each, void *userdata,
                Fork **ret, Error *reterr) {
        Fork *f;
        int r;

        *ret = NULL;
        if (n == 0 || n > FORK_MAX)
                return error_set(reterr, -EINVAL, "%zu forks at once: from 1 to %d", n, FORK_MAX);
        for (size_t i = 0; i < n; i++) {
                r = allowance_check(s->manager, who, specs + i, reterr);
                if (r >= 0)
                        r = secrets_allow(who, &specs[i].env, reterr);
                if (r < 0)
                        return r;
        }
        f = fork_new(s, who, specs, n, each, userdata);
        if (!f)
                return error_set(reterr, -ENOMEM, "out of memory");
        f->of = of;
        if (from)
                memcpy(f->snapshot, from->tree.id, sizeof(f->snapshot));
        f->wait_usec = wait_usec;
        f->done = done;
        r = fork_check_names(s, f, reterr);
        if (r >= 0)
                r = sequence_start(&f->work.run, &fork_sequence, f, reterr);
        if (r > 0)
                *ret = f;
        else if (r < 0 && f->asked) { /* the failure is reported by the callback */
                fork_end(f, reterr);
                r = 0;
        } else if (r < 0)
                work_end(&f->work);
        return r < 0 ? r : 0;
}

int state_fork(State *s, const Principal *who, Sandbox *of, Snapshot *from, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, void *userdata, Fork **ret,
                Error *reterr) {
        return state_fork_begin(s, who, of, from, specs, n, wait_usec, done, /* each= */ NULL, userdata, ret, reterr);
}

int state_fork_each(State *s, const Principal *who, Sandbox *of, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkEachDone done, void *userdata, Fork **ret, Error *reterr) {
        return state_fork_begin(s, who, of, /* from= */ NULL, specs, n, wait_usec, /* done= */ NULL, done, userdata, ret, reterr);
}

void fork_cancel(Fork *f) {
        f->work.forgotten = true;
        sequence_cancel(&f->work.run, &(Error) { -ECANCELED, "no request waits for it any more" });
}
