/* usage.c: the usage of ended sandboxes.
 *
 * CPU time is the kernel's count at the end. Memory is the mean of the samples (one per second, fewer with many
 * sandboxes) times the time that the sandbox had an owner. A sandbox that ended before its first sample counts with its
 * peak, or with its limit where the kernel reports no memory: never with less than it used. `basis` says which.
 * Records wait in memory for at most a second, so that a burst of ends is one transaction. */

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "core/store.h"
#include "observe/internal.h"

#define FLUSH_USEC  USEC_PER_SEC
#define FLUSH_AT    64
#define PENDING_MAX 4096 /* records kept while the store cannot be written */
#define READ_MAX    20000 /* records that a request reads at most, because the loop waits for it */

double note_byte_seconds(const Note *n, const Sandbox *sb, const SandboxUsage *usage, usec_t now, const char **ret_basis) {
        usec_t since = sandbox_owned_since(sb), wall = clock_wall_usec();
        double seconds = wall > since ? (double) (wall - since) / USEC_PER_SEC : 0;
        double watched = n && n->sampled_at > n->born ? (double) (n->sampled_at - n->born) / USEC_PER_SEC : 0;

        if (watched > 0) {
                *ret_basis = "sampled";
                return n->byte_seconds / watched * seconds;
        }
        *ret_basis = usage->has_memory ? "peak" : "limit";
        return (double) (usage->has_memory ? usage->memory_peak_bytes : sb->spec.limits.memory_bytes) * seconds;
}

static void row_done(UsageRow *row) {
        free(row->tenant);
        free(row->agent_type);
        free(row->task_id);
}

static int on_flush(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) usage_flush(userdata);
        return 0;
}

static int write_pending(Observe *o) {
        Store *store = o->manager->store;
        int r = 0;

        (void) store_begin(store);
        for (size_t i = 0; i < o->n_pending && r >= 0; i++)
                r = store_usage_add(store, &o->pending[i]);
        return store_end(store, r);
}

static void observe_usage_forget_rows(Observe *o) {
        for (size_t i = 0; i < o->n_pending; i++)
                row_done(&o->pending[i]);
        o->n_pending = 0;
}

void usage_forget(Observe *o) {
        observe_usage_forget_rows(o);
        free(o->pending);
        o->pending = NULL;
        o->room_pending = 0;
}

static void flush_later(Observe *o) {
        if (!o->flusher)
                (void) sd_event_add_time_relative(o->manager->event, &o->flusher, CLOCK_MONOTONIC, FLUSH_USEC, 0, on_flush, o);
        else {
                (void) sd_event_source_set_time_relative(o->flusher, FLUSH_USEC);
                (void) sd_event_source_set_enabled(o->flusher, SD_EVENT_ONESHOT);
        }
}

int usage_flush(Observe *o) {
        int r;

        if (o->n_pending == 0)
                return 0;
        r = write_pending(o);
        if (r >= 0)
                observe_usage_forget_rows(o);
        else if (o->n_pending >= PENDING_MAX) {
                log_error("%zu records of what sandboxes have used are lost: %s", o->n_pending, strerror(-r));
                observe_usage_forget_rows(o);
        } else
                flush_later(o);
        return r;
}

static char *observe_usage_copy(const char *text) {
        return text && *text ? strdup(text) : NULL;
}

static void observe_usage_queue(Observe *o, const Sandbox *sb, const UsageRow *row) {
        UsageRow *slot;

        if (ARRAY_RESERVE(o->pending, o->room_pending, o->n_pending + 1) < 0)
                return;
        slot = &o->pending[o->n_pending++];
        *slot = *row;
        slot->tenant = observe_usage_copy(sb->spec.tenant);
        slot->agent_type = observe_usage_copy(sb->spec.agent_type);
        slot->task_id = observe_usage_copy(sb->spec.task_id);
        if (o->n_pending == 1)
                flush_later(o);
        else if (o->n_pending % FLUSH_AT == 0)
                (void) usage_flush(o);
}

