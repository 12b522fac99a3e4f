#include "core/sandbox.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "core/admission.h"
#include "core/disk.h"
#include "core/enforce.h"
#include "core/execution/segment.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/mask.h"
#include "core/tally.h"

#define EVENT_TEXT_MAX 512

/* By tenant and name, as long as the sandbox exists. */
typedef struct SandboxName {
        char key[ACCESS_NAME_MAX + SANDBOX_NAME_MAX + 3]; /* "tenant/name": neither has a slash */
        Sandbox *sandbox;
        UT_hash_handle hh;
} SandboxName;

Sandbox *sandbox_new(Manager *m) {
        Sandbox *sb = calloc(1, sizeof(*sb));

        if (!sb)
                return NULL;
        sb->manager = m;
        sb->spec.hub_fd = -EBADF;
        sb->status = SANDBOX_INITIALIZING;
        return sb;
}

static void core_sandbox_name_key(const char *tenant, const char *name, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s/%s", tenant ? tenant : "", name);
}

static SandboxName *core_sandbox_find_name(Manager *m, const char *tenant, const char *name) {
        char key[sizeof(((SandboxName *) NULL)->key)];
        SandboxName *n;

        core_sandbox_name_key(tenant, name, key, sizeof(key));
        HASH_FIND_STR(m->names, key, n);
        return n;
}

int sandbox_register_name(Sandbox *sb) {
        SandboxName *n;

        if (!sb->spec.name)
                return 0;
        if (core_sandbox_find_name(sb->manager, sb->spec.tenant, sb->spec.name))
                return -EEXIST;
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        core_sandbox_name_key(sb->spec.tenant, sb->spec.name, n->key, sizeof(n->key));
        n->sandbox = sb;
        HASH_ADD_STR(sb->manager->names, key, n);
        return 0;
}

void manager_forget_name(Manager *m, const SandboxSpec *spec) {
        SandboxName *n = spec->name ? core_sandbox_find_name(m, spec->tenant, spec->name) : NULL;

        if (!n)
                return;
        HASH_DEL(m->names, n);
        free(n);
}

static void forget_name(Sandbox *sb) {
        SandboxName *n = sb->spec.name ? core_sandbox_find_name(sb->manager, sb->spec.tenant, sb->spec.name) : NULL;

        if (n && n->sandbox == sb)
                manager_forget_name(sb->manager, &sb->spec);
}

static bool sandbox_is_seen(const Sandbox *sb, const Principal *who) {
        if (sb->pooled)
                return false;
        return who->sandbox ? strcmp(who->sandbox, sb->id) == 0 : principal_sees(who, sb->spec.tenant);
}

Sandbox *manager_by_id(const Manager *m, const char *id) {
        Sandbox *sb;

        HASH_FIND_STR(m->sandboxes, id, sb);
        return sb;
}

Sandbox *manager_find(Manager *m, const Principal *who, const char *id_or_name) {
        Sandbox *sb = manager_by_id(m, id_or_name);
        SandboxName *n;

        if (!sb && strlen(id_or_name) <= SANDBOX_NAME_MAX) {
                n = core_sandbox_find_name(m, who->tenant, id_or_name);
                sb = n ? n->sandbox : NULL;
        }
        return sb && sandbox_is_seen(sb, who) ? sb : NULL;
}

static Sandbox *sandbox_of_prefix(const PrefixNode *node) {
        return (Sandbox *) (void *) ((char *) node - offsetof(Sandbox, prefix));
}

static bool sandbox_prefix_is_seen(const PrefixNode *node, const Principal *who) {
        return sandbox_is_seen(sandbox_of_prefix(node), who);
}

static const char *sandbox_prefix_name(const PrefixNode *node) {
        return sandbox_of_prefix(node)->spec.name;
}

static const PrefixKind sandbox_prefixes = { "sandboxes", sandbox_prefix_is_seen, sandbox_prefix_name };

