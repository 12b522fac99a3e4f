/* cove profile: the profiles, and what they allow. */

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

static void profile_show(const json_t *profile, const char *word) {
        const char *key, *inner;
        json_t *value, *limit;

        json_object_foreach((json_t *) profile, key, value) {
                if (!json_is_object(value)) {
                        human_member("", 22, key, value);
                        continue;
                }
                json_object_foreach(value, inner, limit)
                        human_member("limits.", 22 - (int) strlen("limits."), inner, limit);
        }
}

static const Verb profile_parts[] = {
        { "ls", "profile ls [options]", "Lists the profiles, their limits, and the number of sandboxes of each.", .path = "/api/profiles",
          VERB_COLUMNS(profile_columns) },
        { "show", "profile show NAME [options]", "Shows the details of a profile.", .more = "Example: cove profile show IMPLEMENTATION",
          VERB_ONE("no profile given"), .path = "/api/profiles/%", .show = profile_show },
};

const Verb command_profile = {
        .name = "profile",
        .about = "Lists and shows profiles: named sets of limits for sandboxes.",
        VERB_PARTS(profile_parts),
};
