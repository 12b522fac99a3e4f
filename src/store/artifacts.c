/* Rows of artifacts. */
#include "artifact/rows.h"

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

static const char *const artifact_states[_ARTIFACT_STATE_MAX] = {
        [ARTIFACT_LOCAL]   = "local",
        [ARTIFACT_PENDING] = "pending",
        [ARTIFACT_REMOTE]  = "remote",
        [ARTIFACT_FAILED]  = "failed",
};
const ShapeNames artifact_state_names = SHAPE_WORDS(artifact_states);
SHAPE_NAMED(artifact_state_name, artifact_state_from_name, int, artifact_state_names);

static const ShapeField artifact_table_fields[] = {
        FIELD("id",         chars,  Artifact, id),
        FIELD("owner_kind", chars,  Artifact, owner_kind),
        FIELD("owner_id",   chars,  Artifact, owner_id),
        FIELD("tenant",     chars,  Artifact, tenant),
        FIELD("name",       chars,  Artifact, name),
        FIELD("type",       chars,  Artifact, type),
        FIELD("sha256",     chars,  Artifact, sha256),
        FIELD("size",       uint64, Artifact, size),
        FIELD("truncated",  bool,   Artifact, truncated),
        FIELD("created_at", uint64, Artifact, created_at),
        FIELD("state",      named,  Artifact, state, .names = &artifact_state_names),
        FIELD("attempts",   uint32, Artifact, attempts),
        FIELD("error",      text,   Artifact, error),
        FIELD("place",      text,   Artifact, place),
        FIELD_GIVEN("serial",       Artifact, serial),
};
enum { ARTIFACT_FIND, ARTIFACT_OF_OWNER, ARTIFACT_ALL, ARTIFACT_IN_STATE, ARTIFACT_OLDEST, ARTIFACT_COUNT, ARTIFACT_RETRY };
#define ARTIFACT_FILTER " AND (?3 IS NULL OR tenant = ?3) AND (?4 IS NULL OR owner_kind = ?4) ORDER BY serial LIMIT ?2"
static const char *const artifact_queries[] = {
        [ARTIFACT_FIND]     = "WHERE id = ?1",
        [ARTIFACT_OF_OWNER] = "WHERE owner_id = ?5 AND serial > ?1" ARTIFACT_FILTER,
        [ARTIFACT_ALL]      = "WHERE serial > ?1" ARTIFACT_FILTER,
        [ARTIFACT_IN_STATE] = "WHERE state = ?1 AND serial > ?2 ORDER BY serial LIMIT ?3",
        [ARTIFACT_OLDEST]   = "WHERE state <> 'remote' AND created_at <= ?1 AND (?3 IS NULL OR coalesce(tenant, '') = ?3) ORDER BY serial LIMIT ?2",
        [ARTIFACT_COUNT]    = "SELECT count(*) FROM artifact WHERE owner_id = ?2 AND owner_kind = ?1",
        [ARTIFACT_RETRY]    = "UPDATE artifact SET state = 'pending', attempts = 0 WHERE state = 'failed'",
};
TABLE(artifact_table, Artifact, "artifact", 1, INSERTS | UPDATES | DELETES, .grows = true, .n_fixed = 10, QUERIES(artifact_queries));
STORE_READER(artifact_row, const Artifact);

static const ShapeField artifact_sums_table_fields[] = {
        FIELD("tenant",      chars,  StoreArtifactSums, tenant),
        FIELD("count",       uint64, StoreArtifactSums, count),
        FIELD("bytes",       uint64, StoreArtifactSums, bytes),
        FIELD("local_bytes", uint64, StoreArtifactSums, local_bytes),
        FIELD("pending",     uint64, StoreArtifactSums, pending),
        FIELD("failed",      uint64, StoreArtifactSums, failed),
};
static const char *const artifact_sums_queries[] = {
        ("SELECT tenant, count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN state <> 'remote' THEN size ELSE 0 END), 0),"
         " coalesce(sum(state = 'pending'), 0), coalesce(sum(state = 'failed'), 0) FROM artifact GROUP BY tenant"),
};
TABLE(artifact_sums_table, StoreArtifactSums, "artifact", 0, 0, QUERIES(artifact_sums_queries));

void artifact_done(Artifact *a) {
        store_row_done(&artifact_table, a);
}

int store_artifact_list(Store *s, const ArtifactQuery *q, StoreArtifactEach each, void *userdata) {
        StoreValues values = VALUES(NUMBER(q->after), NUMBER(q->limit), TEXT(q->tenant), TEXT(q->owner_kind), TEXT(q->owner_id));

        if (!q->owner_id)
                values.n--;
        return query_read(s, &artifact_table, q->owner_id ? ARTIFACT_OF_OWNER : ARTIFACT_ALL, values,
                        &(StoreReader) { artifact_row, (void (*)(void)) each, userdata });
}

int store_artifact_in_state(Store *s, int state, uint64_t after, unsigned limit, StoreArtifactEach each, void *userdata) {
        return query_read(s, &artifact_table, ARTIFACT_IN_STATE, VALUES(TEXT(artifact_state_name(state)), NUMBER(after), NUMBER(limit)),
                        &(StoreReader) { artifact_row, (void (*)(void)) each, userdata });
}

int store_artifact_oldest(Store *s, const char *tenant, usec_t before, unsigned limit, StoreArtifactEach each, void *userdata) {
        return query_read(s, &artifact_table, ARTIFACT_OLDEST, VALUES(NUMBER(before), NUMBER(limit), TEXT(tenant)),
                        &(StoreReader) { artifact_row, (void (*)(void)) each, userdata });
}

int store_artifact_find(Store *s, const char *id, Artifact *ret) {
        return query_find(s, &artifact_table, ARTIFACT_FIND, VALUES(TEXT(id)), ret);
}

int store_artifact_count(Store *s, const char *kind, const char *owner, uint64_t *ret) {
        return query_count(s, &artifact_table, ARTIFACT_COUNT, VALUES(TEXT(kind), TEXT(owner)), ret);
}

int store_artifact_retry(Store *s) {
        return query_run(s, &artifact_table, ARTIFACT_RETRY, NO_VALUES, /* ret_value= */ NULL);
}

STORE_READER(artifact_sums_row, const StoreArtifactSums);

int store_artifact_sums(Store *s, int (*each)(const StoreArtifactSums *sums, void *userdata), void *userdata) {
        return query_read(s, &artifact_sums_table, 0, NO_VALUES, &(StoreReader) { artifact_sums_row, (void (*)(void)) each, userdata });
}
