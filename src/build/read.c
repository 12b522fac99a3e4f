/* read.c: reads the input of a build: the uploaded files, the Dockerfile, recipe or steps; makes the plan. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "build/dockerfile.h"
#include "build/internal.h"
#include "build/recipe.h"
#include "build/steps.h"

#define DOCKERFILE "Dockerfile"
#define RECIPE     "cove-template.yaml"
#define SURVEY_MAX (256 << 20)

static bool is_yaml(const char *name) {
        size_t n = strlen(name);

        return (n > 5 && strcmp(name + n - 5, ".yaml") == 0) || (n > 4 && strcmp(name + n - 4, ".yml") == 0);
}

/* Detects the kind of a text: a recipe begins with a key, a Dockerfile with an instruction. */
static bool looks_like_recipe(const char *text) {
        for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
                size_t n = strcspn(p, " \t\r\n");

                if (n == 0 || *p == '#')
                        continue;
                return p[n - 1] == ':' || memchr(p, ':', n);
        }
        return false;
}

static void warn_arguments(Build *b) {
        for (size_t i = 0; i < b->request.arguments.n; i++) {
                const char *given = b->request.arguments.items[i];
                char name[128];
                bool known;

                (void) snprintf(name, sizeof(name), "%.*s", (int) MIN_OF(strcspn(given, "="), sizeof(name) - 1), given);
                known = plan_is_proxy_argument(name);
                for (size_t k = 0; k < b->plan->declared.n && !known; k++)
                        known = strcmp(b->plan->declared.items[k], name) == 0;
                if (!known)
                        making_log(b->making, "warning: the build argument '%s' is not used (no ARG %s)", name, name);
        }
        for (size_t i = 0; i < b->plan->warnings.n; i++)
                making_log(b->making, "warning: %s", b->plan->warnings.items[i]);
}

typedef int (*PlanParse)(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);

/* Returns the text to build, and its parser. */
static int build_find_text(Build *b, const char **ret, size_t *ret_size, PlanParse *ret_parse, Error *reterr) {
        const BuildRequest *q = &b->request;
        const Recipe *recipe = q->recipe ? recipe_find(q->recipe) : NULL;
        const ContextFile *f = NULL;
        bool yaml;

        *ret = q->steps ? q->steps : recipe ? recipe->text : q->text;
        if (q->steps || *ret) {
                yaml = !q->steps && (recipe || looks_like_recipe(*ret));
                b->file = q->steps ? STEPS_FILE : recipe ? recipe->name : q->file ? q->file : yaml ? RECIPE : DOCKERFILE;
                *ret_size = strlen(*ret);
        } else {
                f = context_file(b->context, q->file ? q->file : DOCKERFILE);
                if (!f && !q->file)
                        f = context_file(b->context, RECIPE);
                if (!f)
                        return error_set(reterr, -ENOENT, "there is no '%.200s' among the files that came with the build%s", q->file ? q->file : DOCKERFILE,
                                        q->file ? "" : ", and no '" RECIPE "' either (-f names another)");
                yaml = false;
                b->file = f->path;
                *ret = f->data;
                *ret_size = f->size;
        }
        *ret_parse = q->steps ? steps_parse : yaml || is_yaml(b->file) ? recipe_parse : dockerfile_parse;
        return 0;
}

int build_plan(void *part, Error *reterr) {
        Build *b = build_of(part);
        PlanOptions options = { .target = b->request.target, .arguments = &b->request.arguments };
        PlanParse parse = NULL;
        const char *text;
        size_t size = 0;
        int r = build_find_text(b, &text, &size, &parse, reterr);

        options.file = b->file;
        if (r >= 0)
                r = parse(text, size, &options, &b->plan, reterr);
        if (r < 0)
                return r;
        b->stages = calloc(b->plan->n_stages, sizeof(*b->stages));
        if (!b->stages)
                return error_set(reterr, -ENOMEM, "out of memory");
        warn_arguments(b);
        b->n_steps = plan_count_steps(b->plan);
        return STEP_DONE;
}

/* Surveys. */

static char *read_load(int fd, size_t *ret) {
        struct stat st;
        char *data;

        if (fstat(fd, &st) < 0 || st.st_size < 0 || st.st_size > SURVEY_MAX)
                return NULL;
        data = malloc((size_t) st.st_size + 1);
        if (data && pread(fd, data, (size_t) st.st_size, 0) != st.st_size) {
                free(data);
                return NULL;
        }
        *ret = (size_t) st.st_size;
        return data;
}

int build_files(const Build *b, const PlanStep *step, const BuildContext **ret, int *ret_fd, Error *reterr) {
        *ret = b->context;
        *ret_fd = spool_fd(b->request.context);
        if (!step->archive)
                return 0;
        for (size_t i = 0; i < b->request.n_archives; i++)
                if (strcmp(b->request.archives[i].name, step->archive) == 0) {
                        *ret = b->contexts[i];
                        *ret_fd = b->request.archives[i].fd;
                        return 0;
                }
        return error_set(reterr, -ENOENT, "the files %.16s… did not come along", step->archive);
}

static int build_take_survey(Build *b, BuildContext **ret, Error *reterr) {
        _cleanup_close_ int fd = TAKE_FD(b->survey_fd);
        size_t size = 0;
        char *text = read_load(fd, &size);

        return text ? context_parse(text, size, ret, reterr) : error_set(reterr, -E2BIG, "the context has too many files");
}

static int build_ask_survey(Build *b, const char *const *arguments, int fd, Error *reterr) {
        int r;

        b->survey_fd = memfd_create("cove-survey", MFD_CLOEXEC);
        if (b->survey_fd < 0)
                return error_set(reterr, -EIO, "cannot look at the files that came along");
        r = helper_run(b, &(HelperRequest) { .arguments = arguments, .in = fd, .out = b->survey_fd, .list = -EBADF }, reterr);
        if (r >= 0)
                making_progress(b->making, "context", 0, 0);
        return build_again(b, r);
}

/* For steps: surveys each archive. */
static int build_survey_archives(Build *b, Error *reterr) {
        static const char *const arguments[] = { "survey", NULL };
        const BuildRequest *q = &b->request;
        int r = 0;

        if (!b->contexts)
                b->contexts = calloc(q->n_archives + 1, sizeof(*b->contexts));
        if (!b->contexts)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (b->survey_fd >= 0)
                r = build_take_survey(b, &b->contexts[b->n_surveyed++], reterr);
        if (r < 0 || b->n_surveyed == q->n_archives)
                return r;
        return build_ask_survey(b, arguments, q->archives[b->n_surveyed].fd, reterr);
}

int build_survey(void *part, Error *reterr) {
        Build *b = build_of(part);
        const BuildRequest *q = &b->request;
        const char *arguments[12] = { "survey", "--ignore", ".dockerignore", "--take", q->file ? q->file : DOCKERFILE };

        if (q->steps)
                return build_survey_archives(b, reterr);
        if (b->survey_fd >= 0)
                return build_take_survey(b, &b->context, reterr);
        if (!q->context)
                return STEP_DONE;
        if (!q->file) {
                arguments[5] = "--take";
                arguments[6] = RECIPE;
        }
        return build_ask_survey(b, arguments, spool_fd(q->context), reterr);
}
