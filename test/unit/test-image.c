/* Templates: names, chain ids, rows, who sees what, makings across a restart, and clean-up that is cut off. */
#include "world.h"

#include "core/secret.h"
#include "image/internal.h"

#define A "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
#define B "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
#define C "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"

TEST(chain_ids_as_oci_has_them) {
        char chain[DIGEST_HEX + 1];

        check_result("random", secret_init(), 0);
        chain_id("", "sha256:" A, chain);
        check_string("the first", chain, A);
        chain_id(A, "sha256:" B, chain);
        check_string("the second", chain, "51c0c8ace48498d6f5fee6b0592cc06f2da0f3cbe09c5a34a97dce85c3889676");
        chain_id("51c0c8ace48498d6f5fee6b0592cc06f2da0f3cbe09c5a34a97dce85c3889676", "sha256:" C, chain);
        check_string("the third", chain, "2fce7f8ce91bcf0a1428b36e1024639fdbd9469eea762dba98aa749631885106");
}

TEST(names_of_templates) {
        static const struct {
                const char *text, *name, *tag;
        } good[] = {
                { "a", "a", "latest" },
                { "python:3.12-slim", "python", "3.12-slim" },
                { "team/app_x.y-z:V1", "team/app_x.y-z", "V1" },
                { "0:_", "0", "_" },
        };
        static const char *const bad[] = { "", ":", "A", "a:", "/a", "a/", "a//b", "-a", "a-", "a b", "a:b c", "a:.x", "ä", "a:ä", "../x", "a/../b", ".", "a:b:c",
                                           "a@b", "a\n" };
        TemplateName name;
        char text[400];

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                check_result(good[i].text, template_name_parse(good[i].text, &name, NULL), 0);
                check_string("name", name.name, good[i].name);
                check_string("tag", name.tag, good[i].tag);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_result(bad[i], template_name_parse(bad[i], &name, NULL), -EINVAL);
        memset(text, 'a', sizeof(text));
        text[TEMPLATE_NAME_MAX] = '\0';
        check_result("as long as can be", template_name_parse(text, &name, NULL), 0);
        text[TEMPLATE_NAME_MAX] = 'a';
        text[TEMPLATE_NAME_MAX + 1] = '\0';
        check_result("too long", template_name_parse(text, &name, NULL), -EINVAL);
}

TEST(references_to_registries) {
        static const struct {
                const char *text, *full, *name, *host;
        } good[] = {
                { "python", "python:latest", "python", "docker.io" },
                { "docker.io/library/python:3", "python:3", "python", "docker.io" },
                { "team/app", "team/app:latest", "team/app", "docker.io" },
                { "localhost:5000/a/b:1", "localhost:5000/a/b:1", "a/b", "localhost:5000" },
                { "localhost/a", "localhost/a:latest", "a", "localhost" },
                { "ghcr.io/x/y@sha256:" A, "ghcr.io/x/y:latest@sha256:" A, "x/y", "ghcr.io" },
        };
        static const char *const bad[] = { "", "/", "a@sha256:12", "a@md5:x", "host.x/", "A", "localhost:5000/A", "a:b/c:d:e" };
        ReferenceName name;
        char host[300];

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                check_result(good[i].text, reference_name(good[i].text, &name, NULL), 0);
                check_string("full", name.full, good[i].full);
                check_string("name", name.name.name, good[i].name);
                reference_host(good[i].text, host, sizeof(host));
                check_string("host", host, good[i].host);
                check_int("another's", name.has_host, strcmp(host, "docker.io") != 0);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_result(bad[i], reference_name(bad[i], &name, NULL), -EINVAL);
}

TEST(digests_and_their_beginnings) {
        check_true("whole", image_digest_is_valid("sha256:" A));
        check_true("no prefix", !image_digest_is_valid(A));
        check_true("short", !image_digest_is_valid("sha256:ca97"));
        check_string("twelve", image_digest_short("ca978112ca1b"), "ca978112ca1b");
        check_string("with its prefix", image_digest_short("sha256:ca978112ca1b"), "ca978112ca1b");
        check_true("eleven", !image_digest_short("ca978112ca1"));
        check_true("no digit", !image_digest_short("ca978112ca1x"));
}

