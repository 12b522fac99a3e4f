/* Rows of builds. */
#include "build/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const char *const statuses[_BUILD_STATUS_MAX] = {
        [BUILD_WAITING] = "waiting",
        [BUILD_RUNNING] = "building",
        [BUILD_READY] = "ready",
        [BUILD_FAILED] = "error",
};

const char *build_status_name(int status) {
        return status >= 0 && status < _BUILD_STATUS_MAX ? statuses[status] : NULL;
}

int build_status_from_name(const char *name) {
        for (int i = 0; i < _BUILD_STATUS_MAX; i++)
                if (strcmp(statuses[i], name) == 0)
                        return i;
        return -EINVAL;
}

NAMES(build_status, int);

static const ShapeField build_table_fields[] = {
        FIELD("id",           chars,  BuildRecord, id),
        FIELD("tenant",       text,   BuildRecord, tenant),
        FIELD("name",         text,   BuildRecord, name),
        FIELD("tags",         strv,   BuildRecord, tags, .max = BUILD_TAGS_MAX),
        FIELD("cpu_milli",    uint32, BuildRecord, cpu_milli),
        FIELD("memory_bytes", uint64, BuildRecord, memory_bytes),
        FIELD("making",       chars,  BuildRecord, making),
        FIELD("status",       named,  BuildRecord, status, .names = &build_status_names),
        FIELD("error",        text,   BuildRecord, error),
        FIELD("digest",       chars,  BuildRecord, digest),
        FIELD("created_at",   uint64, BuildRecord, created_at),
        FIELD("ended_at",     uint64, BuildRecord, ended_at),
};
TABLE(build_table, "build", 1);

int store_build_put(Store *s, const BuildRecord *row) {
        return statement_write(s, STATEMENT_BUILD_PUT, &build_table, table_columns(&build_table), row);
}

int store_build_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_BUILD_DELETE, id);
}

void store_build_done(BuildRecord *row) {
        table_done(&build_table, row);
}

typedef struct BuildEach {
        int (*each)(BuildRecord *row, void *userdata);
        void *userdata;
} BuildEach;

static int build_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const BuildEach *e = userdata;
        BuildRecord row = { 0 };
        int r = table_load(&build_table, st, 0, &row);

        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&build_table, &row);
        return r;
}

int store_build_each(Store *s, int (*each)(BuildRecord *row, void *userdata), void *userdata) {
        BuildEach e = { each, userdata };

        return statement_each(s, STATEMENT_BUILD_SELECT, SQLITE_OK, build_row, &e);
}
