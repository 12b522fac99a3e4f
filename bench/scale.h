/* scale.h: does the daemon do with ten thousand sandboxes and hundreds of clients what it does with the first one?
 *
 * Levels: so many idle sandboxes live. At each the same is measured, with the floors beside it: one request at a time, storms of
 * creates and deletes, commands by more and more clients, an exec beside a storm, memory, a restart after kill -9. Last, a daemon
 * that may open few files is asked for more sandboxes than it can have.
 * Memory is that of the idle ones; a few more (SCALE_WORK) live all the time, in which the commands run.
 * Must not know: options, how results are told. */
#pragma once

#include "serve-work.h"

#define SCALE_LEVELS  8u
#define SCALE_COUNTS  8u  /* of clients */
#define SCALE_STORM   32u /* clients that create at once */
#define SCALE_WORK    32u /* sandboxes in which commands run */
#define SCALE_CORES   16u /* the machine that absolute rates are wanted of; others in proportion */

/* CPU per what was done, in milliseconds. */
typedef struct ScaleCpu {
        double coved, spawner;
} ScaleCpu;

/* So many clients at once, each creates and deletes in turn. */
typedef struct ScaleStorm {
        size_t n_clients;
        Row create, delete;
        double creates_per_second; /* of a phase in which they only create */
        double deletes_per_second;
        ScaleCpu cpu; /* of a create and its delete */
} ScaleStorm;

typedef struct ScaleCommands {
        size_t n_clients;
        Row exec;
        double per_second;
        ScaleCpu cpu;
} ScaleCommands;

typedef struct ScaleLevel {
        size_t live;
        bool done;
        Error left_out; /* why it was not measured */
        double load;
        Row rows[_ROW_MAX]; /* one at a time; the floors too */
        Row fork_at_once, floor_at_once;
        ScaleStorm storms[2];
        ScaleCommands commands[SCALE_COUNTS];
        Row alone, beside; /* exec on a kept connection; beside SCALE_STORM clients that create and delete */
        MemoryKinds memory; /* of all idle ones */
        double fill_seconds, restart_seconds;
        size_t n_lost;
} ScaleLevel;

/* At the limit of open files. */
typedef struct ScaleLimit {
        unsigned files;
        bool done;
        size_t n_made;
        int status;     /* of the first one that was refused */
        bool cure;      /* it names the limit */
        bool unchanged; /* all made before are there, a command runs, and after a delete there is place for another */
        Error reason;
} ScaleLimit;

typedef struct ScaleBench {
        ServeBench serve; /* daemon, connection, floors, rounds */
        ScaleLevel levels[SCALE_LEVELS];
        size_t n_levels, clients[SCALE_COUNTS], n_counts;
        size_t storm; /* creates of a storm */
        usec_t commands_time, time_max, until;
        MemoryKinds empty;
        char work[SCALE_WORK][32];
        ScaleLimit limit;
} ScaleBench;

/* Levels that the machine has no room for are left out, with the reason. -EINTR: the user wants to leave. */
int scale_run(ScaleBench *b, Error *reterr);
void scale_done(ScaleBench *b);

/* Parts, in files of their own. */
/* 0, or the reason why so many cannot live here. cap: as many as the daemon can have; 0: not known. */
int scale_room(const ScaleBench *b, size_t live, size_t cap, Error *reterr);
int scale_storm(ScaleBench *b, size_t n_clients, ScaleStorm *storm);
int scale_commands(ScaleBench *b, size_t n_clients, ScaleCommands *commands);
/* One client runs commands while so many others create and delete. */
int scale_beside(ScaleBench *b, size_t n_storm, Row *row);
int scale_limit(ScaleBench *b, Error *reterr);
