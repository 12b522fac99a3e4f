/* The objects and their rules, with a provider that does what the test says. */
#include "core/quarantine.h"
#include "core/reap.h"
#include "core/tally.h"
#include "world.h"

TEST(the_row_is_there_before_the_sandbox) {
        World w;
        Answer a = { 0 };
        Sandbox *sb;

        world_new(&w, "row-first");
        sb = create(&w, "one", &a);
        check_true("row", w.fake.row_was_there);
        check_uint("answers", a.n, 0);
        w.fake.provider.events->created(sb, 1, 2, 0, NULL, w.manager);
        check_uint("answers", a.n, 1);
        check_result("answer", a.code, 0);
        world_close(&w);
}

TEST(a_calendar_that_was_set_is_doubted_for_a_while) {
        World w;

        world_new(&w, "calendar");
        check_true("at first", manager_trusts_calendar(w.manager));
        w.manager->calendar_offset -= (int64_t) (60 * USEC_PER_SEC);
        check_true("a minute is corrected now and then", manager_trusts_calendar(w.manager));
        w.manager->calendar_offset -= (int64_t) (86400 * USEC_PER_SEC); /* as if it were a day later now */
        check_true("set forward", !manager_trusts_calendar(w.manager));
        check_true("and still", !manager_trusts_calendar(w.manager));
        w.manager->calendar_doubted_until = 0;
        check_true("an hour later", manager_trusts_calendar(w.manager));
        w.manager->calendar_offset += (int64_t) (86400 * USEC_PER_SEC);
        check_true("set back", !manager_trusts_calendar(w.manager));
        world_close(&w);
}

TEST(a_taken_name_gives_the_existing_one) {
        World w;
        SandboxSpec spec;
        Sandbox *first, *second = NULL;
        bool existing = false;
        Error error = { 0 };
        Answer a = { 0 };

        world_new(&w, "names");
        first = create(&w, "twin", &a);
        sandbox_spec_defaults(&spec);
        spec.name = strdup("twin");
        check_result("again", manager_create(w.manager, &admin, &spec, &second, &existing, on_done, &a, &error), 0);
        check_true("existing", existing && second == first);
        check_uint("made", w.fake.n_created, 1);
        sandbox_spec_done(&spec);
        world_close(&w);
}

TEST(a_name_is_free_when_its_owner_ends) {
        World w;
        Answer a = { 0 };
        Sandbox *first, *second;

        world_new(&w, "name-again");
        first = create_ready(&w, "phoenix");
        sandbox_delete(first, true, on_done, &a);
        second = create(&w, "phoenix", &a);
        check_true("another", second != first);
        check_true("found", manager_find(w.manager, &admin, "phoenix") == second);
        w.fake.provider.events->destroyed(first->id, NULL, w.manager);
        check_true("still found", manager_find(w.manager, &admin, "phoenix") == second);
        world_close(&w);
}

TEST(a_failed_create_leaves_nothing) {
        World w;
        Answer a = { 0 };
        Error error = { 0 };
        bool found = false;
        Sandbox *sb;
        char id[SANDBOX_ID_LENGTH + 1];

        world_new(&w, "failed-create");
        sb = create(&w, "bad", &a);
        memcpy(id, sb->id, sizeof(id));
        (void) error_set(&error, -EOPNOTSUPP, "no %s", "walls");
        w.fake.provider.events->created(sb, 0, 0, 0, &error, w.manager);
        check_uint("not answered before it is gone", a.n, 0);
        check_string("asked to destroy", w.fake.destroyed[0], id);
        w.fake.provider.events->destroyed(id, NULL, w.manager);
        check_uint("answers", a.n, 1);
        check_result("code", a.code, -EOPNOTSUPP);
        check_string("text", a.text, "no walls");
        check_true("object", manager_find(w.manager, &admin, id) == NULL);
        (void) store_sandbox_each(w.store, find_row, &found);
        check_true("row", !found);
        world_close(&w);
}

static void delete_on_failure(Sandbox *sb, const Error *error, void *userdata) {
        Answer *a = userdata;

        a->n++;
        a->code = error ? error->code : 0;
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
}

