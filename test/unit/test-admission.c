/* Who gets a sandbox, and when: caps, the queue, its order, its deadlines, who goes away. */
#include "world.h"

#include "core/acquire.h"
#include "core/admission.h"
#include "core/allowance.h"
#include "core/tally.h"

#define MANY 64

/* One who asks. */
typedef struct Asker {
        char tenant[16];
        unsigned n_answers;
        int code;
        char text[ERROR_TEXT_MAX];
        char id[SANDBOX_ID_LENGTH + 1];
        AcquireResult result;
        Acquisition *acquisition;
} Asker;

static char order[MANY * 4]; /* tenants in the order in which they were served */

static void on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        Asker *a = userdata;

        a->n_answers++;
        a->acquisition = NULL;
        a->code = error ? error->code : 0;
        (void) snprintf(a->text, sizeof(a->text), "%s", error ? error->text : "");
        a->result = *result;
        if (!sb)
                return;
        memcpy(a->id, sb->id, sizeof(a->id));
        (void) strncat(order, a->tenant, sizeof(order) - strlen(order) - 1);
}

typedef struct Wish {
        const char *tenant, *name, *profile;
        uint64_t memory_mb;
        bool critical;
        usec_t wait; /* 0: not at all */
} Wish;

static void ask(World *w, Asker *a, Wish wish) {
        const Principal who = { .kind = PRINCIPAL_USE_KEY, .tenant = wish.tenant, .may_loosen = true };
        SandboxSpec spec;
        Error error = { 0 };

        memset(a, 0, sizeof(*a));
        (void) snprintf(a->tenant, sizeof(a->tenant), "%s", wish.tenant ? wish.tenant : "-");
        sandbox_spec_defaults(&spec);
        spec.tenant = strdup(wish.tenant ? wish.tenant : "");
        spec.name = wish.name ? strdup(wish.name) : NULL;
        spec.profile = wish.profile ? strdup(wish.profile) : NULL;
        spec.critical = wish.critical;
        if (wish.memory_mb > 0)
                spec.limits.memory_bytes = wish.memory_mb << 20;
        check_result("acquire", manager_acquire(w->manager, &who, &spec, wish.wait, on_acquired, a, &a->acquisition, &error), 0);
}

#define LONG (3600 * USEC_PER_SEC)

/* The provider has made all that it was asked for. */
static void make_all(World *w) {
        Sandbox *sb, *next;

        HASH_ITER(hh, w->manager->sandboxes, sb, next)
                if (sb->status == SANDBOX_INITIALIZING)
                        w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
}

static void spin(World *w) {
        Error error = { 0 };

        while (sd_event_run(w->event, 0) > 0)
                ;
        make_all(w);
        while (sd_event_run(w->event, 0) > 0)
                ;
        check_result(error.text, tally_verify(w->manager, &error), 0);
}

static Sandbox *the(World *w, const char *id) {
        Sandbox *sb;

        HASH_FIND_STR(w->manager->sandboxes, id, sb);
        check_true("is there", sb != NULL);
        return sb;
}

static void end(World *w, const char *id) {
        Sandbox *sb = the(w, id);

        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        w->fake.provider.events->destroyed(id, NULL, w->manager);
        spin(w);
}

static void end_any(World *w) {
        Sandbox *sb, *next;

        HASH_ITER(hh, w->manager->sandboxes, sb, next)
                if (sb->status == SANDBOX_READY) {
                        char id[SANDBOX_ID_LENGTH + 1];

                        memcpy(id, sb->id, sizeof(id));
                        end(w, id);
                        return;
                }
        check_true("something lives", false);
}

static uint64_t waiting(World *w) {
        return admission_waiting(w->manager->admission, NULL);
}

static void begin(World *w, const char *name, unsigned cap) {
        order[0] = '\0';
        world_new(w, name);
        w->settings->limits.sandboxes_max = cap;
}

