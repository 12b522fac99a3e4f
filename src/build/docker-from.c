/* docker-from.c: FROM, and the instructions that are allowed before the first one. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "build/docker-internal.h"
#include "build/docker-words.h"
#include "build/expand.h"

/* In FROM, only the ARGs before it and the platform are known. */
static const char *docker_from_look_up(const char *name, const void *userdata) {
        const DockerReader *d = userdata;
        const char *value = strv_get_env(&d->plan->globals, name);

        return value ? value : plan_platform_argument(name);
}

static int docker_from_expand(DockerReader *d, const char *word, char **ret) {
        int r = expand_word(word, d->escape, docker_from_look_up, d, ret, d->reterr);

        if (r >= 0)
                r = expand_spend(*ret, &d->left, d->reterr);
        return r < 0 ? docker_fail(d, r, d->line->word) : 0;
}

/* ARG before the first FROM: a value in the request overrides the default. */
int docker_global(DockerReader *d, const char *word) {
        _cleanup_free_ char *value = NULL, *assignment = NULL;
        const size_t n = strcspn(word, "=");
        char name[256];
        const char *given;
        int r = 0;

        (void) snprintf(name, sizeof(name), "%.*s", (int) n, word);
        given = d->options->arguments ? strv_get_env(d->options->arguments, name) : NULL;
        if (!given && word[n] == '=') {
                r = docker_from_expand(d, word + n + 1, &value);
                given = value;
        }
        if (r < 0 || !given)
                return r;
        if (asprintf(&assignment, "%s=%s", name, given) < 0)
                return docker_fail(d, -ENOMEM, "");
        r = strv_set_env(&d->plan->globals, assignment);
        return r < 0 ? docker_fail(d, r, "ARG") : 0;
}

static int take_platform(DockerReader *d, PlanStep *s, const char *value) {
        _cleanup_free_ char *platform = NULL;
        const char *ours = plan_platform_argument("TARGETPLATFORM");
        size_t n = strlen(ours);
        int r = docker_from_expand(d, value, &platform);

        if (r < 0)
                return r;
        /* The variant (linux/arm64/v8) is not compared. */
        if (*platform == '\0' || (strncmp(platform, ours, n) == 0 && (platform[n] == '\0' || platform[n] == '/')))
                return 0;
        return docker_complain(d, "FROM --platform=%.60s: this machine is %s, and nothing is emulated", platform, ours);
}

static bool is_stage_name(const char *name) {
        if (!isalpha((unsigned char) name[0]))
                return false;
        for (const char *p = name; *p; p++)
                if (!isalnum((unsigned char) *p) && *p != '-' && *p != '_' && *p != '.')
                        return false;
        return true;
}

static int docker_from_read_name(DockerReader *d, PlanStage *s, const char *name) {
        if (!is_stage_name(name))
                return docker_complain(d, "FROM … AS '%.60s': a name has letters, digits, '-', '_' and '.', and begins with a letter", name);
        if (plan_find_stage(d->plan, name, d->plan->n_stages) >= 0)
                return docker_complain(d, "FROM … AS %.60s: there is a stage of that name already", name);
        s->name = strdup(name);
        if (!s->name)
                return docker_fail(d, -ENOMEM, "");
        for (char *p = s->name; *p; p++)
                *p = (char) tolower((unsigned char) *p);
        return 0;
}

static int docker_from_read_base(DockerReader *d, PlanStage *s, const char *word) {
        _cleanup_free_ char *base = NULL;
        int r = docker_from_expand(d, word, &base);

        if (r < 0)
                return r;
        if (*base == '\0')
                return docker_complain(d, "FROM %.100s: nothing is left of it when its variables are replaced (ARG before FROM, or --build-arg)", word);
        if (strpbrk(base, " \t\n"))
                return docker_complain(d, "FROM '%.100s': has spaces in it", base);
        s->parent = plan_find_stage(d->plan, base, d->plan->n_stages - 1);
        if (s->parent >= 0 && !isdigit((unsigned char) *base))
                return 0;
        s->parent = -1;
        s->base = TAKE_PTR(base);
        return 0;
}

const DockerFlag docker_from_flags[] = { { "platform", take_platform, NULL }, { 0 } };

int docker_from(DockerReader *d, PlanStep *none) {
        _cleanup_(strv_done) Strv words = STRV_INIT(PLAN_WORDS_MAX);
        int r = docker_split(d->rest, d->escape, /* quotes= */ false, &words);

        if (r < 0)
                return docker_fail(d, r, "FROM");
        if (words.n != 1 && !(words.n == 3 && strcasecmp(words.items[1], "AS") == 0))
                return docker_complain(d, "FROM must be FROM IMAGE or FROM IMAGE AS NAME");
        d->stage = plan_add_stage(d->plan);
        if (!d->stage)
                return docker_complain(d, "more than %d stages", PLAN_STAGES_MAX);
        d->stage->line = d->line->line;
        if (asprintf(&d->stage->text, "FROM %s%s%s", words.items[0], words.n == 3 ? " AS " : "", words.n == 3 ? words.items[2] : "") < 0) {
                d->stage->text = NULL;
                return docker_fail(d, -ENOMEM, "");
        }
        if (words.n == 3)
                r = docker_from_read_name(d, d->stage, words.items[2]);
        return r < 0 ? r : docker_from_read_base(d, d->stage, words.items[0]);
}
