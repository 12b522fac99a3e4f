#include "build/scope.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/expand.h"

#define ENTRIES_MAX IMAGE_STRINGS_MAX /* in the environment, the arguments or the labels */

static int list_copy(Strv *to, const Strv *from) {
        to->max = ENTRIES_MAX;
        return strv_extend(to, from);
}

int scope_take_config(BuildScope *s, const ImageConfig *base) {
        ImageConfig copy;
        int r = image_config_copy(base, &copy);

        if (r >= 0 && !(copy.workdir && *copy.workdir))
                r = shape_text_set(&copy.workdir, "/");
        if (r >= 0 && copy.user && !*copy.user)
                r = shape_text_set(&copy.user, NULL);
        if (r >= 0)
                r = shape_text_set(&copy.home, NULL);
        copy.uid = copy.gid = 0;
        image_config_done(r < 0 ? &copy : &s->config);
        if (r >= 0)
                s->config = copy;
        return r;
}

int scope_init(BuildScope *s) {
        int r;

        *s = (BuildScope) { .arguments.max = ENTRIES_MAX, .shell.max = ENTRIES_MAX };
        r = strv_push(&s->shell, "/bin/sh");
        if (r >= 0)
                r = strv_push(&s->shell, "-c");
        if (r >= 0)
                r = scope_take_config(s, &(ImageConfig) { 0 });
        if (r < 0)
                scope_done(s);
        return r;
}

int scope_copy(BuildScope *to, const BuildScope *from) {
        BuildScope copy = { 0 };
        int r = image_config_copy(&from->config, &copy.config);

        if (r >= 0)
                r = list_copy(&copy.arguments, &from->arguments);
        if (r >= 0)
                r = list_copy(&copy.shell, &from->shell);
        if (r < 0)
                scope_done(&copy);
        else
                *to = copy;
        return r;
}

void scope_done(BuildScope *s) {
        image_config_done(&s->config);
        strv_done(&s->arguments);
        strv_done(&s->shell);
        *s = (BuildScope) { 0 };
}

static const char *scope_look_up(const char *name, const void *userdata) {
        const BuildScope *s = userdata;
        const char *value = strv_get_env(&s->config.env, name);

        return value ? value : strv_get_env(&s->arguments, name);
}

int scope_expand(const BuildScope *s, const Plan *plan, const char *word, char **ret, Error *reterr) {
        return expand_word(word, plan->escape, scope_look_up, s, ret, reterr);
}

int scope_expand_words(const BuildScope *s, const Plan *plan, const PlanStep *step, Strv *ret, Error *reterr) {
        size_t left = EXPAND_MAX;

        ret->max = PLAN_WORDS_MAX;
        for (size_t i = 0; i < step->words.n; i++) {
                const char *word = step->words.items[i];
                char *value = NULL;
                int r;

                if (!step->literal)
                        r = scope_expand(s, plan, word, &value, reterr);
                else if (step->kind == PLAN_ENV || step->kind == PLAN_LABEL)
                        r = expand_text(word, /* escape= */ '\0', scope_look_up, s, &value, reterr);
                else
                        r = (value = strdup(word)) ? 0 : -ENOMEM;
                if (r >= 0)
                        r = expand_spend(value, &left, reterr);
                if (r >= 0)
                        r = strv_push_take(ret, value);
                if (r < 0) {
                        free(value);
                        return r;
                }
        }
        return 0;
}

