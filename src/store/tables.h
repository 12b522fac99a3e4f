/* tables.h: which members are kept in which table; field.h says how. The columns are made by migrations.c. */
#pragma once

#include "store/field.h"
#include "store/history.h"
#include "store/artifacts.h"
#include "store/store.h"

extern const Table sandbox_table;         /* Sandbox: what was asked for */
extern const Table sandbox_state_table;   /* Sandbox: what has become of it */
extern const Table execution_table;       /* Execution, likewise */
extern const Table execution_state_table;
extern const Table key_table;             /* Key */
extern const Table tenant_table;          /* Tenant */
extern const Table event_table;           /* StoreEvent */
extern const Table ledger_table;          /* LedgerRow */
extern const Table artifact_table;        /* Artifact */
extern const Table artifact_state_table;  /* Artifact: what changes */
extern const Table counter_table;         /* CounterRow */
extern const Table job_table;             /* Job: what was asked for */
extern const Table job_state_table;       /* Job: what has become of it */
extern const Table job_line_table;        /* Job: what the queue goes by, of both */
extern const Table job_line_state_table;
extern const Table job_id_table;          /* Job: the id alone */
extern const Table attempt_table;         /* JobAttempt */
extern const Table alert_table;           /* StoreAlert */
extern const Table notification_table;    /* StoreNotification */
extern const Table history_table;         /* HistoryRow */
extern const Table usage_table;           /* UsageRow */
extern const Table usage_hour_table;      /* UsageHour */
extern const Table cleanup_table;         /* CleanupRow */
extern const Table preview_table;         /* StorePreview */
extern const Table network_use_table;     /* NetworkUse */
extern const Table denial_table;          /* NetworkDenial */
extern const Table learned_table;         /* NetworkLearned */
extern const Table approval_table;        /* StoreApproval */
extern const Table grant_table;           /* NetworkGrant */
extern const Table snapshot_table;        /* Snapshot */
extern const Table volume_table;          /* Volume */
extern const Table image_table;           /* Image */
extern const Table template_table;        /* StoreTemplate */
extern const Table layer_table;           /* StoreLayer */
extern const Table image_snapshot_table;  /* StoreImageSnapshot */
extern const Table build_cache_table;     /* StoreCache */
extern const Table making_table;          /* StoreMaking */
extern const Table build_table;           /* BuildRecord */
extern const Table secret_note_table;     /* SecretNote */

typedef struct LedgerRow {
        const char *sandbox;
        int kind; /* LedgerKind; a plain int, for field_named */
        const char *name;
} LedgerRow;

typedef struct CounterRow {
        const char *name;
        uint64_t value;
} CounterRow;

int ledger_kind_from_name(const char *name); /* -EINVAL */