/* Of one whose record stays, and of one whose record goes. */
TEST(who_waits_for_a_sandbox_may_delete_it_when_it_fails) {
        World w;

        world_new(&w, "delete-failed");
        for (int goes = 0; goes < 2; goes++) {
                Answer a = { 0 }, other = { 0 };
                char id[SANDBOX_ID_LENGTH + 1];
                Sandbox *sb = create(&w, "bad", &other);

                memcpy(id, sb->id, sizeof(id));
                check_result("first", manager_await_ready(sb, delete_on_failure, &a), 0);
                check_result("second", manager_await_ready(sb, delete_on_failure, &a), 0);
                if (goes)
                        w.fake.provider.events->created(sb, 0, 0, 0, &(Error) { -EIO, "no walls" }, w.manager);
                else
                        sandbox_terminate(sb, "orphaned");
                w.fake.provider.events->destroyed(id, NULL, w.manager);
                check_uint("who came first is told", other.n, 1);
                check_uint("and the others, each once", a.n, 2);
                check_true("it is gone", manager_find(w.manager, &admin, id) == NULL);
        }
        world_close(&w);
}

TEST(an_execution_ends_once_with_its_truth) {
        static const struct {
                int wait_status;
                bool timed_out, oom, disk_full;
                const char *reason;
                int exit_code, signal;
        } cases[] = {
                { 0,       false, false, false, "exited",   0,   0 },
                { 7 << 8,  false, false, false, "exited",   7,   0 },
                { 15,      false, false, false, "signaled", -1,  15 },
                { 9,       true,  false, false, "timeout",  124, 9 },
                { 9,       false, true,  false, "memory",   -1,  9 },
                { 137 << 8, false, true, false, "memory",   137, 0 },
                { 1 << 8,  false, false, true,  "disk",     1,   0 },
                { 0,       false, false, true,  "exited",   0,   0 },
        };
        World w;
        Sandbox *sb;

        world_new(&w, "truth");
        sb = create_ready(&w, NULL);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Execution *x = start(sb, "true");
                ProviderEnd e = fake_end(x->number, cases[i].wait_status);

                e.timed_out = cases[i].timed_out;
                e.disk_full = cases[i].disk_full;
                check_string("status", sandbox_status_name(sb->status), "running");
                w.fake.usage.oom_kills += cases[i].oom;
                w.fake.provider.events->exec_exited(sb, &e, w.manager);
                check_string("reason", execution_reason_name(x->reason), cases[i].reason);
                check_int("exit code", x->exit_code, cases[i].exit_code);
                check_int("signal", x->signal, cases[i].signal);
                check_uint("forgotten", w.fake.n_forgotten, 2 * i + 1);
                check_string("status", sandbox_status_name(sb->status), "ready");

                tell_exit(&w, sb, x->number, 99 << 8); /* a second end is none */
                check_int("exit code", x->exit_code, cases[i].exit_code);
        }
        world_close(&w);
}

TEST(what_never_started_says_so) {
        World w;
        Sandbox *sb;
        Execution *x;
        ProviderNotStarted f = { .kind = PROVIDER_FAILURE_COMMAND, .error = ENOENT, .step = "exec", .detail = "nosuch" };

        world_new(&w, "not-found");
        sb = create_ready(&w, NULL);
        x = start(sb, "nosuch");
        f.number = x->number;
        w.fake.provider.events->exec_failed(sb, &f, w.manager);
        check_int("code", x->exit_code, 127);
        check_string("reason", execution_reason_name(x->reason), "not_found");
        check_part("message", x->message, "nosuch");

        x = start(sb, "/etc/passwd");
        f = (ProviderNotStarted) { .number = x->number, .kind = PROVIDER_FAILURE_COMMAND, .error = EACCES, .step = "exec", .detail = "/etc/passwd" };
        w.fake.provider.events->exec_failed(sb, &f, w.manager);
        check_int("code", x->exit_code, 126);
        world_close(&w);
}