static double cost_of(const Observe *o, const UsageRow *row) {
        const CostConfig *price = &o->manager->settings->cost;

        return usage_cost(price, row->cpu_usec, (double) row->memory_byte_seconds, row->egress_bytes);
}

static void observe_usage_count(Observe *o, const Sandbox *sb, const Note *n, const UsageRow *row, const SandboxUsage *usage) {
        const char *agent = agent_label(sb);
        double cpu = (double) row->cpu_usec / USEC_PER_SEC;

        metric_add(o, METRIC_CPU_SECONDS, agent, cpu);
        metric_add(o, METRIC_MEMORY_BYTE_SECONDS, agent, (double) row->memory_byte_seconds);
        metric_add(o, METRIC_OOM_KILLS, agent, (double) usage->oom_kills);
        metric_add(o, METRIC_COST, agent, cost_of(o, row));
        if (usage->has_memory)
                metric_observe(o, METRIC_MEMORY_PEAK, agent, (double) usage->memory_peak_bytes);
        if (!usage->has_cpu)
                return;
        metric_observe(o, METRIC_CPU_PER_SANDBOX, agent, cpu);
        if (n && n->busy > 0)
                metric_observe(o, METRIC_CPU_CORES, agent, (double) row->cpu_usec / (double) n->busy);
}

/* Adds egress that is reported a moment after the end of the sandbox. */
void usage_late(Observe *o, const Sandbox *sb, uint64_t egress_bytes) {
        const CostConfig *price = &o->manager->settings->cost;

        for (size_t i = 0; i < o->n_pending; i++)
                if (strcmp(o->pending[i].sandbox, sb->id) == 0) {
                        o->pending[i].egress_bytes += egress_bytes;
                        metric_add(o, METRIC_COST, agent_label(sb), usage_cost(price, 0, 0, egress_bytes));
                        return;
                }
}

void usage_record(Observe *o, Sandbox *sb, const SandboxUsage *usage) {
        Note *n = note_find(o, sb);
        usec_t now = clock_usec();
        UsageRow row = {
                .started_at = sandbox_owned_since(sb),
                .ended_at = clock_wall_usec(),
                .cpu_usec = usage->has_cpu ? usage->cpu_usec - MIN_OF(usage->cpu_usec, sb->cpu_others_usec) : 0,
                .egress_bytes = usage->has_network ? usage->network_tx_bytes : 0,
                .memory_peak_bytes = usage->has_memory ? usage->memory_peak_bytes : 0,
        };

        if (n && n->sampled_at != 0)
                note_sampled(n, sb, usage, now);
        if (n && n->alive > 0) {
                n->busy += now - n->busy_since;
                n->busy_since = now;
        }
        memcpy(row.sandbox, sb->id, sizeof(row.sandbox));
        row.memory_byte_seconds = (uint64_t) note_byte_seconds(n, sb, usage, now, &row.basis);
        observe_usage_count(o, sb, n, &row, usage);
        observe_usage_queue(o, sb, &row);
}

typedef struct UsageRemoved {
        const Manager *manager;
        int (*each)(usec_t started_at, usec_t ended_at, void *userdata);
        void *userdata;
} UsageRemoved;

static int usage_if_removed(const UsageRow *row, void *userdata) {
        const UsageRemoved *u = userdata;

        return manager_by_id(u->manager, row->sandbox) ? 0 : u->each(row->started_at, row->ended_at, u->userdata);
}

int observe_each_removed(Observe *o, const char *tenant, usec_t from, int (*each)(usec_t started_at, usec_t ended_at, void *userdata),
                void *userdata) {
        UsageRemoved u = { .each = each, .userdata = userdata };
        int r;

        if (!o)
                return 0;
        u.manager = o->manager;
        r = usage_flush(o);
        return r < 0 ? r : store_usage_each(o->manager->store, tenant, from, INT64_MAX, READ_MAX, usage_if_removed, &u);
}
