/* events.c: handles the provider's events. */

#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/ailment.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/quarantine.h"

static void core_events_on_up(Provider *p, void *userdata) {
        recover_start(userdata);
}

static void on_created(Sandbox *sb, int pid, uint32_t id_base, uint64_t guards_missing, const Error *error, void *userdata) {
        if (sb->status != SANDBOX_INITIALIZING && !sandbox_is_booting(sb))
                return; /* it is being deleted already */
        if (!error) {
                sb->pid = pid;
                sb->id_base = id_base;
                sb->guards_missing = guards_missing;
        }
        if (sandbox_boot_heard(sb, error))
                return;
        if (error) {
                sb->create_error = error->code;
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, error->text);
        } else if (!network_attach(sb))
                sandbox_on_ready(sb);
}

void sandbox_on_ready(Sandbox *sb) {
        if (sandbox_boot_heard(sb, NULL) || sandbox_move(sb, (SandboxState) { .status = SANDBOX_READY }, NULL) < 0)
                return;
        if (sb->unwritten < 0) { /* without the row, the next start would remove it */
                sb->create_error = sb->unwritten;
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, "its state 'ready' could not be saved");
                return;
        }
        (void) sandbox_arm_timers(sb);
        (void) sandbox_call_finish(sb, CALL_CREATE, NULL);
}

static void core_events_on_gone(Sandbox *sb, void *userdata) {
        if (sandbox_is_ending(sb) || sb->activity == ACTIVITY_UNLOADING || sb->activity == ACTIVITY_SYNCING)
                return;
        if (sandbox_boot_heard(sb, &(Error) { -ECHILD, "its PID 1 died while the sandbox was being started again" }) || sb->parked)
                return;
        if (sb->status == SANDBOX_INITIALIZING) {
                sb->create_error = -ECHILD;
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, "its PID 1 died while the sandbox was being created");
                return;
        }
        if (sandbox_keep(sb, "its PID 1 died; its disk is as it was then: resume it") < 0)
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ false, "its PID 1 died");
}

static void on_destroyed(const char *id, const Error *error, void *userdata) {
        Manager *m = userdata;

        quarantine_on_destroyed(m, id, error);
        sandbox_on_destroyed(m, id, error);
        if (!error)
                recover_on_destroyed(m, id);
}

static void core_events_wake(Sandbox *sb) {
        sandbox_time_goes_on(sb);
        (void) sandbox_move(sb, (SandboxState) { .status = sb->n_alive > 0 ? SANDBOX_RUNNING : SANDBOX_READY }, NULL);
}

/* A frozen sandbox does not run, so its memory may be swapped out, as far as the host has room. No caller waits
 * for that. */
static void give_memory_back(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        SandboxUsage usage = { 0 };

        sb->memory_before = sb->memory_reclaimed = 0;
        if (!p->pause || !p->pause->reclaim || p->ops->usage(p, sb, &usage) < 0 || !usage.has_memory)
                return;
        sb->memory_before = usage.memory_bytes;
        (void) p->pause->reclaim(p, sb);
}

static void on_reclaimed(Sandbox *sb, const Error *error, void *userdata) {
        Provider *p = sb->manager->provider;
        SandboxUsage usage = { 0 };

        if (error || sb->status != SANDBOX_PAUSED || sb->parked || p->ops->usage(p, sb, &usage) < 0 || usage.memory_bytes > sb->memory_before)
                return;
        sb->memory_reclaimed = sb->memory_before - usage.memory_bytes;
        sandbox_event(sb, "reclaimed", NULL, "%.1f of %.1f MB", (double) sb->memory_reclaimed / 1048576.0, (double) sb->memory_before / 1048576.0);
}

/* A paused one that recover.c thaws has no activity. */
static bool core_events_expects(const Sandbox *sb, bool frozen) {
        if (frozen)
                return sb->activity == ACTIVITY_FREEZING;
        return sb->activity == ACTIVITY_THAWING || (sb->status == SANDBOX_PAUSED && !sb->parked && sb->activity == ACTIVITY_NONE);
}

static void on_frozen(Sandbox *sb, bool frozen, const Error *error, void *userdata) {
        if (sandbox_hold_on_frozen(sb, frozen, error))
                return;
        sandbox_probe_on_frozen(sb);
        if (!core_events_expects(sb, frozen))
                return; /* the answer to an operation that another one has overtaken, which has answered its callers */
        if (error && sb->activity != ACTIVITY_NONE)
                (void) sandbox_set_activity(sb, ACTIVITY_NONE);
        if (!error && frozen) {
                (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_PAUSED }, NULL);
                give_memory_back(sb);
        } else if (!error)
                core_events_wake(sb);
        if (!error) {
                (void) sandbox_arm_timers(sb);
                store_may_lose(store_sync(sb->manager->store), "a pause, so that it outlives the machine");
        }
        (void) sandbox_call_finish(sb, frozen ? CALL_PAUSE : CALL_RESUME, error);
}

