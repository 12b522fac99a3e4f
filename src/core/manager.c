#include "core/manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/internal.h"
#include "jail/ids.h"

/* Loading: rows become objects. */

static int load_sandbox(Sandbox *row, void *userdata) {
        Manager *m = userdata;
        Sandbox *sb = sandbox_new(m);
        int r;

        if (!sb)
                return -ENOMEM;
        memcpy(sb->id, row->id, sizeof(sb->id));
        sb->spec = row->spec;
        memset(&row->spec, 0, sizeof(row->spec));
        sb->reason = TAKE_PTR(row->reason);
        sb->status = row->status == SANDBOX_RUNNING ? SANDBOX_READY : row->status;
        sb->created_at = row->created_at;
        sb->changed_at = row->changed_at;
        sb->ready_at = row->ready_at;
        sb->ended_at = row->ended_at;
        sb->expires_at = row->expires_at;
        sb->guards_missing = row->guards_missing;
        sb->id_base = row->id_base;
        sb->pid = row->pid;
        sb->last_execution = row->last_execution;
        sb->operations = MAX_OF(row->operations, row->last_execution); /* executions are written, each; the rest now and then */
        sb->oom_seen = row->oom_seen;
        sb->end_status = row->end_status;
        sb->end_delete = row->end_delete;
        sandbox_register(sb);
        r = sandbox_register_name(sb);
        return r == -EEXIST ? 0 : r;
}

static int load_execution(const char *sandbox_id, Execution *row, void *userdata) {
        Manager *m = userdata;
        Sandbox *sb;
        Execution *x;

        HASH_FIND_STR(m->sandboxes, sandbox_id, sb);
        if (!sb)
                return 0;
        x = execution_new(sb, row->number);
        if (!x)
                return -ENOMEM;
        x->spec = row->spec;
        memset(&row->spec, 0, sizeof(row->spec));
        x->status = row->status == EXECUTION_EXITED ? EXECUTION_EXITED : EXECUTION_STARTING; /* until its PID 1 says more */
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
        if (execution_ended(x))
                journal_ended(x);
        else
                execution_count(sb, 1);
        sb->operations = MAX_OF(sb->operations, x->number);
        if (clock_wall_usec() > x->started_at && x->started_at > 0)
                x->born -= (int64_t) (clock_wall_usec() - x->started_at);
        return 0;
}

static int load(Manager *m, Error *reterr) {
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
        r = journals_new(m, reterr);
        if (r >= 0)
                r = load(m, reterr);
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
        recovery_free(m);
        listing_free(m);
        HASH_ITER(hh, m->sandboxes, sb, next)
                sandbox_free(sb);
        journals_free(m);
        sd_event_unref(m->event);
        free(m);
        return NULL;
}

/* Creating. */

static int check_quota(const Manager *m, const char *tenant_name, const SandboxLimits *wanted, Error *reterr) {
        const Tenant *tenant = tenant_name && *tenant_name ? access_tenant(m->access, tenant_name) : NULL;
        uint64_t sandboxes = 0, cpu = 0, memory = 0, disk = 0;
        const Sandbox *sb, *next;

        if (HASH_COUNT(m->sandboxes) >= m->config.sandboxes_max)
                return error_set(reterr, -EDQUOT, "Maximum sandbox limit reached: %u (raise it with --max-sandboxes)",
                                m->config.sandboxes_max);
        if (!tenant)
                return 0;
        HASH_ITER(hh, m->sandboxes, sb, next) {
                if (!sandbox_status_is_live(sb->status) || !sb->spec.tenant || strcmp(sb->spec.tenant, tenant_name) != 0)
                        continue;
                sandboxes++;
                cpu += sb->spec.limits.cpu_milli;
                memory += sb->spec.limits.memory_bytes;
                disk += sb->spec.limits.disk_bytes;
        }
        if (tenant->sandboxes_max > 0 && sandboxes + 1 > tenant->sandboxes_max)
                return error_set(reterr, -EDQUOT, "over quota: %llu of %llu sandboxes of tenant '%s' are there",
                                (unsigned long long) sandboxes, (unsigned long long) tenant->sandboxes_max, tenant_name);
        if (tenant->cpu_milli_max > 0 && wanted->cpu_milli == 0)
                return error_set(reterr, -EDQUOT, "over quota: tenant '%s' has a limit on CPUs, so limits.cpuCores must be given",
                                tenant_name);
        if (tenant->cpu_milli_max > 0 && cpu + wanted->cpu_milli > tenant->cpu_milli_max)
                return error_set(reterr, -EDQUOT, "over quota: %llu.%03llu of %llu.%03llu CPUs of tenant '%s' are taken",
                                (unsigned long long) cpu / 1000, (unsigned long long) cpu % 1000,
                                (unsigned long long) tenant->cpu_milli_max / 1000,
                                (unsigned long long) tenant->cpu_milli_max % 1000, tenant_name);
        if (tenant->memory_bytes_max > 0 && memory + wanted->memory_bytes > tenant->memory_bytes_max)
                return error_set(reterr, -EDQUOT, "over quota: %llu of %llu MB of memory of tenant '%s' are taken",
                                (unsigned long long) memory >> 20, (unsigned long long) tenant->memory_bytes_max >> 20, tenant_name);
        if (tenant->disk_bytes_max > 0 && disk + wanted->disk_bytes > tenant->disk_bytes_max)
                return error_set(reterr, -EDQUOT, "over quota: %llu of %llu MB of disk of tenant '%s' are taken",
                                (unsigned long long) disk >> 20, (unsigned long long) tenant->disk_bytes_max >> 20, tenant_name);
        return 0;
}

