#include "cli/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 28

static const Option *cli_options_find_name(const Option *options, size_t n, const char *name, size_t length) {
        for (size_t i = 0; i < n; i++)
                if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
                        return options + i;
        return NULL;
}

static const Option *cli_options_find_letter(const Option *options, size_t n, char letter) {
        for (size_t i = 0; i < n; i++)
                if (options[i].letter == letter)
                        return options + i;
        return NULL;
}

static const Option *cli_options_find(const Option *options, size_t n, const char *word, const char **ret_value, bool *ret_inline) {
        size_t length;

        *ret_inline = false;
        *ret_value = NULL;
        if (word[1] != '-')
                return word[2] == '\0' ? cli_options_find_letter(options, n, word[1]) : NULL;

        length = strcspn(word + 2, "=");
        if (word[2 + length] == '=') {
                *ret_inline = true;
                *ret_value = word + 2 + length + 1;
        }
        return cli_options_find_name(options, n, word + 2, length);
}

int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr) {
        int i;

        for (i = 1; i < argc; i++) {
                const char *word = argv[i], *value;
                const Option *o;
                bool is_inline;
                int r;

                if (strcmp(word, "--") == 0)
                        return i + 1;
                if (word[0] != '-' || word[1] == '\0')
                        return i;

                o = cli_options_find(options, n, word, &value, &is_inline);
                if (!o)
                        return error_set(reterr, -EINVAL, "unknown option '%s'", word);
                if (!o->argument && is_inline)
                        return error_set(reterr, -EINVAL, "option --%s takes no value, got '%s'", o->name, value);
                if (o->argument && !is_inline) {
                        if (++i >= argc)
                                return error_set(reterr, -EINVAL, "option --%s needs a value: --%s %s", o->name,
                                                o->name, o->argument);
                        value = argv[i];
                }
                r = o->set ? o->set(o, target, value, reterr) : o->apply(target, value, reterr);
                if (r < 0)
                        return r;
        }
        return i;
}

static void print_help_text(const char *text) {
        for (const char *line = text; line;) {
                const char *end = strchr(line, '\n');

                if (line != text)
                        printf("%*s", HELP_COLUMN, "");
                printf("%.*s\n", end ? (int) (end - line) : (int) strlen(line), line);
                line = end ? end + 1 : NULL;
        }
}

void options_print(const Option *options, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const Option *o = options + i;
                char left[64];
                int used;

                used = snprintf(left, sizeof(left), "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                                o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, o->argument ? " " : "",
                                o->argument ? o->argument : "");
                if (used < HELP_COLUMN)
                        printf("%-*s", HELP_COLUMN, left);
                else
                        printf("%s\n%*s", left, HELP_COLUMN, "");
                print_help_text(o->help);
        }
}
