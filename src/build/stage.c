/* stage.c: runs the stages in order, each from its base to its last step. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "base/text.h"
#include "build/internal.h"
#include "config/config.h"
#include "policy/egress.h"

#define NETWORK_TEXT_MAX (1 << 20)
#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void tell_header(Build *b, const char *text, const char *mark) {
        const PlanStage *p = build_plan_stage(b);

        b->n_done++;
        making_log(b->making, "[%s%s%zu/%zu]%s %s", p->name ? p->name : "", p->name ? " " : "", b->n_done, b->n_steps, mark, text);
        making_progress(b->making, text, b->n_done, b->n_steps);
        b->step_began = clock_usec();
}

/* Steps. */

static const Sequence *stage_action(const PlanStep *step) {
        static const struct {
                PlanKind kind;
                const Sequence *action;
        } actions[] = {
                { PLAN_RUN,     &step_run     },
                { PLAN_COPY,    &step_copy    },
                { PLAN_ADD,     &step_copy    },
                { PLAN_WORKDIR, &step_workdir },
        };

        for (size_t i = 0; i < ELEMENTSOF(actions); i++)
                if (actions[i].kind == step->kind)
                        return step->from >= 0 ? &step_from : actions[i].action;
        return NULL;
}

void build_step_leave(void *part, const Error *error) {
        Build *b = build_of(part);
        Error why = error ? *error : (Error) { 0 };

        making_work_done(&b->in_step.work);
        sequence_heard(&b->in_stage.work.run, error ? &why : NULL);
}

void build_step_end(void *part, const Error *error) {
        Build *b = build_of(part);
        Error why = error ? *error : (Error) { 0 };

        b->copy = build_copy_free(b->copy);
        making_work_done(&b->in_step.work);
        if (error || stage_keep(b, &why) < 0)
                sequence_heard(&b->in_stage.work.run, &why);
}

static int stage_step(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        const PlanStep *step = build_step(b);
        int r;

        if (!step)
                return STEP_DONE;
        r = scope_apply(&s->scope, b->plan, step, &b->request.arguments, reterr);
        if (r < 0)
                return r;
        tell_header(b, step->text, r > 0 && s->next < s->cached ? " CACHED" : "");
        if (r > 0 && s->next >= s->cached)
                return build_begin(&b->in_step, b, stage_action(step), reterr);
        s->next++;
        return STEP_AGAIN;
}

/* Keys of all steps, and the last step that is in the cache. */

static int content_of(Build *b, const BuildScope *scope, const PlanStep *step, char ret[static CONTEXT_HASH_HEX], Error *reterr) {
        _cleanup_(strv_done) Strv sources = STRV_INIT(PLAN_WORDS_MAX);
        Selection selection = { 0 };
        const BuildContext *files;
        int fd, r;

        ret[0] = '\0';
        if ((step->kind != PLAN_COPY && step->kind != PLAN_ADD) || (step->words.n < 2 && step->from < 0))
                return 0;
        if (step->from >= 0) { /* the key of that stage, after its last step */
                memcpy(ret, b->stages[step->from].key, CONTEXT_HASH_HEX);
                return 0;
        }
        r = build_files(b, step, &files, &fd, reterr);
        if (r >= 0)
                r = scope_expand_words(scope, b->plan, step, &sources, reterr);
        if (r >= 0)
                r = context_select(files, &(SelectionRequest) { .sources = sources.items, .n_sources = sources.n - 1, .literal = step->literal, .keep_links = step->archive,
                                .destination = "/x/", .destination_is_directory = true, .unpack = step->kind == PLAN_ADD }, &selection, reterr);
        if (r >= 0)
                memcpy(ret, selection.hash, sizeof(selection.hash));
        selection_done(&selection);
        return r;
}

static const char *network_word(const Build *b) {
        static const char *const defaults[_BUILD_NETWORK_MAX] = { "none", EGRESS_PACKAGES, "open" };

        if (b->request.has_network)
                return b->request.policy ? b->request.policy : network_mode_to_string(b->request.network);
        return *build_profile(b) ? build_profile(b) : defaults[build_default_network(b)];
}

/* The network of the steps as text, for the key. "packages" is expanded to its present rules. The caller
 * frees it. */
static char *network_text(const Build *b) {
        const Strv *packages = &b->manager->settings->network.packages_rules;
        const char *word = network_word(b);
        Text text = TEXT_INIT(NETWORK_TEXT_MAX);

        text_put_string(&text, word);
        for (size_t i = 0; i < packages->n && strstr(word, EGRESS_PACKAGES); i++) {
                text_put_string(&text, "\n");
                text_put_string(&text, packages->items[i]);
        }
        text_put(&text, "", 1);
        if (text.error < 0)
                text_done(&text);
        return text.data;
}

