#include "client/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "cli/verbs.h"
#include "client/option.h"

static const Option common_options[] = {
        { "json",   0,   NULL,   "the daemon's answer, for programs",                   OPTION_FLAG(Common, json)         },
        { "socket", 0,   "PATH", "the daemon's socket",                                 OPTION_TEXT(Common, place.socket) },
        { "state",  0,   "DIR",  "the daemon's directory (default: /var/lib/cove, or\n"
                                 "~/.local/share/cove for a plain user)",               OPTION_TEXT(Common, place.state)  },
        { "url",    0,   "URL",  "the daemon by TCP: http://HOST:PORT",                 OPTION_TEXT(Common, place.url)    },
        { "key",    0,   "KEY",  "API key; better in the environment, as COVE_API_KEY", OPTION_TEXT(Common, place.key)    },
        { "help",   'h', NULL,   "print this",                                          OPTION_FLAG(Common, help)         },
};

/* The table that has an option, by its name up to the end or "=", or by its letter. The verb's own comes first. */
typedef struct UsageFound {
        const Option *table, *option; /* option NULL: none has it */
        size_t n;
} UsageFound;

static UsageFound usage_find(const Verb *v, const char *name, char letter) {
        size_t skipped = v->local ? ELEMENTSOF(common_options) - 1 : 0, length = name ? strcspn(name, "=") : 0;
        const UsageFound tables[] = {
                { v->options, NULL, v->n_options },
                { common_options + skipped, NULL, ELEMENTSOF(common_options) - skipped },
        };

        for (size_t t = 0; t < ELEMENTSOF(tables); t++)
                for (size_t i = 0; i < tables[t].n; i++) {
                        const Option *o = tables[t].table + i;

                        if (name ? strlen(o->name) == length && memcmp(o->name, name, length) == 0 : letter && o->letter == letter)
                                return (UsageFound) { tables[t].table, o, tables[t].n };
                }
        return tables[0];
}

/* One option: this word, and the next one where that is its value. Returns how many words it was. */
static int read_option(const Verb *v, int argc, char **argv, void *target, Error *reterr) {
        const char *word = argv[0];
        UsageFound found = usage_find(v, word[1] == '-' ? word + 2 : NULL, word[1] != '-' && word[2] == '\0' ? word[1] : '\0');
        bool apart = found.option && found.option->argument && !(word[1] == '-' && strchr(word, '='));
        int n = apart && argc > 1 ? 2 : 1;
        char *words[] = { (char *) "cove", argv[0], n == 2 ? argv[1] : NULL, NULL };
        int r = options_parse(found.table, found.n, n + 1, words, target, reterr);

        return r < 0 ? r : n;
}

/* "-it" is "-i -t"; the last letter may have a value. Anything else is left to the parser, which refuses it as it is. */
static bool is_cluster(const Verb *v, const char *word) {
        size_t n = strlen(word);

        if (n < 3 || word[1] == '-')
                return false;
        for (size_t i = 1; i < n; i++) {
                const Option *o = usage_find(v, /* name= */ NULL, word[i]).option;

                if (!o || (o->argument && i + 1 < n))
                        return false;
        }
        return true;
}

static int read_cluster(const Verb *v, int argc, char **argv, void *target, Error *reterr) {
        int n = 1;

        for (const char *letter = argv[0] + 1; *letter; letter++) {
                char word[] = { '-', *letter, '\0' };
                char *words[] = { word, argc > 1 && letter[1] == '\0' ? argv[1] : NULL, NULL };

                n = read_option(v, words[1] ? 2 : 1, words, target, reterr);
                if (n < 0)
                        return n;
        }
        return n;
}

int usage_read(const Verb *v, int argc, char **argv, void *target, Operands *ret, Error *reterr) {
        unsigned n = 0;
        int i = 1;

        /* Operands are collected from argv[1] on; what stood there has been read. */
        while (i < argc && (v->options_until == 0 || n < v->options_until)) {
                int r = 1;

                if (strcmp(argv[i], "--") == 0)
                        break;
                if (argv[i][0] != '-' || argv[i][1] == '\0')
                        argv[1 + n++] = argv[i];
                else if (is_cluster(v, argv[i]))
                        r = read_cluster(v, argc - i, argv + i, target, reterr);
                else
                        r = read_option(v, argc - i, argv + i, target, reterr);
                if (r < 0)
                        return r;
                i += r;
        }
        if (i < argc && strcmp(argv[i], "--") == 0)
                i++;
        for (; i < argc; i++)
                argv[1 + n++] = argv[i];
        *ret = (Operands) { argv + 1, n };
        return 0;
}

static int check_operands(const Verb *v, const Operands *words, Error *reterr) {
        if (words->n < v->operands_min)
                return error_set(reterr, -EINVAL, "%s: cove %s",
                                words->n > 0 && v->missing_last ? v->missing_last : v->missing, v->synopsis);
        if (words->n > v->operands_max)
                return error_set(reterr, -EINVAL, "'%s' is one word too many: cove %s", words->items[v->operands_max],
                                v->synopsis);
        for (unsigned i = 0; i < words->n && i < (v->options_until ? v->options_until : words->n); i++)
                if (words->items[i][0] == '\0')
                        return error_set(reterr, -EINVAL, "an empty word '' stands for nothing: cove %s", v->synopsis);
        return 0;
}

void usage_print(const Verb *v) {
        printf("usage: cove %s\n\n%s\n\noptions:\n", v->synopsis, v->about);
        options_print(v->options, v->n_options);
        options_print(common_options + (v->local ? ELEMENTSOF(common_options) - 1 : 0), v->local ? 1 : ELEMENTSOF(common_options));
        if (v->more)
                printf("\n%s\n", v->more);
}

int usage_begin(const Verb *v, int argc, char **argv, void *target, Operands *ret, Place *ret_place, int *ret_status) {
        Common *common = target;
        Error error = { 0 };
        int r;

        common->verb = v;
        r = usage_read(v, argc, argv, target, ret, &error);
        if (r >= 0 && common->help) {
                usage_print(v);
                *ret_status = 0;
                return 1;
        }
        if (r >= 0)
                r = check_operands(v, ret, &error);
        if (r >= 0)
                r = place_find(&common->place, ret_place, &error);
        if (r < 0) {
                log_error("%s", error.text);
                *ret_status = EXIT_OWN_FAILURE;
                return 1;
        }
        return 0;
}

int value_size(const char *name, const char *value, uint64_t *ret, Error *reterr) {
        int r = parse_size(value, ret);

        if (r < 0 || *ret > INT64_MAX)
                return error_set(reterr, r < 0 ? r : -ERANGE,
                                "%s: '%s' is no size; write a number with K, M, G or T, as in 512M", name, value);
        return 0;
}

int value_duration(const char *name, const char *value, usec_t *ret, Error *reterr) {
        int r;

        if (strcmp(value, "none") == 0 || strcmp(value, "never") == 0) {
                *ret = 0;
                return 0;
        }
        r = parse_duration(value, ret);
        if (r < 0)
                return error_set(reterr, r, "%s%s'%s' is no time; write a number with ms, s, m, h or d, as in 30s, or none",
                                name ? name : "", name ? ": " : "", value);
        return 0;
}

int value_number(const char *name, const char *value, uint64_t min, uint64_t max, uint64_t *ret, Error *reterr) {
        int r = parse_uint64(value, min, max, ret);

        if (r < 0)
                return error_set(reterr, r, "%s: '%s' is not a number from %llu to %llu", name, value,
                                (unsigned long long) min, (unsigned long long) max);
        return 0;
}