TEST(what_a_provider_lacks_is_refused_by_name) {
        ExecutionSpec spec = { .args = STRV_INIT(8), .env = STRV_INIT(8), .pty = true };
        FileRequest pack = { .operation = FILE_PACK, .path = "/" };
        Answer a = { 0 };
        Error error = { 0 };
        Execution *x;
        FileOp *op;
        Sandbox *sb;
        World w;

        world_new(&w, "lacks");
        sb = create_ready(&w, NULL);
        w.fake.provider.pause = NULL;
        w.fake.provider.terminals = NULL;
        w.fake.provider.channels = NULL;
        w.fake.provider.disks = NULL;
        sandbox_pause(sb, on_done, &a);
        check_result("pause", a.code, -EOPNOTSUPP);
        check_string("text", a.text, "provider 'fake' cannot pause sandboxes");
        check_string("status", sandbox_status_name(sb->status), "ready");
        check_result("hold", sandbox_hold(sb, on_done, &a, &error), -EOPNOTSUPP);
        check_part("text", error.text, "cannot pause sandboxes");

        check_result("push", strv_push(&spec.args, "true"), 0);
        check_result("terminal", execution_start(sb, &admin, &spec, &x, &error), -EOPNOTSUPP);
        check_part("text", error.text, "has no terminals");
        spec.pty = false;
        spec.channel = true;
        check_result("channel", execution_start(sb, &admin, &spec, &x, &error), -EOPNOTSUPP);
        check_part("text", error.text, "cannot keep interpreters");
        check_uint("nothing was asked", w.fake.n_exec, 0);
        execution_spec_done(&spec);

        check_result("archive", fileop_start(sb, &pack, &(FileOpHandlers) { 0 }, NULL, &op, &error), -EOPNOTSUPP);
        check_part("text", error.text, "cannot pack or unpack archives");
        check_true("disks", !trees_have_disks(w.manager, &error));
        check_part("text", error.text, "has no disks");
        w.fake.provider.no_disks = "no btrfs here: modprobe btrfs";
        check_true("disks", !trees_have_disks(w.manager, &error));
        check_string("the provider's own reason", error.text, "no btrfs here: modprobe btrfs");
        world_close(&w);
}

typedef struct Seen {
        unsigned n_ended;
        ExecutionReason reason;
} Seen;

static void on_change(Execution *x, void *userdata) {
        Seen *s = userdata;

        if (!execution_ended(x))
                return;
        s->n_ended++;
        s->reason = x->reason;
}

TEST(a_command_killed_with_its_sandbox_is_told_as_that) {
        World w;
        Seen seen = { 0 };
        ExecutionWatch watch = { .changed = on_change, .userdata = &seen, .follow = true };
        Answer a = { 0 };
        Sandbox *sb;
        Execution *x;

        world_new(&w, "killed");
        sb = create_ready(&w, NULL);
        x = start(sb, "sleep");
        check_result("watch", execution_watch(x, &watch), 0);
        sandbox_delete(sb, false, on_done, &a);
        check_result("not forced", a.code, -EBUSY);
        sandbox_delete(sb, true, on_done, &a);
        sandbox_delete(sb, true, on_done, &a);
        check_uint("answers", a.n, 1);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_uint("both", a.n, 3);
        check_uint("ended", seen.n_ended, 1);
        check_string("reason", execution_reason_name(seen.reason), "sandbox_ended");
        check_true("watch is free", watch.execution == NULL);
        world_close(&w);
}

TEST(a_dead_pid_1_is_a_failed_sandbox) {
        World w;
        Sandbox *sb;
        Execution *x;

        world_new(&w, "pid1");
        sb = create_ready(&w, NULL);
        x = start(sb, "sleep");
        w.fake.provider.events->gone(sb, w.manager);
        check_string("status", sandbox_status_name(sb->status), "terminating");
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_string("status", sandbox_status_name(sb->status), "failed");
        check_string("reason", execution_reason_name(x->reason), "sandbox_ended");
        world_close(&w);
}

TEST(pause_and_stop) {
        World w;
        Answer a = { 0 };
        Sandbox *sb;
        ExecutionSpec spec = { .args = STRV_INIT(8) };
        Execution *x = NULL;
        Error error = { 0 };

        world_new(&w, "pause");
        sb = create_ready(&w, NULL);
        sandbox_pause(sb, on_done, &a);
        check_true("asked", w.fake.frozen == sb);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_string("status", sandbox_status_name(sb->status), "paused");
        check_uint("answers", a.n, 1);

        check_result("push", strv_push(&spec.args, "true"), 0);
        check_result("no exec", execution_start(sb, &admin, &spec, &x, &error), -ESTALE);
        check_string("words", error.text, "Sandbox not running (state: paused)");
        execution_spec_done(&spec);

        sandbox_stop(sb, 0, on_done, &a);
        check_result("no stop", a.code, -ESTALE);
        sandbox_resume(sb, on_done, &a);
        w.fake.provider.events->frozen(sb, false, NULL, w.manager);
        check_string("status", sandbox_status_name(sb->status), "ready");

        x = start(sb, "sleep");
        sandbox_stop(sb, 0, on_done, &a);
        tell_exit(&w, sb, x->number, SIGTERM);
        check_string("reason", execution_reason_name(x->reason), "cancelled");
        w.fake.provider.events->stopped(sb, w.manager);
        check_string("status", sandbox_status_name(sb->status), "stopped");
        sandbox_start(sb, on_done, &a);
        check_string("status", sandbox_status_name(sb->status), "ready");
        world_close(&w);
}

