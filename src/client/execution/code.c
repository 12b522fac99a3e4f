/* cove code: runs code in an interpreter of a sandbox; the interpreter keeps its state. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/http/digest.h"
#include "client/lines.h"
#include "client/text.h"
#include "client/verbs.h"

#define CODE_MAX    ((size_t) 16 << 20)
#define EVENT_MAX   ((size_t) 256 << 20)
#define CODE_FAILED 1

typedef struct CodeOptions {
        Common common;
        const char *language, *context, *code, *save;
} CodeOptions;

static const Option code_options[] = {
        { "language", 'l', "LANGUAGE", "python (default), javascript, typescript, bash, r, java",     OPTION_TEXT(CodeOptions, language) },
        { "context",  'x', "ID",   "the context to run it in (default: the language's own)",      OPTION_TEXT(CodeOptions, context)  },
        { "code",     'c', "CODE", "the code itself",                                             OPTION_TEXT(CodeOptions, code)     },
        { "env",      'e', "NAME=VALUE", "set a variable for this run; NAME alone: the caller's value", BODY_ENV("env")                },
        { "timeout",  0,   "TIME", "interrupt the code after this time (default: never)",                    BODY_SECONDS("timeoutSeconds")     },
        { "save",     0,   "DIR",  "write pictures and other results that are not text there", OPTION_TEXT(CodeOptions, save)     },
};

/* Showing events. */

typedef struct Show {
        const CodeOptions *options;
        unsigned n_saved;
        bool failed;
        char said[256]; /* the last of standard error, where it is short */
} Show;

static const struct {
        const char *field, *suffix;
        bool encoded;
} files[] = {
        { "png",        "png",  true  },
        { "jpeg",       "jpg",  true  },
        { "pdf",        "pdf",  true  },
        { "svg",        "svg",  false },
        { "html",       "html", false },
        { "latex",      "tex",  false },
        { "javascript", "js",   false },
};

static int code_write_file(const char *path, const char *text, bool encoded) {
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        _cleanup_free_ uint8_t *bytes = NULL;
        size_t size = strlen(text);
        ssize_t n;

        if (fd < 0)
                return -errno;
        if (!encoded)
                return fd_write_all(fd, text, size);
        bytes = malloc(BASE64_BYTES_MAX(size) + 1);
        if (!bytes)
                return -ENOMEM;
        n = base64_decode(text, size, bytes);
        return n < 0 ? (int) n : fd_write_all(fd, bytes, (size_t) n);
}

static void save_result(Show *s, const json_t *event) {
        bool counted = false;

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                const char *text = json_get_text(event, files[i].field);
                char path[4096];
                int r;

                if (!text)
                        continue;
                s->n_saved += !counted;
                counted = true;
                (void) snprintf(path, sizeof(path), "%s/result-%u.%s", s->options->save, s->n_saved, files[i].suffix);
                r = code_write_file(path, text, files[i].encoded);
                if (r < 0)
                        log_error("cannot write '%s': %s", path, strerror(-r));
                else
                        log_info("saved %s", path);
        }
}

static void show_result(Show *s, const json_t *event) {
        const char *text = json_get_text(event, "text");

        if (!text)
                text = json_get_text(event, "markdown");
        if (s->options->save)
                save_result(s, event);
        if (text)
                printf("%s\n", text);
}

static void show_error(Show *s, const json_t *event) {
        const char *traceback = json_get_text_or(event, "traceback", "");

        s->failed = true;
        if (*traceback && strncmp(s->said, traceback, strlen(traceback)) == 0 && strcmp(s->said + strlen(traceback), "\n") == 0)
                return; /* a magic's UsageError says itself what is wrong */
        if (*traceback)
                fprintf(stderr, "%s\n", traceback);
        else
                fprintf(stderr, "%s: %s\n", json_get_text_or(event, "name", "Error"), json_get_text_or(event, "value", ""));
}

static int show_event(Show *s, const json_t *event) {
        const char *type = json_get_text_or(event, "type", ""), *text = json_get_text_or(event, "text", "");

        if (strcmp(type, "stdout") == 0)
                (void) fwrite(text, 1, strlen(text), stdout);
        else if (strcmp(type, "stderr") == 0) {
                (void) fwrite(text, 1, strlen(text), stderr);
                (void) snprintf(s->said, sizeof(s->said), "%s", text);
        } else if (strcmp(type, "result") == 0)
                show_result(s, event);
        else if (strcmp(type, "error") == 0)
                show_error(s, event);
        return fflush(stdout) != 0 ? -errno : 0;
}

static int code_take_line(void *userdata, const char *line, size_t size) {
        _cleanup_json_ json_t *event = size > 0 ? json_parse(line, size, /* reterr= */ NULL) : NULL;

        return event ? show_event(userdata, event) : 0;
}

/* One run. */

static int code_run_json(const Place *place, CodeOptions *o, const Url *u) {
        _cleanup_answer_ Answer a = { 0 };

        if (client_need(place, "POST", u, &o->common.body, &a) < 0)
                return EXIT_OWN_FAILURE;
        answer_print(&a);
        return json_has(a.json, "error") ? CODE_FAILED : 0;
}

