/* step-run.c: RUN and WORKDIR; the lookup of USER. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/shape.h"
#include "build/internal.h"
#include "config/config.h"
#include "core/network.h"
#include "core/turn.h"
#include "policy/egress.h"

#define TURN_MAX ((size_t) 1 << 20) /* bytes of output processed in one turn of the loop */

/* First steps of most sequences. */

int build_need_sandbox(void *part, Error *reterr) {
        Build *b = build_of(part);

        return stage_need_sandbox(b, b->stage, reterr);
}

/* Accounts are needed for RUN, for the user of the template (no step), and for steps that name an owner. */
static bool step_wants_accounts(const Build *b) {
        const PlanStep *step = build_step(b);

        return !step || step->kind == PLAN_RUN || step->chown || step->own;
}

int build_read_accounts(void *part, Error *reterr) {
        Build *b = build_of(part);
        const struct {
                const char *path;
                char **content;
        } all[] = { { "/etc/passwd", &b->passwd }, { "/etc/group", &b->group } };
        const size_t i = b->n_accounts;

        b->n_accounts = step_wants_accounts(b) && i < ELEMENTSOF(all) ? i + 1 : 0;
        return b->n_accounts > 0 ? build_again(b, ops_read(b, b->stage, all[i].path, all[i].content, reterr)) : STEP_DONE;
}

int build_find_account(Build *b, const char *text, bool chown, Account *ret, Error *reterr) {
        return account_find(text, b->passwd, b->group, chown, ret, reterr);
}

/* Looks up the account of the step: `user`, else that of USER. */
static int step_find_account(Build *b, const char *user, Error *reterr) {
        BuildStage *s = build_stage(b);
        int r = build_find_account(b, user ? user : s->scope.config.user ? s->scope.config.user : "0", /* chown= */ false, &s->account, reterr);

        if (r == -ENOENT && user)
                return error_set(reterr, r, "command failed: unauthenticated: invalid username: '%s'", user);
        return r < 0 ? error_prefix(reterr, r, "USER") : r;
}

/* Output. */

/* A program may write a line in several pieces, as curl does: they are joined, unless the other stream comes between. */
static void remember_line(Build *b, ExecutionStream stream, const char *data, size_t n) {
        const char *const end = data + n;

        b->line_open = b->line_open && b->line_stream == stream;
        b->line_stream = stream;
        for (const char *next; data < end; data = next) {
                const char *stop = data;
                size_t used = b->line_open ? strlen(b->last_line) : 0;

                while (stop < end && *stop != '\n' && *stop != '\r')
                        stop++;
                if (stop > data)
                        (void) snprintf(b->last_line + used, sizeof(b->last_line) - used, "%.*s",
                                        (int) MIN_OF(stop - data, (ptrdiff_t) sizeof(b->last_line) - 1), data);
                b->line_open = stop == end && (b->line_open || stop > data);
                next = stop < end ? stop + 1 : end;
        }
}

static ssize_t step_run_take(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        Build *b = userdata;

        b->turn += size;
        making_log_bytes(b->making, data, size);
        remember_line(b, stream, (const char *) data, size);
        return (ssize_t) size;
}

static bool step_run_is_full(const Feed *f, void *userdata) {
        const Build *b = userdata;

        return b->turn >= TURN_MAX;
}

/* A hint for users of an SDK, which has no option such as --allow. */
static const char *network_hint(const Build *b) {
        const bool by_default = !b->request.has_network && !*build_profile(b);

        if (b->request.has_network ? b->request.network == NETWORK_NONE : by_default && build_default_network(b) == BUILD_NETWORK_NONE)
                return "the steps of this build have no network; the operator gives one to all builds (build.network: packages in cove.yaml), "
                       "`cove template build --allow RULE` to one";
        if (by_default && build_default_network(b) == BUILD_NETWORK_PACKAGES)
                return "the steps of this build reach package registries only (`cove policy packages` lists them); to fetch from elsewhere, copy the file into the build, "
                       "let the operator add the host (network.packages in cove.yaml), or use `cove template build --allow packages --allow RULE`";
        return NULL; /* the caller's own policy */
}

static bool step_run_fetches(const Build *b) {
        static const char *const fetchers[] = { "apt-get ", "apt ", "apk ", "dnf ", "pip install", "npm install", "npm i ", "npm ci", "gem install", "bundle install",
                                                "go get", "go mod", "cargo ", "curl ", "wget ", "git clone" };

        for (size_t i = 0; i < ELEMENTSOF(fetchers); i++)
                if (strstr(build_step(b)->text, fetchers[i]))
                        return true;
        return false;
}

/* Programs that fetch do not always say why they cannot, and many steps fail for another reason. The gate reports a repeated denial only once, so a
 * denial during an earlier step counts if the program of this step fetches. Without a gate there are no denials to count. */
static void hint_network(Build *b) {
        const BuildStage *s = build_stage(b);
        const char *hint = network_hint(b);

        if (!hint || !s->sandbox)
                return;
        if (s->sandbox->network_denials > b->denials)
                making_log(b->making, "hint: %s", s->sandbox->network_denial);
        else if (!step_run_fetches(b) || (sandbox_has_network(s->sandbox) && s->sandbox->network_denials == 0))
                return;
        making_log(b->making, "hint: %s", hint);
}

