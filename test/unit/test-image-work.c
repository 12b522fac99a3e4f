/* Sequences of the images' room: each step of a flattening, a commit, a pull and a push fails in its turn, or is cancelled; what was begun is undone, and the end is
 * told once. The depot is a set of names. */
#include "depot.h"

#include <dirent.h>

#define A DEPOT_LAYER
#define B "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
#define C DEPOT_BLOB

/* Until nothing is left to do, and that one is over. */
static void settle(const Making *k) {
        Fake *f = &depot.world->fake;
        Sandbox *sb;

        for (unsigned idle = 0, waited = 0; idle < 3 && waited < 600;) {
                bool awaited = k && !k->ended;
                bool busy = sd_event_run(depot.world->event, awaited && idle > 0 ? 50000 : 0) > 0 || depot.n_queue > 0 || f->frozen || f->thawed;

                waited += awaited && !busy;
                idle = busy ? 0 : awaited ? 1 : idle + 1;
                if (depot.n_queue > 0)
                        depot_answer();
                if ((sb = TAKE_PTR(f->frozen)))
                        f->provider.events->frozen(sb, true, NULL, depot.world->manager);
                if ((sb = TAKE_PTR(f->thawed)))
                        f->provider.events->frozen(sb, false, NULL, depot.world->manager);
        }
}

/* One trial: what fails. */

static unsigned n_ended;

static void on_ended(Images *i, const Making *ended, void *userdata) {
        n_ended += ended != NULL;
}

static Images *trial_open(World *w, const char *name, const char *refused) {
        Images *i = depot_open(w, name, refused);

        n_ended = 0;
        images_observe(i, on_ended, NULL);
        return i;
}

static void put_layer(Images *i, const char *chain) {
        StoreLayer row = { .bytes = 1, .created_at = 1 };
        TreeRef ref = tree_ref(TREE_LAYER, chain);

        memcpy(row.chain, chain, sizeof(row.chain));
        check_result("layer", images_layer_put(i, &row), 0);
        depot_add(&ref);
}

static void check_over(const char *what, const Making *k, int status) {
        MakingInfo info;

        making_info(k, &info);
        check_string(info.error ? info.error : what, making_status_name(info.status), making_status_name(status));
        check_true(what, !k->works);
        check_uint(what, n_ended, 1);
        check_uint(what, depot_count(TREE_SCRATCH), 0);
        check_uint(what, depot.n_queue, 0);
        if (status == MAKING_CANCELLED)
                check_part(what, info.error, "cancelled");
}

/* Flattening. */

typedef struct Told {
        unsigned n;
        Error error;
        char layer[TREE_NAME_MAX + 1];
} Told;

static void on_flat(const Image *image, const Error *error, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->error = error ? *error : (Error) { 0 };
        (void) snprintf(t->layer, sizeof(t->layer), "%s", image ? image->layer : "");
        check_true("either", !image == !!error);
}

static void try_flatten(unsigned at, Way way, const char *table) {
        Told told = { 0 };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "flatten", table);
        Making *k;
        char what[64];
        int r;

        (void) snprintf(what, sizeof(what), "flatten %u %u %s", at, way, table ? table : "");
        put_layer(i, A);
        check_result("making", making_new(i, &admin, MAKING_COMMIT, "x:1", &k, &error), 0);
        depot_fail(at, way, k);
        r = images_flatten(i, k, A, TREE_SNAPSHOT, C, B, on_flat, &told, &error);
        settle(/* k= */ NULL);
        check_uint(what, depot_count(TREE_SCRATCH), 0);
        check_true(what, !k->works);
        check_uint(what, told.n, r < 0 ? 0 : 1);
        if (at == NEVER && !table) {
                check_string(what, told.layer, B);
                check_true(what, images_layer(i, B) != NULL);
                check_uint("bytes", images_layer(i, B)->row.bytes, 7);
                check_uint("requests", depot.n, 3);
        } else {
                check_part(what, r < 0 ? error.text : told.error.text, "the changes cannot be written as a layer: ");
                check_int(what, images_layer(i, B) != NULL, at == 2 && way == IS_CANCELLED); /* it is whole */
        }
        making_end(k, NULL, NULL);
        depot_close(&w, i);
}

TEST(each_step_of_a_flattening_fails) {
        try_flatten(NEVER, FAILS_LATER, NULL);
        try_flatten(NEVER, FAILS_LATER, "layer");
        for (unsigned at = 0; at < 3; at++)
                for (Way way = 0; way < _WAY_MAX; way++)
                        try_flatten(at, way, NULL);
}

