/* Calls about trees, runs of cove-tree and what it says, templates that somebody keeps. */
#include "core/template.h"
#include "core/trees.h"
#include "world.h"

typedef struct Told {
        unsigned n, n_items, n_progress;
        int code;
        char text[256], result[256], last[256];
        uint64_t bytes;
        TreeCall *forget; /* by whoever is told of progress */
} Told;

static void on_tree(const TreeAnswer *answer, const Error *error, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->code = error ? error->code : 0;
        t->bytes = answer->bytes;
        (void) snprintf(t->text, sizeof(t->text), "%.255s", error ? error->text : "");
}

static void on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Told *t = userdata;

        t->n_items++;
        t->bytes += bytes;
}

static void on_progress(const char *line, void *userdata) {
        Told *t = userdata;

        t->n_progress++;
        (void) snprintf(t->last, sizeof(t->last), "%.255s", line);
        if (t->forget)
                tree_call_forget(TAKE_PTR(t->forget));
}

static void on_run(const char *result, const Error *error, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->code = error ? error->code : 0;
        (void) snprintf(t->text, sizeof(t->text), "%.255s", error ? error->text : "");
        (void) snprintf(t->result, sizeof(t->result), "%.255s", result ? result : "");
}

static const TreeRunEvents run_events = { .progress = on_progress, .done = on_run };

static void tell_done(World *w, uint64_t token, int status, uint64_t bytes, const Error *error) {
        w->fake.provider.events->tree_done(token, status, bytes, error, w->manager);
}

TEST(an_answer_comes_once_and_to_its_asker) {
        TreeRef a = tree_ref(TREE_DISK, "abc"), b = tree_ref(TREE_SNAPSHOT, "s1");
        Told first = { 0 }, second = { 0 };
        Error error = { 0 };
        uint64_t token;
        World w;

        world_new(&w, "trees-answers");
        check_result("make", trees_make(w.manager, &a, &b, 4096, on_tree, &first, NULL, &error), 0);
        check_uint("operation", w.fake.tree.operation, TREE_MAKE);
        check_uint("limit", w.fake.tree.bytes, 4096);
        check_uint("refs", w.fake.tree.n_refs, 2);
        check_string("from", w.fake.tree.refs[1].name, "s1");
        token = w.fake.tree_token;
        check_result("remove", trees_remove(w.manager, &a, on_tree, &second, NULL, &error), 0);
        check_uint("not from within", first.n + second.n, 0);
        tell_done(&w, w.fake.tree_token, 0, 0, &(Error) { -ECONNRESET, "the spawner died" });
        check_uint("second", second.n, 1);
        check_result("second", second.code, -ECONNRESET);
        check_uint("first waits", first.n, 0);
        tell_done(&w, token, 0, 7, NULL);
        tell_done(&w, token, 0, 8, NULL);
        check_uint("first, once", first.n, 1);
        check_uint("bytes", first.bytes, 7);
        world_close(&w);
}

TEST(items_come_before_the_end_and_nobody_is_told_who_has_gone) {
        TreeRequest list = { .operation = TREE_LIST, .n_refs = 1 };
        Told t = { 0 }, gone = { 0 };
        TreeRef ref = tree_ref(TREE_DISK, "x");
        Error error = { 0 };
        TreeCall *call;
        World w;

        world_new(&w, "trees-items");
        list.refs[0].kind = TREE_DISK;
        check_result("ask", trees_ask(w.manager, &list, NULL, on_item, on_tree, &t, NULL, &error), 0);
        w.fake.provider.events->tree_item(w.fake.tree_token, &ref, 5, w.manager);
        w.fake.provider.events->tree_item(w.fake.tree_token, &ref, 6, w.manager);
        check_uint("items", t.n_items, 2);
        check_uint("sum", t.bytes, 11);
        tell_done(&w, w.fake.tree_token, 0, 0, NULL);
        check_uint("end", t.n, 1);

        check_result("ask", trees_ask(w.manager, &list, NULL, on_item, on_tree, &gone, &call, &error), 0);
        tree_call_forget(call);
        w.fake.provider.events->tree_item(w.fake.tree_token, &ref, 5, w.manager);
        tell_done(&w, w.fake.tree_token, 0, 0, NULL);
        check_uint("nobody", gone.n + gone.n_items, 0);
        check_result("left open", trees_ask(w.manager, &list, NULL, on_item, on_tree, &gone, NULL, &error), 0);
        world_close(&w);
        check_uint("still nobody", gone.n, 0);
}

TEST(without_a_depot_the_reason_is_told) {
        TreeRef a = tree_ref(TREE_DISK, "abc");
        Error error = { 0 };
        World w;

        world_new(&w, "trees-none");
        w.fake.provider.trees = NULL;
        w.fake.provider.no_disks = "no btrfs here: modprobe btrfs";
        check_result("make", trees_make(w.manager, &a, NULL, 0, on_tree, NULL, NULL, &error), -EOPNOTSUPP);
        check_string("text", error.text, "no btrfs here: modprobe btrfs");
        w.fake.provider.trees = &fake_trees;
        w.fake.tree_result = -ENOBUFS;
        check_result("make", trees_make(w.manager, &a, NULL, 0, on_tree, NULL, NULL, &error), -ENOBUFS);
        world_close(&w);
}

