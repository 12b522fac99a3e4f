/* Rows as nobody of ours has written them: values of other types, numbers that do not fit, texts with a NUL, NULLs, lists without an end.
 * What is loaded keeps the bounds of its struct and can be written and loaded again; everything else is refused.
 *
 * Input: the number of a table; then, for each of its columns, a kind and as much as that takes. */
#include "fuzz.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/strv.h"
#include "store/statement.h"

#define TABLE_DECLARE(symbol) extern const StoreTable symbol;
#define TABLE_POINTER(symbol) &(symbol),
STORE_TABLES(TABLE_DECLARE)
static const StoreTable *const tables[_TABLE_MAX] = { STORE_TABLES(TABLE_POINTER) };

typedef struct Input {
        const uint8_t *data;
        size_t size;
} Input;

static uint8_t input_byte(Input *in) {
        if (in->size == 0)
                return 0;
        in->size--;
        return *in->data++;
}

static uint64_t input_number(Input *in) {
        uint64_t n = 0;

        for (unsigned i = 0; i < 8; i++)
                n = n << 8 | input_byte(in);
        return n;
}

/* So many bytes of it, or what is left. */
static Input input_bytes(Input *in) {
        size_t n = input_byte(in);
        Input part = { in->data, n < in->size ? n : in->size };

        in->data += part.size;
        in->size -= part.size;
        return part;
}

static void bind_large(sqlite3_stmt *st, int parameter, Input *in) {
        size_t size = (size_t) input_byte(in) << 12;
        char *text = malloc(size + 1);

        MUST(text);
        memset(text, 'x', size);
        MUST(sqlite3_bind_text64(st, parameter, text, size, free, SQLITE_UTF8) == SQLITE_OK);
}

/* A value that the column is meant for, where it has names. */
static void bind_name(sqlite3_stmt *st, int parameter, Input *in, const ShapeField *f) {
        int n = input_byte(in);
        const char *name = f->names ? shape_name(f->names, n % f->names->max) : "name";

        (void) sqlite3_bind_text(st, parameter, name, -1, SQLITE_STATIC); /* NULL is NULL */
}

static void bind_value(sqlite3_stmt *st, int parameter, Input *in, const ShapeField *f) {
        uint64_t bits;
        double real;
        Input part;

        switch (input_byte(in) % 8) {
        case 0: MUST(sqlite3_bind_null(st, parameter) == SQLITE_OK); return;
        case 1: MUST(sqlite3_bind_int64(st, parameter, (sqlite3_int64) input_number(in)) == SQLITE_OK); return;
        case 2: MUST(sqlite3_bind_int(st, parameter, input_byte(in)) == SQLITE_OK); return;
        case 3:
                bits = input_number(in);
                memcpy(&real, &bits, sizeof(real));
                MUST(sqlite3_bind_double(st, parameter, real) == SQLITE_OK);
                return;
        case 4:
                part = input_bytes(in);
                MUST(sqlite3_bind_text64(st, parameter, (const char *) part.data, part.size, SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK);
                return;
        case 5:
                part = input_bytes(in);
                MUST(sqlite3_bind_blob64(st, parameter, part.size > 0 ? part.data : (const uint8_t *) "", part.size, SQLITE_TRANSIENT) == SQLITE_OK);
                return;
        case 6: bind_name(st, parameter, in, f); return;
        default: bind_large(st, parameter, in);
        }
}

/* SELECT ?1, ?2, …: a row of nobody's table. */
static sqlite3_stmt *prepare_row(sqlite3 *db, size_t n) {
        char *sql = malloc(16 + n * 8), *p;
        sqlite3_stmt *st = NULL;

        MUST(sql);
        p = sql + sprintf(sql, "SELECT ");
        for (size_t i = 0; i < n; i++)
                p += sprintf(p, "%s?%zu", i > 0 ? "," : "", i + 1);
        MUST(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK);
        free(sql);
        return st;
}

static void check_column(const TableColumn *c, const void *row) {
        const ShapeField *f = c->field;
        const void *object = (const char *) row + c->base, *at = shape_at(f, object);
        const char *text;

        switch (f->kind) {
        case SHAPE_BOOL: MUST(*(const uint8_t *) at <= 1); return;
        case SHAPE_ENUM: MUST(shape_get(f, object) >= 0 && shape_get(f, object) < f->names->max); return;
        case SHAPE_CHARS: MUST(memchr(at, '\0', f->size)); return;
        case SHAPE_TEXT:
        case SHAPE_JSON:
        case SHAPE_BORROWED:
                text = *(const char *const *) at;
                MUST(!text || strlen(text) <= 255 << 12);
                return;
        case SHAPE_STRV: MUST(((const Strv *) at)->n <= ((const Strv *) at)->max); return;
        case SHAPE_LIST: MUST(*(const size_t *) (const void *) ((const char *) object + f->count) <= (size_t) f->max); return;
        default: return;
        }
}

/* Where a member is bound by a function of its own, that may need more than was loaded. */
static bool layout_is_plain(const TableLayout *l) {
        for (size_t i = 0; i < l->n; i++)
                if (l->columns[i].field->sql)
                        return false;
        return true;
}

static void *new_row(const StoreTable *t) {
        void *row = calloc(1, t->size);

        MUST(row);
        return row;
}

static void check_row(sqlite3 *db, const TableLayout *l, void *row) {
        sqlite3_stmt *st;
        void *again;

        for (size_t i = 0; i < l->n; i++)
                check_column(l->columns + i, row);
        if (!layout_is_plain(l))
                return;
        st = prepare_row(db, l->n);
        again = new_row(l->table);
        MUST(table_bind(l, TABLE_INSERT, st, row) == SQLITE_OK);
        MUST(sqlite3_step(st) == SQLITE_ROW);
        MUST(table_load(l, st, 0, again) == 0);
        store_row_done(l->table, again);
        free(again);
        (void) sqlite3_finalize(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Input in = { data, size };
        const StoreTable *t = tables[input_byte(&in) % _TABLE_MAX];
        TableLayout l = { 0 };
        sqlite3 *db = NULL;
        sqlite3_stmt *st;
        void *row = new_row(t);
        int r;

        MUST(sqlite3_open(":memory:", &db) == SQLITE_OK);
        MUST(table_layout(t, &l) == 0);
        st = prepare_row(db, l.n);
        for (size_t i = 0; i < l.n; i++)
                bind_value(st, (int) i + 1, &in, l.columns[i].field);
        MUST(sqlite3_step(st) == SQLITE_ROW);
        r = table_load(&l, st, 0, row);
        MUST(r == 0 || r == -EBADMSG);
        if (r == 0)
                check_row(db, &l, row);
        store_row_done(t, row);
        free(row);
        (void) sqlite3_finalize(st);
        table_layout_done(&l);
        (void) sqlite3_close(db);
        return 0;
}
