#include "image/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const char *const kinds[_MAKING_KIND_MAX] = {
        [MAKING_PULL]   = "pull",
        [MAKING_IMPORT] = "import",
        [MAKING_BUILD]  = "build",
        [MAKING_COMMIT] = "commit",
        [MAKING_PUSH]   = "push",
        [MAKING_GC]     = "gc",
};

static const char *const statuses[_MAKING_STATUS_MAX] = {
        [MAKING_RUNNING]   = "running",
        [MAKING_DONE]      = "done",
        [MAKING_FAILED]    = "failed",
        [MAKING_CANCELLED] = "cancelled",
};

static int find_word(const char *const *words, int n, const char *word) {
        for (int i = 0; word && i < n; i++)
                if (strcmp(words[i], word) == 0)
                        return i;
        return -EINVAL;
}

const char *making_kind_name(int kind) {
        return kind >= 0 && kind < _MAKING_KIND_MAX ? kinds[kind] : NULL;
}

int making_kind_from_name(const char *name) {
        return find_word(kinds, _MAKING_KIND_MAX, name);
}

const char *making_status_name(int status) {
        return status >= 0 && status < _MAKING_STATUS_MAX ? statuses[status] : NULL;
}

int making_status_from_name(const char *name) {
        return find_word(statuses, _MAKING_STATUS_MAX, name);
}

void store_template_done(StoreTemplate *row) {
        table_done(&template_table, row);
}

void store_layer_done(StoreLayer *row) {
        table_done(&layer_table, row);
}

void store_cache_done(StoreCache *row) {
        table_done(&build_cache_table, row);
}

void store_making_done(StoreMaking *row) {
        table_done(&making_table, row);
}

/* All tables are written and read alike. */
#define PUT(statement, table, row) statement_write(s, statement, &table, table_columns(&table), row)

/* EACH(what, Type, table, statement): store_what_each(), each row in a Type of its own that is freed afterwards. */
#define EACH(what, type, table, statement)                                                                   \
        typedef struct type##Each {                                                                          \
                int (*each)(type *row, void *userdata);                                                      \
                void *userdata;                                                                              \
        } type##Each;                                                                                        \
        static int what##_row(Store *s, sqlite3_stmt *st, void *userdata) {                                  \
                const type##Each *e = userdata;                                                              \
                type row = { 0 };                                                                            \
                int r = table_load(&table, st, 0, &row);                                                     \
                                                                                                             \
                if (r >= 0)                                                                                  \
                        r = e->each(&row, e->userdata);                                                      \
                table_done(&table, &row);                                                                    \
                return r;                                                                                    \
        }                                                                                                    \
        int store_##what##_each(Store *s, int (*each)(type * row, void *userdata), void *userdata) {         \
                type##Each e = { each, userdata };                                                           \
                                                                                                             \
                return statement_each(s, statement, SQLITE_OK, what##_row, &e);                              \
        }

EACH(image, Image, image_table, STATEMENT_IMAGE_SELECT)
EACH(template, StoreTemplate, template_table, STATEMENT_TEMPLATE_SELECT)
EACH(layer, StoreLayer, layer_table, STATEMENT_LAYER_SELECT)
EACH(image_snapshot, StoreImageSnapshot, image_snapshot_table, STATEMENT_IMAGE_SNAPSHOT_SELECT)
EACH(cache, StoreCache, build_cache_table, STATEMENT_CACHE_SELECT)
EACH(making, StoreMaking, making_table, STATEMENT_MAKING_SELECT)

int store_image_put(Store *s, const Image *image) {
        return PUT(STATEMENT_IMAGE_PUT, image_table, image);
}

int store_image_delete(Store *s, const char *digest) {
        return statement_write_text(s, STATEMENT_IMAGE_DELETE, digest);
}

int store_template_put(Store *s, const StoreTemplate *row) {
        return PUT(STATEMENT_TEMPLATE_PUT, template_table, row);
}

int store_template_delete(Store *s, const StoreTemplate *row) {
        return statement_write(s, STATEMENT_TEMPLATE_DELETE, &template_table, template_table.n_keys, row);
}

int store_layer_put(Store *s, const StoreLayer *row) {
        return PUT(STATEMENT_LAYER_PUT, layer_table, row);
}

int store_layer_delete(Store *s, const char *chain) {
        return statement_write_text(s, STATEMENT_LAYER_DELETE, chain);
}

int store_image_snapshot_put(Store *s, const StoreImageSnapshot *row) {
        return PUT(STATEMENT_IMAGE_SNAPSHOT_PUT, image_snapshot_table, row);
}

int store_image_snapshot_delete(Store *s, const char *name) {
        return statement_write_text(s, STATEMENT_IMAGE_SNAPSHOT_DELETE, name);
}

static int ask_by_name(Store *s, StatementId id, const char *name) {
        int64_t found = 0;
        int r = statement_run(s, id, sqlite3_bind_text(s->statements[id], 1, name, -1, SQLITE_STATIC), &found);

        return r < 0 ? r : found != 0;
}

int store_image_snapshot_exists(Store *s, const char *name) {
        return ask_by_name(s, STATEMENT_IMAGE_SNAPSHOT_FIND, name);
}

int store_snapshot_is_owned(Store *s, const char *name) {
        return ask_by_name(s, STATEMENT_SNAPSHOT_OWNED, name);
}

int store_cache_put(Store *s, const StoreCache *row) {
        return PUT(STATEMENT_CACHE_PUT, build_cache_table, row);
}

int store_cache_delete(Store *s, const StoreCache *row) {
        return statement_write(s, STATEMENT_CACHE_DELETE, &build_cache_table, build_cache_table.n_keys, row);
}

int store_making_put(Store *s, const StoreMaking *row) {
        return PUT(STATEMENT_MAKING_PUT, making_table, row);
}

int store_making_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_MAKING_DELETE, id);
}

typedef struct LayerNameEach {
        int (*each)(const char *layer, void *userdata);
        void *userdata;
} LayerNameEach;

static int layer_name_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const LayerNameEach *e = userdata;

        return e->each((const char *) sqlite3_column_text(st, 0), e->userdata);
}

int store_layers_of_snapshots(Store *s, int (*each)(const char *layer, void *userdata), void *userdata) {
        LayerNameEach e = { each, userdata };

        return statement_each(s, STATEMENT_LAYER_OF_SNAPSHOTS, SQLITE_OK, layer_name_row, &e);
}
