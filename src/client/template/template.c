/* cove template: the templates that sandboxes start from. */

#include "client/template/template.h"

#include <stdio.h>
#include <string.h>

#include "client/human.h"
#include "client/verbs.h"

#define MAKING_OPTIONS                                                                                                      \
        { "detach", 'd', NULL, "do not wait: print the id of the job", OPTION_FLAG(TemplateOptions, look.detach) },        \
        { "quiet",  'q', NULL, "no log, no progress",                   OPTION_FLAG(TemplateOptions, look.quiet)  }

#define AUTH_OPTIONS                                                                                                        \
        { "user",           'u', "NAME", "user for the login; the password is COVE_REGISTRY_PASSWORD", OPTION_TEXT(TemplateOptions, user) }, \
        { "password-stdin", 0,   NULL,   "read the password from stdin", OPTION_FLAG(TemplateOptions, password_stdin)      }

static const Option tenant_options[] = {
        { "tenant", 0, "TENANT", "another tenant's (admins only)", QUERY_TEXT("tenant") },
};
static const Option gc_options[] = {
        { "dry-run", 'n', NULL, "only show what would be removed", OPTION_FLAG(TemplateOptions, dry_run) },
        MAKING_OPTIONS,
};
static const Option pull_options[] = {
        { "name",     0, "NAME[:TAG]", "name of the template (default: its name there)", BODY_TEXT("name")     },
        { "platform", 0, "OS/ARCH",    "platform other than this machine's",                       BODY_TEXT("platform") },
        AUTH_OPTIONS,
        MAKING_OPTIONS,
};
static const Option making_options[] = { MAKING_OPTIONS };
static const Option push_options[] = { AUTH_OPTIONS, MAKING_OPTIONS };
static const Option build_options[] = {
        { "tag",       't', "NAME[:TAG]", "name of the template",                   OPTION_TEXT(TemplateOptions, tag)      },
        { "file",      'f', "FILE",       "use instead of DIR/Dockerfile or DIR/cove-template.yaml", OPTION_TEXT(TemplateOptions, file)     },
        { "recipe",    0,   "RECIPE",     "a recipe that comes with cove, instead of DIR",    OPTION_TEXT(TemplateOptions, recipe)   },
        { "build-arg", 0,   "NAME[=VALUE]", "set an ARG of the Dockerfile; default: the caller's value", template_argument, OPTION_FIELD(TemplateOptions, arguments) },
        { "target",    0,   "STAGE",      "stop at this stage (default: the last)",              OPTION_TEXT(TemplateOptions, target)   },
        { "no-cache",  0,   NULL,         "run every step again",                                 OPTION_FLAG(TemplateOptions, no_cache) },
        { "allow",     0,   "RULE",       "allow a destination for the steps, as in `cove create`;\nhttp://NAME permits HTTP without TLS, as apt uses it;\ncan be repeated", OPTION_WORDS(TemplateOptions, allow, 256) },
        { "network",   0,   "MODE",       "network of the steps: none, packages, open, or JSON\n(default: build.network)", OPTION_TEXT(TemplateOptions, network) },
        MAKING_OPTIONS,
};

static void cell_digest(Table *t, const json_t *item, const Column *c) {
        table_cell_format(t, "%.12s", json_get_text_or(item, c->key, "sha256:?") + strlen("sha256:"));
}

static void cell_source(Table *t, const json_t *item, const Column *c) {
        bool usable = !json_get_text(item, "problem");

        table_cell_colour(t, usable ? json_get_text(item, c->key) : "cannot be used", usable ? COLOUR_NONE : COLOUR_RED);
}

static const Column template_columns[] = {
        { "TEMPLATE", "reference" }, { "DIGEST", "digest", cell_digest }, { ">SIZE", "bytes", cell_size }, { ">SHARED", "sharedBytes", cell_size },
        { ">AGE", "updatedAt", cell_age }, { "TENANT", "tenant" }, { "FROM", "source", cell_source },
};

static const Column recipe_columns[] = { { "RECIPE", "name" }, { "ABOUT", "about" } };

/* Inspect. */

static void print_layers(const json_t *layers) {
        const json_t *layer;
        char size[HUMAN_MAX];
        size_t i;

        json_array_foreach(layers, i, layer)
                printf("%-14s %.19s  %s\n", i == 0 ? "layers" : "", json_get_text_or(layer, "digest", json_get_text_or(layer, "chain", "?")),
                                human_size(json_get_number(layer, "size", 0), size));
}

static void print_template(const json_t *t, const char *word) {
        static const char *const first[] = { "reference", "digest", "source", "base", "createdAt", "updatedAt", "problem" };
        char size[HUMAN_MAX], shared[HUMAN_MAX];
        const json_t *sandbox;
        const char *key;
        json_t *value;
        size_t i;

        for (i = 0; i < ELEMENTSOF(first); i++)
                if (json_has(t, first[i]))
                        human_member("", 14, first[i], json_object_get(t, first[i]));
        printf("%-14s %s, of which %s are shared\n", "size", human_size(json_get_number(t, "bytes", 0), size),
                        human_size(json_get_number(t, "sharedBytes", 0), shared));
        print_layers(json_object_get(t, "layers"));
        json_object_foreach(json_object_get(t, "config"), key, value)
                if (!json_is_null(value) && json_array_size(value) + json_object_size(value) + (size_t) json_is_string(value) + (size_t) json_is_number(value) > 0)
                        human_member("", 14, key, value);
        printf("%-14s %lld\n", "sandboxes", json_count(t, "sandboxCount"));
        json_array_foreach(json_object_get(t, "sandboxes"), i, sandbox)
                printf("%-14s %s\n", "", json_text_of(sandbox));
}

