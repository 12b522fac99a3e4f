/* stage.c: stages in their order, each from its base to its last step. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/internal.h"
#include "config/config.h"
#include "policy/egress.h"

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void next_stage(Build *b);
static void stage_next_step(Build *b);

static const PlanStage *plan_stage(const Build *b) {
        return b->plan->stages + b->stage;
}

static void tell_header(Build *b, const char *text, const char *mark) {
        const PlanStage *p = plan_stage(b);

        b->n_done++;
        making_log(b->making, "[%s%s%zu/%zu]%s %s", p->name ? p->name : "", p->name ? " " : "", b->n_done, b->n_steps, mark, text);
        making_progress(b->making, text, b->n_done, b->n_steps);
        b->step_began = clock_usec();
}

/* Steps. */

static const struct {
        PlanKind kind;
        void (*begin)(Build *b);
} actions[] = {
        { PLAN_RUN,     step_run     },
        { PLAN_COPY,    step_copy    },
        { PLAN_ADD,     step_copy    },
        { PLAN_WORKDIR, step_workdir },
};

static void begin_action(Build *b) {
        const PlanStep *step = build_step(b);

        for (size_t i = 0; i < ELEMENTSOF(actions); i++)
                if (actions[i].kind == step->kind) {
                        actions[i].begin(b);
                        return;
                }
}

static void step_kept(Build *b) {
        BuildStage *s = build_stage(b);
        usec_t took = clock_usec() - b->step_began;

        making_log(b->making, "done in %llu.%01llu s", (unsigned long long) (took / USEC_PER_SEC), (unsigned long long) (took / (USEC_PER_SEC / 10) % 10));
        s->next++;
        build_continue(b, stage_next_step);
}

void stage_step_done(Build *b) {
        BuildStage *s = build_stage(b);

        stage_keep(b, s->keys[s->next], step_kept);
}

static void stage_next_step(Build *b) {
        BuildStage *s = build_stage(b);
        const PlanStep *step = build_step(b);
        Error error = { 0 };
        int r;

        if (!step) {
                s->done = true;
                stage_leave_sandbox(b);
                build_continue(b, next_stage);
                return;
        }
        r = scope_apply(&s->scope, b->plan, step, &b->request.arguments, &error);
        if (r < 0) {
                build_fail_step(b, r, "%s", error.text);
                return;
        }
        tell_header(b, step->text, r > 0 && s->next < s->cached ? " CACHED" : "");
        if (r > 0 && s->next >= s->cached)
                stage_need_sandbox(b, b->stage, begin_action);
        else {
                s->next++;
                build_continue(b, stage_next_step);
        }
}

/* Keys of all steps, and the last that the cache has. */

static int content_of(Build *b, const BuildScope *scope, const PlanStep *step, char ret[static CONTEXT_HASH_HEX], Error *reterr) {
        _cleanup_(strv_done) Strv sources = STRV_INIT(PLAN_WORDS_MAX);
        Selection selection = { 0 };
        const BuildContext *files;
        int fd, r;

        ret[0] = '\0';
        if ((step->kind != PLAN_COPY && step->kind != PLAN_ADD) || (step->words.n < 2 && step->from < 0))
                return 0;
        if (step->from >= 0) { /* what that stage has become */
                memcpy(ret, b->stages[step->from].key, CONTEXT_HASH_HEX);
                return 0;
        }
        r = build_files(b, step, &files, &fd, reterr);
        for (size_t i = 0; r >= 0 && i + 1 < step->words.n; i++) {
                char *word = NULL;

                r = step->literal ? ((word = strdup(step->words.items[i])) ? 0 : -ENOMEM) : scope_expand(scope, b->plan, step->words.items[i], &word, reterr);
                if (r >= 0)
                        r = strv_push_take(&sources, word);
                if (r < 0)
                        free(word);
        }
        if (r >= 0)
                r = context_select(files, &(SelectionRequest) { .sources = sources.items, .n_sources = sources.n, .literal = step->literal, .keep_links = step->archive,
                                .destination = "/x/", .destination_is_directory = true, .unpack = step->kind == PLAN_ADD }, &selection, reterr);
        if (r >= 0)
                memcpy(ret, selection.hash, sizeof(selection.hash));
        selection_done(&selection);
        return r;
}

