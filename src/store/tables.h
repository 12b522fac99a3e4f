/* tables.h: which members are kept in which table; field.h says how. The columns are made by migrations.c. */
#pragma once

#include "artifact/rows.h"
#include "core/rows.h"
#include "observe/history-rows.h"
#include "store/field.h"

extern const FieldTable sandbox_table;         /* Sandbox: what was asked for */
extern const FieldTable sandbox_state_table;   /* Sandbox: what has become of it */
extern const FieldTable execution_table;       /* Execution, likewise */
extern const FieldTable execution_state_table;
extern const FieldTable key_table;             /* Key */
extern const FieldTable tenant_table;          /* Tenant */
extern const FieldTable event_table;           /* StoreEvent */
extern const FieldTable ledger_table;          /* LedgerRow */
extern const FieldTable artifact_table;        /* Artifact */
extern const FieldTable artifact_state_table;  /* Artifact: what changes */
extern const FieldTable counter_table;         /* CounterRow */
extern const FieldTable job_table;             /* Job: what was asked for */
extern const FieldTable job_state_table;       /* Job: what has become of it */
extern const FieldTable job_line_table;        /* Job: what the queue goes by, of both */
extern const FieldTable job_line_state_table;
extern const FieldTable job_id_table;          /* Job: the id alone */
extern const FieldTable attempt_table;         /* JobAttempt */
extern const FieldTable alert_table;           /* StoreAlert */
extern const FieldTable notification_table;    /* StoreNotification */
extern const FieldTable history_table;         /* HistoryRow */
extern const FieldTable usage_table;           /* UsageRow */
extern const FieldTable usage_hour_table;      /* UsageHour */
extern const FieldTable cleanup_table;         /* CleanupRow */
extern const FieldTable preview_table;         /* StorePreview */
extern const FieldTable network_use_table;     /* NetworkUse */
extern const FieldTable denial_table;          /* NetworkDenial */
extern const FieldTable learned_table;         /* NetworkLearned */
extern const FieldTable approval_table;        /* StoreApproval */
extern const FieldTable grant_table;           /* NetworkGrant */
extern const FieldTable snapshot_table;        /* Snapshot */
extern const FieldTable volume_table;          /* Volume */
extern const FieldTable image_table;           /* Image */
extern const FieldTable template_table;        /* StoreTemplate */
extern const FieldTable layer_table;           /* StoreLayer */
extern const FieldTable image_snapshot_table;  /* StoreImageSnapshot */
extern const FieldTable build_cache_table;     /* StoreCache */
extern const FieldTable making_table;          /* StoreMaking */
extern const FieldTable build_table;           /* BuildRecord */
extern const FieldTable secret_note_table;     /* SecretNote */

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
