/* program.h: a confined program: what cove-archive, cove-gate, cove-registry and cove-tree have in common.
 *
 * Each takes apart what strangers made, and so gives up all that it does not need before it reads a byte. ProgramWalls is the description of what is
 * left to one: descriptors, limits, capabilities, files (Landlock), system calls. program_confine() raises the walls in their order; irrevocable.
 *
 * Program is the rest of the frame, for those that do one thing and end: NAME VERB [OPERAND] [--option [VALUE]]…, success without a word, or a
 * failure as base/program.h has it. In order:
 *
 *      parse       verb, operand, options by tables
 *      prepare     checks, opens what has a name, lets libraries open what they want
 *      walls       as the verb needs them
 *      run         the verb itself, behind its walls
 *
 * Must not know: what the programs are for. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "confine/landlock.h"

#if defined(__SANITIZE_ADDRESS__)
#define PROGRAM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROGRAM_SANITIZED 1
#endif
#endif
#ifndef PROGRAM_SANITIZED
#define PROGRAM_SANITIZED 0
#endif

#define PROGRAM_RULES_MAX 32

typedef struct ProgramFilter {
        const struct sock_filter *items;
        size_t n;
} ProgramFilter;

typedef struct ProgramWalls {
        unsigned descriptors;         /* those from 0 on stay open; 0: all */
        uint64_t descriptors_max;     /* 0: as many as before */
        uint64_t memory_max;          /* of addresses; 0: as before. Not with sanitizers, whose shadow alone is larger */
        bool no_children;             /* not even threads */
        uint64_t capabilities;        /* that stay, where they are there at all */
        LandlockRights forbidden;     /* but for the rules */
        LandlockRule rules[PROGRAM_RULES_MAX];
        size_t n_rules;
        int landlock_abi;             /* the first that can allow what the program needs; before it there is no such wall */
        const char *without_landlock; /* warns of that; NULL: the filters are enough */
        ProgramFilter filters[2];     /* of which the strictest answer counts. Not with sanitizers, which look around as they like */
        bool no_processes;            /* a filter more: threads, and nothing else */
} ProgramWalls;

int program_confine(const ProgramWalls *walls, Error *reterr);

/* The options of a program begin with this. */
typedef struct ProgramArguments {
        size_t verb;
        const char *operand;
} ProgramArguments;

typedef struct ProgramVerb {
        const char *name;
        int (*run)(void *options, Error *reterr);
        const char *operand; /* what the word behind the verb is; NULL: there is none */
} ProgramVerb;

typedef struct ProgramOption {
        const char *name; /* with its dashes */
        unsigned verbs;   /* 1 << verb */
        bool flag;        /* has no value */
        int (*set)(const char *value, void *place, Error *reterr);
        size_t offset; /* of its place in the options */
} ProgramOption;

typedef struct Program {
        const char *name;
        const ProgramVerb *verbs;
        size_t n_verbs;
        const ProgramOption *options;
        size_t n_options;
        int (*prepare)(void *options, Error *reterr);
        void (*walls)(const void *options, ProgramWalls *ret);
} Program;

int program_set_text(const char *value, void *place, Error *reterr);   /* const char *; borrowed */
int program_set_true(const char *value, void *place, Error *reterr);   /* bool */
int program_set_number(const char *value, void *place, Error *reterr); /* uint64_t, 1 to INT64_MAX */

int program_parse(const Program *p, int argc, char **argv, void *options, Error *reterr);
int program_main(const Program *p, int argc, char **argv, void *options); /* the exit status */
