/* tables-images.c: templates and what belongs to them. */

#include "base/macro.h"
#include "image/image.h"
#include "image/rows.h"
#include "store/tables.h"

NAMES(making_kind, int);
NAMES(making_status, int);

static const ShapeField image_table_fields[] = {
        FIELD("digest",        chars,  Image, digest),
        FIELD("layer",         chars,  Image, layer),
        FIELD("base",          text,   Image, base),
        FIELD("snapshot",      text,   Image, snapshot),
        FIELD("env",           strv,   Image, config.env, .max = IMAGE_STRINGS_MAX),
        FIELD("workdir",       text,   Image, config.workdir),
        FIELD("user",          text,   Image, config.user),
        FIELD("uid",           uint32, Image, config.uid),
        FIELD("gid",           uint32, Image, config.gid),
        FIELD("home",          text,   Image, config.home),
        FIELD("entrypoint",    strv,   Image, config.entrypoint, .max = IMAGE_STRINGS_MAX),
        FIELD("cmd",           strv,   Image, config.cmd, .max = IMAGE_STRINGS_MAX),
        FIELD("exposed",       strv,   Image, config.exposed, .max = IMAGE_STRINGS_MAX),
        FIELD("labels",        strv,   Image, config.labels, .max = IMAGE_STRINGS_MAX),
        FIELD("start_command", text,   Image, config.start_command),
        FIELD("ready_command", text,   Image, config.ready_command),
        FIELD("source",        text,   Image, source),
        FIELD("layers",        text,   Image, layers),
        FIELD("config_digest", text,   Image, config_digest),
        FIELD("bytes",         uint64, Image, bytes),
        FIELD("created_at",    uint64, Image, created_at),
};
TABLE(image_table, "image", 1);

static const ShapeField template_table_fields[] = {
        FIELD("tenant",     text,   StoreTemplate, tenant),
        FIELD("name",       text,   StoreTemplate, name),
        FIELD("tag",        text,   StoreTemplate, tag),
        FIELD("digest",     chars,  StoreTemplate, digest),
        FIELD("updated_at", uint64, StoreTemplate, updated_at),
};
TABLE(template_table, "template", 3);

static const ShapeField layer_table_fields[] = {
        FIELD("chain",      chars,  StoreLayer, chain),
        FIELD("parent",     chars,  StoreLayer, parent),
        FIELD("diff_id",    text,   StoreLayer, diff_id),
        FIELD("digest",     text,   StoreLayer, digest),
        FIELD("media_type", text,   StoreLayer, media_type),
        FIELD("blob_bytes", uint64, StoreLayer, blob_bytes),
        FIELD("bytes",      uint64, StoreLayer, bytes),
        FIELD("created_at", uint64, StoreLayer, created_at),
        FIELD("removing",   bool,   StoreLayer, removing),
};
TABLE(layer_table, "layer", 1);

static const ShapeField image_snapshot_table_fields[] = {
        FIELD("name",       chars,  StoreImageSnapshot, name),
        FIELD("created_at", uint64, StoreImageSnapshot, created_at),
        FIELD("removing",   bool,   StoreImageSnapshot, removing),
};
TABLE(image_snapshot_table, "image_snapshot", 1);

static const ShapeField build_cache_table_fields[] = {
        FIELD("tenant",     text,   StoreCache, tenant),
        FIELD("key",        chars,  StoreCache, key),
        FIELD("snapshot",   chars,  StoreCache, snapshot),
        FIELD("created_at", uint64, StoreCache, created_at),
        FIELD("used_at",    uint64, StoreCache, used_at),
};
TABLE(build_cache_table, "build_cache", 2);

static const ShapeField making_table_fields[] = {
        FIELD("id",             chars,  StoreMaking, id),
        FIELD("tenant",         text,   StoreMaking, tenant),
        FIELD("kind",           named,  StoreMaking, kind, .names = &making_kind_names),
        FIELD("name",           text,   StoreMaking, name),
        FIELD("status",         named,  StoreMaking, status, .names = &making_status_names),
        FIELD("error_code",     int,    StoreMaking, error_code),
        FIELD("error",          text,   StoreMaking, error),
        FIELD("digest",         chars,  StoreMaking, digest),
        FIELD("stage",          text,   StoreMaking, stage),
        FIELD("progress_done",  uint64, StoreMaking, progress_done),
        FIELD("progress_total", uint64, StoreMaking, progress_total),
        FIELD("created_at",     uint64, StoreMaking, created_at),
        FIELD("ended_at",       uint64, StoreMaking, ended_at),
};
TABLE(making_table, "making", 1);
