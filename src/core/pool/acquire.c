#include "core/acquire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/admission.h"
#include "core/allowance.h"
#include "core/enforce.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/pool.h"
#include "core/secrets.h"
#include "core/settings.h"

struct Acquisition {
        Manager *manager;
        PrincipalKind kind;
        SandboxSpec spec; /* until the sandbox exists */
        AcquireDone done;
        void *userdata;
        AcquireResult result;
        usec_t asked_at, asked_wall;
        AdmissionWait *wait;
        Sandbox *sandbox;               /* NULL: not yet */
        bool unnamed;                   /* only its caller can find the sandbox */
        bool asking;                    /* the call of the caller has not returned */
        bool asked_pools;
        bool over;
        struct NameWait *name;          /* while it waits for a name */
        Acquisition *prev, *next;       /* other waits for the same name */
};

/* The waits that want a name. If another caller makes a sandbox of that name, it is theirs too, even if there
 * is no other room. */
typedef struct NameWait {
        char key[ACCESS_NAME_MAX + SANDBOX_NAME_MAX + 3];
        Acquisition *waits;
        UT_hash_handle hh;
} NameWait;

struct Acquisitions {
        NameWait *names;
};

int acquisitions_new(Manager *m) {
        m->acquisitions = calloc(1, sizeof(*m->acquisitions));
        return m->acquisitions ? 0 : -ENOMEM;
}

void acquisitions_free(Manager *m) {
        free(m->acquisitions); /* the surfaces have cancelled their waits */
        m->acquisitions = NULL;
}

static void acquire_name_key(const SandboxSpec *spec, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s/%s", spec->tenant ? spec->tenant : "", spec->name);
}

static int wait_for_name(Acquisition *a) {
        struct Acquisitions *all = a->manager->acquisitions;
        char key[sizeof(a->name->key)];
        NameWait *n;

        if (!a->spec.name)
                return 0;
        acquire_name_key(&a->spec, key, sizeof(key));
        HASH_FIND_STR(all->names, key, n);
        if (!n) {
                n = calloc(1, sizeof(*n));
                if (!n)
                        return -ENOMEM;
                memcpy(n->key, key, sizeof(n->key));
                HASH_ADD_STR(all->names, key, n);
        }
        DL_APPEND(n->waits, a);
        a->name = n;
        return 0;
}

static void leave_name(Acquisition *a) {
        NameWait *n = TAKE_PTR(a->name);

        if (!n)
                return;
        DL_DELETE(n->waits, a);
        if (n->waits)
                return;
        HASH_DEL(a->manager->acquisitions->names, n);
        free(n);
}

static void acquisition_free(Acquisition *a) {
        leave_name(a);
        (void) sandbox_unref(a->sandbox);
        sandbox_spec_done(&a->spec);
        free(a);
}

/* The end of an acquisition. */

static void acquire_finish(Acquisition *a, Sandbox *sb, const Error *error) {
        a->over = true;
        leave_name(a);
        a->done(error ? NULL : sb, &a->result, error, a->userdata);
        if (!a->asking)
                acquisition_free(a);
}

static void acquire_fail(Acquisition *a, int r, const Error *error) {
        Error told = *error;

        told.code = r;
        acquire_finish(a, NULL, &told);
}

static void acquire_on_ready(Sandbox *sb, const Error *error, void *userdata) {
        acquire_finish(userdata, sb, error);
}

static unsigned priority_of(const SandboxSpec *spec) {
        return spec->critical ? 1 : 0;
}

/* Reports the time in the queue; `sb` is NULL if the wait failed. */
static void tell_queue(Acquisition *a, Sandbox *sb) {
        if (a->result.waited_usec > 0)
                observe_step(a->manager, STEP_QUEUE, sb, NULL, a->asked_wall, a->result.waited_usec);
}

static void waited(Acquisition *a) {
        a->wait = NULL;
        a->result.waited_usec = MAX_OF(clock_usec() - a->asked_at, (usec_t) 1);
        leave_name(a);
}

static void acquire_stop_waiting(Acquisition *a) {
        AdmissionWait *w = a->wait;

        if (!w)
                return;
        waited(a);
        admission_cancel(w);
}

/* The ways to get a sandbox. Each returns true if it was taken; then the acquisition may be freed already. */

static bool take_existing(Acquisition *a) {
        Sandbox *sb = manager_find_named(a->manager, &a->spec);
        Error error = { 0 };
        int r;

        if (!sb)
                return false;
        sandbox_ref_set(&a->sandbox, sb);
        a->result.existing = true;
        tell_queue(a, sb);
        r = manager_await_ready(sb, acquire_on_ready, a);
        if (r < 0) {
                (void) error_set(&error, r, "%m");
                acquire_fail(a, r, &error);
        }
        return true;
}

/* Serves the other callers that wanted the same name. */
static void share_name(Manager *m, const Sandbox *sb) {
        char key[sizeof(((NameWait *) NULL)->key)];
        NameWait *n;

        if (!sb->spec.name)
                return;
        acquire_name_key(&sb->spec, key, sizeof(key));
        for (;;) {
                Acquisition *a;

                HASH_FIND_STR(m->acquisitions->names, key, n);
                if (!n)
                        return;
                a = n->waits;
                acquire_stop_waiting(a);
                (void) take_existing(a);
        }
}

static Sandbox *acquire_claim(Acquisition *a) {
        Manager *m = a->manager;

        if (!a->asking)
                return pools_claim_late(m->pools, &a->spec);
        a->asked_pools = true;
        return pools_claim(m->pools, &a->spec);
}

