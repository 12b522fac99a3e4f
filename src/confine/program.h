/* program.h: the common frame of the confined programs: cove-archive, cove-gate, cove-registry and cove-tree.
 *
 * Each of them parses untrusted data, so it gives up every right that it does not need before it reads a byte.
 * ProgramWalls describes the rights that a program keeps: descriptors, limits, capabilities, files (Landlock), system
 * calls. program_confine() raises the walls in their order; irrevocable.
 *
 * Program is the rest of the frame, for programs that do one thing and end: NAME VERB [OPERAND] [--option [VALUE]]….
 * They succeed without output, or report a failure as base/program.h describes. In order:
 *
 *      parse       verb, operand, options by tables
 *      prepare     checks; opens files that have a name, lets libraries open theirs
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
        uint64_t memory_max;          /* of address space; 0: as before. Not with sanitizers, whose shadow alone is larger */
        bool no_children;             /* not even threads */
        uint64_t capabilities;        /* to keep, if the process has them */
        LandlockRights forbidden;     /* except where a rule allows */
        LandlockRule rules[PROGRAM_RULES_MAX];
        size_t n_rules;
        int landlock_abi;             /* the first ABI that can allow what the program needs; on older kernels this wall is left out */
        const char *without_landlock; /* warning if the wall is left out; NULL: the filters suffice */
        ProgramFilter filters[2];     /* the strictest answer counts. Not with sanitizers, which make other calls */
        bool no_processes;            /* one more filter: allows threads but no processes */
} ProgramWalls;

int program_confine(const ProgramWalls *walls, Error *reterr);

/* The first member of a program's options. */
typedef struct ProgramArguments {
        size_t verb;
        const char *operand;
} ProgramArguments;

typedef struct ProgramVerb {
        const char *name;
        int (*run)(void *options, Error *reterr);
        const char *operand; /* name of the word after the verb; NULL: there is none */
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
