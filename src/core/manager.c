#include "core/manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/admission.h"
#include "core/disk.h"
#include "core/generation.h"
#include "core/home.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/quarantine.h"
#include "core/recorder.h"
#include "core/ledger.h"
#include "core/tally.h"

/* Loading: makes objects of the rows. */

static int load_sandbox(Sandbox *row, void *userdata) {
        Manager *m = userdata;
        Sandbox *sb = sandbox_new(m);
        int r;

        if (!sb)
                return -ENOMEM;
        memcpy(sb->id, row->id, sizeof(sb->id));
        sb->spec = row->spec;
        sb->spec.hub_fd = -EBADF;
        memset(&row->spec, 0, sizeof(row->spec));
        sb->reason = TAKE_PTR(row->reason);
        sb->status = row->status == SANDBOX_RUNNING ? SANDBOX_READY : row->status;
        sb->created_at = row->created_at;
        sb->changed_at = row->changed_at;
        sb->ready_at = row->ready_at;
        sb->resumed_at = row->resumed_at;
        sb->ended_at = row->ended_at;
        sb->expires_at = row->expires_at;
        sb->claimed_at = row->claimed_at;
        sb->pooled = row->pooled;
        sb->cpu_others_usec = row->cpu_others_usec;
        sb->guards_missing = row->guards_missing;
        sb->id_base = row->id_base;
        sb->pid = row->pid;
        sb->last_execution = row->last_execution;
        sb->operations = MAX_OF(row->operations, row->last_execution); /* each execution is written at once, other operations now and then */
        sb->oom_seen = row->oom_seen;
        sb->end_status = row->end_status;
        sb->end_delete = row->end_delete;
        sb->parked = row->parked;
        sb->cpu_before_usec = row->cpu_before_usec;
        sandbox_register(sb);
        r = sandbox_register_name(sb);
        return r == -EEXIST ? 0 : r;
}

static int load_execution(const char *sandbox_id, Execution *row, void *userdata) {
        Sandbox *sb = manager_by_id(userdata, sandbox_id);
        Execution *x;

        if (!sb)
                return 0;
        x = execution_new(sb, row->number);
        if (!x)
                return -ENOMEM;
        x->spec = row->spec;
        memset(&row->spec, 0, sizeof(row->spec));
        x->status = row->status == EXECUTION_EXITED ? EXECUTION_EXITED : EXECUTION_STARTING; /* until PID 1 reports more */
        x->unconfirmed = x->status != EXECUTION_EXITED;
        x->reason = row->reason;
        x->exit_code = row->exit_code;
        x->signal = row->signal;
        x->message = TAKE_PTR(row->message);
        x->pid = row->pid;
        x->started_at = row->started_at;
        x->ended_at = row->ended_at;
        x->duration_usec = row->duration_usec;
        x->user_usec = row->user_usec;
        x->system_usec = row->system_usec;
        x->max_rss_bytes = row->max_rss_bytes;
        memcpy(x->journals, row->journals, sizeof(x->journals));
        x->stdin_closed = row->stdin_closed;
        x->journals_gone = row->journals_gone;
        x->kill_reason = row->kill_reason;
        execution_trim(x);
        if (!x->journals_gone)
                journal_began(x);
        if (execution_ended(x))
                journal_ended(x);
        else
                execution_count(sb, 1);
        sb->operations = MAX_OF(sb->operations, x->number);
        if (clock_wall_usec() > x->started_at && x->started_at > 0)
                x->born -= (int64_t) (clock_wall_usec() - x->started_at);
        return 0;
}

static int manager_load(Manager *m, Error *reterr) {
        int r = store_sandbox_each(m->store, load_sandbox, m);

        if (r >= 0)
                r = store_execution_each(m->store, load_execution, m);
        if (r >= 0)
                r = store_counter_get(m->store, "total_created", &m->total_created);
        if (r >= 0)
                r = store_counter_get(m->store, "total_destroyed", &m->total_destroyed);
        if (r >= 0)
                r = store_counter_get(m->store, "executions_total", &m->executions_total);
        return r < 0 ? error_set(reterr, r, "cannot read the store: %m") : 0;
}

