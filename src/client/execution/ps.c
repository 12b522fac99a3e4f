/* cove ps: the commands of a sandbox, or those that run in all of them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/listing.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct PsOptions {
        Common common;
        bool all, quiet;
} PsOptions;

APPLY_FLAG(PsOptions, all)
APPLY_FLAG(PsOptions, quiet)

static const Option ps_options[] = {
        { "all",   'a', NULL, "also those that have ended", apply_all   },
        { "quiet", 'q', NULL, "ids only",                   apply_quiet },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "ps [SANDBOX] [options]",
        .about = "Lists the commands that run in a sandbox; without SANDBOX, in all of them.",
        USAGE_OPTIONS(ps_options),
        .operands_max = 1,
};

typedef struct Ps {
        const Place *place;
        const PsOptions *options;
        Table *table;
        bool first; /* of a JSON list */
} Ps;

/* The words of a command with a space between them: to be read, not to be run. */
static void cell_command(Table *t, const json_t *execution) {
        const json_t *words = json_object_get(execution, "command"), *word;
        char *line = NULL;
        size_t size, i;
        FILE *f = open_memstream(&line, &size);

        if (f) {
                json_array_foreach(words, i, word)
                        fprintf(f, "%s%s", i > 0 ? " " : "", json_text_of(word) ? json_text_of(word) : "?");
                (void) fclose(f);
        }
        table_cell(t, line);
        free(line);
}

static void cell_end(Table *t, const json_t *execution) {
        const char *signal = json_get_text(execution, "signal"), *reason = json_get_text_or(execution, "reason", "");
        int64_t code = json_get_integer(execution, "exitCode", -1);

        if (strcmp(json_get_text_or(execution, "status", ""), "exited") != 0)
                table_cell(t, NULL);
        else if (strcmp(reason, "exited") == 0 && code >= 0)
                table_cell_format(t, "%lld", (long long) code);
        else if (strcmp(reason, "signaled") == 0 && signal)
                table_cell(t, signal);
        else
                table_cell(t, reason);
}

static void ps_add_row(Table *t, const char *sandbox, const json_t *execution) {
        const char *status = json_get_text(execution, "status");
        double msec = json_get_number(execution, "durationMs", 0);
        int64_t pid = json_get_integer(execution, "pid", 0);
        char text[HUMAN_MAX];
        usec_t since;

        table_cell(t, sandbox);
        table_cell(t, json_get_text(execution, "id"));
        table_cell_colour(t, status, colour_of_status(status));
        cell_end(t, execution);
        if (pid > 0)
                table_cell_format(t, "%lld", (long long) pid);
        else
                table_cell(t, NULL);
        if (!json_has(execution, "endedAt") && human_parse_time(json_get_text(execution, "startedAt"), &since) >= 0)
                msec = (double) (human_now() - since) / USEC_PER_MSEC;
        table_cell(t, human_span(msec > 0 ? (usec_t) (msec * 1000) : 0, text));
        table_cell(t, json_get_text(execution, "user"));
        table_cell(t, json_get_text(execution, "tag"));
        cell_command(t, execution);
}

static void ps_show(Ps *ps, const char *sandbox, const Answer *a) {
        const json_t *execution;
        size_t i;

        json_array_foreach(a->json, i, execution) {
                if (!ps->options->all && strcmp(json_get_text_or(execution, "status", ""), "exited") == 0)
                        continue; /* ended since we asked */
                if (ps->options->quiet)
                        puts(json_get_text_or(execution, "id", ""));
                else
                        ps_add_row(ps->table, sandbox, execution);
        }
}

static void ps_build_url(const Ps *ps, const char *sandbox, Url *u) {
        url_sandbox(u, sandbox, "exec");
        if (!ps->options->all)
                url_query(u, "status", "starting,running"); /* what was asked for a moment ago is on its way */
}

/* One document: {"sandbox id": [executions]}. */
static void show_json(Ps *ps, const json_t *sandbox, Answer *a) {
        while (a->size > 0 && a->text[a->size - 1] == '\n')
                a->size--;
        printf("%s\"%s\":%.*s", ps->first ? "" : ",", json_get_text_or(sandbox, "id", ""), (int) a->size, a->text);
        ps->first = false;
}

static int ps_show_sandbox(const json_t *sandbox, void *userdata) {
        const json_t *counts = json_object_get(sandbox, "executions");
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        Error error = { 0 };
        Ps *ps = userdata;
        int r;

        if (json_get_integer(counts, ps->options->all ? "total" : "running", 1) == 0)
                return 0;
        ps_build_url(ps, json_get_text_or(sandbox, "id", ""), &u);
        r = client_ask(ps->place, /* method= */ NULL, &u, /* body= */ NULL, &a, &error);
        if (r < 0) {
                log_error("%s", error.text);
                return r;
        }
        if (!answer_is_good(&a)) /* it went between the list and the question */
                return 0;
        if (ps->options->common.json)
                show_json(ps, sandbox, &a);
        else
                ps_show(ps, sandbox_label(sandbox), &a);
        return 0;
}

static int show_all(Ps *ps) {
        _cleanup_listing_ Listing l = { 0 };
        int r = listing_get(ps->place, /* filter= */ NULL, &l);

        if (r < 0)
                return r;
        if (ps->options->common.json)
                printf("{");
        r = listing_each(&l, ps_show_sandbox, ps);
        if (ps->options->common.json)
                printf("}\n");
        return r;
}

static int show_one(Ps *ps, const char *sandbox) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        int r;

        ps_build_url(ps, sandbox, &u);
        r = client_need(ps->place, /* method= */ NULL, &u, /* body= */ NULL, &a);
        if (r < 0)
                return r;
        if (ps->options->common.json)
                answer_print(&a);
        else
                ps_show(ps, sandbox, &a);
        return 0;
}

static int ps_list(const Place *place, const PsOptions *o, const Operands *words) {
        static const char *const heads[] = { "SANDBOX", "ID", "STATUS", "END", ">PID", ">TIME", "USER", "TAG", "COMMAND", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        Ps ps = { place, o, t, /* first= */ true };

        if (!t) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        if ((words->n > 0 ? show_one(&ps, words->items[0]) : show_all(&ps)) < 0)
                return EXIT_OWN_FAILURE;
        if (!o->quiet && !o->common.json && table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

int verb_ps(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        PsOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = ps_list(&place, &o, &words);
        return status;
}
