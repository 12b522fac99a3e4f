#include "build/steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/json.h"

#define USER_MAX 64
#define SHOWN    200 /* bytes shown of a step's text */

/* Runs the line, which is $0, in a login shell: bash if present, else sh. */
#define SHELL "[ -x /bin/bash ] && exec /bin/bash -l -c \"$0\"; exec /bin/sh -l -c \"$0\""

/* An image with neither useradd nor busybox's adduser must already have the user. */
#define ADD_USER                                                                                                           \
        "id -u %1$s >/dev/null 2>&1 || useradd -m -s \"$(command -v bash || echo /bin/sh)\" %1$s 2>/dev/null || "          \
        "adduser -D %1$s || { echo 'there is no user %1$s, and no program to add one'; exit 1; }; "                        \
        "[ %1$s = root ] || { mkdir -p /home/%1$s && chown %1$s: /home/%1$s; }"

typedef struct StepsReader {
        const PlanOptions *options;
        Plan *plan;
        PlanStage *stage;
        unsigned number;
        Error *reterr;
} StepsReader;

static int steps_no_memory(StepsReader *k) {
        return error_set(k->reterr, -ENOMEM, "out of memory");
}

#define complain(k, format, ...) error_set((k)->reterr, -EINVAL, "%s:%u: " format, (k)->options->file, (k)->number, ##__VA_ARGS__)

bool steps_hash_is_valid(const char *text) {
        return strlen(text) == STEPS_HASH && text[strspn(text, "0123456789abcdef")] == '\0';
}

static int steps_set(StepsReader *k, char **place, const char *text) {
        *place = strdup(text);
        return *place ? 0 : steps_no_memory(k);
}

static int steps_push(StepsReader *k, PlanStep *s, const char *word) {
        s->words.max = PLAN_WORDS_MAX;
        return strv_push(&s->words, word) < 0 ? steps_no_memory(k) : 0;
}

/* Sets the text for display, on one line. */
static int steps_set_text(StepsReader *k, PlanStep *s, const char *word, const char *rest) {
        if (asprintf(&s->text, "%s %.*s", word, SHOWN, rest) < 0) {
                s->text = NULL;
                return steps_no_memory(k);
        }
        for (char *p = s->text; *p; p++)
                if (*p == '\n' || *p == '\r')
                        *p = ' ';
        return 0;
}

static PlanStep *steps_add(StepsReader *k, PlanKind kind, const char *word, const char *rest) {
        PlanStep *s = plan_add_step(k->plan, k->stage);

        if (!s) {
                (void) error_set(k->reterr, -E2BIG, "%s:%u: more than %d steps", k->options->file, k->number, PLAN_STEPS_MAX);
                return NULL;
        }
        s->kind = kind;
        s->line = k->number;
        s->from = -1;
        return steps_set_text(k, s, word, rest) < 0 ? NULL : s;
}

static int steps_failed(StepsReader *k) {
        return k->reterr && k->reterr->code < 0 ? k->reterr->code : -ENOMEM;
}

static const char *argument(json_t *args, size_t i) {
        const char *text = json_string_value(json_array_get(args, i));

        return text && *text ? text : NULL;
}

static bool user_is_valid(const char *name) {
        size_t n = strlen(name);

        if (n == 0 || n > USER_MAX || *name == '-' || *name == '.')
                return false;
        return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == '\0';
}

static int read_run(StepsReader *k, json_t *args, json_t *step) {
        const char *command = argument(args, 0), *user = argument(args, 1);
        PlanStep *s;

        if (!command)
                return complain(k, "RUN: needs a command");
        s = steps_add(k, PLAN_RUN, "RUN", command);
        if (!s || steps_push(k, s, command) < 0 || (user && steps_set(k, &s->user, user) < 0))
                return steps_failed(k);
        return 0;
}

/* Returns the path before the first part with a pattern. The archive contains only files that match the
 * pattern. */
static char *without_pattern(const char *source) {
        char *path = strdup(source);
        size_t n;

        if (!path)
                return NULL;
        n = strcspn(path, "*?[{\\");
        if (path[n] != '\0') {
                while (n > 0 && path[n - 1] != '/')
                        n--;
                path[n] = '\0';
        }
        if (*path == '\0') {
                free(path);
                return strdup(".");
        }
        return path;
}

