/* read.c: what is to be built: the files that came along, the Dockerfile or recipe among them, the plan. */

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

static void read_plan(Build *b, const char *text, size_t size, bool recipe) {
        const PlanOptions options = { .file = b->file, .target = b->request.target, .arguments = &b->request.arguments };
        Error error = { 0 };
        int r = (recipe ? recipe_parse : dockerfile_parse)(text, size, &options, &b->plan, &error);

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
        read_plan(b, f->data, f->size, is_yaml(f->path));
}

static void read_text(Build *b) {
        const Recipe *recipe = b->request.recipe ? recipe_find(b->request.recipe) : NULL;
        const char *text = recipe ? recipe->text : b->request.text;

        if (!text) {
                read_file(b);
                return;
        }
        b->file = recipe ? recipe->name : b->request.file ? b->request.file : looks_like_recipe(text) ? RECIPE : DOCKERFILE;
        read_plan(b, text, strlen(text), recipe || is_yaml(b->file) || looks_like_recipe(text));
}

static char *load(int fd, size_t *ret) {
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

static void on_surveyed(Build *b) {
        _cleanup_close_ int fd = TAKE_FD(b->writable_fd);
        size_t size = 0;
        char *text = load(fd, &size);
        Error error = { 0 };
        int r;

        if (!text) {
                (void) error_set(&error, -E2BIG, "the context has too many files");
                build_fail(b, &error);
                return;
        }
        r = context_parse(text, size, &b->context, &error);
        if (r < 0)
                build_fail(b, &error);
        else
                read_text(b);
}

void build_read(Build *b) {
        const char *arguments[12] = { "survey", "--ignore", ".dockerignore" };
        size_t n = 3;
        Error error = { 0 };

        if (b->request.context_fd < 0) {
                read_text(b);
                return;
        }
        arguments[n++] = "--take";
        arguments[n++] = b->request.file ? b->request.file : DOCKERFILE;
        if (!b->request.file) {
                arguments[n++] = "--take";
                arguments[n++] = RECIPE;
        }
        b->writable_fd = memfd_create("cove-survey", MFD_CLOEXEC);
        if (b->writable_fd < 0 || helper_run(b, &(HelperRequest) { .arguments = arguments, .in = b->request.context_fd, .out = b->writable_fd, .list = -EBADF }) < 0) {
                if (b->ending)
                        return;
                (void) error_set(&error, -EIO, "cannot look at the context");
                build_fail(b, &error);
                return;
        }
        making_progress(b->making, "context", 0, 0);
        helpers_wait(b, on_surveyed);
}
