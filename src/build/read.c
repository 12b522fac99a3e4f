/* read.c: what is to be built: the files that came along, the Dockerfile, recipe or steps, the plan. */

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

/* A text that came alone: a Dockerfile has its instructions, a recipe its keys. */
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
                        making_log(b->making, "warning: nobody asks for the argument '%s' (no ARG %s)", name, name);
        }
        for (size_t i = 0; i < b->plan->warnings.n; i++)
                making_log(b->making, "warning: %s", b->plan->warnings.items[i]);
}

typedef int (*PlanParse)(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);

static void read_plan(Build *b, const char *text, size_t size, PlanParse parse) {
        const PlanOptions options = { .file = b->file, .target = b->request.target, .arguments = &b->request.arguments };
        Error error = { 0 };
        int r = parse(text, size, &options, &b->plan, &error);

        if (r >= 0) {
                b->stages = calloc(b->plan->n_stages, sizeof(*b->stages));
                if (!b->stages)
                        r = error_set(&error, -ENOMEM, "out of memory");
        }
        if (r < 0) {
                build_fail(b, &error);
                return;
        }
        warn_arguments(b);
        b->n_steps = plan_count_steps(b->plan);
        build_continue(b, stages_begin);
}

static void read_file(Build *b) {
        const ContextFile *f = NULL;
        Error error = { 0 };

        if (b->request.file)
                f = context_file(b->context, b->request.file);
        else {
                f = context_file(b->context, DOCKERFILE);
                if (!f)
                        f = context_file(b->context, RECIPE);
        }
        if (!f) {
                (void) error_set(&error, -ENOENT, "there is no '%.200s' among the files that came with the build%s", b->request.file ? b->request.file : DOCKERFILE,
                                b->request.file ? "" : ", and no '" RECIPE "' either (-f names another)");
                build_fail(b, &error);
                return;
        }
        b->file = f->path;
        read_plan(b, f->data, f->size, is_yaml(f->path) ? recipe_parse : dockerfile_parse);
}

static void build_read_text(Build *b) {
        const Recipe *recipe = b->request.recipe ? recipe_find(b->request.recipe) : NULL;
        const char *text = recipe ? recipe->text : b->request.text;

        if (!text) {
                read_file(b);
                return;
        }
        b->file = recipe ? recipe->name : b->request.file ? b->request.file : looks_like_recipe(text) ? RECIPE : DOCKERFILE;
        read_plan(b, text, strlen(text), recipe || is_yaml(b->file) || looks_like_recipe(text) ? recipe_parse : dockerfile_parse);
}

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

static BuildContext *take_survey(Build *b) {
        _cleanup_close_ int fd = TAKE_FD(b->read_fd);
        size_t size = 0;
        char *text = read_load(fd, &size);
        BuildContext *c = NULL;
        Error error = { 0 };

        if (!text)
                (void) error_set(&error, -E2BIG, "the context has too many files");
        if (!text || context_parse(text, size, &c, &error) < 0) {
                build_fail(b, &error);
                return NULL;
        }
        return c;
}

static void survey(Build *b, const char *const *arguments, int fd, BuildThen then) {
        Error error = { 0 };

        b->read_fd = memfd_create("cove-survey", MFD_CLOEXEC);
        if (b->read_fd < 0 || helper_run(b, &(HelperRequest) { .arguments = arguments, .in = fd, .out = b->read_fd, .list = -EBADF }) < 0) {
                if (b->ending)
                        return;
                (void) error_set(&error, -EIO, "cannot look at the files that came along");
                build_fail(b, &error);
                return;
        }
        making_progress(b->making, "context", 0, 0);
        helpers_wait(b, then);
}

/* Steps: each archive for itself. */

static void read_next_archive(Build *b);

static void on_archive(Build *b) {
        BuildContext *c = take_survey(b);

        if (!c)
                return;
        b->contexts[b->n_surveyed++] = c;
        read_next_archive(b);
}

static void read_next_archive(Build *b) {
        static const char *const arguments[] = { "survey", NULL };

        if (b->n_surveyed < b->request.n_archives)
                survey(b, arguments, b->request.archives[b->n_surveyed].fd, on_archive);
        else
                read_plan(b, b->request.steps, strlen(b->request.steps), steps_parse);
}

static void read_steps(Build *b) {
        static const Error no_memory = { -ENOMEM, "out of memory" };

        b->file = STEPS_FILE;
        b->contexts = calloc(b->request.n_archives + 1, sizeof(*b->contexts));
        if (b->contexts)
                read_next_archive(b);
        else
                build_fail(b, &no_memory);
}

int build_files(const Build *b, const PlanStep *step, const BuildContext **ret, int *ret_fd, Error *reterr) {
        *ret = b->context;
        *ret_fd = b->request.context_fd;
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

static void on_surveyed(Build *b) {
        b->context = take_survey(b);
        if (b->context)
                build_read_text(b);
}

void build_read(Build *b) {
        const char *arguments[12] = { "survey", "--ignore", ".dockerignore" };
        size_t n = 3;

        if (b->request.steps) {
                read_steps(b);
                return;
        }
        if (b->request.context_fd < 0) {
                build_read_text(b);
                return;
        }
        arguments[n++] = "--take";
        arguments[n++] = b->request.file ? b->request.file : DOCKERFILE;
        if (!b->request.file) {
                arguments[n++] = "--take";
                arguments[n++] = RECIPE;
        }
        survey(b, arguments, b->request.context_fd, on_surveyed);
}
