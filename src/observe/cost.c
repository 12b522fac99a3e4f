/* cost.c: usage by sandbox, task, agent type or tenant, and its cost at the configured prices.
 *
 * Usage of sandboxes and tasks comes from their records, which are kept for metrics.retention. That of agent types and
 * tenants comes from the hourly sums, which are kept for ever. Live sandboxes count with their usage so far. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/store.h"
#include "observe/internal.h"

#define HOUR     (3600 * USEC_PER_SEC)
#define GB       (1024.0 * 1024 * 1024)
#define ROWS_MAX 20000 /* records that a request reads at most, because the loop waits for it */

double usage_cost(const CostConfig *price, usec_t cpu_usec, double byte_seconds, uint64_t egress_bytes) {
        return (double) cpu_usec / USEC_PER_SEC * price->per_cpu_second + byte_seconds / GB * price->per_gb_second +
               (double) egress_bytes / GB * price->per_egress_gb;
}

typedef struct CostGroup {
        char *key; /* "": none */
        uint64_t sandboxes, live, lifetime_usec, cpu_usec, egress_bytes, memory_peak_bytes;
        double byte_seconds, cost;
        const char *basis; /* by sandbox only */
        usec_t started_at, ended_at;
        UT_hash_handle hh;
} CostGroup;

typedef struct CostSum {
        Observe *observe;
        const char *tenant; /* NULL: all */
        const char *(*key)(const char *sandbox, const char *task, const char *agent_type, const char *tenant);
        CostGroup *groups, total;
        uint64_t rows;
        int error;
} CostSum;

static const char *key_sandbox(const char *sandbox, const char *task, const char *agent_type, const char *tenant) {
        return sandbox;
}

static const char *key_task(const char *sandbox, const char *task, const char *agent_type, const char *tenant) {
        return task;
}

static const char *key_agent_type(const char *sandbox, const char *task, const char *agent_type, const char *tenant) {
        return agent_type;
}

static const char *key_tenant(const char *sandbox, const char *task, const char *agent_type, const char *tenant) {
        return tenant;
}

static CostGroup *cost_group_get(CostSum *s, const char *key) {
        CostGroup *g;

        if (!key)
                key = "";
        HASH_FIND_STR(s->groups, key, g);
        if (g)
                return g;
        g = calloc(1, sizeof(*g));
        if (!g || !(g->key = strdup(key))) {
                free(g);
                s->error = -ENOMEM;
                return NULL;
        }
        HASH_ADD_KEYPTR(hh, s->groups, g->key, strlen(g->key), g);
        return g;
}

static void group_add(CostGroup *g, const CostGroup *x) {
        g->sandboxes += x->sandboxes;
        g->live += x->live;
        g->lifetime_usec += x->lifetime_usec;
        g->cpu_usec += x->cpu_usec;
        g->egress_bytes += x->egress_bytes;
        g->memory_peak_bytes = MAX_OF(g->memory_peak_bytes, x->memory_peak_bytes);
        g->byte_seconds += x->byte_seconds;
        g->cost += x->cost;
        g->basis = x->basis;
        g->started_at = x->started_at;
        g->ended_at = x->ended_at;
}

static int sum_add(CostSum *s, const char *key, const char *tenant, CostGroup *x) {
        CostGroup *g;

        if (s->tenant && strcmp(tenant ? tenant : "", s->tenant) != 0)
                return 0;
        x->cost = usage_cost(&s->observe->manager->settings->cost, x->cpu_usec, x->byte_seconds, x->egress_bytes);
        g = cost_group_get(s, key);
        if (!g)
                return -ENOMEM;
        group_add(g, x);
        group_add(&s->total, x);
        return 0;
}

static int add_record(const UsageRow *row, void *userdata) {
        CostSum *s = userdata;
        CostGroup x = {
                .sandboxes = 1,
                .lifetime_usec = row->ended_at > row->started_at ? row->ended_at - row->started_at : 0,
                .cpu_usec = row->cpu_usec,
                .egress_bytes = row->egress_bytes,
                .memory_peak_bytes = row->memory_peak_bytes,
                .byte_seconds = (double) row->memory_byte_seconds,
                .started_at = row->started_at,
                .ended_at = row->ended_at,
                .basis = strcmp(row->basis, "sampled") == 0 ? "sampled" : strcmp(row->basis, "peak") == 0 ? "peak" : "limit",
        };

        s->rows++;
        return sum_add(s, s->key(row->sandbox, row->task_id, row->agent_type, row->tenant), row->tenant, &x);
}

static int add_hour(const UsageHour *h, void *userdata) {
        CostSum *s = userdata;
        CostGroup x = {
                .sandboxes = h->sandboxes,
                .lifetime_usec = h->lifetime_usec,
                .cpu_usec = h->cpu_usec,
                .egress_bytes = h->egress_bytes,
                .memory_peak_bytes = h->memory_peak_bytes,
                .byte_seconds = (double) h->memory_byte_seconds,
        };

        s->rows++;
        return sum_add(s, s->key(NULL, NULL, h->agent_type, h->tenant), h->tenant, &x);
}

