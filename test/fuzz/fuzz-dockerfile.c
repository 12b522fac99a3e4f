/* Any Dockerfile: it becomes a plan that keeps its promises, or is complained about by name. */
#include "fuzz.h"

#include <errno.h>

#include "build/dockerfile.h"
#include "build/expand.h"

static const char *look_up(const char *name, const void *userdata) {
        return name[0] == 'a' ? "value $a" : NULL;
}

static void check_word(const char *word, char escape) {
        Error error = { 0 };
        char *text = NULL;
        int r = expand_word(word, escape, look_up, NULL, &text, &error);

        MUST((r < 0) == !text && (r < 0) == (error.text[0] != '\0'));
        free(text);
        text = NULL;
        r = expand_text(word, escape, look_up, NULL, &text, &error);
        MUST((r < 0) == !text);
        free(text);
}

static void check_step(const Plan *p, size_t stage, const PlanStep *s) {
        MUST(s->kind < _PLAN_KIND_MAX && s->line > 0 && s->text && !strchr(s->text, '\n'));
        MUST(s->from < (int) p->n_stages && (s->from >= 0) == (s->from_text != NULL));
        MUST(s->from < 0 || (size_t) s->from < stage || p->stages[s->from].borrowed);
        if (s->kind == PLAN_COPY || s->kind == PLAN_ADD)
                MUST(s->words.n > 0 && s->words.n + s->n_files >= 2);
        if (s->kind == PLAN_ENV || s->kind == PLAN_LABEL)
                MUST(s->words.n % 2 == 0 && s->words.n > 0);
        for (size_t i = 0; i < s->words.n; i++)
                check_word(s->words.items[i], p->escape);
        for (size_t i = 0; i < s->n_files; i++)
                MUST(s->files[i].name && s->files[i].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const PlanOptions options = { .file = "Dockerfile" };
        Error error = { 0 };
        Plan *p = NULL;
        int r = dockerfile_parse((const char *) data, size, &options, &p, &error);

        MUST((r < 0) == !p && (r < 0) == (error.text[0] != '\0'));
        if (!p)
                return 0;
        MUST(p->n_stages > 0 && p->stages[p->target].needed && !p->stages[p->target].borrowed && plan_count_steps(p) > 0);
        for (size_t i = 0; i < p->n_stages; i++) {
                MUST((p->stages[i].base != NULL) != (p->stages[i].parent >= 0) && p->stages[i].parent < (int) i);
                for (size_t k = 0; k < p->stages[i].n_steps; k++)
                        check_step(p, i, p->stages[i].steps + k);
        }
        plan_free(p);
        return 0;
}