static int hush(void) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

        check_true("hushed", nothing >= 0 && before >= 0 && dup2(nothing, STDERR_FILENO) >= 0);
        (void) fd_close(nothing);
        return before;
}

static void unhush(int before) {
        check_true("not hushed", dup2(before, STDERR_FILENO) >= 0);
        (void) fd_close(before);
}

/* Every pair of states, on a sandbox that has a row: what the table does not have changes nothing. */
TEST(a_move_is_made_or_refused_as_a_whole) {
        const size_t n = (_SANDBOX_STATUS_MAX + 1) * _ACTIVITY_MAX;
        size_t made = 0, wrong = 0;
        World w;
        Sandbox *sb;
        int quiet;

        world_new(&w, "moves");
        sb = create_ready(&w, NULL);
        quiet = hush(); /* each refusal is logged */
        for (size_t i = 0; i < n * n; i++) {
                SandboxState s[2], *after;
                int r;

                for (size_t k = 0; k < 2; k++) {
                        size_t at = k == 0 ? i / n : i % n, place = at / _ACTIVITY_MAX;

                        s[k] = (SandboxState) { .status = place == _SANDBOX_STATUS_MAX ? SANDBOX_PAUSED : (SandboxStatus) place,
                                .parked = place == _SANDBOX_STATUS_MAX, .activity = (SandboxActivity) (at % _ACTIVITY_MAX) };
                }
                tally_leave(sb);
                sb->status = s[0].status;
                sb->parked = s[0].parked;
                sb->activity = s[0].activity;
                tally_enter(sb);
                r = sandbox_move(sb, s[1], "why");
                made += r == 0;
                wrong += r != (sandbox_state_may_become(s[0], s[1]) ? 0 : -EPROTO);
                after = r == 0 ? &s[1] : &s[0];
                wrong += sb->status != after->status || sb->parked != after->parked || sb->activity != after->activity;
        }
        unhush(quiet);
        check_uint("moves", made, 145);
        check_uint("others refused, and nothing changed", wrong, 0);
        world_close(&w);
}

static void on_move(Sandbox *sb, Execution *x, void *userdata) {
        (*(unsigned *) userdata)++;
}

TEST(an_activity_is_told_to_nobody_and_a_status_is) {
        World w;
        unsigned told = 0;
        SandboxWatch watch = { .changed = on_move, .userdata = &told };
        Sandbox *sb;
        usec_t changed_at;

        world_new(&w, "told");
        sb = create_ready(&w, NULL);
        sandbox_watch(sb, &watch);
        changed_at = sb->changed_at;
        check_result("activity", sandbox_set_activity(sb, ACTIVITY_FREEZING), 0);
        check_true("nobody", told == 0 && sb->changed_at == changed_at);
        check_result("status", sandbox_move(sb, (SandboxState) { .status = SANDBOX_PAUSED }, "why"), 0);
        check_true("told", told == 1 && sb->activity == ACTIVITY_NONE);
        check_string("why", sb->reason, "why");
        sandbox_unwatch(&watch);
        world_close(&w);
}

/* What is asked for while its disk is copied is served afterwards, a stop before a pause. */
TEST(a_hold_delays_stop_and_pause) {
        World w;
        Answer held = { 0 }, stopped = { 0 }, paused = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "delays");
        sb = create_ready(&w, NULL);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        sandbox_pause(sb, on_done, &paused);
        sandbox_stop(sb, 0, on_done, &stopped);
        check_true("neither is asked for yet", !w.fake.stopped && sb->activity == ACTIVITY_HOLDING);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("held", held.n == 1 && held.code == 0 && sb->activity == ACTIVITY_HELD);
        sandbox_release(sb);
        w.fake.provider.events->frozen(sb, false, NULL, w.manager);
        check_true("stops", w.fake.stopped == sb && sb->activity == ACTIVITY_STOPPING && stopped.n == 0);
        w.fake.provider.events->stopped(sb, w.manager);
        check_true("stopped", stopped.n == 1 && stopped.code == 0 && sb->status == SANDBOX_STOPPED);
        check_true("too late for a pause", paused.n == 1 && paused.code == -ESTALE);
        check_true("and nothing is under way", sb->activity == ACTIVITY_NONE);
        world_close(&w);
}

