/* cove approvals: what sandboxes ask for, and the answers. */

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct ApprovalsOptions {
        Common common;
        const char *status, *limit, *scope;
        bool watch;
} ApprovalsOptions;

APPLY_TEXT(ApprovalsOptions, status)
APPLY_TEXT(ApprovalsOptions, limit)
APPLY_TEXT(ApprovalsOptions, scope)
APPLY_FLAG(ApprovalsOptions, watch)

static const Option ls_options[] = {
        { "status", 0, "STATUS", "open, allowed, denied or expired (default: all)",  apply_status },
        { "limit",  0, "N",      "so many, the newest (default: 100)",               apply_limit  },
        { "watch",  0, NULL,     "go on, and print each one that is asked for",       apply_watch  },
        COMMON_OPTIONS,
};

static const Option allow_options[] = {
        { "scope", 0, "SCOPE", "once (default), sandbox, or profile: also for later\nsandboxes of the same profile", apply_scope },
        COMMON_OPTIONS,
};

static const Option deny_options[] = { COMMON_OPTIONS };

static const Usage ls_usage = {
        .synopsis = "approvals ls [options]",
        .about = "Lists what sandboxes wanted to reach and had to ask for, the newest first.",
        USAGE_OPTIONS(ls_options),
};

static const Usage allow_usage = {
        .synopsis = "approvals allow ID… [options]",
        .about = "Lets it pass.",
        USAGE_OPTIONS(allow_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no approval given",
};

static const Usage deny_usage = {
        .synopsis = "approvals deny ID… [options]",
        .about = "Refuses it.",
        USAGE_OPTIONS(deny_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no approval given",
};

static Colour approvals_colour_of(const char *status) {
        if (strcmp(status, "open") == 0)
                return COLOUR_YELLOW;
        return strcmp(status, "allowed") == 0 ? COLOUR_GREEN : strcmp(status, "denied") == 0 ? COLOUR_RED : COLOUR_FAINT;
}

static void approvals_cell_age(Table *t, const json_t *object, const char *key) {
        const char *text = json_get_text(object, key);
        char buffer[HUMAN_MAX];
        usec_t at;

        if (text && human_parse_time(text, &at) >= 0)
                table_cell(t, human_span(human_now() > at ? human_now() - at : 0, buffer));
        else
                table_cell(t, NULL);
}

static void approvals_add_row(Table *t, const json_t *a) {
        const char *status = json_get_text_or(a, "status", "");

        table_cell(t, json_get_text(a, "id"));
        table_cell_colour(t, status, approvals_colour_of(status));
        approvals_cell_age(t, a, "askedAt");
        table_cell(t, json_get_text(a, "sandbox"));
        table_cell(t, json_get_text(a, "object"));
        table_cell(t, json_get_text(a, "scope"));
        table_cell(t, json_get_text(a, "by"));
}

static int approvals_ask(const Place *place, const ApprovalsOptions *o, const char *status, Answer *ret) {
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/approvals");
        url_query(&u, "status", status);
        url_query(&u, "limit", o->limit);
        return client_need(place, /* method= */ NULL, &u, /* body= */ NULL, ret);
}

static void print_one(const ApprovalsOptions *o, const json_t *a) {
        _cleanup_free_ char *raw = o->common.json ? client_json_print(a, /* pretty= */ false) : NULL;
        _cleanup_free_ char *object = human_clean(json_get_text_or(a, "object", ""));

        if (raw)
                puts(raw);
        else
                printf("%s\t%s\t%s\n", json_get_text_or(a, "id", ""), json_get_text_or(a, "sandbox", ""), object ? object : "");
        (void) fflush(stdout);
}

/* Everything that is open and was not printed before: the list comes newest first, and ids that were seen are remembered for as long as
 * they are in it. */
static int approvals_watch(const Place *place, const ApprovalsOptions *o) {
        _cleanup_json_ json_t *seen = json_object();

        for (;;) {
                _cleanup_answer_ Answer a = { 0 };
                json_t *now = json_object();

                if (!seen || !now || approvals_ask(place, o, "open", &a) < 0) {
                        json_decref(now);
                        return EXIT_OWN_FAILURE;
                }
                for (size_t i = json_array_size(a.json); i-- > 0;) {
                        const json_t *item = json_array_get(a.json, i);
                        const char *id = json_get_text_or(item, "id", "");

                        if (!json_object_get(seen, id))
                                print_one(o, item);
                        (void) json_object_set_new(now, id, json_true());
                }
                json_decref(seen);
                seen = now;
                (void) sleep(1);
        }
}

static int approvals_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "STATUS", ">AGE", "SANDBOX", "WHAT", "SCOPE", "BY", NULL };
        const ApprovalsOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };

        if (o->watch)
                return approvals_watch(place, o);
        if (approvals_ask(place, o, o->status, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, approvals_add_row);
}

static int approvals_answer_one(const Place *place, const ApprovalsOptions *o, const char *id, bool allow) {
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_bool(&b, "allow", allow);
        json_put_text(&b, "scope", o->scope);
        url_begin(&u, "/api/approvals");
        url_part(&u, id);
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(id);
        return 0;
}

static int answer_all(const Place *place, const ApprovalsOptions *o, const Operands *words, bool allow) {
        int status = 0;

        for (unsigned i = 0; i < words->n; i++)
                if (approvals_answer_one(place, o, words->items[i], allow) != 0)
                        status = EXIT_OWN_FAILURE;
        return status;
}

static int approvals_allow(const Place *place, void *options, const Operands *words) {
        return answer_all(place, options, words, /* allow= */ true);
}

static int approvals_deny(const Place *place, void *options, const Operands *words) {
        return answer_all(place, options, words, /* allow= */ false);
}

int verb_approvals(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "ls", &ls_usage, approvals_list },
                { "allow", &allow_usage, approvals_allow },
                { "deny", &deny_usage, approvals_deny },
        };
        ApprovalsOptions o = { 0 };
        bool none = argc < 2 || (argv[1][0] == '-' && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0);

        if (none) { /* the name of the verb stands for "ls" */
                _cleanup_place_ Place place = { 0 };
                Operands words;
                int status;

                if (usage_begin(&ls_usage, argc, argv, &o, &words, &place, &status) == 0)
                        status = approvals_list(&place, &o, &words);
                return status;
        }
        return subverb_run("approvals", "Shows what sandboxes ask for (ls, the default), and answers.", subverbs, ELEMENTSOF(subverbs), argc, argv,
                        &o);
}
