#include "artifact/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const char *const states[_ARTIFACT_STATE_MAX] = {
        [ARTIFACT_LOCAL]   = "local",
        [ARTIFACT_PENDING] = "pending",
        [ARTIFACT_REMOTE]  = "remote",
        [ARTIFACT_FAILED]  = "failed",
};

const char *artifact_state_name(int state) {
        return state >= 0 && state < _ARTIFACT_STATE_MAX ? states[state] : NULL;
}

int artifact_state_from_name(const char *name) {
        for (int i = 0; name && i < _ARTIFACT_STATE_MAX; i++)
                if (strcmp(states[i], name) == 0)
                        return i;
        return -EINVAL;
}

void artifact_done(Artifact *a) {
        table_done(&artifact_table, a);
}

int store_artifact_insert(Store *s, const Artifact *a) {
        return statement_write(s, STATEMENT_ARTIFACT_INSERT, &artifact_table, table_columns(&artifact_table), a);
}

int store_artifact_update(Store *s, const Artifact *a) {
        return statement_write(s, STATEMENT_ARTIFACT_UPDATE, &artifact_state_table, table_columns(&artifact_state_table), a);
}

int store_artifact_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_ARTIFACT_DELETE, id);
}

typedef struct ArtifactEach {
        StoreArtifactEach each;
        void *userdata;
} ArtifactEach;

/* The serial, then the columns of the table. */
static int artifact_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const ArtifactEach *e = userdata;
        Artifact row = { 0 };
        int r;

        row.serial = (uint64_t) sqlite3_column_int64(st, (int) table_columns(&artifact_table));
        r = table_load(&artifact_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&artifact_table, &row);
        return r;
}

static int store_artifacts_each_row(Store *s, StatementId id, int rc, StoreArtifactEach each, void *userdata) {
        ArtifactEach e = { each, userdata };

        return statement_each(s, id, rc, artifact_row, &e);
}

static sqlite3_int64 store_artifacts_number(uint64_t value) {
        return (sqlite3_int64) MIN_OF(value, (uint64_t) INT64_MAX);
}

static int store_artifacts_bind_text(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

int store_artifact_list(Store *s, const ArtifactQuery *q, StoreArtifactEach each, void *userdata) {
        StatementId id = q->owner_id ? STATEMENT_ARTIFACT_OF_OWNER : STATEMENT_ARTIFACT_ALL;
        sqlite3_stmt *st = s->statements[id];
        int rc = sqlite3_bind_int64(st, 1, store_artifacts_number(q->after));

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, q->limit);
        if (rc == SQLITE_OK)
                rc = store_artifacts_bind_text(st, 3, q->tenant);
        if (rc == SQLITE_OK)
                rc = store_artifacts_bind_text(st, 4, q->owner_kind);
        if (rc == SQLITE_OK && q->owner_id)
                rc = store_artifacts_bind_text(st, 5, q->owner_id);
        return store_artifacts_each_row(s, id, rc, each, userdata);
}

int store_artifact_in_state(Store *s, int state, uint64_t after, unsigned limit, StoreArtifactEach each, void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_ARTIFACT_IN_STATE];
        int rc = sqlite3_bind_text(st, 1, artifact_state_name(state), -1, SQLITE_STATIC);

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, store_artifacts_number(after));
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 3, limit);
        return store_artifacts_each_row(s, STATEMENT_ARTIFACT_IN_STATE, rc, each, userdata);
}

int store_artifact_oldest(Store *s, usec_t before, unsigned limit, StoreArtifactEach each, void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_ARTIFACT_OLDEST];
        int rc = sqlite3_bind_int64(st, 1, store_artifacts_number(before));

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, limit);
        return store_artifacts_each_row(s, STATEMENT_ARTIFACT_OLDEST, rc, each, userdata);
}

/* Moves the texts out of the row, so that freeing it leaves them. */
static int store_artifacts_take_row(const Artifact *row, void *userdata) {
        Artifact *ret = userdata;

        *ret = *row;
        ((Artifact *) row)->error = NULL;
        ((Artifact *) row)->place = NULL;
        return 0;
}

int store_artifact_find(Store *s, const char *id, Artifact *ret) {
        Artifact found = { 0 };
        int r = store_artifacts_each_row(s, STATEMENT_ARTIFACT_FIND, sqlite3_bind_text(s->statements[STATEMENT_ARTIFACT_FIND], 1, id, -1, SQLITE_STATIC),
                        store_artifacts_take_row, &found);

        if (r < 0)
                return r;
        if (!found.id[0])
                return -ENOENT;
        *ret = found;
        return 0;
}

int store_artifact_count(Store *s, const char *kind, const char *owner, uint64_t *ret) {
        sqlite3_stmt *st = s->statements[STATEMENT_ARTIFACT_COUNT];
        int64_t value = 0;
        int r, rc = sqlite3_bind_text(st, 1, kind, -1, SQLITE_STATIC);

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(st, 2, owner, -1, SQLITE_STATIC);
        r = statement_run(s, STATEMENT_ARTIFACT_COUNT, rc, &value);
        if (r >= 0)
                *ret = (uint64_t) value;
        return r;
}

int store_artifact_retry(Store *s) {
        return statement_run(s, STATEMENT_ARTIFACT_RETRY, SQLITE_OK, /* ret_value= */ NULL);
}

static int sums_row(Store *s, sqlite3_stmt *st, void *userdata) {
        StoreArtifactSums *sums = userdata;

        *sums = (StoreArtifactSums) {
                .count = (uint64_t) sqlite3_column_int64(st, 0),
                .bytes = (uint64_t) sqlite3_column_int64(st, 1),
                .local_bytes = (uint64_t) sqlite3_column_int64(st, 2),
                .pending = (uint64_t) sqlite3_column_int64(st, 3),
                .failed = (uint64_t) sqlite3_column_int64(st, 4),
        };
        return 0;
}

int store_artifact_sums(Store *s, StoreArtifactSums *ret) {
        return statement_each(s, STATEMENT_ARTIFACT_SUMS, SQLITE_OK, sums_row, ret);
}
