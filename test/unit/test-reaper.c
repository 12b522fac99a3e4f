/* The cleaners, with a provider that does what the test says. Numbers are those of docs/seed-coverage.md. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "config/config.h"
#include "core/internal.h"
#include "reaper/internal.h"
#include "reaper/rows.h"
#include "store/store.h"

#define MANY 10000u

typedef struct Fake {
        Provider provider;
        sd_event *event;
        unsigned n_destroyed, n_verified;
        char last_destroyed[SANDBOX_ID_LENGTH + 1];
        bool deaf;         /* a destroy is never answered */
        const char *refuses; /* … of this id */
        bool answers;      /* to verify */
        int verify_result;
        char listed[8][SANDBOX_ID_LENGTH + 1];
        unsigned n_listed, n_lists;
        Sandbox *born_while_listing;
        void (*while_listing)(struct Fake *f);
        uint64_t last_exec;
} Fake;

typedef struct World {
        sd_event *event;
        Store *store;
        Access *access;
        Manager *manager;
        Config *settings;
        Reaper *reaper;
        Fake fake;
        char state[512];
} World;

static int fake_create(Provider *p, Sandbox *sb, Error *reterr) {
        return 0;
}

static int fake_adopt(Provider *p, Sandbox *sb) {
        return 0;
}

/* Never from within the call: as providers do. */
typedef struct Later {
        Fake *fake;
        char id[SANDBOX_ID_LENGTH + 1];
} Later;

static int on_destroyed(sd_event_source *source, void *userdata) {
        Later *l = userdata;
        Provider *p = &l->fake->provider;

        for (unsigned i = 0; i < l->fake->n_listed; i++)
                if (strcmp(l->fake->listed[i], l->id) == 0)
                        memcpy(l->fake->listed[i], l->fake->listed[--l->fake->n_listed], sizeof(l->id));
        p->events->destroyed(l->id, NULL, p->userdata);
        free(l);
        sd_event_source_unref(source);
        return 0;
}

static int fake_destroy(Provider *p, const char *id, Sandbox *sb) {
        Fake *f = (Fake *) p;
        sd_event_source *source;
        Later *l;

        f->n_destroyed++;
        (void) snprintf(f->last_destroyed, sizeof(f->last_destroyed), "%s", id);
        if (f->deaf || (f->refuses && strcmp(f->refuses, id) == 0))
                return 0;
        l = calloc(1, sizeof(*l));
        l->fake = f;
        (void) snprintf(l->id, sizeof(l->id), "%s", id);
        return sd_event_add_defer(f->event, &source, on_destroyed, l);
}

static int fake_freeze(Provider *p, Sandbox *sb, bool freeze) {
        return 0;
}

static int fake_stop(Provider *p, Sandbox *sb, usec_t grace) {
        return 0;
}

static int fake_exec(Provider *p, Sandbox *sb, const ProviderCommand *c) {
        ((Fake *) p)->last_exec = c->number;
        return 0;
}

static int fake_signal(Provider *p, Sandbox *sb, uint64_t number, int signal_number) {
        return 0;
}

static int fake_forget(Provider *p, Sandbox *sb, uint64_t number) {
        return 0;
}

static int fake_usage(Provider *p, Sandbox *sb, SandboxUsage *ret) {
        return 0;
}

static int fake_verify(Provider *p, Sandbox *sb) {
        Fake *f = (Fake *) p;

        f->n_verified++;
        if (f->verify_result < 0)
                return f->verify_result;
        if (f->answers)
                sb->heard_at = clock_usec();
        return 0;
}

static int on_list(sd_event_source *source, void *userdata) {
        Fake *f = userdata;
        Provider *p = &f->provider;

        for (unsigned i = 0; i < f->n_listed; i++)
                p->events->listed(f->listed[i], p->userdata);
        if (f->while_listing)
                f->while_listing(f);
        p->events->listed(NULL, p->userdata);
        sd_event_source_unref(source);
        return 0;
}

static int fake_list(Provider *p) {
        Fake *f = (Fake *) p;
        sd_event_source *source;

        f->n_lists++;
        return f->deaf ? 0 : sd_event_add_defer(f->event, &source, on_list, f);
}

static void fake_release(Provider *p, Sandbox *sb) {
}

static ProviderSegment fake_segment(Provider *p, const Sandbox *sb) {
        return PROVIDER_SEGMENT_NEVER;
}

static const ProviderOps fake_ops = {
        .name = "fake",
        .create = fake_create,
        .adopt = fake_adopt,
        .destroy = fake_destroy,
        .list = fake_list,
        .stop = fake_stop,
        .usage = fake_usage,
        .segment = fake_segment,
        .exec = fake_exec,
        .signal = fake_signal,
        .forget = fake_forget,
        .release = fake_release,
};

static const ProviderPause fake_pause = { .freeze = fake_freeze };
static const ProviderHealth fake_health = { .verify = fake_verify };

static const Principal admin = { .kind = PRINCIPAL_ADMIN };

static void make_directory(const World *w, const char *name) {
        char path[600];

        (void) snprintf(path, sizeof(path), "%s/%s", w->state, name);
        (void) mkdir(path, 0700);
}

/* No layer runs by itself unless the test says so. */
static void quiet(Config *c) {
        c->cleanup.sweep_interval_usec = c->cleanup.age_interval_usec = c->cleanup.pressure_interval_usec = 0;
        c->cleanup.reconcile_interval_usec = c->cleanup.health_interval_usec = 0;
}

