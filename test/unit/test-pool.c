/* Warm pools, with a provider that does what the test says: items 327–340 as far as they need no kernel. */
#include "world.h"

#include <math.h>

#include "core/acquire.h"
#include "core/admission.h"
#include "core/pool.h"
#include "core/pool/pool-internal.h"
#include "core/tally.h"

#define PATIENCE (60 * USEC_PER_SEC)

typedef struct Bay {
        World world;
        Pools *pools;
        PoolConfig config;
        CoreObserver observer;
        unsigned n_claimed, n_provisioned, n_lifetimes;
} Bay;

static const PoolConfig plain = {
        .template_name = "host",
        .min_size = 2,
        .max_size = 10,
        .max_idle_usec = 300 * USEC_PER_SEC,
        .max_lifetime_usec = 3600 * USEC_PER_SEC,
        .acquire_timeout_usec = 30 * USEC_PER_SEC,
        .eviction_interval_usec = 60 * USEC_PER_SEC,
        .adaptive = true,
};

static void on_step(LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration, void *userdata) {
        Bay *b = userdata;

        b->n_claimed += step == STEP_CLAIM;
        b->n_provisioned += step == STEP_PROVISION;
        b->n_lifetimes += step == STEP_LIFETIME;
}

static void bay_open(Bay *b, const PoolConfig *config) {
        b->config = *config;
        b->world.settings->pools = calloc(1, sizeof(PoolConfig));
        b->world.settings->pools[0] = *config;
        b->world.settings->n_pools = 1;
        b->observer = (CoreObserver) { .step = on_step, .userdata = b };
        manager_observe(b->world.manager, &b->observer);
        check_result("pools", pools_new(b->world.manager, &b->pools), 0);
}

static void bay_new(Bay *b, const char *name, const PoolConfig *config) {
        memset(b, 0, sizeof(*b));
        world_new(&b->world, name);
        bay_open(b, config);
        pools_start(b->pools);
}

static void bay_close(Bay *b) {
        Error error = { 0 };

        if (tally_verify(b->world.manager, &error) < 0)
                print_error("%s\n", error.text);
        check_true("counts", error.code == 0);
        b->pools = pools_free(b->pools);
        world_close(&b->world);
}

static PoolStats stats_of(const Bay *b) {
        PoolStats s;

        pools_stats(b->pools, 0, &s);
        return s;
}

/* What the provider would do with all that it was asked. */
static void answer_all(Bay *b, bool healthy) {
        World *w = &b->world;
        const ProviderEvents *e = w->fake.provider.events;
        Sandbox *sb, *next;

        HASH_ITER(hh, w->manager->sandboxes, sb, next) {
                if (sb->status == SANDBOX_INITIALIZING)
                        e->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
                if (sb->probe)
                        tell_exit(w, sb, fake_asked(&w->fake, sb, healthy ? "cove-is-well\n" : ""), healthy ? 0 : 1 << 8);
        }
        for (unsigned i = 0; i < w->fake.n_destroyed && i < 64; i++) {
                char id[SANDBOX_ID_LENGTH + 1];

                memcpy(id, w->fake.destroyed[i], sizeof(id));
                e->destroyed(id, NULL, w->manager);
        }
        w->fake.n_destroyed = 0;
}

static void turn(Bay *b, bool healthy) {
        (void) sd_event_run(b->world.event, 5 * USEC_PER_MSEC);
        answer_all(b, healthy);
}

#define until(b, condition)                                                                              \
        do {                                                                                             \
                usec_t deadline = clock_usec() + PATIENCE;                                               \
                while (!(condition) && clock_usec() < deadline)                                          \
                        turn(b, /* healthy= */ true);                                                    \
                check_true("in time", condition);                                                        \
        } while (0)

/* For so long, and until nothing is left to do: the time may be over before the loop has had its turn. */
static void run_for(Bay *b, usec_t usec) {
        usec_t end = clock_usec() + usec;

        while (clock_usec() < end)
                turn(b, /* healthy= */ true);
        while (sd_event_run(b->world.event, 0) > 0)
                answer_all(b, /* healthy= */ true);
}

