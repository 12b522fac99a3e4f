/* shape.c: the shapes of artifacts and their statistics. */

#include "artifact/artifact.h"
#include "base/macro.h"

static const ShapeField artifact_fields[] = {
        { "id",          SHAPE_CHARS,  SHAPE_AT(Artifact, id),         .flags = SHAPE_ALWAYS },
        { "ownerKind",   SHAPE_CHARS,  SHAPE_AT(Artifact, owner_kind), .flags = SHAPE_ALWAYS },
        { "ownerId",     SHAPE_CHARS,  SHAPE_AT(Artifact, owner_id),   .flags = SHAPE_ALWAYS },
        { "tenant",      SHAPE_CHARS,  SHAPE_AT(Artifact, tenant) },
        { "name",        SHAPE_CHARS,  SHAPE_AT(Artifact, name),       .flags = SHAPE_ALWAYS },
        { "contentType", SHAPE_CHARS,  SHAPE_AT(Artifact, type),       .flags = SHAPE_ALWAYS },
        { "size",        SHAPE_UINT64, SHAPE_AT(Artifact, size) },
        { "sha256",      SHAPE_CHARS,  SHAPE_AT(Artifact, sha256),     .flags = SHAPE_ALWAYS },
        { "truncated",   SHAPE_BOOL,   SHAPE_AT(Artifact, truncated) },
        { "createdAt",   SHAPE_UINT64, SHAPE_AT(Artifact, created_at), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "state",       SHAPE_ENUM,   SHAPE_AT(Artifact, state),      .names = &artifact_state_names },
        { "attempts",    SHAPE_UINT32, SHAPE_AT(Artifact, attempts) },
        { "error",       SHAPE_TEXT,   SHAPE_AT(Artifact, error) },
        { "location",    SHAPE_TEXT,   SHAPE_AT(Artifact, place) },
};
const Shape artifact_shape = SHAPE_OF(artifact, Artifact);

#define OF(member) offsetof(ArtifactsStats, member)
static const ShapeField artifacts_stats_fields[] = {
        { "count", SHAPE_UINT64, OF(count) }, { "bytes", SHAPE_UINT64, OF(bytes) },
        { "localBytes", SHAPE_UINT64, OF(local_bytes) }, { "pending", SHAPE_UINT64, OF(pending) },
        { "failed", SHAPE_UINT64, OF(failed) }, { "expired", SHAPE_UINT64, OF(expired) },
        { "evicted", SHAPE_UINT64, OF(evicted) }, { "lost", SHAPE_UINT64, OF(lost) },
        { "lastError", SHAPE_CHARS, SHAPE_AT(ArtifactsStats, last_error) },
        { "lastErrorAt", SHAPE_UINT64, SHAPE_AT(ArtifactsStats, last_error_at), .unit = SHAPE_TIME   },
};
const Shape artifacts_stats_shape = SHAPE_OF(artifacts_stats, ArtifactsStats);