/* Commits. */

static Sandbox *make_sandbox(World *w, const char *layer) {
        static Answer a;
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        check_result("create", manager_create(w->manager, &admin, &spec, &sb, &existing, on_done, &a, &error), 0);
        sandbox_spec_done(&spec);
        w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
        check_string("status", sandbox_status_name(sb->status), "ready");
        sb->spec.persistent = true;
        sb->spec.layer = layer ? strdup(layer) : NULL;
        return sb;
}

static void try_commit(const char *layer, unsigned at, Way way, const char *table) {
        const bool whole = at == NEVER && !table;
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "commit", table);
        Sandbox *sb;
        Making *k = NULL;
        char what[64];

        (void) snprintf(what, sizeof(what), "commit %s %u %u %s", layer ? "layer" : "host", at, way, table ? table : "");
        if (layer)
                put_layer(i, layer);
        sb = make_sandbox(&w, layer);
        settle(/* k= */ NULL);
        check_result(what, images_commit(i, &admin, sb, "made:1", &k, &error), 0);
        depot_fail(at, way, k);
        settle(k);
        check_over(what, k, whole ? MAKING_DONE : way == IS_CANCELLED && !table ? MAKING_CANCELLED : MAKING_FAILED);
        check_string("it goes on", sandbox_activity_name(sb->activity), sandbox_activity_name(ACTIVITY_NONE));
        check_int(what, images_find(i, "", "made:1") != NULL, whole);
        if (whole)
                check_uint("requests", depot.n, layer ? 4 : 2);
        check_uint(what, depot_count(TREE_SNAPSHOT), whole && !layer ? 1 : 0);
        depot_close(&w, i);
}

TEST(each_step_of_a_commit_fails) {
        static const char *const tables[] = { "layer", "image", "template" };

        try_commit(A, NEVER, FAILS_LATER, NULL);
        try_commit(NULL, NEVER, FAILS_LATER, NULL);
        for (size_t n = 0; n < ELEMENTSOF(tables); n++)
                try_commit(A, NEVER, FAILS_LATER, tables[n]);
        try_commit(NULL, NEVER, FAILS_LATER, "image_snapshot");
        try_commit(NULL, NEVER, FAILS_LATER, "template");
        for (Way way = 0; way < _WAY_MAX; way++) {
                for (unsigned at = 0; at < 4; at++)
                        try_commit(A, at, way, NULL);
                for (unsigned at = 0; at < 2; at++)
                        try_commit(NULL, at, way, NULL);
        }
}

TEST(a_commit_releases_only_what_it_holds) {
        Answer paused = { 0 }, resumed = { 0 }, held = { 0 };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "paused", /* refused= */ NULL);
        Sandbox *sb = make_sandbox(&w, NULL);
        Making *k;

        settle(/* k= */ NULL);
        sandbox_pause(sb, on_done, &paused);
        settle(/* k= */ NULL);
        check_true("paused by its user", paused.n == 1 && sb->status == SANDBOX_PAUSED);
        check_result("commit", images_commit(i, &admin, sb, "made:1", &k, &error), 0);
        check_uint("its disk is being copied", depot.n_queue, 1);
        sandbox_resume(sb, on_done, &resumed);
        w.fake.provider.events->frozen(TAKE_PTR(w.fake.thawed), false, NULL, w.manager);
        check_result("somebody else", sandbox_hold(sb, on_done, &held, &error), 0);
        w.fake.provider.events->frozen(TAKE_PTR(w.fake.frozen), true, NULL, w.manager);
        check_true("holds it", held.n == 1 && sb->activity == ACTIVITY_HELD);
        settle(k);
        check_over("commit", k, MAKING_DONE);
        check_string("and holds it still", sandbox_activity_name(sb->activity), sandbox_activity_name(ACTIVITY_HELD));
        depot_close(&w, i);
}

TEST(a_sandbox_that_goes_before_it_is_held) {
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "goes", /* refused= */ NULL);
        Sandbox *sb = make_sandbox(&w, NULL);
        MakingInfo info;
        Making *k;

        settle(/* k= */ NULL);
        check_result("commit", images_commit(i, &admin, sb, "made:1", &k, &error), 0);
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        settle(/* k= */ NULL);
        check_over("commit", k, MAKING_FAILED);
        making_info(k, &info);
        check_string("why", info.error, "the sandbox has ended meanwhile");
        depot_close(&w, i);
}

