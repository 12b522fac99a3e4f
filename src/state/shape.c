/* shape.c: snapshots and volumes, described. */

#include "base/macro.h"
#include "state/state.h"

static const ShapeField snapshot_fields[] = {
        { "id",             SHAPE_CHARS,    SHAPE_AT(Snapshot, id),                 .flags = SHAPE_ALWAYS },
        { "name",           SHAPE_TEXT,     SHAPE_AT(Snapshot, name) },
        { "tenant",         SHAPE_TEXT,     SHAPE_AT(Snapshot, tenant) },
        { "sandbox",        SHAPE_TEXT,     SHAPE_AT(Snapshot, sandbox),            .flags = SHAPE_ALWAYS },
        { "parent",         SHAPE_TEXT,     SHAPE_AT(Snapshot, parent) },
        { "comment",        SHAPE_TEXT,     SHAPE_AT(Snapshot, comment) },
        { "template",       SHAPE_BORROWED, SHAPE_AT(Snapshot, spec.template_name) },
        { "templateDigest", SHAPE_BORROWED, SHAPE_AT(Snapshot, spec.digest) },
        { "bytes",          SHAPE_UINT64,   SHAPE_AT(Snapshot, bytes) },
        { "createdAt",      SHAPE_UINT64,   SHAPE_AT(Snapshot, created_at),         .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
};
const Shape state_snapshot_shape = SHAPE_OF(snapshot, Snapshot);

static const ShapeField volume_fields[] = {
        { "id",        SHAPE_CHARS,  SHAPE_AT(Volume, id),         .flags = SHAPE_ALWAYS },
        { "name",      SHAPE_TEXT,   SHAPE_AT(Volume, name),       .flags = SHAPE_ALWAYS },
        { "tenant",    SHAPE_TEXT,   SHAPE_AT(Volume, tenant) },
        { "sizeMB",    SHAPE_UINT64, SHAPE_AT(Volume, limit),      .unit = SHAPE_MEGABYTES },
        { "usedBytes", SHAPE_UINT64, SHAPE_AT(Volume, bytes) },
        { "createdAt", SHAPE_UINT64, SHAPE_AT(Volume, created_at), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
};
const Shape state_volume_shape = SHAPE_OF(volume, Volume);
