/* options.h: command line options as tables, for all programs that have any.
 *
 * One table defines both the parser and the help. An option is --name VALUE, --name=VALUE or -x; the first
 * other word, or "--", ends the options. Each option has a kind: a function that reads from the table entry
 * where to store the value and its bounds.
 * Must not know: what the options mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct Option Option;

#define OPTION_KIND(kind) int kind(const Option *o, void *target, const char *value, Error *reterr)

struct Option {
        const char *name;     /* without the dashes */
        char letter;          /* 0: none */
        const char *argument; /* NULL: takes no value; otherwise the value's name in the help */
        const char *help;     /* continuation lines are indented; NULL: not in the help */
        OPTION_KIND((*set));
        size_t offset, has;  /* offset of the field, and of a bool that is set when the option is given; has 0: none */
        const char *key;     /* for kinds that do not store into a field */
        uint64_t min, max;
};

typedef struct OptionTable {
        const Option *options;
        size_t n;
} OptionTable;

/* Finds an option by name (up to its end or "="), or by letter, in the first table that has it. NULL: none. */
const Option *option_find(const OptionTable *tables, size_t n_tables, const char *name, char letter);

/* Reads one option: argv[0], and argv[1] if that is its value. Returns the number of words used. */
int option_read(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr);

/* Whether the word is a cluster: "-it" is "-i -t"; the last letter may take a value. Other words are left to
 * option_read(), which reports them. */
bool option_is_cluster(const OptionTable *tables, size_t n_tables, const char *word);
int option_read_cluster(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr);

/* Reads all options. Returns the index of the first word that is not an option. */
int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr);

void options_print(const Option *options, size_t n);

/* Kinds for fields of the target. */
OPTION_KIND(option_flag);     /* bool */
OPTION_KIND(option_text);     /* const char * */
OPTION_KIND(option_copy);     /* char *, owned; the previous value is freed */
OPTION_KIND(option_words);    /* Strv; max 0: the Strv's own limit */
OPTION_KIND(option_number);   /* uint64_t */
OPTION_KIND(option_number32); /* uint32_t */

/* Options of other tools that cove does not have: refused with the text in .key, which says what to do
 * instead. They are not in the help. */
OPTION_KIND(option_instead);
OPTION_KIND(option_nothing); /* accepted without effect: cove always does this */
#define OPTION_INSTEAD(long_name, short_name, value, words) { (long_name), (short_name), (value), NULL, option_instead, .key = (words) }

#define OPTION_FIELD(type, field)               .offset = offsetof(type, field)
#define OPTION_FLAG(type, field)                .set = option_flag, OPTION_FIELD(type, field)
#define OPTION_TEXT(type, field)                .set = option_text, OPTION_FIELD(type, field)
#define OPTION_COPY(type, field)                .set = option_copy, OPTION_FIELD(type, field)
#define OPTION_WORDS(type, field, ceiling)      .set = option_words, OPTION_FIELD(type, field), .max = (ceiling)
#define OPTION_NUMBER(type, field, low, high)   .set = option_number, OPTION_FIELD(type, field), .min = (low), .max = (high)
#define OPTION_NUMBER32(type, field, low, high) .set = option_number32, OPTION_FIELD(type, field), .min = (low), .max = (high)
#define OPTION_HAS(type, field)                 .has = offsetof(type, field)

/* For other kinds: returns the field, and marks the option as set. */
void *option_field(const Option *o, void *target);

/* A line of a file, except empty lines and comments (#). */
typedef struct OptionLine {
        const char *path, *text;
        unsigned number;
} OptionLine;

int option_each_line(const Option *o, const char *path, size_t max,
                int (*take)(const Option *o, void *target, const OptionLine *line, Error *reterr),
                void *target, Error *reterr);