static int code_run(const Place *place, CodeOptions *o, const char *sandbox, const char *code) {
        Show s = { .options = o };
        _cleanup_lines_ LineReader lines = { .line = code_take_line, .userdata = &s, .max = EVENT_MAX };
        _cleanup_free_ char *body = NULL;
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/contexts/%s/run", sandbox,
                        o->context    ? o->context
                        : o->language ? o->language
                                      : "python");
        Error error = { 0 };
        int r;

        json_put_text(&o->common.body, "code", code);
        if (o->common.json)
                return code_run_json(place, o, &u);
        body = json_builder_print(&o->common.body, &error);
        if (!body)
                return verb_refuse("%s", error.text);
        r = client_transfer(place,
                        &REQUEST(.method = "POST", .path = url_text(&u), .type = "application/json",
                                        .accept = "application/x-ndjson", .body = body,
                                        .body_size = strlen(body), .sink = line_reader_feed,
                                        .sink_data = &lines),
                        &error, /* ret= */ NULL);
        return r < 0 ? EXIT_OWN_FAILURE : s.failed ? CODE_FAILED : 0;
}

/* At a terminal. */

/* A block that was opened, by an indentation or by a line that ends with one of these, continues to an empty
 * line. */
static bool code_is_open(const char *block, const char *line) {
        size_t n = strlen(line);

        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == ' '))
                n--;
        if (n == 0)
                return false;
        return strchr(":{([\\,", line[n - 1]) || line[0] == ' ' || line[0] == '\t' || block[0] == '@';
}

static char *code_read_block(void) {
        _cleanup_free_ char *line = NULL;
        char *block = NULL;
        size_t room = 0, size = 0;
        bool opened = false;

        for (;;) {
                ssize_t n;
                char *bigger;

                fputs(block ? "... " : ">>> ", stdout);
                (void) fflush(stdout);
                n = getline(&line, &room, stdin);
                if (n < 0)
                        break;
                bigger = realloc(block, size + (size_t) n + 1);
                if (!bigger)
                        break;
                block = bigger;
                memcpy(block + size, line, (size_t) n + 1);
                size += (size_t) n;
                if (line[0] == '\n' || (!code_is_open(block, line) && !opened))
                        return block;
                opened = true;
        }
        if (!block || size == 0) {
                free(block);
                return NULL;
        }
        return block;
}

/* Runs the code from a child process, which Ctrl-C ends. Its connection ends with it, and that interrupts
 * the code. */
static int run_apart(const Place *place, CodeOptions *o, const char *sandbox, const char *code) {
        int status = 0;
        pid_t pid;

        (void) fflush(stdout);
        pid = fork();
        if (pid < 0)
                return EXIT_OWN_FAILURE;
        if (pid == 0) {
                (void) signal(SIGINT, SIG_DFL);
                status = code_run(place, o, sandbox, code);
                (void) fflush(stdout);
                _exit(status);
        }
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        if (WIFSIGNALED(status))
                fputs("interrupted\n", stderr);
        return WIFEXITED(status) ? WEXITSTATUS(status) : CODE_FAILED;
}

static int converse(const Place *place, CodeOptions *o, const char *sandbox) {
        int status = 0;

        (void) signal(SIGINT, SIG_IGN);
        for (;;) {
                _cleanup_free_ char *block = code_read_block();

                if (!block)
                        break;
                if (strspn(block, " \t\n") < strlen(block))
                        status = run_apart(place, o, sandbox, block);
                if (status == EXIT_OWN_FAILURE)
                        return status;
        }
        putchar('\n');
        return 0;
}

static int code_choose(const Place *place, void *options, const Operands *words) {
        CodeOptions *o = options;
        const char *sandbox = words->items[0], *file = words->n > 1 ? words->items[1] : NULL;
        _cleanup_free_ char *text = NULL;
        int r;

        if (o->code && file)
                return verb_refuse("--code and a file exclude each other: give only one of them");
        if (o->save && mkdir(o->save, 0755) < 0 && errno != EEXIST)
                return verb_refuse("cannot make directory '%s': %m", o->save);
        if (o->code)
                return code_run(place, o, sandbox, o->code);
        if (!file && isatty(STDIN_FILENO) && !o->common.json)
                return converse(place, o, sandbox);
        r = text_read(file, CODE_MAX, &text);
        if (r < 0)
                return verb_refuse("cannot read '%s': %s", file ? file : "-", strerror(-r));
        return code_run(place, o, sandbox, text);
}

const Verb command_code = {
        .synopsis = "code [options] SANDBOX [FILE]",
        .about = "Runs code in an interpreter that stays in the sandbox: definitions are available in the next run.\n"
                 "The code is that of FILE, of --code or of standard input, line by line at a terminal.",
        .more = "The value of the last expression is printed after the output. Ctrl-C interrupts the code,\n"
                "and the interpreter keeps its state. With --json the whole result is one document at the end.\n\n"
                "exit status: 0; 1 the code failed; 125 cove itself failed.",
        VERB_OPTIONS(code_options), VERB_UP_TO(2, "no sandbox given"), VERB_RUN(code_choose, CodeOptions),
};
