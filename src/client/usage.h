/* usage.h: a verb as data: its command line (options, operands, help), and the question to the daemon that
 * most verbs ask.
 *
 * Options may stand before and after operands, and letters may share a word (-it). Options that every verb
 * has (which daemon, --json, --help) are defined here once. The options of a verb are a struct that begins
 * with a Common.
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
        JsonBuilder body; /* of the request: members from options */
        Strv queries;     /* of the request, from options: NAME=VALUE */
        Strv own;         /* options for the verb itself: NAME=VALUE */
        const Verb *verb;
} Common;

typedef struct Operands {
        char **items; /* into argv, which is reordered */
        unsigned n;
} Operands;

struct Verb {
        const char *name;     /* "key"; for a subcommand: "ls" */
        const char *synopsis; /* the text after "cove " */
        const char *about;    /* a sentence or two */
        const char *more;     /* printed after the options; NULL: nothing */
        const Option *options; /* without the common options */
        size_t n_options;
        bool local;           /* no daemon is involved: of the common options, only --help */
        unsigned operands_min, operands_max;
        unsigned options_until; /* options end after this many operands; a "--" right after them is dropped. 0: they do not end */
        const char *missing;    /* message if there are none, or too few: "no sandbox given" */
        const char *surplus;      /* message for an extra operand; NULL: the synopsis */
        const char *missing_last; /* message if one is missing that is not the first; NULL: as above */

        /* The action: a function, which returns the exit status. NULL: asks the question below. */
        int (*run)(const Place *place, void *options, const Operands *words);
        size_t options_size;  /* 0: only a Common */
        const void *defaults; /* NULL: zeros */

        /* The question: see ask.h. */
        const char *method;  /* NULL: GET */
        const char *path;    /* each % is replaced by the next operand */
        const char *body;    /* JSON, completed by options, which take precedence; NULL: no body */
        const char *operand; /* the last operand's member in the body; NULL: not in the body */
        const char *waiting; /* shown while the answer takes its time: "taking the snapshot" */
        const char *goes_on; /* printed when Ctrl-C ends us meanwhile: what the daemon still does */
        bool each;           /* ask once per operand */
        bool lines;          /* with each and --json: one answer per line, not a list */

        /* How the answer is shown without --json: as a table, by a function, or as one text (a member or the
         * operand). only: use this member of the answer. */
        const char *only;
        const struct Column *columns;
        size_t n_columns;
        const char *list;  /* the member that contains the rows; NULL: the answer is the list */
        bool pages;        /* ask for all pages */
        const char *quiet; /* the member of each row that --quiet prints */
        void (*show)(const json_t *answer, const char *word);
        const char *prints;
        bool named;       /* with prints: print the body's name instead, if it has one */
        const char *good; /* the member that is true on success ("!stuck": that is false), else … */
        int bad;          /* … this is the exit status; 0: 1 */

        /* Or it has subcommands. */
        const Verb *parts;
        size_t n_parts;
        bool first_is_meant; /* if no subcommand is named */
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

/* Applies the options and collects the operands in argv, from argv[1] on. */
int usage_read(const Verb *v, int argc, char **argv, void *target, Operands *ret, Error *reterr);

/* Common options may precede the name of a subcommand: moves the name to argv[1], and the options after it. */
void usage_put_part_first(int argc, char **argv);

/* Common start of every verb. Returns 0 to go on. Otherwise the verb is over, with the status in *ret_status:
 * help was printed, or an error was reported. target begins with a Common; *ret_place is set. */
int usage_begin(const Verb *v, int argc, char **argv, void *target, Operands *ret, Place *ret_place, int *ret_status);

void usage_print(const Verb *v);

/* "0", "none" and "never" give 0. option: prefix of the error message; NULL: none. */
int value_duration(const char *option, const char *value, usec_t *ret, Error *reterr);