/* Pulls. */

static void write_text(const char *path, const char *text, mode_t mode) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

        check_int(path, write(fd, text, strlen(text)), (intmax_t) strlen(text));
        (void) fd_close(fd);
}

/* Its program says that, and blobs are there. */
static void trial_registry(World *w, Images *i, const char *script) {
        static const char *const digests[] = { A, B };
        char path[700];

        (void) snprintf(path, sizeof(path), "%s/registry", w->state);
        write_text(path, script, 0755);
        free(i->program);
        i->program = strdup(path);
        for (size_t n = 0; n < ELEMENTSOF(digests); n++) {
                (void) snprintf(path, sizeof(path), "%s/sha256-%s", i->blobs_path, digests[n]);
                write_text(path, "x", 0600);
        }
}

#define PULLED "#!/bin/sh\n" PULL_SAYS
/* Blobs of tenants come with each pull. */
#define PULLED_INTO "#!/bin/sh\nwhile [ $1 != --blobs ]; do shift; done\nfor d in " A " " B " " C "; do echo x >$2/sha256-$d; done\n" PULL_SAYS
#define PULL_SAYS "cat <<'E'\n{\"progress\":{\"bytes\":1,\"total\":2}}\n{\"result\":{\"manifestDigest\":\"sha256:" C "\",\"size\":2,\"config\":{},\"layers\":[" \
                  "{\"digest\":\"sha256:" A "\",\"diffId\":\"sha256:" A "\",\"size\":1},{\"digest\":\"sha256:" B "\",\"diffId\":\"sha256:" B "\",\"size\":1}]}}\nE\n"

static void try_pull(const char *script, unsigned at, Way way, const char *table) {
        const bool whole = at == NEVER && !table && strcmp(script, PULLED) == 0;
        const ImagePull pull = { .reference = "localhost:5000/a" };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "pull", table);
        Making *k = NULL;
        char what[64];

        (void) snprintf(what, sizeof(what), "pull %u %u %s", at, way, table ? table : "");
        trial_registry(&w, i, script);
        check_result(what, images_pull(i, &admin, &pull, &k, &error), 0);
        depot_fail(at, way, k);
        settle(k);
        check_over(what, k, whole ? MAKING_DONE : way == IS_CANCELLED && at != NEVER ? MAKING_CANCELLED : MAKING_FAILED);
        check_int(what, images_find(i, "", "a") != NULL, whole);
        check_true(what, !i->works);
        if (whole)
                check_uint("requests", depot.n, 7);
        else if (at < 7)
                check_uint("finished layers are kept", HASH_COUNT(i->layers), way == IS_CANCELLED && at % 3 == 2 ? at / 3 + 1 : at / 3); /* published is whole */
        depot_close(&w, i);
}

TEST(each_step_of_a_pull_fails) {
        try_pull(PULLED, NEVER, FAILS_LATER, NULL);
        try_pull(PULLED, NEVER, FAILS_LATER, "layer");
        try_pull(PULLED, NEVER, FAILS_LATER, "image");
        try_pull("#!/bin/sh\necho '5 the wire is cut' >&2\nexit 1\n", NEVER, FAILS_LATER, NULL);
        try_pull("#!/bin/sh\necho '{\"result\":{}}'\n", NEVER, FAILS_LATER, NULL);
        for (unsigned at = 0; at < 7; at++)
                for (Way way = 0; way < _WAY_MAX; way++)
                        try_pull(PULLED, at, way, NULL);
}

TEST(a_pull_is_cancelled_before_anything_is_asked_and_while_it_fetches) {
        const ImagePull pull = { .reference = "localhost:5000/a" };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "early", /* refused= */ NULL);
        MakingInfo info;
        Making *k;

        trial_registry(&w, i, "#!/bin/sh\nexec sleep 100\n");
        check_result("pull", images_pull(i, &admin, &pull, &k, &error), 0);
        making_cancel(k);
        making_cancel(k);
        check_over("at once", k, MAKING_CANCELLED);
        n_ended = 0;
        check_result("pull", images_pull(i, &admin, &pull, &k, &error), 0);
        settle(/* k= */ NULL);
        check_uint("not over", n_ended, 0);
        check_string("step", sequence_step(&k->works->run)->name, "fetch");
        making_cancel(k);
        settle(k);
        check_over("fetching", k, MAKING_CANCELLED);
        making_info(k, &info);
        check_string("why", info.error, "cancelled; finished layers are kept");
        depot_close(&w, i);
}