int manager_resolve(Manager *m, const Principal *who, const char *text, Sandbox **ret, Error *reterr) {
        Sandbox *sb = manager_find(m, who, text);
        PrefixNode *node;
        int r;

        if (sb) {
                *ret = sb;
                return 0;
        }
        r = prefix_find(&m->prefixes, &sandbox_prefixes, who, text, &node, reterr);
        if (r == -ENOENT)
                return error_set(reterr, r, "there is no sandbox '%.100s'", text);
        if (r >= 0)
                *ret = sandbox_of_prefix(node);
        return r;
}

static usec_t core_sandbox_since(usec_t then) {
        usec_t now = clock_wall_usec();

        return now > then ? now - then : 0; /* the wall clock may have been set back */
}

static bool is_newer(const Sandbox *sb, const SandboxBirth *than) {
        return sb->created_at != than->at ? sb->created_at > than->at : strcmp(sb->id, than->id) > 0;
}

void sandbox_register(Sandbox *sb) {
        Manager *m = sb->manager;

        HASH_ADD_STR(m->sandboxes, id, sb);
        prefix_add(&m->prefixes, &sb->prefix, sb->id);
        sb->born = (int64_t) (clock_usec() - core_sandbox_since(sb->created_at));
        tally_enter(sb);
        m->out_of_order |= !is_newer(sb, &m->newest);
        m->newest.at = sb->created_at;
        memcpy(m->newest.id, sb->id, sizeof(m->newest.id));
}

static void unregister(Sandbox *sb) {
        Manager *m = sb->manager;

        if (!sb->hh.tbl)
                return;
        tally_leave(sb);
        HASH_DEL(m->sandboxes, sb);
        prefix_remove(&m->prefixes, &sb->prefix);
        if (sandbox_status_is_live(sb->status))
                admission_wake(m->admission);
}

/* All changes of status, parked and activity are made here. */
static void core_sandbox_become(Sandbox *sb, SandboxState to) {
        tally_status(sb, sb->status, to.status);
        sb->status = to.status;
        sb->parked = to.parked;
        sb->activity = to.activity;
        if (!sandbox_status_is_live(to.status))
                admission_wake(sb->manager->admission); /* its place is free */
        sb->changed_at = clock_wall_usec();
}

Sandbox *sandbox_ref(Sandbox *sb) {
        if (sb)
                sb->n_refs++;
        return sb;
}

Sandbox *sandbox_unref(Sandbox *sb) {
        if (!sb)
                return NULL;
        assert(sb->n_refs > 0);
        if (--sb->n_refs == 0 && sb->gone)
                free(sb);
        return NULL;
}

void sandbox_ref_set(Sandbox **at, Sandbox *sb) {
        (void) sandbox_ref(sb);
        (void) sandbox_unref(*at);
        *at = sb;
}

static void core_sandbox_leave_shell(Sandbox *sb) {
        Sandbox shell = {
                .manager = sb->manager,
                .spec.hub_fd = -EBADF,
                .status = sandbox_status_is_ended(sb->status) ? sb->status : SANDBOX_TERMINATED,
                .n_refs = sb->n_refs,
                .gone = true,
        };

        memcpy(shell.id, sb->id, sizeof(shell.id));
        *sb = shell;
        if (sb->n_refs == 0)
                free(sb);
}

void sandbox_drop(Sandbox *sb) {
        Execution *x, *next;
        SandboxWatch *w, *next_watch;
        Manager *m = sb->manager;

        network_gone(sb);
        forget_name(sb);
        unregister(sb);
        HASH_ITER(hh, sb->executions, x, next)
                execution_free(x);
        segment_drop(sb);
        DL_FOREACH_SAFE(sb->watches, w, next_watch)
                sandbox_unwatch(w);
        sandbox_calls_free(sb);
        sandbox_shift_give_up(sb);
        sandbox_disk_free(sb);
        sandbox_probe_free(sb);
        sandbox_timers_free(sb);
        if (m->provider && sb->provider_data)
                m->provider->ops->release(m->provider, sb);
        sandbox_enforce_forget(sb);
        sandbox_dialect_forget(sb);
        sandbox_spec_done(&sb->spec);
        mask_unref(sb->mask);
        free(sb->reason);
        core_sandbox_leave_shell(sb);
}

