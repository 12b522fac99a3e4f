/* Any list of steps: it becomes a plan of one stage, with the step that nobody wrote, or is complained about. */
#include "fuzz.h"

#include <errno.h>

#include "build/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const PlanOptions options = { .file = STEPS_FILE };
        Error error = { 0 };
        Plan *p = NULL;
        int r = steps_parse((const char *) data, size, &options, &p, &error);

        MUST((r < 0) == !p && (r < 0) == (error.text[0] != '\0'));
        if (!p)
                return 0;
        MUST(p->n_stages == 1 && p->stages[0].base && p->stages[0].needed && p->stages[0].n_steps >= STEPS_HIDDEN);
        for (size_t i = 0; i < p->stages[0].n_steps; i++) {
                const PlanStep *s = p->stages[0].steps + i;

                MUST(s->text && s->words.n > 0 && (s->line > 0) == (i >= STEPS_HIDDEN));
                MUST(!s->archive || steps_hash_is_valid(s->archive));
                MUST(!strpbrk(s->text, "\r\n"));
        }
        plan_free(p);
        return 0;
}