/* A run whose program is the test. */
static TreeCall *start_run(World *w, Told *t) {
        static const char *const arguments[] = { "unpack", "--digest", "sha256:00", NULL };
        TreeRef ref = tree_ref(TREE_SCRATCH, "abc");
        TreeCall *call = NULL;
        Error error = { 0 };

        ref.writable = true;
        check_result("run", trees_run(w->manager, &ref, 1, arguments, -EBADF, -EBADF, &run_events, t, &call, &error), 0);
        return call;
}

static void say(World *w, int fd, const char *text) {
        check_int("said", write(w->fake.tree_fds[fd], text, strlen(text)), (intmax_t) strlen(text));
}

static void end_run(World *w, int status, const Error *error) {
        for (size_t i = 0; i < ELEMENTSOF(w->fake.tree_fds); i++)
                w->fake.tree_fds[i] = fd_close(w->fake.tree_fds[i]);
        tell_done(w, w->fake.tree_token, status, 0, error);
}

static void turn(World *w) {
        while (sd_event_run(w->event, 0) > 0)
                ;
}

TEST(a_run_reports_progress_and_its_result) {
        Told t = { 0 };
        World w;

        world_new(&w, "trees-run");
        (void) start_run(&w, &t);
        check_uint("operation", w.fake.tree.operation, TREE_RUN);
        check_true("writable", w.fake.tree.refs[0].writable);
        check_uint("arguments", w.fake.tree.arguments_size, sizeof("unpack") + sizeof("--digest") + sizeof("sha256:00"));
        say(&w, 3, "{\"progress\":{\"entries\":1}}\n{\"prog");
        turn(&w);
        check_uint("progress", t.n_progress, 1);
        say(&w, 3, "ress\":{\"entries\":2}}\n");
        turn(&w);
        check_string("line", t.last, "{\"progress\":{\"entries\":2}}");
        say(&w, 3, "{\"result\":{\"entries\":3}}\n");
        check_uint("not yet", t.n, 0);
        end_run(&w, 0, NULL);
        check_uint("done", t.n, 1);
        check_result("well", t.code, 0);
        check_string("result", t.result, "{\"result\":{\"entries\":3}}");
        world_close(&w);
}

static int run_to_end(World *w, const char *reports, const char *failure, int status, Told *ret) {
        *ret = (Told) { 0 };
        (void) start_run(w, ret);
        say(w, 3, reports);
        say(w, 2, failure);
        end_run(w, status, NULL);
        check_uint("told once", ret->n, 1);
        return ret->code;
}

TEST(what_a_run_says_at_its_end_is_judged) {
        static char endless[20000];
        Told t;
        World w;

        world_new(&w, "trees-run-ends");
        check_result("its line", run_to_end(&w, "", "74 the layer is not what its digest says\n", 1 << 8, &t), -74);
        check_string("words", t.text, "the layer is not what its digest says");
        check_result("control characters", run_to_end(&w, "", "5 a\x1b[31mb", 1 << 8, &t), -5);
        check_string("shown as such", t.text, "a?[31mb");
        check_result("no number", run_to_end(&w, "", "boom", 1 << 8, &t), -EIO);
        check_string("as it came", t.text, "boom");
        check_result("negative", run_to_end(&w, "", "-5 x", 1 << 8, &t), -EIO);
        check_result("huge", run_to_end(&w, "", "99999999999999999999 x", 1 << 8, &t), -EIO);
        check_result("nothing", run_to_end(&w, "", "", 1 << 8, &t), -EIO);
        check_result("killed", run_to_end(&w, "", "", 9, &t), -ECANCELED);
        check_result("crashed", run_to_end(&w, "", "", 11, &t), -EIO);
        check_result("no result", run_to_end(&w, "", "", 0, &t), -EPROTO);
        check_result("other line", run_to_end(&w, "{\"result\":{}}\nhello\n", "", 0, &t), -EBADMSG);
        check_result("control", run_to_end(&w, "{\"result\":{}\x01}\n", "", 0, &t), -EBADMSG);
        memset(endless, 'x', sizeof(endless) - 1);
        check_result("endless line", run_to_end(&w, endless, "", 0, &t), -EBADMSG);
        check_result("its failure all the same", run_to_end(&w, endless, "28 full\n", 1 << 8, &t), -28);
        world_close(&w);
}

