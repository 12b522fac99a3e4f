#include "client/sandbox/several.h"

#include <stdio.h>
#include <string.h>

#include "client/verbs.h"

static void several_build_url(const Several *s, const char *word, Url *u) {
        if (s->root) {
                url_begin(u, s->what);
                url_part(u, word);
        } else
                url_sandbox(u, word, s->what);
        if (s->query) {
                size_t n = strcspn(s->query, "=");
                _cleanup_free_ char *name = strndup(s->query, n);

                url_query(u, name ? name : "", s->query + n + 1);
        }
}

static int ask_one(const Several *s, const char *word, bool *first) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        int r;

        several_build_url(s, word, &u);
        r = client_need(s->place, s->method, &u, s->body, &a);
        if (r < 0)
                return r;
        if (!s->json)
                puts(word);
        else {
                while (a.size > 0 && a.text[a.size - 1] == '\n')
                        a.size--;
                printf("%s%.*s", *first ? "" : ",", (int) a.size, a.text);
        }
        *first = false;
        return 0;
}

int several_ask(const Several *s, char *const *words, size_t n) {
        bool first = true, list = s->json && n != 1;
        int status = 0;

        if (list)
                printf("[");
        for (size_t i = 0; i < n; i++)
                if (ask_one(s, words[i], &first) < 0)
                        status = EXIT_OWN_FAILURE;
        if (list)
                printf("]\n");
        else if (s->json && !first)
                printf("\n");
        return status;
}
