/* cove logs: the events of a sandbox, or the output of one of its commands. */

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/execution/session.h"
#include "client/http/digest.h"
#include "client/human.h"
#include "client/lines.h"
#include "client/verbs.h"

#define LINE_MAX_BYTES ((size_t) 64 << 20) /* the longest line that is searched for a pattern */

static const Option logs_options[] = {
        { "follow", 'f', NULL,      "continue with later events", OPTION_OWN },
        { "since",  0,   "TIME",    "only what is after this time: 10m (ago), or a time as in\n2026-01-31T12:00:00Z", QUERY_AGO("since") },
        { "grep",   'g', "PATTERN", "only lines that match an extended regular\nexpression", OPTION_OWN },
        { "tail",   'n', "N",       "only the last N lines", QUERY_NUMBER("tail", 0, INT64_MAX) },
        { "timestamps", 't', NULL,  "with EXECUTION: the time before each line", OPTION_OWN },
};

typedef enum LogsForm {
        FORM_BYTES, /* as they are */
        FORM_CLEAN, /* output of a sandbox must not control a terminal */
        FORM_LIST,  /* lines become members of a list */
} LogsForm;

typedef struct Logs {
        LogsForm form;
        bool follow;
        bool started; /* list: has members */
        bool at_line_start;
        bool held; /* clean: a byte 0xc2 has been read, and not printed yet */
        regex_t *pattern; /* NULL: every line */
        LineReader lines; /* with a pattern */
} Logs;

static void put_list(Logs *l, const char *p, size_t size) {
        for (size_t i = 0; i < size; i++) {
                if (p[i] == '\n') {
                        l->at_line_start = true;
                        continue;
                }
                if (l->at_line_start)
                        putchar(l->started ? ',' : '[');
                l->at_line_start = false;
                l->started = true;
                putchar(p[i]);
        }
}

static void client_logs_put(Logs *l, const void *data, size_t size) {
        if (l->form == FORM_CLEAN)
                human_put(stdout, data, size, &l->held);
        else if (l->form == FORM_LIST)
                put_list(l, data, size);
        else
                (void) fwrite(data, 1, size, stdout);
}

/* Prints the line if it matches; it is searched only up to a NUL. */
static int client_logs_take_line(void *userdata, const char *line, size_t size) {
        regmatch_t where = { .rm_so = 0, .rm_eo = (regoff_t) strnlen(line, size) };
        Logs *l = userdata;

        if (regexec(l->pattern, line, 1, &where, REG_STARTEND) == 0) {
                client_logs_put(l, line, size);
                client_logs_put(l, "\n", 1);
        }
        return 0;
}

static int client_logs_take_body(void *userdata, const void *data, size_t size) {
        Logs *l = userdata;
        int r = 0;

        if (l->pattern)
                r = line_reader_feed(&l->lines, data, size);
        else
                client_logs_put(l, data, size);
        if (r >= 0 && l->follow && fflush(stdout) != 0)
                return -errno;
        return r;
}

static int client_logs_show_sandbox(const Place *place, const Common *o, const char *sandbox, regex_t *pattern) {
        Logs l = { .follow = common_said(o, "follow"), .at_line_start = true, .pattern = pattern };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/logs?format=%s&since=%s&tail=%s&follow=%s", sandbox,
                        o->json ? "events" : "text", common_query(o, "since"),
                        common_query(o, "tail"), common_said(o, "follow") ? "1" : NULL);
        int r;

        if (o->json)
                l.form = common_said(o, "follow") ? FORM_BYTES : FORM_LIST;
        else
                l.form = isatty(STDOUT_FILENO) ? FORM_CLEAN : FORM_BYTES;
        l.lines = (LineReader) { .line = client_logs_take_line, .userdata = &l, .max = LINE_MAX_BYTES };
        r = client_receive(place, &u, /* accept= */ NULL, client_logs_take_body, &l, /* error= */ NULL);
        (void) line_reader_end(&l.lines);
        line_reader_done(&l.lines);
        if (r < 0)
                return EXIT_OWN_FAILURE;
        if (l.form == FORM_LIST)
                puts(l.started ? "]" : "[]");
        return 0;
}

/* The lines of one execution, each to its own stream. */
typedef struct LogsEntries {
        LineReader lines;
        bool times;
} LogsEntries;

