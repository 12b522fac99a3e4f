/* build.c: start, failure, cancellation and end of builds; deletes what an earlier daemon's builds have left. */

#include "build/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/shape.h"
#include "build/book.h"
#include "build/internal.h"
#include "build/recipe.h"
#include "core/secret.h"
#include "image/names.h"
#include "json/json.h"

#define SWEEP_INTERVAL (100 * USEC_PER_MSEC)
#define METADATA_KEY   "templateBuild" /* of a sandbox: the build that it belongs to */

void build_request_done(BuildRequest *q) {
        for (size_t i = 0; i < q->n_archives; i++) {
                free(q->archives[i].name);
                (void) fd_close(q->archives[i].fd);
        }
        if (q->auth)
                secret_wipe(q->auth, strlen(q->auth));
        FREE_ALL(q->name, q->file, q->text, q->recipe, q->target, q->steps, q->archives, q->auth, q->policy);
        strv_done(&q->arguments);
        (void) spool_unref(q->context);
        *q = (BuildRequest) { 0 };
}

static void build_stage_done(BuildStage *s) {
        scope_done(&s->scope);
        scope_done(&s->ahead);
        (void) sandbox_unref(s->sandbox);
        FREE_ALL(s->base, s->layers, s->keys);
}

static Build *build_free(Build *b) {
        if (!b)
                return NULL;
        build_abandon(b);
        sd_event_source_disable_unref(b->failed);
        making_work_done(&b->in_step.work);
        making_work_done(&b->in_stage.work);
        making_work_done(&b->whole.work);
        if (b->builds)
                DL_DELETE(b->builds->list, b);
        for (size_t i = 0; b->stages && i < b->plan->n_stages; i++)
                build_stage_done(b->stages + i);
        free(b->stages);
        plan_free(b->plan);
        context_free(b->context);
        for (size_t i = 0; b->contexts && i < b->request.n_archives; i++)
                context_free(b->contexts[i]);
        free(b->contexts);
        build_request_done(&b->request);
        strv_done(&b->names);
        FREE_ALL(b->tenant, b->passwd, b->group, b);
        return NULL;
}

static void build_release(void *part) {
        making_work_done(part); /* builds_free() frees the rest */
}

int build_begin(BuildPart *part, Build *b, const Sequence *sequence, Error *reterr) {
        *part = (BuildPart) {
                .work = { .images = b->images, .making = b->making, .release = build_release, .cancelled = "cancelled" },
                .build = b,
        };
        return making_work_waits(making_work_start(&part->work, sequence, reterr));
}

const PlanStep *build_step(const Build *b) {
        const PlanStage *s = build_plan_stage(b);
        size_t i = build_stage(b)->next;

        return i < s->n_steps ? s->steps + i : NULL;
}

/* The innermost running sequence. */
static SequenceRun *build_run(Build *b) {
        BuildPart *parts[] = { &b->in_step, &b->in_stage };

        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                if (sequence_is_under_way(&parts[i]->work.run))
                        return &parts[i]->work.run;
        return &b->whole.work.run;
}

/* Runs deferred, not from within the call that failed: the end of the sequence frees the build and deletes
 * its sandboxes, which that call may still use. */
static int build_on_failed(sd_event_source *source, void *userdata) {
        Build *b = userdata;

        sequence_heard(build_run(b), &b->error);
        return 0;
}

void build_heard(Build *b, const Error *error) {
        bool again = b->again;

        b->again = false;
        if (error) {
                build_abandon(b);
                b->error = *error;
                (void) sd_event_source_set_enabled(b->failed, SD_EVENT_ONESHOT);
        } else if (again)
                sequence_heard_again(build_run(b));
        else
                sequence_heard(build_run(b), NULL);
}

int build_again(Build *b, int r) {
        b->again = r == STEP_WAITS;
        return r;
}

int build_drop(void *part, Error *why) {
        build_abandon(build_of(part));
        return STEP_DONE;
}

void build_stop(void *part) {
        static const Error stopped = { -ECANCELED, "cancelled" };

        build_heard(build_of(part), &stopped);
}

/* Deletes the sandboxes. The cache entries stay. */
static void build_end(void *part, const Error *error) {
        Build *b = build_of(part);

        for (size_t i = 0; b->stages && i < b->plan->n_stages; i++)
                if (b->stages[i].sandbox)
                        sandbox_delete(b->stages[i].sandbox, /* force= */ true, NULL, NULL);
        making_end(b->making, error ? NULL : images_find(b->images, build_tenant(b), b->request.name), error);
        (void) build_free(b);
}

static const SequenceStep build_steps[] = {
        { "context", build_survey, build_drop, build_stop },
        { "plan", build_plan },
        { "stages", build_next_stage },
        { "account", build_find_user },
        { "flatten", build_flatten },
        { "register", build_register },
};
static const Sequence build = SEQUENCE("build", build_steps, build_end, .defer = making_work_defer);

