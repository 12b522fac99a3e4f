/* park.c: parks a sandbox, which leaves it without processes, and boots it again; only for sandboxes whose disk is
 * kept.
 *
 *      park     drain: executions may end in time · unload: the provider removes the rest · sync: the disk · write down: paused, parked
 *      boot     admit, write down, network, make, connect: another PID 1 on the same disk · ready. If it fails: unload
 *
 * If the daemon dies in between, the next one finds a sandbox without processes and parks it (recover.c): so
 * nothing has to be written before. While one of them is in progress, the status stays as it was, and nothing can
 * be run. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sequence.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/quarantine.h"
#include "core/trees.h"

#define NAMED_MAX 5 /* executions named in a refusal */

typedef struct SandboxShift {
        SequenceRun run;
        Sandbox *sandbox;
        ExecutionReason why;
        usec_t grace_usec;
        char *reason;   /* of the resulting status */
        TreeCall *sync; /* in progress */
        Error error;    /* of the sync; the sandbox is parked all the same */
} SandboxShift;

static void shift_free(SandboxShift *shift) {
        (void) sandbox_unref(shift->sandbox);
        free(shift->reason);
        free(shift);
}

void sandbox_shift_give_up(Sandbox *sb) {
        SandboxShift *shift = TAKE_PTR(sb->shift);

        if (!shift)
                return;
        tree_call_forget(TAKE_PTR(shift->sync));
        if (sequence_give_up(&shift->run))
                shift_free(shift);
}

/* If a step has led to the end of the sandbox, its callers have been answered by that. */
static int shift_start(Sandbox *sb, const Sequence *sequence, size_t step, const SandboxParking *how) {
        SandboxShift *shift = calloc(1, sizeof(*shift));

        if (!shift)
                return -ENOMEM;
        shift->sandbox = sandbox_ref(sb);
        shift->why = how->why;
        shift->grace_usec = how->grace_usec;
        shift->reason = how->reason ? strdup(how->reason) : NULL;
        sb->shift = shift;
        if (sequence_start_at(&shift->run, sequence, step, shift, /* reterr= */ NULL) < 0)
                shift_free(shift);
        return 0;
}

/* May it be parked? */

static size_t name_executions(const Sandbox *sb, char *text, size_t size) {
        const Execution *x, *next;
        unsigned n = 0;
        size_t used = 0;

        text[0] = '\0';
        HASH_ITER(hh, sb->executions, x, next) {
                if (execution_ended(x) || used >= size)
                        continue;
                if (n++ == NAMED_MAX) {
                        used += (size_t) snprintf(text + used, size - used, ", …");
                        break;
                }
                used += (size_t) snprintf(text + used, size - used, "%s%s (%.40s)", n > 1 ? ", " : "", x->id,
                                x->spec.args.n > 0 ? x->spec.args.items[0] : "?");
        }
        return used;
}

static int park_check(const Sandbox *sb, const SandboxParking *how, Error *reterr) {
        char names[300];

        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP,
                                "the sandbox's disk goes with its processes, so it cannot be paused to disk: make it with \"persistent\": true (cove create --persistent), or "
                                "pause it without toDisk, which keeps everything until the machine restarts");
        if (sb->status == SANDBOX_INITIALIZING || sandbox_is_ending(sb) || sb->activity == ACTIVITY_FREEZING || sb->activity == ACTIVITY_THAWING ||
                        sandbox_is_booting(sb))
                return error_set(reterr, -ESTALE, "Cannot pause the sandbox to disk (state: %s)", sandbox_status_name(sb->status));
        if (sb->activity != ACTIVITY_NONE)
                return error_set(reterr, -EBUSY, sb->activity == ACTIVITY_CONNECTING ? "the network of the sandbox is being connected; try again" :
                                                                                       "the sandbox is being copied or stopped; try again");
        if (sb->n_alive == 0 || how->end_processes)
                return 0;
        (void) name_executions(sb, names, sizeof(names));
        return error_set(reterr, -EBUSY,
                        "%u execution%s of the sandbox still run%s: %s. On disk files are kept and processes are not (`cove doctor` says what this "
                        "machine has for that): end them, say \"endProcesses\": true, or pause without toDisk",
                        sb->n_alive, sb->n_alive == 1 ? "" : "s", sb->n_alive == 1 ? "s" : "", names);
}