static Sandbox *claim(Bay *b, const char *tenant, const char *name) {
        _cleanup_(sandbox_spec_done) SandboxSpec spec;

        sandbox_spec_defaults(&spec);
        spec.template_name = strdup("host");
        spec.tenant = strdup(tenant);
        spec.name = name ? strdup(name) : NULL;
        return pools_claim(b->pools, &spec);
}

TEST(d2_327_it_is_filled_before_anybody_asks) {
        Bay b;
        PoolStats s;

        bay_new(&b, "pool-fill", &plain);
        until(&b, stats_of(&b).idle == 2);
        run_for(&b, 50 * USEC_PER_MSEC);
        s = stats_of(&b);
        check_uint("idle", s.idle, 2);
        check_uint("preparing", s.preparing, 0);
        check_uint("created", s.created, 2);
        check_uint("provisioned is told once each", b.n_provisioned, 2);
        check_true("no claims, no rate", isnan(s.hit_rate));
        bay_close(&b);
}

TEST(one_that_was_not_probed_is_not_ready) {
        Bay b;
        World *w = &b.world;
        Sandbox *sb;

        bay_new(&b, "pool-probe", &plain);
        for (unsigned i = 0; i < 1000 && !w->fake.created; i++)
                (void) sd_event_run(w->event, 10 * USEC_PER_MSEC);
        sb = w->fake.created;
        check_true("asked for", sb != NULL);
        w->fake.provider.events->created(sb, 1, 2, 0, NULL, w->manager);
        check_uint("idle", stats_of(&b).idle, 0);
        check_true("none to claim", claim(&b, "a", NULL) == NULL);
        check_uint("missed", stats_of(&b).missed, 1);
        check_true("a probe runs", sb->probe != NULL);
        until(&b, stats_of(&b).idle == 2);
        check_true("claimed", claim(&b, "a", NULL) != NULL);
        bay_close(&b);
}

TEST(d2_333_a_claim_sets_everything_at_once) {
        Bay b;
        World *w = &b.world;
        _cleanup_(sandbox_spec_done) SandboxSpec spec;
        const Principal owner = { .kind = PRINCIPAL_USE_KEY, .tenant = "acme" }, other = { .kind = PRINCIPAL_USE_KEY, .tenant = "evil" };
        char id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sb;

        bay_new(&b, "pool-claim", &plain);
        until(&b, stats_of(&b).idle == 2);
        sandbox_spec_defaults(&spec);
        spec.name = strdup("mine");
        spec.tenant = strdup("acme");
        spec.agent_type = strdup("coder");
        spec.task_id = strdup("t1");
        spec.metadata = strdup("{\"k\":1}");
        spec.critical = true;
        spec.timeout_usec = 77 * USEC_PER_SEC;
        spec.on_timeout = ON_TIMEOUT_PAUSE;
        spec.limits.cpu_time_usec = 5 * USEC_PER_SEC;
        spec.limits.exec_timeout_usec = 6 * USEC_PER_SEC;
        spec.limits.output_bytes = 4096;
        spec.limits.nofile = 99;
        check_result("env", strv_push(&spec.env, "A=1"), 0);
        w->fake.usage = (SandboxUsage) { .cpu_usec = 9 * USEC_PER_SEC, .has_cpu = true };
        sb = pools_claim(b.pools, &spec);
        check_true("claimed", sb != NULL);
        check_true("taken", spec.name == NULL);
        check_true("somebody's", !sb->pooled && sb->claimed_at > 0);
        check_true("found by its owner", manager_find(w->manager, &owner, "mine") == sb);
        check_true("not by another", manager_find(w->manager, &other, sb->id) == NULL);
        check_true("expires", sb->expires_at == sb->claimed_at + 77 * USEC_PER_SEC);
        check_uint("told", b.n_claimed, 1);
        check_uint("in use", stats_of(&b).in_use, 1);
        memcpy(id, sb->id, sizeof(id));

        /* All of that is in the store: as the next daemon sees it. */
        b.pools = pools_free(b.pools);
        world_close(w);
        world_open(w);
        HASH_FIND_STR(w->manager->sandboxes, id, sb);
        check_true("row", sb != NULL);
        if (!sb)
                return;
        check_string("name", sb->spec.name, "mine");
        check_string("tenant", sb->spec.tenant, "acme");
        check_string("agent type", sb->spec.agent_type, "coder");
        check_string("task", sb->spec.task_id, "t1");
        check_string("metadata", sb->spec.metadata, "{\"k\":1}");
        check_string("env", sb->spec.env.items[0], "A=1");
        check_true("critical", sb->spec.critical);
        check_true("pause", sb->spec.on_timeout == ON_TIMEOUT_PAUSE);
        check_uint("nofile", sb->spec.limits.nofile, 99);
        check_uint("output", sb->spec.limits.output_bytes, 4096);
        check_uint("CPU time", sb->spec.limits.cpu_time_usec, 5 * USEC_PER_SEC);
        check_uint("execution time", sb->spec.limits.exec_timeout_usec, 6 * USEC_PER_SEC);
        check_true("claimed", !sb->pooled && sb->claimed_at > 0);
        world_close(w);
}