static int step_run_judge(Build *b, Error *reterr) {
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

        if (x->exit_code == 0)
                return STEP_DONE;
        if (strncmp(text, "RUN ", strlen("RUN ")) == 0)
                text += strlen("RUN ");
        for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
                if (x->reason == reasons[i].reason)
                        return error_set(reterr, -ECHILD, "'%.120s' %s", text, reasons[i].words);
        hint_network(b);
        if (x->exit_code < 0)
                return error_set(reterr, -ECHILD, "'%.120s' was ended by signal %d", text, x->signal);
        return error_set(reterr, -ECHILD, "'%.120s' ended with status %d%s%.160s", text, x->exit_code, last[0] ? ": " : "", last);
}

static void step_run_taken(Feed *f, const Execution *x, void *userdata) {
        Build *b = userdata;

        b->result = (BuildResult) { .reason = x->reason, .exit_code = x->exit_code, .signal = x->signal };
        (void) snprintf(b->result.message, sizeof(b->result.message), "%s", x->message ? x->message : "");
}

static int step_run_over(Feed *f, void *userdata) {
        return 0; /* f->over is checked instead */
}

static void step_run_on_changed(Feed *f, void *userdata) {
        Build *b = userdata;

        if (b->again) /* else a turn of the loop is already scheduled */
                build_heard(b, NULL);
}

/* Long output is processed in several turns of the loop. */
static int step_run_follow(void *part, Error *reterr) {
        Build *b = build_of(part);
        int r;

        b->turn = 0;
        r = feed_pump(&b->feed);
        if (r < 0)
                return error_set(reterr, r, "its output cannot be read");
        if (r > 0)
                return STEP_AGAIN;
        if (!b->feed.over)
                return build_again(b, STEP_WAITS);
        feed_close(&b->feed);
        return STEP_DONE;
}

static int step_run_on_settled(sd_event_source *source, uint64_t usec, void *userdata) {
        build_heard(userdata, NULL);
        return 0;
}

/* The gate tells of a denial before the program hears of it. The message is there by the program's end, but the loop may come to it
 * later: the end is judged in a turn that comes after it. */
static int step_run_settle(void *part, Error *reterr) {
        Build *b = build_of(part);
        const Sandbox *sb = build_stage(b)->sandbox;
        int r;

        if (b->result.exit_code == 0 || !sb || !sandbox_has_network(sb))
                return STEP_DONE;
        r = b->settle ? 0 : turn_new(b->manager->event, &b->settle, step_run_on_settled, b);
        if (r >= 0)
                r = turn_again(b->settle);
        return r < 0 ? r : STEP_WAITS;
}

static int step_run_end(void *part, Error *reterr) {
        return step_run_judge(build_of(part), reterr);
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
                r = shape_text_set(&ret->cwd, s->scope.config.workdir);
        ret->has_user = true;
        ret->uid = s->account.uid;
        ret->gid = s->account.gid;
        ret->has_timeout = true;
        ret->timeout_usec = b->manager->settings->build.step_usec;
        return r < 0 ? error_set(reterr, r, "%s", strerror(-r)) : 0;
}

static int step_run_start(void *part, Error *reterr) {
        static const FeedReader reader = {
                .piece_max = FEED_PIECE_MAX,
                .changed = step_run_on_changed,
                .taken = step_run_taken,
                .full = step_run_is_full,
                .piece = step_run_take,
                .end = step_run_over,
        };
        Build *b = build_of(part);
        ExecutionSpec spec = { 0 };
        Execution *x;
        Sandbox *sb;
        int r = step_find_account(b, build_step(b)->user, reterr);

        if (r >= 0)
                r = build_sandbox(b, b->stage, &sb, reterr);
        if (r < 0)
                return r;
        b->last_line[0] = '\0';
        b->line_open = false;
        b->denials = sb->network_denials;
        r = step_run_make_spec(b, &spec, reterr);
        if (sb->spec.limits.exec_timeout_usec > 0 && (spec.timeout_usec == 0 || spec.timeout_usec > sb->spec.limits.exec_timeout_usec))
                spec.timeout_usec = sb->spec.limits.exec_timeout_usec;
        if (r >= 0)
                r = execution_start(sb, &principal_daemon, &spec, &x, reterr);
        execution_spec_done(&spec);
        if (r >= 0)
                r = feed_open(&b->feed, x, (uint64_t[_STREAM_MAX]) { 0 }, &reader, b);
        return r < 0 ? r : STEP_DONE;
}

static const SequenceStep run_steps[] = {
        { "sandbox", build_need_sandbox, build_drop, build_stop },
        { "accounts", build_read_accounts, .cancel = build_stop },
        { "start", step_run_start },
        { "follow", step_run_follow, .cancel = build_stop },
        { "settle", step_run_settle, .cancel = build_stop },
        { "end", step_run_end },
};
const Sequence step_run = SEQUENCE("run", run_steps, build_step_end, .defer = making_work_defer);

/* WORKDIR creates its directory. As with docker, the owner is root, unless the step asks for the user. */

static int step_workdir_make(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        const bool own = build_step(b)->own;
        int r = own ? step_find_account(b, /* user= */ NULL, reterr) : 0;

        return r < 0 ? r : ops_mkdir(b, b->stage, s->scope.config.workdir, own ? &s->account : NULL, reterr);
}

static const SequenceStep workdir_steps[] = {
        { "sandbox", build_need_sandbox, build_drop, build_stop },
        { "accounts", build_read_accounts, .cancel = build_stop },
        { "make", step_workdir_make, .cancel = build_stop },
};
const Sequence step_workdir = SEQUENCE("workdir", workdir_steps, build_step_end, .defer = making_work_defer);

static const SequenceStep user_steps[] = {
        { "sandbox", build_need_sandbox, build_drop, build_stop },
        { "accounts", build_read_accounts, .cancel = build_stop },
};
const Sequence step_user = SEQUENCE("user", user_steps, build_step_leave, .defer = making_work_defer);
