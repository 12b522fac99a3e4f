/* Snapshots, forks, restoring and parking: what is asked in which order, what is there when something fails or dies in between. The provider does what the test
 * says. */
#include "core/name.h"
#include "core/network.h"
#include "core/probe.h"
#include "core/trees.h"
#include "state/internal.h"
#include "world.h"

typedef struct Room {
        World w;
        State *state;
} Room;

typedef struct Taken {
        unsigned n;
        int code;
        char id[SNAPSHOT_ID_LENGTH + 1], text[256];
} Taken;

static void on_snapshot(HeldTree *n, const Error *error, void *userdata) {
        Taken *t = userdata;

        t->n++;
        t->code = error ? error->code : 0;
        (void) snprintf(t->text, sizeof(t->text), "%.255s", error ? error->text : "");
        if (n)
                memcpy(t->id, n->id, sizeof(t->id));
}

static void room_open(Room *room) {
        Error error = { 0 };

        check_result("room", state_new(room->w.manager, &room->state, &error), 0);
}

static void room_new(Room *room, const char *called) {
        static unsigned n; /* each has a store of its own */
        char name[64];

        (void) snprintf(name, sizeof(name), "%s-%u", called, n++);
        memset(room, 0, sizeof(*room));
        world_new(&room->w, name);
        room_open(room);
}

static void room_close(Room *room) {
        room->state = state_free(room->state);
        world_close(&room->w);
}

/* As if the daemon had been killed: only the store is left. */
static void room_dies(Room *room) {
        room_close(room);
        world_open(&room->w);
        room_open(room);
}

static void answer(Room *room, const Error *error) {
        room->w.fake.provider.events->tree_done(room->w.fake.tree_token, 0, 4096, error, room->w.manager);
}

static void asked(Room *room, TreeOperation operation, TreeKind kind, const char *name) {
        check_uint("operation", room->w.fake.tree.operation, operation);
        check_uint("kind", room->w.fake.tree.refs[0].kind, kind);
        if (name)
                check_string("tree", room->w.fake.tree.refs[0].name, name);
}

static void freezes(Room *room, Sandbox *sb, bool frozen, const Error *error) {
        room->w.fake.provider.events->frozen(sb, frozen, error, room->w.manager);
}

static SandboxSpec persistent_spec(const char *name) {
        SandboxSpec spec;

        sandbox_spec_defaults(&spec);
        spec.persistent = true;
        spec.name = name ? strdup(name) : NULL;
        spec.template_name = strdup("host");
        (void) strv_push(&spec.env, "A=1");
        return spec;
}

static Sandbox *persistent(Room *room, const char *name) {
        static Answer a;
        SandboxSpec spec = persistent_spec(name);
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        check_result("create", manager_create(room->w.manager, &admin, &spec, &sb, &existing, on_done, &a, &error), 0);
        asked(room, TREE_MAKE, TREE_DISK, sb->id);
        answer(room, NULL);
        room->w.fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, room->w.manager);
        check_string("status", sandbox_status_name(sb->status), "ready");
        sandbox_spec_done(&spec);
        return sb;
}

static unsigned n_rows(Room *room);

static int count_row(Snapshot *row, void *userdata) {
        ++*(unsigned *) userdata;
        return 0;
}

static unsigned n_rows(Room *room) {
        unsigned n = 0;

        check_result("rows", store_snapshot_each(room->w.store, count_row, &n), 0);
        return n;
}

/* Through all steps; the sandbox runs. */
static void take(Room *room, Sandbox *sb, const char *name, Taken *t) {
        Error error = { 0 };

        *t = (Taken) { 0 };
        check_result("take", snapshot_take(room->state, sb, name, "why", on_snapshot, t, &error), 0);
        asked(room, TREE_SYNC, TREE_DISK, sb->id);
        answer(room, NULL);
        freezes(room, sb, true, NULL);
        answer(room, NULL); /* copied */
        freezes(room, sb, false, NULL);
        answer(room, NULL); /* published */
        answer(room, NULL); /* verified */
        answer(room, NULL); /* measured */
        check_uint("told", t->n, 1);
        check_result("taken", t->code, 0);
}

TEST(a_snapshot_step_by_step) {
        Room room;
        Taken t = { 0 };
        Error error = { 0 };
        Sandbox *sb;
        Snapshot *n;

        room_new(&room, "take");
        sb = persistent(&room, "box");
        check_result("take", snapshot_take(room.state, sb, "first", "why", on_snapshot, &t, &error), 0);
        check_uint("its row is there before anything is done", n_rows(&room), 1);
        check_true("and nobody sees it", !snapshot_find(room.state, &admin, "first"));
        asked(&room, TREE_SYNC, TREE_DISK, sb->id);
        check_true("it runs while its data is written", room.w.fake.frozen == NULL);
        answer(&room, NULL);
        check_true("it is held", room.w.fake.frozen == sb);
        check_string("status", sandbox_status_name(sb->status), "ready");
        freezes(&room, sb, true, NULL);
        check_string("nobody is told", sandbox_status_name(sb->status), "ready");
        asked(&room, TREE_MAKE, TREE_SCRATCH, NULL);
        check_string("of its disk", room.w.fake.tree.refs[1].name, sb->id);
        check_true("not yet", room.w.fake.thawed == NULL);
        answer(&room, NULL);
        check_true("it goes on at once", room.w.fake.thawed == sb);
        asked(&room, TREE_PUBLISH, TREE_SCRATCH, NULL);
        check_uint("as a snapshot", room.w.fake.tree.refs[1].kind, TREE_SNAPSHOT);
        freezes(&room, sb, false, NULL);
        answer(&room, NULL);
        asked(&room, TREE_VERIFY, TREE_SNAPSHOT, NULL);
        check_uint("not told before", t.n, 0);
        answer(&room, NULL);
        check_uint("told", t.n, 1);
        asked(&room, TREE_USAGE, TREE_SNAPSHOT, NULL); /* for people, later */
        answer(&room, NULL);
        check_result("well", t.code, 0);
        n = snapshot_find(room.state, &admin, "first");
        check_true("found by name", n && n == snapshot_find(room.state, &admin, t.id));
        check_string("of", n->sandbox, sb->id);
        check_uint("bytes", n->tree.bytes, 4096);
        check_true("no parent", n->parent == NULL);
        take(&room, sb, NULL, &t);
        check_string("the next one's parent", snapshot_find(room.state, &admin, t.id)->parent, n->tree.id);
        room_close(&room);
}

TEST(a_snapshot_survives_a_restart_with_all_it_takes) {
        Room room;
        Taken t;
        Sandbox *sb;
        Snapshot *n;
        SandboxSpec spec = { 0 };
        Error error = { 0 };

        room_new(&room, "restart");
        sb = persistent(&room, "box");
        take(&room, sb, "kept", &t);
        room_dies(&room);
        asked(&room, TREE_LIST, TREE_SNAPSHOT, NULL);
        n = snapshot_find(room.state, &admin, "kept");
        check_true("there", n != NULL);
        check_result("until it is known, nothing is said to be gone", snapshot_spec(n, &spec, &error), 0);
        sandbox_spec_done(&spec);
        room.w.fake.provider.events->tree_item(room.w.fake.tree_token, &(TreeRef) { .kind = TREE_SNAPSHOT, .name = "somebodyelses" }, 0, room.w.manager);
        answer(&room, NULL);
        check_true("its tree is not", n->tree.missing);
        check_result("so nothing is made of it", snapshot_spec(n, &spec, &error), -EUCLEAN);
        n->tree.missing = false;
        check_result("spec", snapshot_spec(n, &spec, &error), 0);
        check_string("from it", spec.snapshot, n->tree.id);
        check_true("persistent", spec.persistent);
        check_true("without a name", spec.name == NULL);
        check_string("environment", spec.env.items[0], "A=1");
        check_string("comment", n->comment, "why");
        sandbox_spec_done(&spec);
        room_close(&room);
}