TEST(over_the_cap_166_callers_wait_and_go_on) {
        World w;
        Asker a, b, c;
        AdmissionStats stats;

        begin(&w, "waits", 2);
        ask(&w, &a, (Wish) { .wait = LONG });
        ask(&w, &b, (Wish) { .wait = LONG });
        ask(&w, &c, (Wish) { .wait = LONG });
        spin(&w);
        check_uint("a", a.n_answers, 1);
        check_uint("b", b.n_answers, 1);
        check_uint("c", c.n_answers, 0);
        check_uint("waiting", waiting(&w), 1);
        admission_stats(w.manager->admission, &stats);
        check_uint("cap", stats.cap, 2);
        check_uint("live", stats.live, 2);
        end(&w, a.id);
        check_uint("c", c.n_answers, 1);
        check_result("c", c.code, 0);
        check_true("waited", c.result.waited_usec > 0);
        check_true("did not wait", b.result.waited_usec == 0);
        check_uint("waiting", waiting(&w), 0);
        world_close(&w);
}

TEST(who_does_not_wait_is_told_at_once) {
        World w;
        Asker a, b;

        begin(&w, "at-once", 1);
        ask(&w, &a, (Wish) { .wait = LONG });
        ask(&w, &b, (Wish) { .wait = 0 });
        check_uint("answers", b.n_answers, 1);
        check_result("code", b.code, -EDQUOT);
        check_true("first words", strncmp(b.text, "Maximum sandbox limit reached", 29) == 0);
        check_part("how many", b.text, "1 of 1");
        check_true("nothing is kept", b.acquisition == NULL);
        spin(&w);
        check_uint("the other", a.n_answers, 1);
        world_close(&w);
}

TEST(a_deadline_is_kept_and_leaves_nothing) {
        World w;
        Asker a, b, c;
        usec_t began = clock_usec();

        begin(&w, "deadline", 1);
        ask(&w, &a, (Wish) { .wait = LONG });
        ask(&w, &b, (Wish) { .wait = 20 * USEC_PER_MSEC });
        while (b.n_answers == 0 && clock_usec() - began < 20 * USEC_PER_SEC)
                (void) sd_event_run(w.event, 10 * USEC_PER_MSEC);
        check_uint("answers", b.n_answers, 1);
        check_result("code", b.code, -EDQUOT);
        check_true("not before", clock_usec() - began >= 20 * USEC_PER_MSEC);
        check_true("first words", strncmp(b.text, "Maximum sandbox limit reached", 29) == 0);
        check_part("how long", b.text, "waited");
        check_uint("waiting", waiting(&w), 0);
        spin(&w);
        end(&w, a.id); /* its place is nobody's */
        check_uint("live", tally_of_all(w.manager).live, 0);
        ask(&w, &c, (Wish) { .wait = 0 });
        spin(&w);
        check_result("free again", c.code, 0);
        world_close(&w);
}

TEST(who_goes_away_gives_up_the_place) {
        World w;
        Asker a, b, c;

        begin(&w, "goes-away", 1);
        ask(&w, &a, (Wish) { .wait = LONG });
        ask(&w, &b, (Wish) { .wait = LONG });
        ask(&w, &c, (Wish) { .wait = LONG });
        spin(&w);
        acquisition_cancel(b.acquisition);
        check_uint("waiting", waiting(&w), 1);
        end(&w, a.id);
        check_uint("b", b.n_answers, 0);
        check_uint("c", c.n_answers, 1);
        world_close(&w);
}

TEST(who_goes_away_while_it_is_made_leaves_no_sandbox) {
        World w;
        Asker a, named;

        begin(&w, "unmade", 4);
        ask(&w, &a, (Wish) { .wait = 0 });
        ask(&w, &named, (Wish) { .name = "kept", .wait = 0 });
        acquisition_cancel(a.acquisition);
        acquisition_cancel(named.acquisition);
        check_uint("asked to destroy", w.fake.n_destroyed, 1);
        w.fake.provider.events->destroyed(w.fake.destroyed[0], NULL, w.manager);
        spin(&w);
        check_uint("answers", a.n_answers + named.n_answers, 0);
        check_uint("live", tally_of_all(w.manager).live, 1);
        check_true("the named one", manager_find(w.manager, &admin, "kept") != NULL);
        world_close(&w);
}

