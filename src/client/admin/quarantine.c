/* cove quarantine: resources that exist, but that the daemon's store has no record of. */

#include "client/ask.h"
#include "client/verbs.h"

static const Option ls_options[] = {
        { "quiet", 'q', NULL, "things only, as KIND:NAME", OPTION_FLAG(Common, quiet) },
};

static const Option restore_options[] = {
        { "name",     'n', "NAME", "its name",                       BODY_TEXT("name")     },
        { "template", 't', "NAME", "the template that it stood on", BODY_TEXT("template") },
        { "profile",  0,   "NAME", "its profile",                    BODY_TEXT("profile")  },
};

static const Column quarantine_columns[] = {
        { "THING", "thing" }, { ">SIZE", "bytes", cell_size }, { "SINCE", "since" }, { "WHY", "why" },
};

static const Verb quarantine_parts[] = {
        { "ls", "quarantine ls [options]", "Lists what is there and the daemon's store has no record of, and since when that is known.",
                        VERB_OPTIONS(ls_options), .path = "/api/quarantine", .list = "things", .quiet = "thing", VERB_COLUMNS(quarantine_columns) },
        { "restore", "quarantine restore KIND:NAME [options]", "Makes a parked sandbox out of a disk, or takes a snapshot or a volume up again.",
                        .more = "`cove resume` goes on with a sandbox. A volume must have a name.\n"
                                "What is not said is as `cove create` has it.\n"
                                "Nothing else can be restored without its record: put the right store back.",
                        VERB_OPTIONS(restore_options), VERB_ONE("no thing given"), VERB_POST("/api/quarantine/%/restore"), .prints = "id" },
        { "rm", "quarantine rm KIND:NAME… [options]", "Removes things for good: a sandbox is ended, everything else is deleted.",
                        VERB_SOME("no thing given"), VERB_DELETE("/api/quarantine/%") },
};

const Verb command_quarantine = {
        .name = "quarantine",
        .about = "Lists, restores and removes what the daemon's store has no record of, and has left as it was found.",
        .more = "An older copy of the store was put back, or it was lost: put the right one back, and all of it is used again.",
        VERB_PARTS(quarantine_parts),
};
