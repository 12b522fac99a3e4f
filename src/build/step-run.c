/* step-run.c: RUN and WORKDIR; who USER is. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/shape.h"
#include "build/internal.h"
#include "config/config.h"

#define TURN_MAX ((size_t) 1 << 20) /* of output, in one turn of the loop */

/* Accounts. */

static void on_group(Build *b) {
        free(b->group);
        b->group = TAKE_PTR(b->data);
        build_continue(b, b->account_then);
}

static void step_run_on_passwd(Build *b) {
        Sandbox *sb = build_sandbox(b, b->stage);

        free(b->passwd);
        b->passwd = TAKE_PTR(b->data);
        if (sb)
                ops_read(b, sb, "/etc/group", on_group);
}

void op_accounts(Build *b, BuildThen then) {
        Sandbox *sb = build_sandbox(b, b->stage);

        b->account_then = then;
        if (sb)
                ops_read(b, sb, "/etc/passwd", step_run_on_passwd);
}

/* Output. */

static void remember_line(Build *b, const char *data, size_t n) {
        const char *end = data + n, *begin;

        while (end > data && (end[-1] == '\n' || end[-1] == '\r'))
                end--;
        for (begin = end; begin > data && begin[-1] != '\n'; begin--)
                ;
        if (end > begin)
                (void) snprintf(b->last_line, sizeof(b->last_line), "%.*s", (int) MIN_OF(end - begin, (ptrdiff_t) sizeof(b->last_line) - 1), begin);
}

static ssize_t step_run_take(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        Build *b = userdata;

        b->turn += size;
        making_log_bytes(b->making, data, size);
        remember_line(b, (const char *) data, size);
        return (ssize_t) size;
}

static bool step_run_is_full(const Feed *f, void *userdata) {
        const Build *b = userdata;

        return b->turn >= TURN_MAX;
}

/* Programs that fetch do not always say what keeps them from it. */
static void hint_network(Build *b) {
        static const char *const fetchers[] = { "apt-get ", "apt ", "apk ", "dnf ", "pip install", "npm install", "npm ci", "gem install", "bundle install",
                                                "go get", "go mod", "cargo ", "curl ", "wget ", "git clone" };
        const char *text = build_step(b)->text;

        if (build_has_network(b))
                return;
        for (size_t i = 0; i < ELEMENTSOF(fetchers); i++)
                if (strstr(text, fetchers[i])) {
                        making_log(b->making, "hint: the steps of this build have no network; --allow RULE gives them a way to what they fetch, as in --allow http://deb.debian.org");
                        return;
                }
}

static void step_run_judge(Build *b) {
        static const struct {
                ExecutionReason reason;
                const char *words;
        } reasons[] = {
                { EXECUTION_REASON_TIMEOUT, "took longer than a step may (build.stepTimeout of cove.yaml)" },
                { EXECUTION_REASON_MEMORY, "was killed at the memory limit (build.memory of cove.yaml)" },
                { EXECUTION_REASON_DISK, "failed with its disk full (build.disk of cove.yaml)" },
                { EXECUTION_REASON_SANDBOX_ENDED, "was killed with its sandbox" },
        };
        const BuildResult *x = &b->result;
        const char *last = b->last_line[0] ? b->last_line : x->message, *text = build_step(b)->text;

        if (strncmp(text, "RUN ", strlen("RUN ")) == 0)
                text += strlen("RUN ");
        for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
                if (x->reason == reasons[i].reason) {
                        build_fail_step(b, -ECHILD, "'%.120s' %s", text, reasons[i].words);
                        return;
                }
        hint_network(b);
        if (x->exit_code >= 0)
                build_fail_step(b, -ECHILD, "'%.120s' ended with status %d%s%.160s", text, x->exit_code, last[0] ? ": " : "", last);
        else
                build_fail_step(b, -ECHILD, "'%.120s' was ended by signal %d", text, x->signal);
}

static void step_run_taken(Feed *f, const Execution *x, void *userdata) {
        Build *b = userdata;

        b->result = (BuildResult) { .reason = x->reason, .exit_code = x->exit_code, .signal = x->signal };
        (void) snprintf(b->result.message, sizeof(b->result.message), "%s", x->message ? x->message : "");
}

static int step_run_over(Feed *f, void *userdata) {
        Build *b = userdata;

        feed_close(f);
        if (b->result.exit_code == 0)
                stage_step_done(b);
        else
                step_run_judge(b);
        return 0;
}