/* Down. */

/* The cgroup is removed with its counters, so they are saved. */
static void keep_counters(Sandbox *sb) {
        SandboxUsage usage = { 0 };

        if (sandbox_read_usage(sb, &usage) >= 0 && usage.has_cpu)
                sb->cpu_before_usec = usage.cpu_usec;
        sb->cpu_others_usec = 0;
        sb->oom_seen = 0;
}

/* Also undoes a boot. The callback of a probe may end the sandbox. */
static int park_unload(void *object, Error *reterr) {
        Sandbox *sb = ((SandboxShift *) object)->sandbox;

        (void) sandbox_set_activity(sb, ACTIVITY_UNLOADING);
        if (!sb->parked)
                keep_counters(sb);
        sandbox_timers_free(sb);
        sandbox_probe_on_end(sb);
        network_gone(sb);
        sandbox_ask_to_destroy(sb);
        return STEP_WAITS;
}

static int park_drain(void *object, Error *reterr) {
        SandboxShift *shift = object;
        Sandbox *sb = shift->sandbox;

        if (sb->n_alive == 0 || sb->status == SANDBOX_PAUSED || sandbox_ask_to_stop(sb, shift->grace_usec, ACTIVITY_DRAINING, shift->why) < 0)
                return STEP_DONE; /* no process can receive the request */
        return STEP_WAITS;
}

static void park_on_synced(const TreeAnswer *answer, const Error *error, void *userdata) {
        SandboxShift *shift = userdata;

        shift->sync = NULL;
        if (error)
                (void) error_set(&shift->error, error->code, "the sandbox is paused to disk, but whether all of it would survive the machine's death is not known: %s",
                                error->text);
        sequence_heard(&shift->run, NULL);
}

static int park_sync(void *object, Error *reterr) {
        SandboxShift *shift = object;
        Sandbox *sb = shift->sandbox;
        TreeRequest request = { .operation = TREE_SYNC, .n_refs = 1, .refs = { tree_ref(TREE_DISK, sb->id) } };
        Error error = { 0 };

        (void) sandbox_set_activity(sb, ACTIVITY_SYNCING);
        network_gone(sb); /* even its address */
        if (sb->manager->recovering)
                return STEP_DONE;
        if (trees_ask(sb->manager, &request, /* fds= */ NULL, /* item= */ NULL, park_on_synced, shift, &shift->sync, &error) < 0)
                park_on_synced(NULL, &error, shift);
        return STEP_WAITS;
}

/* The callbacks may begin the next operation at once. */
static int park_write_down(void *object, Error *reterr) {
        SandboxShift *shift = object;

        shift->sandbox->shift = NULL;
        (void) sandbox_move(shift->sandbox, (SandboxState) { .status = SANDBOX_PAUSED, .parked = true }, shift->reason);
        (void) sandbox_arm_timers(shift->sandbox);
        store_may_lose(store_sync(shift->sandbox->manager->store), "a pause to disk, so that it outlives the machine");
        return STEP_DONE;
}

/* Answers the callers of what was in progress when PID 1 died. False: the sandbox is gone. */
static bool park_answer_others(Sandbox *sb) {
        static const SandboxCallKind kinds[] = { CALL_STOP, CALL_RESUME, CALL_HOLD, CALL_NETWORK };
        bool there = sandbox_call_finish(sb, CALL_PAUSE, NULL);

        for (size_t i = 0; there && i < ELEMENTSOF(kinds); i++)
                there = sandbox_call_finish(sb, kinds[i], &(Error) { -ESTALE, "the processes of the sandbox are gone, and it is paused to disk" });
        return there;
}

