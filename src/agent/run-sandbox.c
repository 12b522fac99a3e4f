/* run-sandbox.c: how an attempt gets its sandbox.
 *
 *      there is one, or room to make one       the attempt goes on
 *      there is no room                        the attempt waits in the core's queue for sandboxes. Its lane is closed,
 *                                              and other lanes may run. Once it has a sandbox, it is held until it has
 *                                              its turn again
 *      the sandbox cannot be made              see run-end.c */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "agent/internal.h"
#include "base/shape.h"
#include "config/config.h"
#include "core/template.h"

#define PLACE_WAIT     (24 * 3600 * USEC_PER_SEC) /* in the queue for sandboxes; after that the attempt returns to the queue of executions */
#define FULL_PAUSE     (1 * USEC_PER_SEC)
#define NO_SPACE_PAUSE (5 * USEC_PER_SEC)

static int make_sandbox_spec(const Run *run, SandboxSpec *ret) {
        const SandboxSpec *s = &run->job.sandbox;
        char name[SANDBOX_NAME_MAX + 1], metadata[128];
        int r;

        run_name(run, name, sizeof(name));
        (void) snprintf(metadata, sizeof(metadata), "{\"agentExecution\":\"%s\",\"attempt\":%u}", run->job.id, run->job.attempt);
        r = sandbox_spec_copy(s, ret);
        if (r >= 0)
                r = shape_text_set(&ret->name, name);
        if (r >= 0 && !ret->tenant)
                r = shape_text_set(&ret->tenant, "");
        return r >= 0 ? shape_text_set(&ret->metadata, metadata) : r;
}

/* The attempt asks again, and then waits in the core's queue for sandboxes. */
static void run_sandbox_park(Run *run) {
        queue_close(run->agents->queue, run->job.sandbox.tenant, run->job.sandbox.profile, /* closed= */ true);
        run->parked = true;
        run_leave_slot(run);
        agents_pump(run->agents);
        sequence_heard_again(&run->steps);
}

static void run_sandbox_put_back(Run *run, usec_t pause_usec, const Error *error) {
        run->pause_usec = pause_usec;
        run_fail(run, RUN_PUT_BACK, /* word= */ NULL, "%s", error->text);
}

static void on_refused(Run *run, const Error *error) {
        bool full = error->code == -EDQUOT || error->code == -EUSERS;

        if (full && !run->parked)
                run_sandbox_park(run);
        else if (full)
                run_sandbox_put_back(run, FULL_PAUSE, error);
        else if (error->code == -ENOSPC)
                run_sandbox_put_back(run, NO_SPACE_PAUSE, error);
        else if (error->code == -EOVERFLOW)
                run_fail(run, RUN_REFUSED, "quota", "%s", error->text);
        else if (error->code == -ENOKEY)
                run_fail(run, RUN_REFUSED, "secret_missing", "%s", error->text);
        else
                run_fail(run, RUN_FAILED, "provisioning_failed", "the sandbox could not be made: %s", error->text);
}

static void run_sandbox_on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        Run *run = userdata;
        Agents *a = run->agents;

        run->acquisition = NULL;
        run_disarm(run);
        if (error) {
                on_refused(run, error);
                return;
        }
        run_set_sandbox(run, sb);
        run_open_lane(run);
        sequence_heard(&run->steps, NULL);
        agents_pump(a);
}

int run_ask(void *object, Error *reterr) {
        Run *run = object;
        const char *tenant = run->job.sandbox.tenant;
        Principal who = { .kind = PRINCIPAL_ADMIN, .tenant = tenant && *tenant ? tenant : NULL }; /* its limits and secrets were checked at the request */
        Manager *m = run->agents->manager;
        Acquisition *q = NULL;
        SandboxSpec spec = { 0 };
        Error error = { 0 };
        int r = make_sandbox_spec(run, &spec);

        if (r >= 0) /* uses the agent's own user and directory, not those of the image */
                r = template_apply(m, &spec, /* user_given= */ true, /* workdir_given= */ true, &error);
        run_arm(run, m->settings->agents.ready_timeout_usec, "making the sandbox");
        if (r < 0)
                sandbox_spec_done(&spec);
        else
                r = manager_acquire(m, &who, &spec, run->parked ? PLACE_WAIT : 0, run_sandbox_on_acquired, run, &q, &error);
        if (r < 0)
                return run_failed(run, RUN_FAILED, "provisioning_failed", reterr, "the sandbox could not be made: %s", error.text[0] ? error.text : strerror(-r));
        if (q) /* NULL: answered already */
                run->acquisition = q;
        return STEP_WAITS;
}

/* Cancels the request, and ends the sandbox that is being made. A sandbox that failed is ending already. */
int run_unask(void *object, Error *why) {
        Run *run = object;
        Sandbox *sb = run->acquisition ? run_named_sandbox(run) : NULL;

        run_disarm(run);
        if (run->acquisition)
                acquisition_cancel(TAKE_PTR(run->acquisition));
        if (sb)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        return STEP_DONE;
}

/* The slot. */

static void run_take_slot(Run *run) {
        run->agents->n_slots += !run->slot;
        run->slot = true;
}

int run_take_turn(void *object, Error *reterr) {
        Run *run = object;

        if (run->slot || agents_have_room(run->agents)) {
                run_take_slot(run);
                return STEP_DONE;
        }
        run->held = true;
        DL_APPEND2(run->agents->held, run, held_prev, held_next);
        return STEP_WAITS;
}

int run_give_turn(void *object, Error *why) {
        run_leave_held(object);
        return STEP_DONE;
}

void run_go_on(Run *run) {
        run_leave_held(run);
        run_take_slot(run);
        if (run_sandbox(run))
                sequence_heard(&run->steps, NULL);
        else
                run_fail(run, RUN_FAILED, "sandbox_ended", "the sandbox ended before its turn came");
}
