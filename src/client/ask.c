#include "client/ask.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/program.h"
#include "base/word.h"
#include "client/sandbox/listing.h"
#include "client/verbs.h"
#include "client/waiting.h"

int verb_refuse(const char *format, ...) {
        char text[1024];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        log_error("%s", text);
        return EXIT_OWN_FAILURE;
}

int verb_become_coved(const char *verb, char **argv) {
        _cleanup_free_ char *path = NULL;
        int r = program_path("coved", &path);

        if (r >= 0) {
                (void) fflush(stdout);
                (void) execv(path, argv);
                r = -errno;
        }
        errno = -r;
        return verb_refuse("cannot start coved, which `cove %s` needs: %m%s", verb,
                        r == -ENOENT ? "; it belongs beside cove, or where it was installed" : "");
}

/* The question. */

static Url ask_url(const Common *c, const Operands *words) {
        Url u = url_fill(c->verb->path, words->items);

        for (size_t i = 0; i < c->queries.n; i++) {
                size_t n = strcspn(c->queries.items[i], "=");
                _cleanup_free_ char *name = strndup(c->queries.items[i], n);

                url_query(&u, name ? name : "", c->queries.items[i] + n + 1);
        }
        return u;
}

/* Takes the body from the table of verbs; options override it. */
static void ask_build_body(Common *c, const Operands *words) {
        const Verb *v = c->verb;
        _cleanup_json_ json_t *fixed = json_parse(v->body, strlen(v->body), /* reterr= */ NULL);

        if (!c->body.object)
                c->body.object = json_object();
        (void) json_object_update_missing(c->body.object, fixed);
        if (v->operand)
                json_put_text(&c->body, v->operand, words->items[words->n - 1]);
}

int ask_need(const Place *place, void *options, const Operands *words, Answer *ret) {
        Common *c = options;
        _cleanup_url_ Url u = ask_url(c, words);

        if (c->verb->body)
                ask_build_body(c, words);
        waiting_for(c->verb->waiting);
        if (c->verb->goes_on)
                farewell_set(/* leftover= */ NULL, "%s", c->verb->goes_on);
        return client_need(place, c->verb->method, &u, c->verb->body ? &c->body : NULL, ret);
}

int ask_receive(const Place *place, void *options, const Operands *words, const char *accept, HttpBody sink,
                void *sink_data, const Error *error) {
        _cleanup_url_ Url u = ask_url(options, words);

        return client_receive(place, &u, accept, sink, sink_data, error) < 0 ? EXIT_OWN_FAILURE : 0;
}

/* The answer. */

void show_nothing(const json_t *answer, const char *word) {
}

static void show_json(const json_t *answer, bool pretty) {
        _cleanup_free_ char *text = client_json_print(answer, pretty);

        puts(text ? text : "?");
}

void show_pretty(const json_t *answer, const char *word) {
        show_json(answer, /* pretty= */ true);
}

void show_compact(const json_t *answer, const char *word) {
        show_json(answer, /* pretty= */ false);
}

static int ask_status(const Verb *v, const json_t *answer) {
        bool negated = v->good && v->good[0] == '!';

        return !v->good || json_get_bool(answer, v->good + negated) != negated ? 0 : v->bad > 0 ? v->bad : 1;
}

static void ask_print_word(const Common *c, const json_t *answer, const char *word) {
        const char *name = c->verb->named ? json_get_text(c->body.object, "name") : NULL;

        puts(name ? name : c->verb->prints ? json_get_text_or(answer, c->verb->prints, "") : word ? word : "");
}

int ask_show(const Common *c, const Operands *words, const Answer *a) {
        const Verb *v = c->verb;
        const char *word = words->n > 0 ? words->items[0] : NULL;
        const json_t *answer = v->only ? json_object_get(a->json, v->only) : a->json;
        int status = 0;

        if (c->json && v->only)
                show_compact(answer, word);
        else if (c->json)
                answer_print(a);
        else if (v->columns)
                status = columns_show(v->columns, v->n_columns, v->list ? json_at(answer, v->list) : answer);
        else if (v->show)
                v->show(answer, word);
        else
                ask_print_word(c, answer, word);
        return status == 0 ? ask_status(v, answer) : status;
}