static const char *network_word(const Build *b) {
        const BuildConfig *c = &b->manager->settings->build;

        if (b->request.has_network)
                return b->request.policy ? b->request.policy : network_mode_to_string(b->request.network);
        return *c->profile ? c->profile : c->open ? "open" : "none";
}

static int compute_key(Build *b, BuildScope *scope, size_t i, char before[static SCOPE_KEY_SIZE], Error *reterr) {
        BuildStage *s = build_stage(b);
        const PlanStep *step = plan_stage(b)->steps + i;
        char content[CONTEXT_HASH_HEX];
        int r = scope_apply(scope, b->plan, step, &b->request.arguments, reterr);

        if (r <= 0)
                return r;
        r = content_of(b, scope, step, content, reterr);
        if (r >= 0)
                r = scope_key(scope, b->plan, step, before, content, network_word(b), s->keys[i], reterr);
        if (r >= 0)
                memcpy(before, s->keys[i], SCOPE_KEY_SIZE);
        return r;
}

static void look_in_cache(Build *b) {
        BuildStage *s = build_stage(b);
        char snapshot[TREE_NAME_MAX + 1];

        size_t n = 0;

        while (!b->request.no_cache && n < plan_stage(b)->n_steps && !plan_stage(b)->steps[n].force)
                n++;
        for (size_t i = n; i > 0; i--)
                if (s->keys[i - 1][0] && images_cache_get(b->images, b->tenant ? b->tenant : "", s->keys[i - 1], snapshot) > 0) {
                        memcpy(s->snapshot, snapshot, sizeof(snapshot));
                        memcpy(s->key, s->keys[i - 1], SCOPE_KEY_SIZE);
                        s->cached = i;
                        return;
                }
}

/* One step in each turn of the loop: a context may be large. */
static void next_key(Build *b) {
        BuildStage *s = build_stage(b);
        Error error = { 0 };
        int r;

        if (s->next < plan_stage(b)->n_steps) {
                r = compute_key(b, &s->ahead, s->next, s->ahead_key, &error);
                if (r < 0) {
                        build_fail_step(b, r, "%s", error.text[0] ? error.text : strerror(-r));
                        return;
                }
                s->next++;
                build_continue(b, next_key);
                return;
        }
        scope_done(&s->ahead);
        s->next = 0;
        look_in_cache(b);
        build_continue(b, stage_next_step);
}

static void stage_based(Build *b) {
        BuildStage *s = build_stage(b);

        const PlanStage *p = plan_stage(b);
        int r = 0;

        if (!strv_get_env(&s->scope.env, "PATH")) /* so that ENV PATH=/x:$PATH means something */
                r = strv_push(&s->scope.env, DEFAULT_PATH);
        if (r >= 0 && p->user && !s->scope.user)
                r = shape_text_set(&s->scope.user, p->user);
        if (r >= 0 && p->workdir && strcmp(s->scope.workdir, "/") == 0)
                r = shape_text_set(&s->scope.workdir, p->workdir);
        if (p->shell.n > 0)
                strv_done(&s->scope.shell);
        for (size_t i = 0; r >= 0 && i < p->shell.n; i++)
                r = strv_push(&s->scope.shell, p->shell.items[i]);
        if (r < 0) {
                build_fail_step(b, -ENOMEM, "out of memory");
                return;
        }
        s->keys = calloc(MAX_OF(plan_stage(b)->n_steps, (size_t) 1), sizeof(*s->keys));
        memcpy(s->ahead_key, s->key, sizeof(s->key));
        if (!s->keys || scope_copy(&s->ahead, &s->scope) < 0)
                build_fail_step(b, -ENOMEM, "out of memory");
        else
                build_continue(b, next_key);
}

/* Those that nobody wrote first: others copy out of them. */
static void next_stage(Build *b) {
        for (unsigned round = 0; round < 2; round++)
                for (size_t i = 0; i < b->plan->n_stages; i++)
                        if (b->plan->stages[i].needed && !b->stages[i].ready && (round > 0 || b->plan->stages[i].borrowed)) {
                                b->stage = i;
                                tell_header(b, b->plan->stages[i].text, "");
                                stage_begin(b, stage_based);
                                return;
                        }
        b->stage = b->plan->target;
        build_finish(b);
}

void stages_begin(Build *b) {
        next_stage(b);
}
