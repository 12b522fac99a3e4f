/* cove profile: which profiles there are, and what they allow. */

#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Column profile_columns[] = {
        { "NAME", "name" },
        { ">MEMORY", "limits.memoryMB", cell_megabytes },
        { ">CPU", "cpuTimeSeconds", cell_short, .unit = "s" },
        { ">TIME", "executionTimeSeconds", cell_short, .unit = "s" },
        { ">STORAGE", "storageMB", cell_megabytes },
        { ">REQUESTS", "networkRequests", cell_short },
        { ">AT ONCE", "maxConcurrent", cell_short },
        { ">LIVE", "live", cell_short },
        { "EXTENDS", "extends" },
};

/* "limits.memoryMB  512"; what is a list or empty as JSON has it. */
static void profile_print_line(const char *prefix, const char *key, const json_t *value) {
        _cleanup_free_ char *text = human_value(value);

        printf("%s%-*s %s\n", prefix, 22 - (int) strlen(prefix), key, json_is_null(value) ? "-" : text ? text : "?");
}

static void profile_show(const json_t *profile, const char *word) {
        const char *key, *inner;
        json_t *value, *limit;

        json_object_foreach((json_t *) profile, key, value) {
                if (!json_is_object(value)) {
                        profile_print_line("", key, value);
                        continue;
                }
                json_object_foreach(value, inner, limit)
                        profile_print_line("limits.", inner, limit);
        }
}

static const Verb profile_parts[] = {
        { "ls", "profile ls [options]", "Lists the profiles, what they allow, and how many sandboxes have each now.", .path = "/api/profiles",
          VERB_COLUMNS(profile_columns) },
        { "show", "profile show NAME [options]", "Tells all about a profile.", .more = "Example: cove profile show IMPLEMENTATION",
          VERB_ONE("no profile given"), .path = "/api/profiles/%", .show = profile_show },
};

const Verb command_profile = {
        .name = "profile",
        .about = "Lists and shows profiles: named sets of limits that a sandbox can be made with.",
        VERB_PARTS(profile_parts),
};
