/* txn.h: transactions: what a guest has changed of a directory of the host's, kept beside it until somebody takes or drops it.
 *
 *      TXN_HOME/ID/         0700
 *        record             what this is (record.c): lines of name=value
 *        lock               held by the run or the commit that is at it
 *        journal            of a commit under way (journal.c); turned-back: of one that failed
 *        layer/upper, work  an overlay's (jail/layered.h); what upper has, changes.h can tell
 *
 * TXN_HOME is $COVE_TXN_DIR, or /var/lib/cove/txn of root, or $XDG_STATE_HOME/cove/txn (~/.local/state/cove/txn) of others. What is in an upper is an enemy's
 * work: names, links, modes, sizes. Nothing of it is ever followed.
 * No daemon has to do with it, and nothing is parsed here but the record. Linked into cove and cove-client: libc only.
 * Must not know: sandboxes, options, how changes are shown. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"

#define TXN_ID_LENGTH    10 /* "txn-" and six letters or digits */
#define TXN_COMMAND_MAX  4096
#define TXN_STATUS_NONE  (-1)

typedef struct Txn {
        char id[TXN_ID_LENGTH + 1];
        char *path;     /* the transaction's own directory */
        int fd;         /* the same, opened */
        int lock_fd;    /* -EBADF: not locked */
        char *dir;      /* of the host; no links on the way, when it began */
        uint64_t dev, ino; /* which directory that was */
        char *target;   /* where it is inside */
        Strv command;   /* of the last run */
        uint64_t since_nsec;  /* calendar: what changed on the host later, changed beside us */
        uint64_t ended_usec;  /* of the last run; 0: none has ended */
        int status;           /* cove's exit status of the last run; TXN_STATUS_NONE */
        uint32_t runs;
        uid_t uid;      /* the guest's user as the upper's files have it */
        gid_t gid;
} Txn;

#define TXN_EMPTY { .fd = -EBADF, .lock_fd = -EBADF, .status = TXN_STATUS_NONE, .command = STRV_INIT(TXN_COMMAND_MAX) }

void txn_done(Txn *t);
#define _cleanup_txn_ _cleanup_(txn_done)

int txn_home(char **ret, Error *reterr); /* not made here */
bool txn_id_is_valid(const char *id);

/* A new one, locked, with an empty layer, whose upper looks like the directory. uid, gid: what the upper's files have on the disk when the guest's user makes them.
 * Waits until the clock of file systems has gone on: whatever changes from now on can be told from what was. */
int txn_create(const char *dir, uid_t uid, gid_t gid, Txn *ret, Error *reterr);
/* -ENOENT: there is none of that name. -EBUSY: somebody else is at it (only with lock). */
int txn_open(const char *id, bool lock, Txn *ret, Error *reterr);
int txn_save(const Txn *t, Error *reterr);
/* All of it, also what a guest has made hard to remove. */
int txn_remove(Txn *t, Error *reterr);
/* Ids, oldest first; a home that is not there has none. */
int txn_list(Strv *ret, Error *reterr);

/* The directory as it is now. -ESTALE: it is another one. */
int txn_open_dir(const Txn *t, Error *reterr);
int txn_open_upper(const Txn *t, Error *reterr);
int txn_open_layer(const Txn *t, char **ret_path, Error *reterr); /* for the jail */

/* rm -r of a name in a directory, without following anything, and with modes set where they are in the way. */
int txn_remove_tree(int dirfd, const char *name);