/* At each step in turn the spawner fails, or says that it died. */
TEST(what_fails_in_between_takes_all_of_it_back) {
        for (unsigned step = 0; step < 5; step++) {
                Error broken = { step % 2 ? -EIO : -ECONNRESET, "broken" };
                Taken t = { 0 };
                Error error = { 0 };
                Room room;
                Sandbox *sb;

                room_new(&room, "fails");
                sb = persistent(&room, NULL);
                check_result("take", snapshot_take(room.state, sb, "never", NULL, on_snapshot, &t, &error), 0);
                answer(&room, step == 0 ? &broken : NULL);
                if (step >= 1)
                        freezes(&room, sb, true, step == 1 ? &broken : NULL);
                if (step >= 2) {
                        answer(&room, step == 2 ? &broken : NULL);
                        check_true("it goes on, whatever happens", room.w.fake.thawed == sb);
                        freezes(&room, sb, false, NULL);
                }
                if (step >= 3)
                        answer(&room, step == 3 ? &broken : NULL);
                if (step >= 4)
                        answer(&room, &broken);
                check_uint("told once", t.n, 1);
                check_true("why", t.code < 0 && strstr(t.text, "broken"));
                check_true("nothing to see", !snapshot_find(room.state, &admin, "never"));
                if (step >= 3) {
                        asked(&room, TREE_REMOVE, TREE_SNAPSHOT, NULL);
                        check_uint("the row stays as long as the tree may", n_rows(&room), 1);
                        answer(&room, NULL);
                }
                check_uint("no row", n_rows(&room), 0);
                check_true("nothing holds it", sb->activity == ACTIVITY_NONE);
                take(&room, sb, "never", &t); /* the name is free */
                room_close(&room);
        }
}

TEST(a_daemon_that_dies_in_between_leaves_nothing) {
        for (unsigned steps = 0; steps < 5; steps++) {
                Taken t = { 0 };
                Error error = { 0 };
                Room room;
                Sandbox *sb;

                room_new(&room, "dies");
                sb = persistent(&room, "box");
                check_result("take", snapshot_take(room.state, sb, "half", NULL, on_snapshot, &t, &error), 0);
                if (steps > 0)
                        answer(&room, NULL);
                if (steps > 1)
                        freezes(&room, sb, true, NULL);
                for (unsigned i = 2; i < steps; i++)
                        answer(&room, NULL);
                room_dies(&room);
                world_up(&room.w);
                check_uint("nobody is told", t.n, 0);
                asked(&room, TREE_REMOVE, TREE_SNAPSHOT, NULL);
                check_true("nothing to see", !snapshot_find(room.state, &admin, "half"));
                check_result("its name is free at once", snapshot_take(room.state, manager_find(room.w.manager, &admin, "box"), "half", NULL, on_snapshot, &t, &error), 0);
                room.w.fake.provider.events->tree_done(1, 0, 0, NULL, room.w.manager); /* the removal */
                answer(&room, &(Error) { -EIO, "broken" });
                check_uint("no row", n_rows(&room), 0);
                room_close(&room);
        }
}

TEST(a_removal_that_is_interrupted_is_finished) {
        Room room;
        Taken t;
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "remove");
        sb = persistent(&room, NULL);
        take(&room, sb, "old", &t);
        check_result("remove", snapshot_remove(room.state, snapshot_find(room.state, &admin, "old"), on_snapshot, &t, &error), 0);
        check_true("gone for all to see", !snapshot_find(room.state, &admin, "old"));
        room_dies(&room);
        asked(&room, TREE_REMOVE, TREE_SNAPSHOT, t.id);
        answer(&room, NULL);
        check_uint("no row", n_rows(&room), 0);
        room_close(&room);
}

TEST(names_and_tenants) {
        static const char *const bad[] = { "", "A", "-a", "a-", "a b", "aé", "abcdefghijklmnopqrstu",
                "a234567890123456789012345678901234567890123456789012345678901234" };
        Principal acme = { .kind = PRINCIPAL_USE_KEY, .tenant = "acme" };
        Room room;
        Taken t;
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "names");
        sb = persistent(&room, NULL);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_true(bad[i], !object_name_is_valid(bad[i], SNAPSHOT_NAME_MAX));
        check_true("good", object_name_is_valid("before-the-change_1.0", SNAPSHOT_NAME_MAX));
        take(&room, sb, "one", &t);
        check_result("taken", snapshot_take(room.state, sb, "one", NULL, on_snapshot, &t, &error), -EEXIST);
        check_part("words", error.text, "'one'");
        check_true("somebody else's", !snapshot_find(room.state, &acme, "one") && !snapshot_find(room.state, &acme, t.id));
        check_true("not listed either", !snapshot_next(room.state, &acme, NULL, 0, NULL));
        take(&room, sb, "two", &t);
        check_string("in order", snapshot_next(room.state, &admin, NULL, 0, NULL)->tree.name, "one");
        check_string("after", snapshot_next(room.state, &admin, sb->id, snapshot_find(room.state, &admin, "one")->tree.created_at,
                                              snapshot_find(room.state, &admin, "one")->tree.id)->tree.name, "two");
        check_true("of another", !snapshot_next(room.state, &admin, "other", 0, NULL));
        room_close(&room);
}

TEST(what_cannot_be_copied_says_so) {
        Room room;
        Taken t = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "refuse");
        sb = create_ready(&room.w, "memory");
        check_result("memory", snapshot_take(room.state, sb, NULL, NULL, on_snapshot, &t, &error), -EOPNOTSUPP);
        check_part("cure", error.text, "\"persistent\": true");
        sb = persistent(&room, NULL);
        check_result("first", snapshot_take(room.state, sb, NULL, NULL, on_snapshot, &t, &error), 0);
        answer(&room, NULL);
        sandbox_delete(sb, true, NULL, NULL);
        freezes(&room, sb, true, &(Error) { -ECANCELED, "another request came first" });
        check_uint("told", t.n, 1);
        check_true("not taken", t.code < 0);
        check_uint("no row", n_rows(&room), 0);
        room_close(&room);
}

/* Holding. */

TEST(a_pause_during_a_snapshot_comes_after_it) {
        Room room;
        Taken t = { 0 };
        Answer a = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "pause-later");
        sb = persistent(&room, NULL);
        check_result("take", snapshot_take(room.state, sb, NULL, NULL, on_snapshot, &t, &error), 0);
        answer(&room, NULL);
        freezes(&room, sb, true, NULL);
        sandbox_pause(sb, on_done, &a);
        check_uint("not yet", a.n, 0);
        answer(&room, NULL);
        room.w.fake.frozen = NULL;
        freezes(&room, sb, false, NULL);
        check_true("now", room.w.fake.frozen == sb);
        freezes(&room, sb, true, NULL);
        check_uint("told", a.n, 1);
        check_string("paused", sandbox_status_name(sb->status), "paused");
        for (unsigned i = 0; i < 3; i++)
                answer(&room, NULL);
        check_result("taken as well", t.code, 0);
        room.w.fake.frozen = room.w.fake.thawed = NULL;
        check_result("one that is paused", snapshot_take(room.state, sb, NULL, NULL, on_snapshot, &t, &error), 0);
        for (unsigned i = 0; i < 5; i++)
                answer(&room, NULL);
        check_result("taken", t.code, 0);
        check_true("stays so", !room.w.fake.frozen && !room.w.fake.thawed);
        check_string("paused", sandbox_status_name(sb->status), "paused");
        room_close(&room);
}

/* Parking. */

static const SandboxParking gently = { .why = EXECUTION_REASON_PARKED, .reason = "paused to disk" };
static const SandboxParking firmly = { .end_processes = true, .why = EXECUTION_REASON_PARKED, .reason = "paused to disk" };

static void destroyed(Room *room, Sandbox *sb) {
        room->w.fake.provider.events->gone(sb, room->w.manager);
        room->w.fake.provider.events->destroyed(sb->id, NULL, room->w.manager);
}