/* Its requests fail when the spawner is gone, after the loop's end: nothing can be retried then, and the sandbox is not to be blamed. */
TEST(the_daemons_end_is_not_the_sandboxs) {
        World w;
        Answer held = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "daemons-end");
        sb = create_ready(&w, NULL);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        sandbox_release(sb);
        check_true("releasing", sb->activity == ACTIVITY_RELEASING);
        check_result("exit", sd_event_exit(w.event, 0), 0);
        check_result("loop", sd_event_loop(w.event), 0);
        w.fake.provider.events->frozen(sb, false, &(Error) { -ETIMEDOUT, "no answer" }, w.manager);
        check_true("as it was", sb->status == SANDBOX_READY && w.fake.n_destroyed == 0);
        world_close(&w);
}

/* What was asked for is done, also when nobody waits for the answer any more. */
TEST(a_stop_outlives_who_asked_for_it) {
        World w;
        Answer held = { 0 }, stopped = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "outlives");
        sb = create_ready(&w, NULL);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        sandbox_stop(sb, 0, on_done, &stopped);
        sandbox_forget_caller(sb, &stopped);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        sandbox_release(sb);
        w.fake.provider.events->frozen(sb, false, NULL, w.manager);
        check_true("stops", w.fake.stopped == sb && sb->activity == ACTIVITY_STOPPING);
        w.fake.provider.events->stopped(sb, w.manager);
        check_true("stopped, and nobody is told", sb->status == SANDBOX_STOPPED && stopped.n == 0);
        world_close(&w);
}

/* A hold and a pause wait for a stop that fails to come: the hold is first, so that both are answered. */
TEST(a_hold_goes_before_a_pause) {
        World w;
        Answer held = { 0 }, paused = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "before");
        sb = create_ready(&w, NULL);
        check_result("connecting", sandbox_set_activity(sb, ACTIVITY_CONNECTING), 0);
        sandbox_pause(sb, on_done, &paused);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        check_result("connected", sandbox_set_activity(sb, ACTIVITY_NONE), 0);
        sandbox_serve_waiting(sb);
        check_true("held first", sb->activity == ACTIVITY_HOLDING);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("told", held.n == 1 && held.code == 0);
        sandbox_release(sb);
        w.fake.provider.events->frozen(sb, false, NULL, w.manager);
        check_true("then paused", sb->activity == ACTIVITY_FREEZING);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("told", paused.n == 1 && paused.code == 0 && sb->status == SANDBOX_PAUSED);
        world_close(&w);
}

TEST(a_stop_delays_a_hold) {
        World w;
        Answer held = { 0 }, stopped = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "delayed");
        sb = create_ready(&w, NULL);
        sandbox_stop(sb, 0, on_done, &stopped);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        check_true("not yet", !w.fake.frozen);
        check_result("one at a time", sandbox_hold(sb, on_done, &held, &error), -EBUSY);
        w.fake.provider.events->stopped(sb, w.manager);
        check_true("now", w.fake.frozen == sb && sb->status == SANDBOX_STOPPED && sb->activity == ACTIVITY_HOLDING);
        check_result("a second is refused", sandbox_hold(sb, on_done, &held, &error), -EBUSY);
        w.fake.provider.events->frozen(sb, true, &(Error) { -EIO, "no" }, w.manager);
        check_true("told why", held.n == 1 && held.code == -EIO && sb->activity == ACTIVITY_NONE);
        world_close(&w);
}

/* An answer to what has been overtaken by the end is not heard, and whoever waited is told of the end. */
TEST(an_end_overtakes_what_is_under_way) {
        World w;
        Answer paused = { 0 };
        Sandbox *sb;

        world_new(&w, "overtakes");
        sb = create_ready(&w, NULL);
        sandbox_pause(sb, on_done, &paused);
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ false, "enough");
        check_true("no activity", sb->status == SANDBOX_TERMINATING && sb->activity == ACTIVITY_NONE);
        check_true("told", paused.n == 1 && paused.code == -ESTALE);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("not heard", paused.n == 1 && sb->status == SANDBOX_TERMINATING);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_true("ended", paused.n == 1 && sb->status == SANDBOX_TERMINATED);
        world_close(&w);
}