/* Ten of A, then two of B: B is served after one of A, not after all of them. */
TEST(tenants_take_turns) {
        World w;
        Asker first, a[10], b[2];

        begin(&w, "turns", 1);
        ask(&w, &first, (Wish) { .wait = LONG });
        spin(&w);
        order[0] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .tenant = "A", .wait = LONG });
        for (size_t i = 0; i < ELEMENTSOF(b); i++)
                ask(&w, &b[i], (Wish) { .tenant = "B", .wait = LONG });
        spin(&w);
        check_uint("waiting", waiting(&w), 12);
        check_uint("of A", admission_waiting(w.manager->admission, "A"), 10);
        for (size_t i = 0; i < 12; i++)
                end_any(&w);
        check_string("order", order, "ABABAAAAAAAA");
        world_close(&w);
}

TEST(first_come_first_served_within_a_tenant) {
        World w;
        Asker first, a[8];

        begin(&w, "first", 1);
        ask(&w, &first, (Wish) { .wait = LONG });
        spin(&w);
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .tenant = "A", .critical = i == 6, .wait = LONG });
        end(&w, first.id);
        check_uint("the critical one", a[6].n_answers, 1);
        for (size_t i = 0; i < ELEMENTSOF(a); i++) {
                if (i == 6)
                        continue;
                check_uint("not yet", a[i].n_answers, 0);
                end_any(&w);
                check_uint("now", a[i].n_answers, 1);
        }
        world_close(&w);
}

TEST(a_full_tenant_stops_nobody_else) {
        World w;
        Asker a[3], b;
        Tenant tenant = { .name = "A", .sandboxes_max = 2 };
        Error error = { 0 };

        begin(&w, "full-tenant", 4);
        check_result("tenant", access_tenant_put(w.access, &tenant, &error) < 0, 0);
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .tenant = "A", .wait = LONG });
        ask(&w, &b, (Wish) { .tenant = "B", .wait = 0 });
        spin(&w);
        check_uint("third of A", a[2].n_answers, 0);
        check_uint("B", b.n_answers, 1);
        check_result("B", b.code, 0);
        end(&w, b.id); /* is no place for A */
        check_uint("third of A", a[2].n_answers, 0);
        end(&w, a[0].id);
        check_uint("third of A", a[2].n_answers, 1);
        world_close(&w);
}

TEST(limits_tenant_max_is_for_those_without_a_quota) {
        World w;
        Asker a, b, c, d;
        Tenant tenant = { .name = "B", .sandboxes_max = 2 };
        Error error = { 0 };

        begin(&w, "tenant-max", 8);
        w.settings->limits.tenant_max = 1;
        check_result("tenant", access_tenant_put(w.access, &tenant, &error) < 0, 0);
        ask(&w, &a, (Wish) { .tenant = "A", .wait = 0 });
        ask(&w, &b, (Wish) { .tenant = "A", .wait = 0 });
        check_result("second of A", b.code, -EDQUOT);
        check_part("words", b.text, "1 of 1 sandboxes of tenant 'A'");
        ask(&w, &c, (Wish) { .tenant = "B", .wait = 0 });
        ask(&w, &d, (Wish) { .tenant = "B", .wait = 0 });
        spin(&w);
        check_result("second of B", d.code, 0);
        world_close(&w);
}

/* What was added to the table of limits and forgotten here could be asked for without end. */
TEST(every_limit_has_a_ceiling) {
        const Principal key = { .kind = PRINCIPAL_USE_KEY, .may_loosen = true };
        World w;

        begin(&w, "ceiling", 8);
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++) {
                const ShapeField *f = sandbox_limits_shape.fields + i;
                const SandboxLimits builtin = w.settings->ceilings;
                bool is_time = f->unit == SHAPE_SECONDS; /* which without an end takes nothing from anybody */
                SandboxSpec spec;
                Error error = { 0 };

                sandbox_spec_defaults(&spec);
                (void) shape_set(f, &spec.limits, (int64_t) (f->max * shape_scale(f->unit)));
                check_result(f->name, allowance_check(w.manager, &key, &spec, &error), is_time ? 0 : -EPERM);
                check_result(f->name, allowance_check(w.manager, &admin, &spec, &error), 0);
                (void) shape_set(f, &w.settings->ceilings, 10);
                check_result(f->name, allowance_check(w.manager, &key, &spec, &error), -EPERM);
                check_part("words", error.text, f->name);
                allowance_lower(w.manager, &key, &spec);
                check_int(f->name, shape_get(f, &spec.limits), 10);
                check_result(f->name, allowance_check(w.manager, &key, &spec, &error), 0);
                w.settings->ceilings = builtin;
                sandbox_spec_done(&spec);
        }
        world_close(&w);
}