static int compute_key(Build *b, BuildScope *scope, size_t i, char before[static SCOPE_KEY_SIZE], Error *reterr) {
        BuildStage *s = build_stage(b);
        const PlanStep *step = build_plan_stage(b)->steps + i;
        char content[CONTEXT_HASH_HEX];
        _cleanup_free_ char *network = NULL;
        int r = scope_apply(scope, b->plan, step, &b->request.arguments, reterr);

        if (r <= 0)
                return r;
        r = content_of(b, scope, step, content, reterr);
        if (r < 0)
                return r;
        network = network_text(b);
        r = network ? scope_key(scope, b->plan, step, before, content, network, s->keys[i], reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r >= 0)
                memcpy(before, s->keys[i], SCOPE_KEY_SIZE);
        return r;
}

static void look_in_cache(Build *b) {
        BuildStage *s = build_stage(b);
        char snapshot[TREE_NAME_MAX + 1];

        size_t n = 0;

        while (!b->request.no_cache && n < build_plan_stage(b)->n_steps && !build_plan_stage(b)->steps[n].force)
                n++;
        for (size_t i = n; i > 0; i--)
                if (s->keys[i - 1][0] && images_cache_get(b->images, build_tenant(b), s->keys[i - 1], snapshot) > 0) {
                        memcpy(s->snapshot, snapshot, sizeof(snapshot));
                        memcpy(s->key, s->keys[i - 1], SCOPE_KEY_SIZE);
                        s->cached = i;
                        return;
                }
}

/* Computes one key per turn of the loop, because a context may be large. */
static int stage_key(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        int r;

        if (s->next < build_plan_stage(b)->n_steps) {
                r = compute_key(b, &s->ahead, s->next, s->ahead_key, reterr);
                if (r < 0)
                        return r;
                s->next++;
                return STEP_AGAIN;
        }
        scope_done(&s->ahead);
        s->next = 0;
        look_in_cache(b);
        return STEP_DONE;
}

static int stage_scope(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        const PlanStage *p = build_plan_stage(b);
        int r = 0;

        if (!strv_get_env(&s->scope.config.env, "PATH")) /* so that $PATH can be used in ENV PATH=/x:$PATH */
                r = strv_push(&s->scope.config.env, DEFAULT_PATH);
        if (r >= 0 && p->user && !s->scope.config.user)
                r = shape_text_set(&s->scope.config.user, p->user);
        if (r >= 0 && p->workdir && strcmp(s->scope.config.workdir, "/") == 0)
                r = shape_text_set(&s->scope.config.workdir, p->workdir);
        if (p->shell.n > 0)
                strv_done(&s->scope.shell);
        if (r >= 0)
                r = strv_extend(&s->scope.shell, &p->shell);
        if (r >= 0)
                r = scope_copy(&s->ahead, &s->scope);
        memcpy(s->ahead_key, s->key, sizeof(s->key));
        s->keys = r >= 0 ? calloc(MAX_OF(p->n_steps, (size_t) 1), sizeof(*s->keys)) : NULL;
        return s->keys ? STEP_DONE : error_set(reterr, -ENOMEM, "out of memory");
}

/* The template stores its user as a number. */
static int stage_user(void *part, Error *reterr) {
        Build *b = build_of(part);

        return b->stage == b->plan->target && build_stage(b)->scope.config.user ? build_begin(&b->in_step, b, &step_user, reterr) : STEP_DONE;
}

/* Prefixes the error with file and line of the step, or of FROM if it happened before the first step. */
static void stage_locate(const Build *b, Error *error) {
        const PlanStep *step = build_stage(b)->keys ? build_step(b) : NULL;
        const int r = error->code;

        if (making_is_cancelled(b->making))
                return;
        if (step && b->request.steps && step->kind == PLAN_RUN && !step->becomes) /* SDKs search for these words */
                (void) error_prefix(error, r, "%s:%u: RUN: failed to run command '%.160s'", b->file, step->line, step->words.items[0]);
        else if (step)
                (void) error_prefix(error, r, "%s:%u: %s", b->file, step->line, plan_kind_name(step->kind));
        else
                (void) error_prefix(error, r, "%s:%u: FROM", b->file, build_plan_stage(b)->line);
}

static void stage_end(void *part, const Error *error) {
        Build *b = build_of(part);
        Error why = error ? *error : (Error) { 0 };

        making_work_done(&b->in_stage.work);
        if (error) {
                stage_locate(b, &why);
                sequence_heard(&b->whole.work.run, &why);
        } else
                sequence_heard_again(&b->whole.work.run);
}

static const SequenceStep stage_steps[] = {
        { "base", stage_base },
        { "scope", stage_scope },
        { "keys", stage_key },
        { "steps", stage_step },
        { "user", stage_user },
        { "leave", stage_leave },
};
static const Sequence stage = SEQUENCE("stage", stage_steps, stage_end, .defer = making_work_defer);

/* Stages added for --from come first, because others copy from them. */
int build_next_stage(void *part, Error *reterr) {
        Build *b = build_of(part);

        for (unsigned round = 0; round < 2; round++)
                for (size_t i = 0; i < b->plan->n_stages; i++)
                        if (b->plan->stages[i].needed && !b->stages[i].ready && (round > 0 || b->plan->stages[i].borrowed)) {
                                b->stage = i;
                                tell_header(b, b->plan->stages[i].text, "");
                                return build_begin(&b->in_stage, b, &stage, reterr);
                        }
        b->stage = b->plan->target;
        return STEP_DONE;
}