int scope_expand_file(const BuildScope *s, const Plan *plan, const PlanFile *file, char **ret, Error *reterr) {
        if (file->expand)
                return expand_text(file->data, plan->escape, scope_look_up, s, ret, reterr);
        *ret = strdup(file->data);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

int scope_path(const BuildScope *s, const char *path, char **ret, Error *reterr) {
        const bool slash = *path == '\0' || path[strlen(path) - 1] == '/' || strcmp(path, ".") == 0 ||
                        (strlen(path) > 1 && strcmp(path + strlen(path) - 2, "/.") == 0);
        _cleanup_free_ char *joined = NULL;
        char *clean;
        size_t n = 0;

        if (asprintf(&joined, "%s/%s", *path == '/' ? "" : s->config.workdir, path) < 0) {
                joined = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        clean = malloc(strlen(joined) + 2);
        if (!clean)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (const char *p = joined; *p;) {
                size_t part = strcspn(p, "/");

                if (part == 2 && p[0] == '.' && p[1] == '.')
                        while (n > 0 && clean[--n] != '/')
                                ;
                else if (part > 0 && !(part == 1 && *p == '.')) {
                        clean[n++] = '/';
                        memcpy(clean + n, p, part);
                        n += part;
                }
                p += part + (p[part] == '/');
        }
        if (n == 0 || slash)
                clean[n++] = '/';
        clean[n] = '\0';
        if (n >= PATH_MAX) {
                free(clean);
                return error_set(reterr, -ENAMETOOLONG, "'%.60s…' has %zu bytes: a path may have %d", path, n, PATH_MAX - 1);
        }
        *ret = clean;
        return 0;
}

static size_t list_bytes(const Strv *list) {
        size_t bytes = 0;

        for (size_t i = 0; i < list->n; i++)
                bytes += strlen(list->items[i]);
        return bytes;
}

/* The total size is limited, because each stage based on this one copies the lists, and each step searches
 * them. */
static int set_pair(BuildScope *s, Strv *list, const char *name, const char *value, Error *reterr) {
        _cleanup_free_ char *assignment = NULL;

        if (list_bytes(&s->config.env) + list_bytes(&s->config.labels) + list_bytes(&s->arguments) + strlen(value) > SCOPE_BYTES_MAX)
                return error_set(reterr, -E2BIG, "with '%.100s' environment, labels and arguments would have more than %d bytes", name, SCOPE_BYTES_MAX);
        if (asprintf(&assignment, "%s=%s", name, value) < 0) {
                assignment = NULL;
                return -ENOMEM;
        }
        return strv_set_env(list, assignment);
}

/* All values are expanded before any of them is set. */
static int apply_pairs(BuildScope *s, const Plan *plan, const PlanStep *step, Strv *list, Error *reterr) {
        _cleanup_(strv_done) Strv done = STRV_INIT(PLAN_WORDS_MAX);
        int r = scope_expand_words(s, plan, step, &done, reterr);

        for (size_t i = 0; r >= 0 && i + 1 < done.n; i += 2) {
                if (done.items[i][0] == '\0' || strchr(done.items[i], '='))
                        return error_set(reterr, -EINVAL, "'%.100s' is no name", done.items[i]);
                r = set_pair(s, list, done.items[i], done.items[i + 1], reterr);
        }
        return r == -E2BIG && reterr && reterr->code == 0 ? error_set(reterr, r, "more than %d names", ENTRIES_MAX) : r;
}

/* The value is that of the request, else that of an ARG before the first FROM, else the default. */
static int scope_apply_argument(BuildScope *s, const Plan *plan, const char *word, const Strv *given, size_t *left, Error *reterr) {
        _cleanup_free_ char *value = NULL;
        const size_t n = strcspn(word, "=");
        const char *found;
        char name[256];
        int r = 0;

        (void) snprintf(name, sizeof(name), "%.*s", (int) n, word);
        found = given ? strv_get_env(given, name) : NULL;
        if (!found && word[n] == '=') {
                r = scope_expand(s, plan, word + n + 1, &value, reterr);
                if (r >= 0)
                        r = expand_spend(value, left, reterr);
                found = value;
        }
        if (!found)
                found = strv_get_env(&plan->globals, name);
        if (!found)
                found = plan_platform_argument(name);
        if (r >= 0 && found)
                r = set_pair(s, &s->arguments, name, found, reterr);
        return r;
}

static int apply_arguments(BuildScope *s, const Plan *plan, const PlanStep *step, const Strv *given, Error *reterr) {
        size_t left = EXPAND_MAX;

        for (size_t i = 0; i < step->words.n; i++) {
                int r = scope_apply_argument(s, plan, step->words.items[i], given, &left, reterr);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* A list is taken as it is; a command line is run by the shell. */
static int scope_apply_command(BuildScope *s, const PlanStep *step, Strv *list) {
        int r = 0;

        strv_done(list);
        if (!step->exec)
                r = list_copy(list, &s->shell);
        return r < 0 ? r : strv_extend(list, &step->words);
}

static int scope_apply_list(BuildScope *s, const Plan *plan, const PlanStep *step, Strv *list, Error *reterr) {
        _cleanup_(strv_done) Strv done = STRV_INIT(PLAN_WORDS_MAX);
        int r = scope_expand_words(s, plan, step, &done, reterr);

        if (r >= 0 && list_bytes(list) + list_bytes(&done) > SCOPE_BYTES_MAX)
                return error_set(reterr, -E2BIG, "more than %d bytes", SCOPE_BYTES_MAX);
        for (size_t i = 0; r >= 0 && i < done.n; i++)
                r = *done.items[i] != '\0' ? strv_push(list, done.items[i]) : 0;
        return r;
}

static int apply_text(BuildScope *s, const Plan *plan, const PlanStep *step, Error *reterr) {
        _cleanup_free_ char *value = NULL, *path = NULL;
        int r = step->literal ? ((value = strdup(step->words.items[0])) ? 0 : -ENOMEM) :
                        scope_expand(s, plan, step->words.items[0], &value, reterr);

        if (r < 0)
                return r;
        if (*value == '\0')
                return error_set(reterr, -EINVAL, "%s: nothing is left of '%.100s' when its variables are replaced", plan_kind_name(step->kind), step->words.items[0]);
        if (step->kind == PLAN_USER)
                return shape_text_set(&s->config.user, value);
        if (step->kind == PLAN_START)
                return shape_text_set(&s->config.start_command, value);
        if (step->kind == PLAN_READY)
                return shape_text_set(&s->config.ready_command, value);
        r = scope_path(s, value, &path, reterr);
        if (r < 0)
                return r;
        if (strlen(path) > 1 && path[strlen(path) - 1] == '/')
                path[strlen(path) - 1] = '\0';
        r = shape_text_set(&s->config.workdir, path);
        return r < 0 ? r : 1;
}

int scope_apply(BuildScope *s, const Plan *plan, const PlanStep *step, const Strv *given, Error *reterr) {
        int r = 0;

        switch (step->kind) {
        case PLAN_RUN:
                if (step->becomes && shape_text_set(&s->config.user, step->becomes) < 0)
                        return error_set(reterr, -ENOMEM, "out of memory");
                return 1;
        case PLAN_COPY:
        case PLAN_ADD: return 1;
        case PLAN_ENV: r = apply_pairs(s, plan, step, &s->config.env, reterr); break;
        case PLAN_LABEL: r = apply_pairs(s, plan, step, &s->config.labels, reterr); break;
        case PLAN_ARG: r = apply_arguments(s, plan, step, given, reterr); break;
        case PLAN_WORKDIR:
        case PLAN_USER:
        case PLAN_START:
        case PLAN_READY: r = apply_text(s, plan, step, reterr); break;
        case PLAN_CMD:
                r = scope_apply_command(s, step, &s->config.cmd);
                s->cmd_is_ours = true;
                break;
        case PLAN_ENTRYPOINT:
                r = scope_apply_command(s, step, &s->config.entrypoint);
                if (!s->cmd_is_ours) /* the base image's CMD was made for another entrypoint */
                        strv_done(&s->config.cmd);
                break;
        case PLAN_SHELL: r = scope_apply_command(s, step, &s->shell); break;
        case PLAN_EXPOSE: r = scope_apply_list(s, plan, step, &s->config.exposed, reterr); break;
        case PLAN_STOPSIGNAL:
        case PLAN_VOLUME:
        case PLAN_HEALTHCHECK:
        case PLAN_MAINTAINER: break; /* parsed, but without an effect */
        case _PLAN_KIND_MAX:
        case _PLAN_KIND_INVALID:
        default: return error_set(reterr, -EINVAL, "a step of no known kind");
        }
        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        return r == -E2BIG && reterr && reterr->code == 0 ? error_set(reterr, r, "%s: more than %d entries", plan_kind_name(step->kind), ENTRIES_MAX) : r;
}
