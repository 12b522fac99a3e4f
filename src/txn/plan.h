/* plan.h: the steps of a commit, and its conflicts. Private to the files of commit.h. */
#pragma once

#include "txn/commit.h"

typedef struct Step {
        char *path;
        ChangeKind kind;
        struct stat before, after;
        bool directory_mode; /* only the permissions of an existing directory change: nothing is moved */
        /* progress */
        bool done;
        bool late_mode; /* a directory gets its permissions after the move: */
        mode_t mode;
} Step;

typedef struct TxnPlan {
        Step *steps;
        size_t n, room;
        uint64_t bytes; /* to be copied */
        uint64_t conflicts, left_out;
        ChangeCount count;
} TxnPlan;

void plan_done(TxnPlan *p);
#define _cleanup_plan_ _cleanup_(plan_done)

typedef struct Journal Journal;

int plan_make(const Txn *t, int dir_fd, int upper_fd, const CommitOptions *o, const Journal *journal, TxnPlan *ret, Error *reterr);

/* journal.c */
typedef struct JournalLine {
        char *path;
        uint64_t ino; /* 0: nothing was there */
        int64_t mtime_nsec;
} JournalLine;

struct Journal {
        char *staging; /* NULL: no commit was interrupted */
        JournalLine *lines;
        size_t n, room;
};

void journal_done(Journal *j);
#define _cleanup_journal_ _cleanup_(journal_done)
int journal_load(const Txn *t, Journal *ret, Error *reterr); /* without a journal: an empty one */
int journal_save(const Txn *t, const char *staging, const TxnPlan *p, Error *reterr);
void journal_end(const Txn *t, bool done); /* done false: all changes were reverted */
/* Whether the file is still the one that the interrupted commit found and meant to replace. */
bool journal_has(const Journal *j, const char *path, const struct stat *now);

/* beneath.c: paths below a descriptor; never follows links or crosses mounts on the way. */
int beneath_open(int top, const char *path, int flags);
int beneath_open_parent(int top, const char *path, const char **ret_name); /* the name is a part of the path */
/* Opens a file of the upper for reading, even if the guest has set a mode that forbids it. */
int beneath_read(int dirfd, const char *name);
/* Makes a directory of the upper accessible to us until beneath_leave(). */
#define BENEATH_OPEN ((mode_t) -1)
int beneath_enter(int dirfd, const char *name, mode_t *ret_mode);
void beneath_leave(int fd, mode_t mode);

/* stage.c: copies upper's path to dirfd/name; counts the files left out. */
typedef struct Stage {
        const CommitOptions *o;
        uid_t uid;
        gid_t gid;
        bool chown; /* we are root: give new files to these ids */
        uint64_t left_out;
        Error *reterr;
} Stage;
int stage_copy(Stage *s, int upper_fd, Step *step, int dirfd, const char *name);
