/* cove volume: directories that belong to no sandbox, and that several sandboxes can mount. */

#include "client/ask.h"
#include "client/verbs.h"

static const Option create_options[] = {
        { "size", 's', "SIZE", "limit on its contents (default 1G)", BODY_MEGABYTES("sizeMB", 1) },
};
static const Option ls_options[] = {
        { "quiet", 'q', NULL, "names only", OPTION_FLAG(Common, quiet) },
};

static void cell_users(Table *t, const json_t *volume, const Column *c) {
        table_cell_format(t, "%zu", json_array_size(json_object_get(volume, c->key)));
}

static const Column volume_columns[] = {
        { "NAME", "name" }, { ">USED", "usedBytes", cell_size }, { ">SIZE", "sizeMB", cell_megabytes, .otherwise = "0" },
        { ">SANDBOXES", "sandboxes", cell_users }, { "TENANT", "tenant" }, { "MADE", "createdAt" },
};

static const Verb volume_parts[] = {
        { "create", "volume create NAME [options]", "Creates a volume: a directory that outlives sandboxes and that several can mount at once.",
          .more = "SIZE takes K, M, G, T (powers of 1024).\n"
                  "Example: cove volume create data --size 2G && cove create --volume data:/data",
          VERB_OPTIONS(create_options), VERB_ONE("no name given"), VERB_POST("/api/volumes"), .operand = "name", .prints = "name" },
        { "ls", "volume ls [options]", "Lists the volumes, how full they are, and how many sandboxes have them.", VERB_OPTIONS(ls_options),
          .path = "/api/volumes?limit=1000", .pages = true, .list = "volumes", .quiet = "name", VERB_COLUMNS(volume_columns) },
        { "inspect", "volume inspect VOLUME [options]", "Shows the details of a volume, and which sandboxes have it.", VERB_ONE("no volume given"),
          .path = "/api/volumes/%", .show = show_members },
        { "rm", "volume rm VOLUME… [options]", "Removes volumes with their contents. A volume that a sandbox has is not removed.",
          VERB_SOME("no volume given"), VERB_DELETE("/api/volumes/%") },
};

const Verb command_volume = {
        .name = "volume",
        .about = "Creates, lists and removes volumes: directories that outlive sandboxes and that several can mount.",
        VERB_PARTS(volume_parts),
};
