/* Ids that show the node that a sandbox belongs to. */
#include "base/id.h"
#include "core/home.h"
#include "core/prefix.h"
#include "world.h"

#define IDS (64 * 1000)

static int compare_tags(const void *a, const void *b) {
        return memcmp(a, b, ID_TAG_LENGTH);
}

static void make_id(World *w, char ret[static ID_LENGTH + 1]) {
        Error error = { 0 };

        check_result("id", home_make_id(w->manager, ret, &error), 0);
        check_true(ret, id_is_valid(ret));
}

/* In order. */
static void tags_of(World *w, char (*ret)[ID_TAG_LENGTH + 1]) {
        memcpy(ret, w->manager->home->tags, sizeof(w->manager->home->tags));
        qsort(ret, HOME_TAGS, sizeof(*ret), compare_tags);
}

static bool has_tag(char (*tags)[ID_TAG_LENGTH + 1], const char *id) {
        return bsearch(id + 1, tags, HOME_TAGS, sizeof(*tags), compare_tags);
}

static void write_key(const World *w, const char *text) {
        char path[600];
        _cleanup_close_ int fd = -EBADF;

        (void) snprintf(path, sizeof(path), "%s/node.key", w->state);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        check_result("node.key", fd < 0 ? -errno : fd_write_all(fd, text, strlen(text)), 0);
}

TEST(a_node_uses_64_tags_evenly) {
        static char ids[IDS][ID_LENGTH + 1], tags[HOME_TAGS][ID_TAG_LENGTH + 1];
        unsigned n = 0, letters['z' + 1] = { 0 };
        World w;

        world_new(&w, "home-even");
        tags_of(&w, tags);
        for (size_t i = 0; i < IDS; i++) {
                make_id(&w, ids[i]);
                check_true(ids[i], has_tag(tags, ids[i]));
                letters[(unsigned char) ids[i][0]]++;
        }
        for (unsigned c = 'a'; c <= 'z'; c++) /* 2462 each; one in ten billion runs has one outside */
                check_true("first letters", letters[c] > 2000 && letters[c] < 2950);
        qsort(ids, IDS, sizeof(ids[0]), (int (*)(const void *, const void *)) strcmp);
        for (size_t i = 1; i < IDS; i++)
                check_true("different", strcmp(ids[i - 1], ids[i]) != 0);
        for (size_t i = 0; i < HOME_TAGS; i++, n = 0) {
                for (size_t k = 0; k < IDS; k++)
                        n += memcmp(ids[k] + 1, tags[i], ID_TAG_LENGTH) == 0;
                check_true(tags[i], n > 770 && n < 1230); /* 1000 expected, deviation 31 */
        }
        world_close(&w);
}

TEST(the_rest_of_an_id_is_random) {
        unsigned counts[ID_LENGTH]['z' + 1] = { 0 };
        char id[ID_LENGTH + 1];
        World w;

        world_new(&w, "home-random");
        for (unsigned i = 0; i < 36000; i++) {
                make_id(&w, id);
                for (size_t k = 0; k < ID_LENGTH; k++)
                        counts[k][(unsigned char) id[k]]++;
        }
        for (size_t k = 1 + ID_TAG_LENGTH; k < ID_LENGTH; k++)
                for (const char *c = "abcdefghijklmnopqrstuvwxyz0123456789"; *c; c++)
                        check_true("about 1000", counts[k][(unsigned char) *c] > 750 && counts[k][(unsigned char) *c] < 1350);
        world_close(&w);
}

TEST(two_nodes_have_different_tags) {
        char tags[HOME_TAGS][ID_TAG_LENGTH + 1], id[ID_LENGTH + 1];
        World a, b;

        world_new(&a, "home-a");
        tags_of(&a, tags);
        world_close(&a);
        world_new(&b, "home-b");
        for (unsigned i = 0; i < 1000; i++) {
                make_id(&b, id);
                check_true(id, !has_tag(tags, id));
        }
        world_close(&b);
}

TEST(a_restart_keeps_tags_and_incarnation) {
        char before[HOME_TAGS][ID_TAG_LENGTH + 1], after[HOME_TAGS][ID_TAG_LENGTH + 1];
        World w;

        world_new(&w, "home-restart");
        tags_of(&w, before);
        check_uint("at first", w.manager->home->incarnation, 1);
        check_result("declared dead twice", store_counter_set(w.store, "incarnation", 3), 0);
        world_close(&w);
        world_open(&w);
        tags_of(&w, after);
        check_true("the same", memcmp(before, after, sizeof(before)) == 0);
        check_uint("kept", w.manager->home->incarnation, 3);
        world_close(&w);
}

/* Ids that exist would lead nowhere if the tags of a key ever changed. */
TEST(a_key_has_its_tags_for_ever) {
        World w;

        world_new(&w, "home-derived");
        world_close(&w);
        write_key(&w, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n");
        world_open(&w);
        check_string("first", w.manager->home->tags[0], "xooor");
        check_string("second", w.manager->home->tags[1], "if371");
        check_string("last", w.manager->home->tags[63], "8tfbk");
        world_close(&w);
}

/* Those of sandboxes that were made before there were tags, or that came with the disk of another node. */
TEST(other_ids_stay_valid) {
        char tags[HOME_TAGS][ID_TAG_LENGTH + 1], id[ID_LENGTH + 1], start[PREFIX_MIN + 1];
        Sandbox *sb = NULL, *fresh;
        Error error = { 0 };
        World w;

        world_new(&w, "home-others");
        memcpy(id, create_ready(&w, "old")->id, sizeof(id));
        (void) snprintf(start, sizeof(start), "%.*s", PREFIX_MIN, id);
        world_close(&w);
        write_key(&w, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        world_open(&w);
        tags_of(&w, tags);
        check_true("another tag", !has_tag(tags, id));
        check_true("found", manager_find(w.manager, &admin, id) != NULL);
        check_result("by its beginning", manager_resolve(w.manager, &admin, start, &sb, &error), 0);
        check_true("the same", sb && strcmp(sb->id, id) == 0);
        world_close(&w);
        world_new(&w, "home-fresh");
        tags_of(&w, tags);
        fresh = create_ready(&w, "new");
        check_true("tagged", has_tag(tags, fresh->id));
        world_close(&w);
}

static void check_start(World *w, int expected, const char *text) {
        const ManagerConfig config = { .state_dir = w->state, .sandboxes_max = 16 };
        char path[600];
        Error error = { 0 };

        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        check_result("loop", sd_event_new(&w->event) < 0, 0);
        check_result("store", store_open(path, &w->store, &error), 0);
        check_result("access", access_new(w->store, w->state, &w->access, &error), 0);
        check_result("settings", config_defaults(&w->settings), 0);
        check_result("manager", manager_new(&config, w->settings, w->event, w->store, w->access, &w->manager, &error), expected);
        if (expected < 0)
                w->manager = NULL;
        check_part("error", error.text, text);
        world_close(w);
}

TEST(a_damaged_key_is_not_replaced) {
        static const char *const damaged[] = { "", "\n", "000102", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g\n",
                                               "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n\n",
                                               "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f000102030405060708090a0b0c0d0e0f" };
        World w;

        world_new(&w, "home-damaged");
        world_close(&w);
        for (size_t i = 0; i < ELEMENTSOF(damaged); i++) {
                write_key(&w, damaged[i]);
                check_start(&w, -EBADMSG, "there is no key in 'node.key': put the right file back");
        }
        write_key(&w, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        check_start(&w, 0, "");
}
