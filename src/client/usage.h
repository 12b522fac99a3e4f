/* usage.h: a verb as data: its words (options, operands, help), and the question to the daemon that most verbs are.
 *
 * Options may stand before and behind operands, letters may share a word (-it). What every verb takes (which daemon, --json,
 * --help) is defined here once; the options of a verb are a struct that begins with a Common.
 * Must not know: what any verb does. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/strv.h"
#include "cli/options.h"
#include "client/json.h"
#include "client/place.h"

typedef struct Verb Verb;

typedef struct Common {
        PlaceOptions place;
        bool json, help, quiet;
        JsonBuilder body; /* of the request, as far as options say what is in it */
        Strv queries;     /* likewise: NAME=VALUE */
        Strv own;         /* what options say to the verb: NAME=VALUE */
        const Verb *verb;
} Common;

typedef struct Operands {
        char **items; /* into argv, which is reordered */
        unsigned n;
} Operands;

struct Verb {
        const char *name;     /* alone: "key", or "ls" of one that is a part of another */
        const char *synopsis; /* behind "cove " */
        const char *about;    /* a sentence or two */
        const char *more;     /* behind the options; NULL: nothing */
        const Option *options; /* less those that all have */
        size_t n_options;
        bool local;           /* there is no daemon in it: of those that all have, --help only */
        unsigned operands_min, operands_max;
        unsigned options_until; /* so many operands; what follows them is left alone, but for a first "--". 0: to the end */
        const char *missing;    /* told when there are none, or too few: "no sandbox given" */
        const char *surplus;      /* told of an operand too many; NULL: the synopsis */
        const char *missing_last; /* told when one is missing, and that is not the first; NULL: as above */

        /* What it does: a function, which returns the exit status. NULL: it asks. */
        int (*run)(const Place *place, void *options, const Operands *words);
        size_t options_size;  /* 0: a Common is all */
        const void *defaults; /* NULL: zeros */

        /* The question: see ask.h. */
        const char *method;  /* NULL: GET */
        const char *path;    /* each % is the next operand */
        const char *body;    /* JSON, which options add to; NULL: there is none */
        const char *operand; /* the last operand's name in the body; NULL: it is not in it */
        const char *waiting; /* for what, when the answer takes its time: "taking the snapshot" */
        const char *goes_on; /* told when Ctrl-C ends us meanwhile: what the daemon does all the same */
        bool each;           /* ask once for each operand */
        bool lines;          /* each, with --json: one answer a line, not a list of them */

        /* What is shown of the answer (of `only` this member), unless --json is given: a table, or what a function prints, or one text of it, or the operand. */
        const char *only;
        const struct Column *columns;
        size_t n_columns;
        const char *list;  /* the member that has the rows; NULL: the answer is the list */
        bool pages;        /* ask until there are no more rows */
        const char *quiet; /* the member of each row that --quiet prints */
        void (*show)(const json_t *answer, const char *word);
        const char *prints;
        bool named;       /* prints: the name instead that the body gives it, if it gives one */
        const char *good; /* the member that is true when all is well ("!stuck": that is false), else … */
        int bad;          /* … this is the exit status; 0: 1 */

        /* Or it has verbs of its own. */
        const Verb *parts;
        size_t n_parts;
        bool first_is_meant; /* when none is named */
};

#define VERB_OPTIONS(table) .options = (table), .n_options = ELEMENTSOF(table)
#define VERB_COLUMNS(table) .columns = (table), .n_columns = ELEMENTSOF(table)
#define VERB_PARTS(table)   .parts = (table), .n_parts = ELEMENTSOF(table)
#define VERB_RUN(function, type) .run = (function), .options_size = sizeof(type)

#define VERB_POST(where)   .method = "POST", .path = (where), .body = "{}"
#define VERB_DELETE(where) .method = "DELETE", .path = (where), .each = true

#define VERB_ANY_NUMBER         UINT_MAX
#define VERB_ONE(complaint)     .operands_min = 1, .operands_max = 1, .missing = (complaint)
#define VERB_UP_TO(n, complaint) .operands_min = 1, .operands_max = (n), .missing = (complaint)
#define VERB_SOME(complaint)    .operands_min = 1, .operands_max = VERB_ANY_NUMBER, .missing = (complaint)
#define VERB_TWO(first, second) .operands_min = 2, .operands_max = 2, .missing = (first), .missing_last = (second)

/* Applies the options and finds the operands, which go to the end of argv. */
int usage_read(const Verb *v, int argc, char **argv, void *target, Operands *ret, Error *reterr);

/* A verb that has verbs of its own may be given, before the name of one of them, options that all have: the name goes to argv[1],
 * they go behind it. */
void usage_put_part_first(int argc, char **argv);

/* The beginning of every verb. Returns 0 to go on; else the verb is over, with the status in *ret_status: it was asked for
 * its help, or misused, and that is told. target begins with a Common; place is found. */
int usage_begin(const Verb *v, int argc, char **argv, void *target, Operands *ret, Place *ret_place, int *ret_status);

void usage_print(const Verb *v);

/* "0", "none" and "never" are 0. option goes in front of the complaint; NULL: nothing does. */
int value_duration(const char *option, const char *value, usec_t *ret, Error *reterr);
