/* cove version: the versions of cove and, if there is one, of the daemon. */

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"
#include "config.h"

/* {"client": …, "daemon": what it says or null} */
static void version_print_json(const Answer *a) {
        int n = answer_length(a);

        printf("{\"client\":\"%s\",\"daemon\":%.*s}\n", COVE_VERSION, n > 0 ? n : 4, n > 0 ? a->text : "null");
}

static void version_print_text(const Answer *a, const Place *place) {
        const json_t *missing = json_object_get(a->json, "guardsMissing"), *guard;
        size_t i;

        printf("cove %s\n", COVE_VERSION);
        if (!a->json)
                return;
        human_line("coved %s, API %lld, provider %s, at %s", json_get_text_or(a->json, "version", "?"),
                        json_count(a->json, "api"), json_get_text_or(a->json, "provider", "?"),
                        place->label);
        json_array_foreach(missing, i, guard)
                printf("%s%s", i == 0 ? "guards missing: " : ", ", json_text_of(guard) ? json_text_of(guard) : "?");
        if (json_array_size(missing) > 0)
                printf("\n");
}

/* A missing daemon is no failure, unless an option names its place. */
static int version_run(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = url_of("/api/version");
        Error error = { 0 };
        int r, status = 0;

        r = client_ask(place, /* method= */ NULL, &u, /* body= */ NULL, &a, &error);
        if (r >= 0 && !answer_is_good(&a)) {
                answer_tell(&a);
                answer_done(&a);
                status = EXIT_OWN_FAILURE;
        } else if (r < 0 && (place->given || r != -ENOENT)) {
                log_error("%s", error.text);
                status = EXIT_OWN_FAILURE;
        }
        if (c->json)
                version_print_json(&a);
        else
                version_print_text(&a, place);
        return status;
}

const Verb command_version = {
        .synopsis = "version [options]",
        .about = "Prints the version of cove, and that of the daemon if one is running.",
        .run = version_run,
};
