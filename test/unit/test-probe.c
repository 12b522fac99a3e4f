/* Whether a sandbox is well, asked of a provider that does what the test says. */
#include "world.h"

#include "core/probe.h"

typedef struct Verdict {
        unsigned n;
        bool healthy;
        char text[256];
        bool end_it, again; /* what the asker does when it is told */
} Verdict;

static void on_verdict(Sandbox *sb, bool healthy, const char *text, _unused_ usec_t duration, void *userdata) {
        Verdict *v = userdata;

        v->n++;
        v->healthy = healthy;
        (void) snprintf(v->text, sizeof(v->text), "%s", text ? text : "");
        if (v->end_it)
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, "unhealthy");
        if (v->again)
                check_result("again", sandbox_probe(sb, USEC_PER_SEC, on_verdict, v), 0);
        v->again = false;
}

static void say(const World *w, const char *text) {
        check_int("said", write(w->fake.last_journal, text, strlen(text)), (intmax_t) strlen(text));
}

static void run_for(World *w, usec_t usec) {
        usec_t until = clock_usec() + usec;

        for (usec_t now = clock_usec(); now < until; now = clock_usec())
                (void) sd_event_run(w->event, until - now);
}

TEST(a_probe_is_seen_by_nobody) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };
        ManagerStats stats;

        world_new(&w, "probe-unseen");
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        check_result("another", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), -EALREADY);
        check_uint("not told before", v.n, 0);
        check_true("number of its own", w.fake.last_exec >= PROBE_NUMBER_FIRST);
        check_string("status", sandbox_status_name(sb->status), "ready");
        manager_stats(w.manager, &admin, &stats);
        check_uint("running", stats.executions_running, 0);

        say(&w, "cove-is-well\n");
        tell_exit(&w, sb, w.fake.last_exec, 0);
        check_uint("told", v.n, 1);
        check_true("healthy", v.healthy);
        check_uint("forgotten inside", w.fake.n_forgotten, 1);
        manager_stats(w.manager, &admin, &stats);
        check_uint("counted", stats.executions_total, 0);
        check_uint("executions", HASH_COUNT(sb->executions), 0);
        check_uint("operations", sb->operations, 0);
        world_close(&w);
}

TEST(what_is_not_right_is_not_healthy) {
        static const struct {
                const char *output;
                int wait_status;
                const char *text;
        } cases[] = {
                { "cove-is-well",    0,      "an unexpected answer" },
                { "cove-is-well\n!", 0,      "an unexpected answer" },
                { "",                0,      "an unexpected answer" },
                { "cove-is-well\n",  3 << 8, "code 3"         },
                { "cove-is-well\n",  9,      "signal 9"       },
        };
        World w;
        Sandbox *sb;

        world_new(&w, "probe-wrong");
        sb = create_ready(&w, NULL);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Verdict v = { 0 };

                check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
                say(&w, cases[i].output);
                tell_exit(&w, sb, w.fake.last_exec, cases[i].wait_status);
                check_uint("told", v.n, 1);
                check_true("unhealthy", !v.healthy);
                check_part("text", v.text, cases[i].text);
        }
        world_close(&w);
}

TEST(a_command_that_cannot_start_is_told) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };
        ProviderNotStarted f = { .error = EAGAIN, .step = "fork", .detail = "" };

        world_new(&w, "probe-no-fork");
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        f.number = w.fake.last_exec;
        w.fake.provider.events->exec_failed(sb, &f, w.manager);
        check_true("unhealthy", v.n == 1 && !v.healthy);
        check_part("text", v.text, "fork");

        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        f = (ProviderNotStarted) { .number = w.fake.last_exec, .kind = PROVIDER_FAILURE_COMMAND, .error = ENOENT, .step = "exec", .detail = "/bin/sh" };
        w.fake.provider.events->exec_failed(sb, &f, w.manager);
        check_true("a template without a shell is well", v.n == 2 && v.healthy);
        world_close(&w);
}

TEST(silence_is_not_healthy) {
        World w;
        Sandbox *sb;
        Verdict v = { .end_it = true };

        world_new(&w, "probe-silent");
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, 20 * USEC_PER_MSEC, on_verdict, &v), 0);
        for (unsigned i = 0; i < 1000 && v.n == 0; i++)
                run_for(&w, 10 * USEC_PER_MSEC);
        check_uint("told", v.n, 1);
        check_true("unhealthy", !v.healthy);
        check_part("text", v.text, "20 ms");
        check_int("killed", w.fake.last_signal, SIGKILL);
        check_string("ended by the asker", sandbox_status_name(sb->status), "terminating");
        world_close(&w);
}

TEST(an_end_meanwhile_is_told_once) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };

        world_new(&w, "probe-end");
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "deleted");
        check_uint("told", v.n, 1);
        check_string("text", v.text, "the sandbox has ended");
        check_result("refused", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), -ESTALE);
        tell_exit(&w, sb, w.fake.last_exec, 9);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_uint("not again", v.n, 1);
        world_close(&w);
}

TEST(a_stale_end_is_forgotten_silently) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };

        world_new(&w, "probe-stale");
        sb = create_ready(&w, NULL);
        tell_exit(&w, sb, PROBE_NUMBER_FIRST | 17, 0); /* of a daemon before us */
        check_uint("forgotten inside", w.fake.n_forgotten, 1);
        check_uint("executions", HASH_COUNT(sb->executions), 0);

        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        tell_exit(&w, sb, PROBE_NUMBER_FIRST | 17, 0);
        check_uint("another's is not ours", v.n, 0);
        world_close(&w);
}

TEST(a_frozen_one_is_not_asked_and_loses_no_time) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };
        const ProviderEvents *e;

        world_new(&w, "probe-frozen");
        e = w.fake.provider.events;
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, 50 * USEC_PER_MSEC, on_verdict, &v), 0);
        sandbox_pause(sb, NULL, NULL);
        e->frozen(sb, true, NULL, w.manager);
        check_string("status", sandbox_status_name(sb->status), "paused");
        run_for(&w, 200 * USEC_PER_MSEC);
        check_uint("not told", v.n, 0);
        check_result("another", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), -ESTALE);
        sandbox_resume(sb, NULL, NULL);
        e->frozen(sb, false, NULL, w.manager);
        say(&w, "cove-is-well\n");
        tell_exit(&w, sb, w.fake.last_exec, 0);
        check_true("healthy", v.n == 1 && v.healthy);
        world_close(&w);
}

TEST(whoever_was_forgotten_is_not_told) {
        World w;
        Sandbox *sb;
        Verdict v = { 0 };

        world_new(&w, "probe-forget");
        sb = create_ready(&w, NULL);
        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        sandbox_probe_forget(sb, &w);
        sandbox_probe_forget(sb, &v);
        tell_exit(&w, sb, w.fake.last_exec, 0);
        check_uint("told", v.n, 0);
        v.again = true;
        check_result("probe", sandbox_probe(sb, USEC_PER_SEC, on_verdict, &v), 0);
        tell_exit(&w, sb, w.fake.last_exec, 0);
        check_uint("told, and asks again from there", v.n, 1);
        check_true("under way", sb->probe != NULL);
        world_close(&w);
}
