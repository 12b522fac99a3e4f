/* ask.h: verbs, run; and the question that a verb is, as its table says it (usage.h).
 *
 *      1. the path, with operands in it, and what options have put behind it and into the body
 *      2. one answer; several for several operands, or as many as there are pages
 *      3. printed as the daemon says it with --json, else as a table, as lines, or as a word
 *
 * A verb that has to look at the answer itself asks by ask_need() and goes on with ask_show() where it likes. Of several
 * operands all are tried, also when one fails.
 * Must not know: what the answers mean. */
#pragma once

#include "client/client.h"
#include "client/column.h"
#include "client/option.h"

/* Returns the exit status. argv begins with the verb's name. */
int verb_main(const Verb *v, int argc, char **argv);

/* What a verb without a function does. options begins with a Common, whose verb says what is asked. */
int ask_run(const Place *place, void *options, const Operands *words);

/* As above, of another verb's table. */
int ask_as(const Verb *v, const Place *place, void *options, const Operands *words);

/* Only the question. What went wrong has been told. */
int ask_need(const Place *place, void *options, const Operands *words, Answer *ret);

/* All rows of all pages. Returns the exit status. */
int ask_rows(const Place *place, void *options, const Operands *words, void (*each)(const json_t *row));

/* The question, of which the body goes to a sink as it comes: see client_receive(). Returns the exit status. */
int ask_receive(const Place *place, void *options, const Operands *words, const char *accept, HttpBody sink,
                void *sink_data, const Error *error);

/* Only what is shown of an answer. Returns the exit status. */
int ask_show(const Common *c, const Operands *words, const Answer *a);

/* Ways to show an answer. */
void show_members(const json_t *answer, const char *word); /* an object as lines of a key and a value: inspect.c */
void show_nothing(const json_t *answer, const char *word);
void show_pretty(const json_t *answer, const char *word); /* as JSON, indented */
void show_compact(const json_t *answer, const char *word); /* as JSON, on a line */
