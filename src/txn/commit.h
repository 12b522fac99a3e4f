/* commit.h: applies the changes of an upper to a directory.
 *
 *      1. plan     find the wanted changes, and conflicts with later changes on the host
 *      2. journal  write down the state that the plan has found, synced
 *      3. stage    copy everything new into a directory of our own (.cove-XXXXXX, in the same file system)
 *      4. move     each change is one rename: new files leave that directory, old ones enter it. The first failure
 *                  reverts all of them
 *      5. sync     sync the file system; remove the old files, the journal and then the transaction
 *
 * Before step 4 nothing has happened. After a kill in step 4 or later, the same commit run again does the rest: a
 * completed change is no change any more.
 * Never follows a link on the way, nor crosses a mount. New files belong to the directory's owner, as far as we have
 * the right. Files, directories and links only. Hard links become separate files; extended attributes and set-id bits
 * are not applied.
 * Must not know: where an upper comes from. */
#pragma once

#include "txn/changes.h"
#include "txn/txn.h"

typedef struct CommitOptions {
        const char *const *paths; /* normalised, relative; none: everything */
        size_t n_paths;
        bool force;        /* overwrite on conflict */
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

/* A change conflicts if the host has changed the same path after t->since_nsec. reterr must not be NULL. -EEXIST:
 * there are conflicts, o->conflict was called for each, and nothing was done. */
int commit_run(const Txn *t, int dir_fd, int upper_fd, const CommitOptions *o, CommitResult *ret, Error *reterr);

/* A commit was interrupted. commit_clear() removes its staging directory and journal, but keeps the changes already
 * applied. */
bool commit_is_interrupted(const Txn *t);
int commit_clear(const Txn *t, int dir_fd, Error *reterr);

/* Commits a transaction as a whole: opens and commits it, drops the applied changes from the upper, and removes the
 * transaction if none are left (*ret_gone). */
int commit_txn(Txn *t, const char *to /* NULL: its own directory */, const CommitOptions *o, CommitResult *ret, bool *ret_gone, Error *reterr);
/* Drops the changes of these paths; the rest stays. */
int commit_drop(const Txn *t, const char *const *paths, size_t n_paths, Error *reterr);