void sandbox_watch(Sandbox *sb, SandboxWatch *watch) {
        if (sb->gone)
                return;
        watch->sandbox = sb;
        DL_APPEND(sb->watches, watch);
}

void sandbox_unwatch(SandboxWatch *watch) {
        if (!watch->sandbox)
                return;
        DL_DELETE(watch->sandbox->watches, watch);
        watch->sandbox = NULL;
}

/* A watch may remove itself, and no other. */
void sandbox_tell(Sandbox *sb, Execution *x) {
        SandboxWatch *w, *next;

        DL_FOREACH_SAFE(sb->watches, w, next)
                w->changed(sb, x, w->userdata);
}

void sandbox_event(Sandbox *sb, const char *type, const Execution *x, const char *format, ...) {
        char text[EVENT_TEXT_MAX];
        StoreEvent event = {
                .at = clock_wall_usec(),
                .sandbox_id = sb->id,
                .type = type,
                .execution_id = x ? x->id : NULL,
                .text = text,
        };
        uint64_t serial;
        va_list ap;
        int r;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        r = store_event_add(sb->manager->store, &event, &serial);
        if (r < 0)
                log_warning("sandbox %s: cannot write the event '%s', ignoring: %s", sb->id, type, strerror(-r));
        observe_event(sb, type, x, text);
}

int sandbox_event_each(const Manager *m, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata) {
        return store_event_each(m->store, sandbox_id, after_serial, since, each, userdata);
}

static void set_reason(Sandbox *sb, const char *reason) {
        char *copy = reason ? strdup(reason) : NULL;

        free(sb->reason);
        sb->reason = copy;
}

/* Reports how long a step took, if that is known now. */
static void observe_times(Sandbox *sb, SandboxStatus before) {
        if (before == SANDBOX_INITIALIZING && sb->status == SANDBOX_READY && !sb->pooled) /* a pooled one reports this when it is warm */
                observe_step(sb->manager, STEP_PROVISION, sb, NULL, sb->created_at, core_sandbox_since(sb->created_at));
        if (!sandbox_status_is_ended(sb->status))
                return;
        if (sb->end_began_at != 0)
                observe_step(sb->manager, STEP_CLEANUP, sb, NULL, sb->end_began_at, core_sandbox_since(sb->end_began_at));
        if (!sb->pooled)
                observe_step(sb->manager, STEP_LIFETIME, sb, NULL, sandbox_owned_since(sb), core_sandbox_since(sandbox_owned_since(sb)));
}

static void core_sandbox_write_status(Sandbox *sb, SandboxStatus before, const char *reason) {
        int r;

        (void) store_begin(sb->manager->store);
        r = store_sandbox_update(sb->manager->store, sb);
        if (r >= 0)
                sandbox_event(sb, "status", NULL, "%s → %s%s%s", sandbox_status_name(before), sandbox_status_name(sb->status),
                                reason ? ": " : "", reason ? reason : "");
        sandbox_row_wrote(sb, store_end(sb->manager->store, r), "its status");
}

