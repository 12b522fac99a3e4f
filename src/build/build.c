/* build.c: builds begin, fail, are cancelled and end; what a former daemon's have left is swept. */

#include "build/build.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fd.h"
#include "build/book.h"
#include "build/internal.h"
#include "build/recipe.h"
#include "core/secret.h"
#include "image/names.h"
#include "json/json.h"

#define SWEEP_INTERVAL (1 * USEC_PER_SEC)
#define METADATA_KEY   "templateBuild" /* of a sandbox: whose it is */

void build_request_done(BuildRequest *q) {
        free(q->name);
        free(q->file);
        free(q->text);
        free(q->recipe);
        free(q->target);
        free(q->steps);
        for (size_t i = 0; i < q->n_archives; i++) {
                free(q->archives[i].name);
                (void) fd_close(q->archives[i].fd);
        }
        free(q->archives);
        if (q->auth)
                secret_wipe(q->auth, strlen(q->auth));
        free(q->auth);
        strv_done(&q->arguments);
        free(q->policy);
        q->context_fd = fd_close(q->context_fd);
        *q = (BuildRequest) { .context_fd = -EBADF };
}

static void build_stage_done(BuildStage *s) {
        scope_done(&s->scope);
        scope_done(&s->ahead);
        (void) sandbox_unref(s->sandbox);
        free(s->base);
        free(s->layers);
        free(s->keys);
}

static Build *build_free(Build *b) {
        if (!b)
                return NULL;
        build_abandon(b);
        sd_event_source_disable_unref(b->defer);
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
        free(b->tenant);
        strv_done(&b->names);
        free(b->passwd);
        free(b->group);
        free(b);
        return NULL;
}

static int on_deferred(sd_event_source *source, void *userdata) {
        Build *b = userdata;
        BuildThen then = b->then;

        b->then = NULL;
        if (then)
                then(b);
        return 0;
}

void build_continue(Build *b, BuildThen then) {
        b->then = then;
        (void) sd_event_source_set_enabled(b->defer, SD_EVENT_ONESHOT);
}

const PlanStep *build_step(const Build *b) {
        const PlanStage *s = b->plan->stages + b->stage;
        size_t i = b->stages[b->stage].next;

        return i < s->n_steps ? s->steps + i : NULL;
}

/* Sandboxes go, the cache stays. */
static void build_end(Build *b) {
        for (size_t i = 0; b->stages && i < b->plan->n_stages; i++)
                if (b->stages[i].sandbox)
                        sandbox_delete(b->stages[i].sandbox, /* force= */ true, NULL, NULL);
        if (b->made)
                making_end(b->making, images_find(b->images, b->tenant ? b->tenant : "", b->request.name), NULL);
        else
                making_end(b->making, /* image= */ NULL, &b->error);
        (void) build_free(b);
}

void build_fail(Build *b, const Error *error) {
        if (b->ending)
                return;
        b->ending = true;
        build_abandon(b);
        b->error = *error;
        build_continue(b, build_end);
}

void build_fail_step(Build *b, int r, const char *format, ...) {
        const PlanStep *step = b->plan && b->stages && build_stage(b)->keys ? build_step(b) : NULL; /* else it is its base */
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        if (step && b->request.steps && step->kind == PLAN_RUN && !step->becomes) /* those who sent steps look for these words */
                (void) error_set(&error, r, "%s:%u: RUN: failed to run command '%.160s': %s", b->file, step->line, step->words.items[0], text ? text : "out of memory");
        else if (step)
                (void) error_set(&error, r, "%s:%u: %s: %s", b->file, step->line, plan_kind_name(step->kind), text ? text : "out of memory");
        else
                (void) error_set(&error, r, "%s:%u: FROM: %s", b->file, b->plan ? b->plan->stages[b->stage].line : 0, text ? text : "out of memory");
        build_fail(b, &error);
}

bool build_heard(Build *b) {
        static const Error cancelled = { -ECANCELED, "cancelled" };

        b->waiting = false;
        if (b->cancelled)
                build_fail(b, &cancelled);
        return !b->cancelled;
}

static void on_cancel(Making *k, void *userdata) {
        Build *b = userdata;

        b->cancelled = true;
        if (!b->waiting)
                (void) build_heard(b);
}

Sandbox *build_sandbox(Build *b, size_t stage) {
        Sandbox *sb = sandbox_unless_gone(b->stages[stage].sandbox);

        if (!sb)
                build_fail_step(b, -EPIPE, "the sandbox of this stage has gone away");
        return sb;
}

/* NAME becomes NAME:TAG. */
static int build_check_name(const Manager *m, BuildRequest *q, Error *reterr) {
        TemplateName name;
        char *full;
        int r = template_name_parse(q->name, &name, reterr);

        if (r < 0)
                return r;
        if (build_is_spawners(m, name.name))
                return error_set(reterr, -EINVAL, "'%s' is the name of a template that the daemon was started with: take another", name.name);
        if (asprintf(&full, "%s:%s", name.name, name.tag) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        free(q->name);
        q->name = full;
        return 0;
}

static int build_check_request(const BuildRequest *q, Error *reterr) {
        if (q->recipe && !recipe_find(q->recipe))
                return error_set(reterr, -EINVAL, "there is no recipe '%.64s': `cove template recipes` lists them", q->recipe);
        if (!q->recipe && !q->text && !q->steps && q->context_fd < 0)
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
        *b = (Build) { .manager = builds->manager, .images = builds->images, .read_fd = -EBADF, .began = clock_usec(),
                .request.context_fd = -EBADF, .who = who->scope, .may_loosen = who->may_loosen };
        b->tenant = who->tenant ? strdup(who->tenant) : NULL;
        r = who->tenant && !b->tenant ? -ENOMEM : 0;
        if (r >= 0)
                r = sd_event_add_defer(b->manager->event, &b->defer, on_deferred, b);
        if (r >= 0)
                r = sd_event_source_set_enabled(b->defer, SD_EVENT_OFF);
        if (r < 0)
                (void) error_set(reterr, r, "out of memory");
        else
                r = making_new(b->images, who, MAKING_BUILD, request->name, &b->making, reterr);
        if (r < 0) {
                (void) build_free(b);
                return r;
        }
        b->request = *request;
        *request = (BuildRequest) { .context_fd = -EBADF };
        b->builds = builds;
        DL_APPEND(builds->list, b);
        making_set_cancel(b->making, on_cancel, b);
        build_continue(b, build_read);
        *ret = b->making;
        return 0;
}

/* What a daemon that was killed has left: its sandboxes say whose they are, and that one has ended. */

static bool is_left(Builds *builds, const Sandbox *sb) {
        _cleanup_json_ json_t *j = NULL;
        const Principal all = { .scope = SCOPE_ADMIN };
        const char *id;
        MakingInfo info;
        Making *k;

        if (!sb->spec.metadata || !strstr(sb->spec.metadata, METADATA_KEY))
                return false;
        j = json_loads(sb->spec.metadata, 0, NULL);
        id = json_string_value(json_object_get(j, METADATA_KEY));
        k = id ? making_find(builds->images, &all, id) : NULL;
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
                r = sd_event_add_time_relative(m->event, &b->sweep, CLOCK_MONOTONIC, SWEEP_INTERVAL / 10, 0, on_sweep, b);
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
        DL_FOREACH_SAFE(b->list, x, next) {
                making_set_cancel(x->making, NULL, NULL);
                (void) build_free(x);
        }
        build_book_close(b);
        sd_event_source_disable_unref(b->sweep);
        free(b);
        return NULL;
}
