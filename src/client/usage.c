#include "client/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "cli/verbs.h"
#include "client/option.h"

static const Option common_options[] = {
        { "json",   0,   NULL,   "print the daemon's answer as JSON",                   OPTION_FLAG(Common, json)         },
        { "socket", 0,   "PATH", "the daemon's socket",                                 OPTION_TEXT(Common, place.socket) },
        { "state",  0,   "DIR",  "the daemon's directory (default: /var/lib/cove, or\n"
                                 "~/.local/share/cove for a plain user)",               OPTION_TEXT(Common, place.state)  },
        { "url",    0,   "URL",  "the daemon on TCP: http://HOST:PORT, https://HOST",   OPTION_TEXT(Common, place.url)    },
        { "cacert", 0,   "FILE", "trust these certificates (PEM) for https://; also as\n"
                                 "COVE_CACERT (default: the system's)",        OPTION_TEXT(Common, place.cacert) },
        { "key",    0,   "KEY",  "API key; better in the environment as COVE_API_KEY", OPTION_TEXT(Common, place.key)    },
        { "help",   'h', NULL,   "print this",                                          OPTION_FLAG(Common, help)         },
};

/* The verb's own come first. */
typedef struct UsageTables {
        OptionTable tables[2];
} UsageTables;

static UsageTables usage_tables(const Verb *v) {
        size_t skipped = v->local ? ELEMENTSOF(common_options) - 1 : 0;

        return (UsageTables) { { { v->options, v->n_options },
                        { common_options + skipped, ELEMENTSOF(common_options) - skipped } } };
}

int usage_read(const Verb *v, int argc, char **argv, void *target, Operands *ret, Error *reterr) {
        UsageTables t = usage_tables(v);
        unsigned n = 0;
        int i = 1;

        /* Operands are collected from argv[1] on: the words there have been read. */
        while (i < argc && (v->options_until == 0 || n < v->options_until)) {
                int r = 1;

                if (strcmp(argv[i], "--") == 0)
                        break;
                if (argv[i][0] != '-' || argv[i][1] == '\0')
                        argv[1 + n++] = argv[i];
                else if (option_is_cluster(t.tables, ELEMENTSOF(t.tables), argv[i]))
                        r = option_read_cluster(t.tables, ELEMENTSOF(t.tables), argc - i, argv + i, target, reterr);
                else
                        r = option_read(t.tables, ELEMENTSOF(t.tables), argc - i, argv + i, target, reterr);
                if (r < 0)
                        return r;
                i += r;
        }
        if (i < argc && strcmp(argv[i], "--") == 0)
                i++;
        else if (i < argc && v->options_until > 0 && v->options_until < v->operands_min && argv[i][0] == '-' && argv[i][1] != '\0')
                return error_set(reterr, -EINVAL, "'%s' is where the command should begin: put options before '%s', and -- before a command that begins with a dash",
                                argv[i], argv[n]);
        for (; i < argc; i++)
                argv[1 + n++] = argv[i];
        *ret = (Operands) { argv + 1, n };
        return 0;
}

void usage_put_part_first(int argc, char **argv) {
        const OptionTable table = { common_options, ELEMENTSOF(common_options) };
        int n = 1;
        char *part;

        while (n < argc && strncmp(argv[n], "--", 2) == 0) {
                const Option *o = option_find(&table, 1, argv[n] + 2, /* letter= */ '\0');

                if (!o || strcmp(o->name, "help") == 0)
                        break;
                n += o->argument && !strchr(argv[n], '=') ? 2 : 1;
        }
        if (n == 1 || n >= argc)
                return;
        part = argv[n];
        memmove(argv + 2, argv + 1, (size_t) (n - 1) * sizeof(*argv));
        argv[1] = part;
}

static int check_operands(const Verb *v, const Operands *words, Error *reterr) {
        if (words->n < v->operands_min)
                return error_set(reterr, -EINVAL, "%s: cove %s",
                                words->n > 0 && v->missing_last ? v->missing_last : v->missing, v->synopsis);
        if (words->n > v->operands_max)
                return error_set(reterr, -EINVAL, "unexpected argument '%s': %s%s", words->items[v->operands_max],
                                v->surplus ? "" : "cove ", v->surplus ? v->surplus : v->synopsis);
        for (unsigned i = 0; i < words->n && i < (v->options_until ? v->options_until : words->n); i++)
                if (words->items[i][0] == '\0')
                        return error_set(reterr, -EINVAL, "an empty argument '' is not allowed: cove %s", v->synopsis);
        return 0;
}

void usage_print(const Verb *v) {
        UsageTables t = usage_tables(v);

        printf("usage: cove %s\n\n%s\n\noptions:\n", v->synopsis, v->about);
        for (size_t i = 0; i < ELEMENTSOF(t.tables); i++)
                options_print(t.tables[i].options, t.tables[i].n);
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

int value_duration(const char *option, const char *value, usec_t *ret, Error *reterr) {
        int r;

        if (strcmp(value, "none") == 0 || strcmp(value, "never") == 0) {
                *ret = 0;
                return 0;
        }
        r = parse_duration(value, ret);
        if (r < 0)
                return error_set(reterr, r,
                                "%s%s%s'%s' is no time; write a number with ms, s, m, h or d, as in 30s, or "
                                "none",
                                option ? "--" : "", option ? option : "", option ? ": " : "", value);
        return 0;
}
