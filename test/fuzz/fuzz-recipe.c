/* Any recipe: it becomes a plan of one stage, or is complained about by line and column. */
#include "fuzz.h"

#include <errno.h>

#include "build/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const PlanOptions options = { .file = "r" };
        Error error = { 0 };
        Plan *p = NULL;
        int r = recipe_parse((const char *) data, size, &options, &p, &error);

        MUST((r < 0) == !p && (r < 0) == (error.text[0] != '\0'));
        MUST(r >= 0 || strncmp(error.text, "r:", 2) == 0);
        if (!p)
                return 0;
        MUST(p->n_stages == 1 && p->stages[0].base && p->stages[0].needed);
        for (size_t i = 0; i < p->stages[0].n_steps; i++)
                MUST(p->stages[0].steps[i].text && p->stages[0].steps[i].line > 0 && p->stages[0].steps[i].words.n > 0);
        plan_free(p);
        return 0;
}
