/* stage.c: stages in their order, each from its base to its last step. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/internal.h"
#include "config/config.h"
#include "json/json.h"
#include "policy/policy.h"

#define SANDBOX_TIMEOUT (24 * 3600 * USEC_PER_SEC) /* one that is forgotten ends by itself */
#define WAIT            (600 * USEC_PER_SEC)       /* for a place */

static void next_stage(Build *b);
static void next_step(Build *b);

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

/* Sandboxes. */

/* All that is public, as a policy says it. */
static int open_network(Build *b, SandboxSpec *spec) {
        const NetworkConfig *n = &b->manager->settings->network;
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        _cleanup_json_ json_t *j = json_pack("{s:s}", "network", "open"), *normal = NULL;
        Policy policy = { 0 };
        int r = j ? policy_parse(j, "policy", n->reachable, n->n_reachable, &policy, &complaints) : -ENOMEM;

        if (r < 0)
                return r;
        normal = policy_to_json(&policy);
        policy_done(&policy);
        free(spec->policy);
        spec->policy = normal ? json_dumps(normal, JSON_COMPACT) : NULL;
        spec->network = NETWORK_OPEN;
        return spec->policy ? 0 : -ENOMEM;
}

static int make_spec(Build *b, const BuildStage *s, SandboxSpec *ret, Error *reterr) {
        const BuildConfig *c = &b->manager->settings->build;
        const Profile *p = *c->profile ? profile_find(b->manager->settings, c->profile) : NULL;
        char metadata[128];
        int r;

        if (*c->profile && !p)
                return error_set(reterr, -EINVAL, "build.profile of cove.yaml: there is no profile '%s'", c->profile);
        sandbox_spec_defaults(ret);
        (void) snprintf(metadata, sizeof(metadata), "{\"templateBuild\":\"%s\"}", making_id(b->making));
        r = p ? profile_apply(p, ret) : 0;
        if (r >= 0)
                r = sandbox_text_set(&ret->tenant, b->tenant ? b->tenant : "");
        if (r >= 0)
                r = sandbox_text_set(&ret->metadata, metadata);
        if (r >= 0)
                r = sandbox_text_set(&ret->workdir, "/");
        if (r >= 0)
                r = s->base ? sandbox_text_set(&ret->template_name, s->base) : sandbox_text_set(&ret->layer, s->layer);
        if (r >= 0 && s->snapshot[0])
                r = sandbox_text_set(&ret->snapshot, s->snapshot);
        if (r >= 0 && b->request.has_network) {
                ret->network = b->request.network;
                r = sandbox_text_set(&ret->policy, b->request.policy);
        } else if (r >= 0 && !p && c->open)
                r = open_network(b, ret);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        ret->persistent = true;
        ret->uid = ret->gid = 0;
        ret->timeout_usec = SANDBOX_TIMEOUT;
        ret->limits.exec_timeout_usec = 0;
        ret->limits.cpu_time_usec = 0;
        if (!p) {
                ret->limits.memory_bytes = c->memory_bytes;
                ret->limits.cpu_milli = c->cpu_milli;
                ret->limits.disk_bytes = c->disk_bytes;
                ret->limits.pids = c->pids;
        }
        return 0;
}

static void on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        Build *b = userdata;

        b->acquisition = NULL;
        if (error) {
                build_fail_step(b, error->code, "no sandbox for this stage: %s", error->text);
                return;
        }
        memcpy(b->stages[b->acquiring].sandbox, sb->id, sizeof(sb->id));
        build_continue(b, b->then);
}

void stage_need_sandbox(Build *b, size_t stage, BuildThen then) {
        const Principal who = { .scope = b->who, .tenant = b->tenant, .may_loosen = b->may_loosen };
        Acquisition *q = NULL;
        SandboxSpec spec = { 0 };
        Error error = { 0 };
        int r;

        if (b->stages[stage].sandbox[0]) {
                build_continue(b, then);
                return;
        }
        r = make_spec(b, b->stages + stage, &spec, &error);
        if (r < 0)
                sandbox_spec_done(&spec);
        else {
                b->then = then;
                b->acquiring = stage;
                r = manager_acquire(b->manager, &who, &spec, WAIT, on_acquired, b, &q, &error);
        }
        if (r < 0)
                build_fail_step(b, r, "no sandbox for this stage: %s", error.text);
        else if (q)
                b->acquisition = q;
}