TEST(two_want_one_layer_and_the_first_leaves) {
        const ImagePull one = { .reference = "localhost:5000/a" }, two = { .reference = "localhost:5000/b" };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "two", /* refused= */ NULL);
        Making *k, *l;

        trial_registry(&w, i, PULLED);
        check_result("first", images_pull(i, &admin, &one, &k, &error), 0);
        check_result("second", images_pull(i, &admin, &two, &l, &error), 0);
        depot_fail(1, IS_CANCELLED, k);
        settle(k);
        settle(l);
        check_uint("both", n_ended, 2);
        n_ended = 1;
        check_over("first", k, MAKING_CANCELLED);
        check_over("second", l, MAKING_DONE);
        check_true("it has it", images_find(i, "", "b") && !images_find(i, "", "a"));
        depot_close(&w, i);
}

static bool is_at_layers(const Making *k) {
        return k->works && strcmp(sequence_step(&k->works->run)->name, "layers") == 0;
}

TEST(a_tenant_that_waits_for_anothers_layer_has_a_quota_of_its_own) {
        static const Principal who[] = { { .kind = PRINCIPAL_USE_KEY, .tenant = "red" }, { .kind = PRINCIPAL_USE_KEY, .tenant = "blue" } };
        const ImagePull pull = { .reference = "localhost:5000/a" };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "quota", /* refused= */ NULL);
        MakingInfo info;
        Making *k[2];
        size_t first;

        trial_registry(&w, i, PULLED_INTO);
        for (size_t n = 0; n < 2; n++)
                check_result(who[n].tenant, images_pull(i, who + n, &pull, k + n, &error), 0);
        for (unsigned n = 0; n < 600 && !(is_at_layers(k[0]) && is_at_layers(k[1])); n++) {
                (void) sd_event_run(w.event, 50000);
                while (depot.n_queue > 0 && depot.queue[0].request.operation == TREE_LIST)
                        depot_answer();
        }
        depot_fail(1, FAILS_LATER, NULL);
        depot.code = -EDQUOT;
        settle(k[0]);
        settle(k[1]);
        check_uint("both", n_ended, 2);
        n_ended = 1;
        first = images_find(i, "red", "a") ? 1 : 0;
        check_over("whose quota it is", k[first], MAKING_FAILED);
        making_info(k[first], &info);
        check_part("why", info.error, "quotas.diskMB");
        check_over("who waited", k[1 - first], MAKING_DONE);
        depot_close(&w, i);
}

/* Pushes. */

#define PUSHED "#!/bin/sh\n[ $1 = push ] || echo '{\"result\":{\"manifestDigest\":\"sha256:" B "\"}}'\n"

static unsigned count_temporaries(const Images *i) {
        DIR *d = opendir(i->blobs_path);
        unsigned n = 0;

        for (const struct dirent *e; (e = readdir(d));)
                n += strncmp(e->d_name, "pack-", 5) == 0 || strncmp(e->d_name, "config-", 7) == 0;
        (void) closedir(d);
        return n;
}

static void try_push(const char *script, unsigned at, Way way) {
        const bool whole = at == NEVER && strcmp(script, PUSHED) == 0;
        Image image = { .digest = "sha256:" A, .layer = A };
        Error error = { 0 };
        World w;
        Images *i = trial_open(&w, "push", /* refused= */ NULL);
        Making *k = NULL;

        trial_registry(&w, i, script);
        put_layer(i, A);
        check_result("image", images_put(i, "", "a:1", &image, &error), 0);
        image_done(&image);
        check_result("push", images_push(i, &admin, "a:1", "localhost:5000/a", NULL, &k, &error), 0);
        depot_fail(at, way, k);
        settle(k);
        check_over(script, k, whole ? MAKING_DONE : way == IS_CANCELLED && at != NEVER ? MAKING_CANCELLED : MAKING_FAILED);
        check_uint("files that are left", count_temporaries(i), 0);
        depot_close(&w, i);
}

TEST(each_step_of_a_push_fails) {
        try_push(PUSHED, NEVER, FAILS_LATER);
        try_push("#!/bin/sh\nexit 0\n", NEVER, FAILS_LATER);
        try_push("#!/bin/sh\n[ $1 = push ] && exit 1\necho '{\"result\":{\"manifestDigest\":\"sha256:" B "\"}}'\n", NEVER, FAILS_LATER);
        for (Way way = 0; way < _WAY_MAX; way++)
                try_push(PUSHED, 0, way);
}
