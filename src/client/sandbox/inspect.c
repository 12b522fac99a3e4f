/* cove inspect: everything that the daemon knows about a sandbox, or about one of its commands. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

#define KEY_WIDTH 16

static void client_inspect_print_key(const char *key, unsigned depth) {
        int indent = (int) depth * 2;
        bool colours = colours_wanted(STDOUT_FILENO);

        printf("%*s%s%-*s%s ", indent, "", colours ? colour_on(COLOUR_FAINT) : "", KEY_WIDTH - indent, key,
                        colours ? colour_off() : "");
}

/* Prints a value on the rest of a line. */
static void print_scalar(const char *key, const json_t *value) {
        bool coloured = strcmp(key, "status") == 0 && colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *text = human_value(value);

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
                _cleanup_free_ char *text = human_value(word);

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

void show_members(const json_t *object, const char *word) {
        print_object(object, 0);
}

static const Verb inspect_execution_verb = { .path = "/api/sandbox/%/exec/%", .show = show_members };

static int inspect_run(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        _cleanup_answer_ Answer a = { 0 };

        if (words->n == 2)
                c->verb = &inspect_execution_verb;
        if (ask_need(place, c, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!json_get_text(a.json, "id")) /* the word is the name of another page of the API */
                return verb_refuse("there is no sandbox '%s'", words->items[0]);
        return ask_show(c, words, &a);
}

const Verb command_inspect = {
        .synopsis = "inspect SANDBOX [EXECUTION] [options]",
        .about = "Shows the details of a sandbox, or of one of its commands.",
        VERB_UP_TO(2, "no sandbox given"), .run = inspect_run, .path = "/api/sandbox/%", .show = show_members,
};