/* Whatever is done with a sandbox that is gone is refused or does nothing. */
static void check_gone(Sandbox *sb, const char *id) {
        SandboxWatch watch = { .changed = on_move };
        ExecutionSpec spec = { .args = STRV_INIT(8) };
        SandboxUsage usage;
        Error error = { 0 };
        Answer a = { 0 };
        Execution *x = NULL;

        check_true("gone", sandbox_is_gone(sb) && !sandbox_unless_gone(sb));
        check_string("id", sb->id, id);
        check_true("state", sandbox_status_is_ended(sb->status) && sb->activity == ACTIVITY_NONE);
        check_true("nothing of it", !sb->provider_data && !sb->executions && !sb->watches && !sb->calls && !sb->spec.name && !sb->reason);
        sandbox_pause(sb, on_done, &a);
        check_result("pause", a.code, -ESTALE);
        sandbox_resume(sb, on_done, &a);
        sandbox_stop(sb, 0, on_done, &a);
        sandbox_start(sb, on_done, &a);
        check_result("start", a.code, -ESTALE);
        sandbox_park(sb, &(SandboxParking) { 0 }, on_done, &a);
        check_uint("all refused", a.n, 5);
        sandbox_delete(sb, /* force= */ true, on_done, &a);
        check_true("deleted already", a.n == 6 && a.code == 0);
        check_result("hold", sandbox_hold(sb, on_done, &a, &error), -ESTALE);
        check_result("swap", sandbox_swap_begin(sb), -EBUSY);
        check_result("timeout", sandbox_set_timeout(sb, USEC_PER_SEC, &error), -ESTALE);
        check_result("dialect", sandbox_set_dialect(sb, "x", &error), -ESTALE);
        check_result("usage", sandbox_usage(sb, &usage), 0);
        check_result("push", strv_push(&spec.args, "true"), 0);
        check_result("exec", execution_start(sb, &admin, &spec, &x, &error), -ESTALE);
        execution_spec_done(&spec);
        sandbox_release(sb);
        sandbox_swap_end(sb);
        sandbox_forget_caller(sb, &a);
        sandbox_finish(sb, SANDBOX_FAILED, "again");
        sandbox_watch(sb, &watch);
        check_true("not watched", !watch.sandbox && !sb->watches);
        sandbox_unwatch(&watch);
}

TEST(a_reference_outlives_the_sandbox) {
        World w;
        char id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sb, *first, *second = NULL;

        world_new(&w, "reference");
        sb = create_ready(&w, "kept");
        memcpy(id, sb->id, sizeof(id));
        (void) start(sb, "sleep");
        first = sandbox_ref(sb);
        sandbox_ref_set(&second, sb);
        check_true("there", sandbox_unless_gone(first) == sb && !sandbox_is_gone(sb));
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        check_true("not yet", !sandbox_is_gone(first));
        w.fake.provider.events->destroyed(id, NULL, w.manager);
        check_true("not found", !manager_by_id(w.manager, id) && !manager_find(w.manager, &admin, "kept"));
        first = sandbox_unref(first);
        check_gone(second, id);
        sandbox_ref_set(&second, create_ready(&w, "next"));
        check_true("another", !sandbox_is_gone(second));
        world_close(&w);
        check_true("gone with the manager", sandbox_is_gone(second) && sandbox_status_is_ended(second->status));
        second = sandbox_unref(second);
        check_true("of nothing", !sandbox_ref(NULL) && !sandbox_unref(NULL) && !sandbox_unless_gone(NULL));
}

static void run_for(World *w, usec_t usec) {
        usec_t end = clock_usec() + usec;

        while (clock_usec() < end)
                (void) sd_event_run(w->event, 10000);
}

static void run_until(World *w, bool (*condition)(const World *w)) {
        usec_t end = clock_usec() + 60 * USEC_PER_SEC;

        while (!condition(w) && clock_usec() < end)
                (void) sd_event_run(w->event, 10000);
        check_true("in time", condition(w));
}

static bool has_killed(const World *w) {
        return w->fake.last_signal == SIGKILL;
}

static bool has_destroyed_and_frozen(const World *w) {
        return w->fake.n_destroyed > 0 && w->fake.frozen;
}

static bool has_thawed(const World *w) {
        return w->fake.thawed != NULL;
}

