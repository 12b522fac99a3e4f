/* cove fork, cove restore: many sandboxes out of one, and one back to what it was. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/strv.h"
#include "client/assign.h"
#include "client/client.h"
#include "client/usage.h"
#include "client/verbs.h"

#define FORK_MAX 500

typedef struct ForkOptions {
        Common common;
        JsonBuilder request;
        Strv names, env;
        bool snapshot;
} ForkOptions;

APPLY_FLAG(ForkOptions, snapshot)

static int client_fork_apply_count(void *target, const char *value, Error *reterr) {
        uint64_t n;
        int r = value_number("--count", value, 1, FORK_MAX, &n, reterr);

        if (r >= 0)
                json_put_integer(&((ForkOptions *) target)->request, "count", (int64_t) n);
        return r;
}

static int client_fork_apply_name(void *target, const char *value, Error *reterr) {
        if (strv_push(&((ForkOptions *) target)->names, value) < 0)
                return error_set(reterr, -E2BIG, "--name: more than %d of them", FORK_MAX);
        return 0;
}

static int client_fork_apply_env(void *target, const char *value, Error *reterr) {
        return assign_env(&((ForkOptions *) target)->env, "--env", value, reterr);
}

static int client_fork_apply_timeout(void *target, const char *value, Error *reterr) {
        usec_t usec;
        int r = value_duration("--timeout", value, &usec, reterr);

        if (r >= 0)
                json_put_number(&((ForkOptions *) target)->request, "timeoutSeconds", (double) usec / USEC_PER_SEC);
        return r;
}

static const Option fork_options[] = {
        { "count",    'c', "N",          "how many (default 1, or as many as names)", client_fork_apply_count },
        { "name",     'n', "NAME",       "of one of them; can be repeated", client_fork_apply_name },
        { "env",      'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's", client_fork_apply_env },
        { "timeout",  0,   "TIME",       "life of each (default: as long as the other's,\nfrom now on)", client_fork_apply_timeout },
        { "snapshot", 0,   NULL,         "the word is a snapshot, also if a sandbox has the\nsame name", apply_snapshot },
        COMMON_OPTIONS,
};

static const Usage fork_usage = {
        .synopsis = "fork SANDBOX|SNAPSHOT [options]",
        .about = "Makes sandboxes that begin with the files of a persistent one, as they are at this moment,\n"
                 "and prints their ids (their names, with --name). All of them are made, or none. What runs\n"
                 "in it is not copied.",
        .more = "Example: cove fork box --count 3",
        USAGE_OPTIONS(fork_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no sandbox given",
};

static const Option restore_options[] = { COMMON_OPTIONS };

static const Usage restore_usage = {
        .synopsis = "restore SANDBOX SNAPSHOT [options]",
        .about = "Puts a sandbox's files back to what a snapshot has. What runs in it ends; its id, name and\n"
                 "timeout stay.",
        .more = "Example: cove restore box before",
        USAGE_OPTIONS(restore_options),
        .operands_min = 2,
        .operands_max = 2,
        .missing = "no sandbox given",
        .missing_last = "no snapshot given",
};

static int print_ids(const ForkOptions *o, const Answer *a) {
        const json_t *sandbox;
        size_t i;

        if (o->common.json) {
                answer_print(a);
                return 0;
        }
        json_array_foreach(json_object_get(a->json, "sandboxes"), i, sandbox)
                puts(o->names.n > 0 ? json_get_text_or(sandbox, "name", "") : json_get_text_or(sandbox, "id", ""));
        return 0;
}

/* Sandboxes and snapshots may have the same names: the sandbox is meant, unless there is none. */
static bool is_snapshot(const Place *place, const char *word) {
        _cleanup_answer_ Answer sandbox = { 0 }, snapshot = { 0 };
        _cleanup_url_ Url u = { 0 }, to = { 0 };
        Error error = { 0 };

        url_sandbox(&u, word, /* what= */ NULL);
        if (client_ask(place, /* method= */ NULL, &u, /* body= */ NULL, &sandbox, &error) < 0 || sandbox.head.status != 404)
                return false;
        url_begin(&to, "/api/snapshots");
        url_part(&to, word);
        return client_ask(place, /* method= */ NULL, &to, /* body= */ NULL, &snapshot, &error) >= 0 && answer_is_good(&snapshot);
}

static int fork_it(const Place *place, ForkOptions *o, const Operands *words) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        if (o->names.n > 0)
                json_put_words(&o->request, "names", o->names.items, o->names.n);
        json_put_assignments(&o->request, "env", o->env.items, o->env.n);
        if (o->snapshot || is_snapshot(place, words->items[0])) {
                url_begin(&u, "/api/snapshots");
                url_part(&u, words->items[0]);
                url_part(&u, "fork");
        } else
                url_sandbox(&u, words->items[0], "fork");
        if (client_need(place, "POST", &u, &o->request, &a) < 0)
                return EXIT_OWN_FAILURE;
        return print_ids(o, &a);
}

int verb_fork(int argc, char **argv) {
        ForkOptions o = { .names = STRV_INIT(FORK_MAX), .env = STRV_INIT(ASSIGN_MAX) };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&fork_usage, argc, argv, &o, &words, &place, &status) == 0)
                status = fork_it(&place, &o, &words);
        json_builder_done(&o.request);
        strv_done(&o.names);
        strv_done(&o.env);
        return status;
}

typedef struct RestoreOptions {
        Common common;
} RestoreOptions;

static int restore(const Place *place, const RestoreOptions *o, const Operands *words) {
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_text(&body, "snapshot", words->items[1]);
        url_sandbox(&u, words->items[0], "restore");
        if (client_need(place, "POST", &u, &body, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(words->items[0]);
        return 0;
}

int verb_restore(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        RestoreOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&restore_usage, argc, argv, &o, &words, &place, &status) == 0)
                status = restore(&place, &o, &words);
        return status;
}
