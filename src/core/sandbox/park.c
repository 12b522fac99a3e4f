/* park.c: a sandbox without processes, which can have others: only one whose disk is kept.
 *
 *      park     what runs ends (in good time, where it runs) · the provider takes down the rest · the disk is synced · paused, parked
 *      boot     another PID 1 on the same disk · ready
 *
 * A daemon that dies in between finds a sandbox whose processes are gone, and parks it (recover.c): so nothing has to be written down before.
 * While one is going on the status is as it was, and nothing can be run. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/trees.h"

#define NAMED_MAX 5 /* executions, in a refusal */

typedef struct Halt {
        ExecutionReason why;
        char *reason;   /* of the status that it leads to */
        TreeCall *sync; /* under way */
        Error error;    /* why it could not be started again */
} Halt;

static Halt *halt_new(const SandboxParking *how) {
        Halt *h = calloc(1, sizeof(*h));

        if (!h)
                return NULL;
        h->why = how->why;
        h->reason = how->reason ? strdup(how->reason) : NULL;
        return h;
}

void sandbox_halt_free(Sandbox *sb) {
        if (!sb->halting)
                return;
        tree_call_forget(sb->halting->sync);
        free(sb->halting->reason);
        free(sb->halting);
        sb->halting = NULL;
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
                                "the sandbox's disk goes with its processes, so it cannot be paused to disk: make it with \"persistent\": true, or "
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

/* Its group goes, and what that has counted. */
static void keep_counters(Sandbox *sb) {
        SandboxUsage usage = { 0 };

        if (sandbox_read_usage(sb, &usage) >= 0 && usage.has_cpu)
                sb->cpu_before_usec = usage.cpu_usec;
        sb->cpu_others_usec = 0;
        sb->oom_seen = 0;
}

static void park_take_down(Sandbox *sb) {
        (void) sandbox_set_activity(sb, ACTIVITY_UNLOADING);
        if (!sb->parked)
                keep_counters(sb);
        sandbox_timers_free(sb);
        sandbox_probe_on_end(sb);
        network_gone(sb);
        sandbox_ask_to_destroy(sb);
}

/* Those that can still hear of it. */
static int stop_first(Sandbox *sb, const SandboxParking *how) {
        Provider *p = sb->manager->provider;
        Execution *x, *next;
        int r = p->ops->stop(p, sb, how->grace_usec);

        if (r < 0)
                return r;
        (void) sandbox_set_activity(sb, ACTIVITY_DRAINING);
        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x) && x->kill_reason == EXECUTION_REASON_NONE)
                        x->kill_reason = how->why;
        return 0;
}

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
        if (r >= 0 && !sandbox_is_unloading(sb)) {
                sb->halting = halt_new(how);
                r = sb->halting ? 0 : -ENOMEM;
                if (r >= 0 && (sb->n_alive == 0 || sb->status == SANDBOX_PAUSED || stop_first(sb, how) < 0))
                        park_take_down(sb);
        }
        if (r >= 0)
                return;
        sandbox_call_withdraw(sb, CALL_PARK, userdata);
        if (error.code == 0)
                (void) error_set(&error, r, "cannot pause the sandbox to disk: %m");
        if (done)
                done(sb, &error, userdata);
}

void sandbox_on_halt_stopped(Sandbox *sb) {
        park_take_down(sb);
}

int sandbox_keep(Sandbox *sb, const char *reason) {
        if (!sb->spec.persistent || sb->status == SANDBOX_INITIALIZING)
                return -EOPNOTSUPP;
        if (sb->activity == ACTIVITY_DRAINING)
                park_take_down(sb);
        if (sandbox_is_unloading(sb))
                return 0;
        sb->halting = halt_new(&(SandboxParking) { .why = EXECUTION_REASON_SANDBOX_ENDED, .reason = reason });
        if (!sb->halting)
                return -ENOMEM;
        park_take_down(sb);
        return 0;
}

static void park_end_executions(Sandbox *sb, ExecutionReason why) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x))
                        execution_end(x, why, /* exit_code= */ -1, /* signal= */ 9, execution_reason_words(why));
}

/* Callers of what was under way when PID 1 died. False: the sandbox is gone. */
static bool park_answer_others(Sandbox *sb) {
        static const SandboxCallKind kinds[] = { CALL_STOP, CALL_RESUME, CALL_HOLD, CALL_NETWORK };
        bool there = sandbox_call_finish(sb, CALL_PAUSE, NULL);

        for (size_t i = 0; there && i < ELEMENTSOF(kinds); i++)
                there = sandbox_call_finish(sb, kinds[i], &(Error) { -ESTALE, "the processes of the sandbox are gone, and it is paused to disk" });
        return there;
}

