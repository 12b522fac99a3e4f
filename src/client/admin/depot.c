/* cove depot: disk usage of everything that outlives sandboxes, and freeing some of it. */

#include <stdio.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static void depot_show(const json_t *answer, const char *word) {
        char size[HUMAN_MAX], used[HUMAN_MAX], most[HUMAN_MAX];

        if (json_count(answer, "bytes") == 0) {
                puts("There is no depot yet: it is made with the first template, snapshot, volume or persistent sandbox.");
                return;
        }
        printf("The depot takes %s of the disk, of which %s are used. It can take %s.\n", human_size(json_get_number(answer, "bytes", 0), size),
                        human_size(json_get_number(answer, "usedBytes", 0), used), human_size(json_get_number(answer, "maxBytes", 0), most));
}

static const Verb depot_parts[] = {
        {
                .name = "show",
                .synopsis = "depot show [options]",
                .about = "Shows the size of the depot on the disk, how much of it is used, and how much it can grow to.",
                .path = "/api/depot",
                .show = depot_show,
        },
        {
                .name = "shrink",
                .synopsis = "depot shrink [options]",
                .about = "Returns free space in the depot to the disk. The data at its end is moved first,\n"
                         "which can take minutes; sandboxes continue meanwhile.",
                .method = "POST",
                .path = "/api/depot/shrink",
                .show = depot_show,
        },
};

const Verb command_depot = {
        .name = "depot",
        .about = "The depot stores data that outlives sandboxes: templates, snapshots, disks and volumes.",
        VERB_PARTS(depot_parts), .first_is_meant = true,
};