/* Objects. */

static Images *open_images(World *w) {
        Error error = { 0 };
        Images *i = NULL;

        check_result("random", secret_init(), 0);
        check_result("images", images_new(w->manager, &i, &error), 0);
        return i;
}

static void put_layer(Images *i, const char *chain, const char *parent, uint64_t bytes) {
        StoreLayer row = { .bytes = bytes, .created_at = 1 };

        (void) snprintf(row.chain, sizeof(row.chain), "%s", chain);
        (void) snprintf(row.parent, sizeof(row.parent), "%s", parent);
        check_result("layer", images_layer_put(i, &row), 0);
}

static void put_image(Images *i, const char *tenant, const char *name, const char *digest, const char *layer) {
        Image image = { .config.env = STRV_INIT(IMAGE_STRINGS_MAX) };
        Error error = { 0 };

        (void) snprintf(image.digest, sizeof(image.digest), "sha256:%s", digest);
        (void) snprintf(image.layer, sizeof(image.layer), "%s", layer);
        image.source = strdup("test");
        check_result("env", strv_push(&image.config.env, "X=1"), 0);
        check_result(name ? name : "no name", images_put(i, tenant, name, &image, &error), 0);
        image_done(&image);
}

static const char *digest_of(Images *i, const char *tenant, const char *name) {
        const Image *image = images_find(i, tenant, name);

        return image ? image->digest : "none";
}

TEST(each_tenant_sees_its_own_before_everybodys) {
        TemplateInfo info;
        Error error = { 0 };
        World w;
        Images *i;

        world_new(&w, "tenants");
        i = open_images(&w);
        put_layer(i, A, "", 100);
        put_image(i, "", "tools", A, A);
        put_image(i, "red", "tools", B, A);
        for (int round = 0; round < 2; round++) {
                check_string("red", digest_of(i, "red", "tools:latest"), "sha256:" B);
                check_string("blue", digest_of(i, "blue", "tools"), "sha256:" A);
                check_string("nobody", digest_of(i, NULL, "tools"), "sha256:" A);
                check_string("by digest", digest_of(i, "red", "3e23e8160039"), "sha256:" B);
                check_string("of another", digest_of(i, "blue", "3e23e8160039"), "none");
                images_free(i); /* again, out of the store */
                i = open_images(&w);
        }
        check_result("info", images_get_info(i, "blue", "tools", &info, &error), 0);
        check_uint("bytes", info.bytes, 100);
        check_uint("shared", info.shared_bytes, 100);
        check_string("env", info.image->config.env.items[0], "X=1");
        check_result("near", images_get_info(i, "blue", "tolos", &info, &error), -ENOENT);
        check_part("guess", error.text, "did you mean 'tools:latest'");
        check_result("tag", images_get_info(i, "blue", "tools:2", &info, &error), -ENOENT);
        check_result("not theirs", images_remove(i, "blue", "tools", &error), -EPERM);
        check_result("theirs", images_remove(i, "red", "tools", &error), 0);
        check_string("everybody's again", digest_of(i, "red", "tools"), "sha256:" A);
        images_free(i);
        world_close(&w);
}

TEST(some_names_are_taken) {
        Image image = { 0 };
        Error error = { 0 };
        World w;
        Images *i;

        world_new(&w, "reserved");
        i = open_images(&w);
        check_result("host", images_put(i, "", "host:x", &image, &error), -EINVAL);
        check_part("why", error.text, "started with");
        check_result("base", images_put(i, "", "base", &image, &error), -EINVAL);
        check_result("bad", images_put(i, "", "Host", &image, &error), -EINVAL);
        images_free(i);
        world_close(&w);
}

TEST(a_template_whose_layer_is_gone_says_so) {
        TemplateView view;
        Error error = { 0 };
        World w;
        Images *i;

        world_new(&w, "broken");
        i = open_images(&w);
        put_image(i, "", "broken", A, C);
        check_result("refused", w.manager->templates->find("", "broken", &view, &error, w.manager->templates->userdata), -EUCLEAN);
        check_part("cure", error.text, "again");
        put_layer(i, C, "", 1);
        check_result("there", w.manager->templates->find("", "broken", &view, &error, w.manager->templates->userdata), 1);
        check_string("layer", view.layer, C);
        check_true("an image without a user means root", view.has_user && view.uid == 0);
        images_free(i);
        check_true("nobody keeps them", !w.manager->templates);
        world_close(&w);
}