static void park(Room *room, Sandbox *sb) {
        Answer a = { 0 };

        sandbox_park(sb, &gently, on_done, &a);
        destroyed(room, sb);
        asked(room, TREE_SYNC, TREE_DISK, sb->id);
        check_uint("not before it is synced", a.n, 0);
        answer(room, NULL);
        check_uint("told", a.n, 1);
        check_result("parked", a.code, 0);
        check_string("paused", sandbox_status_name(sb->status), "paused");
        check_true("parked", sb->parked && sb->pid == 0);
}

TEST(parking_and_waking_up) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;
        Execution *x;

        room_new(&room, "park");
        sb = persistent(&room, "box");
        x = start(sb, "true");
        tell_exit(&room.w, sb, x->number, 0);
        park(&room, sb);
        check_true("what ended before stays to be read", execution_by_number(sb, x->number) == x && x->exit_code == 0);
        check_true("nothing can be run", !sandbox_can_run(sb));
        sandbox_park(sb, &gently, on_done, &a);
        check_uint("twice is once", a.n, 1);
        sandbox_resume(sb, on_done, &a);
        check_true("made again", room.w.fake.created == sb && room.w.fake.n_created == 2);
        check_uint("not yet", a.n, 1);
        room.w.fake.provider.events->created(sb, 4712, 1 << 30, 0, NULL, room.w.manager);
        check_uint("told", a.n, 2);
        check_result("well", a.code, 0);
        check_string("ready", sandbox_status_name(sb->status), "ready");
        check_true("not parked", !sb->parked && sb->pid == 4712);
        check_true("runs", sandbox_can_run(sb));
        room_close(&room);
}

TEST(what_runs_is_named_or_ended_with_its_truth) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;
        Execution *x, *y;

        room_new(&room, "park-running");
        sb = persistent(&room, "box");
        x = start(sb, "sleep");
        y = start(sb, "server");
        sandbox_park(sb, &gently, on_done, &a);
        check_result("refused", a.code, -EBUSY);
        check_part("which", a.text, "e1 (sleep)");
        check_part("which", a.text, "e2 (server)");
        check_part("cure", a.text, "endProcesses");
        check_string("runs on", sandbox_status_name(sb->status), "running");
        sandbox_park(sb, &firmly, on_done, &a);
        check_true("asked to end first", room.w.fake.stopped == sb && room.w.fake.n_destroyed == 0);
        tell_exit(&room.w, sb, x->number, 15);
        check_string("by a signal of ours", execution_reason_name(x->reason), "parked");
        room.w.fake.provider.events->stopped(sb, room.w.manager);
        check_uint("then taken down", room.w.fake.n_destroyed, 1);
        destroyed(&room, sb);
        check_string("who was not seen to end", execution_reason_name(y->reason), "parked");
        answer(&room, NULL);
        check_result("parked", a.code, 0);
        check_uint("nothing runs", sb->n_alive, 0);
        room_close(&room);
}

/* A walk: callers ask for anything at any time, the provider answers or fails, PID 1 dies. Whatever happens, the state is a legal one, and when all is quiet every
 * caller has been told once. */

typedef struct Walk {
        Room room;
        Sandbox *sb;
        uint32_t random;
        Answer answers[256];
        unsigned n_asked, n_moves;
} Walk;

static unsigned walk_random(Walk *k, unsigned n) {
        k->random = k->random * 1664525 + 1013904223;
        return (k->random >> 16) % n;
}

static void walk_end_executions(Walk *k) {
        Execution *x, *next;

        HASH_ITER(hh, k->sb->executions, x, next)
                if (!execution_ended(x))
                        tell_exit(&k->room.w, k->sb, x->number, SIGTERM);
}

static void walk_take_down(Walk *k) {
        if (k->sb->status == SANDBOX_TERMINATING || k->sb->activity == ACTIVITY_UNLOADING)
                k->room.w.fake.provider.events->destroyed(k->sb->id, NULL, k->room.w.manager);
        if (k->sb->status == SANDBOX_TERMINATING && k->room.w.fake.tree.operation == TREE_REMOVE)
                answer(&k->room, NULL);
}

/* What the provider, or who holds it, owes. */
static void walk_answer(Walk *k, bool fails) {
        static const Error broken = { -EIO, "broken" };
        const ProviderEvents *e = k->room.w.fake.provider.events;
        const Error *error = fails ? &broken : NULL;
        Sandbox *sb = k->sb;

        switch (sb->activity) {
        case ACTIVITY_FREEZING:
        case ACTIVITY_HOLDING: freezes(&k->room, sb, true, error); break;
        case ACTIVITY_THAWING:
        case ACTIVITY_RELEASING: freezes(&k->room, sb, false, error); break;
        case ACTIVITY_HELD: sandbox_release(sb); break;
        case ACTIVITY_SWAPPING: sandbox_swap_end(sb); break;
        case ACTIVITY_BOOTING: e->created(sb, 4711, 1 << 30, 0, error, k->room.w.manager); break;
        case ACTIVITY_SYNCING: answer(&k->room, error); break;
        case ACTIVITY_STOPPING:
        case ACTIVITY_DRAINING:
                walk_end_executions(k);
                e->stopped(sb, k->room.w.manager);
                break;
        case ACTIVITY_NONE:
                if (sandbox_is_ending(sb))
                        break;
                e->stopped(sb, k->room.w.manager); /* nobody has asked */
                freezes(&k->room, sb, true, error);
                break;
        default: break;
        }
        walk_take_down(k);
}

static void walk_ask(Walk *k) {
        Answer *a = k->answers + k->n_asked;
        Error error = { 0 };

        switch (walk_random(k, 8)) {
        case 0: sandbox_pause(k->sb, on_done, a); break;
        case 1: sandbox_resume(k->sb, on_done, a); break;
        case 2: sandbox_stop(k->sb, 0, on_done, a); break;
        case 3: sandbox_start(k->sb, on_done, a); break;
        case 4: sandbox_park(k->sb, &firmly, on_done, a); break;
        case 5:
                if (sandbox_hold(k->sb, on_done, a, &error) < 0)
                        a->n = 1;
                break;
        case 6:
                (void) sandbox_swap_begin(k->sb);
                a->n = 1;
                break;
        default:
                if (sandbox_can_run(k->sb))
                        (void) start(k->sb, "true");
                a->n = 1;
        }
        k->n_asked++;
}

static void walk_check_told(const Walk *k) {
        for (unsigned i = 0; i < k->n_asked; i++)
                check_uint("told once", k->answers[i].n, 1);
}

static void walk_step(Walk *k) {
        SandboxState before = sandbox_state(k->sb), after;
        unsigned what = walk_random(k, 20);

        if (what < 9)
                walk_ask(k);
        else if (what < 18)
                walk_answer(k, /* fails= */ what == 17);
        else if (what == 18)
                walk_end_executions(k);
        else
                k->room.w.fake.provider.events->gone(k->sb, k->room.w.manager);
        after = sandbox_state(k->sb);
        check_true("legal", sandbox_state_is_valid(after));
        if (after.activity == ACTIVITY_NONE) /* nobody may wait for something that is not under way */
                walk_check_told(k);
        k->n_moves += before.status != after.status || before.activity != after.activity;
}

static void walk_finish(Walk *k, bool delete) {
        if (delete)
                sandbox_delete(k->sb, /* force= */ true, on_done, k->answers + k->n_asked++);
        for (unsigned i = 0; i < 100 && !sandbox_is_gone(k->sb) && (k->sb->activity != ACTIVITY_NONE || sandbox_is_ending(k->sb)); i++)
                walk_answer(k, /* fails= */ false);
        check_true("quiet", k->sb->activity == ACTIVITY_NONE && sandbox_is_gone(k->sb) == delete);
        walk_check_told(k);
}

TEST(whatever_is_asked_is_answered_and_every_state_is_legal) {
        unsigned n_moves = 0;

        for (uint32_t seed = 1; seed <= 24; seed++) {
                Walk k = { .random = seed };

                room_new(&k.room, "walk");
                k.sb = sandbox_ref(persistent(&k.room, NULL));
                while (k.n_asked + 2 < ELEMENTSOF(k.answers))
                        walk_step(&k);
                walk_finish(&k, /* delete= */ seed % 2);
                n_moves += k.n_moves;
                room_close(&k.room);
                k.sb = sandbox_unref(k.sb);
        }
        check_true("much has happened", n_moves > 2000);
}

