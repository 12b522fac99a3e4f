#include "client/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "cli/verbs.h"

int common_apply_socket(void *target, const char *value, Error *reterr) {
        ((Common *) target)->place.socket = value;
        return 0;
}

int common_apply_state(void *target, const char *value, Error *reterr) {
        ((Common *) target)->place.state = value;
        return 0;
}

int common_apply_url(void *target, const char *value, Error *reterr) {
        ((Common *) target)->place.url = value;
        return 0;
}

int common_apply_key(void *target, const char *value, Error *reterr) {
        ((Common *) target)->place.key = value;
        return 0;
}

int common_apply_json(void *target, const char *value, Error *reterr) {
        ((Common *) target)->json = true;
        return 0;
}

int common_apply_help(void *target, const char *value, Error *reterr) {
        ((Common *) target)->help = true;
        return 0;
}

static const Option *client_usage_find_letter(const Usage *u, char letter) {
        for (size_t i = 0; i < u->n_options && letter; i++)
                if (u->options[i].letter == letter)
                        return u->options + i;
        return NULL;
}

static const Option *client_usage_find_name(const Usage *u, const char *name) {
        for (size_t i = 0; i < u->n_options; i++)
                if (strcmp(u->options[i].name, name) == 0)
                        return u->options + i;
        return NULL;
}

/* One option: this word, and the next one where that is its value. Returns how many words it was. */
static int read_option(const Usage *u, int argc, char **argv, void *target, Error *reterr) {
        const char *word = argv[0];
        const Option *o = word[1] == '-' ? client_usage_find_name(u, word + 2) : word[2] == '\0' ? client_usage_find_letter(u, word[1]) : NULL;
        int n = o && o->argument && argc > 1 ? 2 : 1;
        char *words[] = { (char *) "cove", argv[0], n == 2 ? argv[1] : NULL, NULL };
        int r = options_parse(u->options, u->n_options, n + 1, words, target, reterr);

        return r < 0 ? r : n;
}

/* "-it" is "-i -t"; the last letter may have a value. Anything else is left to the parser, which refuses it as it is. */
static bool is_cluster(const Usage *u, const char *word) {
        size_t n = strlen(word);

        if (n < 3 || word[1] == '-')
                return false;
        for (size_t i = 1; i < n; i++) {
                const Option *o = client_usage_find_letter(u, word[i]);

                if (!o || (o->argument && i + 1 < n))
                        return false;
        }
        return true;
}

static int read_cluster(const Usage *u, int argc, char **argv, void *target, Error *reterr) {
        int n = 1;

        for (const char *letter = argv[0] + 1; *letter; letter++) {
                char word[] = { '-', *letter, '\0' };
                char *words[] = { word, argc > 1 && letter[1] == '\0' ? argv[1] : NULL, NULL };

                n = read_option(u, words[1] ? 2 : 1, words, target, reterr);
                if (n < 0)
                        return n;
        }
        return n;
}

int usage_read(const Usage *u, int argc, char **argv, void *target, Operands *ret, Error *reterr) {
        unsigned n = 0;
        int i = 1;

        /* Operands are collected from argv[1] on; what stood there has been read. */
        while (i < argc && (u->options_until == 0 || n < u->options_until)) {
                int r = 1;

                if (strcmp(argv[i], "--") == 0)
                        break;
                if (argv[i][0] != '-' || argv[i][1] == '\0')
                        argv[1 + n++] = argv[i];
                else if (is_cluster(u, argv[i]))
                        r = read_cluster(u, argc - i, argv + i, target, reterr);
                else
                        r = read_option(u, argc - i, argv + i, target, reterr);
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

static int check_operands(const Usage *u, const Operands *words, Error *reterr) {
        if (words->n < u->operands_min)
                return error_set(reterr, -EINVAL, "%s: cove %s",
                                words->n > 0 && u->missing_last ? u->missing_last : u->missing, u->synopsis);
        if (words->n > u->operands_max)
                return error_set(reterr, -EINVAL, "'%s' is one word too many: cove %s", words->items[u->operands_max],
                                u->synopsis);
        for (unsigned i = 0; i < words->n && i < (u->options_until ? u->options_until : words->n); i++)
                if (words->items[i][0] == '\0')
                        return error_set(reterr, -EINVAL, "an empty word '' stands for nothing: cove %s", u->synopsis);
        return 0;
}

void usage_print(const Usage *u) {
        printf("usage: cove %s\n\n%s\n\noptions:\n", u->synopsis, u->about);
        options_print(u->options, u->n_options);
        if (u->more)
                printf("\n%s\n", u->more);
}

int usage_begin(const Usage *u, int argc, char **argv, void *target, Operands *ret, Place *ret_place, int *ret_status) {
        const Common *common = target;
        Error error = { 0 };
        int r = usage_read(u, argc, argv, target, ret, &error);

        if (r >= 0 && common->help) {
                usage_print(u);
                *ret_status = 0;
                return 1;
        }
        if (r >= 0)
                r = check_operands(u, ret, &error);
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