static bool manager_has_room(void *userdata) {
        return manager_check_room(userdata, /* reterr= */ NULL) >= 0;
}

int manager_new(const ManagerConfig *config, const Config *settings, sd_event *event, Store *store, Access *access, Manager **ret, Error *reterr) {
        Manager *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return error_set(reterr, -ENOMEM, "out of memory");
        m->config = *config;
        m->settings = settings;
        m->event = sd_event_ref(event);
        m->store = store;
        m->access = access;
        m->recovering = true;
        m->started_at = clock_wall_usec();
        (void) manager_trusts_calendar(m);
        store_set_room(store, manager_has_room, m);
        r = tallies_new(&m->tallies);
        if (r >= 0)
                r = ledger_new(m);
        if (r >= 0)
                r = acquisitions_new(m);
        if (r >= 0)
                r = admission_new(m, &m->admission);
        if (r < 0)
                (void) error_set(reterr, r, "cannot begin: %m");
        if (r >= 0)
                r = journals_new(m, reterr);
        if (r >= 0)
                r = manager_load(m, reterr);
        if (r >= 0)
                r = journals_learn(m, reterr);
        if (r >= 0)
                r = generation_begin(m, reterr);
        if (r >= 0)
                r = home_begin(m, reterr);
        if (r < 0) {
                manager_free(m);
                return r;
        }
        *ret = m;
        return 0;
}

void manager_set_provider(Manager *m, Provider *provider) {
        m->provider = provider;
        provider->events = &core_provider_events;
        provider->userdata = m;
}

Manager *manager_free(Manager *m) {
        Sandbox *sb, *next;

        if (!m)
                return NULL;
        if (!m->recovering)
                generation_end(m);
        store_set_room(m->store, NULL, NULL);
        sd_event_source_disable_unref(m->row_retry);
        recovery_free(m);
        listing_free(m);
        m->admission = admission_free(m->admission);
        HASH_ITER(hh, m->sandboxes, sb, next)
                sandbox_drop(sb);
        acquisitions_free(m);
        tree_calls_free(m);
        quarantine_free(m);
        zygote_calls_free(m);
        m->tallies = tallies_free(m->tallies);
        journals_free(m);
        ledger_free(m);
        sd_event_unref(m->event);
        free(m->home);
        free(m);
        return NULL;
}

unsigned manager_count_held(const Manager *m) {
        const Sandbox *sb, *next;
        unsigned n = 0;

        HASH_ITER(hh, m->sandboxes, sb, next)
                n += !sandbox_status_is_ended(sb->status) && !sb->parked;
        return n;
}

/* Creating. */

/* The table has a ceiling. Ended sandboxes are removed to make room, the oldest first. */
static int check_ceiling(Manager *m, Error *reterr) {
        while (HASH_COUNT(m->sandboxes) >= m->config.sandboxes_max) {
                Sandbox *oldest = tally_first_ended(m);

                if (!oldest)
                        return error_set(reterr, -EDQUOT, "Maximum sandbox limit reached: %u (raise it with --max-sandboxes)",
                                        m->config.sandboxes_max);
                sandbox_end(oldest, oldest->status, /* delete= */ true, "deleted");
        }
        return 0;
}

/* Called before any of the objects is made, so that they can be found after a crash. */
int sandbox_write_footprint(Sandbox *sb) {
        const struct {
                FootprintKind kind;
                const char *prefix, *suffix;
        } objects[] = {
                { FOOTPRINT_DIRECTORY, "box/", "-*"    },
                { FOOTPRINT_SOCKET,    "run/", ".sock" },
                { FOOTPRINT_CGROUP,    "cove-*-", ""   },
                { FOOTPRINT_PROCESS,   "", ""          },
                { FOOTPRINT_TREE,      "disk/", ""     },
        };
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(objects) - !sb->spec.persistent && r >= 0; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "%s%s%s", objects[i].prefix, sb->id, objects[i].suffix);
                r = store_footprint_add(sb->manager->store, sb->id, objects[i].kind, name);
        }
        return r;
}

