/* txn.h: transactions: a guest's changes to a directory of the host, kept apart from it until the user commits or
 * drops them.
 *
 *      TXN_HOME/ID/         0700
 *        record             the transaction's data (record.c): lines of name=value
 *        lock               held by the run or the commit that uses it
 *        journal            of a commit under way (journal.c); turned-back: of one that failed
 *        layer/upper, work  of an overlay (jail/layered.h); changes.h lists the changes in upper
 *
 * TXN_HOME is $COVE_TXN_DIR, or /var/lib/cove/txn of root, or $XDG_STATE_HOME/cove/txn (~/.local/state/cove/txn) of
 * other users. The contents of an upper are hostile: names, links, modes, sizes. No link in it is ever followed. No
 * daemon is involved, and only the record is parsed here. Linked into cove and cove-client: libc only.
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
        char *dir;      /* of the host; its path had no links when the transaction began */
        uint64_t dev, ino; /* identify that directory */
        char *target;   /* its path inside */
        Strv command;   /* of the last run */
        uint64_t since_nsec;  /* calendar time: later changes on the host were not made by us */
        uint64_t ended_usec;  /* of the last run; 0: none has ended */
        int status;           /* cove's exit status of the last run; TXN_STATUS_NONE */
        uint32_t runs;
        uid_t uid;      /* the guest's user as owner of files in the upper */
        gid_t gid;
} Txn;

#define TXN_EMPTY { .fd = -EBADF, .lock_fd = -EBADF, .status = TXN_STATUS_NONE, .command = STRV_INIT(TXN_COMMAND_MAX) }

void txn_done(Txn *t);
#define _cleanup_txn_ _cleanup_(txn_done)

int txn_home(char **ret, Error *reterr); /* not made here */
bool txn_id_is_valid(const char *id);

/* Makes a transaction, locked, with an empty layer; its upper has the directory's mode. uid, gid: the ids on disk of
 * the upper, and of files that the guest's user makes in it. Waits for a tick of the file systems' clock, so that
 * later changes on the host have a later time. */
int txn_create(const char *dir, uid_t uid, gid_t gid, Txn *ret, Error *reterr);
/* -ENOENT: no transaction of that name. -EBUSY: another run or commit uses it (only with lock). */
int txn_open(const char *id, bool lock, Txn *ret, Error *reterr);
int txn_save(const Txn *t, Error *reterr);
/* Removes all of it, also files that a guest has made hard to remove. */
int txn_remove(Txn *t, Error *reterr);
/* Ids, oldest first; empty if the home does not exist. */
int txn_list(Strv *ret, Error *reterr);

/* Opens the directory. -ESTALE: the path leads to another one by now. */
int txn_open_dir(const Txn *t, Error *reterr);
int txn_open_upper(const Txn *t, Error *reterr);
int txn_open_layer(const Txn *t, char **ret_path, Error *reterr); /* for the jail */

/* rm -r of a name in a directory: follows no link, and changes modes that prevent the removal. */
int txn_remove_tree(int dirfd, const char *name);
