/* ask.h: runs verbs, and asks the daemon the question that a verb's table describes (usage.h).
 *
 *      1. the path, with operands filled in, plus the query and the body from options
 *      2. one answer; several for several operands, or one per page
 *      3. printed as the daemon's JSON with --json, else as a table, as lines, or as a word
 *
 * A verb that examines the answer itself calls ask_need(), and may then call ask_show(). With several
 * operands, all are tried, even if one fails.
 * Must not know: what the answers mean. */
#pragma once

#include "client/client.h"
#include "client/column.h"
#include "client/option.h"

/* Returns the exit status. argv begins with the verb's name. */
int verb_main(const Verb *v, int argc, char **argv);

/* The action of a verb without a function. options begins with a Common, whose verb describes the question. */
int ask_run(const Place *place, void *options, const Operands *words);

/* Likewise, by another verb's table. */
int ask_as(const Verb *v, const Place *place, void *options, const Operands *words);

/* Only asks. A failure has been reported. */
int ask_need(const Place *place, void *options, const Operands *words, Answer *ret);

/* Calls each for every row of all pages. Returns the exit status. */
int ask_rows(const Place *place, void *options, const Operands *words, void (*each)(const json_t *row));

/* Asks, and passes the body to a sink as it arrives: see client_receive(). Returns the exit status. */
int ask_receive(const Place *place, void *options, const Operands *words, const char *accept, HttpBody sink,
                void *sink_data, const Error *error);

/* Only shows an answer. Returns the exit status. */
int ask_show(const Common *c, const Operands *words, const Answer *a);

/* Ways to show an answer. */
void show_members(const json_t *answer, const char *word); /* an object as lines of key and value: inspect.c */
void show_nothing(const json_t *answer, const char *word);
void show_pretty(const json_t *answer, const char *word); /* as JSON, indented */
void show_compact(const json_t *answer, const char *word); /* as JSON, on one line */
