/* cove shell: a terminal in a sandbox. */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/terminal.h"
#include "client/execution/detach.h"
#include "client/execution/session.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct ShellOptions {
        Common common;
        const char *command, *user, *cwd;
        bool keep;
        int detach_key;
} ShellOptions;

APPLY_TEXT(ShellOptions, command)
APPLY_TEXT(ShellOptions, user)
APPLY_TEXT(ShellOptions, cwd)
APPLY_FLAG(ShellOptions, keep)

static int shell_apply_detach_key(void *target, const char *value, Error *reterr) {
        return detach_key_parse(value, &((ShellOptions *) target)->detach_key, reterr);
}

static const Option shell_options[] = {
        { "command",    'c', "TEXT", "run this by /bin/sh (default: bash, else sh)",        apply_command    },
        { "user",       'u', "USER", "user, root, UID or UID:GID (default: the sandbox's)", apply_user       },
        { "cwd",        'w', "DIR",  "working directory (default: the sandbox's)",          apply_cwd        },
        { "keep",       'k', NULL,   "it goes on when this program ends; `cove attach`\ncomes back to it", apply_keep },
        { "detach-key", 0,   "KEY",  "leaves it, with --keep (default ^\\; none)",          shell_apply_detach_key },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "shell SANDBOX [options]",
        .about = "Opens a terminal in a sandbox. All keys go to it. It ends when this program ends.",
        .more = "exit status: the shell's own; 125 cove itself failed; 128+N ended by signal N.",
        USAGE_OPTIONS(shell_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no sandbox given",
};

static int shell_build_url(Url *u, const ShellOptions *o, const char *sandbox) {
        struct winsize size = terminal_size();

        url_sandbox(u, sandbox, "terminal");
        url_query_number(u, "cols", size.ws_col);
        url_query_number(u, "rows", size.ws_row);
        url_query(u, "command", o->command);
        url_query(u, "user", o->user);
        url_query(u, "cwd", o->cwd);
        if (!o->keep)
                url_query(u, "bind", "1");
        return u->error;
}

static int shell(const Place *place, const ShellOptions *o, const char *sandbox) {
        Session session = {
                .role = o->keep ? SESSION_JOINS : SESSION_OWNS,
                .input = true,
                .terminal = true,
                .detach_key = o->keep ? o->detach_key : SESSION_KEY_NONE,
        };
        _cleanup_link_ Link *link = NULL;
        _cleanup_url_ Url u = { 0 };

        if (o->common.json) {
                log_error("--json: a terminal is no JSON; `cove exec --json` gives a result");
                return EXIT_OWN_FAILURE;
        }
        if (shell_build_url(&u, o, sandbox) >= 0)
                link = link_websocket_new(place, sandbox, /* execution= */ NULL, u.text);
        if (!link) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        session.link = link;
        return detach_tell(&session, session_run(&session));
}

int verb_shell(int argc, char **argv) {
        ShellOptions o = { .detach_key = DETACH_KEY_DEFAULT };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = shell(&place, &o, words.items[0]);
        return status;
}