TEST(what_it_cost_before_is_not_its_owners) {
        Bay b;
        World *w = &b.world;
        SandboxUsage usage;
        Sandbox *sb;

        bay_new(&b, "pool-cost", &plain);
        w->fake.usage = (SandboxUsage) { .cpu_usec = 700, .has_cpu = true };
        until(&b, stats_of(&b).idle == 2);
        sb = claim(&b, "a", NULL);
        w->fake.usage.cpu_usec = 1000;
        check_result("usage", sandbox_usage(sb, &usage), 0);
        check_uint("CPU", usage.cpu_usec, 300);
        bay_close(&b);
}

TEST(only_what_is_built_alike_will_do) {
        static const struct {
                const char *template_name, *workdir;
                SandboxLimits limits;
                uint32_t uid;
        } others[] = {
                { .template_name = "other" },
                { .workdir = "/srv" },
                { .limits.memory_bytes = 1 << 20 },
                { .limits.cpu_milli = 500 },
                { .limits.disk_bytes = 1 << 20 },
                { .limits.pids = 7 },
                { .uid = 4242 },
        };
        Bay b;
        Sandbox *sb;

        bay_new(&b, "pool-alike", &plain);
        until(&b, stats_of(&b).idle == 2);
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                _cleanup_(sandbox_spec_done) SandboxSpec spec;

                sandbox_spec_defaults(&spec);
                spec.template_name = strdup(others[i].template_name ? others[i].template_name : "host");
                spec.workdir = others[i].workdir ? strdup(others[i].workdir) : NULL;
                spec.uid = others[i].uid > 0 ? others[i].uid : spec.uid;
                if (others[i].limits.memory_bytes > 0)
                        spec.limits.memory_bytes = others[i].limits.memory_bytes;
                if (others[i].limits.cpu_milli > 0)
                        spec.limits.cpu_milli = others[i].limits.cpu_milli;
                if (others[i].limits.disk_bytes > 0)
                        spec.limits.disk_bytes = others[i].limits.disk_bytes;
                if (others[i].limits.pids > 0)
                        spec.limits.pids = others[i].limits.pids;
                check_true("not served", !pools_serves(b.pools, &spec, NULL));
                check_true("none", pools_claim(b.pools, &spec) == NULL);
        }
        check_uint("and nothing was missed", stats_of(&b).missed, 0);
        sb = claim(&b, "a", NULL);
        check_true("the same will", sb != NULL);
        bay_close(&b);
}

TEST(used_once_and_replaced) {
        Bay b;
        World *w = &b.world;
        Sandbox *first, *second;
        char id[SANDBOX_ID_LENGTH + 1];

        bay_new(&b, "pool-once", &plain);
        until(&b, stats_of(&b).idle == 2);
        first = claim(&b, "a", NULL);
        second = claim(&b, "b", NULL);
        check_true("two of them", first && second && first != second);
        memcpy(id, first->id, sizeof(id));
        sandbox_delete(first, /* force= */ true, NULL, NULL);
        check_uint("released", stats_of(&b).released, 1);
        until(&b, stats_of(&b).idle >= 2);
        HASH_FIND_STR(w->manager->sandboxes, id, first);
        check_true("it never comes back", first == NULL);
        check_uint("in use", stats_of(&b).in_use, 1);
        bay_close(&b);
}