static void world_new(World *w, const char *name) {
        ManagerConfig config = { .journal_total_bytes = 1 << 20, .keep_ended_usec = 3600 * USEC_PER_SEC * 48, .sandboxes_max = 1 << 20 };
        char path[600];
        Error error = { 0 };

        memset(w, 0, sizeof(*w));
        (void) snprintf(w->state, sizeof(w->state), "%s", unit_path(name));
        (void) mkdir(w->state, 0700);
        make_directory(w, "box");
        make_directory(w, "run");
        config.state_dir = w->state;
        w->fake.provider.ops = &fake_ops;
        w->fake.provider.pause = &fake_pause;
        w->fake.provider.health = &fake_health;
        w->fake.answers = true;
        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        check_result("loop", sd_event_new(&w->event) < 0, 0);
        w->fake.event = w->event;
        check_result("store", store_open(path, &w->store, &error), 0);
        check_result("access", access_new(w->store, w->state, &w->access, &error), 0);
        check_result("settings", config_defaults(&w->settings), 0);
        quiet(w->settings);
        check_result("manager", manager_new(&config, w->settings, w->event, w->store, w->access, &w->manager, &error), 0);
        manager_set_provider(w->manager, &w->fake.provider);
        w->fake.provider.events->up(&w->fake.provider, w->manager);
        while (w->manager->recovering)
                (void) sd_event_run(w->event, 1000);
        w->fake.n_lists = 0;
        check_result("reaper", reaper_new(w->manager, &w->reaper, &error), 0);
        w->reaper->patience = 60 * USEC_PER_SEC;
}

/* So that one which does not end is given up soon. */
static void be_impatient(World *w) {
        w->reaper->patience = 300 * USEC_PER_MSEC;
}

static void world_close(World *w) {
        w->reaper = reaper_free(w->reaper);
        w->manager = manager_free(w->manager);
        w->settings = config_free(w->settings);
        w->access = access_free(w->access);
        w->store = store_close(w->store);
        w->event = sd_event_unref(w->event);
}

static void on_created(Sandbox *sb, const Error *error, void *userdata) {
        int *code = userdata;

        if (code)
                *code = error ? error->code : 0;
}

static Sandbox *create(World *w, const char *agent_type, int *ret_code) {
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.agent_type = agent_type ? strdup(agent_type) : NULL;
        check_result("create", manager_create(w->manager, &admin, &spec, &sb, &existing, on_created, ret_code, &error), 0);
        sandbox_spec_done(&spec);
        return sb;
}

static Sandbox *create_ready(World *w, const char *agent_type) {
        Sandbox *sb = create(w, agent_type, NULL);

        w->fake.provider.events->created(sb, 0, 1 << 30, 0, NULL, w->manager);
        return sb;
}

static Execution *start(Sandbox *sb) {
        ExecutionSpec spec = { .args = STRV_INIT(8), .env = STRV_INIT(8) };
        Execution *x = NULL;
        Error error = { 0 };

        check_result("push", strv_push(&spec.args, "true"), 0);
        check_result("exec", execution_start(sb, &admin, &spec, &x, &error), 0);
        execution_spec_done(&spec);
        return x;
}

#define MINUTES(n) ((usec_t) (n) * 60 * USEC_PER_SEC)
#define HOURS(n)   MINUTES((n) * 60)

/* So long ago it was made, became what it is, and began what it runs. */
static void age(Sandbox *sb, usec_t by) {
        Execution *x, *next;

        sb->born -= (int64_t) by;
        sb->created_at -= by;
        sb->changed_at -= by;
        if (sb->ended_at > 0)
                sb->ended_at -= by;
        HASH_ITER(hh, sb->executions, x, next) {
                x->born -= (int64_t) by;
                x->started_at -= by;
        }
}

typedef struct Result {
        bool over;
        CleanupReport report; /* without its items */
        CleanupItem items[64];
        size_t n_items;
        unsigned n_unresponsive;
} Result;

static void on_done(const CleanupReport *p, void *userdata) {
        Result *r = userdata;

        r->over = true;
        r->report = *p;
        r->n_items = p->n_items;
        for (size_t i = 0; i < MIN_OF(p->n_items, ELEMENTSOF(r->items)); i++)
                r->items[i] = *p->items[i];
        for (char **u = p->unresponsive; u && *u; u++)
                r->n_unresponsive++;
}

static void spin(World *w, const bool *over, usec_t patience) {
        usec_t until = clock_usec() + patience;

        while (!*over && clock_usec() < until)
                (void) sd_event_run(w->event, 10000);
        check_true("in time", *over);
}

static void sweep_run_request(World *w, const CleanupRequest *q, Result *ret) {
        Error error = { 0 };

        memset(ret, 0, sizeof(*ret));
        check_result("run", reaper_run(w->reaper, q, on_done, ret, &error), 0);
        check_true("not before it has returned", !ret->over);
        spin(w, &ret->over, 60 * USEC_PER_SEC);
}

static void run_kind(World *w, CleanupKind kind, Result *ret) {
        sweep_run_request(w, &(CleanupRequest) { .kind = kind }, ret);
}

static const char *status_of(World *w, const char *id) {
        Sandbox *sb;

        HASH_FIND_STR(w->manager->sandboxes, id, sb);
        return sb ? sandbox_status_name(sb->status) : "gone";
}