/* What is frozen for a copy goes on, also if the provider cannot be asked for a while. */
TEST(a_release_that_cannot_be_asked_for_is_tried_again) {
        World w;
        Answer held = { 0 }, paused = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "release");
        sb = create_ready(&w, NULL);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        w.fake.freeze_result = -ENOBUFS;
        sandbox_release(sb);
        check_true("is not asked", !w.fake.thawed && sb->activity == ACTIVITY_RELEASING);
        sandbox_pause(sb, on_done, &paused);
        w.fake.freeze_result = 0;
        run_until(&w, has_thawed);
        w.fake.thawed = NULL;
        w.fake.provider.events->frozen(sb, false, &(Error) { -ENOMEM, "not now" }, w.manager);
        check_true("it stands still yet", sb->activity == ACTIVITY_RELEASING);
        run_until(&w, has_thawed);
        w.fake.provider.events->frozen(sb, false, NULL, w.manager);
        check_true("goes on, to what is wanted next", sb->activity == ACTIVITY_FREEZING);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("paused", paused.n == 1 && paused.code == 0);
        world_close(&w);
}

/* One that ends meanwhile is not thawed. */
TEST(a_release_is_forgotten_at_the_end) {
        World w;
        Answer held = { 0 };
        Error error = { 0 };
        Sandbox *sb;

        world_new(&w, "release-end");
        sb = create_ready(&w, NULL);
        check_result("hold", sandbox_hold(sb, on_done, &held, &error), 0);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        w.fake.freeze_result = -ENOBUFS;
        sandbox_release(sb);
        sandbox_finish(sb, SANDBOX_COMPLETED, "enough");
        w.fake.freeze_result = 0;
        run_for(&w, 1500 * USEC_PER_MSEC);
        check_true("is not thawed", !w.fake.thawed && w.fake.n_destroyed == 1);
        world_close(&w);
}

/* Its own requests are the provider's to repeat: nothing is recovered, listed or taken down a second time. */
TEST(a_provider_that_comes_back_is_not_asked_again) {
        World w;
        Sandbox *sb;
        unsigned n_listed;

        world_new(&w, "second-up");
        sb = create_ready(&w, NULL);
        sandbox_pause(sb, NULL, NULL);
        n_listed = w.fake.n_listed;
        w.fake.frozen = NULL;
        w.fake.provider.events->up(&w.fake.provider, w.manager);
        check_true("nothing is asked", !w.fake.adopted && !w.fake.frozen && w.fake.n_listed == n_listed && w.fake.n_destroyed == 0);
        w.fake.provider.events->frozen(sb, true, NULL, w.manager);
        check_true("the answer counts", sb->status == SANDBOX_PAUSED);
        world_close(&w);
}

static bool was_asked_twice(const World *w) {
        return w->fake.n_destroyed >= 2;
}

TEST(a_destroy_that_cannot_be_asked_for_is_tried_again) {
        World w;
        Sandbox *sb;

        world_new(&w, "destroy-again");
        sb = create_ready(&w, NULL);
        w.fake.destroy_result = -ENOBUFS;
        sandbox_finish(sb, SANDBOX_COMPLETED, "enough");
        check_true("asked", w.fake.n_destroyed == 1 && sb->status == SANDBOX_TERMINATING);
        w.fake.destroy_result = 0;
        run_until(&w, was_asked_twice);
        check_string("the same", w.fake.destroyed[1], sb->id);
        w.fake.provider.events->destroyed(sb->id, NULL, w.manager);
        check_true("has ended", sb->status == SANDBOX_COMPLETED);
        world_close(&w);
}

TEST(a_timeout_kills_or_parks) {
        World w;
        Sandbox *kill_it, *park_it;
        Error error = { 0 };

        world_new(&w, "timeout");
        kill_it = create_ready(&w, NULL);
        park_it = create_ready(&w, NULL);
        park_it->spec.on_timeout = ON_TIMEOUT_PAUSE;
        check_result("timeout", sandbox_set_timeout(kill_it, 20000, &error) < 0, 0);
        check_result("timeout", sandbox_set_timeout(park_it, 20000, &error) < 0, 0);
        run_until(&w, has_destroyed_and_frozen);
        check_string("status", sandbox_status_name(kill_it->status), "terminating");
        check_true("frozen", w.fake.frozen == park_it);
        w.fake.provider.events->destroyed(kill_it->id, NULL, w.manager);
        check_string("status", sandbox_status_name(kill_it->status), "terminated");
        check_string("reason", kill_it->reason, "timeout");
        world_close(&w);
}

