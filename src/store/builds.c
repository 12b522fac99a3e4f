/* Rows of builds. */
#include "build/rows.h"

#include "store/table.h"
#include "store/tables.h"

static const char *const build_statuses[_BUILD_STATUS_MAX] = {
        [BUILD_WAITING] = "waiting",
        [BUILD_RUNNING] = "building",
        [BUILD_READY] = "ready",
        [BUILD_FAILED] = "error",
};
static const ShapeNames build_status_names = SHAPE_WORDS(build_statuses);

const char *build_status_name(int status) {
        return shape_name(&build_status_names, status);
}

int build_status_from_name(const char *name) {
        return shape_value(&build_status_names, name);
}

static const ShapeField build_table_fields[] = {
        FIELD("id",           chars,  BuildRecord, id),
        FIELD("tenant",       text,   BuildRecord, tenant),
        FIELD("name",         text,   BuildRecord, name),
        FIELD("tags",         strv,   BuildRecord, tags, .max = BUILD_TAGS_MAX),
        FIELD("cpu_milli",    uint32, BuildRecord, cpu_milli),
        FIELD("memory_bytes", uint64, BuildRecord, memory_bytes),
        FIELD("created_at",   uint64, BuildRecord, created_at),
        FIELD("making",       chars,  BuildRecord, making),
        FIELD("status",       named,  BuildRecord, status, .names = &build_status_names),
        FIELD("error",        text,   BuildRecord, error),
        FIELD("digest",       chars,  BuildRecord, digest),
        FIELD("ended_at",     uint64, BuildRecord, ended_at),
};
TABLE(build_table, BuildRecord, "build", 1, PUTS | DELETES, .n_fixed = 7, IN_ORDER("serial"));
