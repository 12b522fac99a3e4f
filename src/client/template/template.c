/* cove template: what sandboxes start from. */

#include "client/template/template.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/several.h"
#include "client/verbs.h"

APPLY_FLAG(TemplateOptions, dry_run)
APPLY_TEXT(TemplateOptions, tenant)

int template_apply_detach(void *target, const char *value, Error *reterr) {
        ((TemplateOptions *) target)->look.detach = true;
        return 0;
}

int template_apply_quiet(void *target, const char *value, Error *reterr) {
        ((TemplateOptions *) target)->look.quiet = true;
        return 0;
}

static const Option tenant_options[] = {
        { "tenant", 0, "NAME", "another tenant's (admins only)", apply_tenant },
        COMMON_OPTIONS,
};
static const Option gc_options[] = {
        { "dry-run", 'n', NULL, "only show what would go", apply_dry_run },
        TEMPLATE_MAKING_OPTIONS,
        COMMON_OPTIONS,
};

static const Usage ls_usage = {
        .synopsis = "template ls [options]",
        .about = "Lists the templates. SHARED is what of SIZE other templates have too.",
        USAGE_OPTIONS(tenant_options),
};

static const Usage inspect_usage = {
        .synopsis = "template inspect NAME[:TAG] [options]",
        .about = "Tells all about a template: its layers, its configuration, and the sandboxes that stand on it.",
        .more = "Instead of the name, twelve or more digits of its digest will do.",
        USAGE_OPTIONS(tenant_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no template given",
};

static const Usage rm_usage = {
        .synopsis = "template rm NAME[:TAG]… [options]",
        .about = "Removes templates. Sandboxes that stand on them go on; layers go when nobody needs them.",
        USAGE_OPTIONS(tenant_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no template given",
};

static const Usage gc_usage = {
        .synopsis = "template gc [options]",
        .about = "Removes layers, blobs and steps of builds that nothing needs any more.",
        USAGE_OPTIONS(gc_options),
};

static void cell_bytes(Table *t, const json_t *o, const char *key) {
        char text[HUMAN_MAX];

        table_cell(t, human_size((double) json_get_integer(o, key, 0), text));
}

static void client_template_add(Table *t, const json_t *item) {
        const char *digest = json_get_text_or(item, "digest", "sha256:?"), *problem = json_get_text(item, "problem");
        char age[HUMAN_MAX];
        usec_t at;

        table_cell(t, json_get_text(item, "reference"));
        table_cell_format(t, "%.12s", digest + strlen("sha256:"));
        cell_bytes(t, item, "bytes");
        cell_bytes(t, item, "sharedBytes");
        if (human_parse_time(json_get_text_or(item, "updatedAt", ""), &at) >= 0)
                table_cell(t, human_span(human_now() > at ? human_now() - at : 0, age));
        else
                table_cell(t, NULL);
        table_cell(t, json_get_text(item, "tenant"));
        if (problem)
                table_cell_colour(t, "cannot be used", COLOUR_RED);
        else
                table_cell(t, json_get_text(item, "source"));
}

static int template_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "TEMPLATE", "DIGEST", ">SIZE", ">SHARED", ">AGE", "TENANT", "FROM", NULL };
        const TemplateOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/templates");
        url_query(&u, "tenant", o->tenant);
        url_query_number(&u, "limit", 10000);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, client_template_add);
}

/* Inspect. */

static void print_value(const char *key, const json_t *value) {
        _cleanup_free_ char *text = json_is_string(value) ? human_clean(json_string_value(value)) : client_json_print(value, /* pretty= */ false);

        printf("%-14s %s\n", key, !value || json_is_null(value) ? "-" : text ? text : "?");
}

static void print_layers(const json_t *layers) {
        const json_t *layer;
        char size[HUMAN_MAX];
        size_t i;

        json_array_foreach(layers, i, layer)
                printf("%-14s %.19s  %s\n", i == 0 ? "layers" : "", json_get_text_or(layer, "digest", json_get_text_or(layer, "chain", "?")),
                                human_size(json_get_number(layer, "size", 0), size));
}

