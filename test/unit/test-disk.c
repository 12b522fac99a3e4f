/* Disks of persistent sandboxes: made after the row and before the sandbox, gone after it, whoever dies in between. */
#include "core/disk.h"
#include "core/quarantine.h"
#include "core/trees.h"
#include "world.h"

static Sandbox *create_persistent(World *w, const char *snapshot, Answer *a) {
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.persistent = true;
        spec.limits.disk_bytes = 7 << 20;
        spec.snapshot = snapshot ? strdup(snapshot) : NULL;
        check_result("create", manager_create(w->manager, &admin, &spec, &sb, &existing, on_done, a, &error), 0);
        sandbox_spec_done(&spec);
        return sb;
}

static void answer_tree(World *w, const Error *error) {
        w->fake.provider.events->tree_done(w->fake.tree_token, 0, 4096, error, w->manager);
}

static bool row_is_there(World *w) {
        bool found = false;

        (void) store_sandbox_each(w->store, find_row, &found);
        return found;
}

static Sandbox *create_persistent_ready(World *w, Answer *a) {
        Sandbox *sb = create_persistent(w, NULL, a);

        answer_tree(w, NULL);
        w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
        return sb;
}

TEST(row_disk_and_sandbox_come_in_this_order) {
        World w;
        Answer a = { 0 };
        Sandbox *sb;

        world_new(&w, "disk-order");
        sb = create_persistent(&w, "snap1", &a);
        check_uint("nothing is made yet", w.fake.n_created, 0);
        check_true("row", row_is_there(&w));
        check_uint("operation", w.fake.tree.operation, TREE_MAKE);
        check_string("name", w.fake.tree.refs[0].name, sb->id);
        check_uint("from", w.fake.tree.refs[1].kind, TREE_SNAPSHOT);
        check_string("from", w.fake.tree.refs[1].name, "snap1");
        check_uint("limit", w.fake.tree.bytes, 7 << 20);
        answer_tree(&w, NULL);
        check_uint("made", w.fake.n_created, 1);
        w.fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w.manager);
        check_uint("answered", a.n, 1);
        check_result("well", a.code, 0);
        world_close(&w);
}

TEST(a_disk_that_cannot_be_made_fails_the_create_and_leaves_nothing) {
        World w;
        Answer a = { 0 };
        Sandbox *sb;

        world_new(&w, "disk-fails");
        sb = create_persistent(&w, NULL, &a);
        answer_tree(&w, &(Error) { -ENOSPC, "the depot is full" });
        check_uint("no sandbox was made", w.fake.n_created, 0);
        check_string("destroyed", w.fake.destroyed[0], sb->id);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_uint("and its disk", w.fake.tree.operation, TREE_REMOVE);
        check_uint("not answered before", a.n, 0);
        answer_tree(&w, NULL);
        check_uint("answered", a.n, 1);
        check_result("code", a.code, -ENOSPC);
        check_true("reason", strstr(a.text, "the depot is full") != NULL);
        check_true("row", !row_is_there(&w));
        world_close(&w);
}

TEST(a_disk_goes_after_its_sandbox_and_is_tried_until_it_is_gone) {
        World w;
        Answer a = { 0 }, deleted = { 0 };
        Sandbox *sb;

        world_new(&w, "disk-goes");
        sb = create_persistent_ready(&w, &a);
        sandbox_delete(sb, true, on_done, &deleted);
        check_true("not while it lives", w.fake.tree.operation != TREE_REMOVE);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_uint("then", w.fake.tree.operation, TREE_REMOVE);
        check_true("row stays until then", row_is_there(&w));
        answer_tree(&w, &(Error) { -ECONNRESET, "the spawner died" });
        check_uint("waits", deleted.n, 0);
        w.fake.tree.operation = 0;
        while (w.fake.tree.operation != TREE_REMOVE)
                check_true("loop", sd_event_run(w.event, 60 * USEC_PER_SEC) > 0);
        answer_tree(&w, NULL);
        check_uint("answered", deleted.n, 1);
        check_result("well", deleted.code, 0);
        check_true("row", !row_is_there(&w));
        world_close(&w);
}

