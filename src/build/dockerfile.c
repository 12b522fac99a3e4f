#include "build/dockerfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/word.h"
#include "build/docker-internal.h"
#include "build/docker-words.h"
#include "build/expand.h"

int docker_complain(DockerReader *d, const char *format, ...) {
        char text[ERROR_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return error_set(d->reterr, -EINVAL, "%s:%u: %s", d->options->file, d->line->line, text);
}

int docker_fail(DockerReader *d, int r, const char *where) {
        if (r == -ENOMEM)
                return error_set(d->reterr, r, "out of memory");
        if (r == -E2BIG && d->reterr && d->reterr->code == 0)
                return error_set(d->reterr, r, "%s:%u: %s: too many words", d->options->file, d->line->line, where);
        return error_prefix(d->reterr, r, "%s:%u: %s", d->options->file, d->line->line, where);
}

/* The instruction for display: on one line, with the markers of its heredocs. */
static char *line_text(const DockerLine *line) {
        char *text = NULL;

        if (asprintf(&text, "%s%s%s", line->word, *line->rest ? " " : "", line->rest) < 0)
                return NULL;
        for (char *p = text; *p; p++)
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = ' ';
        return text;
}

static PlanStep *docker_step(DockerReader *d, PlanKind kind) {
        PlanStep *s;

        if (!d->stage) {
                (void) docker_complain(d, "%s before the first FROM: only ARG may stand there", plan_kind_name(kind));
                return NULL;
        }
        s = plan_add_step(d->plan, d->stage);
        if (!s) {
                (void) docker_complain(d, "more than %d steps", PLAN_STEPS_MAX);
                return NULL;
        }
        s->kind = kind;
        s->line = d->line->line;
        s->text = line_text(d->line);
        if (!s->text) {
                (void) docker_fail(d, -ENOMEM, "");
                return NULL;
        }
        return s;
}

static const DockerFlag *find_flag(const DockerFlag *flags, const char *name, size_t length) {
        for (const DockerFlag *f = flags; f->name; f++)
                if (strlen(f->name) == length && strncmp(f->name, name, length) == 0)
                        return f;
        return NULL;
}

static int unknown_flag(DockerReader *d, const DockerFlag *flags, const char *name) {
        unsigned best = word_tolerance(name);
        const char *nearest = NULL;

        for (const DockerFlag *f = flags; f->name; f++)
                if (word_is_nearer(name, f->name, &best))
                        nearest = f->name;
        return docker_complain(d, "%s has no flag --%.60s%s%s%s", d->line->word, name, nearest ? " (did you mean --" : "", nearest ? nearest : "",
                        nearest ? "?)" : "");
}

static int docker_flags(DockerReader *d, const DockerFlag *flags, PlanStep *s) {
        for (size_t i = 0; i < d->flags.n; i++) {
                char *name = d->flags.items[i] + 2;
                const size_t length = strcspn(name, "=");
                const DockerFlag *f = find_flag(flags, name, length);
                int r;

                if (!f) {
                        name[length] = '\0';
                        return unknown_flag(d, flags, name);
                }
                if (f->refused)
                        return docker_complain(d, "%s --%s %s", d->line->word, f->name, f->refused);
                r = f->take(d, s, name[length] == '=' ? name + length + 1 : "");
                if (r < 0)
                        return r;
        }
        return 0;
}

static int dockerfile_add_word(DockerReader *d, PlanStep *s, const char *word) {
        int r = strv_push(&s->words, word);

        return r < 0 ? docker_fail(d, r, d->line->word) : 0;
}

/* The rest of the line is one value. */
static int dockerfile_read_text(DockerReader *d, PlanStep *s) {
        return *d->rest ? dockerfile_add_word(d, s, d->rest) : docker_complain(d, "%s needs a value", plan_kind_name(s->kind));
}

static int read_pairs(DockerReader *d, PlanStep *s) {
        int r = docker_pairs(d->rest, d->escape, &s->words, d->reterr);

        return r < 0 ? docker_fail(d, r, plan_kind_name(s->kind)) : 0;
}

/* A JSON list, or a command line for the shell. */
static int dockerfile_read_command(DockerReader *d, PlanStep *s) {
        int r = docker_json(d->rest, &s->words, d->reterr);

        if (r < 0)
                return docker_fail(d, r, plan_kind_name(s->kind));
        s->exec = r > 0;
        if (r > 0)
                return 0;
        if (*d->rest == '[' && plan_warn(d->plan, "line %u: %s begins like a list in JSON and is none (strings take double quotes): it goes to the shell",
                        d->line->line, plan_kind_name(s->kind)) < 0)
                return docker_fail(d, -ENOMEM, "");
        return dockerfile_add_word(d, s, d->rest);
}

static int read_shell(DockerReader *d, PlanStep *s) {
        int r = docker_json(d->rest, &s->words, d->reterr);

        if (r < 0)
                return docker_fail(d, r, "SHELL");
        s->exec = true;
        return r > 0 && s->words.n > 0 ? 0 :
                        docker_complain(d, "SHELL must be a list in JSON with something in it, as in [\"/bin/bash\", \"-c\"]");
}

static int dockerfile_read_list(DockerReader *d, PlanStep *s) {
        int r = s->kind == PLAN_EXPOSE ? 0 : docker_json(d->rest, &s->words, d->reterr);

        if (r == 0)
                r = docker_split(d->rest, d->escape, /* quotes= */ false, &s->words);
        if (r < 0)
                return docker_fail(d, r, plan_kind_name(s->kind));
        return s->words.n > 0 ? 0 : docker_complain(d, "%s needs at least one value", plan_kind_name(s->kind));
}

static bool is_argument_name(const char *word, size_t n) {
        if (n == 0 || isdigit((unsigned char) word[0]))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char) word[i]) && word[i] != '_' && word[i] != '-' && word[i] != '.')
                        return false;
        return true;
}