static void print_template(const json_t *t) {
        static const char *const first[] = { "reference", "digest", "source", "base", "createdAt", "updatedAt", "problem" };
        char size[HUMAN_MAX], shared[HUMAN_MAX];
        const json_t *sandbox;
        const char *key;
        json_t *value;
        size_t i;

        for (i = 0; i < ELEMENTSOF(first); i++)
                if (json_has(t, first[i]))
                        print_value(first[i], json_object_get(t, first[i]));
        printf("%-14s %s, of which %s are shared\n", "size", human_size(json_get_number(t, "bytes", 0), size),
                        human_size(json_get_number(t, "sharedBytes", 0), shared));
        print_layers(json_object_get(t, "layers"));
        json_object_foreach(json_object_get(t, "config"), key, value)
                if (!json_is_null(value) && json_array_size(value) + json_object_size(value) + (size_t) json_is_string(value) + (size_t) json_is_number(value) > 0)
                        print_value(key, value);
        printf("%-14s %lld\n", "sandboxes", (long long) json_get_integer(t, "sandboxCount", 0));
        json_array_foreach(json_object_get(t, "sandboxes"), i, sandbox)
                printf("%-14s %s\n", "", json_text_of(sandbox));
}

static int template_inspect(const Place *place, void *options, const Operands *words) {
        const TemplateOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/templates");
        url_part(&u, words->items[0]);
        url_query(&u, "tenant", o->tenant);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                print_template(a.json);
        return 0;
}

static int remove_templates(const Place *place, void *options, const Operands *words) {
        const TemplateOptions *o = options;
        _cleanup_free_ char *query = NULL;
        Several several = { .place = place, .method = "DELETE", .what = "/api/templates", .root = true, .json = o->common.json };

        if (o->tenant && asprintf(&query, "tenant=%s", o->tenant) < 0)
                return EXIT_OWN_FAILURE;
        several.query = query;
        return several_ask(&several, words->items, words->n);
}

/* Clean-up. */

static void print_waste(const json_t *waste) {
        char bytes[HUMAN_MAX], blobs[HUMAN_MAX], size[HUMAN_MAX];
        const json_t *item;
        size_t i;

        json_array_foreach(json_object_get(waste, "items"), i, item)
                printf("%-9s %.24s  %s\n", json_get_text_or(item, "kind", "?"), json_get_text_or(item, "name", "?"),
                                human_size(json_get_number(item, "bytes", 0), size));
        printf("%lld layers of %s and %lld blobs of %s would go\n", (long long) json_get_integer(waste, "layers", 0),
                        human_size(json_get_number(waste, "bytes", 0), bytes), (long long) json_get_integer(waste, "blobs", 0),
                        human_size(json_get_number(waste, "blobBytes", 0), blobs));
}

static int template_collect(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/templates/gc");
        json_put_bool(&b, "dryRun", o->dry_run);
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        o->look.json = o->common.json;
        if (!o->dry_run)
                return making_follow(place, &a, &o->look);
        if (o->common.json)
                answer_print(&a);
        else
                print_waste(a.json);
        return 0;
}

int verb_template(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "ls",      &ls_usage,              template_list             },
                { "inspect", &inspect_usage,         template_inspect          },
                { "rm",      &rm_usage,              remove_templates },
                { "pull",    &template_pull_usage,   template_pull    },
                { "import",  &template_import_usage, template_import  },
                { "build",   &template_build_usage,  template_build   },
                { "recipes", &template_recipes_usage, template_recipes },
                { "push",    &template_push_usage,   template_push    },
                { "gc",      &gc_usage,              template_collect          },
        };
        TemplateOptions o = TEMPLATE_OPTIONS_INIT;
        int status = subverb_run("template", "Gets, lists and removes templates: what sandboxes start from.", subverbs, ELEMENTSOF(subverbs), argc, argv, &o);

        strv_done(&o.arguments);
        strv_done(&o.allow);
        return status;
}