TEST(cpu_time_that_is_used_up_ends_everything_that_runs) {
        World w;
        Sandbox *sb;
        Execution *x;

        world_new(&w, "cpu");
        sb = create_ready(&w, NULL);
        sb->spec.limits.cpu_time_usec = USEC_PER_SEC;
        w.fake.usage = (SandboxUsage) { .has_cpu = true, .cpu_usec = USEC_PER_SEC - 1000 };
        x = start(sb, "burn");
        w.fake.usage.cpu_usec = 2 * USEC_PER_SEC;
        run_until(&w, has_killed);
        tell_exit(&w, sb, x->number, SIGKILL);
        check_string("reason", execution_reason_name(x->reason), "cpu_time");
        check_int("code", x->exit_code, 124);
        world_close(&w);
}

TEST(after_a_restart_everything_is_looked_at) {
        World w;
        Answer a = { 0 };
        Sandbox *ready, *starting, *deleted, *lost;
        char ready_id[32], starting_id[32], deleted_id[32], lost_id[32];
        const ProviderEvents *events;
        Execution *x, *unknown;

        world_new(&w, "restart");
        ready = create_ready(&w, "keeps");
        x = start(ready, "sleep");
        unknown = start(ready, "never-sent");
        (void) unknown;
        lost = create_ready(&w, "lost");
        deleted = create_ready(&w, NULL);
        sandbox_delete(deleted, true, on_done, &a);
        starting = create(&w, NULL, &a);
        (void) snprintf(ready_id, sizeof(ready_id), "%s", ready->id);
        (void) snprintf(starting_id, sizeof(starting_id), "%s", starting->id);
        (void) snprintf(deleted_id, sizeof(deleted_id), "%s", deleted->id);
        (void) snprintf(lost_id, sizeof(lost_id), "%s", lost->id);
        world_close(&w); /* as kill -9 would: nothing is told to the store */

        world_open(&w);
        events = w.fake.provider.events;
        check_true("recovering", w.manager->recovering);
        events->up(&w.fake.provider, w.manager);
        ready = manager_find(w.manager, &admin, "keeps");
        check_true("there", ready && strcmp(ready->id, ready_id) == 0);
        check_uint("destroyed", w.fake.n_destroyed, 2);
        events->listed("zzzzzzzzzzzzzzzzzzzzz", w.manager); /* nobody's */
        events->listed(ready_id, w.manager);
        events->listed(NULL, w.manager);
        check_uint("what no row explains is left alone", w.fake.n_destroyed, 2);
        check_true("and put aside", quarantine_find(w.manager, QUARANTINE_SANDBOX, "zzzzzzzzzzzzzzzzzzzzz") != NULL);
        check_true("still recovering", w.manager->recovering);

        x = manager_find_execution(ready, "e1");
        events->exec_started(ready, 1, 22, w.manager);
        events->adopted(ready, NULL, w.manager);
        check_string("alive", execution_status_name(x->status), "running");
        unknown = manager_find_execution(ready, "e2");
        check_string("unknown", execution_reason_name(unknown->reason), "internal");
        check_string("status", sandbox_status_name(ready->status), "running");

        lost = manager_find(w.manager, &admin, "lost");
        events->adopted(lost, &(Error) { -ECONNREFUSED, "gone" }, w.manager);
        events->destroyed(lost_id, NULL, w.manager);
        check_string("lost", sandbox_status_name(lost->status), "failed");
        events->destroyed(starting_id, NULL, w.manager);
        check_true("not yet", w.manager->recovering);
        events->destroyed(deleted_id, NULL, w.manager);
        check_true("recovered", !w.manager->recovering);
        check_true("gone", !manager_find(w.manager, &admin, starting_id) && !manager_find(w.manager, &admin, deleted_id));
        world_close(&w);
}

TEST(journals_are_bounded) {
        World w;
        Sandbox *sb;
        Execution *first, *x = NULL;

        world_new(&w, "journals");
        sb = create_ready(&w, NULL);
        first = start(sb, "talk");
        w.fake.provider.events->exec_exited(sb, &(ProviderEnd) { .number = first->number, .journals = { { .bytes = 600 << 10 } } }, w.manager);
        for (int i = 0; i < 3; i++) {
                ProviderEnd e = { .journals = { { .bytes = 600 << 10 } } };

                x = start(sb, "talk");
                e.number = x->number;
                w.fake.provider.events->exec_exited(sb, &e, w.manager);
        }
        check_true("the oldest went", first->journals_gone);
        check_true("the newest is there", !x->journals_gone);
        check_result("asked for", journal_open(first, STREAM_STDOUT), -ENODATA);
        world_close(&w);
}
