/* cove why: why a sandbox does not get on. */

#include <stdio.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option why_options[] = {
        { "sample", 0, "TIME", "how long to look (default 500ms)", QUERY_MILLISECONDS("sampleMs") },
};

static void why_print_line(const char *mark, const char *text) {
        _cleanup_free_ char *clean = human_clean(text);

        printf("%s %s\n", mark, clean ? clean : "?");
}

static void print_evidence(const json_t *d) {
        const json_t *e = json_object_get(d, "evidence"), *value;
        const char *key;

        json_object_foreach((json_t *) e, key, value) {
                _cleanup_free_ char *text = human_value(value);

                if (!json_is_null(value))
                        printf("  %-24s %s\n", key, text ? text : "?");
        }
}

static void print_processes(const json_t *p) {
        _cleanup_free_ char *name = human_clean(json_get_text_or(p, "busiest", "-"));

        if (!json_is_object(p))
                return;
        printf("  %-24s %lld: %lld running, %lld sleeping, %lld blocked, %lld zombies\n", "processes",
                        (long long) json_get_integer(p, "total", 0), (long long) json_get_integer(p, "running", 0),
                        (long long) json_get_integer(p, "sleeping", 0), (long long) json_get_integer(p, "blocked", 0),
                        (long long) json_get_integer(p, "zombies", 0));
        if (json_has(p, "busiest"))
                printf("  %-24s %s (%s)\n", "busiest", name ? name : "?", json_get_text_or(p, "busiestState", "?"));
}

static void print_findings(const json_t *d) {
        const json_t *item;
        size_t i;

        json_array_foreach(json_object_get(d, "patterns"), i, item) {
                char line[256];

                (void) snprintf(line, sizeof(line), "\"%s\" in the output of %s: %s", json_get_text_or(item, "pattern", "?"),
                                json_get_text_or(item, "execution", "?"), json_get_text_or(item, "meaning", "?"));
                why_print_line("!", line);
        }
        json_array_foreach(json_object_get(d, "redFlags"), i, item)
                why_print_line("!", json_text_of(item) ? json_text_of(item) : "?");
}

static void why_show(const json_t *d, const char *word) {
        bool stuck = json_get_bool(d, "stuck"), colours = colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *summary = human_clean(json_get_text_or(d, "summary", "?"));

        printf("%s%s%s: %s\n", colours ? colour_on(stuck ? COLOUR_RED : COLOUR_GREEN) : "", json_get_text_or(d, "verdict", "?"),
                        colours ? colour_off() : "", summary ? summary : "?");
        print_evidence(d);
        print_processes(json_object_get(d, "processes"));
        print_findings(d);
        printf("→ %s\n", json_get_text_or(d, "suggestion", "-"));
}

const Verb command_why = {
        .synopsis = "why SANDBOX [options]",
        .about = "Looks twice at a sandbox and says what it does: busy loop, waiting, hung, memory growing,\n"
                 "too many processes, or nothing wrong; with the numbers, known words in its output, red\n"
                 "flags, and what to do. Exit status 1: it is stuck.",
        .more = "Example: cove why build-7",
        VERB_OPTIONS(why_options), VERB_ONE("no sandbox given"), .path = "/api/sandbox/%/diagnosis", .show = why_show, .good = "!stuck",
};