static int steps_read_copy(StepsReader *k, json_t *args, json_t *step) {
        const char *source = argument(args, 0), *to = argument(args, 1), *user = argument(args, 2), *mode = argument(args, 3);
        const char *hash = json_string_value(json_object_get(step, "filesHash"));
        _cleanup_free_ char *path = NULL;
        PlanStep *s;

        if (!source || !to)
                return complain(k, "COPY: needs a source and a destination");
        if (!hash || !steps_hash_is_valid(hash))
                return complain(k, "COPY: needs a filesHash of %d hexadecimal digits: that of the files that were sent", STEPS_HASH);
        if (mode && (strlen(mode) > 5 || mode[strspn(mode, "01234567")] != '\0'))
                return complain(k, "COPY: the mode must be an octal number, as in 0755, not '%.20s'", mode);
        path = without_pattern(source);
        s = path ? steps_add(k, PLAN_COPY, "COPY", source) : NULL;
        if (!s || steps_push(k, s, path) < 0 || steps_push(k, s, to) < 0 || steps_set(k, &s->archive, hash) < 0 || (user && steps_set(k, &s->chown, user) < 0) ||
                        (mode && steps_set(k, &s->chmod, mode) < 0))
                return steps_failed(k);
        s->literal = true;
        s->own = !user;
        return 0;
}

static int steps_read_env(StepsReader *k, json_t *args, json_t *step) {
        size_t n = json_array_size(args);
        PlanStep *s;

        if (n == 0 || n % 2 != 0)
                return complain(k, "ENV: needs names and values, in turn");
        if (n > PLAN_WORDS_MAX)
                return complain(k, "ENV: more than %d names", PLAN_WORDS_MAX / 2);
        s = steps_add(k, PLAN_ENV, "ENV", json_string_value(json_array_get(args, 0)));
        for (size_t i = 0; s && i < n; i++)
                if (steps_push(k, s, json_string_value(json_array_get(args, i))) < 0)
                        s = NULL;
        if (!s)
                return steps_failed(k);
        s->literal = true;
        return 0;
}

static int steps_read_workdir(StepsReader *k, json_t *args, json_t *step) {
        const char *path = argument(args, 0);
        PlanStep *s;

        if (!path)
                return complain(k, "WORKDIR: needs a path");
        s = steps_add(k, PLAN_WORKDIR, "WORKDIR", path);
        if (!s || steps_push(k, s, path) < 0)
                return steps_failed(k);
        s->literal = s->own = true;
        return 0;
}

/* Adds a step that creates the user if it is missing. */
static int steps_add_user(StepsReader *k, const char *name, const char *text) {
        _cleanup_free_ char *script = NULL;
        PlanStep *s;

        if (asprintf(&script, ADD_USER, name) < 0) {
                script = NULL;
                return steps_no_memory(k);
        }
        s = steps_add(k, PLAN_RUN, text, name);
        return !s || steps_push(k, s, script) < 0 || steps_set(k, &s->user, "0") < 0 ? steps_failed(k) : 0;
}

static int steps_read_user(StepsReader *k, json_t *args, json_t *step) {
        const char *name = argument(args, 0);
        int r;

        if (!name)
                return complain(k, "USER: needs a name");
        if (!user_is_valid(name))
                return complain(k, "USER: '%.64s' is no name of a user: letters, digits, '_', '.', '-'", name);
        r = steps_add_user(k, name, "USER");
        return r < 0 ? r : steps_set(k, &k->stage->steps[k->stage->n_steps - 1].becomes, name);
}

static const struct {
        const char *type;
        int (*read)(StepsReader *k, json_t *args, json_t *step);
} kinds[] = {
        { "RUN",     read_run     },
        { "COPY",    steps_read_copy    },
        { "ADD",     steps_read_copy    }, /* the same, because ADD unpacks nothing here */
        { "ENV",     steps_read_env     },
        { "WORKDIR", steps_read_workdir },
        { "USER",    steps_read_user    },
};

