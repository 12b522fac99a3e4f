/* cove ps: the commands of a sandbox, or the running commands of all sandboxes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/execution/pick.h"
#include "client/human.h"
#include "client/sandbox/listing.h"
#include "client/verbs.h"

static const Option ps_options[] = {
        { "all",   'a', NULL, "include commands that have ended", OPTION_OWN },
        { "quiet", 'q', NULL, "ids only",                   OPTION_FLAG(Common, quiet)  },
        { "no-interpreters", 0, NULL, "leave out the interpreters that `cove code` keeps", OPTION_OWN },
};

typedef struct Ps {
        const Place *place;
        const Common *options;
        Table *table;
        bool first; /* of a JSON list */
} Ps;

static bool ps_has_ended(const json_t *execution) {
        return strcmp(json_get_text_or(execution, "status", ""), "exited") == 0;
}

/* Joins the words and lines of a command with spaces, for reading and not for running. */
static void cell_command(Table *t, const json_t *execution, const Column *c) {
        const json_t *words = json_object_get(execution, c->key), *word;
        char *line = NULL;
        size_t size, i;
        FILE *f = open_memstream(&line, &size);

        if (f) {
                json_array_foreach(words, i, word)
                        fprintf(f, "%s%s", i > 0 ? " " : "", json_text_of(word) ? json_text_of(word) : "?");
                (void) fclose(f);
        }
        for (char *end = line; end && (end = strpbrk(end, "\t\n\r"));)
                *end = ' ';
        table_cell(t, line);
        free(line);
}

static void cell_end(Table *t, const json_t *execution, const Column *c) {
        const char *signal = json_get_text(execution, "signal"), *reason = json_get_text_or(execution, "reason", "");
        int64_t code = json_get_integer(execution, "exitCode", -1);

        if (!ps_has_ended(execution))
                table_cell(t, NULL);
        else if (strcmp(reason, "exited") == 0 && code >= 0)
                table_cell_format(t, "%lld", (long long) code);
        else
                table_cell(t, strcmp(reason, "signaled") == 0 && signal ? signal : reason);
}

static void cell_pid(Table *t, const json_t *execution, const Column *c) {
        int64_t pid = json_get_integer(execution, c->key, 0);

        if (pid > 0)
                table_cell_format(t, "%lld", (long long) pid);
        else
                table_cell(t, NULL);
}

static void cell_duration(Table *t, const json_t *execution, const Column *c) {
        double msec = json_get_number(execution, c->key, 0);
        char text[HUMAN_MAX];
        usec_t since;

        if (!json_has(execution, "endedAt") && human_parse_time(json_get_text(execution, "startedAt"), &since) >= 0)
                msec = (double) (clock_wall_usec() - since) / USEC_PER_MSEC;
        table_cell(t, human_span(msec > 0 ? (usec_t) (msec * 1000) : 0, text));
}

/* The first column is the sandbox, which is not in the row. */
static const Column ps_columns[] = {
        { "SANDBOX", "" }, { "ID", "id" }, { "STATUS", "status", cell_status }, { "END", "reason", cell_end }, { ">PID", "pid", cell_pid },
        { ">TIME", "durationMs", cell_duration }, { "USER", "user" }, { "TAG", "tag" }, { "COMMAND", "command", cell_command },
};

static void ps_show(Ps *ps, const char *sandbox, const Answer *a) {
        const json_t *execution;
        size_t i;

        json_array_foreach(a->json, i, execution) {
                if (!common_said(ps->options, "all") && ps_has_ended(execution))
                        continue; /* it has ended since the request */
                if (common_said(ps->options, "no-interpreters") && execution_is_interpreter(execution))
                        continue;
                if (ps->options->quiet)
                        puts(json_get_text_or(execution, "id", ""));
                else {
                        table_cell_id(ps->table, sandbox);
                        columns_add(ps->table, ps_columns + 1, ELEMENTSOF(ps_columns) - 1, execution);
                }
        }
}

/* Asks also for executions that are starting: one that was requested a moment ago is shown too. */
static Url ps_url(const Ps *ps, const char *sandbox) {
        return url_of("/api/sandbox/%s/exec?status=%s", sandbox,
                        common_said(ps->options, "all") ? NULL : "starting,running");
}

/* One document: {"sandbox id": [executions]}. */
static void ps_show_json(Ps *ps, const json_t *sandbox, const Answer *a) {
        printf("%s\"%s\":%.*s", ps->first ? "" : ",", json_get_text_or(sandbox, "id", ""), answer_length(a), a->text);
        ps->first = false;
}

static int ps_show_sandbox(Ps *ps, const json_t *sandbox) {
        const json_t *counts = json_object_get(sandbox, "executions");
        _cleanup_url_ Url u = ps_url(ps, json_get_text_or(sandbox, "id", ""));
        _cleanup_answer_ Answer a = { 0 };
        Error error = { 0 };

        if (json_get_integer(counts, common_said(ps->options, "all") ? "total" : "running", 1) == 0)
                return 0;
        if (client_ask(ps->place, /* method= */ NULL, &u, /* body= */ NULL, &a, &error) < 0)
                return verb_refuse("%s", error.text);
        if (!answer_is_good(&a)) /* the sandbox was removed after the list was made */
                return 0;
        if (ps->options->json)
                ps_show_json(ps, sandbox, &a);
        else
                ps_show(ps, sandbox_label(sandbox), &a);
        return 0;
}

static int ps_show_all(Ps *ps) {
        _cleanup_listing_ Listing l = { 0 };
        int status = listing_sandboxes(ps->place, &l) < 0 ? EXIT_OWN_FAILURE : 0;

        if (status != 0)
                return status;
        if (ps->options->json)
                printf("{");
        for (const json_t *sandbox; status == 0 && (sandbox = listing_row(&l));)
                status = ps_show_sandbox(ps, sandbox);
        if (ps->options->json)
                printf("}\n");
        return status;
}

static int ps_show_one(Ps *ps, const char *sandbox) {
        _cleanup_url_ Url u = ps_url(ps, sandbox);
        _cleanup_answer_ Answer a = { 0 };

        if (client_need(ps->place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (ps->options->json)
                answer_print(&a);
        else
                ps_show(ps, sandbox, &a);
        return 0;
}

static int ps_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_table_ Table *t = columns_table(ps_columns, ELEMENTSOF(ps_columns));
        Ps ps = { .place = place, .options = o, .table = t, .first = true };
        int status = !t ? verb_refuse("out of memory") : words->n > 0 ? ps_show_one(&ps, words->items[0]) : ps_show_all(&ps);

        return status != 0 || o->quiet || o->json ? status : table_finish(t);
}

const Verb command_ps = {
        .synopsis = "ps [SANDBOX] [options]",
        .about = "Lists the commands that run in a sandbox; without SANDBOX, in all of them.",
        VERB_OPTIONS(ps_options), .operands_max = 1, .run = ps_run,
};