TEST(d2_339_old_and_idle_ones_go) {
        PoolConfig config = plain;
        Bay b;
        Pool *pool;
        PoolStats s;

        config.eviction_interval_usec = 20 * USEC_PER_MSEC;
        config.max_size = 6;
        bay_new(&b, "pool-idle", &config);
        pool = b.pools->list[0];
        pool->make_usec = PATIENCE; /* claims within that time are claims at once, however long they take here */
        for (unsigned i = 0; i < 6; i++) /* more than there are */
                (void) claim(&b, "a", NULL);
        check_true("demand raises the target", stats_of(&b).target > 2);
        until(&b, stats_of(&b).idle > 2);
        pool->config.max_idle_usec = 50 * USEC_PER_MSEC; /* only now: they have been seen */
        until(&b, stats_of(&b).idle == 2 && stats_of(&b).preparing == 0 && stats_of(&b).destroyed > 0 && stats_of(&b).target == 2);
        run_for(&b, 200 * USEC_PER_MSEC);
        s = stats_of(&b);
        check_uint("never below min for being idle", s.idle, 2);
        check_uint("the target follows", s.target, 2);
        bay_close(&b);

        config = plain;
        config.max_lifetime_usec = 50 * USEC_PER_MSEC;
        config.eviction_interval_usec = 20 * USEC_PER_MSEC;
        bay_new(&b, "pool-old", &config);
        until(&b, stats_of(&b).destroyed >= 4);
        check_true("made anew", stats_of(&b).created >= 4);
        bay_close(&b);
}

TEST(d2_338_max_counts_all_of_them) {
        PoolConfig config = plain;
        Bay b;
        PoolStats s;
        Sandbox *sb;

        config.max_size = 3;
        bay_new(&b, "pool-max", &config);
        until(&b, stats_of(&b).idle == 2);
        check_true("one", claim(&b, "a", NULL) != NULL);
        sb = claim(&b, "a", NULL);
        until(&b, stats_of(&b).idle == 1);
        run_for(&b, 200 * USEC_PER_MSEC);
        s = stats_of(&b);
        check_uint("all", s.idle + s.preparing + s.in_use, 3);
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        until(&b, stats_of(&b).idle == 2);
        bay_close(&b);
}

TEST(failing_creates_are_not_tried_for_ever) {
        Bay b;
        World *w = &b.world;
        const ProviderEvents *e;
        PoolStats s;

        bay_new(&b, "pool-failing", &plain);
        e = w->fake.provider.events;
        for (unsigned i = 0; i < 60; i++) {
                Sandbox *sb, *next;

                (void) sd_event_run(w->event, 5 * USEC_PER_MSEC);
                HASH_ITER(hh, w->manager->sandboxes, sb, next)
                        if (sb->status == SANDBOX_INITIALIZING)
                                e->created(sb, 0, 0, 0, &(Error) { -ENOSPC, "no room for walls" }, w->manager);
                answer_all(&b, /* healthy= */ true);
        }
        s = stats_of(&b);
        check_true("a few tries", s.failed >= 3 && s.failed <= 8);
        check_string("why", s.last_error, "no room for walls");
        check_uint("nothing stays", HASH_COUNT(w->manager->sandboxes), 0);
        until(&b, stats_of(&b).idle == 2); /* after a while it is tried again */
        check_string("and forgotten when it works", stats_of(&b).last_error, "");
        bay_close(&b);
}

TEST(an_unhealthy_one_is_not_given_out) {
        Bay b;
        PoolStats s;

        bay_new(&b, "pool-sick", &plain);
        for (unsigned i = 0; i < 20 && stats_of(&b).failed == 0; i++)
                turn(&b, /* healthy= */ false);
        s = stats_of(&b);
        check_true("failed", s.failed > 0 && s.idle == 0);
        check_part("why", s.last_error, "code 1");
        bay_close(&b);
}

