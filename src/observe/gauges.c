/* gauges.c: numbers that are computed on request, and sums over live sandboxes. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "config.h"
#include "core/admission.h"
#include "core/ledger.h"
#include "core/pool.h"
#include "core/tally.h"
#include "core/provider.h"
#include "observe/internal.h"

static const AgeClass classes[] = {
        { "under_1m",  60 * USEC_PER_SEC    },
        { "under_5m",  300 * USEC_PER_SEC   },
        { "under_10m", 600 * USEC_PER_SEC   },
        { "under_30m", 1800 * USEC_PER_SEC  },
        { "under_1h",  3600 * USEC_PER_SEC  },
        { "under_24h", 86400 * USEC_PER_SEC },
        { "older",     USEC_INFINITY        },
};

size_t age_classes(const AgeClass **ret) {
        *ret = classes;
        return ELEMENTSOF(classes);
}

#define EACH_LIVE(sb, next, o)                                                                               \
        HASH_ITER(hh, (o)->manager->sandboxes, sb, next)                                                     \
                if (sandbox_status_is_live(sb->status) && !sb->pooled)

void count_ages(const Observe *o, uint64_t *ret_counts, usec_t *ret_oldest) {
        usec_t now = clock_wall_usec();
        const Sandbox *sb, *next;

        memset(ret_counts, 0, ELEMENTSOF(classes) * sizeof(*ret_counts));
        *ret_oldest = 0;
        EACH_LIVE(sb, next, o) {
                usec_t since = sandbox_owned_since(sb), age = now > since ? now - since : 0;
                size_t i = 0;

                while (age >= classes[i].below)
                        i++;
                ret_counts[i]++;
                *ret_oldest = MAX_OF(*ret_oldest, age);
        }
}

uint64_t count_active(const Observe *o) {
        return tally_of_all(o->manager).live - tally_of_pooled(o->manager).live;
}

static void refresh_sandboxes(Observe *o) {
        TallySums all = tally_of_all(o->manager), pooled = tally_of_pooled(o->manager);
        uint64_t ages[ELEMENTSOF(classes)];
        usec_t oldest;

        for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX; s++)
                metric_set(o, METRIC_SANDBOXES, sandbox_status_name(s), (double) (all.n_by_status[s] - pooled.n_by_status[s]));
        count_ages(o, ages, &oldest);
        for (size_t i = 0; i < ELEMENTSOF(classes); i++)
                metric_set(o, METRIC_SANDBOXES_BY_AGE, classes[i].name, (double) ages[i]);
        metric_set(o, METRIC_EXECUTIONS_RUNNING, NULL, (double) all.n_alive);
}

static void refresh_live(Observe *o) {
        double memory_max = 0, memory = 0, cpu_max = 0, cpu = 0;
        usec_t oldest = 0, newest = 0;
        const Note *n, *next;
        unsigned sampled = 0;

        HASH_ITER(hh, o->notes, n, next) {
                double mb = (double) n->last.memory_bytes / (1 << 20);

                oldest = oldest == 0 ? n->activity : MIN_OF(oldest, n->activity);
                newest = MAX_OF(newest, n->activity);
                if (n->sampled_at == 0)
                        continue;
                sampled++;
                memory += mb;
                memory_max = MAX_OF(memory_max, mb);
                cpu += n->cpu_percent;
                cpu_max = MAX_OF(cpu_max, n->cpu_percent);
        }
        metric_set(o, METRIC_LIVE_MEMORY_MB, "max", memory_max);
        metric_set(o, METRIC_LIVE_MEMORY_MB, "sum", memory);
        metric_set(o, METRIC_LIVE_CPU_PERCENT, "max", cpu_max);
        metric_set(o, METRIC_LIVE_CPU_PERCENT, "sum", cpu);
        metric_set(o, METRIC_LIVE_ACTIVITY, "oldest", oldest != 0 ? (double) oldest / USEC_PER_SEC : NAN);
        metric_set(o, METRIC_LIVE_ACTIVITY, "newest", newest != 0 ? (double) newest / USEC_PER_SEC : NAN);
        metric_set(o, METRIC_LIVE_SAMPLED, NULL, sampled);
}

static void refresh_pool(Observe *o, const PoolStats *s) {
        const struct {
                const char *name;
                uint64_t value;
        } events[] = {
                { "created", s->created },     { "claimed", s->claimed }, { "released", s->released },
                { "destroyed", s->destroyed }, { "failed", s->failed },   { "missed", s->missed },
        };
        char name[160];

        (void) snprintf(name, sizeof(name), "%s%s%s", s->config.template_name, *s->config.profile ? "/" : "", s->config.profile);
        metric_set(o, METRIC_POOL_IDLE, name, s->idle);
        metric_set(o, METRIC_POOL_PREPARING, name, s->preparing);
        metric_set(o, METRIC_POOL_IN_USE, name, s->in_use);
        metric_set(o, METRIC_POOL_TARGET, name, s->target);
        metric_set(o, METRIC_POOL_HIT_RATE, name, s->hit_rate);
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                metric_set2(o, METRIC_POOL_EVENTS, name, events[i].name, (double) events[i].value);
}

static int refresh_tenant(const char *tenant, const LedgerSums *sums, void *userdata) {
        for (LedgerKind k = 0; k < _LEDGER_MAX; k++)
                metric_set2(userdata, METRIC_TENANT_HELD, tenant, shape_name(&ledger_kind_names, (int) k), (double) sums->amounts[k]);
        return 0;
}

static void refresh_pools(Observe *o) {
        const Pools *p = o->manager->pools;

        for (size_t i = 0; p && i < pools_count(p); i++) {
                PoolStats s = { 0 };

                pools_stats(p, i, &s);
                refresh_pool(o, &s);
        }
}

static AdmissionStats admission_of(const Observe *o) {
        AdmissionStats s = { 0 };

        if (o->manager->admission)
                admission_stats(o->manager->admission, &s);
        return s;
}

static void refresh_admission(Observe *o) {
        AdmissionStats s = admission_of(o);

        metric_set(o, METRIC_ADMISSION_WAITING, NULL, (double) s.waiting);
        metric_set(o, METRIC_ADMISSION_CAP, NULL, s.cap);
        metric_set(o, METRIC_ADMISSION_EVENTS, "granted", (double) s.granted);
        metric_set(o, METRIC_ADMISSION_EVENTS, "timed_out", (double) s.timed_out);
        metric_set(o, METRIC_ADMISSION_EVENTS, "refused", (double) s.refused);
}

double gauge_cap(Observe *o) {
        unsigned cap = o->manager->admission ? admission_cap(o->manager->admission) : 0;

        return cap > 0 ? cap : NAN;
}

double gauge_waiting(void *observe) {
        return (double) admission_of(observe).waiting;
}

double gauge_longest_wait(void *observe) {
        return (double) admission_of(observe).longest_wait_usec / USEC_PER_SEC;
}

/* The share of memory that the kernel could not give without swapping; NAN if it does not report that. */
static double gauges_memory_usage(void) {
        double total = 0, available = -1, value;
        char line[128];
        FILE *f = fopen("/proc/meminfo", "re");

        while (f && fgets(line, sizeof(line), f)) {
                if (sscanf(line, "MemTotal: %lf", &value) == 1)
                        total = value;
                else if (sscanf(line, "MemAvailable: %lf", &value) == 1) {
                        available = value;
                        break;
                }
        }
        if (f)
                (void) fclose(f);
        return total > 0 && available >= 0 ? 1 - available / total : NAN;
}

