/* cove pause, resume, stop, start: changes the state of sandboxes. */

#include "client/ask.h"
#include "client/verbs.h"

#define GRACE_OPTION { "grace", 0, "TIME", "between asking its commands to end and ending\nthem (default 5s)", BODY_SECONDS("graceSeconds") }

static const Option pause_options[] = {
        { "to-disk",       0, NULL, "keep its files only, so that it needs no memory\nand outlives the machine's restart", BODY_TRUE("toDisk") },
        { "end-processes", 0, NULL, "with --to-disk: end what runs in it; else it is\nrefused while something does", BODY_TRUE("endProcesses") },
        GRACE_OPTION,
};

static const Option stop_options[] = { GRACE_OPTION };

#define ASKS_EACH(what) VERB_SOME("no sandbox given"), .method = "POST", .path = "/api/sandbox/%/" what, .body = "{}", .each = true

const Verb command_pause = {
        .synopsis = "pause SANDBOX… [options]",
        .about = "Freezes everything in a sandbox. Nothing is lost, nothing runs, until `cove resume`.",
        VERB_OPTIONS(pause_options), ASKS_EACH("pause"),
};

const Verb command_resume = {
        .synopsis = "resume SANDBOX… [options]",
        .about = "Goes on with what `cove pause`, or a timeout, has frozen; starts again what was paused to\n"
                 "disk.",
        ASKS_EACH("resume"),
};

const Verb command_start = {
        .synopsis = "start SANDBOX… [options]",
        .about = "Makes a stopped sandbox ready for commands again. Its disk is as it was.",
        ASKS_EACH("start"),
};

const Verb command_stop = {
        .synopsis = "stop SANDBOX… [options]",
        .about = "Ends what runs in a sandbox and keeps its disk. `cove start` makes it ready again.",
        VERB_OPTIONS(stop_options), ASKS_EACH("stop"),
};