static void put_bytes64(FILE *f, const char *text, size_t size) {
        uint8_t *bytes = malloc(BASE64_BYTES_MAX(size) + 1);
        ssize_t n = bytes ? base64_decode(text, size, bytes) : -1;

        if (n > 0)
                (void) fwrite(bytes, 1, (size_t) n, f);
        free(bytes);
}

static int client_logs_take_entry(void *userdata, const char *line, size_t size) {
        _cleanup_json_ json_t *entry = size > 0 ? json_parse(line, size, /* reterr= */ NULL) : NULL;
        const json_t *text = json_object_get(entry, "text"), *data64 = json_object_get(entry, "data64");
        const char *type = json_get_text_or(entry, "type", "");
        const LogsEntries *e = userdata;
        FILE *f = strcmp(type, "exec.stderr") == 0 ? stderr : stdout;

        if (strcmp(type, "exec.lost") == 0)
                (void) fprintf(stderr, "cove: %s\n", json_get_text_or(entry, "text", type));
        if (f == stdout && strcmp(type, "exec.stdout") != 0)
                return 0;
        if (f == stderr && fflush(stdout) != 0)
                return -errno;
        if (e->times)
                (void) fprintf(f, "%s ", json_get_text_or(entry, "time", "-"));
        if (json_is_string(data64))
                put_bytes64(f, json_string_value(data64), json_string_length(data64));
        else if (json_is_string(text))
                (void) fwrite(json_string_value(text), 1, json_string_length(text), f);
        (void) putc('\n', f);
        return 0;
}

static int client_logs_take_entries(void *userdata, const void *data, size_t size) {
        LogsEntries *e = userdata;
        int r = line_reader_feed(&e->lines, data, size);

        return r >= 0 && fflush(stdout) != 0 ? -errno : r;
}

static int client_logs_show_lines(const Place *place, const Common *o, const char *sandbox, const char *execution) {
        LogsEntries e = { .times = common_said(o, "timestamps") };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/logs?format=events&execution=%s&since=%s&tail=%s&follow=%s", sandbox, execution,
                        common_query(o, "since"), common_query(o, "tail"), common_said(o, "follow") ? "1" : NULL);
        int r;

        e.lines = (LineReader) { .line = client_logs_take_entry, .userdata = &e, .max = LINE_MAX_BYTES };
        r = client_receive(place, &u, /* accept= */ NULL, client_logs_take_entries, &e, /* error= */ NULL);
        line_reader_done(&e.lines);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

static int show_execution(const Place *place, const Common *o, const char *sandbox, const char *execution) {
        const Session session = { .role = SESSION_WATCHES, .detach_key = SESSION_KEY_NONE };

        if (common_said(o, "grep") || o->json)
                return verb_refuse("--grep and --json are for the sandbox's logs, not for a command's output");
        if (o->queries.n > 0 || common_said(o, "timestamps"))
                return client_logs_show_lines(place, o, sandbox, execution);
        return session_run(&session, link_http_follow(place, sandbox, execution, common_said(o, "follow")));
}

static int show_matching(const Place *place, const Common *o, const char *sandbox) {
        const char *grep = common_said(o, "grep");
        char words[256];
        regex_t pattern;
        int status, k;

        if (!grep)
                return client_logs_show_sandbox(place, o, sandbox, NULL);
        k = regcomp(&pattern, grep, REG_EXTENDED | REG_NOSUB);
        if (k != 0) {
                (void) regerror(k, &pattern, words, sizeof(words));
                return verb_refuse("--grep: '%s' is no regular expression: %s", grep, words);
        }
        status = client_logs_show_sandbox(place, o, sandbox, &pattern);
        regfree(&pattern);
        return status;
}

static int logs_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;

        return words->n == 2 ? show_execution(place, o, words->items[0], words->items[1]) : show_matching(place, o, words->items[0]);
}

const Verb command_logs = {
        .synopsis = "logs SANDBOX [EXECUTION] [options]",
        .about = "Shows the events of a sandbox: its states, its commands and their output. With EXECUTION,\n"
                 "prints exactly what that command wrote, stdout and stderr separately; with --since, --tail\n"
                 "or -t, its lines, in the order in which they were written.",
        .more = "With --json: a list of events; with --follow too, one event a line.",
        VERB_OPTIONS(logs_options), VERB_UP_TO(2, "no sandbox given"), .run = logs_run,
};
