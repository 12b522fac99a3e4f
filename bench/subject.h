/* subject.h: the ways to run a command that are compared.
 *
 * A table names each, how it is called and how heavy it is. A subject that is not installed or does not work here is
 * left out, and keeps the reason in words.
 * Pattern of use:
 *      1. subjects_init(), mark in `selected` what is wanted
 *      2. subjects_ready() per subject and command: prepares and probes it once, and remembers
 *      3. launch_init() outside of the measured time, launch_start() inside, launch_done()
 * Must not know: workloads, percentiles, output. */
#pragma once

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"
#include "floor.h"
#include "scratch.h"

typedef enum SubjectId {
        SUBJECT_FORK_EXEC,
        SUBJECT_HOST,
        SUBJECT_NAMESPACES,
        SUBJECT_COVE,
        SUBJECT_BWRAP,
        SUBJECT_BWRAP_USR,
        SUBJECT_RUNC,
        SUBJECT_RUNSC,
        SUBJECT_DOCKER,
        _SUBJECT_MAX,
        _SUBJECT_INVALID = -EINVAL,
} SubjectId;

typedef enum CommandId {
        COMMAND_TRUE,
        COMMAND_PYTHON,
        COMMAND_HOLD, /* says one line, then stays until its stdin closes */
        _COMMAND_MAX,
} CommandId;

typedef struct SubjectType {
        const char *name;
        const char *what;    /* for --help */
        const char *program; /* looked up in PATH; NULL for those that need none */
        int (*start)(const FloorCommand *command, pid_t *ret); /* the floors; NULL for programs */
        unsigned every;          /* takes part in every n-th round: the slow ones need fewer */
        usec_t settle;           /* its work goes on in the background for this long after it has ended */
        const char *const *argv; /* with {placeholders} */
} SubjectType;

extern const SubjectType subject_types[_SUBJECT_MAX];

typedef enum Readiness {
        READINESS_UNKNOWN,
        READINESS_GOOD,
        READINESS_LEFT_OUT,
} Readiness;

typedef struct Subject {
        bool selected;
        char program[PATH_MAX];
        Readiness prepared, ready[_COMMAND_MAX];
        Error reason; /* of the first thing that did not work */
} Subject;

typedef struct Subjects {
        const Scratch *scratch;
        Subject items[_SUBJECT_MAX];
        int exec_fds[_COMMAND_MAX]; /* what the floors run */
        bool bundles_made;
        unsigned n_launched;
} Subjects;

/* The directory is where our own static `true` lies; cove is the program to measure. */
void subjects_init(Subjects *s, const char *own_dir, const char *cove);
void subjects_done(Subjects *s);

SubjectId subject_from_name(const char *name, size_t length);

/* False when it was not selected, makes no sense with this command, or was left out. */
bool subjects_ready(Subjects *s, SubjectId id, CommandId command);

typedef struct Launch {
        SubjectId subject;
        Strv argv;
        FloorCommand floor;
} Launch;

int launch_init(Launch *l, Subjects *s, SubjectId id, CommandId command);
void launch_done(Launch *l);
int launch_start(Launch *l, const int stdio[3], pid_t *ret);