/* The rest of a stage's steps may still want its files. */
static bool is_wanted(const Build *b, size_t stage) {
        for (size_t i = 0; i < b->plan->n_stages; i++)
                for (size_t k = 0; b->plan->stages[i].needed && !b->stages[i].done && k < b->plan->stages[i].n_steps; k++)
                        if (b->plan->stages[i].steps[k].from == (int) stage)
                                return true;
        return stage == b->plan->target;
}

static void leave_sandbox(Build *b) {
        BuildStage *s = build_stage(b);
        Sandbox *sb = NULL;

        if (!s->sandbox[0] || is_wanted(b, b->stage))
                return;
        HASH_FIND_STR(b->manager->sandboxes, s->sandbox, sb);
        if (sb)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        s->sandbox[0] = '\0';
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
        build_continue(b, next_step);
}

void stage_step_done(Build *b) {
        BuildStage *s = build_stage(b);

        stage_keep(b, s->keys[s->next], step_kept);
}

static void next_step(Build *b) {
        BuildStage *s = build_stage(b);
        const PlanStep *step = build_step(b);
        Error error = { 0 };
        int r;

        if (!step) {
                s->done = true;
                leave_sandbox(b);
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
                build_continue(b, next_step);
        }
}

/* Keys of all steps, and the last that the cache has. */

