/* cove ls: the sandboxes of a daemon. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/listing.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

#define METADATA_MAX 64

typedef struct LsOptions {
        Common common;
        bool quiet, names;
        ListFilter filter;
} LsOptions;

APPLY_FLAG(LsOptions, quiet)
APPLY_FLAG(LsOptions, names)

static int ls_apply_status(void *target, const char *value, Error *reterr) {
        ((LsOptions *) target)->filter.status = value;
        return 0;
}

static int ls_apply_agent_type(void *target, const char *value, Error *reterr) {
        ((LsOptions *) target)->filter.agent_type = value;
        return 0;
}

static int ls_apply_task_id(void *target, const char *value, Error *reterr) {
        ((LsOptions *) target)->filter.task_id = value;
        return 0;
}

static int ls_apply_name(void *target, const char *value, Error *reterr) {
        ((LsOptions *) target)->filter.name = value;
        return 0;
}

static int ls_apply_metadata(void *target, const char *value, Error *reterr) {
        if (value[0] == '=' || !strchr(value, '='))
                return error_set(reterr, -EINVAL, "--metadata: '%s' is not KEY=VALUE", value);
        if (strv_push(&((LsOptions *) target)->filter.metadata, value) < 0)
                return error_set(reterr, -E2BIG, "--metadata: more than %d of them", METADATA_MAX);
        return 0;
}

static const Option ls_options[] = {
        { "quiet",      'q', NULL,        "ids only",                                  apply_quiet      },
        { "names",      0,   NULL,        "names only; the id of one without a name",  apply_names      },
        { "status",     's', "STATUS",    "only those in this state, as in running",   ls_apply_status     },
        { "name",       'n', "NAME",      "only the one of this name",                 ls_apply_name       },
        { "agent-type", 0,   "TYPE",      "only those of this type of agent",          ls_apply_agent_type },
        { "task-id",    0,   "ID",        "only those of this task",                   ls_apply_task_id    },
        { "metadata",   'm', "KEY=VALUE", "only those with it; may be given again",    ls_apply_metadata   },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "ls [options]",
        .about = "Lists the sandboxes, in the order in which they were made.",
        .more = "Example: cove rm -f $(cove ls -q --status failed)",
        USAGE_OPTIONS(ls_options),
};

static int print_id(const json_t *sandbox, void *userdata) {
        puts(json_get_text_or(sandbox, "id", ""));
        return 0;
}

static int print_name(const json_t *sandbox, void *userdata) {
        puts(sandbox_label(sandbox));
        return 0;
}

static void ls_cell_age(Table *t, const json_t *sandbox) {
        char text[HUMAN_MAX];
        usec_t then, now = human_now();

        if (human_parse_time(json_get_text(sandbox, "created_at"), &then) < 0)
                table_cell(t, NULL);
        else
                table_cell(t, human_span(now > then ? now - then : 0, text));
}

static void cell_expiry(Table *t, const json_t *sandbox) {
        const char *what = json_get_text_or(sandbox, "onTimeout", "kill");
        char text[HUMAN_MAX];
        usec_t then, now = human_now();

        if (human_parse_time(json_get_text(sandbox, "expires_at"), &then) < 0)
                table_cell(t, NULL);
        else
                table_cell_format(t, "%s in %s", what, human_span(then > now ? then - now : 0, text));
}

static int ls_add_row(const json_t *sandbox, void *userdata) {
        const char *status = json_get_text(sandbox, "status");
        const json_t *executions = json_object_get(sandbox, "executions");
        Table *t = userdata;

        table_cell(t, json_get_text(sandbox, "id"));
        table_cell(t, json_get_text(sandbox, "name"));
        table_cell_colour(t, json_get_bool(sandbox, "parked") ? "paused (disk)" : status, colour_of_status(status));
        ls_cell_age(t, sandbox);
        table_cell_format(t, "%lld/%lld", (long long) json_get_integer(executions, "running", 0),
                        (long long) json_get_integer(executions, "total", 0));
        table_cell(t, json_get_text(sandbox, "agent_type"));
        table_cell(t, json_get_text(sandbox, "task_id"));
        cell_expiry(t, sandbox);
        return 0;
}

static int ls_print_table(const Listing *l) {
        static const char *const heads[] = { "ID", "NAME", "STATUS", ">AGE", ">COMMANDS", "AGENT", "TASK", "TIMEOUT", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);

        if (!t || listing_each(l, ls_add_row, t) < 0 || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

static int ls_show(const LsOptions *o, const Listing *l) {
        if (o->common.json)
                listing_print_json(l);
        else if (o->quiet)
                (void) listing_each(l, print_id, /* userdata= */ NULL);
        else if (o->names)
                (void) listing_each(l, print_name, /* userdata= */ NULL);
        else
                return ls_print_table(l);
        return 0;
}

int verb_ls(int argc, char **argv) {
        LsOptions o = { .filter.metadata = STRV_INIT(METADATA_MAX) };
        _cleanup_listing_ Listing l = { 0 };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = listing_get(&place, &o.filter, &l) < 0 ? EXIT_OWN_FAILURE : ls_show(&o, &l);
        strv_done(&o.filter.metadata);
        return status;
}
