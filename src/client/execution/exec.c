/* cove exec: runs a command in a sandbox. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cli/terminal.h"
#include "client/assign.h"
#include "client/execution/session.h"
#include "client/execution/verdict.h"
#include "client/usage.h"
#include "client/verbs.h"

#define TEXT_MAX (2 << 20) /* of input that goes within the request */

typedef struct ExecOptions {
        Common common;
        bool interactive, tty, detach;
        Strv env;
        const char *cwd, *user, *tag;
        bool has_timeout;
        usec_t timeout;
} ExecOptions;

APPLY_FLAG(ExecOptions, interactive)
APPLY_FLAG(ExecOptions, tty)
APPLY_FLAG(ExecOptions, detach)
APPLY_TEXT(ExecOptions, cwd)
APPLY_TEXT(ExecOptions, user)
APPLY_TEXT(ExecOptions, tag)

static int exec_apply_env(void *target, const char *value, Error *reterr) {
        return assign_env(&((ExecOptions *) target)->env, "--env", value, reterr);
}

static int exec_apply_env_file(void *target, const char *value, Error *reterr) {
        return assign_env_file(&((ExecOptions *) target)->env, "--env-file", value, reterr);
}

static int exec_apply_timeout(void *target, const char *value, Error *reterr) {
        ExecOptions *o = target;

        o->has_timeout = true;
        return value_duration("--timeout", value, &o->timeout, reterr);
}

static const Option exec_options[] = {
        { "interactive", 'i', NULL,   "pass on input from a terminal too",                      apply_interactive },
        { "tty",         't', NULL,   "give the command a terminal",                            apply_tty         },
        { "detach",      'd', NULL,   "do not wait: print the execution's id",                  apply_detach      },
        { "env",         'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's",   exec_apply_env         },
        { "env-file",    0,   "FILE", "lines of NAME=VALUE",                                    exec_apply_env_file    },
        { "cwd",         'w', "DIR",  "working directory (default: the sandbox's)",             apply_cwd         },
        { "user",        'u', "USER", "user, root, UID or UID:GID (default: the sandbox's)",    apply_user        },
        { "timeout",     0,   "TIME", "ends it after this, with status 124 (default: the\n"
                                      "sandbox's; none: no limit)",                             exec_apply_timeout     },
        { "tag",         0,   "TEXT", "shown by `cove ps`",                                     apply_tag         },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "exec [options] SANDBOX -- COMMAND [ARG…]",
        .about = "Runs a command in a sandbox. Its output and its exit status are this program's; it ends when\n"
                 "this program ends. Ctrl-C is passed on; pressed twice, it kills.",
        .more = "Without a terminal, input is passed on by itself; </dev/null keeps it back. With --json the whole\n"
                "result comes as one document at the end.\n\n"
                "exit status: the command's own; 124 time was up; 125 cove itself failed; 126 not executable;\n"
                "127 not found; 128+N ended by signal N; 137 also when its sandbox went.",
        USAGE_OPTIONS(exec_options),
        .operands_min = 2,
        .operands_max = USAGE_ANY_NUMBER,
        .options_until = 1,
        .missing = "no sandbox given",
        .missing_last = "no command given",
};

/* Nothing comes from there, so that the command need not wait for it. */
static bool input_is_null(void) {
        struct stat st;

        return fstat(STDIN_FILENO, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool exec_wants_input(const ExecOptions *o) {
        if (o->detach || (o->common.json && !o->interactive))
                return false;
        return o->interactive || (!isatty(STDIN_FILENO) && !input_is_null());
}

static void put_terminal(JsonBuilder *b, ExecOptions *o) {
        struct winsize size = terminal_size();
        JsonBuilder pty = { 0 };
        Error error = { 0 };

        json_put_integer(&pty, "cols", size.ws_col);
        json_put_integer(&pty, "rows", size.ws_row);
        json_put_object(b, "pty", &pty);
        json_builder_done(&pty);
        if (!strv_get_env(&o->env, "TERM") && getenv("TERM"))
                (void) assign_env(&o->env, "--env", "TERM", &error);
}

static void exec_put_request(JsonBuilder *b, ExecOptions *o, const Operands *words) {
        json_put_text(b, "command", words->items[1]);
        if (words->n > 2)
                json_put_words(b, "args", words->items + 2, words->n - 2);
        if (o->tty)
                put_terminal(b, o);
        json_put_assignments(b, "env", o->env.items, o->env.n);
        json_put_text(b, "cwd", o->cwd);
        json_put_text(b, "user", o->user);
        json_put_text(b, "tag", o->tag);
        if (o->has_timeout)
                json_put_number(b, "timeoutSeconds", (double) o->timeout / USEC_PER_SEC);
        if (o->detach)
                json_put_true(b, "background");
        else
                json_put_true(b, "bind");
}

static int run_detached(const Place *place, const ExecOptions *o, const Operands *words, JsonBuilder *b) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_sandbox(&u, words->items[0], "exec");
        if (client_need(place, "POST", &u, b, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, "id", ""));
        return 0;
}

/* All of our input as one text. */
static int exec_read_text(char **ret) {
        _cleanup_free_ char *text = malloc(TEXT_MAX + 1);
        ssize_t n;

        if (!text)
                return -ENOMEM;
        n = fd_read_full(STDIN_FILENO, text, TEXT_MAX + 1);
        if (n < 0)
                return (int) n;
        if (n > TEXT_MAX)
                return -EFBIG;
        if (memchr(text, '\0', (size_t) n))
                return -EILSEQ;
        text[n] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

static int exec_run_json(const Place *place, const ExecOptions *o, const Operands *words, JsonBuilder *b) {
        _cleanup_free_ char *text = NULL;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        int r = 0;

        if (exec_wants_input(o)) {
                r = exec_read_text(&text);
                if (r < 0) {
                        errno = -r;
                        log_error("--json: input must be text of at most %d bytes: %m", TEXT_MAX);
                        return EXIT_OWN_FAILURE;
                }
                json_put_text(b, "stdin", text);
        }
        url_sandbox(&u, words->items[0], "exec");
        if (client_need(place, "POST", &u, b, &a) < 0)
                return EXIT_OWN_FAILURE;
        answer_print(&a);
        return verdict_tell(a.json);
}

static int run_attached(const Place *place, const ExecOptions *o, const Operands *words, JsonBuilder *b) {
        Session session = {
                .role = SESSION_OWNS,
                .input = exec_wants_input(o),
                .terminal = o->tty,
                .detach_key = SESSION_KEY_NONE,
        };
        _cleanup_link_ Link *link = NULL;
        Error error = { 0 };
        char *body;

        if (session.input)
                json_put_true(b, "stdin");
        body = json_builder_print(b, &error);
        if (!body) {
                log_error("%s", error.text);
                return EXIT_OWN_FAILURE;
        }
        link = link_http_new(place, words->items[0], body);
        if (!link) {
                free(body);
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        session.link = link;
        return session_run(&session);
}

int verb_exec(int argc, char **argv) {
        ExecOptions o = { .env = STRV_INIT(ASSIGN_MAX) };
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0) {
                exec_put_request(&b, &o, &words);
                if (o.detach)
                        status = run_detached(&place, &o, &words, &b);
                else if (o.common.json)
                        status = exec_run_json(&place, &o, &words, &b);
                else
                        status = run_attached(&place, &o, &words, &b);
        }
        strv_done(&o.env);
        return status;
}