TEST(the_cache_is_each_tenants_own) {
        char snapshot[TREE_NAME_MAX + 1];
        World w;
        Images *i;

        world_new(&w, "cache");
        i = open_images(&w);
        check_result("put", images_cache_put(i, "red", A, "tree1"), 0);
        images_free(i);
        i = open_images(&w);
        check_result("get", images_cache_get(i, "red", A, snapshot), 1);
        check_string("which", snapshot, "tree1");
        check_result("of another", images_cache_get(i, "blue", A, snapshot), 0);
        check_result("another", images_cache_get(i, "red", B, snapshot), 0);
        check_result("owned", store_image_snapshot_exists(w.store, "tree1"), 1);
        check_result("not owned", store_image_snapshot_exists(w.store, "tree2"), 0);
        images_free(i);
        world_close(&w);
}

/* Makings. */

static void count_changes(Making *k, void *userdata) {
        (*(unsigned *) userdata)++;
}

TEST(a_making_has_a_log_and_one_end) {
        const Principal red = { .kind = PRINCIPAL_USE_KEY, .tenant = "red" }, blue = { .kind = PRINCIPAL_USE_KEY, .tenant = "blue" };
        static const Error why = { -EBADMSG, "it is broken" };
        unsigned n = 0;
        MakingWatch watch = { .changed = count_changes, .userdata = &n };
        MakingInfo info;
        Error error = { 0 };
        char id[MAKING_ID_LENGTH + 1], text[64];
        World w;
        Images *i;
        Making *k;
        int fd;

        world_new(&w, "makings");
        i = open_images(&w);
        check_result("begin", making_new(i, &red, MAKING_PULL, "x:1", &k, &error), 0);
        (void) snprintf(id, sizeof(id), "%s", making_id(k));
        making_watch(k, &watch);
        making_log(k, "line %d", 1);
        check_uint("told", n, 1);
        check_true("found", making_find(i, &red, id) == k);
        check_true("not by others", !making_find(i, &blue, id));
        making_end(k, NULL, &why);
        making_end(k, NULL, NULL);
        making_info(k, &info);
        check_int("failed", info.status, MAKING_FAILED);
        check_string("why", info.error, "it is broken");
        fd = making_open_log(k);
        check_int("log", (int) fd_read_full(fd, text, 7), 7);
        check_true("its line", memcmp(text, "line 1\n", 7) == 0);
        (void) fd_close(fd);
        images_free(i);
        world_close(&w);
}

TEST(a_restart_ends_what_was_under_way) {
        const Principal who = { .kind = PRINCIPAL_ADMIN };
        MakingInfo info;
        Error error = { 0 };
        char id[MAKING_ID_LENGTH + 1];
        World w;
        Images *i;
        Making *k;

        world_new(&w, "interrupted");
        i = open_images(&w);
        check_result("begin", making_new(i, &who, MAKING_BUILD, "x:1", &k, &error), 0);
        (void) snprintf(id, sizeof(id), "%s", making_id(k));
        images_free(i);
        i = open_images(&w);
        k = making_find(i, &who, id);
        check_true("is there", k != NULL);
        making_info(k, &info);
        check_int("failed", info.status, MAKING_FAILED);
        check_part("why", info.error, "interrupted by a restart");
        check_true("ended", info.ended_at > 0);
        images_free(i);
        world_close(&w);
}

/* Clean-up. */

static void settle(World *w) {
        while (sd_event_run(w->event, 0) > 0)
                ;
}

static void answer_tree(World *w, const Error *error) {
        uint64_t token = w->fake.tree_token;

        w->fake.tree_token = 0;
        w->fake.provider.events->tree_done(token, 0, 0, error, w->manager);
}

static void item(World *w, const char *name) {
        TreeRef ref = tree_ref(TREE_LAYER, name);

        w->fake.provider.events->tree_item(w->fake.tree_token, &ref, 7, w->manager);
}

static void nothing(const char *kind, const char *name, uint64_t bytes, void *userdata) {
}

