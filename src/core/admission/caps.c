#include "core/admission/caps.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/admission.h"
#include "core/ledger.h"
#include "core/settings.h"
#include "core/tally.h"

/* The number of sandboxes that a machine holds if none is configured:
 *
 *      three quarters of the memory / the use of one sandbox
 *
 * The use is not the limit, which is for the worst case: the sum of all limits may well be many times the
 * memory. Measured: an empty sandbox, or one with a shell, holds less than 1 MB; one with a Python program that
 * has loaded a few modules holds 10 MB, and such a program seldom runs for the whole life of its sandbox. So
 * the use is taken as 1/64 of the mean limit of the profiles, and at least 4 MB. For the five built-in profiles
 * (512 MB) it is 8 MB: 768 sandboxes for 8 GB, 6144 for 64 GB. A machine on which sandboxes use more is
 * protected by the cleanup under pressure, and by an operator who sets limits.maxSandboxes. */
#define MEMORY_SHARE(bytes) ((bytes) / 4 * 3)
#define USED_OF_LIMIT       64
#define USED_MIN            (UINT64_C(4) << 20)
#define CAP_MIN             16

#define FIRST_WORDS "Maximum sandbox limit reached"

/* The limit of cgroup v2 or v1, as a container sees its own; 0: unknown. */
static uint64_t cgroup_memory_bytes(void) {
        static const char *const places[] = { "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes" };

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                unsigned long long bytes = 0;
                FILE *f = fopen(places[i], "re");
                bool got = f && fscanf(f, "%llu", &bytes) == 1; /* "max" means no limit */

                if (f)
                        (void) fclose(f);
                if (got)
                        return bytes;
        }
        return 0;
}

uint64_t machine_memory_bytes(void) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        uint64_t machine = pages > 0 && size > 0 ? (uint64_t) pages * (uint64_t) size : 0, group = cgroup_memory_bytes();

        return group > 0 && group < machine ? group : machine;
}

static uint64_t mean_use(const Config *settings) {
        CoreSettings c = core_settings(settings);
        uint64_t sum = 0;

        for (size_t i = 0; i < c.n_profiles; i++)
                sum += c.profiles[i].limits.memory_bytes / USED_OF_LIMIT;
        return MAX_OF(c.n_profiles > 0 ? sum / c.n_profiles : 0, USED_MIN);
}

unsigned cap_of_daemon(const Manager *m, uint64_t memory_bytes) {
        unsigned ceiling = m->held_max > 0 ? MIN_OF(m->held_max, m->config.sandboxes_max) : m->config.sandboxes_max;
        uint64_t cap = core_settings(m->settings).limits->sandboxes_max;

        if (cap == 0)
                cap = MAX_OF(MEMORY_SHARE(memory_bytes) / mean_use(m->settings), (uint64_t) CAP_MIN);
        return cap < ceiling ? (unsigned) cap : ceiling;
}

int cap_check_daemon(const Manager *m, uint64_t memory_bytes, Error *ret_why) {
        unsigned cap = cap_of_daemon(m, memory_bytes);
        uint64_t live = tally_of_all(m).live;
        bool held = cap == m->held_max && cap < m->config.sandboxes_max;
        const char *cure = cap == m->config.sandboxes_max ? "raise it with --max-sandboxes" :
                           held                           ? m->held_cure :
                                                            "raise it with limits.maxSandboxes";

        if (live < cap)
                return 0;
        (void) error_set(ret_why, held ? -EUSERS : -EDQUOT, FIRST_WORDS ": %llu of %u sandboxes are there (%s)", (unsigned long long) live, cap, cure);
        return -EDQUOT;
}

static int check_number(const Manager *m, const Tenant *tenant, const char *name, uint64_t live, Error *ret_why) {
        uint64_t max = tenant && tenant->sandboxes_max > 0 ? tenant->sandboxes_max : core_settings(m->settings).limits->tenant_max;

        if (max == 0 || live < max)
                return 0;
        return error_set(ret_why, -EDQUOT, FIRST_WORDS " (over quota): %llu of %llu sandboxes of tenant '%s' are there",
                        (unsigned long long) live, (unsigned long long) max, name);
}

/* A limited resource; `unit` is the size of the unit in messages. */
typedef struct Means {
        const char *what;
        double unit;
        uint64_t used, wanted, max; /* max 0: no limit */
} Means;

static int check_means_ever(const Means *m, const char *tenant, Error *ret_why) {
        if (m->max == 0 || m->wanted <= m->max)
                return 0;
        return error_set(ret_why, -EOVERFLOW, "over quota: %.15g %s are more than the %.15g that tenant '%s' may have in all",
                        (double) m->wanted / m->unit, m->what, (double) m->max / m->unit, tenant);
}

static int check_means_now(const Means *m, const char *tenant, Error *ret_why) {
        if (m->max == 0 || m->used + m->wanted <= m->max)
                return 0;
        return error_set(ret_why, -EDQUOT, FIRST_WORDS " (over quota): %.15g of %.15g %s of tenant '%s' are taken, and %.15g are wanted",
                        (double) m->used / m->unit, (double) m->max / m->unit, m->what, tenant, (double) m->wanted / m->unit);
}

static int caps_check_quota(const Manager *m, const Tenant *t, const TallySums *held, const CapAsk *ask, Error *ret_why) {
        LedgerSums sums = ledger_of_tenant(m, t->name);
        const Means means[] = {
                { "CPUs",         1000,    held->cpu_milli,    ask->cpu_milli,    t->cpu_milli_max    },
                { "MB of memory", 1 << 20, held->memory_bytes, ask->memory_bytes, t->memory_bytes_max },
                { "MB of disk",   1 << 20, ledger_disk(&sums), ask->disk_bytes,   t->disk_bytes_max   },
        };
        int r = 0;

        if (t->cpu_milli_max > 0 && ask->cpu_milli == 0)
                return error_set(ret_why, -EOVERFLOW, "over quota: tenant '%s' has a limit on CPUs, so limits.cpuCores must be given",
                                t->name);
        for (size_t i = 0; i < ELEMENTSOF(means) && r >= 0; i++)
                r = check_means_ever(&means[i], t->name, ret_why);
        for (size_t i = 0; i < ELEMENTSOF(means) && r >= 0; i++)
                r = check_means_now(&means[i], t->name, ret_why);
        return r;
}

int cap_check_tenant(const Manager *m, const CapAsk *ask, Error *ret_why) {
        const Tenant *tenant;
        TallySums held;
        int r;

        if (!ask->tenant || !*ask->tenant)
                return 0; /* a caller without a tenant has no quota */
        tenant = access_tenant(m->access, ask->tenant);
        held = tally_of_tenant(m, ask->tenant);
        r = tenant ? caps_check_quota(m, tenant, &held, ask, ret_why) : 0;
        return r < 0 ? r : check_number(m, tenant, ask->tenant, held.live, ret_why);
}

int cap_check_profile(const Manager *m, const char *profile, Error *ret_why) {
        const Profile *p = profile && *profile ? profile_find(m->settings, profile) : NULL;
        uint64_t live;

        if (!p || p->concurrent_max == 0)
                return 0;
        live = tally_of_profile(m, profile).live;
        if (live < p->concurrent_max)
                return 0;
        return error_set(ret_why, -EDQUOT, FIRST_WORDS ": %llu of %u sandboxes of profile '%s' are there",
                        (unsigned long long) live, p->concurrent_max, p->name);
}
