#include "build/plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/word.h"

#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#error "the name of this machine's architecture in image registries is missing here"
#endif

static const char *const kind_names[_PLAN_KIND_MAX] = {
        [PLAN_RUN] = "RUN",
        [PLAN_COPY] = "COPY",
        [PLAN_ADD] = "ADD",
        [PLAN_ENV] = "ENV",
        [PLAN_ARG] = "ARG",
        [PLAN_LABEL] = "LABEL",
        [PLAN_WORKDIR] = "WORKDIR",
        [PLAN_USER] = "USER",
        [PLAN_CMD] = "CMD",
        [PLAN_ENTRYPOINT] = "ENTRYPOINT",
        [PLAN_EXPOSE] = "EXPOSE",
        [PLAN_SHELL] = "SHELL",
        [PLAN_STOPSIGNAL] = "STOPSIGNAL",
        [PLAN_VOLUME] = "VOLUME",
        [PLAN_HEALTHCHECK] = "HEALTHCHECK",
        [PLAN_MAINTAINER] = "MAINTAINER",
        [PLAN_START] = "START",
        [PLAN_READY] = "READY",
};

const char *plan_kind_name(PlanKind kind) {
        return kind_names[kind];
}

Plan *plan_new(void) {
        Plan *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->escape = '\\';
        p->globals.max = p->declared.max = p->warnings.max = PLAN_WORDS_MAX;
        return p;
}

static void step_done(PlanStep *s) {
        for (size_t i = 0; i < s->n_files; i++) {
                free(s->files[i].name);
                free(s->files[i].data);
        }
        strv_done(&s->words);
        FREE_ALL(s->files, s->text, s->from_text, s->chown, s->chmod, s->archive, s->user, s->becomes);
}

static void plan_stage_done(PlanStage *s) {
        for (size_t i = 0; i < s->n_steps; i++)
                step_done(s->steps + i);
        strv_done(&s->shell);
        FREE_ALL(s->steps, s->name, s->base, s->text, s->user, s->workdir);
}

Plan *plan_free(Plan *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n_stages; i++)
                plan_stage_done(p->stages + i);
        free(p->stages);
        strv_done(&p->globals);
        strv_done(&p->declared);
        strv_done(&p->warnings);
        free(p);
        return NULL;
}

PlanStage *plan_add_stage(Plan *p) {
        if (p->n_stages >= PLAN_STAGES_MAX)
                return NULL;
        if (!p->stages) /* allocated at once, because pointers to stages must stay valid */
                p->stages = calloc(PLAN_STAGES_MAX, sizeof(*p->stages));
        if (!p->stages)
                return NULL;
        p->stages[p->n_stages].parent = -1;
        return p->stages + p->n_stages++;
}

PlanStep *plan_add_step(Plan *p, PlanStage *stage) {
        PlanStep *step;

        if (p->n_steps >= PLAN_STEPS_MAX)
                return NULL;
        if (ARRAY_EXTEND(stage->steps, stage->n_steps) < 0)
                return NULL;
        step = stage->steps + stage->n_steps++;
        *step = (PlanStep) { .from = -1, .words.max = PLAN_WORDS_MAX };
        p->n_steps++;
        return step;
}

int plan_warn(Plan *p, const char *format, ...) {
        char *text;
        va_list ap;
        int r;

        va_start(ap, format);
        text = string_vformat(format, ap);
        va_end(ap);
        if (!text)
                return -ENOMEM;
        r = strv_push_take(&p->warnings, text);
        if (r < 0)
                free(text);
        return r == -E2BIG ? 0 : r;
}

int plan_find_stage(const Plan *p, const char *name, size_t n) {
        uint64_t number;

        for (size_t i = 0; i < n; i++)
                if (p->stages[i].name && strcasecmp(p->stages[i].name, name) == 0)
                        return (int) i;
        if (isdigit((unsigned char) name[0]) && parse_uint64(name, 0, UINT64_MAX, &number) >= 0 && number < n &&
                        !p->stages[number].borrowed)
                return (int) number;
        return -1;
}