/* Each step of a sequence fails in turn. The real table, through a rig that lets one of its steps fail at once and writes down what is undone. A step that is new in a
 * table is tried like others. */

typedef struct Rig {
        const Sequence *real;
        Sequence sequence;
        SequenceStep steps[16];
        size_t failing, late; /* at once, or when it is answered; SIZE_MAX: none */
        size_t undone[16];
        unsigned n_undone, n_failed, n_ends;
} Rig;

static Rig rig;
static const Error broken_step = { -EIO, "broken" };

static int rig_begin(void *object, Error *reterr) {
        size_t i = (size_t) (sequence_step(&((Work *) object)->run) - rig.steps);

        if (i != rig.failing)
                return rig.real->steps[i].begin(object, reterr);
        rig.n_failed++;
        *reterr = broken_step;
        return broken_step.code;
}

static int rig_undo(void *object, Error *why) {
        size_t i = (size_t) (sequence_step(&((Work *) object)->run) - rig.steps);

        rig.undone[rig.n_undone++] = i;
        return rig.real->steps[i].undo ? rig.real->steps[i].undo(object, why) : STEP_DONE;
}

static void rig_end(void *object, const Error *error) {
        rig.n_ends++;
        rig.real->end(object, error);
}

/* Of one that is under way: what has begun already can fail late only. Of 2n steps, the first n fail at once. */
static Work *rig_put(Room *room, const Sequence *real, size_t failing) {
        Work *w = room->state->works;

        while (w && w->run.sequence != real)
                w = w->next;
        assert_true(w && real->n_steps <= ELEMENTSOF(rig.steps));
        rig = (Rig) { .real = real, .sequence = *real, .failing = SIZE_MAX, .late = SIZE_MAX };
        if (failing < real->n_steps && failing > w->run.at)
                rig.failing = failing;
        else if (failing != SIZE_MAX)
                rig.late = failing % real->n_steps;
        rig.sequence.steps = rig.steps;
        rig.sequence.end = rig_end;
        for (size_t i = 0; i < real->n_steps; i++)
                rig.steps[i] = (SequenceStep) { real->steps[i].name, rig_begin, rig_undo, real->steps[i].cancel };
        w->run.sequence = &rig.sequence;
        return w;
}

/* Whatever a step waits for comes, or fails. */
static void answer_next(Room *room, Sandbox *sb, const Error *error) {
        switch (sb->activity) {
        case ACTIVITY_HOLDING: freezes(room, sb, true, error); break;
        case ACTIVITY_RELEASING: freezes(room, sb, false, NULL); break;
        case ACTIVITY_DRAINING: room->w.fake.provider.events->stopped(sb, room->w.manager); break;
        case ACTIVITY_UNLOADING: destroyed(room, sb); break;
        case ACTIVITY_BOOTING: room->w.fake.provider.events->created(sb, 2, 1, 0, error, room->w.manager); break;
        default: answer(room, error);
        }
}

/* To its end. False: it went well all the same. */
static bool rig_run(Room *room, Sandbox *sb, Work *w) {
        size_t last = 0;

        for (unsigned n = 0; rig.n_ends == 0; n++) {
                assert_true(n < 50);
                if (!sequence_is_undoing(&w->run))
                        last = (size_t) (sequence_step(&w->run) - rig.steps);
                answer_next(room, sb, !sequence_is_undoing(&w->run) && last == rig.late ? &broken_step : NULL);
        }
        check_uint("its end is told once", rig.n_ends, 1);
        check_uint("the step was come to", rig.n_failed, rig.failing != SIZE_MAX);
        if (rig.failing != SIZE_MAX)
                last = rig.failing;
        for (size_t i = 0; i < rig.n_undone; i++)
                check_uint("the last first", rig.undone[i], last - i);
        if (rig.n_undone > 0)
                check_uint("all that began is undone", rig.n_undone, last + 1);
        return rig.n_undone > 0;
}

TEST(a_disk_in_memory_cannot_be_parked) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;

        room_new(&room, "park-memory");
        sb = create_ready(&room.w, "memory");
        sandbox_park(sb, &firmly, on_done, &a);
        check_result("refused", a.code, -EOPNOTSUPP);
        check_part("cure", a.text, "\"persistent\": true");
        check_string("untouched", sandbox_status_name(sb->status), "ready");
        room_close(&room);
}

TEST(a_parked_one_lives_over_a_restart) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;

        room_new(&room, "park-restart");
        sb = persistent(&room, "box");
        park(&room, sb);
        room_dies(&room);
        room.w.fake.adopt_result = -ECONNREFUSED;
        world_up(&room.w);
        sb = manager_find(room.w.manager, &admin, "box");
        check_true("there", sb && sb->parked && sb->status == SANDBOX_PAUSED);
        check_true("nobody looked for its PID 1", room.w.fake.adopted == NULL);
        sandbox_resume(sb, on_done, &a);
        room.w.fake.provider.events->created(sb, 1, 1, 0, NULL, room.w.manager);
        check_result("resumed", a.code, 0);
        room_close(&room);
}

/* The machine was restarted: nothing of what ran is there. */
TEST(whose_processes_are_gone_is_parked_when_its_disk_was_kept) {
        Room room;
        Sandbox *sb, *paused, *memory;
        Execution *x;
        char memory_id[SANDBOX_ID_LENGTH + 1];

        room_new(&room, "reboot");
        sb = persistent(&room, "box");
        (void) start(sb, "server");
        paused = persistent(&room, "frozen");
        sandbox_pause(paused, NULL, NULL);
        freezes(&room, paused, true, NULL);
        memory = create_ready(&room.w, "memory");
        memcpy(memory_id, memory->id, sizeof(memory_id));
        room_dies(&room);
        room.w.fake.adopt_result = -ECONNREFUSED;
        room.w.fake.provider.events->up(&room.w.fake.provider, room.w.manager);
        for (unsigned i = 0; i < room.w.fake.n_destroyed; i++)
                room.w.fake.provider.events->destroyed(room.w.fake.destroyed[i], NULL, room.w.manager);
        room.w.fake.provider.events->listed(NULL, room.w.manager);
        check_true("recovered", !room.w.manager->recovering);
        sb = manager_find(room.w.manager, &admin, "box");
        check_true("parked", sb->parked && sb->status == SANDBOX_PAUSED);
        check_part("why", sb->reason, "processes were gone");
        x = execution_by_number(sb, 1);
        check_string("what ran has ended", execution_reason_name(x->reason), "sandbox_ended");
        paused = manager_find(room.w.manager, &admin, "frozen");
        check_true("parked as well", paused->parked && paused->status == SANDBOX_PAUSED);
        memory = manager_find(room.w.manager, &admin, memory_id);
        check_true("lost, as ever", memory && memory->status == SANDBOX_FAILED);
        room_close(&room);
}

TEST(one_that_does_not_come_up_stays_parked) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;

        room_new(&room, "boot-fails");
        sb = persistent(&room, "box");
        park(&room, sb);
        for (unsigned way = 0; way < 2; way++) {
                sandbox_resume(sb, on_done, &a);
                if (way == 0)
                        room.w.fake.provider.events->created(sb, 0, 0, 0, &(Error) { -EIO, "no walls" }, room.w.manager);
                else
                        room.w.fake.provider.events->gone(sb, room.w.manager);
                check_uint("not told before nothing is left", a.n, way);
                room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
                check_true("told", a.n == way + 1 && a.code < 0);
                check_true("parked", sb->parked && sb->status == SANDBOX_PAUSED);
                check_true("and nothing is left", sb->activity == ACTIVITY_NONE);
        }
        sandbox_resume(sb, on_done, &a);
        room.w.fake.provider.events->created(sb, 1, 1, 0, NULL, room.w.manager);
        check_result("in the end", a.code, 0);
        room_close(&room);
}