/* Like df(1): space that only root may use does not count as free. */
static double gauges_disk_usage(const char *path) {
        struct statvfs v;
        double used;

        if (statvfs(path, &v) < 0 || v.f_blocks == 0)
                return NAN;
        used = (double) (v.f_blocks - v.f_bfree);
        return used / (used + (double) v.f_bavail);
}

double gauge_memory_usage(Observe *o) {
        return gauges_memory_usage();
}

double gauge_disk_usage(Observe *o) {
        return gauges_disk_usage(o->manager->config.state_dir);
}

static void refresh_depot(Observe *o) {
        const Provider *p = o->manager->provider;

        metric_set(o, METRIC_DEPOT_BYTES, "size", p ? (double) p->room.bytes : 0);
        metric_set(o, METRIC_DEPOT_BYTES, "used", p ? (double) p->room.used_bytes : 0);
        metric_set(o, METRIC_DEPOT_BYTES, "max", p ? (double) p->room.most_bytes : 0);
}

/* The share of the depot's maximum size; free space that it has already counts as room. */
double gauge_depot_usage(Observe *o) {
        const Provider *p = o->manager->provider;

        return p && p->room.most_bytes > 0 ? (double) p->room.used_bytes / (double) p->room.most_bytes : NAN;
}

void gauges_refresh(Observe *o) {
        refresh_sandboxes(o);
        refresh_live(o);
        refresh_admission(o);
        refresh_pools(o);
        (void) ledger_each(o->manager, refresh_tenant, o);
        metric_set(o, METRIC_MEMORY_USAGE, NULL, gauges_memory_usage());
        metric_set(o, METRIC_DISK_USAGE, NULL, gauges_disk_usage(o->manager->config.state_dir));
        refresh_depot(o);
        metric_set(o, METRIC_START_TIME, NULL, (double) o->manager->started_at / USEC_PER_SEC);
        metric_set(o, METRIC_BUILD_INFO, COVE_VERSION, 1);
}