int build_sandbox(Build *b, size_t stage, Sandbox **ret, Error *reterr) {
        *ret = sandbox_unless_gone(b->stages[stage].sandbox);
        return *ret ? 0 : error_set(reterr, -EPIPE, "the sandbox of this stage has gone away");
}

/* NAME becomes NAME:TAG. */
static int build_check_name(const Manager *m, BuildRequest *q, Error *reterr) {
        TemplateName name;
        int r = template_name_parse(q->name, &name, reterr);

        if (r < 0)
                return r;
        if (build_is_spawners(m, name.name))
                return error_set(reterr, -EINVAL, "'%s' is the name of a template that the daemon was started with: take another", name.name);
        return shape_text_set(&q->name, name.full) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}

static int build_check_request(const BuildRequest *q, Error *reterr) {
        if (q->recipe && !recipe_find(q->recipe))
                return error_set(reterr, -EINVAL, "there is no recipe '%.64s': `cove template recipes` lists them", q->recipe);
        if (!q->recipe && !q->text && !q->steps && !q->context)
                return error_set(reterr, -EINVAL, "nothing to build: neither a context nor a text");
        return 0;
}

int build_start(Builds *builds, const Principal *who, BuildRequest *request, Making **ret, Error *reterr) {
        Build *b;
        int r = build_check_request(request, reterr);

        if (r >= 0)
                r = build_check_name(builds->manager, request, reterr);
        if (r >= 0)
                r = images_check_depot(builds->images, reterr);
        if (r < 0 || !trees_have_disks(builds->manager, reterr))
                return r < 0 ? r : -EOPNOTSUPP;
        b = calloc(1, sizeof(*b));
        if (!b)
                return error_set(reterr, -ENOMEM, "out of memory");
        *b = (Build) { .manager = builds->manager, .images = builds->images, .survey_fd = -EBADF, .read_fd = -EBADF, .began = clock_usec() };
        if (who->profile && !principal_may_loosen(who))
                (void) snprintf(b->bound, sizeof(b->bound), "%s", who->profile);
        b->tenant = who->tenant ? strdup(who->tenant) : NULL;
        r = who->tenant && !b->tenant ? -ENOMEM : sd_event_add_defer(b->manager->event, &b->failed, build_on_failed, b);
        if (r >= 0)
                r = sd_event_source_set_enabled(b->failed, SD_EVENT_OFF);
        r = r < 0 ? error_set(reterr, r, "out of memory") : making_new(b->images, who, MAKING_BUILD, request->name, &b->making, reterr);
        if (r >= 0) {
                r = build_begin(&b->whole, b, &build, reterr);
                if (r < 0)
                        making_end(b->making, /* image= */ NULL, reterr);
        }
        if (r < 0) {
                (void) build_free(b);
                return r;
        }
        b->request = *request;
        *request = (BuildRequest) { 0 };
        b->builds = builds;
        DL_APPEND(builds->list, b);
        *ret = b->making;
        return 0;
}

/* Sandboxes left by a daemon that was killed. Their metadata names their build, which has ended. */

static bool is_left(Builds *builds, const Sandbox *sb) {
        _cleanup_json_ json_t *j = NULL;
        const char *id;
        MakingInfo info;
        Making *k;

        if (!sb->spec.metadata || !strstr(sb->spec.metadata, METADATA_KEY))
                return false;
        j = json_loads(sb->spec.metadata, 0, NULL);
        id = json_string_value(json_object_get(j, METADATA_KEY));
        k = id ? making_find(builds->images, &principal_daemon, id) : NULL;
        if (!k)
                return false;
        making_info(k, &info);
        return info.kind == MAKING_BUILD && info.status != MAKING_RUNNING;
}

static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata) {
        Builds *builds = userdata;
        Sandbox *sb, *next;

        if (builds->manager->recovering) {
                (void) sd_event_source_set_time_relative(source, SWEEP_INTERVAL);
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        HASH_ITER(hh, builds->manager->sandboxes, sb, next)
                if (is_left(builds, sb))
                        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        builds->sweep = sd_event_source_disable_unref(builds->sweep);
        return 0;
}

int builds_new(Images *i, Manager *m, Builds **ret, Error *reterr) {
        Builds *b = calloc(1, sizeof(*b));
        int r = b ? 0 : -ENOMEM;

        if (b) {
                *b = (Builds) { .images = i, .manager = m };
                r = sd_event_add_time_relative(m->event, &b->sweep, CLOCK_MONOTONIC, SWEEP_INTERVAL, 0, on_sweep, b);
        }
        if (r < 0) {
                free(b);
                return error_set(reterr, r, "cannot watch over builds: %m");
        }
        r = build_book_open(b, reterr);
        if (r < 0) {
                (void) builds_free(b);
                return r;
        }
        *ret = b;
        return 0;
}

Builds *builds_free(Builds *b) {
        Build *x, *next;

        if (!b)
                return NULL;
        DL_FOREACH_SAFE(b->list, x, next)
                (void) build_free(x);
        build_book_close(b);
        sd_event_source_disable_unref(b->sweep);
        free(b);
        return NULL;
}
