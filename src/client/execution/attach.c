/* cove attach: reconnects to a running command. */

#include <stdio.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/execution/pick.h"
#include "client/execution/session.h"
#include "client/verbs.h"

#define SCREENFUL 16384 /* bytes of a terminal's output that are shown again */

typedef struct ClientAttachOptions {
        Common common;
        bool no_input, has_from;
        uint64_t from;
        int detach_key;
} ClientAttachOptions;

static const Option attach_options[] = {
        { "from",       0, "BYTE", "begin with this byte of its stdout (default: all;\n"
                                   "of a terminal the last 16K)",
          OPTION_NUMBER(ClientAttachOptions, from, 0, INT64_MAX), OPTION_HAS(ClientAttachOptions, has_from) },
        { "no-input",   0, NULL,   "do not pass input to the command",                         OPTION_FLAG(ClientAttachOptions, no_input) },
        { "detach-key", 0, "KEY",  "key that leaves (default ^\\ on a terminal; none)", OPTION_DETACH_KEY(ClientAttachOptions)     },
};

static uint64_t first_byte(const ClientAttachOptions *o, const json_t *execution) {
        int64_t bytes = json_get_integer(execution, "stdoutBytes", 0);

        if (o->has_from)
                return o->from;
        return json_get_bool(execution, "pty") && bytes > SCREENFUL ? (uint64_t) bytes - SCREENFUL : 0;
}

static int attach_join(const Place *place, const ClientAttachOptions *o, const char *sandbox, const json_t *execution) {
        bool terminal = json_get_bool(execution, "pty");
        const Session session = {
                .role = SESSION_JOINS,
                .input = !o->no_input && (terminal || !isatty(STDIN_FILENO)),
                .terminal = terminal,
                .detach_key = terminal && isatty(STDIN_FILENO) ? o->detach_key : SESSION_KEY_NONE,
        };
        const char *id = json_get_text(execution, "id");
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/exec/%s/attach?from=%llu", sandbox, id,
                        (unsigned long long) first_byte(o, execution));

        return session_run(&session, link_websocket_new(place, sandbox, id, url_text(&u)));
}

static int client_attach(const Place *place, void *options, const Operands *words) {
        const ClientAttachOptions *o = options;
        const char *given = words->n == 2 ? words->items[1] : NULL;
        _cleanup_answer_ Answer a = { 0 };
        const json_t *execution;

        if (o->common.json)
                return verb_refuse("--json: what a command writes is no JSON; `cove wait --json` gives its result");
        if (pick_execution(place, words->items[0], given, PICK_RUNNING, &a, &execution) < 0)
                return EXIT_OWN_FAILURE;
        return attach_join(place, o, words->items[0], execution);
}

const Verb command_attach = {
        .synopsis = "attach SANDBOX [EXECUTION] [options]",
        .about = "Attaches to a command: its output, its input, its end. The default is the running command.\n"
                 "Leaving, by the detach key or otherwise, does not end the command. Ctrl-C is passed on.",
        .more = "exit status: as of `cove exec`; 0 after the detach key.",
        VERB_OPTIONS(attach_options), VERB_UP_TO(2, "no sandbox given"),
        VERB_RUN(client_attach, ClientAttachOptions), .defaults = &(const ClientAttachOptions) { .detach_key = SESSION_KEY_DEFAULT },
};
