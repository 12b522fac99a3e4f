/* usage.h: a verb's words: its options, its operands, its help.
 *
 * Options may stand before and behind operands, letters may share a word (-it). What every verb takes (which daemon, --json,
 * --help) is defined here once; the options of a verb begin with a Common, and its table ends with COMMON_OPTIONS.
 * Must not know: what any verb does. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/clock.h"
#include "cli/options.h"
#include "client/place.h"

typedef struct Common {
        PlaceOptions place;
        bool json, help;
} Common;

int common_apply_socket(void *target, const char *value, Error *reterr);
int common_apply_state(void *target, const char *value, Error *reterr);
int common_apply_url(void *target, const char *value, Error *reterr);
int common_apply_key(void *target, const char *value, Error *reterr);
int common_apply_json(void *target, const char *value, Error *reterr);
int common_apply_help(void *target, const char *value, Error *reterr);

#define COMMON_OPTIONS                                                                                                          \
        { "json",   0,   NULL,   "the daemon's answer, for programs",                       common_apply_json   },              \
        { "socket", 0,   "PATH", "the daemon's socket",                                     common_apply_socket },              \
        { "state",  0,   "DIR",  "the daemon's directory (default: /var/lib/cove, or\n"                                         \
                                 "~/.local/share/cove for a plain user)",                   common_apply_state  },              \
        { "url",    0,   "URL",  "the daemon by TCP: http://HOST:PORT",                     common_apply_url    },              \
        { "key",    0,   "KEY",  "API key; better in the environment, as COVE_API_KEY",     common_apply_key    },              \
        { "help",   'h', NULL,   "print this",                                              common_apply_help   }

/* Functions for options that set one field of their verb's struct. */
#define APPLY_FLAG(type, field)                                                                              \
        static int apply_##field(void *target, const char *value, Error *reterr) {                           \
                ((type *) target)->field = true;                                                             \
                return 0;                                                                                    \
        }
#define APPLY_TEXT(type, field)                                                                              \
        static int apply_##field(void *target, const char *value, Error *reterr) {                           \
                ((type *) target)->field = value;                                                            \
                return 0;                                                                                    \
        }

typedef struct Usage {
        const char *synopsis; /* behind "cove " */
        const char *about;    /* a sentence or two */
        const char *more;     /* behind the options; NULL: nothing */
        const Option *options;
        size_t n_options;
        unsigned operands_min, operands_max;
        unsigned options_until; /* so many operands; what follows them is left alone, but for a first "--". 0: to the end */
        const char *missing;    /* told when there are none, or too few: "no sandbox given" */
        const char *missing_last; /* told when one is missing, and that is not the first; NULL: as above */
} Usage;

#define USAGE_OPTIONS(table) .options = (table), .n_options = ELEMENTSOF(table)
#define USAGE_ANY_NUMBER     UINT_MAX

typedef struct Operands {
        char **items; /* into argv, which is reordered */
        unsigned n;
} Operands;

/* Applies the options and finds the operands, which go to the end of argv. */
int usage_read(const Usage *u, int argc, char **argv, void *target, Operands *ret, Error *reterr);

/* The beginning of every verb. Returns 0 to go on; else the verb is over, with the status in *ret_status: it was asked for
 * its help, or misused, and that is told. target begins with a Common; place is found. */
int usage_begin(const Usage *u, int argc, char **argv, void *target, Operands *ret, Place *ret_place, int *ret_status);

void usage_print(const Usage *u);

/* Values that people write. name goes in front of the complaint: "--memory"; NULL: nothing does. */
int value_size(const char *name, const char *value, uint64_t *ret, Error *reterr);
int value_duration(const char *name, const char *value, usec_t *ret, Error *reterr); /* "0", "none", "never": 0 */
int value_number(const char *name, const char *value, uint64_t min, uint64_t max, uint64_t *ret, Error *reterr);