/* With the usage of their last sample. */
static int add_live(CostSum *s) {
        usec_t now = clock_usec(), wall = clock_wall_usec();
        const Sandbox *sb, *next;
        int r = 0;

        HASH_ITER(hh, s->observe->manager->sandboxes, sb, next) {
                const Note *n = note_find(s->observe, sb);
                usec_t since = sandbox_owned_since(sb);
                CostGroup x = { .sandboxes = 1, .live = 1, .started_at = since };

                if (!n || n->sampled_at == 0 || sandbox_is_ending(sb))
                        continue;
                x.lifetime_usec = wall > since ? wall - since : 0;
                x.cpu_usec = n->last.cpu_usec;
                x.egress_bytes = n->last.network_tx_bytes;
                x.memory_peak_bytes = n->last.memory_peak_bytes;
                x.byte_seconds = note_byte_seconds(n, sb, &n->last, now, &x.basis);
                r = sum_add(s, s->key(sb->id, sb->spec.task_id, sb->spec.agent_type, sb->spec.tenant), sb->spec.tenant, &x);
                if (r < 0)
                        break;
        }
        return r;
}

static int by_cost(const CostGroup *a, const CostGroup *b) {
        if (a->cost < b->cost || a->cost > b->cost)
                return a->cost < b->cost ? 1 : -1;
        return a->cpu_usec != b->cpu_usec ? (a->cpu_usec < b->cpu_usec ? 1 : -1) : strcmp(a->key, b->key);
}

static json_t *group_json(const CostGroup *g) {
        double seconds = (double) g->lifetime_usec / USEC_PER_SEC;

        return json_pack("{s:I,s:I,s:f,s:f,s:f,s:I,s:f,s:f,s:f}",
                        "sandboxes", (json_int_t) g->sandboxes, "live", (json_int_t) g->live,
                        "lifetimeSeconds", seconds,
                        "cpuSeconds", (double) g->cpu_usec / USEC_PER_SEC,
                        "memoryGBSeconds", g->byte_seconds / GB,
                        "egressBytes", (json_int_t) g->egress_bytes,
                        "averageMemoryMB", seconds > 0 ? g->byte_seconds / seconds / (1 << 20) : 0.0,
                        "peakMemoryMB", (double) g->memory_peak_bytes / (1 << 20),
                        "cost", g->cost);
}

static json_t *groups_json(CostSum *s, bool by_sandbox, size_t limit) {
        json_t *list = json_array();
        const CostGroup *g, *next;

        HASH_SORT(s->groups, by_cost);
        HASH_ITER(hh, s->groups, g, next) {
                json_t *one;

                if (json_array_size(list) >= limit)
                        break;
                one = group_json(g);
                (void) json_object_set_new(one, "key", *g->key ? json_text_or_null(g->key) : json_null());
                if (by_sandbox) {
                        (void) json_object_set_new(one, "startedAt", json_time(g->started_at));
                        (void) json_object_set_new(one, "endedAt", json_time(g->ended_at));
                        (void) json_object_set_new(one, "memoryBasis", json_string(g->basis));
                }
                (void) json_array_append_new(list, one);
        }
        return list;
}

static void sum_done(CostSum *s) {
        CostGroup *g, *next;

        HASH_ITER(hh, s->groups, g, next) {
                HASH_DEL(s->groups, g);
                free(g->key);
                free(g);
        }
}

static const struct {
        const char *name;
        const char *(*key)(const char *sandbox, const char *task, const char *agent_type, const char *tenant);
        bool records;
} kinds[] = {
        { "sandbox",   key_sandbox,    true  },
        { "task",      key_task,       true  },
        { "agentType", key_agent_type, false },
        { "tenant",    key_tenant,     false },
};

static json_t *prices_json(const CostConfig *c) {
        return json_pack("{s:s,s:f,s:f,s:f}", "currency", c->currency, "perCpuSecond", c->per_cpu_second, "perGBSecond", c->per_gb_second,
                        "perEgressGB", c->per_egress_gb);
}

static int cost_collect(CostSum *s, bool records, usec_t from, usec_t to) {
        Store *store = s->observe->manager->store;
        int r = usage_flush(s->observe);

        if (r >= 0)
                r = records ? store_usage_each(store, s->tenant, from, to, ROWS_MAX, add_record, s) : store_usage_hours(store, from, to, add_hour, s);
        if (r >= 0 && to + USEC_PER_SEC > clock_wall_usec()) /* the request is for the time until now */
                r = add_live(s);
        return r;
}

int observe_cost_json(Observe *o, const char *by, usec_t from, usec_t to, const char *tenant, size_t limit, json_t **ret, Error *reterr) {
        CostSum s = { .observe = o, .tenant = tenant };
        size_t k = 0;
        int r;

        while (k < ELEMENTSOF(kinds) && strcmp(kinds[k].name, by) != 0)
                k++;
        if (k == ELEMENTSOF(kinds))
                return error_set(reterr, -EINVAL, "'%.60s' is none of sandbox, task, agentType, tenant", by);
        if (from >= to)
                return error_set(reterr, -EINVAL, "from must be before to");
        s.key = kinds[k].key;
        if (!kinds[k].records)
                from = from / HOUR * HOUR;
        r = cost_collect(&s, kinds[k].records, from, to);
        if (r >= 0)
                *ret = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:b}", "by", by, "from", json_time(from), "to", json_time(to),
                                "prices", prices_json(&o->manager->settings->cost), "total", group_json(&s.total),
                                "items", groups_json(&s, k == 0, limit),
                                "truncated", HASH_COUNT(s.groups) > limit || (kinds[k].records && s.rows >= ROWS_MAX));
        sum_done(&s);
        return r < 0 ? error_set(reterr, r, "the usage cannot be read: %m") : *ret ? 0 : -ENOMEM;
}