static void core_events_on_stopped(Sandbox *sb, void *userdata) {
        if (sb->activity == ACTIVITY_DRAINING)
                sandbox_on_drained(sb);
        if (sb->activity != ACTIVITY_STOPPING)
                return;
        (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_STOPPED }, NULL);
        if (sandbox_call_finish(sb, CALL_STOP, NULL))
                sandbox_serve_waiting(sb);
}

static bool is_probe(uint64_t number) {
        return number >= PROBE_NUMBER_FIRST;
}

static void on_exec_started(Sandbox *sb, uint64_t number, int pid, void *userdata) {
        Execution *x = execution_by_number(sb, number);

        if (x)
                execution_on_started(x, pid);
}

static void core_events_on_exec_failed(Sandbox *sb, const ProviderNotStarted *f, void *userdata) {
        Execution *x = is_probe(f->number) ? NULL : execution_by_number(sb, f->number);

        if (is_probe(f->number))
                sandbox_probe_on_failed(sb, f);
        else if (x)
                execution_on_failed(x, f);
}

/* The provider keeps the end until it is in the store. */
static void on_exec_exited(Sandbox *sb, const ProviderEnd *e, void *userdata) {
        Provider *p = sb->manager->provider;
        Execution *x = is_probe(e->number) ? NULL : execution_by_number(sb, e->number);

        if (is_probe(e->number)) { /* a probe has no row; and its callback may end the sandbox */
                (void) p->ops->forget(p, sb, e->number);
                sandbox_probe_on_exited(sb, e);
                return;
        }
        if (!x || execution_on_exited(x, e))
                (void) p->ops->forget(p, sb, e->number);
}

static void on_exec_channel(Sandbox *sb, uint64_t exec, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata) {
        execution_on_channel(execution_by_number(sb, exec), error, fds);
}

static void core_events_on_kept(Sandbox *sb, unsigned number, int pid, const char *text, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata) {
        const ChannelKeeper *k = sb->manager->channels;

        if (k)
                k->kept(sb, number, pid, text, fds, k->userdata);
        for (ExecutionChannelEnd i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                (void) fd_close(fds[i]);
}

static void on_exec_stdin(Sandbox *sb, uint64_t exec, int error, int fd, void *userdata) {
        Execution *x = execution_by_number(sb, exec);

        if (x)
                execution_on_stdin(x, error, fd);
        else
                (void) fd_close(fd);
}

static void core_events_on_adopted(Sandbox *sb, const Error *error, void *userdata) {
        recover_on_adopted(sb, error);
}

static void core_events_on_network(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata) {
        network_on_sockets(sb, error, shape, fds, n_fds);
}

static void core_events_on_socket(Sandbox *sb, uint64_t token, int error, int fd, void *userdata) {
        network_on_socket(sb, token, error, fd);
}

static void core_events_on_listed(const char *id, void *userdata) {
        Manager *m = userdata;

        if (m->recovery)
                recover_on_listed(m, id);
        else
                listing_on_listed(m, id);
}

static void on_tree_item(uint64_t token, const TreeRef *ref, uint64_t bytes, void *userdata) {
        trees_on_item(userdata, token, ref, bytes);
}

static void on_tree_done(uint64_t token, int wait_status, uint64_t bytes, const Error *error, void *userdata) {
        trees_on_done(userdata, token, wait_status, bytes, error);
}

static void on_zygote(uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error, void *userdata) {
        zygote_on_done(userdata, token, pid, fds, error);
}

static void on_silent(const char *who, usec_t usec, void *userdata) {
        Manager *m = userdata;

        m->silent = (ManagerSilence) { who, usec };
        if (usec > 0)
                manager_ail(m, "spawner", /* ill= */ true, "%s has not answered for %llu s: nothing can be made or removed", who, (unsigned long long) (usec / USEC_PER_SEC));
        else
                manager_heal(m, "spawner");
}

const ProviderEvents core_provider_events = {
        .up = core_events_on_up,
        .silent = on_silent,
        .created = on_created,
        .gone = core_events_on_gone,
        .destroyed = on_destroyed,
        .frozen = on_frozen,
        .reclaimed = on_reclaimed,
        .stopped = core_events_on_stopped,
        .exec_started = on_exec_started,
        .exec_failed = core_events_on_exec_failed,
        .exec_exited = on_exec_exited,
        .exec_stdin = on_exec_stdin,
        .exec_channel = on_exec_channel,
        .kept = core_events_on_kept,
        .adopted = core_events_on_adopted,
        .listed = core_events_on_listed,
        .network = core_events_on_network,
        .socket = core_events_on_socket,
        .tree_item = on_tree_item,
        .tree_done = on_tree_done,
        .zygote = on_zygote,
};
