#include "cli/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/strv.h"
#include "base/word.h"

#define HELP_COLUMN 28

const Option *option_find(const OptionTable *tables, size_t n_tables, const char *name, char letter) {
        size_t length = name ? strcspn(name, "=") : 0;

        for (const OptionTable *t = tables; t < tables + n_tables; t++)
                for (const Option *o = t->options; o < t->options + t->n; o++)
                        if (name ? strlen(o->name) == length && memcmp(o->name, name, length) == 0
                                 : letter && o->letter == letter)
                                return o;
        return NULL;
}

static const Option *option_nearest(const OptionTable *tables, size_t n_tables, const char *name) {
        const Option *found = NULL;
        char word[64];
        unsigned best;

        (void) snprintf(word, sizeof(word), "%.*s", (int) strcspn(name, "="), name);
        best = word_tolerance(word);
        for (const OptionTable *t = tables; t < tables + n_tables; t++)
                for (const Option *o = t->options; o < t->options + t->n; o++)
                        if (o->help && word_is_nearer(word, o->name, &best))
                                found = o;
        return found;
}

/* A single dash before a long name is a mistake, too. Before two or three letters it introduces short
 * options in one word. */
static int option_refuse(const OptionTable *tables, size_t n_tables, const char *word, Error *reterr) {
        const char *name = word + strspn(word, "-");
        const Option *meant = strlen(name) > (name - word == 1 ? 3 : 1) ? option_nearest(tables, n_tables, name) : NULL;

        return meant ? error_set(reterr, -EINVAL, "unknown option '%s': did you mean --%s?", word, meant->name)
                     : error_set(reterr, -EINVAL, "unknown option '%s'", word);
}

int option_read(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr) {
        const char *word = argv[0], *name = word[1] == '-' ? word + 2 : NULL, *equals = name ? strchr(name, '=') : NULL;
        const Option *o = option_find(tables, n_tables, name, !name && word[2] == '\0' ? word[1] : '\0');
        bool apart = o && o->argument && !equals;
        int r;

        if (!o)
                return option_refuse(tables, n_tables, word, reterr);
        if (!o->argument && equals)
                return error_set(reterr, -EINVAL, "option --%s takes no value, got '%s'", o->name, equals + 1);
        if (apart && argc < 2)
                return error_set(reterr, -EINVAL, "option --%s needs a value: --%s %s", o->name, o->name, o->argument);
        r = o->set(o, target, apart ? argv[1] : equals ? equals + 1 : NULL, reterr);
        return r < 0 ? r : apart ? 2 : 1;
}

bool option_is_cluster(const OptionTable *tables, size_t n_tables, const char *word) {
        size_t n = strlen(word);

        if (n < 3 || word[1] == '-')
                return false;
        for (size_t i = 1; i < n; i++) {
                const Option *o = option_find(tables, n_tables, /* name= */ NULL, word[i]);

                if (!o || (o->argument && i + 1 < n))
                        return false;
        }
        return true;
}

int option_read_cluster(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr) {
        int n = 1;

        for (const char *letter = argv[0] + 1; *letter && n >= 0; letter++) {
                char word[] = { '-', *letter, '\0' };
                char *words[] = { word, argc > 1 && letter[1] == '\0' ? argv[1] : NULL, NULL };

                n = option_read(tables, n_tables, words[1] ? 2 : 1, words, target, reterr);
        }
        return n;
}

int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr) {
        const OptionTable table = { options, n };
        int i, used;

        for (i = 1; i < argc; i += used) {
                if (strcmp(argv[i], "--") == 0)
                        return i + 1;
                if (argv[i][0] != '-' || argv[i][1] == '\0')
                        return i;
                used = (option_is_cluster(&table, 1, argv[i]) ? option_read_cluster : option_read)(&table, 1, argc - i, argv + i, target, reterr);
                if (used < 0)
                        return used;
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

                if (!o->help)
                        continue;
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

void *option_field(const Option *o, void *target) {
        if (o->has > 0)
                *(bool *) ((char *) target + o->has) = true;
        return (char *) target + o->offset;
}

OPTION_KIND(option_flag) {
        *(bool *) option_field(o, target) = true;
        return 0;
}

OPTION_KIND(option_instead) {
        return error_set(reterr, -EINVAL, "--%s: %s", o->name, o->key);
}

OPTION_KIND(option_nothing) {
        return 0;
}

OPTION_KIND(option_text) {
        *(const char **) option_field(o, target) = value;
        return 0;
}

OPTION_KIND(option_copy) {
        char **field = option_field(o, target), *copy = strdup(value);

        if (!copy)
                return error_set(reterr, -ENOMEM, "out of memory");
        free(*field);
        *field = copy;
        return 0;
}

OPTION_KIND(option_words) {
        Strv *words = option_field(o, target);
        int r;

        if (o->max > 0)
                words->max = o->max;
        r = strv_push(words, value);
        return r == -E2BIG ? error_set(reterr, r, "--%s: more than %zu of them", o->name, words->max)
                : r < 0    ? error_set(reterr, r, "out of memory")
                           : 0;
}

OPTION_KIND(option_number) {
        int r = parse_uint64(value, o->min, o->max, option_field(o, target));

        return r < 0 ? error_set(reterr, r, "--%s: '%s' is not a number from %llu to %llu", o->name, value,
                                       (unsigned long long) o->min, (unsigned long long) o->max)
                     : 0;
}

OPTION_KIND(option_number32) {
        Option wide = *o;
        uint64_t n;
        int r;

        wide.offset = wide.has = 0;
        r = option_number(&wide, &n, value, reterr);
        if (r >= 0)
                *(uint32_t *) option_field(o, target) = (uint32_t) n;
        return r;
}

int option_each_line(const Option *o, const char *path, size_t max,
                int (*take)(const Option *o, void *target, const OptionLine *line, Error *reterr),
                void *target, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        OptionLine line = { .path = path };
        size_t size;
        int r = file_read_alloc(AT_FDCWD, path, max, &text, &size);

        if (r < 0)
                return error_set(reterr, r, "--%s: cannot read '%s': %m", o->name, path);
        for (char *at = text, *end; at < text + size && r >= 0; at = end + 1) {
                end = memchr(at, '\n', (size_t) (text + size - at));
                if (!end)
                        end = text + size;
                line.number++;
                if (memchr(at, '\0', (size_t) (end - at)))
                        return error_set(reterr, -EINVAL, "--%s: NUL byte in %s line %u", o->name, path, line.number);
                *end = '\0';
                line.text = at;
                if (*at != '\0' && *at != '#')
                        r = take(o, target, &line, reterr);
        }
        return r < 0 ? r : 0;
}