TEST(one_that_dies_is_replaced) {
        Bay b;
        World *w = &b.world;
        Sandbox *sb, *next;

        bay_new(&b, "pool-death", &plain);
        until(&b, stats_of(&b).idle == 2);
        HASH_ITER(hh, w->manager->sandboxes, sb, next)
                w->fake.provider.events->gone(sb, w->manager);
        check_uint("idle", stats_of(&b).idle, 0);
        until(&b, stats_of(&b).idle == 2);
        check_uint("destroyed", stats_of(&b).destroyed, 2);
        check_uint("nothing of them stays", HASH_COUNT(w->manager->sandboxes), 2);
        bay_close(&b);
}

TEST(one_that_falls_ill_is_replaced) {
        PoolConfig config = plain;
        Bay b;

        config.eviction_interval_usec = 20 * USEC_PER_MSEC;
        bay_new(&b, "pool-illness", &config);
        until(&b, stats_of(&b).idle == 2);
        for (unsigned i = 0; i < 200 && stats_of(&b).destroyed == 0; i++)
                turn(&b, /* healthy= */ false);
        check_true("found", stats_of(&b).destroyed > 0);
        until(&b, stats_of(&b).idle == 2);
        bay_close(&b);
}

TEST(nobody_sees_what_is_nobodys) {
        Bay b;
        World *w = &b.world;
        Sandbox *sb;
        ManagerStats stats;

        bay_new(&b, "pool-unseen", &plain);
        until(&b, stats_of(&b).idle == 2);
        sb = w->manager->sandboxes;
        check_true("not by id", manager_find(w->manager, &admin, sb->id) == NULL);
        manager_stats(w->manager, &admin, &stats);
        check_uint("active", stats.active, 0);
        check_uint("pooled", stats.pooled, 2);
        check_uint("no lifetimes", b.n_lifetimes, 0);
        bay_close(&b);
}

TEST(refill_gives_way_to_callers) {
        Bay b;
        World *w = &b.world;
        Answer a = { 0 };
        Sandbox *sb;
        unsigned made;

        memset(&b, 0, sizeof(b));
        world_new(&b.world, "pool-way");
        bay_open(&b, &plain);
        sb = create(w, NULL, &a); /* somebody's, and not there yet */
        made = w->fake.n_created;
        pools_start(b.pools);
        for (unsigned i = 0; i < 30; i++)
                (void) sd_event_run(w->event, 10 * USEC_PER_MSEC);
        check_uint("nothing was made meanwhile", w->fake.n_created, made);
        w->fake.provider.events->created(sb, 1, 2, 0, NULL, w->manager);
        until(&b, stats_of(&b).idle == 2);
        bay_close(&b);
}

/* The queue. */

typedef struct Asker {
        unsigned n;
        Sandbox *sandbox;
        AcquireResult result;
        int code;
        char text[256];
} Asker;

static void on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        Asker *a = userdata;

        a->n++;
        a->sandbox = sb;
        a->result = *result;
        a->code = error ? error->code : 0;
        (void) snprintf(a->text, sizeof(a->text), "%.255s", error ? error->text : "");
}

static Acquisition *ask(Bay *b, Asker *a, uint64_t memory_bytes, usec_t wait) {
        Acquisition *k = NULL;
        SandboxSpec spec;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.template_name = strdup("host");
        if (memory_bytes > 0)
                spec.limits.memory_bytes = memory_bytes;
        check_result("acquire", manager_acquire(b->world.manager, &admin, &spec, wait, on_acquired, a, &k, &error), 0);
        return k;
}

