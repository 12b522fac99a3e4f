/* cove key: API keys. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/sandbox/several.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct KeyOptions {
        Common common;
        const char *scope, *tenant;
        bool loosen;
} KeyOptions;

APPLY_TEXT(KeyOptions, scope)
APPLY_TEXT(KeyOptions, tenant)

static int apply_loosen(void *target, const char *value, Error *reterr) {
        ((KeyOptions *) target)->loosen = true;
        return 0;
}

static const Option create_options[] = {
        { "scope",  's', "SCOPE", "read, use (default) or admin",         apply_scope  },
        { "tenant", 't', "NAME",  "the tenant that it belongs to",        apply_tenant },
        { "loosen", 0,   NULL,    "it may ask for more than a profile allows", apply_loosen },
        COMMON_OPTIONS,
};

static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage create_usage = {
        .synopsis = "key create NAME [options]",
        .about = "Makes an API key and prints it. It is shown this once, and never again.",
        .more = "Example: COVE_API_KEY=$(cove key create ci --scope use)",
        USAGE_OPTIONS(create_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no name given",
};

static const Usage ls_usage = {
        .synopsis = "key ls [options]",
        .about = "Lists the API keys; of each, only the beginning is known.",
        USAGE_OPTIONS(plain_options),
};

static const Usage rm_usage = {
        .synopsis = "key rm ID… [options]",
        .about = "Removes API keys. They are refused from then on.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no key given",
};

static int key_create(const Place *place, void *options, const Operands *words) {
        const KeyOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_text(&b, "name", words->items[0]);
        json_put_text(&b, "scope", o->scope ? o->scope : "use");
        json_put_text(&b, "tenant", o->tenant);
        if (o->loosen)
                json_put_true(&b, "loosen");
        url_begin(&u, "/api/key");
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, "key", ""));
        return 0;
}

static void key_add_row(Table *t, const json_t *key) {
        table_cell(t, json_get_text(key, "id"));
        table_cell(t, json_get_text(key, "name"));
        table_cell(t, json_get_text(key, "scope"));
        table_cell(t, json_get_text(key, "tenant"));
        table_cell(t, json_get_text(key, "prefix"));
        table_cell(t, json_get_text(key, "createdAt"));
        table_cell(t, json_get_text_or(key, "lastUsedAt", "never"));
}

static int key_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "NAME", "SCOPE", "TENANT", "BEGINS", "MADE", "LAST USED", NULL };
        const KeyOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/key");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, key_add_row);
}

static int remove_keys(const Place *place, void *options, const Operands *words) {
        const KeyOptions *o = options;
        Several several = { .place = place, .method = "DELETE", .what = "/api/key", .root = true, .json = o->common.json };

        return several_ask(&several, words->items, words->n);
}

int verb_key(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "create", &create_usage, key_create },
                { "ls", &ls_usage, key_list },
                { "rm", &rm_usage, remove_keys },
        };
        KeyOptions o = { 0 };

        return subverb_run("key", "Makes, lists and removes API keys: for clients that reach the daemon by TCP.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