TEST(a_full_profile_stops_its_own_lane) {
        World w;
        Asker a[2], other, b;

        begin(&w, "profile", 8);
        w.settings->profiles[2].concurrent_max = 1; /* IMPLEMENTATION */
        ask(&w, &a[0], (Wish) { .tenant = "A", .profile = "IMPLEMENTATION", .wait = LONG });
        ask(&w, &a[1], (Wish) { .tenant = "A", .profile = "IMPLEMENTATION", .wait = LONG });
        ask(&w, &other, (Wish) { .tenant = "A", .profile = "VALIDATION", .wait = LONG });
        ask(&w, &b, (Wish) { .tenant = "B", .profile = "implementation", .wait = 0 });
        spin(&w);
        check_uint("second", a[1].n_answers, 0);
        check_uint("another profile of the same tenant", other.n_answers, 1);
        check_result("whoever asks", b.code, -EDQUOT);
        check_part("words", b.text, "1 of 1 sandboxes of profile 'IMPLEMENTATION'");
        end(&w, a[0].id);
        check_uint("second", a[1].n_answers, 1);
        world_close(&w);
}

/* One that needs much is not starved by those of its own tenant who need little. */
TEST(nobody_overtakes_within_a_quota) {
        World w;
        Asker one, two, big, small;
        Tenant tenant = { .name = "A", .memory_bytes_max = UINT64_C(1000) << 20 };
        Error error = { 0 };

        begin(&w, "means", 8);
        check_result("tenant", access_tenant_put(w.access, &tenant, &error) < 0, 0);
        ask(&w, &one, (Wish) { .tenant = "A", .memory_mb = 400, .wait = LONG });
        ask(&w, &two, (Wish) { .tenant = "A", .memory_mb = 400, .wait = LONG });
        ask(&w, &big, (Wish) { .tenant = "A", .memory_mb = 900, .wait = LONG });
        ask(&w, &small, (Wish) { .tenant = "A", .memory_mb = 100, .wait = LONG });
        spin(&w);
        check_uint("small", small.n_answers, 0);
        end(&w, one.id);
        check_uint("big", big.n_answers, 0);
        check_uint("small", small.n_answers, 0);
        end(&w, two.id);
        check_uint("big", big.n_answers, 1);
        check_uint("small", small.n_answers, 1);
        world_close(&w);
}

TEST(what_could_never_be_is_refused_at_once) {
        World w;
        Asker a, b;
        Tenant tenant = { .name = "A", .memory_bytes_max = UINT64_C(300) << 20 }, cpus = { .name = "B", .cpu_milli_max = 1000 };
        Error error = { 0 };

        begin(&w, "never", 8);
        check_result("tenant", access_tenant_put(w.access, &tenant, &error) < 0, 0);
        check_result("tenant", access_tenant_put(w.access, &cpus, &error) < 0, 0);
        ask(&w, &a, (Wish) { .tenant = "A", .memory_mb = 301, .wait = LONG });
        check_result("more than the quota", a.code, -EOVERFLOW);
        check_part("words", a.text, "301 MB of memory are more than the 300");
        ask(&w, &b, (Wish) { .tenant = "B", .wait = LONG });
        check_result("no limit on CPUs", b.code, -EOVERFLOW);
        check_part("cure", b.text, "limits.cpuCores");
        check_uint("waiting", waiting(&w), 0);
        world_close(&w);
}

