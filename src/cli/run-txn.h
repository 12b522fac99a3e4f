/* run-txn.h: `cove run --txn`: a directory that the guest may change as it likes, and that stays as it is.
 *
 * Begins a transaction (txn/txn.h) or goes on with one, hangs it into the sandbox as a bind with a layer, and says at the end what there is to look at, to take or
 * to drop.
 * Must not know: how the sandbox is supervised. */
#pragma once

#include "base/json.h"
#include "jail/spec.h"
#include "txn/changes.h"
#include "txn/txn.h"

typedef enum TxnAuto {
        TXN_AUTO_KEEP,
        TXN_AUTO_COMMIT,  /* when the command ended well */
        TXN_AUTO_DISCARD,
        _TXN_AUTO_MAX,
} TxnAuto;

typedef enum TxnFate {
        TXN_KEPT,
        TXN_EMPTY_GONE, /* nothing was changed */
        TXN_COMMITTED,
        TXN_DISCARDED,
        TXN_CONFLICT,   /* kept, for others have changed the same */
        _TXN_FATE_MAX,
} TxnFate;

typedef struct RunTxn {
        char *dir, *target; /* NULL: no transaction */
        const char *id;     /* to go on with; NULL: a new one */
        TxnAuto at_end;
        size_t bind;        /* which of the spec's */
        char *layer;
        bool begun;
        Txn txn;
        ChangeCount count;
        TxnFate fate;
} RunTxn;

#define RUN_TXN_INIT { .txn = TXN_EMPTY }

int run_txn_split(const char *value, char **ret_dir, char **ret_target); /* DIR[:TARGET]; *ret_target NULL: none was given */

int run_txn_begin(RunTxn *t, JailSpec *spec, const Strv *command, Error *reterr);
/* Tells on stderr unless quiet. started: the command has run. */
int run_txn_end(RunTxn *t, bool started, int exit_status, bool quiet, Error *reterr);
void run_txn_report(const RunTxn *t, JsonWriter *w);
void run_txn_done(RunTxn *t);
