/* cove network: the allowed and denied traffic of a sandbox, and the smallest policy that would be enough. */

#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option network_options[] = {
        { "limit", 0, "N", "only the newest N denials (default: 100)", QUERY_TEXT("limit") },
};

static void network_show_usage(const json_t *network, const char *word) {
        static const char *const counts[] = { "requests", "denied" };
        const json_t *used = json_object_get(network, "used");
        char text[HUMAN_MAX];

        human_line("%-9s %s", "mode", json_get_text_or(network, "mode", "none"));
        if (json_has(network, "address")) {
                human_line("%-9s %s", "group", json_get_text_or(network, "group", "-"));
                human_line("%-9s %s", "address", json_get_text_or(network, "address", "-"));
        }
        printf("%-9s %s\n", "up", human_size((double) json_get_integer(used, "upBytes", 0), text));
        printf("%-9s %s\n", "down", human_size((double) json_get_integer(used, "downBytes", 0), text));
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                printf("%-9s %lld\n", counts[i], json_count(used, counts[i]));
}

static const Column denial_columns[] = {
        { ">AGE", "time", cell_age }, { ">COUNT", "count", cell_number, .otherwise = "1" }, { "REASON", "reason" }, { "WHAT", "text" }, { "WOULD ALLOW IT", "cure" },
};

/* Prints the policy in the form that `cove create --policy` takes. */
static void network_show_learned(const json_t *learned, const char *word) {
        _cleanup_json_ json_t *policy = json_object();

        (void) json_object_set(policy, "network", json_object_get(learned, "network"));
        show_pretty(policy, word);
}

static const Verb network_views[] = {
        { .name = "usage", .path = "/api/sandbox/%", .only = "network", .show = network_show_usage }, /* one member of the sandbox's object */
        { .name = "denials", .path = "/api/sandbox/%/network/denials", VERB_COLUMNS(denial_columns) },
        { .name = "learned", .path = "/api/sandbox/%/network/learned", .show = network_show_learned },
};

static int network_run(const Place *place, void *options, const Operands *words) {
        for (size_t i = 0; i < ELEMENTSOF(network_views); i++)
                if (words->n == 1 || strcmp(network_views[i].name, words->items[1]) == 0)
                        return ask_as(network_views + i, place, options, words);
        return verb_refuse("cove network has no '%s': usage, denials, learned", words->items[1]);
}

const Verb command_network = {
        .synopsis = "network SANDBOX [usage|denials|learned] [options]",
        .about = "Shows the network traffic of a sandbox (usage, the default), the denials and the rules that\n"
                 "would allow them (denials), or the smallest policy for the traffic of a sandbox whose policy\n"
                 "has learn (learned).",
        .more = "Example: cove network my-box denials",
        VERB_OPTIONS(network_options), VERB_UP_TO(2, "no sandbox given"), .run = network_run,
};