TEST(a_name_that_comes_to_be_is_shared_by_all_who_wait) {
        World w;
        Asker first, a[3], again;

        begin(&w, "shared", 1);
        ask(&w, &first, (Wish) { .wait = LONG });
        spin(&w);
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .tenant = "A", .name = "one", .wait = LONG });
        end(&w, first.id);
        for (size_t i = 0; i < ELEMENTSOF(a); i++) {
                check_uint("answers", a[i].n_answers, 1);
                check_string("the same", a[i].id, a[0].id);
                check_true("existing", a[i].result.existing == (i > 0));
        }
        check_uint("waiting", waiting(&w), 0);
        ask(&w, &again, (Wish) { .tenant = "A", .name = "one", .wait = 0 });
        check_result("a taken name needs no place", again.code, 0);
        world_close(&w);
}

TEST(the_queue_has_an_end) {
        World w;
        Asker first, a[4];

        begin(&w, "queue-max", 1);
        w.settings->limits.queue_max = 3;
        ask(&w, &first, (Wish) { .wait = LONG });
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .wait = LONG });
        check_result("the fourth", a[3].code, -EDQUOT);
        check_part("words", a[3].text, "limits.maxQueued");
        check_uint("waiting", waiting(&w), 3);
        for (size_t i = 0; i < 3; i++)
                acquisition_cancel(a[i].acquisition);
        check_uint("waiting", waiting(&w), 0);
        spin(&w);
        world_close(&w);
}

TEST(a_higher_cap_is_seen_when_it_comes) {
        World w;
        Asker a[5];

        begin(&w, "raised", 1);
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                ask(&w, &a[i], (Wish) { .wait = LONG });
        spin(&w);
        check_uint("waiting", waiting(&w), 4);
        w.settings->limits.sandboxes_max = 3;
        admission_pump(w.manager->admission);
        spin(&w);
        check_uint("waiting", waiting(&w), 2);
        acquisition_cancel(a[3].acquisition);
        acquisition_cancel(a[4].acquisition);
        world_close(&w);
}

TEST(a_create_that_fails_hands_its_place_on) {
        World w;
        Asker a, b;
        Error error = { 0 };

        begin(&w, "hands-on", 1);
        ask(&w, &a, (Wish) { .wait = LONG });
        ask(&w, &b, (Wish) { .wait = LONG });
        (void) error_set(&error, -EOPNOTSUPP, "no walls");
        w.fake.provider.events->created(w.fake.created, 0, 0, 0, &error, w.manager);
        w.fake.provider.events->destroyed(w.fake.destroyed[0], NULL, w.manager);
        spin(&w);
        check_result("a", a.code, -EOPNOTSUPP);
        check_uint("b", b.n_answers, 1);
        check_result("b", b.code, 0);
        world_close(&w);
}

/* What nobody uses counts for the daemon alone, and goes when somebody waits whom it cannot serve. */

static Sandbox *pooled;
static unsigned n_reclaimed;

static bool give_up(void *userdata) {
        if (!pooled)
                return false;
        n_reclaimed++;
        sandbox_end(TAKE_PTR(pooled), SANDBOX_TERMINATED, /* delete= */ true, "given up");
        return true;
}

TEST(pooled_ones_are_given_up_for_who_waits) {
        World w;
        Asker a;
        SandboxSpec spec;
        Error error = { 0 };
        ManagerStats stats;

        begin(&w, "given-up", 1);
        n_reclaimed = 0;
        sandbox_spec_defaults(&spec);
        spec.profile = strdup("VALIDATION");
        check_result("pooled", manager_create_pooled(w.manager, &spec, &pooled, &error), 0);
        spin(&w);
        check_uint("profile", tally_of_profile(w.manager, "VALIDATION").live, 0);
        manager_stats(w.manager, &admin, &stats);
        check_uint("active", stats.active, 0);
        check_uint("pooled", stats.pooled, 1);
        check_uint("created", stats.total_created, 1);
        admission_set_reclaim(w.manager->admission, give_up, NULL);
        ask(&w, &a, (Wish) { .wait = LONG });
        spin(&w);
        check_uint("given up", n_reclaimed, 1);
        check_uint("not yet", a.n_answers, 0);
        w.fake.provider.events->destroyed(w.fake.destroyed[0], NULL, w.manager);
        spin(&w);
        check_uint("served", a.n_answers, 1);
        check_uint("once", n_reclaimed, 1);
        world_close(&w);
}

