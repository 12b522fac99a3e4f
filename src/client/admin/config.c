/* cove config: checks, shows and reloads the configuration. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

static const Option show_options[] = {
        { "defaults", 0, NULL, "print a file with all defaults instead, with comments", OPTION_OWN },
};

static int client_config_check(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        char *argv[] = { (char *) "coved", (char *) "--check-config", words->n > 0 ? words->items[0] : (char *) "",
                         o->json ? (char *) "--json" : NULL, NULL };

        return verb_become_coved("config", argv);
}

static int client_config_show(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_url_ Url u = url_of("/api/config?format=%s", o->json ? NULL : "yaml");
        _cleanup_answer_ Answer a = { 0 };

        if (common_said(o, "defaults")) {
                char *argv[] = { (char *) "coved", (char *) "--default-config", NULL };

                return verb_become_coved("config", argv);
        }
        if (client_transfer(place, &REQUEST(.path = url_text(&u), .accept = "application/json"),
                            /* error= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->json)
                answer_print(&a);
        else
                fputs(a.text, stdout);
        return 0;
}

static void print_reloaded(const json_t *answer) {
        const json_t *name;
        size_t i;

        printf("✓ %s: %s\n", json_get_text_or(answer, "path", "no config file"), json_get_text_or(answer, "changes", "?"));
        json_array_foreach(json_object_get(answer, "restartNeeded"), i, name)
                printf("  daemon.%s waits for a restart\n", json_string_value(name));
}

/* Prints complaints as `config check` does. */
static void client_config_print_complaints(const json_t *errors) {
        const json_t *entry;
        size_t i;

        json_array_foreach(errors, i, entry)
                printf("✗ %s: %s\n", json_get_text_or(entry, "field", "?"), json_get_text_or(entry, "message", "?"));
        printf("the running configuration stays\n");
}

static int config_reload(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_answer_ Answer a = { 0 };
        const json_t *errors;

        if (client_try(place, "POST", /* body= */ NULL, &a, "/api/config/reload") < 0)
                return EXIT_OWN_FAILURE;
        errors = json_object_get(json_object_get(a.json, "error"), "errors");
        if (o->json && a.json)
                answer_print(&a);
        else if (answer_is_good(&a))
                print_reloaded(a.json);
        else if (json_array_size(errors) > 0)
                client_config_print_complaints(errors);
        else
                (void) answer_tell(&a);
        return answer_is_good(&a) ? 0 : json_array_size(errors) > 0 ? 1 : EXIT_OWN_FAILURE;
}

static const Verb config_parts[] = {
        { "check", "config check [FILE] [options]", "Looks for mistakes in a config file; no daemon is needed. Exit status: 0 good, 1 not.",
          .more = "Without FILE: /etc/cove/cove.yaml, for a plain user ~/.config/cove/cove.yaml.", .operands_max = 1,
          .run = client_config_check },
        { "show", "config show [options]", "Prints the daemon's current configuration with defaults; secrets are not shown.",
          .more = "Example: cove config show --defaults > cove.yaml", VERB_OPTIONS(show_options), .run = client_config_show },
        { "reload", "config reload [options]", "Makes the daemon read its config file again. If it has a mistake, nothing changes.",
          .run = config_reload },
};

const Verb command_config = {
        .name = "config",
        .about = "Checks the config file, shows the current configuration, makes the daemon read the file again.",
        VERB_PARTS(config_parts),
};
