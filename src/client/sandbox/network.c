/* cove network: what left a sandbox, what did not, and which policy would be enough. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/human.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct NetworkOptions {
        Common common;
        const char *limit;
} NetworkOptions;

APPLY_TEXT(NetworkOptions, limit)

static const Option network_options[] = {
        { "limit", 0, "N", "so many denials, the newest (default: 100)", apply_limit },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "network SANDBOX [usage|denials|learned] [options]",
        .about = "Shows what went through the network of a sandbox (usage, the default), what was denied\n"
                 "and what would allow it (denials), or the smallest policy for what passed while it was\n"
                 "learned (learned).",
        .more = "Example: cove network my-box denials",
        USAGE_OPTIONS(network_options),
        .operands_min = 1,
        .operands_max = 2,
        .missing = "no sandbox given",
};

static int show_usage(const Place *place, const NetworkOptions *o, const char *sandbox) {
        static const char *const counts[] = { "requests", "denied" };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        const json_t *network, *used;
        char up[HUMAN_MAX], down[HUMAN_MAX];

        url_sandbox(&u, sandbox, NULL);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        network = json_object_get(a.json, "network");
        used = json_object_get(network, "used");
        if (o->common.json) {
                _cleanup_free_ char *text = client_json_print(network, /* pretty= */ false);

                puts(text ? text : "{}");
                return 0;
        }
        printf("%-9s %s\n", "mode", json_get_text_or(network, "mode", "none"));
        if (json_has(network, "address"))
                printf("%-9s %s\n%-9s %s\n", "group", json_get_text_or(network, "group", "-"), "address", json_get_text_or(network, "address", "-"));
        printf("%-9s %s\n", "up", human_size((double) json_get_integer(used, "upBytes", 0), up));
        printf("%-9s %s\n", "down", human_size((double) json_get_integer(used, "downBytes", 0), down));
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                printf("%-9s %lld\n", counts[i], (long long) json_get_integer(used, counts[i], 0));
        return 0;
}

static void client_network_add_denial(Table *t, const json_t *d) {
        const char *at = json_get_text(d, "time");
        char buffer[HUMAN_MAX];
        usec_t usec;

        table_cell(t, at && human_parse_time(at, &usec) >= 0 ? human_span(human_now() > usec ? human_now() - usec : 0, buffer) : NULL);
        table_cell_format(t, "%lld", (long long) json_get_integer(d, "count", 1));
        table_cell(t, json_get_text(d, "reason"));
        table_cell(t, json_get_text(d, "text"));
        table_cell(t, json_get_text(d, "cure"));
}

static int show_denials(const Place *place, const NetworkOptions *o, const char *sandbox) {
        static const char *const heads[] = { ">AGE", ">COUNT", "REASON", "WHAT", "WOULD ALLOW IT", NULL };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_sandbox(&u, sandbox, "network/denials");
        url_query(&u, "limit", o->limit);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, client_network_add_denial);
}

static int show_learned(const Place *place, const NetworkOptions *o, const char *sandbox) {
        _cleanup_free_ char *text = NULL;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        _cleanup_json_ json_t *policy = json_object();

        url_sandbox(&u, sandbox, "network/learned");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                answer_print(&a);
                return 0;
        }
        if (policy)
                (void) json_object_set(policy, "network", json_object_get(a.json, "network"));
        text = client_json_print(policy, /* pretty= */ true);
        if (!text) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        puts(text); /* as `cove create --policy` takes it */
        return 0;
}

int verb_network(int argc, char **argv) {
        static const struct {
                const char *name;
                int (*show)(const Place *place, const NetworkOptions *o, const char *sandbox);
        } views[] = { { "usage", show_usage }, { "denials", show_denials }, { "learned", show_learned } };
        NetworkOptions o = { 0 };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        for (size_t i = 0; i < ELEMENTSOF(views); i++)
                if (words.n == 1 || strcmp(views[i].name, words.items[1]) == 0)
                        return views[i].show(&place, &o, words.items[0]);
        log_error("cove network has no '%s': usage, denials, learned", words.items[1]);
        return EXIT_OWN_FAILURE;
}