TEST(d2_334_warm_then_cold_then_the_queue) {
        PoolConfig config = plain;
        Bay b;
        World *w = &b.world;
        Asker askers[6] = { 0 };

        config.max_size = 2;
        memset(&b, 0, sizeof(b));
        world_new(w, "pool-burst");
        w->settings->limits.sandboxes_max = 4;
        bay_open(&b, &config);
        pools_start(b.pools);
        until(&b, stats_of(&b).idle == 2);
        for (size_t i = 0; i < ELEMENTSOF(askers); i++)
                (void) ask(&b, &askers[i], 0, USEC_INFINITY);
        check_true("warm", askers[0].n == 1 && askers[0].result.pooled && askers[1].n == 1 && askers[1].result.pooled);
        check_true("cold: being made", askers[2].n == 0 && askers[3].n == 0);
        until(&b, askers[2].n == 1 && askers[3].n == 1);
        check_true("cold", askers[2].sandbox && !askers[2].result.pooled);
        check_true("in the queue", askers[4].n == 0 && askers[5].n == 0);
        check_uint("missed, each once", stats_of(&b).missed, 4);
        sandbox_delete(askers[0].sandbox, /* force= */ true, NULL, NULL);
        until(&b, askers[4].n == 1);
        check_true("first come, first served", askers[4].sandbox && askers[5].n == 0);
        sandbox_delete(askers[1].sandbox, /* force= */ true, NULL, NULL);
        until(&b, askers[5].n == 1);
        check_true("nobody failed", askers[5].sandbox != NULL);
        check_uint("missed, each once", stats_of(&b).missed, 4);
        bay_close(&b);
}

TEST(d2_331_a_waiter_whose_time_is_up_leaks_nothing) {
        PoolConfig config = plain;
        Bay b;
        World *w = &b.world;
        Asker askers[3] = { 0 };
        AdmissionStats stats;

        config.max_size = 2;
        config.acquire_timeout_usec = 50 * USEC_PER_MSEC;
        memset(&b, 0, sizeof(b));
        world_new(w, "pool-timeout");
        w->settings->limits.sandboxes_max = 2;
        bay_open(&b, &config);
        pools_start(b.pools);
        until(&b, stats_of(&b).idle == 2);
        for (size_t i = 0; i < ELEMENTSOF(askers); i++)
                (void) ask(&b, &askers[i], 0, USEC_INFINITY); /* as the pool says */
        until(&b, askers[2].n == 1);
        check_result("answer", askers[2].code, -EDQUOT);
        check_part("text", askers[2].text, "Maximum sandbox limit reached");
        admission_stats(w->manager->admission, &stats);
        check_uint("waiting", stats.waiting, 0);
        check_uint("sandboxes", HASH_COUNT(w->manager->sandboxes), 2);
        sandbox_delete(askers[0].sandbox, /* force= */ true, NULL, NULL);
        until(&b, stats_of(&b).idle == 1);
        check_uint("nobody got it who had gone", askers[2].n, 1);
        bay_close(&b);
}

TEST(an_idle_one_is_given_up_for_whom_it_cannot_serve) {
        PoolConfig config = plain;
        Bay b;
        World *w = &b.world;
        Asker asker = { 0 };

        memset(&b, 0, sizeof(b));
        world_new(w, "pool-give-up");
        w->settings->limits.sandboxes_max = 2;
        bay_open(&b, &config);
        pools_start(b.pools);
        until(&b, stats_of(&b).idle == 2);
        (void) ask(&b, &asker, 64 << 20, PATIENCE);
        until(&b, asker.n == 1);
        check_true("made", asker.sandbox && !asker.result.pooled);
        run_for(&b, 200 * USEC_PER_MSEC);
        check_uint("one of the warm ones went for it", stats_of(&b).idle, 1);
        bay_close(&b);
}

/* Restarts and other settings. */

static void restart(Bay *b, const PoolConfig *config) {
        World *w = &b->world;
        const ProviderEvents *e;
        Sandbox *sb, *next;

        b->pools = pools_free(b->pools);
        world_close(w);
        world_open(w);
        bay_open(b, config);
        e = w->fake.provider.events;
        e->up(&w->fake.provider, w->manager);
        HASH_ITER(hh, w->manager->sandboxes, sb, next)
                if (sandbox_status_is_live(sb->status) && sb->status != SANDBOX_TERMINATING)
                        e->adopted(sb, NULL, w->manager);
        answer_all(b, /* healthy= */ true);
        e->listed(NULL, w->manager);
        check_true("recovered", !w->manager->recovering);
}