static int content_of(Build *b, const BuildScope *scope, const PlanStep *step, char ret[static CONTEXT_HASH_HEX], Error *reterr) {
        _cleanup_(strv_done) Strv sources = STRV_INIT(PLAN_WORDS_MAX);
        Selection selection = { 0 };
        int r = 0;

        ret[0] = '\0';
        if ((step->kind != PLAN_COPY && step->kind != PLAN_ADD) || (step->words.n < 2 && step->from < 0))
                return 0;
        if (step->from >= 0) { /* what that stage has become */
                memcpy(ret, b->stages[step->from].key, CONTEXT_HASH_HEX);
                return 0;
        }
        for (size_t i = 0; r >= 0 && i + 1 < step->words.n; i++) {
                char *word = NULL;

                r = step->literal ? ((word = strdup(step->words.items[i])) ? 0 : -ENOMEM) : scope_expand(scope, b->plan, step->words.items[i], &word, reterr);
                if (r >= 0)
                        r = strv_push_take(&sources, word);
                if (r < 0)
                        free(word);
        }
        if (r >= 0)
                r = context_select(b->context, &(SelectionRequest) { .sources = sources.items, .n_sources = sources.n, .literal = step->literal,
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

        for (size_t i = b->request.no_cache ? 0 : plan_stage(b)->n_steps; i > 0; i--)
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
        build_continue(b, next_step);
}

static void stage_based(Build *b) {
        BuildStage *s = build_stage(b);

        s->keys = calloc(MAX_OF(plan_stage(b)->n_steps, (size_t) 1), sizeof(*s->keys));
        memcpy(s->ahead_key, s->key, sizeof(s->key));
        if (!s->keys || scope_copy(&s->ahead, &s->scope) < 0)
                build_fail_step(b, -ENOMEM, "out of memory");
        else
                build_continue(b, next_key);
}

/* What a stage stands on. */

static int take_list(Strv *to, const Strv *from) {
        for (size_t i = 0; i < from->n; i++) {
                int r = strv_push(to, from->items[i]);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int take_config(BuildScope *s, const ImageConfig *c) {
        int r = take_list(&s->env, &c->env);

        if (r >= 0)
                r = take_list(&s->entrypoint, &c->entrypoint);
        if (r >= 0)
                r = take_list(&s->cmd, &c->cmd);
        if (r >= 0)
                r = take_list(&s->exposed, &c->exposed);
        if (r >= 0)
                r = take_list(&s->labels, &c->labels);
        if (r >= 0 && c->workdir && *c->workdir)
                r = sandbox_text_set(&s->workdir, c->workdir);
        if (r >= 0 && c->user && *c->user)
                r = sandbox_text_set(&s->user, c->user);
        if (r >= 0)
                r = sandbox_text_set(&s->start_command, c->start_command);
        return r < 0 ? r : sandbox_text_set(&s->ready_command, c->ready_command);
}

static int set_base_key(BuildStage *s, const char *digest) {
        return scope_key(&s->scope, NULL, /* step= */ NULL, digest, s->base ? s->base : s->layer, NULL, s->key, NULL);
}

static int take_image(BuildStage *s, const Image *image) {
        int r = take_config(&s->scope, &image->config);

        if (r < 0)
                return r;
        (void) snprintf(s->layer, sizeof(s->layer), "%s", image->layer);
        (void) snprintf(s->snapshot, sizeof(s->snapshot), "%s", image->snapshot ? image->snapshot : "");
        if (!*s->layer)
                r = sandbox_text_set(&s->base, image->base ? image->base : "host");
        if (r >= 0)
                r = sandbox_text_set(&s->layers, image->layers);
        return r < 0 ? r : set_base_key(s, image->digest);
}

static void on_image(const Image *image, const Error *error, void *userdata) {
        Build *b = userdata;
        int r;

        if (!build_heard(b))
                return;
        if (error) {
                build_fail_step(b, error->code, "%s", error->text);
                return;
        }
        r = take_image(build_stage(b), image);
        if (r < 0)
                build_fail_step(b, r, "%s", strerror(-r));
        else
                build_continue(b, stage_based);
}

bool build_is_spawners(const Manager *m, const char *name) {
        const Strv *list = m->config.templates;

        for (size_t i = 0; list && i < list->n; i++)
                if (strncmp(list->items[i], name, strlen(name)) == 0 && list->items[i][strlen(name)] == '=')
                        return true;
        return strcmp(name, "host") == 0;
}

static int take_parent(Build *b, const BuildStage *parent) {
        BuildStage *s = build_stage(b);
        int r = scope_copy(&s->scope, &parent->scope);

        if (r >= 0)
                r = sandbox_text_set(&s->base, parent->base);
        if (r >= 0)
                r = sandbox_text_set(&s->layers, parent->layers);
        memcpy(s->layer, parent->layer, sizeof(s->layer));
        memcpy(s->snapshot, parent->snapshot, sizeof(s->snapshot));
        memcpy(s->key, parent->key, sizeof(s->key));
        return r;
}

static void begin_stage(Build *b) {
        const PlanStage *p = plan_stage(b);
        BuildStage *s = build_stage(b);
        Error error = { 0 };
        int r;

        s->ready = true;
        tell_header(b, p->text, "");
        if (p->parent >= 0) {
                r = take_parent(b, b->stages + p->parent);
                if (r >= 0)
                        build_continue(b, stage_based);
        } else {
                r = scope_init(&s->scope);
                if (r >= 0 && build_is_spawners(b->manager, p->base)) {
                        r = sandbox_text_set(&s->base, p->base);
                        if (r >= 0)
                                r = set_base_key(s, "");
                        if (r >= 0)
                                build_continue(b, stage_based);
                } else if (r >= 0) {
                        b->waiting = true;
                        r = images_get(b->images, b->making, p->base, on_image, b, &error);
                        if (r < 0)
                                b->waiting = false;
                }
        }
        if (r < 0)
                build_fail_step(b, r, "%s", error.text[0] ? error.text : strerror(-r));
}

/* Those that nobody wrote first: others copy out of them. */
static void next_stage(Build *b) {
        for (unsigned round = 0; round < 2; round++)
                for (size_t i = 0; i < b->plan->n_stages; i++)
                        if (b->plan->stages[i].needed && !b->stages[i].ready && (round > 0 || b->plan->stages[i].borrowed)) {
                                b->stage = i;
                                begin_stage(b);
                                return;
                        }
        b->stage = b->plan->target;
        build_finish(b);
}

void stages_begin(Build *b) {
        next_stage(b);
}
