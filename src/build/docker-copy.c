/* docker-copy.c: RUN, COPY, ADD and HEALTHCHECK: the instructions with flags and heredocs. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "build/docker-internal.h"
#include "build/docker-words.h"

static int docker_copy_keep(DockerReader *d, char **place, const char *flag, const char *value) {
        if (*value == '\0')
                return docker_complain(d, "%s --%s needs a value", d->line->word, flag);
        free(*place);
        *place = strdup(value);
        return *place ? 0 : docker_fail(d, -ENOMEM, "");
}

static int take_from(DockerReader *d, PlanStep *s, const char *value) {
        if (strchr(value, '$'))
                return docker_complain(d, "COPY --from=%.60s: no variables here; give it a name by FROM %.60s AS NAME and write --from=NAME", value, value);
        return docker_copy_keep(d, &s->from_text, "from", value);
}

static int take_chown(DockerReader *d, PlanStep *s, const char *value) {
        return docker_copy_keep(d, &s->chown, "chown", value);
}

static int take_chmod(DockerReader *d, PlanStep *s, const char *value) {
        return docker_copy_keep(d, &s->chmod, "chmod", value);
}

static int take_link(DockerReader *d, PlanStep *s, const char *value) {
        return 0; /* about the layout of layers, which does not affect the result here */
}

/* Replaces the heredoc words by their texts. */
static int docker_copy_take_files(DockerReader *d, PlanStep *s) {
        DockerLine *line = (DockerLine *) d->line; /* this file owns it; others only read it */
        size_t kept = 0;

        if (line->n_files == 0)
                return 0;
        s->files = TAKE_PTR(line->files);
        s->n_files = line->n_files;
        line->n_files = 0;
        if (s->kind == PLAN_RUN)
                return 0;
        for (size_t i = 0; i < s->words.n; i++) {
                PlanFile f = { 0 };
                int r = docker_heredoc(s->words.items[i], &f);

                free(f.name);
                if (r < 0)
                        return docker_fail(d, r, "");
                if (r > 0)
                        free(s->words.items[i]);
                else
                        s->words.items[kept++] = s->words.items[i];
        }
        s->words.n = kept;
        s->words.items[kept] = NULL;
        return 0;
}

static bool is_url(const char *word) {
        static const char *const schemes[] = { "http://", "https://", "ftp://", "git://", "git@", "ssh://" };

        for (size_t i = 0; i < ELEMENTSOF(schemes); i++)
                if (strncasecmp(word, schemes[i], strlen(schemes[i])) == 0)
                        return true;
        return false;
}

static int docker_copy_check_sources(DockerReader *d, PlanStep *s) {
        const char *word = plan_kind_name(s->kind);

        if (s->words.n + s->n_files < 2 || s->words.n == 0)
                return docker_complain(d, "%s needs at least one source and a destination", word);
        for (size_t i = 0; i + 1 < s->words.n; i++)
                if (is_url(s->words.items[i]))
                        return docker_complain(d, "%s %.100s: nothing is fetched while files are copied; write RUN curl -fsSLo FILE %.100s", word,
                                        s->words.items[i], s->words.items[i]);
        if (s->n_files > 0 && s->from_text)
                return docker_complain(d, "%s: --from cannot be combined with a here-document", word);
        return 0;
}

const DockerFlag docker_copy_flags[] = {
        { "from",    take_from,  NULL },
        { "chown",   take_chown, NULL },
        { "chmod",   take_chmod, NULL },
        { "link",    take_link,  NULL },
        { "parents", NULL,       "is not supported: copy each directory to its place" },
        { "exclude", NULL,       "is not supported: put the pattern into .dockerignore" },
        { 0 },
};

const DockerFlag docker_add_flags[] = {
        { "chown",        take_chown, NULL },
        { "chmod",        take_chmod, NULL },
        { "link",         take_link,  NULL },
        { "checksum",     NULL,       "is for URLs, which are not fetched here: RUN curl … && sha256sum --check" },
        { "keep-git-dir", NULL,       "is for git, which is not fetched here: RUN git clone" },
        { "exclude",      NULL,       "is not supported: put the pattern into .dockerignore" },
        { "unpack",       NULL,       "is not supported: COPY does not unpack, ADD does" },
        { 0 },
};

