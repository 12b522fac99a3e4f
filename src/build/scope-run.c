/* scope-run.c: command, environment and cache key of a step. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/scope.h"
#include "core/secret.h"

#define KEY_VERSION "cove build 1"

/* Runs a script with an interpreter of its own: writes it to a temporary file, runs and removes it. */
#define SCRIPT "f=$(mktemp) && printf %s \"$1\" >\"$f\" && chmod 755 \"$f\" || exit 125; \"$f\"; r=$?; rm -f \"$f\"; exit $r"

/* The command line with its heredocs, for the shell. */
static char *with_texts(const PlanStep *step) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        (void) fputs(step->words.items[0], f);
        for (size_t i = 0; i < step->n_files; i++)
                (void) fprintf(f, "\n%s%s", step->files[i].data, step->files[i].name);
        (void) fputc('\n', f);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

/* Whether the line is only <<EOF: then the text itself is run. */
static bool is_text_alone(const PlanStep *step) {
        return step->n_files == 1 && strncmp(step->words.items[0], "<<", 2) == 0 && !strpbrk(step->words.items[0], " \t");
}

static int scope_run_push_all(Strv *ret, const char *const *words) {
        for (; *words; words++) {
                int r = strv_push(ret, *words);

                if (r < 0)
                        return r;
        }
        return 0;
}

int scope_command(const BuildScope *s, const PlanStep *step, Strv *ret, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        const char *line = step->words.items[0];
        int r = 0;

        ret->max = PLAN_WORDS_MAX;
        if (step->n_files > 0 && is_text_alone(step)) {
                line = step->files[0].data;
                if (strncmp(line, "#!", 2) == 0) {
                        r = scope_run_push_all(ret, (const char *const[]) { "/bin/sh", "-c", SCRIPT, "sh", line, NULL });
                        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
                }
        } else if (step->n_files > 0) {
                text = with_texts(step);
                if (!text)
                        return error_set(reterr, -ENOMEM, "out of memory");
                line = text;
        }
        if (r >= 0)
                r = strv_extend(ret, step->exec ? &step->words : &s->shell);
        if (r >= 0 && !step->exec)
                r = strv_push(ret, line);
        return r < 0 ? error_set(reterr, r, "cannot put the command together: %m") : 0;
}

int scope_environment(const BuildScope *s, const Strv *given, Strv *ret) {
        int r = 0;

        ret->max = PLAN_WORDS_MAX;
        for (size_t i = 0; r >= 0 && given && i < given->n; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "%.*s", (int) MIN_OF(strcspn(given->items[i], "="), sizeof(name) - 1), given->items[i]);
                if (plan_is_proxy_argument(name))
                        r = strv_set_env(ret, given->items[i]);
        }
        for (size_t i = 0; r >= 0 && i < s->arguments.n; i++)
                r = strv_set_env(ret, s->arguments.items[i]);
        for (size_t i = 0; r >= 0 && i < s->config.env.n; i++)
                r = strv_set_env(ret, s->config.env.items[i]);
        return r;
}

static void build_scope_run_add(SecretSha256 *h, const char *text) {
        secret_sha256_add(h, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static void add_list(SecretSha256 *h, const Strv *list) {
        for (size_t i = 0; i < list->n; i++)
                build_scope_run_add(h, list->items[i]);
        secret_sha256_add(h, "\1", 1);
}

static int add_words(SecretSha256 *h, const BuildScope *s, const Plan *plan, const PlanStep *step, Error *reterr) {
        _cleanup_(strv_done) Strv expanded = STRV_INIT(PLAN_WORDS_MAX);
        const Strv *words = step->kind == PLAN_RUN || step->literal ? &step->words : &expanded;
        int r = words == &expanded ? scope_expand_words(s, plan, step, &expanded, reterr) : 0;

        if (r < 0)
                return r;
        for (size_t i = 0; i < words->n; i++)
                build_scope_run_add(h, words->items[i]);
        for (size_t i = 0; i < step->n_files; i++) {
                _cleanup_free_ char *data = NULL;

                r = step->kind == PLAN_RUN ? 0 : scope_expand_file(s, plan, step->files + i, &data, reterr);
                if (r < 0)
                        return r;
                build_scope_run_add(h, step->files[i].name);
                build_scope_run_add(h, data ? data : step->files[i].data);
        }
        return 0;
}

/* Adds what a command sees to the key. Proxies are left out: they change the way to a file, not its
 * content. */
static void build_scope_run_add_run(SecretSha256 *h, const BuildScope *s, const char *network) {
        add_list(h, &s->config.env);
        for (size_t i = 0; i < s->arguments.n; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "%.*s", (int) MIN_OF(strcspn(s->arguments.items[i], "="), sizeof(name) - 1), s->arguments.items[i]);
                if (!plan_is_proxy_argument(name))
                        build_scope_run_add(h, s->arguments.items[i]);
        }
        add_list(h, &s->shell);
        build_scope_run_add(h, s->config.user);
        build_scope_run_add(h, network);
}

int scope_key(const BuildScope *s, const Plan *plan, const PlanStep *step, const char *before, const char *content, const char *network, char ret[static SCOPE_KEY_SIZE], Error *reterr) {
        uint8_t digest[SECRET_SHA256_SIZE];
        SecretSha256 h;
        int r;

        secret_sha256_begin(&h);
        build_scope_run_add(&h, KEY_VERSION);
        build_scope_run_add(&h, before);
        if (step) {
                build_scope_run_add(&h, plan_kind_name(step->kind));
                build_scope_run_add(&h, step->exec ? "exec" : "");
                build_scope_run_add(&h, s->config.workdir);
                build_scope_run_add(&h, step->chown);
                build_scope_run_add(&h, step->chmod);
                if (step->own || step->user) /* only if present, so that keys from before these fields stay valid */
                        build_scope_run_add(&h, step->user ? step->user : s->config.user ? s->config.user : "root");
                r = add_words(&h, s, plan, step, reterr);
                if (r < 0)
                        return r;
                if (step->kind == PLAN_RUN)
                        build_scope_run_add_run(&h, s, network);
        }
        build_scope_run_add(&h, content);
        secret_sha256_end(&h, digest);
        secret_hex(digest, sizeof(digest), ret);
        return 0;
}
