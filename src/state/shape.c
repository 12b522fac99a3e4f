/* shape.c: the shapes of snapshots and volumes. */

#include "base/macro.h"
#include "state/state.h"

static const ShapeField snapshot_fields[] = {
        { "id",             SHAPE_CHARS,    SHAPE_AT(Snapshot, tree.id),                 .flags = SHAPE_ALWAYS },
        { "name",           SHAPE_TEXT,     SHAPE_AT(Snapshot, tree.name) },
        { "tenant",         SHAPE_TEXT,     SHAPE_AT(Snapshot, tree.tenant) },
        { "sandbox",        SHAPE_TEXT,     SHAPE_AT(Snapshot, sandbox),            .flags = SHAPE_ALWAYS },
        { "parent",         SHAPE_TEXT,     SHAPE_AT(Snapshot, parent) },
        { "comment",        SHAPE_TEXT,     SHAPE_AT(Snapshot, comment) },
        { "template",       SHAPE_BORROWED, SHAPE_AT(Snapshot, spec.template_name) },
        { "templateDigest", SHAPE_BORROWED, SHAPE_AT(Snapshot, spec.digest) },
        { "bytes",          SHAPE_UINT64,   SHAPE_AT(Snapshot, tree.bytes) },
        { "createdAt",      SHAPE_UINT64,   SHAPE_AT(Snapshot, tree.created_at),         .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
};
const Shape state_snapshot_shape = SHAPE_OF(snapshot, Snapshot);

static const ShapeField volume_fields[] = {
        { "id",        SHAPE_CHARS,  SHAPE_AT(Volume, tree.id),         .flags = SHAPE_ALWAYS },
        { "name",      SHAPE_TEXT,   SHAPE_AT(Volume, tree.name),       .flags = SHAPE_ALWAYS },
        { "tenant",    SHAPE_TEXT,   SHAPE_AT(Volume, tree.tenant) },
        { "sizeMB",    SHAPE_UINT64, SHAPE_AT(Volume, limit),      .unit = SHAPE_MEGABYTES },
        { "usedBytes", SHAPE_UINT64, SHAPE_AT(Volume, tree.bytes) },
        { "createdAt", SHAPE_UINT64, SHAPE_AT(Volume, tree.created_at), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
};
const Shape state_volume_shape = SHAPE_OF(volume, Volume);