static void park_end(void *object, const Error *error) {
        SandboxShift *shift = object;

        if (!error && park_answer_others(shift->sandbox))
                (void) sandbox_call_finish(shift->sandbox, CALL_PARK, shift->error.code < 0 ? &shift->error : NULL);
        shift_free(shift);
}

enum { PARK_DRAIN, PARK_UNLOAD, PARK_SYNC, PARK_WRITE_DOWN };

static const SequenceStep park_steps[] = {
        [PARK_DRAIN]      = { "drain",      park_drain },
        [PARK_UNLOAD]     = { "unload",     park_unload },
        [PARK_SYNC]       = { "sync",       park_sync },
        [PARK_WRITE_DOWN] = { "write down", park_write_down },
};
static const Sequence park_sequence = SEQUENCE("park", park_steps, park_end);

void sandbox_park(Sandbox *sb, const SandboxParking *how, SandboxDone done, void *userdata) {
        Error error = { 0 };
        int r;

        if (sb->parked && !sandbox_is_booting(sb)) {
                if (done)
                        done(sb, NULL, userdata);
                return;
        }
        r = sandbox_is_unloading(sb) ? 0 : park_check(sb, how, &error);
        if (r >= 0)
                r = sandbox_call_add(sb, CALL_PARK, done, userdata);
        if (r >= 0 && !sandbox_is_unloading(sb))
                r = shift_start(sb, &park_sequence, PARK_DRAIN, how);
        if (r >= 0)
                return;
        sandbox_call_withdraw(sb, CALL_PARK, userdata);
        if (error.code == 0)
                (void) error_set(&error, r, "cannot pause the sandbox to disk: %m");
        if (done)
                done(sb, &error, userdata);
}

void sandbox_on_drained(Sandbox *sb) {
        sequence_heard(&sb->shift->run, NULL);
}

int sandbox_keep(Sandbox *sb, const char *reason) {
        if (!sb->spec.persistent || sb->status == SANDBOX_INITIALIZING)
                return -EOPNOTSUPP;
        if (sb->activity == ACTIVITY_DRAINING)
                sandbox_on_drained(sb);
        if (sandbox_is_unloading(sb) || sandbox_is_ending(sb))
                return 0;
        return shift_start(sb, &park_sequence, PARK_UNLOAD, &(SandboxParking) { .why = EXECUTION_REASON_SANDBOX_ENDED, .reason = reason });
}

/* The watch of an execution may end the sandbox. */
bool sandbox_on_unloaded(Sandbox *sb) {
        Provider *p = sb->manager->provider;

        if (sandbox_is_ending(sb) || (sb->activity != ACTIVITY_UNLOADING && !sb->parked))
                return false;
        if (sb->provider_data)
                p->ops->release(p, sb);
        sb->pid = 0;
        store_may_lose(store_footprint_remove(sb->manager->store, sb->id), "that nothing of a sandbox is left in the kernel"); /* if it is lost, the next start looks for the objects */
        if (!sb->parked)
                sandbox_end_executions(sb, sb->shift->why);
        if (sb->activity == ACTIVITY_UNLOADING)
                sequence_heard(&sb->shift->run, NULL);
        else
                network_gone(sb); /* objects were left and are destroyed now */
        return true;
}

/* Up. */

static int boot_admit(void *object, Error *reterr) {
        Sandbox *sb = ((SandboxShift *) object)->sandbox;
        int r;

        network_gone(sb); /* releases what is left of its place in the network */
        sb->spec.address = 0;
        r = network_admit(sb, reterr);
        return r < 0 ? r : STEP_DONE;
}

static int boot_write_down(void *object, Error *reterr) {
        Sandbox *sb = ((SandboxShift *) object)->sandbox;
        int r = sandbox_write_footprint(sb);

        if (r >= 0)
                r = store_sandbox_update_all(sb->manager->store, sb);
        return r < 0 ? error_set(reterr, r, "cannot save the sandbox: %m") : STEP_DONE;
}