static int complain_target(const Plan *p, const PlanOptions *o, Error *reterr) {
        const char *nearest = NULL;
        unsigned best = word_tolerance(o->target);

        for (size_t i = 0; i < p->n_stages; i++)
                if (p->stages[i].name && word_is_nearer(o->target, p->stages[i].name, &best))
                        nearest = p->stages[i].name;
        return error_set(reterr, -ENOENT, "%s: there is no stage '%.100s'%s%.100s%s", o->file, o->target,
                        nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

static size_t last_written(const Plan *p) {
        size_t last = 0;

        for (size_t i = 0; i < p->n_stages; i++)
                if (!p->stages[i].borrowed)
                        last = i;
        return last;
}

/* Adds a stage for an image that is only named in --from. It is added at the end, so that the other stages
 * keep their numbers. */
static int borrow(Plan *p, const PlanOptions *o, PlanStep *step, Error *reterr) {
        PlanStage *s;

        for (size_t i = 0; i < p->n_stages; i++)
                if (p->stages[i].borrowed && strcmp(p->stages[i].base, step->from_text) == 0) {
                        step->from = (int) i;
                        return 0;
                }
        s = plan_add_stage(p);
        if (!s)
                return error_set(reterr, -E2BIG, "%s:%u: more than %d stages", o->file, step->line, PLAN_STAGES_MAX);
        s->borrowed = true;
        s->line = step->line;
        s->base = strdup(step->from_text);
        if (!s->base || asprintf(&s->text, "FROM %s", step->from_text) < 0) {
                s->text = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        step->from = (int) (p->n_stages - 1);
        return 0;
}

static int plan_resolve(Plan *p, const PlanOptions *o, size_t stage, PlanStep *step, Error *reterr) {
        int later;

        step->from = plan_find_stage(p, step->from_text, stage);
        if (step->from >= 0)
                return 0;
        later = plan_find_stage(p, step->from_text, p->n_stages);
        if (later >= 0 && !p->stages[later].borrowed)
                return error_set(reterr, -EINVAL, "%s:%u: --from=%.100s: that stage %s", o->file, step->line, step->from_text,
                                later == (int) stage ? "is this one" : "comes later (line it up before this one)");
        if (step->from_text[strspn(step->from_text, "0123456789")] == '\0')
                return error_set(reterr, -EINVAL, "%s:%u: --from=%.40s: there is no stage of that number before this one", o->file, step->line,
                                step->from_text);
        return borrow(p, o, step, reterr);
}

static int resolve_all(Plan *p, const PlanOptions *o, Error *reterr) {
        const size_t n = p->n_stages;

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < p->stages[i].n_steps; k++) {
                        int r = p->stages[i].steps[k].from_text ? plan_resolve(p, o, i, p->stages[i].steps + k, reterr) : 0;

                        if (r < 0)
                                return r;
                }
        return 0;
}

int plan_choose(Plan *p, const PlanOptions *o, Error *reterr) {
        int target, r;

        r = resolve_all(p, o, reterr);
        if (r < 0)
                return r;
        if (p->n_stages == 0)
                return error_set(reterr, -EINVAL, "%s: has no FROM: there is nothing to build on", o->file);
        target = o->target ? plan_find_stage(p, o->target, p->n_stages) : (int) last_written(p);
        if (target < 0)
                return complain_target(p, o, reterr);
        p->target = (size_t) target;

        /* Each stage comes after the stages that it needs. Only the stages added for --from come later, and
         * they need none. */
        p->stages[target].needed = true;
        for (int i = target; i >= 0; i--) {
                const PlanStage *s = p->stages + i;

                if (!s->needed)
                        continue;
                if (s->parent >= 0)
                        p->stages[s->parent].needed = true;
                for (size_t k = 0; k < s->n_steps; k++)
                        if (s->steps[k].from >= 0)
                                p->stages[s->steps[k].from].needed = true;
        }
        return 0;
}

size_t plan_count_steps(const Plan *p) {
        size_t n = 0;

        for (size_t i = 0; i < p->n_stages; i++)
                if (p->stages[i].needed)
                        n += 1 + p->stages[i].n_steps;
        return n;
}

const char *plan_platform_argument(const char *name) {
        static const struct {
                const char *name, *value;
        } table[] = {
                { "PLATFORM", "linux/" ARCHITECTURE },
                { "OS",       "linux"               },
                { "ARCH",     ARCHITECTURE          },
                { "VARIANT",  ""                    },
        };
        size_t n = strncmp(name, "TARGET", 6) == 0 ? 6 : strncmp(name, "BUILD", 5) == 0 ? 5 : 0;

        for (size_t i = 0; n > 0 && i < ELEMENTSOF(table); i++)
                if (strcmp(name + n, table[i].name) == 0)
                        return table[i].value;
        return NULL;
}

bool plan_is_proxy_argument(const char *name) {
        static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcasecmp(name, names[i]) == 0)
                        return true;
        return false;
}