static void finish_claimed(Acquisition *a, Sandbox *sb) {
        a->result.pooled = true;
        tell_queue(a, sb);
        sandbox_ref_set(&a->sandbox, sb);
        if (!network_claim(sb, acquire_on_ready, a)) {
                share_name(a->manager, sb);
                acquire_finish(a, sb, NULL);
                return;
        }
        share_name(a->manager, sb);
}

static bool take_warm(Acquisition *a) {
        Sandbox *sb = acquire_claim(a);

        if (sb)
                finish_claimed(a, sb);
        return sb;
}

static void acquire_make(Acquisition *a) {
        Manager *m = a->manager;
        Principal who = { .kind = a->kind, .tenant = a->spec.tenant && *a->spec.tenant ? a->spec.tenant : NULL };
        Error error = { 0 };
        Sandbox *sb;
        bool existing;
        int r = manager_create(m, &who, &a->spec, &sb, &existing, acquire_on_ready, a, &error);

        if (r < 0) {
                acquire_fail(a, r, &error);
                return;
        }
        sandbox_ref_set(&a->sandbox, sb); /* the provider answers later, so both objects are still there */
        tell_queue(a, sb);
        share_name(m, sb);
}

/* In the queue. */

/* The queue does not lead anywhere: because of a limit that somebody has set, or because the machine has no more. */
static int acquire_code(const Error *why) {
        return why->code == -EUSERS ? -EUSERS : -EDQUOT;
}

static void on_granted(AdmissionWait *w, const Error *error, void *userdata) {
        Acquisition *a = userdata;
        Error space = { 0 };
        int r = error ? acquire_code(error) : manager_check_space(a->manager, &space);

        waited(a);
        if (!error && take_existing(a))
                return;
        if (r < 0) {
                tell_queue(a, NULL);
                acquire_fail(a, r, error ? error : &space);
        } else if (!take_warm(a))
                acquire_make(a);
}

static bool on_offer(AdmissionWait *w, void *userdata) {
        Acquisition *a = userdata;
        Sandbox *sb = acquire_claim(a);

        if (!sb)
                return false;
        acquire_stop_waiting(a);
        finish_claimed(a, sb);
        return true;
}

static usec_t patience(const Acquisition *a, usec_t wait_usec) {
        Manager *m = a->manager;
        usec_t timeout;

        if (wait_usec != USEC_INFINITY)
                return wait_usec;
        if (pools_serves(m->pools, &a->spec, &timeout))
                return timeout;
        return core_settings(m->settings).limits->queue_timeout_usec;
}

static void acquire_queue(Acquisition *a, usec_t wait_usec, const Error *why) {
        Error error = *why;
        int r;

        wait_usec = patience(a, wait_usec);
        if (wait_usec == 0) {
                acquire_fail(a, acquire_code(why), why);
                return;
        }
        if (!a->asked_pools)
                pools_miss(a->manager->pools, &a->spec);
        r = wait_for_name(a);
        if (r < 0)
                (void) error_set(&error, r, "out of memory");
        if (r >= 0)
                r = admission_wait(a->manager->admission, &a->spec, priority_of(&a->spec), wait_usec, on_granted, on_offer, a, &a->wait,
                                &error);
        if (r < 0)
                acquire_fail(a, r, &error);
}

/* Asking. */

static void acquire(Acquisition *a, const Principal *who, usec_t wait_usec) {
        Admission *admission = a->manager->admission;
        unsigned priority = priority_of(&a->spec);
        Error why = { 0 };
        int r;

        if (take_existing(a))
                return;
        r = allowance_check(a->manager, who, &a->spec, &why);
        if (r >= 0)
                r = enforce_settle(a->manager, &a->spec, &why);
        if (r >= 0)
                r = manager_check_space(a->manager, &why);
        if (r >= 0)
                r = secrets_check(a->manager, who, a->spec.tenant, &a->spec.env, &why);
        if (r >= 0)
                r = admission_check_claim(admission, &a->spec, priority, &why);
        if (r > 0 && take_warm(a))
                return;
        if (r > 0)
                r = admission_check(admission, &a->spec, priority, &why);
        if (r < 0)
                acquire_fail(a, r, &why);
        else if (r == 0)
                acquire_queue(a, wait_usec, &why);
        else
                acquire_make(a);
}

int manager_acquire(Manager *m, const Principal *who, SandboxSpec *spec, usec_t wait_usec, AcquireDone done, void *userdata,
                Acquisition **ret, Error *reterr) {
        Acquisition *a = calloc(1, sizeof(*a));

        if (!a) {
                sandbox_spec_done(spec);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        *a = (Acquisition) {
                .manager = m,
                .kind = who->kind,
                .spec = *spec,
                .done = done,
                .userdata = userdata,
                .asked_at = clock_usec(),
                .asked_wall = clock_wall_usec(),
                .unnamed = !spec->name,
                .asking = true,
        };
        a->spec.record |= core_settings(m->settings).record_by_default;
        memset(spec, 0, sizeof(*spec));
        acquire(a, who, wait_usec);
        a->asking = false;
        *ret = a;
        if (a->over) {
                acquisition_free(a);
                *ret = NULL;
        }
        return 0;
}

void acquisition_cancel(Acquisition *a) {
        Sandbox *sb = sandbox_unless_gone(a->sandbox);

        if (a->wait) {
                acquire_stop_waiting(a);
                tell_queue(a, NULL);
        }
        if (sb)
                sandbox_forget_caller(sb, a);
        if (sb && a->unnamed && !a->manager->stopping)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        acquisition_free(a);
}
