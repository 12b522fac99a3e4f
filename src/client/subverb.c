#include "client/subverb.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/verbs.h"

static void print_indented(const char *text) {
        for (const char *line = text; *line;) {
                size_t n = strcspn(line, "\n");

                printf("      %.*s\n", (int) n, line);
                line += n + (line[n] == '\n');
        }
}

static void subverb_print_help(const char *verb, const char *about, const Subverb *subverbs, size_t n) {
        printf("usage: cove %s", verb);
        for (size_t i = 0; i < n; i++)
                printf("%s%s", i > 0 ? "|" : " ", subverbs[i].name);
        printf(" …\n\n%s\n\n", about);
        for (size_t i = 0; i < n; i++) {
                printf("  cove %s\n", subverbs[i].usage->synopsis);
                print_indented(subverbs[i].usage->about);
        }
        printf("\n`cove %s %s --help` tells more.\n", verb, subverbs[0].name);
}

int subverb_run(const char *verb, const char *about, const Subverb *subverbs, size_t n, int argc, char **argv,
                void *options) {
        const char *word = argc > 1 ? argv[1] : NULL;
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
                subverb_print_help(verb, about, subverbs, n);
                return 0;
        }
        for (size_t i = 0; word && i < n; i++)
                if (strcmp(word, subverbs[i].name) == 0) {
                        if (usage_begin(subverbs[i].usage, argc - 1, argv + 1, options, &words, &place, &status) == 0)
                                status = subverbs[i].function(&place, options, &words);
                        return status;
                }
        if (word)
                log_error("cove %s has no '%s': see `cove %s --help`", verb, word, verb);
        else
                log_error("say what to do: see `cove %s --help`", verb);
        return EXIT_OWN_FAILURE;
}

int subverb_show_list(const Answer *a, bool json, const char *const *heads, void (*row)(Table *t, const json_t *item)) {
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *item;
        size_t i;

        if (json) {
                answer_print(a);
                return 0;
        }
        json_array_foreach(a->json, i, item)
                if (t)
                        row(t, item);
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}