TEST(gc_takes_what_nobody_uses_and_goes_on_after_a_death) {
        const Principal who = { .kind = PRINCIPAL_ADMIN };
        ImagesWaste waste;
        Error error = { 0 };
        MakingInfo info;
        uint64_t removal;
        World w;
        Images *i;
        Making *k;

        world_new(&w, "gc");
        i = open_images(&w);
        put_layer(i, A, "", 10);
        put_layer(i, B, A, 5); /* of nobody */
        put_image(i, "", "kept", A, A);
        put_image(i, "", NULL, C, B); /* has no name */
        check_result("waste", images_waste(i, nothing, NULL, &waste), 0);
        check_uint("images", waste.images, 1);
        check_uint("layers", waste.layers, 1);
        check_uint("bytes", waste.bytes, 5);

        check_result("gc", images_gc(i, &who, &k, &error), 0);
        settle(&w);
        check_uint("first they are listed", w.fake.tree.operation, TREE_LIST);
        item(&w, A);
        item(&w, B);
        answer_tree(&w, NULL);
        check_uint("snapshots too", w.fake.tree.refs[0].kind, TREE_SNAPSHOT);
        answer_tree(&w, NULL);
        settle(&w);
        check_uint("then removed", w.fake.tree.operation, TREE_REMOVE);
        check_string("the one", w.fake.tree.refs[0].name, B);

        images_free(i); /* dies before it is answered */
        i = open_images(&w);
        check_true("is not counted on", !images_layer(i, B));
        settle(&w);
        check_uint("listed again", w.fake.tree.operation, TREE_LIST);
        item(&w, A);
        item(&w, B);
        removal = w.fake.tree_token + 1; /* asked before the list of snapshots */
        answer_tree(&w, NULL);
        check_uint("snapshots again", w.fake.tree.operation, TREE_LIST);
        answer_tree(&w, NULL);
        w.fake.provider.events->tree_done(removal, 0, 0, NULL, w.manager);
        check_true("kept", images_layer(i, A) != NULL);
        check_uint("rows", HASH_COUNT(i->layers), 1);

        check_result("nothing is left", images_gc(i, &who, &k, &error), 0);
        settle(&w);
        making_info(k, &info);
        check_int("done", info.status, MAKING_DONE);
        images_free(i);
        world_close(&w);
}

TEST(what_is_held_is_not_waste) {
        const Principal who = { .kind = PRINCIPAL_ADMIN };
        ImagesWaste waste;
        Error error = { 0 };
        World w;
        Images *i;
        Making *k;

        world_new(&w, "held");
        i = open_images(&w);
        put_layer(i, A, "", 10);
        put_layer(i, B, A, 5);
        check_result("begin", making_new(i, &who, MAKING_PULL, "x", &k, &error), 0);
        check_result("hold", making_hold(k, B), 0);
        check_result("waste", images_waste(i, nothing, NULL, &waste), 0);
        check_uint("its parent neither", waste.layers, 0);
        making_end(k, NULL, NULL);
        check_result("waste", images_waste(i, nothing, NULL, &waste), 0);
        check_uint("afterwards", waste.layers, 2);
        images_free(i);
        world_close(&w);
}

TEST(trees_and_rows_are_compared_after_a_start) {
        const Principal who = { .kind = PRINCIPAL_ADMIN };
        Error error = { 0 };
        unsigned before;
        World w;
        Images *i;
        Making *k;

        world_new(&w, "reconcile");
        settle(&w);
        before = w.fake.n_trees; /* the core looks for disks */
        i = open_images(&w);
        settle(&w);
        check_uint("nobody makes a depot by looking", w.fake.n_trees, before);
        put_layer(i, A, "", 10);
        put_image(i, "", "lost", A, A);
        check_result("something to do", images_gc(i, &who, &k, &error), 0);
        settle(&w);
        item(&w, B); /* finished when we were cut off; A is not there */
        answer_tree(&w, NULL);
        check_true("is kept", HASH_COUNT(i->layers) >= 1 && !images_layer(i, A));
        check_true("says so", images_problem(i, images_find(i, "", "lost")) != NULL);
        images_free(i);
        world_close(&w);
}