static int declare(DockerReader *d, const char *word) {
        size_t n = strcspn(word, "=");
        char name[256];
        int r;

        if (!is_argument_name(word, n) || n >= sizeof(name))
                return docker_complain(d, "ARG '%.100s': must be NAME or NAME=DEFAULT", word);
        memcpy(name, word, n);
        name[n] = '\0';
        r = strv_push(&d->plan->declared, name);
        return r < 0 ? docker_fail(d, r, "ARG") : 0;
}

static int read_arg(DockerReader *d, PlanStep *s) {
        _cleanup_(strv_done) Strv words = STRV_INIT(PLAN_WORDS_MAX);
        int r = docker_split(d->rest, d->escape, /* quotes= */ true, &words);

        if (r < 0)
                return docker_fail(d, r, "ARG");
        if (words.n == 0)
                return docker_complain(d, "ARG needs a name");
        if (d->stage) {
                s = docker_step(d, PLAN_ARG);
                if (!s)
                        return -EINVAL;
        }
        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                r = declare(d, words.items[i]);
                if (r >= 0)
                        r = s ? dockerfile_add_word(d, s, words.items[i]) : docker_global(d, words.items[i]);
        }
        return r;
}

static int read_onbuild(DockerReader *d, PlanStep *s) {
        return docker_complain(d, "ONBUILD is not supported: put '%.60s' into the Dockerfile that is built on this one", d->rest);
}