/* On the way to be parked, and on the way up: whatever step it is in. */
TEST(one_that_is_deleted_while_it_is_parked_or_booted) {
        Room room;

        room_new(&room, "shift-deleted");
        for (unsigned i = 0; i < 8; i++) {
                bool boots = i % 2;
                unsigned n_answers = i / 2;
                Answer a = { 0 }, deleted = { 0 };
                Sandbox *sb = sandbox_ref(persistent(&room, "box"));

                if (boots) {
                        park(&room, sb);
                        sandbox_resume(sb, on_done, &a);
                } else {
                        (void) start(sb, "server");
                        sandbox_park(sb, &firmly, on_done, &a);
                }
                for (unsigned k = 0; k < n_answers && sb->activity != ACTIVITY_NONE; k++) /* a boot fails */
                        answer_next(&room, sb, boots && k == 0 && n_answers > 1 ? &broken_step : NULL);
                sandbox_delete(sb, /* force= */ true, on_done, &deleted);
                check_uint("told once", a.n, 1);
                destroyed(&room, sb);
                asked(&room, TREE_REMOVE, TREE_DISK, NULL);
                answer(&room, NULL);
                check_uint("deleted", deleted.n, 1);
                check_true("gone", sandbox_is_gone(sb) && sb->n_refs == 1);
                (void) sandbox_unref(sb);
        }
        room_close(&room);
}

/* A network whose keeper says what the test says. */

static struct {
        int admit, prepare;
        unsigned n_attached;
} keeper;

static int keeper_admit(Sandbox *sb, Error *reterr, void *userdata) {
        return keeper.admit < 0 ? error_set(reterr, keeper.admit, "not admitted") : 0;
}

static int keeper_prepare(Sandbox *sb, Error *reterr, void *userdata) {
        return keeper.prepare < 0 ? error_set(reterr, keeper.prepare, "not prepared") : keeper.prepare;
}

static void keeper_attach(Sandbox *sb, void *userdata) {
        keeper.n_attached++;
}

static void keeper_gone(Sandbox *sb, void *userdata) {
}

typedef enum BootWay {
        BOOT_NOT_ADMITTED,
        BOOT_NOT_PREPARED,
        BOOT_NOT_PREPARED_LATER,
        BOOT_NOT_MADE,
        BOOT_NOT_CONNECTED,
        BOOT_DIES,
        BOOT_WELL,
        _BOOT_WAY_MAX,
} BootWay;

static void boot_that_way(Room *room, Sandbox *sb, BootWay way, Answer *a) {
        const Error *error = &broken_step;

        keeper.admit = way == BOOT_NOT_ADMITTED ? -EIO : 0;
        keeper.prepare = way == BOOT_NOT_PREPARED ? -EIO : 1;
        keeper.n_attached = 0;
        sandbox_resume(sb, on_done, a);
        if (way <= BOOT_NOT_PREPARED)
                return;
        check_true("it waits for its network", sb->activity == ACTIVITY_BOOTING);
        network_prepared(sb, way == BOOT_NOT_PREPARED_LATER ? error : NULL);
        if (way <= BOOT_NOT_PREPARED_LATER)
                return;
        room->w.fake.provider.events->created(sb, 4711, 1, 0, way == BOOT_NOT_MADE ? error : NULL, room->w.manager);
        if (way <= BOOT_NOT_MADE)
                return;
        check_true("its network is connected", sb->activity == ACTIVITY_CONNECTING && keeper.n_attached == 1);
        check_uint("not told before", a->n, 0);
        if (way == BOOT_DIES)
                room->w.fake.provider.events->gone(sb, room->w.manager);
        else
                network_attached(sb, way == BOOT_NOT_CONNECTED ? error : NULL);
}

TEST(a_boot_that_fails_at_a_step_leaves_it_parked) {
        static const NetworkKeeper network = { .admit = keeper_admit, .prepare = keeper_prepare, .attach = keeper_attach, .gone = keeper_gone };
        static const ProviderNetwork egress = { .sockets = NULL };
        Room room;
        Sandbox *sb;

        room_new(&room, "boot-step");
        sb = persistent(&room, "box");
        park(&room, sb);
        room.w.fake.provider.egress = &egress;
        manager_set_network(room.w.manager, &network);
        sb->spec.network = network_mode_gated();
        for (BootWay way = 0; way < _BOOT_WAY_MAX; way++) {
                unsigned n_destroyed = room.w.fake.n_destroyed;
                Answer a = { 0 };

                boot_that_way(&room, sb, way, &a);
                if (way == BOOT_WELL) {
                        check_result("well", a.code, 0);
                        check_uint("told", a.n, 1);
                        check_true("ready", sb->status == SANDBOX_READY && !sb->parked && !sb->shift);
                        break;
                }
                check_true("what is left of it is removed", sb->activity == ACTIVITY_UNLOADING && room.w.fake.n_destroyed == n_destroyed + 1);
                check_uint("not told before", a.n, 0);
                room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
                check_uint("told once", a.n, 1);
                check_result("why", a.code, way == BOOT_DIES ? -ECHILD : -EIO);
                check_true("parked", sb->parked && sb->status == SANDBOX_PAUSED && sb->activity == ACTIVITY_NONE && !sb->shift);
        }
        sb->spec.network = 0;
        manager_set_network(room.w.manager, NULL);
        room_close(&room);
}

static void delete_probed(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata) {
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
}

static void delete_changed(Sandbox *sb, Execution *x, void *userdata) {
        if (x && execution_ended(x))
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
}

/* Whoever hears of something on the way may end the sandbox from there. */
TEST(a_step_of_parking_may_lead_to_the_end) {
        for (unsigned by_probe = 0; by_probe < 2; by_probe++) {
                SandboxWatch watch = { .changed = delete_changed };
                Answer a = { 0 };
                Sandbox *sb;
                Room room;

                room_new(&room, "shift-ends");
                sb = sandbox_ref(persistent(&room, "box"));
                if (by_probe)
                        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, delete_probed, NULL), 0);
                else {
                        (void) start(sb, "server");
                        sandbox_watch(sb, &watch);
                }
                sandbox_park(sb, &firmly, on_done, &a);
                if (!by_probe) {
                        room.w.fake.provider.events->stopped(sb, room.w.manager);
                        check_true("taken down", sb->activity == ACTIVITY_UNLOADING);
                        destroyed(&room, sb);
                }
                check_string("ends", sandbox_status_name(sb->status), "terminating");
                check_uint("told once", a.n, 1);
                check_result("why", a.code, -ESTALE);
                check_true("nothing is under way", sb->activity == ACTIVITY_NONE && !sb->shift);
                destroyed(&room, sb);
                answer(&room, NULL);
                check_true("gone", sandbox_is_gone(sb) && sb->n_refs == 1);
                (void) sandbox_unref(sb);
                room_close(&room);
        }
}

TEST(the_death_of_pid_1_costs_no_file) {
        Room room;
        Sandbox *sb;

        room_new(&room, "pid1");
        sb = persistent(&room, "box");
        room.w.fake.provider.events->gone(sb, room.w.manager);
        room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
        answer(&room, NULL);
        check_true("parked", sb->parked && sb->status == SANDBOX_PAUSED);
        check_part("why", sb->reason, "PID 1 died");
        room_close(&room);
}

TEST(a_parked_one_can_be_deleted) {
        Room room;
        Answer a = { 0 };
        Sandbox *sb;

        room_new(&room, "park-delete");
        sb = persistent(&room, "box");
        park(&room, sb);
        sandbox_delete(sb, true, on_done, &a);
        room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
        asked(&room, TREE_REMOVE, TREE_DISK, NULL);
        answer(&room, NULL);
        check_result("deleted", a.code, 0);
        check_true("gone", !manager_find(room.w.manager, &admin, "box"));
        room_close(&room);
}

