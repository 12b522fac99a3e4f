/* Rows of images, templates, layers and the build cache, and of the work on them. */
#include "image/rows.h"

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

static const char *const making_kinds[_MAKING_KIND_MAX] = {
        [MAKING_PULL]   = "pull",
        [MAKING_IMPORT] = "import",
        [MAKING_BUILD]  = "build",
        [MAKING_COMMIT] = "commit",
        [MAKING_PUSH]   = "push",
        [MAKING_GC]     = "gc",
};
const ShapeNames making_kind_names = SHAPE_WORDS(making_kinds);

static const char *const making_statuses[_MAKING_STATUS_MAX] = {
        [MAKING_RUNNING]   = "running",
        [MAKING_DONE]      = "done",
        [MAKING_FAILED]    = "failed",
        [MAKING_CANCELLED] = "cancelled",
};
const ShapeNames making_status_names = SHAPE_WORDS(making_statuses);
SHAPE_NAMED(making_kind_name, making_kind_from_name, int, making_kind_names);
SHAPE_NAMED(making_status_name, making_status_from_name, int, making_status_names);

/* A digest identifies the contents; the facts about it that were found here may be written again. */
static const ShapeField image_table_fields[] = {
        FIELD("digest",        chars,  Image, digest),
        FIELD("env",           strv,   Image, config.env, .max = IMAGE_STRINGS_MAX),
        FIELD("workdir",       text,   Image, config.workdir),
        FIELD("user",          text,   Image, config.user),
        FIELD("entrypoint",    strv,   Image, config.entrypoint, .max = IMAGE_STRINGS_MAX),
        FIELD("cmd",           strv,   Image, config.cmd, .max = IMAGE_STRINGS_MAX),
        FIELD("exposed",       strv,   Image, config.exposed, .max = IMAGE_STRINGS_MAX),
        FIELD("labels",        strv,   Image, config.labels, .max = IMAGE_STRINGS_MAX),
        FIELD("start_command", text,   Image, config.start_command),
        FIELD("ready_command", text,   Image, config.ready_command),
        FIELD("created_at",    uint64, Image, created_at),
        FIELD("layer",         chars,  Image, layer),
        FIELD("base",          text,   Image, base),
        FIELD("snapshot",      text,   Image, snapshot),
        FIELD("uid",           uint32, Image, config.uid),
        FIELD("gid",           uint32, Image, config.gid),
        FIELD("home",          text,   Image, config.home),
        FIELD("source",        text,   Image, source),
        FIELD("layers",        text,   Image, layers),
        FIELD("config_digest", text,   Image, config_digest),
        FIELD("bytes",         uint64, Image, bytes),
};
TABLE(image_table, Image, "image", 1, PUTS | DELETES, .n_fixed = 11, IN_ORDER("created_at, digest"));

static const ShapeField template_table_fields[] = {
        FIELD("tenant",     text,   StoreTemplate, tenant),
        FIELD("name",       text,   StoreTemplate, name),
        FIELD("tag",        text,   StoreTemplate, tag),
        FIELD("digest",     chars,  StoreTemplate, digest),
        FIELD("updated_at", uint64, StoreTemplate, updated_at),
};
TABLE(template_table, StoreTemplate, "template", 3, PUTS | DELETES, IN_ORDER("name, tag, tenant"));

static const ShapeField layer_table_fields[] = {
        FIELD("chain",      chars,  StoreLayer, chain),
        FIELD("created_at", uint64, StoreLayer, created_at),
        FIELD("parent",     chars,  StoreLayer, parent),
        FIELD("diff_id",    text,   StoreLayer, diff_id),
        FIELD("digest",     text,   StoreLayer, digest),
        FIELD("media_type", text,   StoreLayer, media_type),
        FIELD("blob_bytes", uint64, StoreLayer, blob_bytes),
        FIELD("bytes",      uint64, StoreLayer, bytes),
        FIELD("removing",   bool,   StoreLayer, removing),
};
TABLE(layer_table, StoreLayer, "layer", 1, PUTS | DELETES, .n_fixed = 2, IN_ORDER("created_at, chain"));

typedef struct SnapshotLayerRow {
        const char *layer;
} SnapshotLayerRow;

