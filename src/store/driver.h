/* driver.h: runs the queries of a single table.
 *
 * core/store.h has the operations of every table; functions that are specific to one table are made of these. A query
 * is given by its index in the table's list, with its parameters as values.
 * Must not know: what rows mean. */
#pragma once

#include <stdint.h>

#include "base/macro.h"
#include "core/store.h"

typedef enum StoreValueKind { VALUE_TEXT, VALUE_NUMBER, VALUE_BLOB } StoreValueKind;

typedef struct StoreValue {
        StoreValueKind kind;
        const void *data; /* borrowed */
        size_t size;
        uint64_t number; /* at most INT64_MAX; a larger value becomes that */
} StoreValue;

typedef struct StoreValues {
        const StoreValue *items;
        size_t n;
} StoreValues;

#define TEXT(text)            { .kind = VALUE_TEXT, .data = (text) } /* NULL: NULL */
#define NUMBER(value)         { .kind = VALUE_NUMBER, .number = (value) }
#define BLOB(bytes, n_bytes)  { .kind = VALUE_BLOB, .data = (bytes), .size = (n_bytes) }
#define VALUES(...)           (StoreValues) { (const StoreValue[]) { __VA_ARGS__ }, ELEMENTSOF(((const StoreValue[]) { __VA_ARGS__ })) }
#define NO_VALUES             (StoreValues) { 0 }

/* ret_value: the first column of the first row, untouched when there is no row; may be NULL. */
int query_run(Store *s, const StoreTable *t, unsigned query, StoreValues values, int64_t *ret_value);
/* The row's columns are the first parameters; the values follow. */
int query_write(Store *s, const StoreTable *t, unsigned query, const void *row, StoreValues values, int64_t *ret_value);
int query_count(Store *s, const StoreTable *t, unsigned query, StoreValues values, uint64_t *ret);

int query_read(Store *s, const StoreTable *t, unsigned query, StoreValues values, StoreReader *reader); /* -EBUSY: called from within itself */
int query_find(Store *s, const StoreTable *t, unsigned query, StoreValues values, void *ret); /* the first row. -ENOENT: none */

/* Updates both halves of an object that has two. -ENOENT */
int store_update_all(Store *s, const StoreTable *t, const void *row);

/* Inserts, then runs the query `trim`, which removes all but the newest `keep` rows; in one transaction. */
int store_insert_trimmed(Store *s, const StoreTable *t, const void *row, unsigned trim, unsigned keep);