static const struct {
        const char *word;
        int (*read)(DockerReader *d, PlanStep *s);
        PlanKind kind; /* of the step passed to read(); _PLAN_KIND_INVALID: no step, or read() adds its own */
        const DockerFlag *flags; /* NULL: has no flags; a word that looks like one is an ordinary word */
} instructions[] = {
        { "FROM",        docker_from,             _PLAN_KIND_INVALID, docker_from_flags        },
        { "RUN",         docker_run,              PLAN_RUN,           docker_run_flags         },
        { "COPY",        docker_copy,             PLAN_COPY,          docker_copy_flags        },
        { "ADD",         docker_copy,             PLAN_ADD,           docker_add_flags         },
        { "ENV",         read_pairs,              PLAN_ENV,           NULL                     },
        { "ARG",         read_arg,                _PLAN_KIND_INVALID, NULL                     },
        { "LABEL",       read_pairs,              PLAN_LABEL,         NULL                     },
        { "WORKDIR",     dockerfile_read_text,    PLAN_WORKDIR,       NULL                     },
        { "USER",        dockerfile_read_text,    PLAN_USER,          NULL                     },
        { "CMD",         dockerfile_read_command, PLAN_CMD,           NULL                     },
        { "ENTRYPOINT",  dockerfile_read_command, PLAN_ENTRYPOINT,    NULL                     },
        { "EXPOSE",      dockerfile_read_list,    PLAN_EXPOSE,        NULL                     },
        { "SHELL",       read_shell,              PLAN_SHELL,         NULL                     },
        { "STOPSIGNAL",  dockerfile_read_text,    PLAN_STOPSIGNAL,    NULL                     },
        { "VOLUME",      dockerfile_read_list,    PLAN_VOLUME,        NULL                     },
        { "HEALTHCHECK", docker_healthcheck,      PLAN_HEALTHCHECK,   docker_healthcheck_flags },
        { "MAINTAINER",  dockerfile_read_text,    PLAN_MAINTAINER,    NULL                     },
        { "ONBUILD",     read_onbuild,            _PLAN_KIND_INVALID, NULL                     },
};

static int unknown_instruction(DockerReader *d) {
        unsigned best = MAX_OF(word_tolerance(d->line->word), 3u); /* allows a swap of two letters in a short word */
        const char *nearest = NULL;

        for (size_t i = 0; i < ELEMENTSOF(instructions); i++)
                if (word_is_nearer(d->line->word, instructions[i].word, &best))
                        nearest = instructions[i].word;
        if (nearest)
                return docker_complain(d, "unknown instruction '%.60s' (did you mean '%s'?)", d->line->word, nearest);
        return docker_complain(d, "unknown instruction '%.60s'", d->line->word);
}

static int read_instruction(DockerReader *d, size_t i) {
        const bool is_step = instructions[i].kind != _PLAN_KIND_INVALID;
        PlanStep *s = NULL;
        int r = instructions[i].flags ? docker_take_flags(&d->rest, d->escape, &d->flags) : 0;

        if (r < 0)
                return docker_fail(d, r, instructions[i].word);
        if (is_step)
                s = docker_step(d, instructions[i].kind);
        if (is_step && !s)
                return -EINVAL;
        r = docker_flags(d, instructions[i].flags, s);
        return r < 0 ? r : instructions[i].read(d, s);
}

static int read_line(DockerReader *d) {
        for (size_t i = 0; i < ELEMENTSOF(instructions); i++) {
                int r;

                if (strcasecmp(d->line->word, instructions[i].word) != 0)
                        continue;
                d->rest = d->line->rest;
                d->flags = (Strv) STRV_INIT(PLAN_WORDS_MAX);
                r = read_instruction(d, i);
                strv_done(&d->flags);
                return r;
        }
        return unknown_instruction(d);
}

static int dockerfile_read_all(const char *text, DockerReader *d) {
        DockerLines lines;

        docker_lines_init(&lines, d->options->file, text);
        for (;;) {
                _cleanup_(docker_line_done) DockerLine line = { 0 };
                int r = docker_lines_next(&lines, &line, d->reterr);

                if (r <= 0)
                        return r;
                d->line = &line;
                d->escape = d->plan->escape = lines.escape;
                r = read_line(d);
                if (r < 0)
                        return r;
        }
}

int dockerfile_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr) {
        _cleanup_plan_ Plan *plan = plan_new();
        _cleanup_free_ char *copy = NULL;
        int r;

        if (size > PLAN_TEXT_MAX)
                return error_set(reterr, -E2BIG, "%s has %zu bytes; at most %d are read", options->file, size, PLAN_TEXT_MAX);
        if (memchr(text, '\0', size))
                return error_set(reterr, -EINVAL, "%s: is no text: it has a NUL in it", options->file);
        copy = strndup(text, size);
        if (!plan || !copy)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = dockerfile_read_all(copy, &(DockerReader) { .options = options, .plan = plan, .left = EXPAND_MAX, .reterr = reterr });
        if (r >= 0)
                r = plan_choose(plan, options, reterr);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(plan);
        return 0;
}