int docker_copy(DockerReader *d, PlanStep *s) {
        int r = d->line->n_files > 0 ? 0 : docker_json(d->rest, &s->words, d->reterr);

        if (r == 0)
                r = docker_split(d->rest, d->escape, /* quotes= */ d->line->n_files > 0, &s->words);
        if (r < 0)
                return docker_fail(d, r, plan_kind_name(s->kind));
        r = docker_copy_take_files(d, s);
        return r < 0 ? r : docker_copy_check_sources(d, s);
}

/* Whether --mount has this type, as in type=cache,target=/x. */
static bool mount_is(const char *value, const char *type) {
        size_t n = strlen(type);

        for (const char *p = value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
                if (strncmp(p, "type=", 5) == 0)
                        return strncmp(p + 5, type, n) == 0 && (p[5 + n] == '\0' || p[5 + n] == ',');
        return strcmp(type, "bind") == 0; /* the default type */
}

static int take_mount(DockerReader *d, PlanStep *s, const char *value) {
        static const struct {
                const char *type, *cure;
        } refused[] = {
                { "bind",   "COPY what it needs, and remove it in the same RUN if it shall not stay" },
                { "secret", "secrets do not go into builds here; give them to sandboxes (cove secret)" },
                { "ssh",    "keys do not go into builds here; fetch what needs one before the build, and COPY it" },
                { "tmpfs",  "write below /tmp, which is not kept" },
        };

        if (mount_is(value, "cache")) {
                int r = plan_warn(d->plan, "line %u: RUN --mount=type=cache: nothing is kept between builds but finished steps; the directory stays in the template",
                                d->line->line);

                return r < 0 ? docker_fail(d, r, "RUN") : 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(refused); i++)
                if (mount_is(value, refused[i].type))
                        return docker_complain(d, "RUN --mount=type=%s is not supported: %s", refused[i].type, refused[i].cure);
        return docker_complain(d, "RUN --mount=%.80s: no such type of mount", value);
}

static int docker_copy_take_network(DockerReader *d, PlanStep *s, const char *value) {
        if (strcmp(value, "default") == 0)
                return 0;
        return docker_complain(d, "RUN --network=%.40s: a build has one network for all of its steps; see --network of cove template build", value);
}

const DockerFlag docker_run_flags[] = {
        { "mount",    take_mount,               NULL },
        { "network",  docker_copy_take_network, NULL },
        { "security", NULL,                     "is not supported: the sandbox decides what a step may do" },
        { 0 },
};

int docker_run(DockerReader *d, PlanStep *s) {
        int r = d->line->n_files > 0 ? 0 : docker_json(d->rest, &s->words, d->reterr);

        if (r < 0)
                return docker_fail(d, r, "RUN");
        s->exec = r > 0;
        if (*d->rest == '\0' || (s->exec && s->words.n == 0))
                return docker_complain(d, "RUN needs a command");
        if (r == 0)
                r = strv_push(&s->words, d->rest);
        return r < 0 ? docker_fail(d, r, "RUN") : docker_copy_take_files(d, s);
}

static int take_time(DockerReader *d, PlanStep *s, const char *value) {
        usec_t time;

        return parse_duration(value, &time) < 0 ? docker_complain(d, "HEALTHCHECK: '%.60s' is no time, as in 30s", value) : 0;
}

static int docker_copy_take_number(DockerReader *d, PlanStep *s, const char *value) {
        uint64_t number;

        return parse_uint64(value, 0, UINT32_MAX, &number) < 0 ? docker_complain(d, "HEALTHCHECK --retries: '%.60s' is no number", value) : 0;
}

const DockerFlag docker_healthcheck_flags[] = {
        { "interval",       take_time,               NULL },
        { "timeout",        take_time,               NULL },
        { "start-period",   take_time,               NULL },
        { "start-interval", take_time,               NULL },
        { "retries",        docker_copy_take_number, NULL },
        { 0 },
};

int docker_healthcheck(DockerReader *d, PlanStep *s) {
        size_t n = strcspn(d->rest, " \t");
        int r;

        if (!(n == 4 && strncasecmp(d->rest, "NONE", 4) == 0) && !(n == 3 && strncasecmp(d->rest, "CMD", 3) == 0))
                return docker_complain(d, "HEALTHCHECK must be HEALTHCHECK NONE or HEALTHCHECK CMD …, not '%.60s'", d->rest);
        r = plan_warn(d->plan, "line %u: HEALTHCHECK has no effect here", d->line->line);
        return r < 0 ? docker_fail(d, r, "HEALTHCHECK") : 0;
}