static int steps_read(StepsReader *k, json_t *step) {
        const char *type = json_string_value(json_object_get(step, "type"));
        json_t *args = json_object_get(step, "args"), *item;
        size_t i;

        if (!json_is_object(step) || !type)
                return complain(k, "a step is an object with 'type' and 'args'");
        if (args && !json_is_array(args))
                return complain(k, "%.20s: 'args' must be a list of texts", type);
        json_array_foreach(args, i, item)
                if (!json_is_string(item))
                        return complain(k, "%.20s: 'args' must be a list of texts", type);
        for (i = 0; i < ELEMENTSOF(kinds); i++)
                if (strcasecmp(kinds[i].type, type) == 0) {
                        int r = kinds[i].read(k, args, step);

                        if (r >= 0)
                                k->stage->steps[k->stage->n_steps - 1].force = json_is_true(json_object_get(step, "force"));
                        return r;
                }
        return complain(k, "'%.20s' is no type of a step: RUN, COPY, ENV, WORKDIR, USER", type);
}

static int steps_read_text(StepsReader *k, json_t *root, const char *name, PlanKind kind) {
        json_t *v = json_object_get(root, name);
        const char *text = json_string_value(v);
        PlanStep *s;

        if (v && !text && !json_is_null(v))
                return error_set(k->reterr, -EINVAL, "%s: '%s' must be a text", k->options->file, name);
        if (!text || !*text)
                return 0;
        s = steps_add(k, kind, plan_kind_name(kind), text);
        if (!s || steps_push(k, s, text) < 0)
                return steps_failed(k);
        s->literal = true;
        return 0;
}

static int steps_read_base(StepsReader *k, json_t *root) {
        const char *image = json_string_value(json_object_get(root, "fromImage")), *template = json_string_value(json_object_get(root, "fromTemplate"));
        const char *base = image && *image ? image : template;
        static const char *const shell[] = { "/bin/sh", "-c", SHELL };

        if (!base || !*base)
                return error_set(k->reterr, -EINVAL, "%s: needs 'fromImage' or 'fromTemplate': what it is built on", k->options->file);
        if (image && *image && template && *template)
                return error_set(k->reterr, -EINVAL, "%s: 'fromImage' and 'fromTemplate' cannot be combined", k->options->file);
        k->stage = plan_add_stage(k->plan);
        if (!k->stage || steps_set(k, &k->stage->base, base) < 0 || steps_set(k, &k->stage->user, STEPS_USER) < 0 || steps_set(k, &k->stage->workdir, STEPS_HOME) < 0)
                return steps_no_memory(k);
        if (asprintf(&k->stage->text, "FROM %.*s", SHOWN, base) < 0) {
                k->stage->text = NULL;
                return steps_no_memory(k);
        }
        k->stage->shell.max = PLAN_WORDS_MAX;
        for (size_t i = 0; i < ELEMENTSOF(shell); i++)
                if (strv_push(&k->stage->shell, shell[i]) < 0)
                        return steps_no_memory(k);
        return steps_add_user(k, STEPS_USER, "RUN useradd");
}

static int steps_read_all(StepsReader *k, json_t *root) {
        json_t *steps = json_object_get(root, "steps"), *step;
        size_t i;
        int r;

        if (!json_is_object(root))
                return error_set(k->reterr, -EINVAL, "%s: must be an object", k->options->file);
        if (steps && !json_is_array(steps) && !json_is_null(steps))
                return error_set(k->reterr, -EINVAL, "%s: 'steps' must be a list", k->options->file);
        r = steps_read_base(k, root);
        json_array_foreach(steps, i, step) {
                if (r < 0)
                        return r;
                k->number = (unsigned) i + 1;
                r = steps_read(k, step);
        }
        k->number++;
        if (r >= 0)
                r = steps_read_text(k, root, "startCmd", PLAN_START);
        return r < 0 ? r : steps_read_text(k, root, "readyCmd", PLAN_READY);
}

int steps_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr) {
        _cleanup_plan_ Plan *plan = plan_new();
        _cleanup_json_ json_t *root = NULL;
        json_error_t where;
        Error error = { 0 };
        int r;

        if (!plan)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (size > PLAN_TEXT_MAX)
                return error_set(reterr, -E2BIG, "%s: more than %d bytes", options->file, PLAN_TEXT_MAX);
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
        if (!root)
                return error_set(reterr, -EINVAL, "%s: is no JSON: %s", options->file, where.text);
        r = steps_read_all(&(StepsReader) { .options = options, .plan = plan, .reterr = &error }, root);
        if (r >= 0)
                r = plan_choose(plan, options, &error);
        if (r < 0) {
                if (reterr)
                        *reterr = error;
                return r;
        }
        *ret = TAKE_PTR(plan);
        return 0;
}