/* Before any of it is made: so that whoever comes after us knows what to look for. */
static int write_down(Sandbox *sb) {
        Store *store = sb->manager->store;
        const struct {
                LedgerKind kind;
                const char *prefix, *suffix;
        } objects[] = {
                { LEDGER_DIRECTORY, "box/", "-*"    },
                { LEDGER_SOCKET,    "run/", ".sock" },
                { LEDGER_CGROUP,    "cove-*-", ""   },
                { LEDGER_PROCESS,   "", ""          },
        };
        int r;

        (void) store_begin(store);
        r = store_sandbox_insert(store, sb);
        for (size_t i = 0; i < ELEMENTSOF(objects) && r >= 0; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "%s%s%s", objects[i].prefix, sb->id, objects[i].suffix);
                r = store_ledger_add(store, sb->id, objects[i].kind, name);
        }
        if (r >= 0)
                r = store_counter_set(store, "total_created", sb->manager->total_created + 1);
        if (r >= 0) {
                sandbox_event(sb, "created", NULL, "%s", sb->spec.name ? sb->spec.name : sb->id);
                r = store_commit(store);
        }
        if (r < 0)
                store_rollback(store);
        return r;
}

static int make(Sandbox *sb, Error *reterr) {
        Manager *m = sb->manager;
        int r;

        r = write_down(sb);
        if (r < 0)
                return error_set(reterr, r, "cannot write the sandbox down: %m");
        m->total_created++;
        r = m->provider->ops->create(m->provider, sb, reterr);
        if (r < 0)
                sandbox_delete_row(sb);
        else
                observe_status(sb, SANDBOX_INITIALIZING, SANDBOX_INITIALIZING);
        return r;
}

static Sandbox *find_named(Manager *m, const Principal *who, const SandboxSpec *spec) {
        Principal owner = { .scope = who->scope, .tenant = spec->tenant && *spec->tenant ? spec->tenant : NULL };
        Sandbox *sb = spec->name ? manager_find(m, &owner, spec->name) : NULL;

        /* Found by its name, not by its id. */
        return sb && sb->spec.name && strcmp(sb->spec.name, spec->name) == 0 ? sb : NULL;
}

int manager_create(Manager *m, const Principal *who, SandboxSpec *spec, Sandbox **ret, bool *ret_existing, SandboxDone done,
                void *userdata, Error *reterr) {
        SandboxSpec empty = { 0 };
        Sandbox *sb;
        int r;

        *ret_existing = false;
        sb = find_named(m, who, spec);
        if (sb && (sandbox_status_is_ended(sb->status) || sb->status == SANDBOX_TERMINATING)) {
                manager_forget_name(m, spec); /* what has ended holds no name that somebody else wants */
                sandbox_end(sb, sb->status, /* delete= */ true, "deleted");
                sb = NULL;
        }
        if (sb) {
                *ret_existing = true;
                *ret = sb;
                return 0;
        }
        r = check_quota(m, spec->tenant, &spec->limits, reterr);
        if (r < 0)
                return r;

        sb = sandbox_new(m);
        if (!sb || id_make(sb->id) < 0) {
                free(sb);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        sb->spec = *spec;
        sb->created_at = sb->changed_at = clock_wall_usec();
        sb->expires_at = spec->timeout_usec > 0 ? sb->created_at + spec->timeout_usec : 0;
        sandbox_register(sb);
        r = sandbox_register_name(sb);
        if (r >= 0)
                r = sandbox_call_add(sb, CALL_CREATE, done, userdata);
        if (r < 0)
                (void) error_set(reterr, r, "cannot remember the sandbox: %m");
        else
                r = make(sb, reterr);
        if (r < 0) {
                sb->spec = empty; /* still the caller's; its name was only lent */
                manager_forget_name(m, spec);
                sandbox_free(sb);
                return r;
        }
        *spec = empty;
        *ret = sb;
        return 0;
}

int manager_await_ready(Sandbox *sb, SandboxDone done, void *userdata) {
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

static void count_own(const Manager *m, const char *tenant, ManagerStats *ret) {
        const Sandbox *sb, *next;

        HASH_ITER(hh, m->sandboxes, sb, next) {
                if (!sb->spec.tenant || strcmp(sb->spec.tenant, tenant) != 0)
                        continue;
                (*stat_of(ret, sb->status))++;
                ret->executions_running += sb->n_alive;
        }
}

void manager_stats(const Manager *m, const Principal *who, ManagerStats *ret) {
        memset(ret, 0, sizeof(*ret));
        if (who->tenant) {
                count_own(m, who->tenant, ret);
                return;
        }
        for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX; s++)
                *stat_of(ret, s) += m->n_by_status[s];
        ret->executions_running = m->n_alive;
        ret->total_created = m->total_created;
        ret->total_destroyed = m->total_destroyed;
        ret->executions_total = m->executions_total;
}
