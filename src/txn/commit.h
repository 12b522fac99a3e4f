/* commit.h: what an upper has changed, done to a directory.
 *
 *      1. plan     the changes that are wanted, and what of them clashes with what others have done to the directory since
 *      2. journal  what the plan has found is written down, synced
 *      3. stage    everything new is copied into a directory of our own (.cove-XXXXXX, in the same file system)
 *      4. move     each change is one rename: new ones come out of that directory, old ones go there. The first that fails turns all of them back
 *      5. the file system is synced; the old ones, the journal and then the transaction go
 *
 * Until 4. nothing has happened. Killed in 4. or later, the same commit again does the rest: what is done already is no change any more.
 * No name on the way is followed when it is a link, nor across a mount. What is made belongs to the directory's owner, as far as we may say so.
 * Files, directories and links only; names of one file become files of their own; attributes and set-id bits stay behind.
 * Must not know: where an upper comes from. */
#pragma once

#include "txn/changes.h"
#include "txn/txn.h"

typedef struct CommitOptions {
        const char *const *paths; /* normalised, relative; none: everything */
        size_t n_paths;
        bool force;        /* what clashes is overwritten */
        bool allow_setuid;
        bool dry;          /* plan only */
        void (*conflict)(const char *path, const char *why, void *userdata);
        void (*left_out)(const char *path, const char *why, void *userdata);
        void *userdata;
} CommitOptions;

typedef struct CommitResult {
        ChangeCount applied;
        uint64_t conflicts, left_out;
} CommitResult;

/* What changed on the host later than t->since_nsec clashes. The error must be there. -EEXIST: it does, the function was told of each, and nothing was done. */
int commit_run(const Txn *t, int dir_fd, int upper_fd, const CommitOptions *o, CommitResult *ret, Error *reterr);

/* A commit was under way and did not end: what it has left in the directory goes, but for what it has done. */
bool commit_is_interrupted(const Txn *t);
int commit_clear(const Txn *t, int dir_fd, Error *reterr);

/* Both for a transaction as a whole: opens, commits, drops from the upper what is done, and removes the transaction when that was all. *ret_gone: it was. */
int commit_txn(Txn *t, const char *to /* NULL: its own directory */, const CommitOptions *o, CommitResult *ret, bool *ret_gone, Error *reterr);
/* Only these paths; the rest stays. */
int commit_drop(const Txn *t, const char *const *paths, size_t n_paths, Error *reterr);