/* Clean-up. */

static void print_waste(const json_t *waste, const char *word) {
        char bytes[HUMAN_MAX], blobs[HUMAN_MAX], size[HUMAN_MAX];
        const json_t *item;
        size_t i;

        json_array_foreach(json_object_get(waste, "items"), i, item)
                printf("%-9s %.24s  %s\n", json_get_text_or(item, "kind", "?"), json_get_text_or(item, "name", "?"),
                                human_size(json_get_number(item, "bytes", 0), size));
        printf("%lld layers of %s and %lld blobs of %s would go\n", json_count(waste, "layers"),
                        human_size(json_get_number(waste, "bytes", 0), bytes), json_count(waste, "blobs"),
                        human_size(json_get_number(waste, "blobBytes", 0), blobs));
}

static int template_collect(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };

        json_put_bool(&o->common.body, "dryRun", o->dry_run);
        if (ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        return o->dry_run ? ask_show(&o->common, words, &a) : making_follow(place, &a, &o->look, o->common.json);
}

static const Verb template_parts[] = {
        { "ls", "template ls [options]", "Lists the templates. SHARED is how much of SIZE other templates share.", VERB_OPTIONS(tenant_options),
          .path = "/api/templates?limit=10000", VERB_COLUMNS(template_columns) },
        { "inspect", "template inspect NAME[:TAG] [options]",
          "Shows the layers and the configuration of a template, and the sandboxes that use it.",
          .more = "Twelve or more digits of the digest can stand for the name.", VERB_OPTIONS(tenant_options), VERB_ONE("no template given"),
          .path = "/api/templates/%", .show = print_template },
        { "rm", "template rm NAME[:TAG]… [options]", "Removes templates. Sandboxes that use them continue; unused layers are removed later.",
          VERB_OPTIONS(tenant_options), VERB_SOME("no template given"), VERB_DELETE("/api/templates/%") },
        { "pull", "template pull IMAGE [options]", "Gets an image from a registry; existing layers are not fetched again.",
          .more = "IMAGE is [HOST[:PORT]/]NAME[:TAG][@DIGEST]; the default host is docker.io.\n\n"
                  "Example: cove template pull python:3.12-slim",
          VERB_OPTIONS(pull_options), VERB_ONE("no image given"), VERB_RUN(template_transfer, TemplateOptions), VERB_POST("/api/templates/pull"),
          .operand = "image" },
        { "import", "template import NAME[:TAG] FILE|DIR|- [options]",
          "Creates a template from an OCI layout, `docker save` output, a root directory or a tar of one.",
          .more = "Example: docker save alpine | cove template import alpine -", VERB_OPTIONS(making_options),
          VERB_TWO("no template given", "no archive given"), VERB_RUN(template_import, TemplateOptions) },
        { "build", "template build -t NAME[:TAG] [options] DIR",
          "Creates a template from a Dockerfile or a recipe in YAML, each step in a sandbox.",
          .more = "Steps that were run before are not run again. Ctrl-C cancels the build.\n\n"
                  "DIR is sent except what DIR/.dockerignore names. -: reads the Dockerfile or recipe from stdin.\n\n"
                  "Examples: cove template build -t app:1 .\n"
                  "          cove template build -t py --recipe python --allow http://deb.debian.org\n"
                  "          echo 'FROM host' | cove template build -t mine -",
          VERB_OPTIONS(build_options), .operands_max = 1, VERB_RUN(template_build, TemplateOptions) },
        { "recipes", "template recipes [NAME] [options]", "Lists the recipes that come with cove, or shows one.", .operands_max = 1,
          .run = template_recipes, .path = "/api/templates/recipes", VERB_COLUMNS(recipe_columns) },
        { "push", "template push NAME[:TAG] IMAGE [options]", "Sends a template to a registry.",
          .more = "Example: cove template push app:1 registry.lan:5000/team/app:1", VERB_OPTIONS(push_options),
          VERB_TWO("no template given", "no image given"), VERB_RUN(template_transfer, TemplateOptions), VERB_POST("/api/templates/%/push"),
          .operand = "reference" },
        { "gc", "template gc [options]", "Removes unused layers, blobs and cached build steps.", VERB_OPTIONS(gc_options),
          VERB_RUN(template_collect, TemplateOptions), VERB_POST("/api/templates/gc"), .show = print_waste },
};

const Verb command_template = {
        .name = "template",
        .about = "Gets, builds, lists and removes templates, the initial root directories of sandboxes.",
        VERB_PARTS(template_parts),
};