int sandbox_write_down(Sandbox *sb) {
        Store *store = sb->manager->store;
        int r;

        (void) store_begin(store);
        r = store_sandbox_insert(store, sb);
        if (r >= 0)
                r = sandbox_write_footprint(sb);
        if (r >= 0)
                r = store_counter_set(store, "total_created", sb->manager->total_created + 1);
        if (r >= 0)
                sandbox_event(sb, "created", NULL, "%s", sb->spec.name ? sb->spec.name : sb->id);
        return store_end(store, r);
}

int sandbox_make(Sandbox *sb, Error *reterr) {
        Provider *p = sb->manager->provider;
        int r = p->ops->create(p, sb, reterr);

        sb->spec.hub_fd = -EBADF; /* the create call only borrowed it */
        return r;
}

int sandbox_proceed(Sandbox *sb, Error *reterr) {
        int r = network_prepare(sb, reterr);

        return r == 0 ? sandbox_make(sb, reterr) : r;
}

static int manager_make(Sandbox *sb, Error *reterr) {
        Manager *m = sb->manager;
        int r;

        r = network_admit(sb, reterr);
        if (r < 0)
                return r;
        r = sandbox_write_down(sb);
        if (r < 0)
                return error_set(reterr, r, "cannot save the sandbox: %m");
        m->total_created++;
        r = sb->spec.persistent ? sandbox_disk_make(sb, reterr) : sandbox_proceed(sb, reterr);
        if (r < 0)
                store_may_lose(sandbox_delete_row(sb), "that a sandbox was not made"); /* if it stays, the next start finds a row without any objects */
        else
                observe_status(sb, SANDBOX_INITIALIZING, SANDBOX_INITIALIZING);
        return r;
}

static Sandbox *holder_of_name(Manager *m, const SandboxSpec *spec) {
        Principal owner = { .kind = PRINCIPAL_USE_KEY, .tenant = spec->tenant && *spec->tenant ? spec->tenant : NULL };
        Sandbox *sb = spec->name ? manager_find(m, &owner, spec->name) : NULL;

        /* The lookup also finds ids; only a name counts here. */
        return sb && sb->spec.name && strcmp(sb->spec.name, spec->name) == 0 ? sb : NULL;
}

Sandbox *manager_find_named(Manager *m, const SandboxSpec *spec) {
        Sandbox *sb = holder_of_name(m, spec);

        return sb && !sandbox_is_ending(sb) ? sb : NULL;
}

/* Takes the spec's contents on success. */
static int core_manager_create(Manager *m, SandboxSpec *spec, bool pooled, Sandbox **ret, SandboxDone done, void *userdata, Error *reterr) {
        SandboxSpec empty = { .hub_fd = -EBADF };
        Sandbox *sb;
        int r = m->silent.usec > 0 ? error_set(reterr, -EAGAIN, "%s has not answered for %llu s, and will be replaced: try again", m->silent.who,
                                                     (unsigned long long) (m->silent.usec / USEC_PER_SEC))
                                   : check_ceiling(m, reterr);

        if (r < 0)
                return r;
        sb = sandbox_new(m);
        if (!sb)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = home_make_id(m, sb->id, reterr);
        if (r < 0) {
                free(sb);
                return r;
        }
        sb->spec = *spec;
        sb->pooled = pooled;
        sb->created_at = sb->changed_at = clock_wall_usec();
        sb->expires_at = spec->timeout_usec > 0 ? sb->created_at + spec->timeout_usec : 0;
        sandbox_register(sb);
        r = sandbox_register_name(sb);
        if (r >= 0)
                r = sandbox_call_add(sb, CALL_CREATE, done, userdata);
        if (r < 0)
                (void) error_set(reterr, r, "cannot remember the sandbox: %m");
        else
                r = manager_make(sb, reterr);
        if (r < 0) {
                tally_leave(sb); /* while sb has the spec that was counted */
                network_gone(sb); /* and the address */
                sb->spec = empty; /* the contents still belong to the caller, and only the name was borrowed */
                manager_forget_name(m, spec);
                sandbox_drop(sb);
                return r;
        }
        *spec = empty;
        *ret = sb;
        return 0;
}

