/* plan.h: the steps of a commit, and what clashes; commit.h's own. */
#pragma once

#include "txn/commit.h"

typedef struct Step {
        char *path;
        ChangeKind kind;
        struct stat before, after;
        bool directory_mode; /* a directory that is there and gets other permissions: nothing is moved */
        /* how far it has come */
        bool done;
        bool late_mode; /* a directory that gets its own permissions when it was moved: */
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
        char *staging; /* NULL: no commit was under way */
        JournalLine *lines;
        size_t n, room;
};

void journal_done(Journal *j);
#define _cleanup_journal_ _cleanup_(journal_done)
int journal_load(const Txn *t, Journal *ret, Error *reterr); /* an empty one when there is none */
int journal_save(const Txn *t, const char *staging, const TxnPlan *p, Error *reterr);
void journal_end(const Txn *t, bool done); /* not done: all was turned back */
/* Whether what is there now is what the interrupted commit had found, and meant to replace. */
bool journal_has(const Journal *j, const char *path, const struct stat *now);

/* beneath.c: paths below a descriptor, part by part; links and mounts on the way are not followed. */
int beneath_open(int top, const char *path, int flags);
int beneath_open_parent(int top, const char *path, const char **ret_name); /* the name is a part of the path */
/* What the upper's files are is for us to read, whatever mode the guest has given them. */
int beneath_read(int dirfd, const char *name);
/* A directory of it: open to us until it is left. */
#define BENEATH_OPEN ((mode_t) -1)
int beneath_enter(int dirfd, const char *name, mode_t *ret_mode);
void beneath_leave(int fd, mode_t mode);

/* stage.c: a copy of upper's path as dirfd/name; counts what was left out. */
typedef struct Stage {
        const CommitOptions *o;
        uid_t uid;
        gid_t gid;
        bool chown; /* we are root: what is made is given to these */
        uint64_t left_out;
        Error *reterr;
} Stage;
int stage_copy(Stage *s, int upper_fd, Step *step, int dirfd, const char *name);