static int ask_one(const Place *place, Common *c, char **word, bool *first) {
        const Operands words = { word, 1 };
        _cleanup_answer_ Answer a = { 0 };

        if (ask_need(place, c, &words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!c->json || c->verb->lines)
                return ask_show(c, &words, &a);
        printf("%s%.*s", *first ? "" : ",", answer_length(&a), a.text);
        *first = false;
        return 0;
}

static int ask_each(const Place *place, Common *c, const Operands *words) {
        bool first = true, joined = c->json && !c->verb->lines, list = joined && words->n != 1;
        int status = 0;

        if (list)
                printf("[");
        for (unsigned i = 0; i < words->n; i++) {
                int one = ask_one(place, c, words->items + i, &first);

                status = MAX_OF(status, one);
        }
        if (list)
                printf("]\n");
        else if (joined && !first)
                printf("\n");
        return status;
}

static int ask_get_pages(const Place *place, const Common *c, const Operands *words, Listing *ret) {
        _cleanup_url_ Url u = ask_url(c, words);

        return listing_get(place, &u, c->verb->list, ret);
}

int ask_rows(const Place *place, void *options, const Operands *words, void (*each)(const json_t *row)) {
        _cleanup_listing_ Listing l = { 0 };

        if (ask_get_pages(place, options, words, &l) < 0)
                return EXIT_OWN_FAILURE;
        for (const json_t *row; (row = listing_row(&l));)
                each(row);
        return 0;
}

static int ask_pages(const Place *place, const Common *c, const Operands *words) {
        const Verb *v = c->verb;
        _cleanup_listing_ Listing l = { 0 };
        _cleanup_table_ Table *t = NULL;

        if (ask_get_pages(place, c, words, &l) < 0)
                return EXIT_OWN_FAILURE;
        if (c->json) {
                listing_print_json(&l);
                return 0;
        }
        t = columns_table(v->columns, v->n_columns);
        if (t && common_said(c, "no-trunc"))
                table_show_whole_ids(t);
        for (const json_t *row; (row = listing_row(&l));)
                if (c->quiet)
                        puts(json_get_text_or(row, v->quiet, ""));
                else
                        columns_add(t, v->columns, v->n_columns, row);
        return c->quiet ? 0 : table_finish(t);
}

int ask_run(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        _cleanup_answer_ Answer a = { 0 };

        if (c->verb->pages)
                return ask_pages(place, c, words);
        if (c->verb->each)
                return ask_each(place, c, words);
        return ask_need(place, c, words, &a) < 0 ? EXIT_OWN_FAILURE : ask_show(c, words, &a);
}

int ask_as(const Verb *v, const Place *place, void *options, const Operands *words) {
        ((Common *) options)->verb = v;
        return ask_run(place, options, words);
}

/* Running. */

static void verb_print_indented(const char *text) {
        for (const char *line = text; *line;) {
                size_t n = strcspn(line, "\n");

                printf("      %.*s\n", (int) n, line);
                line += n + (line[n] == '\n');
        }
}

static void verb_print_parts(const Verb *v) {
        printf("usage: cove %s", v->name);
        for (size_t i = 0; i < v->n_parts; i++)
                printf("%s%s", i > 0 ? "|" : " ", v->parts[i].name);
        printf(" …\n\n%s\n\n", v->about);
        for (size_t i = 0; i < v->n_parts; i++) {
                printf("  cove %s\n", v->parts[i].synopsis);
                verb_print_indented(v->parts[i].about);
        }
        printf("\n`cove %s %s --help` shows the options.\n", v->name, v->parts[0].name);
}

static int verb_refuse_part(const Verb *v, const char *word) {
        static const struct {
                const char *word, *part;
        } aliases[] = { { "list", "ls" }, { "delete", "rm" }, { "remove", "rm" }, { "show", "inspect" }, { "get", "inspect" }, { "new", "create" }, { "add", "create" }, { "revoke", "rm" } };
        unsigned best = word_tolerance(word);
        const char *meant = NULL;

        for (size_t i = 0; i < v->n_parts; i++)
                if (word_is_nearer(word, v->parts[i].name, &best))
                        meant = v->parts[i].name;
        for (size_t k = 0; k < ELEMENTSOF(aliases); k++)
                for (size_t i = 0; strcmp(word, aliases[k].word) == 0 && i < v->n_parts; i++)
                        if (strcmp(v->parts[i].name, aliases[k].part) == 0)
                                meant = v->parts[i].name;
        if (meant)
                return verb_refuse("cove %s has no '%s': did you mean `cove %s %s`?", v->name, word, v->name, meant);
        return verb_refuse("cove %s has no '%s': see `cove %s --help`", v->name, word, v->name);
}

static int verb_run_part(const Verb *v, int argc, char **argv) {
        const char *word;

        usage_put_part_first(argc, argv);
        word = argc > 1 ? argv[1] : NULL;
        if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
                verb_print_parts(v);
                return 0;
        }
        if (v->first_is_meant && (!word || word[0] == '-'))
                return verb_main(v->parts, argc, argv);
        for (size_t i = 0; word && i < v->n_parts; i++)
                if (strcmp(word, v->parts[i].name) == 0)
                        return verb_main(v->parts + i, argc - 1, argv + 1);
        return word ? verb_refuse_part(v, word)
                    : verb_refuse("no subcommand given: see `cove %s --help`", v->name);
}

static void verb_end(const Verb *v, Common *options) {
        for (size_t i = 0; i < v->n_options; i++)
                if (v->options[i].set == option_words)
                        strv_done((Strv *) (void *) ((char *) options + v->options[i].offset));
        json_builder_done(&options->body);
        strv_done(&options->queries);
        strv_done(&options->own);
        free(options);
}

int verb_main(const Verb *v, int argc, char **argv) {
        size_t size = v->options_size > 0 ? v->options_size : sizeof(Common);
        _cleanup_place_ Place place = { 0 };
        Operands words;
        Common *options;
        int status;

        if (v->n_parts > 0)
                return verb_run_part(v, argc, argv);
        options = calloc(1, size);
        if (!options)
                return verb_refuse("out of memory");
        if (v->defaults)
                memcpy(options, v->defaults, size);
        if (usage_begin(v, argc, argv, options, &words, &place, &status) == 0)
                status = (v->run ? v->run : ask_run)(&place, options, &words);
        verb_end(v, options);
        return status;
}
