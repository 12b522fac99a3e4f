/* cove shell: a terminal in a sandbox. */

#include "cli/terminal.h"
#include "client/ask.h"
#include "client/execution/session.h"
#include "client/verbs.h"

typedef struct ShellOptions {
        Common common;
        const char *command, *user, *cwd;
        bool keep;
        int detach_key;
} ShellOptions;

static const Option shell_options[] = {
        { "command",    'c', "TEXT", "run this with /bin/sh (default: bash, else sh)",        OPTION_TEXT(ShellOptions, command)     },
        { "user",       'u', "USER", "user, root, UID or UID:GID (default: the sandbox's)", OPTION_TEXT(ShellOptions, user)        },
        { "cwd",        'w', "DIR",  "working directory (default: the sandbox's)",          OPTION_TEXT(ShellOptions, cwd)         },
        { "keep",       'k', NULL,   "keep it running when this program ends; `cove attach`\nreturns to it", OPTION_FLAG(ShellOptions, keep) },
        { "detach-key", 0,   "KEY",  "key that leaves it, with --keep (default ^\\; none)",          OPTION_DETACH_KEY(ShellOptions)        },
};

static int shell_run(const Place *place, void *options, const Operands *words) {
        const ShellOptions *o = options;
        const char *sandbox = words->items[0];
        const Session session = {
                .role = o->keep ? SESSION_JOINS : SESSION_OWNS,
                .input = true,
                .terminal = true,
                .detach_key = o->keep ? o->detach_key : SESSION_KEY_NONE,
        };
        struct winsize size = terminal_size();
        _cleanup_url_ Url u =
                        url_of("/api/sandbox/%s/terminal?cols=%u&rows=%u&command=%s&user=%s&cwd=%s&bind=%s",
                                        sandbox, (unsigned) size.ws_col, (unsigned) size.ws_row, o->command,
                                        o->user, o->cwd, o->keep ? NULL : "1");

        if (o->common.json)
                return verb_refuse("--json: a terminal is no JSON; `cove exec --json` gives a result");
        return session_run(&session, link_websocket_new(place, sandbox, /* execution= */ NULL, url_text(&u)));
}

const Verb command_shell = {
        .synopsis = "shell SANDBOX [options]",
        .about = "Opens a terminal in a sandbox. All keys go to it. It ends when this program ends.",
        .more = "exit status: the shell's own; 125 cove itself failed; 128+N ended by signal N.",
        VERB_OPTIONS(shell_options), VERB_ONE("no sandbox given"), VERB_RUN(shell_run, ShellOptions),
        .defaults = &(const ShellOptions) { .detach_key = SESSION_KEY_DEFAULT },
};