TEST(a_run_can_be_cancelled_and_forgotten_also_from_its_progress) {
        Told t = { 0 };
        TreeCall *call;
        World w;

        world_new(&w, "trees-run-gone");
        call = start_run(&w, &t);
        tree_call_cancel(call);
        check_uint("cancelled", w.fake.tree_cancelled, w.fake.tree_token);
        end_run(&w, 9, NULL);
        check_result("told", t.code, -ECANCELED);

        t = (Told) { 0 };
        t.forget = start_run(&w, &t);
        say(&w, 3, "{\"progress\":{}}\n{\"progress\":{}}\n");
        turn(&w);
        check_uint("after which nothing is told", t.n_progress, 1);
        end_run(&w, 0, NULL);
        check_uint("not the end either", t.n, 0);

        t = (Told) { 0 };
        (void) start_run(&w, &t);
        end_run(&w, 0, &(Error) { -ECONNRESET, "lost" });
        check_result("lost", t.code, -ECONNRESET);
        world_close(&w);
}

/* Templates. */

static int keep(const char *tenant, const char *name, TemplateView *ret, Error *reterr, void *userdata) {
        static char *env[] = { (char *) "PATH=/opt/bin", (char *) "MODE=template", (char *) "STOLEN=secret:of-who-uses-it", NULL };

        if (strcmp(name, "busy") == 0)
                return error_set(reterr, -EBUSY, "it is being made");
        if (strcmp(name, "img:1") != 0 && strcmp(name, "built") != 0)
                return 0;
        *ret = (TemplateView) {
                .name = "img", .tag = "1", .digest = "sha256:12", .layer = strcmp(name, "built") == 0 ? "" : "12", .base = "host",
                .snapshot = strcmp(name, "built") == 0 ? "snap1" : "", .env = { .items = env, .n = 3 }, .workdir = "/app", .has_user = true, .uid = 7, .gid = 8,
                .home = "/home/seven",
        };
        return 1;
}

static const TemplateKeeper keeper = { .find = keep };

static int apply_template(World *w, const char *name, const char *env, bool user_given, SandboxSpec *ret, Error *reterr) {
        sandbox_spec_defaults(ret);
        ret->template_name = strdup(name);
        if (env)
                check_result("env", strv_push(&ret->env, env), 0);
        return template_apply(w->manager, ret, user_given, /* workdir_given= */ false, reterr);
}

TEST(a_template_fills_what_the_caller_left_open) {
        Error error = { 0 };
        SandboxSpec spec;
        World w;

        world_new(&w, "templates");
        check_result("host", apply_template(&w, "host", NULL, false, &spec, &error), 0);
        check_true("nothing", !spec.layer && !spec.base && !spec.persistent);
        sandbox_spec_done(&spec);
        check_result("base", apply_template(&w, "code-interpreter-v1", NULL, false, &spec, &error), 0);
        check_string("by its other name", spec.template_name, "base");
        check_string("base is the spawner's", sandbox_spec_base(&spec), "base");
        check_string("home", spec.workdir, "/home/user");
        check_true("sudo", spec.sudo && !spec.layer && !spec.persistent);
        sandbox_spec_done(&spec);
        check_result("nobody keeps any", apply_template(&w, "img:1", NULL, false, &spec, &error), -ENOENT);
        sandbox_spec_done(&spec);

        manager_set_templates(w.manager, &keeper);
        check_result("one", apply_template(&w, "img:1", "MODE=mine", false, &spec, &error), 0);
        check_string("layer", spec.layer, "12");
        check_string("digest", spec.digest, "sha256:12");
        check_string("mine", strv_get_env(&spec.env, "MODE"), "mine");
        check_string("its", strv_get_env(&spec.env, "PATH"), "/opt/bin");
        check_string("home", strv_get_env(&spec.env, "HOME"), "/home/seven");
        check_string("no secret of who uses it", strv_get_env(&spec.env, "STOLEN"), NULL);
        check_string("workdir", spec.workdir, "/app");
        check_uint("uid", spec.uid, 7);
        check_true("memory is enough", !spec.persistent && !spec.snapshot);
        check_string("base", sandbox_spec_base(&spec), "host");
        sandbox_spec_done(&spec);

        check_result("other user", apply_template(&w, "img:1", NULL, true, &spec, &error), 0);
        check_uint("uid", spec.uid, 1000);
        check_true("not the home of another", !strv_get_env(&spec.env, "HOME"));
        sandbox_spec_done(&spec);

        check_result("a disk", apply_template(&w, "built", NULL, false, &spec, &error), 0);
        check_string("begins as", spec.snapshot, "snap1");
        check_true("persistent, without a layer", spec.persistent && !spec.layer);
        check_string("base", sandbox_spec_base(&spec), "host");
        sandbox_spec_done(&spec);
        world_close(&w);
}

TEST(a_template_that_cannot_be_had_is_refused_by_name) {
        Error error = { 0 };
        SandboxSpec spec;
        World w;

        world_new(&w, "templates-none");
        manager_set_templates(w.manager, &keeper);
        check_result("unknown", apply_template(&w, "other", NULL, false, &spec, &error), -ENOENT);
        check_true("named", strstr(error.text, "'other'") && strstr(error.text, "host"));
        sandbox_spec_done(&spec);
        check_result("busy", apply_template(&w, "busy", NULL, false, &spec, &error), -EBUSY);
        sandbox_spec_done(&spec);
        world_close(&w);
}