int sandbox_move(Sandbox *sb, SandboxState to, const char *reason) {
        const SandboxState from = sandbox_state(sb);

        if (!sandbox_state_may_become(from, to)) {
                log_error("sandbox %s: refused to go from %s (%s) to %s (%s)", sb->id, sandbox_status_name(from.status),
                                sandbox_activity_name(from.activity), sandbox_status_name(to.status), sandbox_activity_name(to.activity));
                return -EPROTO;
        }
        if (from.status == to.status && from.parked == to.parked) {
                sb->activity = to.activity; /* not reported, and in no row */
                return 0;
        }
        core_sandbox_become(sb, to);
        if (to.status == SANDBOX_READY && sb->ready_at == 0)
                sb->ready_at = sb->changed_at;
        if (to.status == SANDBOX_PAUSED && from.status != SANDBOX_PAUSED)
                sandbox_time_stands(sb);
        if (from.status == SANDBOX_PAUSED && sandbox_is_up(sb))
                sb->resumed_at = sb->changed_at;
        if (sandbox_status_is_ended(to.status))
                sb->ended_at = sb->changed_at;
        set_reason(sb, reason);
        core_sandbox_write_status(sb, from.status, reason);
        observe_status(sb, from.status, to.status);
        observe_times(sb, from.status);
        sandbox_tell(sb, NULL);
        return 0;
}

int sandbox_set_activity(Sandbox *sb, SandboxActivity activity) {
        return sandbox_move(sb, (SandboxState) { .status = sb->status, .parked = sb->parked, .activity = activity }, NULL);
}

bool sandbox_can_run(const Sandbox *sb) {
        return sandbox_is_up(sb) && sb->activity != ACTIVITY_STOPPING && sb->activity != ACTIVITY_FREEZING && !sandbox_is_unloading(sb);
}

const char *sandbox_state_text(const Sandbox *sb) {
        return sandbox_is_stopping(sb) ? "stopping" : sb->activity == ACTIVITY_FREEZING ? "pausing" : sandbox_status_name(sb->status);
}

/* The status follows from the executions, whose rows are written, so it needs no row of its own. */
void sandbox_update_running(Sandbox *sb) {
        SandboxStatus status = sb->n_alive > 0 ? SANDBOX_RUNNING : SANDBOX_READY;

        if (sb->status != status && sandbox_is_up(sb))
                core_sandbox_become(sb, (SandboxState) { .status = status, .activity = sb->activity });
}

/* The use of its owner, without the time before a claim. */
int sandbox_read_usage(Sandbox *sb, SandboxUsage *ret) {
        Provider *p = sb->manager->provider;
        int r = p->ops->usage(p, sb, ret);

        if (r >= 0)
                ret->cpu_usec = ret->cpu_usec - MIN_OF(ret->cpu_usec, sb->cpu_others_usec) + sb->cpu_before_usec;
        if (sb->spec.persistent)
                sandbox_disk_usage(sb, ret);
        ret->network_tx_bytes += sb->network_tx_bytes;
        ret->network_rx_bytes += sb->network_rx_bytes;
        ret->network_requests += sb->network_requests;
        return r;
}

int sandbox_usage(Sandbox *sb, SandboxUsage *ret) {
        usec_t now = clock_usec();
        int r;

        memset(ret, 0, sizeof(*ret));
        if (!sandbox_status_is_live(sb->status) || sb->status == SANDBOX_INITIALIZING)
                return 0;
        if (sb->parked) { /* nothing can be measured, but the earlier use is known */
                ret->cpu_usec = sb->cpu_before_usec;
                ret->has_cpu = true;
                sandbox_disk_usage(sb, ret);
                return 0;
        }
        r = sandbox_read_usage(sb, ret);
        if (r < 0)
                return r;
        if (ret->has_cpu) {
                if (sb->cpu_read_at != 0 && now > sb->cpu_read_at && ret->cpu_usec >= sb->cpu_read)
                        ret->cpu_percent = 100.0 * (double) (ret->cpu_usec - sb->cpu_read) / (double) (now - sb->cpu_read_at);
                else if (clock_wall_usec() > sb->created_at)
                        ret->cpu_percent = 100.0 * (double) ret->cpu_usec / (double) (clock_wall_usec() - sb->created_at);
                sb->cpu_read_at = now;
                sb->cpu_read = ret->cpu_usec;
        }
        return 0;
}