static bool is_live(World *w, const char *id) {
        return strcmp(status_of(w, id), "terminated") != 0 && strcmp(status_of(w, id), "gone") != 0;
}

TEST(item_045_an_orphan_is_terminated_and_its_caller_told) {
        World w;
        Result r;
        int code = 1;
        char id[SANDBOX_ID_LENGTH + 1];

        world_new(&w, "orphan");
        Sandbox *sb = create(&w, NULL, &code);
        memcpy(id, sb->id, sizeof(id));
        age(sb, MINUTES(9));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("not yet", r.report.counts.found, 0);
        age(sb, MINUTES(2));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("orphaned", r.report.counts.orphaned, 1);
        check_uint("removed", r.report.counts.removed, 1);
        check_string("rule", cleanup_rule_name(r.items[0].rule), "orphaned");
        check_string("status", status_of(&w, id), "terminated");
        check_result("its caller", code, -ETIMEDOUT);
        world_close(&w);
}

TEST(item_046_stuck_is_by_profile_and_never_below_its_execution_time) {
        World w;
        Result r;
        unsigned seconds = 0;

        world_new(&w, "stuck");
        w.settings->profiles[0].stuck_usec = MINUTES(1); /* ELICITATION: 5 minutes of execution time */
        Sandbox *plain = create_ready(&w, NULL), *agents = create_ready(&w, "elicitation");
        plain->spec.limits.exec_timeout_usec = 0; /* may run for ever */
        agents->spec.limits.exec_timeout_usec = 0;
        (void) start(plain);
        (void) start(agents);
        age(plain, HOURS(100));
        age(agents, MINUTES(4));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("K1: within its execution time", r.report.counts.found, 0);
        age(agents, MINUTES(2));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("stuck", r.report.counts.stuck, 1);
        check_string("which", r.items[0].name, agents->id);
        check_string("status", sandbox_status_name(agents->status), "terminated");
        check_int("reason", sscanf(agents->reason, "stuck: e1 runs for %u", &seconds), 1);
        check_true("360 s, and what this has taken", seconds >= 360 && seconds < 420);
        check_string("a caller's own", sandbox_status_name(plain->status), "running");
        world_close(&w);
}

TEST(item_046_the_default_is_thirty_minutes) {
        World w;
        Result r;

        world_new(&w, "stuck-default");
        Sandbox *sb = create_ready(&w, "IMPLEMENTATION");
        sb->spec.limits.exec_timeout_usec = 0;
        (void) start(sb);
        age(sb, MINUTES(29));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("not yet", r.report.counts.found, 0);
        age(sb, MINUTES(2));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("stuck", r.report.counts.stuck, 1);
        world_close(&w);
}

TEST(item_042_a_lost_timer_and_a_command_beyond_its_limit_are_found) {
        World w;
        Result r;

        world_new(&w, "overdue");
        Sandbox *overdue = create_ready(&w, NULL), *overrun = create_ready(&w, NULL), *fine = create_ready(&w, NULL);
        age(overdue, MINUTES(10));
        overdue->expires_at = clock_wall_usec() - MINUTES(2); /* nobody has armed anything */
        (void) start(overrun);
        (void) start(fine);
        age(overrun, MINUTES(5) + MINUTES(2)); /* 300 s are its limit */
        age(fine, MINUTES(5) + USEC_PER_SEC);
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("stuck", r.report.counts.stuck, 2);
        check_string("overdue", cleanup_rule_name(r.items[0].rule), "overdue");
        check_string("overrun", cleanup_rule_name(r.items[1].rule), "overrun");
        check_string("within the grace", sandbox_status_name(fine->status), "running");
        world_close(&w);
}

TEST(item_133_terminating_without_an_end_is_asked_for_again) {
        World w;
        Result r;

        world_new(&w, "unended");
        Sandbox *sb = create_ready(&w, NULL);
        char id[SANDBOX_ID_LENGTH + 1];
        memcpy(id, sb->id, sizeof(id));
        w.fake.deaf = true;
        sandbox_terminate(sb, "the test says so");
        w.fake.deaf = false;
        check_string("status", status_of(&w, id), "terminating");
        age(sb, MINUTES(2));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_string("rule", cleanup_rule_name(r.items[0].rule), "unended");
        check_string("status", status_of(&w, id), "terminated");
        world_close(&w);
}

static Sandbox *create_ended(World *w, SandboxStatus status) {
        Sandbox *sb = create_ready(w, NULL);

        sandbox_end(sb, status, /* delete= */ false, "the test says so");
        w->fake.provider.events->destroyed(sb->id, NULL, w->manager);
        return sb;
}

TEST(item_047_old_records_go_and_young_ones_stay) {
        World w;
        Result r;
        char old[SANDBOX_ID_LENGTH + 1];

        world_new(&w, "old");
        Sandbox *young = create_ended(&w, SANDBOX_TERMINATED), *sb = create_ended(&w, SANDBOX_COMPLETED);
        memcpy(old, sb->id, sizeof(old));
        age(sb, HOURS(25));
        age(young, HOURS(23));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("old", r.report.counts.old, 1);
        check_string("gone", status_of(&w, old), "gone");
        check_string("stays", status_of(&w, young->id), "terminated");
        world_close(&w);
}

