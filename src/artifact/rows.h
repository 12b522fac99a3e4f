/* rows.h: rows of artifacts. See core/store.h. */
#pragma once

#include "artifact/artifact.h"
#include "core/store.h"

typedef int (*StoreArtifactEach)(const Artifact *row, void *userdata); /* < 0: stop */

extern const StoreTable artifact_table;
STORE_WRITE(store_artifact_insert, store_insert, artifact_table, Artifact);
STORE_WRITE(store_artifact_update, store_update, artifact_table, Artifact); /* state, attempts, error, place */
STORE_DELETE(store_artifact_delete, artifact_table);
int store_artifact_find(Store *s, const char *id, Artifact *ret); /* -ENOENT */
int store_artifact_list(Store *s, const ArtifactQuery *query, StoreArtifactEach each, void *userdata);
int store_artifact_in_state(Store *s, int state, uint64_t after, unsigned limit, StoreArtifactEach each, void *userdata);
/* Those with bytes in the directory, the oldest first, created before `before` (UINT64_MAX: any time). */
int store_artifact_oldest(Store *s, const char *tenant /* NULL: any */, usec_t before, unsigned limit, StoreArtifactEach each, void *userdata);
int store_artifact_retry(Store *s) _must_check_; /* sets failed ones to pending */
int store_artifact_count(Store *s, const char *kind, const char *owner, uint64_t *ret);

typedef struct StoreArtifactSums { /* of one tenant */
        char tenant[ARTIFACT_OWNER_MAX + 1];
        uint64_t count, bytes, local_bytes, pending, failed;
} StoreArtifactSums;
int store_artifact_sums(Store *s, int (*each)(const StoreArtifactSums *sums, void *userdata), void *userdata);