/* The row first: whoever hears of it may ask for the next thing at once. */
static void parked(Sandbox *sb, const Error *error) {
        char *reason = TAKE_PTR(sb->halting->reason);

        sb->halting->sync = NULL;
        sandbox_halt_free(sb);
        (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_PAUSED, .parked = true }, reason);
        free(reason);
        (void) sandbox_arm_timers(sb);
        (void) store_sync(sb->manager->store);
        if (park_answer_others(sb))
                (void) sandbox_call_finish(sb, CALL_PARK, error);
}

static void park_on_synced(const TreeAnswer *answer, const Error *error, void *userdata) {
        Sandbox *sb = userdata;
        Error told = { 0 };

        if (error)
                (void) error_set(&told, error->code, "the sandbox is paused to disk, but whether all of it would survive the machine's death is not known: %s",
                                error->text);
        parked(sb, error ? &told : NULL);
}

static void sync_disk(Sandbox *sb) {
        TreeRequest request = { .operation = TREE_SYNC, .n_refs = 1, .refs = { tree_ref(TREE_DISK, sb->id) } };
        Error error = { 0 };
        int r = trees_ask(sb->manager, &request, /* fds= */ NULL, /* item= */ NULL, park_on_synced, sb, &sb->halting->sync, &error);

        if (r < 0)
                park_on_synced(NULL, &error, sb);
}

/* Something was left, or it could not be started again: it is as it was. */
static void stay_parked(Sandbox *sb) {
        Error error = sb->halting ? sb->halting->error : (Error) { 0 };

        sandbox_halt_free(sb);
        if (sb->activity == ACTIVITY_UNLOADING)
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
        network_gone(sb);
        if (error.code < 0)
                (void) sandbox_call_finish(sb, CALL_RESUME, &error);
}

bool sandbox_on_halted(Sandbox *sb) {
        Provider *p = sb->manager->provider;

        if (sandbox_is_ending(sb) || (sb->activity != ACTIVITY_UNLOADING && !sb->parked))
                return false;
        if (sb->provider_data)
                p->ops->release(p, sb);
        sb->pid = 0;
        (void) store_ledger_remove(sb->manager->store, sb->id);
        if (sb->parked) {
                stay_parked(sb);
                return true;
        }
        park_end_executions(sb, sb->halting->why);
        (void) sandbox_set_activity(sb, ACTIVITY_SYNCING);
        network_gone(sb); /* for good */
        if (sb->manager->recovering)
                parked(sb, NULL);
        else
                sync_disk(sb);
        return true;
}

/* Up. */

/* Told when nothing is left of it. */
static void boot_failed(Sandbox *sb, int code, const char *text) {
        sb->halting = halt_new(&(SandboxParking) { .why = EXECUTION_REASON_SANDBOX_ENDED });
        if (!sb->halting) {
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
                (void) sandbox_call_finish(sb, CALL_RESUME, &(Error) { -ENOMEM, "out of memory" });
                return;
        }
        (void) error_set(&sb->halting->error, code, "%s", text);
        park_take_down(sb);
}

bool sandbox_boot_failed(Sandbox *sb, const Error *error) {
        if (!sandbox_is_booting(sb))
                return false;
        boot_failed(sb, error->code, error->text);
        return true;
}

static int park_boot(Sandbox *sb, Error *reterr) {
        int r;

        network_gone(sb); /* whatever is left of its seat */
        sb->spec.address = 0;
        r = network_admit(sb, reterr);
        if (r < 0)
                return r;
        r = sandbox_write_ledger(sb);
        if (r >= 0)
                r = store_sandbox_update_all(sb->manager->store, sb);
        if (r < 0)
                return error_set(reterr, r, "cannot write the sandbox down: %m");
        r = network_prepare(sb, reterr);
        return r == 0 ? sandbox_make(sb, reterr) : r;
}

void sandbox_boot(Sandbox *sb, SandboxDone done, void *userdata) {
        Error error = { 0 };
        int r;

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
        r = park_boot(sb, &error);
        if (r < 0)
                boot_failed(sb, r, error.text);
}

void sandbox_on_booted(Sandbox *sb) {
        usec_t now = clock_wall_usec();

        if (sb->expires_at != 0 && now > sb->changed_at)
                sb->expires_at += now - sb->changed_at;
        (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_READY }, NULL);
        (void) sandbox_arm_timers(sb);
        (void) store_sync(sb->manager->store);
        (void) sandbox_call_finish(sb, CALL_RESUME, NULL);
}

/* Another disk. */

int sandbox_swap_begin(Sandbox *sb) {
        if (sb->activity == ACTIVITY_SWAPPING)
                return 0;
        return sb->status == SANDBOX_PAUSED && sb->parked && sb->activity == ACTIVITY_NONE ? sandbox_set_activity(sb, ACTIVITY_SWAPPING) : -EBUSY;
}

void sandbox_swap_end(Sandbox *sb) {
        if (sb->activity == ACTIVITY_SWAPPING)
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
}
