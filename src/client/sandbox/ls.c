/* cove ls: the sandboxes of a daemon. */

#include <stdio.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/sandbox/listing.h"
#include "client/verbs.h"

#define METADATA_MAX 64

static void ls_print_names(const json_t *sandbox) {
        puts(sandbox_label(sandbox));
}

static const Option ls_options[] = {
        { "all",        'a', NULL,        "include sandboxes that have ended",               OPTION_OWN                           },
        { "quiet",      'q', NULL,        "ids only",                                 OPTION_FLAG(Common, quiet)           },
        { "no-trunc",   0,   NULL,        "whole ids in the table",     OPTION_OWN                           },
        { "names",      0,   NULL,        "names only; the id of one without a name", OPTION_OWN                           },
        { "status",     's', "STATUS",    "only those in this state, as in running",  QUERY_TEXT("status")                 },
        { "name",       'n', "NAME",      "only the sandbox with this name",                QUERY_TEXT("name")                   },
        { "agent-type", 0,   "TYPE",      "only those of this agent type",         QUERY_TEXT("agentType")              },
        { "task-id",    0,   "ID",        "only those of this task",                  QUERY_TEXT("taskId")                 },
        { "metadata",   'm', "KEY=VALUE", "only those with it; can be repeated",   QUERY_PAIR("metadata", METADATA_MAX) },
        OPTION_INSTEAD("filter", 'f', "FILTER", "write --status, --name, --agent-type, --task-id or --metadata KEY=VALUE"),
        OPTION_INSTEAD("format", 0, "FORMAT", "write --json, and choose with jq"),
        OPTION_INSTEAD("latest", 'l', NULL, "the newest is the last line: cove ls -q | tail -n 1"),
};

static void cell_state(Table *t, const json_t *sandbox, const Column *c) {
        const char *status = json_get_text(sandbox, "status");

        table_cell_colour(t, json_get_bool(sandbox, "parked") ? "paused (disk)" : status, colour_of_status(status));
}

static void cell_expiry(Table *t, const json_t *sandbox, const Column *c) {
        const char *what = json_get_text_or(sandbox, "onTimeout", "kill");
        char text[HUMAN_MAX];
        usec_t then, now = clock_wall_usec();

        if (human_parse_time(json_get_text(sandbox, c->key), &then) < 0)
                table_cell(t, NULL);
        else
                table_cell_format(t, "%s in %s", what, human_span(then > now ? then - now : 0, text));
}

static const Column ls_columns[] = {
        { "ID", "id", cell_id }, { "NAME", "name" }, { "STATUS", "status", cell_state }, { ">AGE", "created_at", cell_age },
        { "TEMPLATE", "template" }, { ">MEMORY", "limits.memoryMB", cell_megabytes },
        { ">COMMANDS", "executions.running", cell_of, .unit = "executions.total" }, { "AGENT", "agent_type" }, { "TASK", "task_id" }, { "TIMEOUT", "expires_at", cell_expiry },
};

/* Leaves ended sandboxes out, unless the caller selects states: --json has always had all of them. */
static int ls_leave_out_ended(Common *o) {
        static const Option status = { "status", .key = "status" };

        return common_query(o, "status") ? 0 : query_text(&status, o, "initializing,ready,running,paused,stopped,terminating", /* reterr= */ NULL);
}

static int ls_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;

        if (!o->json && !common_said(o, "all") && ls_leave_out_ended(o) < 0)
                return verb_refuse("out of memory");
        if (common_said(o, "names") && !o->json && !o->quiet)
                return ask_rows(place, o, words, ls_print_names);
        return ask_run(place, o, words);
}

const Verb command_ls = {
        .synopsis = "ls [options]",
        .about = "Lists the sandboxes that have not ended, in the order of their creation.",
        .more = "With --json, sandboxes that have ended are included.\n\nExample: cove rm -f $(cove ls -q --status failed)",
        VERB_OPTIONS(ls_options), .run = ls_run, .path = "/api/sandbox/list", .pages = true, .quiet = "id", VERB_COLUMNS(ls_columns),
};
