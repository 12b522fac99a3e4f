/* cove quarantine: resources that exist, but that the daemon's store has no record of. */

#include "client/ask.h"
#include "client/verbs.h"

static const Option ls_options[] = {
        { "quiet", 'q', NULL, "print only KIND:NAME", OPTION_FLAG(Common, quiet) },
};

static const Option restore_options[] = {
        { "name",     'n', "NAME", "name of the sandbox, snapshot or volume",                       BODY_TEXT("name")     },
        { "template", 't', "NAME", "template of the sandbox", BODY_TEXT("template") },
        { "profile",  0,   "NAME", "profile of the sandbox",                    BODY_TEXT("profile")  },
};

static const Column quarantine_columns[] = {
        { "THING", "thing" }, { ">SIZE", "bytes", cell_size }, { "SINCE", "since" }, { "WHY", "why" },
};

static const Verb quarantine_parts[] = {
        { "ls", "quarantine ls [options]", "Lists objects without a record, and since when the daemon has known them.",
                        VERB_OPTIONS(ls_options), .path = "/api/quarantine", .list = "things", .quiet = "thing", VERB_COLUMNS(quarantine_columns) },
        { "restore", "quarantine restore KIND:NAME [options]", "Creates a parked sandbox from a disk, or registers a snapshot or a volume again.",
                        .more = "`cove resume` starts the sandbox. A volume must have a name.\n"
                                "Other settings are the defaults of `cove create`.\n"
                                "Other objects cannot be restored without a record: put the right database back.",
                        VERB_OPTIONS(restore_options), VERB_ONE("no object given"), VERB_POST("/api/quarantine/%/restore"), .prints = "id" },
        { "rm", "quarantine rm KIND:NAME… [options]", "Removes objects permanently: a sandbox is ended, everything else is deleted.",
                        VERB_SOME("no object given"), VERB_DELETE("/api/quarantine/%") },
};

const Verb command_quarantine = {
        .name = "quarantine",
        .about = "Lists, restores and removes objects that have no record in the daemon's database.",
        .more = "They appear after the database was lost or restored from an older copy: put the right one back.",
        VERB_PARTS(quarantine_parts),
};
