/* cove exec: runs a command in a sandbox. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "client/ask.h"
#include "client/execution/session.h"
#include "client/execution/verdict.h"
#include "client/text.h"
#include "client/verbs.h"

#define TEXT_MAX (2 << 20) /* input up to this size is sent within the request */

static const Option exec_options[] = {
        { "interactive", 'i', NULL,   "pass on input from a terminal too",                    OPTION_OWN },
        { "tty",         't', NULL,   "give the command a terminal",                          OPTION_OWN },
        { "detach",      'd', NULL,   "do not wait: print the execution's id",                OPTION_OWN },
        { "env",         'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's value", BODY_ENV("env")                       },
        { "env-file",    0,   "FILE", "lines of NAME=VALUE",                                  BODY_ENV_FILE("env")                  },
        { "cwd",         'w', "DIR",  "working directory (default: the sandbox's)",           BODY_TEXT("cwd")                      },
        { "user",        'u', "USER", "user, root, UID or UID:GID (default: the sandbox's)",  BODY_TEXT("user")                     },
        { "timeout",     0,   "TIME", "end the command after this, with status 124 (default: the\n"
                                      "sandbox's, see --exec-timeout of `cove create`;\n"
                                      "none: no limit)",                                      BODY_SECONDS("timeoutSeconds")        },
        { "tag",         0,   "TEXT", "shown by `cove ps`",                                   BODY_TEXT("tag")                      },
        { "workdir",     0,   "DIR",  NULL,                                                   BODY_TEXT("cwd")                      },
        OPTION_INSTEAD("name", 'n', "NAME", "an execution has an id; write --tag TEXT, which `cove ps` shows"),
        OPTION_INSTEAD("privileged", 0, NULL, "write --user root, which is root inside"),
        OPTION_INSTEAD("memory", 'm', "SIZE", "the limit is the sandbox's: `cove create --memory SIZE`"),
        OPTION_INSTEAD("cpus", 0, "N", "the limit is the sandbox's: `cove create --cpus N`"),
        OPTION_INSTEAD("volume", 'v', "NAME:DIR", "volumes are the sandbox's: `cove create --volume NAME:DIR`"),
        OPTION_INSTEAD("publish", 'p', "PORT", "what listens inside needs no option: `cove url SANDBOX PORT` prints its URL"),
        OPTION_INSTEAD("network", 0, "MODE", "the network is the sandbox's: `cove create --network MODE`"),
        OPTION_INSTEAD("rm", 0, NULL, "nothing of a command is left to remove; `cove rm SANDBOX` removes the sandbox"),
};

/* /dev/null gives no input, so the command need not wait for any. */
static bool input_is_null(void) {
        struct stat st;

        return fstat(STDIN_FILENO, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool exec_wants_input(const Common *o) {
        if (common_said(o, "detach") || (o->json && !common_said(o, "interactive")))
                return false;
        return common_said(o, "interactive") || (!isatty(STDIN_FILENO) && !input_is_null());
}

static void put_terminal(JsonBuilder *b) {
        struct winsize size = terminal_size();
        const char *term = getenv("TERM");

        json_put_integer(b, "pty.cols", size.ws_col);
        json_put_integer(b, "pty.rows", size.ws_row);
        if (term && !json_has(json_object_get(b->object, "env"), "TERM"))
                json_put_text(b, "env.TERM", term);
}

static void exec_put_request(Common *o, const Operands *words) {
        JsonBuilder *b = &o->body;

        json_put_text(b, "command", words->items[1]);
        if (words->n > 2)
                json_put_words(b, "args", words->items + 2, words->n - 2);
        if (common_said(o, "tty"))
                put_terminal(b);
        json_put_true(b, common_said(o, "detach") ? "background" : "bind");
}

static int exec_run_json(const Place *place, Common *o, const Operands *words) {
        _cleanup_free_ char *text = NULL;
        _cleanup_answer_ Answer a = { 0 };

        if (exec_wants_input(o)) {
                int r = text_read("-", TEXT_MAX, &text);

                errno = -r;
                if (r < 0)
                        return verb_refuse("--json: input must be text of at most %d bytes: %m", TEXT_MAX);
                json_put_text(&o->body, "stdin", text);
        }
        if (ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        answer_print(&a);
        return verdict_tell(a.json);
}

static int run_attached(const Place *place, Common *o, const Operands *words) {
        const Session session = {
                .role = SESSION_OWNS,
                .input = exec_wants_input(o),
                .terminal = common_said(o, "tty"),
                .detach_key = SESSION_KEY_NONE,
        };
        Error error = { 0 };
        char *body;

        if (session.input)
                json_put_true(&o->body, "stdin");
        body = json_builder_print(&o->body, &error);
        return body ? session_run(&session, link_http_new(place, words->items[0], body)) : verb_refuse("%s", error.text);
}

static int exec_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;

        exec_put_request(o, words);
        if (common_said(o, "detach"))
                return ask_run(place, o, words);
        return o->json ? exec_run_json(place, o, words) : run_attached(place, o, words);
}

const Verb command_exec = {
        .synopsis = "exec [options] SANDBOX -- COMMAND [ARG…]",
        .about = "Runs a command in a sandbox, and passes on its output and its exit status. The command ends when\n"
                 "this program ends. Ctrl-C is passed on; the second one kills the command.",
        .more = "Without a terminal, input is passed on; </dev/null prevents that. With --json the whole\n"
                "result is one document at the end.\n\n"
                "exit status: the command's own; 124 timeout; 125 cove itself failed; 126 not executable;\n"
                "127 not found; 128+N ended by signal N; 137 also if its sandbox was removed.",
        VERB_OPTIONS(exec_options), .operands_min = 2, .operands_max = VERB_ANY_NUMBER, .options_until = 1, .missing = "no sandbox given",
        .missing_last = "no command given", .run = exec_run, VERB_POST("/api/sandbox/%/exec"), .prints = "id",
};