static int boot_network(void *object, Error *reterr) {
        int r = network_prepare(((SandboxShift *) object)->sandbox, reterr);

        return r < 0 ? r : r == 0 ? STEP_DONE : STEP_WAITS;
}

static int boot_make(void *object, Error *reterr) {
        int r = sandbox_make(((SandboxShift *) object)->sandbox, reterr);

        return r < 0 ? r : STEP_WAITS;
}

static int boot_connect(void *object, Error *reterr) {
        return network_attach(((SandboxShift *) object)->sandbox) ? STEP_WAITS : STEP_DONE;
}

static int boot_ready(void *object, Error *reterr) {
        Sandbox *sb = ((SandboxShift *) object)->sandbox;

        sb->shift = NULL;
        sandbox_time_goes_on(sb);
        (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_READY }, NULL);
        (void) sandbox_arm_timers(sb);
        store_may_lose(store_sync(sb->manager->store), "a start, so that it outlives the machine");
        return STEP_DONE;
}

/* With an error: the sandbox stays parked; or it ends, and its callers have been answered. */
static void boot_end(void *object, const Error *error) {
        SandboxShift *shift = object;
        Sandbox *sb = shift->sandbox;
        bool given_up = error && sb->shift != shift;

        if (error && !given_up) {
                sb->shift = NULL;
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
                network_gone(sb);
        }
        if (!given_up)
                (void) sandbox_call_finish(sb, CALL_RESUME, error);
        shift_free(shift);
}

static const SequenceStep boot_steps[] = {
        { "admit",      boot_admit, park_unload },
        { "write down", boot_write_down },
        { "network",    boot_network },
        { "make",       boot_make },
        { "connect",    boot_connect },
        { "ready",      boot_ready },
};
static const Sequence boot_sequence = SEQUENCE("boot", boot_steps, boot_end);

bool sandbox_boot_heard(Sandbox *sb, const Error *error) {
        if (!sandbox_is_booting(sb))
                return false;
        sequence_heard(&sb->shift->run, error);
        return true;
}

void sandbox_boot(Sandbox *sb, SandboxDone done, void *userdata) {
        Error error = { 0 };
        int r;

        if (quarantine_refuse(sb->manager, sb->id, &error) < 0) {
                if (done)
                        done(sb, &error, userdata);
                return;
        }
        r = sandbox_is_unloading(sb) || sb->activity == ACTIVITY_SWAPPING ? -EBUSY : sandbox_call_add(sb, CALL_RESUME, done, userdata);
        if (r < 0) {
                (void) error_set(&error, r, r != -EBUSY ? "out of memory" :
                                            sb->activity == ACTIVITY_SWAPPING ? "the sandbox is being restored; try again" :
                                                                                "what is left of the sandbox is being removed; try again");
                if (done)
                        done(sb, &error, userdata);
                return;
        }
        if (sandbox_is_booting(sb))
                return;
        (void) sandbox_set_activity(sb, ACTIVITY_BOOTING);
        r = shift_start(sb, &boot_sequence, /* step= */ 0, &(SandboxParking) { .why = EXECUTION_REASON_SANDBOX_ENDED });
        if (r < 0) {
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
                (void) sandbox_call_finish(sb, CALL_RESUME, &(Error) { r, "out of memory" });
        }
}

/* Swapping the disk. */

int sandbox_swap_begin(Sandbox *sb) {
        if (sb->activity == ACTIVITY_SWAPPING)
                return 0;
        return sb->status == SANDBOX_PAUSED && sb->parked && sb->activity == ACTIVITY_NONE ? sandbox_set_activity(sb, ACTIVITY_SWAPPING) : -EBUSY;
}

void sandbox_swap_end(Sandbox *sb) {
        if (sb->activity == ACTIVITY_SWAPPING)
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
}