static const ShapeField snapshot_layer_table_fields[] = {
        FIELD("layer", borrowed, SnapshotLayerRow, layer),
};
static const char *const snapshot_layer_queries[] = { "SELECT DISTINCT layer FROM snapshot WHERE layer IS NOT NULL" };
TABLE(snapshot_layer_table, SnapshotLayerRow, "snapshot", 0, 0, QUERIES(snapshot_layer_queries));

static int snapshot_layer_row(StoreReader *reader, void *row) {
        const SnapshotLayerRow *found = row;

        return ((int (*)(const char *, void *)) reader->each)(found->layer, reader->userdata);
}

int store_layers_of_snapshots(Store *s, int (*each)(const char *layer, void *userdata), void *userdata) {
        return store_each(s, &snapshot_layer_table, &(StoreReader) { snapshot_layer_row, (void (*)(void)) each, userdata });
}

static const ShapeField image_snapshot_table_fields[] = {
        FIELD("name",       chars,  StoreImageSnapshot, name),
        FIELD("created_at", uint64, StoreImageSnapshot, created_at),
        FIELD("removing",   bool,   StoreImageSnapshot, removing),
};
enum { IMAGE_SNAPSHOT_ALL, IMAGE_SNAPSHOT_FIND, IMAGE_SNAPSHOT_OWNED };
static const char *const image_snapshot_queries[] = {
        [IMAGE_SNAPSHOT_ALL]   = "ORDER BY name",
        [IMAGE_SNAPSHOT_FIND]  = "SELECT 1 FROM image_snapshot WHERE name = ?1",
        [IMAGE_SNAPSHOT_OWNED] = ("SELECT EXISTS (SELECT 1 FROM image_snapshot WHERE name = ?1)"
                                  " OR EXISTS (SELECT 1 FROM snapshot WHERE id = ?1)"),
};
TABLE(image_snapshot_table, StoreImageSnapshot, "image_snapshot", 1, PUTS | DELETES, .n_fixed = 2, QUERIES(image_snapshot_queries));

static int image_snapshot_ask(Store *s, unsigned query, const char *name) {
        uint64_t found = 0;
        int r = query_count(s, &image_snapshot_table, query, VALUES(TEXT(name)), &found);

        return r < 0 ? r : found != 0;
}

int store_image_snapshot_exists(Store *s, const char *name) {
        return image_snapshot_ask(s, IMAGE_SNAPSHOT_FIND, name);
}

int store_snapshot_is_owned(Store *s, const char *name) {
        return image_snapshot_ask(s, IMAGE_SNAPSHOT_OWNED, name);
}

static const ShapeField build_cache_table_fields[] = {
        FIELD("tenant",     text,   StoreCache, tenant),
        FIELD("key",        chars,  StoreCache, key),
        FIELD("snapshot",   chars,  StoreCache, snapshot),
        FIELD("created_at", uint64, StoreCache, created_at),
        FIELD("used_at",    uint64, StoreCache, used_at),
};
TABLE(build_cache_table, StoreCache, "build_cache", 2, PUTS | DELETES, IN_ORDER("used_at, tenant, key"));

static const ShapeField making_table_fields[] = {
        FIELD("id",             chars,  StoreMaking, id),
        FIELD("tenant",         text,   StoreMaking, tenant),
        FIELD("kind",           named,  StoreMaking, kind, .names = &making_kind_names),
        FIELD("name",           text,   StoreMaking, name),
        FIELD("created_at",     uint64, StoreMaking, created_at),
        FIELD("status",         named,  StoreMaking, status, .names = &making_status_names),
        FIELD("error_code",     int,    StoreMaking, error_code),
        FIELD("error",          text,   StoreMaking, error),
        FIELD("digest",         chars,  StoreMaking, digest),
        FIELD("stage",          text,   StoreMaking, stage),
        FIELD("progress_done",  uint64, StoreMaking, progress_done),
        FIELD("progress_total", uint64, StoreMaking, progress_total),
        FIELD("ended_at",       uint64, StoreMaking, ended_at),
};
TABLE(making_table, StoreMaking, "making", 1, PUTS | DELETES, .n_fixed = 5, IN_ORDER("serial"));