TEST(pooled_ones_are_adopted) {
        Bay b;
        World *w = &b.world;
        char id[SANDBOX_ID_LENGTH + 1];
        PoolStats s;
        Sandbox *sb;

        bay_new(&b, "pool-restart", &plain);
        until(&b, stats_of(&b).idle == 2);
        sb = claim(&b, "a", NULL);
        memcpy(id, sb->id, sizeof(id));
        until(&b, stats_of(&b).idle == 2 && stats_of(&b).preparing == 0);
        restart(&b, &plain);
        until(&b, stats_of(&b).idle == 2);
        s = stats_of(&b);
        check_uint("nothing had to be made", s.created, 0);
        check_uint("somebody's is somebody's", s.in_use, 1);
        HASH_FIND_STR(w->manager->sandboxes, id, sb);
        check_true("and stays so", sb && !sb->pooled && strcmp(sb->spec.tenant, "a") == 0);
        bay_close(&b);
}

TEST(those_of_another_shape_are_ended_after_a_restart) {
        PoolConfig config = plain;
        Bay b;

        bay_new(&b, "pool-other", &plain);
        until(&b, stats_of(&b).idle == 2);
        (void) snprintf(config.profile, sizeof(config.profile), "ELICITATION");
        restart(&b, &config);
        until(&b, stats_of(&b).idle == 2);
        check_uint("all of them are new", stats_of(&b).created, 2);
        check_uint("nothing else is left", HASH_COUNT(b.world.manager->sandboxes), 2);
        bay_close(&b);
}

TEST(other_settings_take_effect) {
        Bay b;
        World *w = &b.world;

        bay_new(&b, "pool-reload", &plain);
        until(&b, stats_of(&b).idle == 2);
        w->settings->pools[0].min_size = 4;
        pools_reload(b.pools);
        until(&b, stats_of(&b).idle == 4);
        check_uint("what was there, stays", stats_of(&b).created, 4);

        (void) snprintf(w->settings->pools[0].profile, PROFILE_NAME_MAX, "ELICITATION");
        pools_reload(b.pools);
        check_uint("another pool", stats_of(&b).idle, 0);
        until(&b, stats_of(&b).idle == 4);
        check_uint("the old ones are gone", HASH_COUNT(w->manager->sandboxes), 4);

        w->settings->n_pools = 0;
        pools_reload(b.pools);
        check_uint("none", pools_count(b.pools), 0);
        until(&b, HASH_COUNT(w->manager->sandboxes) == 0); /* all gone */
        bay_close(&b);
}

TEST(an_unknown_profile_is_told) {
        PoolConfig config = plain;
        Bay b;

        (void) snprintf(config.profile, sizeof(config.profile), "NOBODY");
        bay_new(&b, "pool-unknown", &config);
        until(&b, stats_of(&b).last_error[0] != '\0');
        run_for(&b, 50 * USEC_PER_MSEC);
        check_string("why", stats_of(&b).last_error, "there is no profile 'NOBODY'");
        check_uint("nothing is made", stats_of(&b).created, 0);
        bay_close(&b);
}

TEST(drained_and_filled_again) {
        Bay b;

        bay_new(&b, "pool-drain", &plain);
        until(&b, stats_of(&b).idle == 2);
        check_uint("drained", pools_drain(b.pools), 2);
        until(&b, stats_of(&b).idle == 2);
        check_uint("made anew", stats_of(&b).created, 4);
        check_uint("no failures", stats_of(&b).failed, 0);
        bay_close(&b);
}

TEST(d2_335_figures) {
        Bay b;
        PoolStats s;

        bay_new(&b, "pool-figures", &plain);
        until(&b, stats_of(&b).idle == 2);
        for (unsigned i = 0; i < 4; i++)
                (void) claim(&b, "a", NULL);
        s = stats_of(&b);
        check_uint("claimed", s.claimed, 2);
        check_uint("missed", s.missed, 2);
        check_true("rate", fabs(s.hit_rate - 0.5) < 1e-9);
        check_true("latency", s.claim_p50_usec > 0 && s.claim_p99_usec >= s.claim_p50_usec);
        check_true("what making takes", s.make_usec > 0);
        b.pools->list[0]->latencies[0] = 900;
        b.pools->list[0]->latencies[1] = 100;
        s = stats_of(&b);
        check_uint("half took no longer", s.claim_p50_usec, 100);
        check_uint("one of two is beyond 98 of 100", s.claim_p99_usec, 900);
        bay_close(&b);
}