TEST(item_156_a_manual_run_takes_the_old_and_the_failed) {
        World w;
        Result r;
        char failed[SANDBOX_ID_LENGTH + 1];

        world_new(&w, "manual");
        Sandbox *sb = create_ended(&w, SANDBOX_FAILED), *fresh = create_ended(&w, SANDBOX_FAILED), *agents = create_ready(&w, "ELICITATION");
        Sandbox *plain = create_ready(&w, NULL);
        memcpy(failed, sb->id, sizeof(failed));
        age(sb, MINUTES(11));
        age(agents, MINUTES(11));
        age(plain, MINUTES(11));
        sweep_run_request(&w, &(CleanupRequest) { .kind = CLEANUP_MANUAL, .dry_run = true }, &r);
        check_uint("found", r.report.counts.found, 2);
        check_uint("a dry run does nothing", r.report.counts.removed, 0);
        check_string("failed stays", status_of(&w, failed), "failed");
        run_kind(&w, CLEANUP_MANUAL, &r);
        check_uint("removed", r.report.counts.removed, 2);
        check_string("failed", status_of(&w, failed), "gone");
        check_string("failed a moment ago", status_of(&w, fresh->id), "failed");
        check_string("an agent's", status_of(&w, agents->id), "terminated");
        check_string("a caller's own", status_of(&w, plain->id), "ready");
        sweep_run_request(&w, &(CleanupRequest) { .kind = CLEANUP_MANUAL, .has_max_age = true, .max_age_usec = MINUTES(10) }, &r);
        check_string("168: unless a person names an age", status_of(&w, plain->id), "terminated");
        world_close(&w);
}

TEST(item_175_age_is_never_below_the_execution_time) {
        World w;
        Result r;

        world_new(&w, "age");
        Sandbox *short_one = create_ready(&w, "ELICITATION"), *long_one = create_ready(&w, "IMPLEMENTATION"), *works = create_ready(&w, "ELICITATION");
        age(short_one, MINUTES(11));
        age(long_one, MINUTES(14));
        age(works, MINUTES(30));
        (void) start(works); /* a command that has just begun, within its execution time */
        run_kind(&w, CLEANUP_AGE, &r);
        check_uint("aged", r.report.counts.aged, 1);
        check_string("10 minutes", status_of(&w, short_one->id), "terminated");
        check_string("15 minutes are its execution time", status_of(&w, long_one->id), "ready");
        check_string("it works", status_of(&w, works->id), "running");
        age(long_one, MINUTES(2));
        run_kind(&w, CLEANUP_AGE, &r);
        check_string("16 minutes", status_of(&w, long_one->id), "terminated");
        world_close(&w);
}

TEST(a_calendar_that_jumps_makes_nothing_old) {
        World w;
        Result r;

        world_new(&w, "jump");
        Sandbox *sb = create_ready(&w, "ELICITATION"), *ended = create_ended(&w, SANDBOX_TERMINATED);
        sb->created_at -= HOURS(48); /* as if somebody had set it forward */
        sb->changed_at -= HOURS(48);
        ended->ended_at -= HOURS(48);
        run_kind(&w, CLEANUP_MANUAL, &r);
        check_uint("found", r.report.counts.found, 0);
        world_close(&w);
}

TEST(item_048_a_batch_at_a_time_oldest_first_and_none_starves) {
        World w;
        Result r;
        Sandbox *all[5];
        bool over = false;

        world_new(&w, "batch");
        w.settings->cleanup.batch_size = 2;
        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                all[i] = create_ready(&w, "ELICITATION");
                all[i]->spec.limits.exec_timeout_usec = 0;
                (void) start(all[i]);
                age(all[i], MINUTES(40));
        }
        be_impatient(&w);
        w.fake.refuses = all[0]->id; /* this one cannot be cleaned */
        w.settings->cleanup.sweep_interval_usec = 50 * USEC_PER_MSEC;
        reaper_reload(w.reaper);
        for (usec_t until = clock_usec() + 60 * USEC_PER_SEC; !over && clock_usec() < until;) {
                (void) sd_event_run(w.event, 10000);
                over = true;
                for (size_t i = 1; i < ELEMENTSOF(all); i++)
                        over &= all[i]->status == SANDBOX_TERMINATED;
        }
        check_true("all but the one", over);
        check_string("the one", sandbox_status_name(all[0]->status), "terminating");
        w.fake.refuses = NULL;
        memset(&r, 0, sizeof(r));
        world_close(&w);
}

TEST(item_157_one_failure_stops_nothing_and_is_named) {
        World w;
        Result r;

        world_new(&w, "failure");
        Sandbox *bad = create_ready(&w, "ELICITATION"), *good = create_ready(&w, "ELICITATION");
        age(bad, MINUTES(11));
        age(good, MINUTES(11));
        be_impatient(&w);
        w.fake.refuses = bad->id;
        run_kind(&w, CLEANUP_AGE, &r);
        check_uint("found", r.report.counts.found, 2);
        check_uint("removed", r.report.counts.removed, 1);
        check_uint("failed", r.report.counts.failed, 1);
        check_string("which", r.items[0].name, bad->id);
        check_part("why", r.items[0].error, "has not ended within 0.3 s");
        check_string("the other", status_of(&w, good->id), "terminated");
        check_uint("135: last hour", (unsigned) reaper_item_failures(w.reaper), 1);
        world_close(&w);
}

