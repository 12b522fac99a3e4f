/* cove pause, resume, stop, start: changes the state of sandboxes. */

#include "client/ask.h"
#include "client/verbs.h"

#define GRACE_OPTION { "grace", 0, "TIME", "time between asking the commands to end and killing\nthem (default 5s)", BODY_SECONDS("graceSeconds") }

static const Option pause_options[] = {
        { "to-disk",       0, NULL, "keep only the files: the sandbox uses no memory and\nsurvives a restart of the machine", BODY_TRUE("toDisk") },
        { "end-processes", 0, NULL, "with --to-disk: end running commands; without it they\nmake the request fail", BODY_TRUE("endProcesses") },
        GRACE_OPTION,
};

static const Option stop_options[] = { GRACE_OPTION };

#define ASKS_EACH(what) VERB_SOME("no sandbox given"), .method = "POST", .path = "/api/sandbox/%/" what, .body = "{}", .each = true

const Verb command_pause = {
        .synopsis = "pause SANDBOX… [options]",
        .about = "Freezes all processes of a sandbox until `cove resume`. Nothing is lost.",
        VERB_OPTIONS(pause_options), ASKS_EACH("pause"),
};

const Verb command_resume = {
        .synopsis = "resume SANDBOX… [options]",
        .about = "Continues sandboxes that `cove pause` or a timeout has frozen; starts again those paused to\n"
                 "disk.",
        ASKS_EACH("resume"),
};

const Verb command_start = {
        .synopsis = "start SANDBOX… [options]",
        .about = "Starts a stopped sandbox, which is then ready for commands again. Its disk is unchanged.",
        ASKS_EACH("start"),
};

const Verb command_stop = {
        .synopsis = "stop SANDBOX… [options]",
        .about = "Ends the processes of a sandbox and keeps its disk. `cove start` starts it again.",
        VERB_OPTIONS(stop_options), ASKS_EACH("stop"),
};
