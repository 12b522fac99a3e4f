/* cove why: explains why a sandbox makes no progress. */

#include <stdio.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option why_options[] = {
        { "sample", 0, "TIME", "time between the measurements (default 500ms)", QUERY_MILLISECONDS("sampleMs") },
};

static void print_evidence(const json_t *evidence) {
        const char *key;
        json_t *value;

        json_object_foreach((json_t *) evidence, key, value)
                if (!json_is_null(value))
                        human_member("  ", 24, key, value);
}

static void print_processes(const json_t *p) {
        if (!json_is_object(p))
                return;
        printf("  %-24s %lld: %lld running, %lld sleeping, %lld blocked, %lld zombies\n", "processes",
                        json_count(p, "total"), json_count(p, "running"),
                        json_count(p, "sleeping"), json_count(p, "blocked"),
                        json_count(p, "zombies"));
        if (json_has(p, "busiest"))
                human_line("  %-24s %s (%s)", "busiest", json_get_text_or(p, "busiest", "-"),
                                json_get_text_or(p, "busiestState", "?"));
}

static void print_findings(const json_t *d) {
        const json_t *item;
        size_t i;

        json_array_foreach(json_object_get(d, "patterns"), i, item)
                human_line("! \"%s\" in the output of %s: %s", json_get_text_or(item, "pattern", "?"),
                                json_get_text_or(item, "execution", "?"), json_get_text_or(item, "meaning", "?"));
        json_array_foreach(json_object_get(d, "redFlags"), i, item)
                human_line("! %s", json_text_of(item) ? json_text_of(item) : "?");
}

static void why_show(const json_t *d, const char *word) {
        bool stuck = json_get_bool(d, "stuck"), colours = colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *summary = human_clean(json_get_text_or(d, "summary", "?"));

        printf("%s%s%s: %s\n", colours ? colour_on(stuck ? COLOUR_RED : COLOUR_GREEN) : "", json_get_text_or(d, "verdict", "?"),
                        colours ? colour_off() : "", summary ? summary : "?");
        print_evidence(json_object_get(d, "evidence"));
        print_processes(json_object_get(d, "processes"));
        print_findings(d);
        human_line("→ %s", json_get_text_or(d, "suggestion", "-"));
}

const Verb command_why = {
        .synopsis = "why SANDBOX [options]",
        .about = "Measures a sandbox twice and reports its state: busy loop, waiting, hung, memory growing,\n"
                 "too many processes, or nothing wrong; with the numbers, known phrases in its output, warning\n"
                 "signs, and what to do. Exit status 1: it is stuck.",
        .more = "Example: cove why build-7",
        VERB_OPTIONS(why_options), VERB_ONE("no sandbox given"), .path = "/api/sandbox/%/diagnosis", .show = why_show, .good = "!stuck",
};