TEST(a_snapshot_is_taken_back_at_each_step) {
        Sandbox *sb;
        Room room;

        room_new(&room, "take-step");
        sb = persistent(&room, "box");
        for (size_t step = 0; step < 2 * take_sequence.n_steps; step++) {
                unsigned before = n_rows(&room);
                Taken t = { 0 };
                Error error = { 0 };
                char name[32];
                bool failed;

                (void) snprintf(name, sizeof(name), "one-%zu", step);
                check_result("take", snapshot_take(room.state, sb, name, NULL, on_snapshot, &t, &error), 0);
                failed = rig_run(&room, sb, rig_put(&room, &take_sequence, step));
                check_true("fails", failed || rig.failing == SIZE_MAX);
                if (sb->activity == ACTIVITY_RELEASING)
                        answer_next(&room, sb, NULL);
                check_uint("told once", t.n, 1);
                check_result("how", t.code, failed ? -EIO : 0);
                check_string("why", t.text, failed ? "broken" : "");
                answer(&room, NULL); /* what is left of it goes; or it is measured */
                check_true("found", !snapshot_find(room.state, &admin, name) == failed);
                check_uint("rows", n_rows(&room), before + !failed);
                check_true("nothing holds it", sb->activity == ACTIVITY_NONE && sandbox_is_up(sb));
                check_true("nothing goes on", !room.state->works);
                if (failed)
                        take(&room, sb, name, &t); /* the name is free */
        }
        room_close(&room);
}

static int count_volume(Volume *row, void *userdata) {
        ++*(unsigned *) userdata;
        return 0;
}

TEST(a_volume_is_taken_back_at_each_step) {
        Sandbox *sb;
        Room room;

        room_new(&room, "volume-step");
        sb = persistent(&room, "box");
        for (size_t step = 0; step < 2 * volume_sequence.n_steps; step++) {
                Taken t = { 0 };
                Error error = { 0 };
                unsigned before = 0, after = 0;
                char name[32];
                bool failed;

                (void) snprintf(name, sizeof(name), "data-%zu", step);
                check_result("rows", store_volume_each(room.w.store, count_volume, &before), 0);
                check_result("make", volume_make(room.state, &admin, name, VOLUME_BYTES_MIN, on_snapshot, &t, &error), 0);
                check_true("nobody sees it", !volume_find(room.state, &admin, name));
                failed = rig_run(&room, sb, rig_put(&room, &volume_sequence, step));
                check_true("fails", failed || rig.failing == SIZE_MAX);
                check_uint("told once", t.n, 1);
                check_result("how", t.code, failed ? -EIO : 0);
                if (failed) {
                        asked(&room, TREE_REMOVE, TREE_VOLUME, NULL);
                        answer(&room, NULL);
                }
                check_true("found", !volume_find(room.state, &admin, name) == failed);
                check_result("rows", store_volume_each(room.w.store, count_volume, &after), 0);
                check_uint("rows", after, before + !failed);
                check_true("nothing goes on", !room.state->works);
                if (failed) {
                        check_result("its name is free", volume_make(room.state, &admin, name, VOLUME_BYTES_MIN, on_snapshot, &t, &error), 0);
                        answer(&room, NULL);
                        check_result("made", t.code, 0);
                }
                check_result("taken", volume_make(room.state, &admin, name, VOLUME_BYTES_MIN, on_snapshot, &t, &error), -EEXIST);
                check_part("words", error.text, "already");
        }
        room_close(&room);
}

/* There is no way back: what cannot be removed now, the next start removes. */
TEST(a_removal_that_fails_at_a_step_is_finished_by_the_next_start) {
        for (size_t step = 0; step < 2 * removal_sequence.n_steps; step++) {
                Taken t;
                Error error = { 0 };
                bool failed;
                Sandbox *sb;
                Room room;

                room_new(&room, "remove-step");
                sb = persistent(&room, "box");
                take(&room, sb, "old", &t);
                room.w.fake.tree_result = -EIO;
                check_result("refused", snapshot_remove(room.state, snapshot_find(room.state, &admin, "old"), on_snapshot, &t, &error), -EIO);
                check_true("it is as it was", snapshot_find(room.state, &admin, "old") != NULL);
                room.w.fake.tree_result = 0;
                t.n = 0;
                check_result("remove", snapshot_remove(room.state, snapshot_find(room.state, &admin, "old"), on_snapshot, &t, &error), 0);
                failed = rig_run(&room, sb, rig_put(&room, &removal_sequence, step));
                check_uint("told once", t.n, 1);
                check_result("how", t.code, failed ? -EIO : 0);
                check_true("gone for all to see", !snapshot_find(room.state, &admin, "old"));
                check_uint("its row stays as long as it may be needed", n_rows(&room), failed);
                room_dies(&room);
                if (failed) {
                        asked(&room, TREE_REMOVE, TREE_SNAPSHOT, t.id);
                        answer(&room, NULL);
                }
                check_uint("no row", n_rows(&room), 0);
                room_close(&room);
        }
}

TEST(the_copy_of_a_disk_lets_go_at_each_step) {
        Sandbox *sb;
        Room room;

        room_new(&room, "copy-step");
        sb = persistent(&room, "box");
        for (size_t step = 0; step < 2 * copy_sequence.n_steps; step++) {
                Taken t = { 0 };
                Error error = { 0 };
                bool failed;

                check_result("take", snapshot_take(room.state, sb, NULL, NULL, on_snapshot, &t, &error), 0);
                failed = rig_run(&room, sb, rig_put(&room, &copy_sequence, step));
                check_true("fails", failed || rig.failing == SIZE_MAX);
                if (sb->activity == ACTIVITY_RELEASING)
                        answer_next(&room, sb, NULL);
                check_true("nothing holds it", sb->activity == ACTIVITY_NONE && sandbox_is_up(sb));
                check_uint("told", t.n, failed);
                while (room.state->works)
                        answer(&room, NULL);
                check_result("how", t.code, failed ? -EIO : 0);
        }
        room_close(&room);
}

/* Restoring. */

TEST(a_restore_ends_what_runs_and_swaps_the_disk) {
        Room room;
        Taken t;
        Answer a = { 0 };
        Error error = { 0 };
        Sandbox *sb;
        Execution *x;

        room_new(&room, "restore");
        sb = persistent(&room, "box");
        take(&room, sb, "before", &t);
        x = start(sb, "wreck");
        check_result("restore", sandbox_restore(room.state, sb, snapshot_find(room.state, &admin, "before"), on_done, &a, &error), 0);
        asked(&room, TREE_MAKE, TREE_SCRATCH, NULL);
        check_true("it still runs", x->status != EXECUTION_EXITED);
        answer(&room, NULL);
        room.w.fake.provider.events->stopped(sb, room.w.manager);
        destroyed(&room, sb);
        check_string("its truth", execution_reason_name(x->reason), "restored");
        answer(&room, NULL); /* synced */
        asked(&room, TREE_SWAP, TREE_SCRATCH, NULL);
        check_string("with its disk", room.w.fake.tree.refs[1].name, sb->id);
        answer(&room, NULL);
        room.w.fake.provider.events->created(sb, 2, 1, 0, NULL, room.w.manager);
        check_uint("told", a.n, 1);
        check_result("well", a.code, 0);
        check_string("ready", sandbox_status_name(sb->status), "ready");
        check_string("began as", sb->spec.snapshot, t.id);
        asked(&room, TREE_REMOVE, TREE_SCRATCH, NULL);
        room_close(&room);
}

TEST(a_restore_that_does_not_come_up_goes_back) {
        Room room;
        Taken t;
        Answer a = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "restore-back");
        sb = persistent(&room, "box");
        take(&room, sb, "before", &t);
        check_result("restore", sandbox_restore(room.state, sb, snapshot_find(room.state, &admin, "before"), on_done, &a, &error), 0);
        answer(&room, NULL);
        destroyed(&room, sb);
        answer(&room, NULL); /* synced */
        answer(&room, NULL); /* swapped */
        room.w.fake.provider.events->created(sb, 0, 0, 0, &(Error) { -EIO, "no walls" }, room.w.manager);
        room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
        asked(&room, TREE_SWAP, TREE_SCRATCH, NULL);
        answer(&room, NULL);
        room.w.fake.provider.events->created(sb, 3, 1, 0, NULL, room.w.manager);
        check_uint("told", a.n, 1);
        check_result("why", a.code, -EIO);
        check_part("how it is", a.text, "as it was before");
        check_string("ready", sandbox_status_name(sb->status), "ready");
        check_true("began as before", sb->spec.snapshot == NULL);
        room_close(&room);
}