/* A step that says much says it in several turns of the loop. */
static void step_run_pump(Build *b) {
        int r;

        b->turn = 0;
        r = feed_pump(&b->feed);
        if (r > 0)
                build_continue(b, step_run_pump);
        else if (r < 0)
                build_fail_step(b, r, "its output cannot be read");
}

static void step_run_on_changed(Feed *f, void *userdata) {
        Build *b = userdata;

        if (b->then != step_run_pump) /* else its turn comes */
                step_run_pump(b);
}

static int step_run_make_spec(Build *b, ExecutionSpec *ret, Error *reterr) {
        BuildStage *s = build_stage(b);
        char home[sizeof(s->account.home) + 8];
        int r = scope_command(&s->scope, build_step(b), &ret->args, reterr);

        if (r < 0)
                return r;
        r = scope_environment(&s->scope, &b->request.arguments, &ret->env);
        (void) snprintf(home, sizeof(home), "HOME=%s", s->account.home);
        if (r >= 0 && !strv_get_env(&ret->env, "HOME"))
                r = strv_push(&ret->env, home);
        if (r >= 0)
                r = shape_text_set(&ret->cwd, s->scope.workdir);
        ret->has_user = true;
        ret->uid = s->account.uid;
        ret->gid = s->account.gid;
        ret->has_timeout = true;
        ret->timeout_usec = b->manager->settings->build.step_usec;
        return r < 0 ? error_set(reterr, r, "%s", strerror(-r)) : 0;
}

static void step_run_start(Build *b) {
        static const FeedReader reader = {
                .piece_max = FEED_PIECE_MAX,
                .changed = step_run_on_changed,
                .taken = step_run_taken,
                .full = step_run_is_full,
                .piece = step_run_take,
                .end = step_run_over,
        };
        Sandbox *sb = build_sandbox(b, b->stage);
        ExecutionSpec spec = { 0 };
        Execution *x;
        Error error = { 0 };
        int r;

        if (!sb)
                return;
        b->last_line[0] = '\0';
        r = step_run_make_spec(b, &spec, &error);
        if (r >= 0)
                r = execution_start(sb, &spec, &x, &error);
        execution_spec_done(&spec);
        if (r >= 0)
                r = feed_open(&b->feed, x, (uint64_t[_STREAM_MAX]) { 0 }, &reader, b);
        if (r < 0)
                build_fail_step(b, r, "%s", error.text[0] ? error.text : strerror(-r));
        else
                step_run_pump(b);
}

int build_find_account(Build *b, const char *text, bool chown, Account *ret, Error *reterr) {
        return account_find(text, b->passwd, b->group, chown, ret, reterr);
}

static void step_run_with_accounts(Build *b) {
        BuildStage *s = build_stage(b);
        const char *user = build_step(b)->user;
        Error error = { 0 };
        int r = build_find_account(b, user ? user : s->scope.user ? s->scope.user : "0", /* chown= */ false, &s->account, &error);

        if (r == -ENOENT && user)
                build_fail_step(b, r, "command failed: unauthenticated: invalid username: '%s'", user);
        else if (r < 0)
                build_fail_step(b, r, "USER: %s", error.text);
        else
                step_run_start(b);
}

void step_run(Build *b) {
        op_accounts(b, step_run_with_accounts);
}

/* WORKDIR makes its directory, which belongs to root, as docker has it; or to the user, where the step says so. */

static void make_own_workdir(Build *b) {
        BuildStage *s = build_stage(b);
        Sandbox *sb = build_sandbox(b, b->stage);
        Error error = { 0 };
        int r;

        if (!sb)
                return;
        r = build_find_account(b, s->scope.user ? s->scope.user : "0", /* chown= */ false, &s->account, &error);
        if (r < 0)
                build_fail_step(b, r, "USER: %s", error.text);
        else
                ops_mkdir(b, sb, s->scope.workdir, &s->account, stage_step_done);
}

void step_workdir(Build *b) {
        Sandbox *sb = build_sandbox(b, b->stage);

        if (build_step(b)->own)
                op_accounts(b, make_own_workdir);
        else if (sb)
                ops_mkdir(b, sb, build_stage(b)->scope.workdir, /* owner= */ NULL, stage_step_done);
}
