/* run-txn.h: `cove run --txn`: the guest may change a directory freely, while the original stays unchanged.
 *
 * Begins or continues a transaction (txn/txn.h), mounts it into the sandbox as a bind with a layer, and
 * prints at the end how to inspect, commit or discard the changes.
 * Must not know: how the sandbox is supervised. */
#pragma once

#include "base/json.h"
#include "jail/spec.h"
#include "txn/changes.h"
#include "txn/txn.h"

typedef enum TxnAuto {
        TXN_AUTO_KEEP,
        TXN_AUTO_COMMIT,  /* if the command succeeded */
        TXN_AUTO_DISCARD,
        _TXN_AUTO_MAX,
} TxnAuto;

typedef enum TxnFate {
        TXN_KEPT,
        TXN_EMPTY_GONE, /* nothing was changed: removed */
        TXN_COMMITTED,
        TXN_DISCARDED,
        TXN_CONFLICT,   /* kept, because the same files changed outside */
        _TXN_FATE_MAX,
} TxnFate;

typedef struct RunTxn {
        char *dir, *target; /* NULL: no transaction */
        const char *id;     /* to continue; NULL: a new one */
        TxnAuto at_end;
        size_t bind;        /* its index in the spec */
        char *layer;
        bool begun;
        Txn txn;
        ChangeCount count;
        TxnFate fate;
} RunTxn;

#define RUN_TXN_INIT { .txn = TXN_EMPTY }

int run_txn_split(const char *value, char **ret_dir, char **ret_target); /* DIR[:TARGET]; *ret_target NULL: no target given */

int run_txn_begin(RunTxn *t, JailSpec *spec, const Strv *command, Error *reterr);
/* Prints to stderr unless quiet. started: the command has run. */
int run_txn_end(RunTxn *t, bool started, int exit_status, bool quiet, Error *reterr);
void run_txn_report(const RunTxn *t, JsonWriter *w);
void run_txn_done(RunTxn *t);