TEST(item_163_what_has_gone_meanwhile_is_done) {
        World w;
        Result r;
        Error error = { 0 };

        world_new(&w, "gone");
        Sandbox *sb = create_ended(&w, SANDBOX_TERMINATED);
        age(sb, HOURS(25));
        memset(&r, 0, sizeof(r));
        check_result("run", reaper_run(w.reaper, &(CleanupRequest) { .kind = CLEANUP_SWEEP }, on_done, &r, &error), 0);
        (void) sd_event_run(w.event, 0); /* found, and not acted upon */
        check_result("somebody else", sandbox_forget(sb), 0);
        spin(&w, &r.over, 60 * USEC_PER_SEC);
        check_uint("failed", r.report.counts.failed, 0);
        world_close(&w);
}

TEST(item_132_an_emergency_spares_the_critical) {
        World w;
        Result r;

        world_new(&w, "emergency");
        Sandbox *critical = create_ready(&w, NULL), *plain = create_ready(&w, NULL), *running = create_ready(&w, "ELICITATION");
        critical->spec.critical = true;
        (void) start(running);
        run_kind(&w, CLEANUP_EMERGENCY, &r);
        check_uint("removed", r.report.counts.removed, 2);
        check_string("critical", status_of(&w, critical->id), "ready");
        check_string("plain", status_of(&w, plain->id), "terminated");
        check_string("running", status_of(&w, running->id), "terminated");
        world_close(&w);
}

TEST(item_176_pressure_takes_what_is_idle_until_it_is_enough) {
        World w;
        Sandbox *all[10];
        char ids[10][SANDBOX_ID_LENGTH + 1]; /* a pooled one goes with its record */
        usec_t until;

        world_new(&w, "pressure");
        w.settings->cleanup.pressure_psi = 0;
        w.settings->cleanup.pressure_usage = 1; /* neither memory nor disk of this machine ever are beyond that, places can be */
        for (size_t i = 0; i < ELEMENTSOF(all); i++)
                memcpy(ids[i], (all[i] = create_ready(&w, i < 2 || i == 9 ? NULL : "ELICITATION"))->id, sizeof(ids[i]));
        all[2]->spec.critical = true;
        (void) start(all[3]);
        all[9]->pooled = true;
        w.settings->limits.sandboxes_max = 8; /* two are too many */
        w.settings->cleanup.pressure_interval_usec = 10 * USEC_PER_MSEC;
        reaper_reload(w.reaper);
        until = clock_usec() + 60 * USEC_PER_SEC;
        while ((is_live(&w, ids[9]) || is_live(&w, ids[4])) && clock_usec() < until)
                (void) sd_event_run(w.event, 10000);
        check_true("pooled first", !is_live(&w, ids[9]));
        check_string("then the oldest idle one of an agent's", status_of(&w, ids[4]), "terminated");
        for (until = clock_usec() + 200 * USEC_PER_MSEC; clock_usec() < until;)
                (void) sd_event_run(w.event, 10000);
        check_string("enough", status_of(&w, ids[5]), "ready");
        check_string("plain", status_of(&w, ids[0]), "ready");
        check_string("critical", status_of(&w, ids[2]), "ready");
        check_string("running", status_of(&w, ids[3]), "running");
        world_close(&w);
}

TEST(pressure_words_say_what_is_short) {
        Config *c;
        PressureStatus p = { .memory_usage = 0.5, .disk_usage = 0.93, .places_usage = 0.1, .psi = NAN };

        check_result("settings", config_defaults(&c), 0);
        check_true("over", pressure_is_over(c, &p));
        check_string("words", p.text, "disk in use: 93.0%, more than 80.0%");
        p.disk_usage = 0.8;
        check_true("no PSI is no pressure", !pressure_is_over(c, &p));
        p.psi = 51;
        check_true("stalls", pressure_is_over(c, &p));
        config_free(c);
}

static bool is_there(const World *w, const char *name) {
        char path[600];

        (void) snprintf(path, sizeof(path), "%s/%s", w->state, name);
        return access(path, F_OK) == 0;
}

static void plant(const World *w, const char *name) {
        char path[600];

        (void) snprintf(path, sizeof(path), "%s/%s", w->state, name);
        unit_write_text(path, "");
}

TEST(item_160_records_and_kernel_are_compared_in_both_directions) {
        static const char *const others[] = { "run/gate.sock", "run/gate.sock.new", "run/gate.sock.lock", "run/spare-3.sock", "run/other.sock",
                                              "run/Zzzzzzzzzzzzzzzzzzzzz.sock" };
        World w;
        Result r;
        char path[600];

        world_new(&w, "reconcile");
        Sandbox *there = create_ready(&w, NULL), *lost = create_ready(&w, NULL);
        (void) snprintf(w.fake.listed[0], sizeof(w.fake.listed[0]), "%s", there->id);
        check_result("id", id_make(w.fake.listed[1]), 0);
        w.fake.n_listed = 2;
        w.fake.verify_result = -ENOTCONN;
        (void) snprintf(path, sizeof(path), "%s/box/%s-e1.out", w.state, w.fake.listed[1]);
        unit_write_text(path, "left behind");
        (void) snprintf(path, sizeof(path), "%s/run/%s.sock", w.state, w.fake.listed[1]);
        unit_write_text(path, "");
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                plant(&w, others[i]);
        sweep_run_request(&w, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, &r);
        check_true("inconsistent", !cleanup_is_consistent(&r.report));
        check_uint("records without a sandbox", r.report.counts.lost, 1);
        check_uint("sandboxes without a record", r.report.counts.strays, 1);
        check_uint("files", r.report.counts.files, 2);
        check_string("an audit changes nothing", status_of(&w, lost->id), "ready");
        run_kind(&w, CLEANUP_RECONCILE, &r);
        check_string("162", status_of(&w, lost->id), "terminated");
        check_part("reason", lost->reason, "reconciled");
        check_uint("161: all gone", r.report.counts.removed, 4);
        check_uint("failed", r.report.counts.failed, 0);
        check_true("file", access(path, F_OK) < 0);
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                check_true(others[i], is_there(&w, others[i]));
        w.fake.verify_result = 0;
        sweep_run_request(&w, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, &r);
        check_true("169: consistent", cleanup_is_consistent(&r.report));
        check_string("the one that is there", status_of(&w, there->id), "ready");
        world_close(&w);
}

