/* options.h: command line options as tables, for all programs that have any.
 *
 * One table gives parser and help alike. An option is --name VALUE, --name=VALUE or -x; the first other word, or "--",
 * ends them. Each has a kind: a function that is told by the rest of its line where the value goes, and within which bounds.
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
        const char *argument; /* NULL: takes none; else its name in the help */
        const char *help;     /* lines after the first are indented along; NULL: the help does not have it */
        OPTION_KIND((*set));
        size_t offset, has;  /* of the field, and of a bool that says that it was set; has 0: none */
        const char *key;     /* for values that go elsewhere than into a field */
        uint64_t min, max;
};

typedef struct OptionTable {
        const Option *options;
        size_t n;
} OptionTable;

/* By the name, up to its end or "=", or by the letter; of several tables the first one that has it. NULL: none. */
const Option *option_find(const OptionTable *tables, size_t n_tables, const char *name, char letter);

/* One option: argv[0], and argv[1] where that is its value. Returns how many words it was. */
int option_read(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr);

/* "-it" is "-i -t"; the last letter may have a value. Anything else is left to option_read(), which refuses it as it is. */
bool option_is_cluster(const OptionTable *tables, size_t n_tables, const char *word);
int option_read_cluster(const OptionTable *tables, size_t n_tables, int argc, char **argv, void *target, Error *reterr);

/* All of them. Returns the index of the first word that is no option. */
int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr);

void options_print(const Option *options, size_t n);

/* Kinds for fields of the target. */
OPTION_KIND(option_flag);     /* bool */
OPTION_KIND(option_text);     /* const char * */
OPTION_KIND(option_copy);     /* char *, owned; the one before is freed */
OPTION_KIND(option_words);    /* Strv; max 0: as it has it */
OPTION_KIND(option_number);   /* uint64_t */
OPTION_KIND(option_number32); /* uint32_t */

/* What other tools have and cove has not: refused, with what to do instead (.key). It is not in the help. */
OPTION_KIND(option_instead);
OPTION_KIND(option_nothing); /* what it asks for is so anyway */
#define OPTION_INSTEAD(long_name, short_name, value, words) { (long_name), (short_name), (value), NULL, option_instead, .key = (words) }

#define OPTION_FIELD(type, field)               .offset = offsetof(type, field)
#define OPTION_FLAG(type, field)                .set = option_flag, OPTION_FIELD(type, field)
#define OPTION_TEXT(type, field)                .set = option_text, OPTION_FIELD(type, field)
#define OPTION_COPY(type, field)                .set = option_copy, OPTION_FIELD(type, field)
#define OPTION_WORDS(type, field, ceiling)      .set = option_words, OPTION_FIELD(type, field), .max = (ceiling)
#define OPTION_NUMBER(type, field, low, high)   .set = option_number, OPTION_FIELD(type, field), .min = (low), .max = (high)
#define OPTION_NUMBER32(type, field, low, high) .set = option_number32, OPTION_FIELD(type, field), .min = (low), .max = (high)
#define OPTION_HAS(type, field)                 .has = offsetof(type, field)

/* The field, for other kinds; it counts as set. */
void *option_field(const Option *o, void *target);

/* A line of a file that is neither empty nor begins with #. */
typedef struct OptionLine {
        const char *path, *text;
        unsigned number;
} OptionLine;

int option_each_line(const Option *o, const char *path, size_t max,
                int (*take)(const Option *o, void *target, const OptionLine *line, Error *reterr),
                void *target, Error *reterr);