static void restore_trial(Room *room, Sandbox *sb, const char *snapshot, size_t step, bool was_parked) {
        const char *before = sb->spec.snapshot ? snapshot : NULL;
        Answer a = { 0 };
        Error error = { 0 };
        bool failed;

        check_result("restore", sandbox_restore(room->state, sb, snapshot_find(room->state, &admin, snapshot), on_done, &a, &error), 0);
        failed = rig_run(room, sb, rig_put(room, &restore_sequence, step));
        check_true("fails", failed || rig.failing == SIZE_MAX);
        check_uint("told once", a.n, 1);
        check_result("how", a.code, failed ? -EIO : 0);
        check_string("its disk", sb->spec.snapshot ? sb->spec.snapshot : "empty", !failed ? snapshot : before ? before : "empty");
        check_string("status", sandbox_status_name(sb->status), was_parked ? "paused" : "ready");
        check_true("parked as before", sb->parked == was_parked);
        check_true("nothing holds it", sb->activity == ACTIVITY_NONE);
        asked(room, TREE_REMOVE, TREE_SCRATCH, NULL);
        check_true("nothing goes on", !room->state->works);
}

TEST(a_restore_is_undone_at_each_step) {
        for (unsigned was_parked = 0; was_parked < 2; was_parked++) {
                Taken t;
                Sandbox *sb;
                Room room;

                room_new(&room, "restore-step");
                sb = persistent(&room, "box");
                take(&room, sb, "before", &t);
                if (was_parked)
                        park(&room, sb);
                for (size_t step = 0; step < 2 * restore_sequence.n_steps; step++)
                        if (step != restore_sequence.n_steps - 1) /* what nobody needs is removed: that cannot fail */
                                restore_trial(&room, sb, t.id, step, was_parked);
                check_string("in the end", sb->spec.snapshot, t.id);
                room_close(&room);
        }
}

/* Nothing can be asked at all. */
TEST(what_fails_at_its_first_step_is_refused) {
        Room room;
        Taken t;
        Answer a = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        room_new(&room, "refused");
        sb = persistent(&room, "box");
        take(&room, sb, "before", &t);
        room.w.fake.tree_result = -EIO;
        check_result("restore", sandbox_restore(room.state, sb, snapshot_find(room.state, &admin, "before"), on_done, &a, &error), -EIO);
        check_part("why", error.text, "cannot ask the spawner");
        t.n = 0;
        check_result("take", snapshot_take(room.state, sb, "after", NULL, on_snapshot, &t, &error), -EIO);
        check_result("verify", snapshot_verify(room.state, snapshot_find(room.state, &admin, "before"), NULL, NULL, &error), -EIO);
        check_uint("nobody is told besides", a.n + t.n, 0);
        check_uint("no row", n_rows(&room), 1);
        check_true("nothing goes on", !room.state->works && sb->activity == ACTIVITY_NONE);
        room_close(&room);
}

/* The way back is barred as well. */
TEST(a_restore_that_cannot_go_back_says_how_it_is) {
        for (unsigned way = 0; way < 2; way++) {
                Room room;
                Taken t;
                Answer a = { 0 };
                Error error = { 0 };
                Sandbox *sb;

                room_new(&room, "restore-barred");
                sb = persistent(&room, "box");
                take(&room, sb, "before", &t);
                check_result("restore", sandbox_restore(room.state, sb, snapshot_find(room.state, &admin, "before"), on_done, &a, &error), 0);
                answer(&room, NULL); /* copied */
                destroyed(&room, sb);
                answer(&room, NULL); /* synced */
                answer(&room, NULL); /* swapped */
                answer_next(&room, sb, &(Error) { -EIO, "no walls" });
                room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
                asked(&room, TREE_SWAP, TREE_SCRATCH, NULL);
                answer(&room, way == 0 ? &(Error) { -ENOSPC, "no room" } : NULL);
                if (way == 1) {
                        answer_next(&room, sb, &(Error) { -ENOENT, "no walls either" });
                        room.w.fake.provider.events->destroyed(sb->id, NULL, room.w.manager);
                }
                check_uint("told", a.n, 1);
                check_result("why", a.code, way == 0 ? -ENOSPC : -ENOENT);
                check_string("how it is", a.text, way == 0 ? "no room" : "the sandbox is parked, with its disk as it was before: no walls either");
                check_true("parked", sb->parked && sb->activity == ACTIVITY_NONE);
                check_true("its row says which disk it has", way == 0 ? strcmp(sb->spec.snapshot, t.id) == 0 : !sb->spec.snapshot);
                room_close(&room);
        }
}

/* Forks. */

typedef struct Forked {
        unsigned n;
        size_t n_list;
        int code;
        char text[256];
} Forked;

static void on_forked(Sandbox *const *list, size_t n, const Error *error, void *userdata) {
        Forked *f = userdata;

        f->n++;
        f->n_list = n;
        f->code = error ? error->code : 0;
        (void) snprintf(f->text, sizeof(f->text), "%.255s", error ? error->text : "");
        for (size_t i = 0; i < n; i++)
                check_true("there", list[i] != NULL);
}

/* The fake remembers only the last: they are answered as they come. */
static Sandbox *next_child(Room *room) {
        Sandbox *sb, *next;

        HASH_ITER(hh, room->w.manager->sandboxes, sb, next)
                if (sb->status == SANDBOX_INITIALIZING)
                        return sb;
        fail_msg("nothing is being made");
        abort();
}

TEST(forks_are_all_or_none) {
        for (unsigned failing = 0; failing < 2; failing++) {
                SandboxSpec specs[3] = { 0 };
                Forked f = { 0 };
                Taken t;
                Error error = { 0 };
                Fork *fork = NULL;
                Sandbox *sb, *child;
                Room room;

                room_new(&room, "fork");
                sb = persistent(&room, "box");
                take(&room, sb, "base", &t);
                for (size_t i = 0; i < 3; i++)
                        check_result("spec", snapshot_spec(snapshot_find(room.state, &admin, "base"), specs + i, &error), 0);
                check_result("fork", state_fork(room.state, &admin, NULL, snapshot_find(room.state, &admin, "base"), specs, 3, 0, on_forked, &f, &fork, &error), 0);
                check_true("under way", fork != NULL);
                for (uint64_t token = room.w.fake.tree_token - 2; token <= room.w.fake.tree_token; token++)
                        room.w.fake.provider.events->tree_done(token, 0, 0, NULL, room.w.manager);
                for (unsigned i = 0; i < 3; i++) {
                        Error broken = { -EIO, "no walls" };

                        check_uint("not before all are", f.n, 0);
                        child = next_child(&room);
                        check_string("from it", child->spec.snapshot, t.id);
                        check_string("of it", child->spec.parent, sb->id);
                        room.w.fake.provider.events->created(child, 1, 1, 0, failing && i == 2 ? &broken : NULL, room.w.manager);
                        if (failing && i == 2) {
                                char id[SANDBOX_ID_LENGTH + 1];

                                memcpy(id, child->id, sizeof(id));
                                room.w.fake.provider.events->destroyed(id, NULL, room.w.manager);
                                answer(&room, NULL); /* its disk */
                        }
                }
                check_uint("told", f.n, 1);
                check_uint("how many", f.n_list, failing ? 0 : 3);
                if (failing) {
                        Sandbox *next;

                        HASH_ITER(hh, room.w.manager->sandboxes, child, next)
                                check_true("those that were made go", child == sb || child->status == SANDBOX_TERMINATING);
                        check_part("why", f.text, "no walls");
                }
                check_true("the snapshot stays", snapshot_find(room.state, &admin, "base") != NULL);
                room_close(&room);
        }
}

