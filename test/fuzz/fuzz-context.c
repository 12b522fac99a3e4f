/* Anything as a survey of a context, and anything as a pattern: what is chosen has clean names, or nothing is. */
#include "fuzz.h"

#include <errno.h>

#include "base/ignore.h"
#include "build/context.h"
#include "core/secret.h"

static void check_map(const Selection *s) {
        size_t n = 0;

        for (const char *p = s->map; p && p < s->map + s->map_size; p += strlen(p) + 1)
                n++;
        MUST(n == 2 * s->n && strlen(s->hash) == CONTEXT_HASH_HEX - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = malloc(size + 1), *source, pattern[64] = "*";
        Error error = { 0 };
        BuildContext *c = NULL;
        Selection s = { 0 };

        MUST(text && secret_init() >= 0);
        memcpy(text, data, size);
        if (context_parse(text, size, &c, &error) < 0) {
                MUST(!c && error.text[0]);
                return 0;
        }
        for (size_t i = 0; i < c->n; i++)
                MUST(i == 0 || strcmp(c->members[i - 1].path, c->members[i].path) < 0);
        if (c->n > 0)
                (void) snprintf(pattern, sizeof(pattern), "%s", c->members[0].path);
        source = pattern;
        if (context_select(c, &(SelectionRequest) { .sources = &source, .n_sources = 1, .destination = "/x/", .unpack = true }, &s, &error) >= 0)
                check_map(&s);
        selection_done(&s);
        context_free(c);
        return 0;
}