TEST(a_delete_while_it_is_made_waits_for_what_becomes_of_it) {
        World w;
        Answer a = { 0 }, deleted = { 0 };
        uint64_t making;
        Sandbox *sb;

        world_new(&w, "disk-cancelled");
        sb = create_persistent(&w, NULL, &a);
        making = w.fake.tree_token;
        sandbox_delete(sb, true, on_done, &deleted);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_uint("a removal now might come first", w.fake.tree.operation, TREE_MAKE);
        w.fake.provider.events->tree_done(making, 0, 0, NULL, w.manager);
        check_uint("removed", w.fake.tree.operation, TREE_REMOVE);
        check_uint("never started", w.fake.n_created, 0);
        answer_tree(&w, NULL);
        check_uint("both are told", a.n + deleted.n, 2);
        world_close(&w);
}

TEST(an_ended_one_has_no_disk_and_its_record_stays) {
        World w;
        Answer a = { 0 }, deleted = { 0 };
        Sandbox *sb;
        unsigned n;

        world_new(&w, "disk-ended");
        sb = create_persistent_ready(&w, &a);
        sandbox_finish(sb, SANDBOX_COMPLETED, "done");
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        answer_tree(&w, NULL);
        check_string("status", sandbox_status_name(sb->status), "completed");
        n = w.fake.n_trees;
        sandbox_delete(sb, true, on_done, &deleted);
        check_uint("forgotten at once", deleted.n, 1);
        check_uint("without asking again", w.fake.n_trees, n);
        world_close(&w);
}

TEST(usage_is_what_was_told_last) {
        World w;
        Answer a = { 0 };
        SandboxUsage u = { 0 };
        Sandbox *sb;

        world_new(&w, "disk-usage");
        sb = create_persistent_ready(&w, &a);
        check_result("usage", sandbox_usage(sb, &u), 0);
        check_true("not known yet", !u.has_disk);
        check_uint("asked", w.fake.tree.operation, TREE_USAGE);
        answer_tree(&w, NULL);
        check_result("usage", sandbox_usage(sb, &u), 0);
        check_true("known", u.has_disk);
        check_uint("bytes", u.disk_bytes, 4096);
        world_close(&w);
}

TEST(a_start_puts_aside_what_no_row_explains) {
        World w;
        Answer a = { 0 };
        TreeRef own, other = tree_ref(TREE_DISK, "nobodys0000000000000x");
        Sandbox *sb;
        char id[SANDBOX_ID_LENGTH + 1];
        unsigned n;

        world_new(&w, "disk-sweep");
        check_uint("a start looks", w.fake.tree.operation, TREE_LIST);
        sb = create_persistent_ready(&w, &a);
        memcpy(id, sb->id, sizeof(id));
        world_close(&w);

        world_open(&w);
        w.fake.provider.events->up(&w.fake.provider, w.manager);
        w.fake.provider.events->adopted(w.fake.adopted, NULL, w.manager);
        w.fake.provider.events->listed(NULL, w.manager);
        check_uint("looks again", w.fake.tree.operation, TREE_LIST);
        n = w.fake.n_trees;
        own = tree_ref(TREE_DISK, id);
        w.fake.provider.events->tree_item(w.fake.tree_token, &own, 0, w.manager);
        check_uint("one with a row stays", w.fake.n_trees, n);
        w.fake.provider.events->tree_item(w.fake.tree_token, &other, 0, w.manager);
        answer_tree(&w, NULL);
        check_true("one with a row is no stranger", !quarantine_find(w.manager, QUARANTINE_DISK, id));
        check_true("one without is put aside", quarantine_find(w.manager, QUARANTINE_DISK, other.name) != NULL);
        check_true("and is there still", w.fake.n_trees == n || w.fake.tree.operation != TREE_REMOVE);
        world_close(&w);
}