/* Born between two answers of the list: in the table, on no list; and one that was deleted meanwhile. */
static World *listing_world;
static char deleted_id[SANDBOX_ID_LENGTH + 1];

static void make_one(Fake *f) {
        if (f->born_while_listing)
                return;
        f->born_while_listing = create_ready(listing_world, NULL);
}

TEST(who_is_born_while_the_list_is_made_is_not_misjudged) {
        World w;
        Result r;

        world_new(&w, "born");
        listing_world = &w;
        w.fake.while_listing = make_one;
        w.fake.verify_result = -ENOTCONN; /* even then */
        run_kind(&w, CLEANUP_RECONCILE, &r);
        check_uint("found", r.report.counts.found, 0);
        check_string("born", sandbox_status_name(w.fake.born_while_listing->status), "ready");
        world_close(&w);
}

TEST(who_was_deleted_while_the_list_is_made_is_no_stray) {
        World w;
        Result r;
        Error error = { 0 };

        world_new(&w, "deleted");
        Sandbox *sb = create_ready(&w, NULL);
        memcpy(deleted_id, sb->id, sizeof(deleted_id));
        memcpy(w.fake.listed[0], sb->id, sizeof(deleted_id));
        w.fake.n_listed = 1;
        memset(&r, 0, sizeof(r));
        check_result("run", reaper_run(w.reaper, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, on_done, &r, &error), 0);
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "deleted");
        w.fake.provider.events->destroyed(deleted_id, NULL, w.manager);
        spin(&w, &r.over, 60 * USEC_PER_SEC);
        check_uint("found", r.report.counts.found, 0);
        world_close(&w);
}

/* Born while the first list is made, on both, and deleted before the second has been read. */
static void make_one_and_delete_it(Fake *f) {
        Sandbox *sb = f->born_while_listing;

        if (f->n_lists == 1) {
                sb = f->born_while_listing = create_ready(listing_world, NULL);
                memcpy(deleted_id, sb->id, sizeof(deleted_id));
                memcpy(f->listed[f->n_listed++], deleted_id, sizeof(deleted_id));
                f->provider.events->listed(deleted_id, f->provider.userdata);
        } else if (f->n_lists == 2) {
                f->refuses = deleted_id; /* its end is told here */
                sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "deleted");
                f->provider.events->destroyed(deleted_id, NULL, listing_world->manager);
        }
}

TEST(who_came_and_went_while_the_lists_are_made_is_no_stray) {
        World w;
        Result r;

        world_new(&w, "came-and-went");
        listing_world = &w;
        check_result("id", id_make(w.fake.listed[0]), 0); /* nobody's: a second list is asked for */
        w.fake.n_listed = 1;
        w.fake.while_listing = make_one_and_delete_it;
        sweep_run_request(&w, &(CleanupRequest) { .kind = CLEANUP_RECONCILE, .dry_run = true }, &r);
        check_uint("lists", w.fake.n_lists, 2);
        check_uint("strays", r.report.counts.strays, 1);
        world_close(&w);
}

TEST(a_live_one_that_is_not_listed_but_answers_stays) {
        World w;
        Result r;

        world_new(&w, "unlisted"); /* as after a spawner's death on a host without cgroups */
        Sandbox *sb = create_ready(&w, NULL);
        run_kind(&w, CLEANUP_RECONCILE, &r);
        check_uint("found", r.report.counts.found, 0);
        check_uint("asked", w.fake.n_verified > 0, 1);
        check_string("stays", status_of(&w, sb->id), "ready");
        w.fake.answers = false;
        sb->heard_at = 0;
        w.settings->cleanup.health_timeout_usec = USEC_PER_MSEC;
        run_kind(&w, CLEANUP_RECONCILE, &r);
        check_uint("named", r.n_unresponsive, 1);
        check_string("no proof, no end", status_of(&w, sb->id), "ready");
        world_close(&w);
}

TEST(item_049_to_054_a_report_of_every_run_is_kept) {
        World w;
        Result r;
        ReaperStatus s;

        world_new(&w, "report");
        Sandbox *sb = create_ready(&w, "ELICITATION");
        age(sb, MINUTES(11));
        (void) create_ready(&w, NULL);
        run_kind(&w, CLEANUP_MANUAL, &r);
        check_uint("049 scanned", r.report.counts.scanned, 2);
        check_true("054 duration", r.report.duration > 0);
        reaper_status(w.reaper, &s);
        check_uint("runs", s.total_runs, 1);
        check_uint("aged", s.totals.aged, 1);
        check_uint("faults", s.faults, 0);
        w.reaper = reaper_free(w.reaper);
        check_result("again", reaper_new(w.manager, &w.reaper, &(Error) { 0 }), 0);
        reaper_status(w.reaper, &s);
        check_uint("totals survive", s.totals.aged, 1);
        world_close(&w);
}