TEST(tallies_follow_every_change) {
        World w;
        Asker a;
        Sandbox *sb;
        Execution *x;
        Error error = { 0 };

        begin(&w, "tallies", 8);
        ask(&w, &a, (Wish) { .tenant = "A", .profile = "VALIDATION", .memory_mb = 64, .wait = 0 });
        spin(&w);
        sb = the(&w, a.id);
        if (!sb)
                return;
        check_uint("live", tally_of_tenant(w.manager, "A").live, 1);
        check_uint("memory", tally_of_tenant(w.manager, "A").memory_bytes, UINT64_C(64) << 20);
        check_uint("profile, in any case", tally_of_profile(w.manager, "validation").live, 1);
        x = start(sb, "sleep");
        check_uint("running", tally_of_tenant(w.manager, "A").n_by_status[SANDBOX_RUNNING], 1);
        check_uint("executions", tally_of_tenant(w.manager, "A").n_alive, 1);
        check_result("all", tally_verify(w.manager, &error), 0);
        tell_exit(&w, sb, x->number, 0);
        check_uint("executions", tally_of_tenant(w.manager, "A").n_alive, 0);
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, "enough");
        check_uint("live while it ends", tally_of_tenant(w.manager, "A").live, 1);
        w.fake.provider.events->destroyed(a.id, NULL, w.manager);
        check_uint("ended", tally_of_tenant(w.manager, "A").n_by_status[SANDBOX_TERMINATED], 1);
        check_uint("live", tally_of_tenant(w.manager, "A").live, 0);
        check_true("first ended", tally_first_ended(w.manager) == sb);
        check_result("all", tally_verify(w.manager, &error), 0);
        sb->spec.limits.memory_bytes++; /* of an ended one it does not matter */
        check_result("all", tally_verify(w.manager, &error), 0);
        sb->pooled = true;
        check_result("somebody else's", tally_verify(w.manager, &error), -EUCLEAN);
        sb->pooled = false;
        world_close(&w);
}

/* The table has a ceiling (16 here): what has ended makes room. */
TEST(ended_ones_make_room) {
        World w;
        Asker a;
        char oldest[SANDBOX_ID_LENGTH + 1] = "";

        begin(&w, "ended", 16);
        for (unsigned i = 0; i < 20; i++) {
                ask(&w, &a, (Wish) { .wait = 0 });
                spin(&w);
                check_result("made", a.code, 0);
                if (i == 0)
                        memcpy(oldest, a.id, sizeof(oldest));
                sandbox_end(manager_find(w.manager, &admin, a.id), SANDBOX_TERMINATED, /* delete= */ false, "enough");
                w.fake.provider.events->destroyed(a.id, NULL, w.manager);
        }
        check_uint("there", HASH_COUNT(w.manager->sandboxes), 16);
        check_uint("created", w.manager->total_created, 20);
        check_uint("destroyed", w.manager->total_destroyed, 4);
        check_true("the oldest is gone", manager_find(w.manager, &admin, oldest) == NULL);
        check_true("the newest is not", manager_find(w.manager, &admin, a.id) != NULL);
        world_close(&w);
}

TEST(the_default_cap_is_the_machines) {
        World w;
        uint64_t memory = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);

        begin(&w, "default", 0);
        check_uint("never above --max-sandboxes", admission_cap(w.manager->admission), 16);
        w.manager->config.sandboxes_max = 1000000;
        check_true("not a small constant", admission_cap(w.manager->admission) >= 16);
        check_true("not more than the memory", (uint64_t) admission_cap(w.manager->admission) * (4 << 20) <= memory);
        for (size_t i = 0; i < w.settings->n_profiles; i++)
                w.settings->profiles[i].limits.memory_bytes = UINT64_C(1) << 50;
        check_uint("at least", admission_cap(w.manager->admission), 16);
        world_close(&w);
}
