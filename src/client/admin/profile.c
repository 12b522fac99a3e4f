/* cove profile: which profiles there are, and what they allow. */

#include <stdio.h>
#include <string.h>

#include "client/human.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct ProfileOptions {
        Common common;
} ProfileOptions;

static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage ls_usage = {
        .synopsis = "profile ls [options]",
        .about = "Lists the profiles, what they allow, and how many sandboxes have each now.",
        USAGE_OPTIONS(plain_options),
};

static const Usage show_usage = {
        .synopsis = "profile show NAME [options]",
        .about = "Tells all about a profile.",
        .more = "Example: cove profile show IMPLEMENTATION",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no profile given",
};

static void profile_cell_seconds(Table *t, const json_t *o, const char *key) {
        double seconds = json_get_number(o, key, -1);

        if (seconds < 0)
                table_cell(t, NULL);
        else
                table_cell_format(t, "%gs", seconds);
}

static void profile_cell_megabytes(Table *t, const json_t *o, const char *key) {
        double mb = json_get_number(o, key, -1);
        char text[HUMAN_MAX];

        table_cell(t, mb < 0 ? NULL : human_megabytes(mb, text));
}

static void cell_number(Table *t, const json_t *o, const char *key) {
        double n = json_get_number(o, key, -1);

        if (n < 0)
                table_cell(t, NULL);
        else
                table_cell_format(t, "%g", n);
}

static void profile_add_row(Table *t, const json_t *profile) {
        const json_t *limits = json_object_get(profile, "limits");

        table_cell(t, json_get_text(profile, "name"));
        profile_cell_megabytes(t, limits, "memoryMB");
        profile_cell_seconds(t, profile, "cpuTimeSeconds");
        profile_cell_seconds(t, profile, "executionTimeSeconds");
        profile_cell_megabytes(t, profile, "storageMB");
        cell_number(t, profile, "networkRequests");
        cell_number(t, profile, "maxConcurrent");
        cell_number(t, profile, "live");
        table_cell(t, json_get_text(profile, "extends"));
}

static int profile_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "NAME", ">MEMORY", ">CPU", ">TIME", ">STORAGE", ">REQUESTS", ">AT ONCE", ">LIVE", "EXTENDS",
                                             NULL };
        const ProfileOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/profiles");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, profile_add_row);
}

/* "limits.memoryMB  512"; what is a list or empty as JSON has it. */
static void profile_print_line(const char *prefix, const char *key, const json_t *value) {
        _cleanup_free_ char *text = json_is_string(value) ? human_clean(json_string_value(value)) : client_json_print(value, /* pretty= */ false);

        printf("%s%-*s %s\n", prefix, 22 - (int) strlen(prefix), key, json_is_null(value) ? "-" : text ? text : "?");
}

static int profile_show(const Place *place, void *options, const Operands *words) {
        const ProfileOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        const char *key, *inner;
        json_t *value, *limit;

        url_begin(&u, "/api/profiles");
        url_part(&u, words->items[0]);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                answer_print(&a);
                return 0;
        }
        json_object_foreach(a.json, key, value) {
                if (!json_is_object(value)) {
                        profile_print_line("", key, value);
                        continue;
                }
                json_object_foreach(value, inner, limit)
                        profile_print_line("limits.", inner, limit);
        }
        return 0;
}

int verb_profile(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "ls", &ls_usage, profile_list },
                { "show", &show_usage, profile_show },
        };
        ProfileOptions o = { 0 };

        return subverb_run("profile", "Lists and shows profiles: named sets of limits that a sandbox can be made with.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