static int take_row(const CleanupRow *row, void *userdata) {
        char *text = userdata;

        (void) snprintf(text, 256, "%s %s %llu/%llu %s", row->kind, row->cause, (unsigned long long) row->counts.removed,
                        (unsigned long long) row->counts.found, row->freed ? row->freed : "-");
        return -ECANCELED;
}

TEST(history_names_what_was_freed) {
        World w;
        Result r;
        char text[256] = "", expected[256];

        world_new(&w, "history");
        Sandbox *sb = create_ready(&w, "ELICITATION");
        age(sb, MINUTES(11));
        run_kind(&w, CLEANUP_MANUAL, &r);
        (void) reaper_history(w.reaper, 1, take_row, text);
        (void) snprintf(expected, sizeof(expected), "manual request 1/1 %s\n", sb->id);
        check_string("row", text, expected);
        world_close(&w);
}

TEST(item_145_three_faults_are_told_apart) {
        World w;
        ReaperStatus s;
        Result r;

        world_new(&w, "faults");
        w.settings->cleanup.sweep_interval_usec = MINUTES(5);
        reaper_reload(w.reaper);
        reaper_status(w.reaper, &s);
        check_uint("none", s.faults, 0);

        w.reaper->layers[CLEANUP_SWEEP].began -= MINUTES(11);
        reaper_status(w.reaper, &s);
        check_uint("not running", s.faults, REAPER_NOT_RUNNING);
        check_true("lateness", reaper_lateness(w.reaper) > 300);
        w.reaper->layers[CLEANUP_SWEEP].began = clock_usec();

        Sandbox *bad = create_ready(&w, "ELICITATION");
        age(bad, MINUTES(11));
        be_impatient(&w);
        w.fake.deaf = true;
        run_kind(&w, CLEANUP_AGE, &r);
        reaper_status(w.reaper, &s);
        check_uint("failing", s.faults, REAPER_FAILING);
        check_true("rate", reaper_failure_rate(w.reaper) > 0.99);
        w.fake.deaf = false;

        w.reaper->blind = true;
        reaper_status(w.reaper, &s);
        check_true("detection", s.faults & REAPER_BLIND);
        w.reaper->blind = false;
        world_close(&w);
}

static CleanupRule sees_nothing(const Judge *j, const Sandbox *sb, char text[static CLEANUP_TEXT_MAX]) {
        return RULE_NONE;
}

static CleanupRule sees_orphans(const Judge *j, const Sandbox *sb, char text[static CLEANUP_TEXT_MAX]) {
        return RULE_ORPHANED;
}

TEST(item_145_the_self_test_sees_made_up_cases) {
        Config *c;
        char text[CLEANUP_TEXT_MAX] = "";

        check_result("settings", config_defaults(&c), 0);
        check_true("sound", judge_self_test(judge_sandbox, c, text));
        check_true("blind", !judge_self_test(sees_nothing, c, text));
        check_part("words", text, "orphaned was not found");
        check_true("seeing things", !judge_self_test(sees_orphans, c, text));
        check_part("words", text, "sandbox was found to be orphaned");
        c->cleanup.orphan_timeout_usec = USEC_INFINITY / 2; /* off */
        c->cleanup.record_age_usec = USEC_PER_MSEC;
        check_true("extremes", judge_self_test(judge_sandbox, c, text));
        config_free(c);
}

TEST(item_027_a_sweep_that_is_due_runs_after_an_execution_and_not_within) {
        World w;
        Execution *x;
        char text[256] = "";

        world_new(&w, "kick");
        w.settings->cleanup.sweep_interval_usec = HOURS(1);
        reaper_reload(w.reaper);
        Sandbox *sb = create_ready(&w, NULL);
        x = start(sb);
        w.reaper->layers[CLEANUP_SWEEP].due = clock_usec() - 1;
        w.fake.provider.events->exec_exited(sb, &(ProviderEnd) { .number = x->number }, w.manager);
        check_uint("not within the call", w.reaper->total_runs, 0);
        for (usec_t until = clock_usec() + 60 * USEC_PER_SEC; w.reaper->total_runs == 0 && clock_usec() < until;)
                (void) sd_event_run(w.event, 10000);
        (void) reaper_history(w.reaper, 1, take_row, text);
        check_string("row", text, "sweep execution 0/0 -");
        check_true("the next is an interval away", w.reaper->layers[CLEANUP_SWEEP].due > clock_usec() + MINUTES(50));
        world_close(&w);
}

static unsigned n_alerts;
static char last_alert[512];
static void on_alert(const char *kind, const char *text, void *userdata) {
        n_alerts++;
        (void) snprintf(last_alert, sizeof(last_alert), "%s: %s", kind, text);
}

TEST(item_055_failures_and_stuck_ones_raise_an_alert) {
        World w;
        Result r;

        world_new(&w, "alert");
        reaper_set_alert(w.reaper, on_alert, NULL);
        Sandbox *sb = create_ready(&w, "ELICITATION");
        sb->spec.limits.exec_timeout_usec = 0;
        (void) start(sb);
        age(sb, MINUTES(40));
        run_kind(&w, CLEANUP_SWEEP, &r);
        check_uint("063", n_alerts, 1);
        check_part("words", last_alert, "stuck: sandbox ");
        world_close(&w);
}