int manager_create_pooled(Manager *m, SandboxSpec *spec, Sandbox **ret, Error *reterr) {
        return core_manager_create(m, spec, /* pooled= */ true, ret, NULL, NULL, reterr);
}

int manager_create(Manager *m, const Principal *who, SandboxSpec *spec, Sandbox **ret, bool *ret_existing, SandboxDone done,
                void *userdata, Error *reterr) {
        Sandbox *sb;

        *ret_existing = false;
        sb = holder_of_name(m, spec);
        if (sb && sandbox_is_ending(sb)) {
                manager_forget_name(m, spec); /* an ended sandbox gives its name up to a new one */
                sandbox_end(sb, sb->status, /* delete= */ true, "deleted");
                sb = NULL;
        }
        if (sb) {
                *ret_existing = true;
                *ret = sb;
                return 0;
        }
        return core_manager_create(m, spec, /* pooled= */ false, ret, done, userdata, reterr);
}

int manager_await_ready(Sandbox *sb, SandboxDone done, void *userdata) {
        if (sandbox_is_up(sb) && sb->activity == ACTIVITY_CONNECTING)
                return sandbox_call_add(sb, CALL_NETWORK, done, userdata);
        if (sb->status != SANDBOX_INITIALIZING) {
                done(sb, NULL, userdata);
                return 0;
        }
        return sandbox_call_add(sb, CALL_CREATE, done, userdata);
}

void manager_end_all(Manager *m, const char *reason) {
        Sandbox *sb, *next;

        HASH_ITER(hh, m->sandboxes, sb, next)
                sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, reason);
}

static uint64_t *stat_of(ManagerStats *s, SandboxStatus status) {
        switch (status) {
        case SANDBOX_INITIALIZING: return &s->provisioning;
        case SANDBOX_READY:
        case SANDBOX_RUNNING: return &s->active;
        case SANDBOX_PAUSED: return &s->paused;
        case SANDBOX_STOPPED: return &s->stopped;
        case SANDBOX_TERMINATING: return &s->terminating;
        default: return &s->ended;
        }
}

static void add_sums(ManagerStats *s, const TallySums *sums) {
        for (SandboxStatus status = 0; status < _SANDBOX_STATUS_MAX; status++)
                *stat_of(s, status) += sums->n_by_status[status];
        s->executions_running += sums->n_alive;
}

static TallySums without(TallySums all, const TallySums *some) {
        for (SandboxStatus status = 0; status < _SANDBOX_STATUS_MAX; status++)
                all.n_by_status[status] -= some->n_by_status[status];
        all.n_alive -= some->n_alive;
        return all;
}

void manager_stats(const Manager *m, const Principal *who, ManagerStats *ret) {
        TallySums sums, pooled = tally_of_pooled(m);

        memset(ret, 0, sizeof(*ret));
        ret->cap = admission_cap(m->admission);
        if (who->tenant) {
                sums = tally_of_tenant(m, who->tenant);
                add_sums(ret, &sums);
                ret->waiting = admission_waiting(m->admission, who->tenant);
                return;
        }
        sums = without(tally_of_all(m), &pooled);
        add_sums(ret, &sums);
        ret->pooled = pooled.live;
        ret->waiting = admission_waiting(m->admission, NULL);
        ret->total_created = m->total_created;
        ret->total_destroyed = m->total_destroyed;
        ret->executions_total = m->executions_total;
}

void manager_set_recorder(Manager *m, const CoreRecorder *recorder) {
        m->recorder = recorder;
}
