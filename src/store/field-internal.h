/* field-internal.h: one column; for table.c. */
#pragma once

#include "store/field.h"

int field_bind(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *row); /* SQLite's result */
int field_load(sqlite3_stmt *st, int column, const ShapeField *field, void *row);          /* errno */