/* Health */

static void tell_probe(World *w, Sandbox *sb, int wait_status) {
        const ProviderEnd e = {
                .number = w->fake.last_exec,
                .exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1,
                .signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0,
        };

        w->fake.provider.events->exec_exited(sb, &e, w->manager);
}

TEST(item_178_unhealthy_is_warned_of_and_ended_when_old) {
        World w;
        usec_t until = clock_usec() + 60 * USEC_PER_SEC;
        uint64_t answered = 0;

        world_new(&w, "health");
        Sandbox *young = create_ready(&w, NULL), *old = create_ready(&w, "ELICITATION");
        (void) start(young);
        age(old, MINUTES(11));
        age(young, MINUTES(11));
        w.settings->cleanup.health_interval_usec = 20 * USEC_PER_MSEC;
        w.fake.last_exec = 0;
        reaper_reload(w.reaper);
        while (clock_usec() < until && (old->status != SANDBOX_TERMINATED || reaper_unhealthy(w.reaper) < 1)) {
                (void) sd_event_run(w.event, 10000);
                if (w.fake.last_exec != answered) {
                        answered = w.fake.last_exec;
                        tell_probe(&w, young, 1 << 8); /* whose it is, the other does not know */
                        tell_probe(&w, old, 1 << 8);
                }
        }
        check_string("an agent's", sandbox_status_name(old->status), "terminated");
        check_part("reason", old->reason, "unhealthy: ");
        check_string("a caller's own", sandbox_status_name(young->status), "running");
        check_uint("unhealthy", (unsigned) reaper_unhealthy(w.reaper), 1);
        world_close(&w);
}

TEST(idle_plain_sandboxes_are_left_alone) {
        World w;

        world_new(&w, "idle");
        for (unsigned i = 0; i < 100; i++)
                (void) create_ready(&w, NULL);
        w.settings->cleanup.health_interval_usec = USEC_PER_MSEC;
        reaper_reload(w.reaper);
        w.fake.last_exec = 0;
        for (usec_t until = clock_usec() + 300 * USEC_PER_MSEC; clock_usec() < until;)
                (void) sd_event_run(w.event, 10000);
        check_uint("asked", w.fake.last_exec, 0);
        world_close(&w);
}

/* Size */

static void insert_many(World *w, usec_t ago) {
        check_result("begin", store_begin(w->store), 0);
        for (unsigned i = 0; i < MANY; i++) {
                Sandbox *sb = sandbox_new(w->manager);

                check_result("id", id_make(sb->id), 0);
                sandbox_spec_defaults(&sb->spec);
                sb->status = SANDBOX_TERMINATED;
                sb->created_at = sb->changed_at = sb->ended_at = clock_wall_usec() - ago + i;
                sandbox_register(sb);
                check_result("row", store_sandbox_insert(w->store, sb), 0);
        }
        check_result("commit", store_commit(w->store), 0);
}

static usec_t longest_turn(World *w, const bool *over) {
        usec_t longest = 0;

        for (usec_t until = clock_usec() + 60 * USEC_PER_SEC; !*over && clock_usec() < until;) {
                usec_t before;

                (void) sd_event_prepare(w->event);
                (void) sd_event_wait(w->event, 10000);
                before = clock_usec();
                (void) sd_event_dispatch(w->event);
                longest = MAX_OF(longest, clock_usec() - before);
        }
        check_true("over", *over);
        return longest;
}

/* The quickest of some scans: in one of them the machine may stand still. */
TEST(item_070_ten_thousand_records_in_less_than_a_second) {
        World w;
        Result r;
        usec_t turn, least = USEC_INFINITY;

        world_new(&w, "many");
        insert_many(&w, HOURS(1));
        for (unsigned i = 0; i < 5 && least >= USEC_PER_SEC; i++) {
                memset(&r, 0, sizeof(r));
                check_result("run", reaper_run(w.reaper, &(CleanupRequest) { .kind = CLEANUP_SWEEP }, on_done, &r, &(Error) { 0 }), 0);
                turn = longest_turn(&w, &r.over);
                check_uint("scanned", r.report.counts.scanned, MANY);
                printf("scan of %u records: %.1f ms, longest turn %.2f ms\n", MANY, (double) r.report.duration / 1000, (double) turn / 1000);
                least = MIN_OF(least, r.report.duration);
        }
        check_true("less than a second", least < USEC_PER_SEC);
        world_close(&w);
}

/* Measured in time of the processor, which goes on only while we do. */
TEST(item_073_ten_thousand_old_records_are_deleted_in_slices) {
        World w;
        Result r;
        usec_t turn;
        clock_t began;

        world_new(&w, "many-old");
        insert_many(&w, HOURS(25));
        memset(&r, 0, sizeof(r));
        began = clock();
        check_result("run", reaper_run(w.reaper, &(CleanupRequest) { .kind = CLEANUP_SWEEP }, on_done, &r, &(Error) { 0 }), 0);
        turn = longest_turn(&w, &r.over);
        check_uint("removed", r.report.counts.removed, MANY);
        check_uint("left", HASH_COUNT(w.manager->sandboxes), 0);
        printf("%u old records deleted: %.1f ms, longest turn %.2f ms\n", MANY, (double) r.report.duration / 1000, (double) turn / 1000);
        check_true("less than ten seconds", clock() - began < 10 * CLOCKS_PER_SEC);
        world_close(&w);
}