TEST(a_fork_of_a_live_one_leaves_no_snapshot) {
        SandboxSpec spec = { 0 };
        Forked f = { 0 };
        Error error = { 0 };
        Fork *fork = NULL;
        Sandbox *sb, *child;
        Room room;

        room_new(&room, "fork-live");
        sb = persistent(&room, "box");
        check_result("spec", sandbox_fork_spec(sb, &spec, &error), 0);
        check_result("fork", state_fork(room.state, &admin, sb, NULL, &spec, 1, 0, on_forked, &f, &fork, &error), 0);
        answer(&room, NULL);            /* synced */
        freezes(&room, sb, true, NULL);
        answer(&room, NULL);            /* copied */
        freezes(&room, sb, false, NULL);
        asked(&room, TREE_TAKE, TREE_DISK, NULL);
        check_uint("of the copy", room.w.fake.tree.refs[1].kind, TREE_SCRATCH);
        check_true("nobody sees it", !snapshot_next(room.state, &admin, NULL, 0, NULL));
        answer(&room, NULL);
        child = next_child(&room);
        room.w.fake.provider.events->created(child, 1, 1, 0, NULL, room.w.manager);
        check_uint("told", f.n, 1);
        check_result("well", f.code, 0);
        asked(&room, TREE_REMOVE, TREE_SCRATCH, NULL);
        check_uint("no row", n_rows(&room), 0);
        room_close(&room);
}

TEST(a_fork_whose_asker_has_gone_leaves_nothing) {
        SandboxSpec spec = persistent_spec("named");
        Forked f = { 0 };
        Taken t;
        Error error = { 0 };
        Fork *fork = NULL;
        Sandbox *sb, *child;
        Room room;

        room_new(&room, "fork-gone");
        sb = persistent(&room, "box");
        take(&room, sb, "base", &t);
        check_result("fork", state_fork(room.state, &admin, NULL, snapshot_find(room.state, &admin, "base"), &spec, 1, 0, on_forked, &f, &fork, &error), 0);
        fork_cancel(fork);
        check_uint("nobody is told", f.n, 0);
        child = manager_find(room.w.manager, &admin, "named");
        check_true("it goes, though it has a name", child && child->status == SANDBOX_TERMINATING);
        room_close(&room);
}

/* All children of the fork come up, but one. */
static void answer_children(Room *room, unsigned n, unsigned failing) {
        for (uint64_t token = room->w.fake.tree_token - (n - 1), i = 0; i < n; i++)
                room->w.fake.provider.events->tree_done(token + i, 0, 0, NULL, room->w.manager);
        for (unsigned i = 0; i < n && rig.n_ends == 0; i++) {
                Sandbox *child = next_child(room);
                char id[SANDBOX_ID_LENGTH + 1];

                memcpy(id, child->id, sizeof(id));
                room->w.fake.provider.events->created(child, 1, 1, 0, i == failing ? &broken_step : NULL, room->w.manager);
                if (i != failing)
                        continue;
                room->w.fake.provider.events->destroyed(id, NULL, room->w.manager);
                answer(room, NULL); /* its disk */
        }
}

static void check_no_children(Room *room, const Sandbox *parent) {
        Sandbox *sb, *next;

        HASH_ITER(hh, room->w.manager->sandboxes, sb, next)
                check_true("those that were made go", sb == parent || sb->status == SANDBOX_TERMINATING);
}

typedef struct ForkTrial {
        Room room;
        Sandbox *sb;
        Fork *fork;
        Forked f;
} ForkTrial;

#define N_FORKED 3

static void on_each(Sandbox *const *list, const Error *errors, size_t n, void *userdata) {
        Forked *f = userdata;

        f->n++;
        for (size_t i = 0; i < n; i++) {
                f->n_list += list[i] != NULL;
                check_true("one of both", !list[i] == (errors[i].code < 0));
                if (errors[i].code < 0)
                        f->code = errors[i].code;
        }
}

static void fork_trial(ForkTrial *t, bool each, size_t failing) {
        SandboxSpec specs[N_FORKED] = { 0 };
        Error error = { 0 };

        *t = (ForkTrial) { 0 };
        room_new(&t->room, "fork-step");
        t->sb = persistent(&t->room, "box");
        for (size_t i = 0; i < N_FORKED; i++)
                check_result("spec", sandbox_fork_spec(t->sb, specs + i, &error), 0);
        check_result("fork", each ? state_fork_each(t->room.state, &admin, t->sb, specs, N_FORKED, 0, on_each, &t->f, &t->fork, &error) :
                                    state_fork(t->room.state, &admin, t->sb, NULL, specs, N_FORKED, 0, on_forked, &t->f, &t->fork, &error), 0);
        (void) rig_put(&t->room, &fork_sequence, failing);
}

/* synced, held, copied, goes on */
static void fork_trial_copy(ForkTrial *t, const Error *error) {
        answer(&t->room, NULL);
        freezes(&t->room, t->sb, true, NULL);
        answer(&t->room, error);
        freezes(&t->room, t->sb, false, NULL);
}

static void fork_trial_check(ForkTrial *t, size_t n_made, int code, size_t last) {
        check_uint("told once", t->f.n, 1);
        check_uint("how many", t->f.n_list, n_made);
        check_result("how", t->f.code, code);
        check_uint("its end", rig.n_ends, 1);
        for (size_t i = 0; i < rig.n_undone; i++)
                check_uint("the last first", rig.undone[i], last - i);
        if (n_made == 0) {
                check_uint("all that began is undone", rig.n_undone, last + 1);
                check_no_children(&t->room, t->sb);
        }
        asked(&t->room, TREE_REMOVE, n_made == 0 && last > 0 ? (TreeKind) t->room.w.fake.tree.refs[0].kind : TREE_SCRATCH, NULL);
        check_true("nothing goes on", !t->room.state->works);
        check_true("nothing holds it", t->sb->activity == ACTIVITY_NONE && sandbox_is_up(t->sb));
        room_close(&t->room);
}

TEST(a_fork_is_undone_at_each_step) {
        ForkTrial t;

        for (unsigned each = 0; each < 2; each++) {
                fork_trial(&t, each, SIZE_MAX);
                fork_trial_copy(&t, &broken_step);
                fork_trial_check(&t, 0, -EIO, 0);
        }
        for (size_t step = 1; step < fork_sequence.n_steps; step++) {
                fork_trial(&t, /* each= */ false, step);
                fork_trial_copy(&t, NULL);
                if (rig.n_ends == 0)
                        answer_children(&t.room, N_FORKED, N_FORKED);
                check_uint("the step was come to", rig.n_failed, 1);
                fork_trial_check(&t, 0, -EIO, step);
        }
        for (unsigned child = 0; child <= N_FORKED; child++)
                for (unsigned each = 0; each < 2; each++) {
                        fork_trial(&t, each, SIZE_MAX);
                        fork_trial_copy(&t, NULL);
                        answer_children(&t.room, N_FORKED, child);
                        fork_trial_check(&t, child == N_FORKED ? N_FORKED : each ? N_FORKED - 1 : 0, child == N_FORKED ? 0 : -EIO, 1);
                }
}

/* While it is copied, and while they are made. */
TEST(a_fork_that_is_cancelled_leaves_nothing) {
        for (unsigned copied = 0; copied < 2; copied++) {
                ForkTrial t;

                fork_trial(&t, /* each= */ false, SIZE_MAX);
                if (copied)
                        fork_trial_copy(&t, NULL);
                fork_cancel(t.fork);
                if (!copied)
                        fork_trial_copy(&t, NULL);
                check_uint("its end", rig.n_ends, 1);
                check_uint("all that began is undone", rig.n_undone, copied + 1);
                check_uint("nobody is told", t.f.n, 0);
                check_no_children(&t.room, t.sb);
                check_true("nothing goes on", !t.room.state->works);
                room_close(&t.room);
        }
}
