/* cove inspect: all that the daemon knows of a sandbox, or of one of its commands. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/human.h"
#include "client/sandbox/inspect.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

#define KEY_WIDTH 16

typedef struct InspectOptions {
        Common common;
} InspectOptions;

static const Option inspect_options[] = { COMMON_OPTIONS };

static const Usage usage = {
        .synopsis = "inspect SANDBOX [EXECUTION] [options]",
        .about = "Tells all about a sandbox, or about one of its commands.",
        USAGE_OPTIONS(inspect_options),
        .operands_min = 1,
        .operands_max = 2,
        .missing = "no sandbox given",
};

static void client_inspect_print_key(const char *key, unsigned depth) {
        int indent = (int) depth * 2;
        bool colours = colours_wanted(STDOUT_FILENO);

        printf("%*s%s%-*s%s ", indent, "", colours ? colour_on(COLOUR_FAINT) : "", KEY_WIDTH - indent, key,
                        colours ? colour_off() : "");
}

/* A value on the rest of a line. */
static void print_scalar(const char *key, const json_t *value) {
        bool coloured = strcmp(key, "status") == 0 && colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *text = NULL;

        if (json_is_string(value))
                text = human_clean(json_string_value(value));
        else
                text = client_json_print(value, /* pretty= */ false);
        if (json_is_null(value) || (text && !*text))
                puts("-");
        else
                printf("%s%s%s\n", coloured ? colour_on(colour_of_status(text)) : "", text ? text : "?",
                                coloured ? colour_off() : "");
}

static void print_words(const json_t *list) {
        const json_t *word;
        size_t i;

        json_array_foreach(list, i, word) {
                _cleanup_free_ char *text = json_is_string(word) ? human_clean(json_string_value(word))
                                                                 : client_json_print(word, /* pretty= */ false);

                printf("%s%s", i > 0 ? " " : "", text ? text : "?");
        }
        puts(json_array_size(list) == 0 ? "-" : "");
}

static void print_object(const json_t *object, unsigned depth) {
        const char *key;
        json_t *value;

        json_object_foreach((json_t *) object, key, value) {
                _cleanup_free_ char *clean = human_clean(key);

                client_inspect_print_key(clean ? clean : "?", depth);
                if (json_is_object(value) && json_object_size(value) > 0) {
                        puts("");
                        print_object(value, depth + 1);
                } else if (json_is_object(value))
                        puts("-");
                else if (json_is_array(value))
                        print_words(value);
                else
                        print_scalar(key, value);
        }
}

void inspect_print(const json_t *object) {
        print_object(object, 0);
}

static int client_inspect(const Place *place, const InspectOptions *o, const Operands *words) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        if (words->n == 2)
                url_execution(&u, words->items[0], words->items[1], /* what= */ NULL);
        else
                url_sandbox(&u, words->items[0], /* what= */ NULL);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!json_get_text(a.json, "id")) {
                log_error("there is no sandbox '%s'", words->items[0]); /* it is the name of another page of the API */
                return EXIT_OWN_FAILURE;
        }
        if (o->common.json)
                answer_print(&a);
        else
                inspect_print(a.json);
        return 0;
}

int verb_inspect(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        InspectOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = client_inspect(&place, &o, &words);
        return status;
}
