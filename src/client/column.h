/* column.h: a table whose rows are JSON objects, column by column.
 *
 * Must not know: where the objects come from. */
#pragma once

#include "client/json.h"
#include "client/table.h"

typedef struct Column Column;
struct Column {
        const char *head; /* as table_new() takes it */
        const char *key;  /* of what is shown: "limits.memoryMB" */
        void (*cell)(Table *t, const json_t *row, const Column *c); /* NULL: a text */
        const char *otherwise; /* shown when it is not there; NULL: "-" */
        double scale;          /* of a number; 0: 1 */
        int digits;            /* behind its point */
        const char *unit;      /* behind those */
};

/* The cells that are shown as "-" when there is no number, or one below zero. */
void cell_number(Table *t, const json_t *row, const Column *c);    /* with so many digits */
void cell_short(Table *t, const json_t *row, const Column *c);     /* with as many as it takes */
void cell_megabytes(Table *t, const json_t *row, const Column *c);
void cell_span(Table *t, const json_t *row, const Column *c);      /* of so many microseconds, times the scale */

void cell_id(Table *t, const json_t *row, const Column *c); /* its beginning, which every verb takes; all of it in a table with whole ids */

void cell_count(Table *t, const json_t *row, const Column *c);     /* 0: none */
void cell_of(Table *t, const json_t *row,
                const Column *c); /* "3/20": of so many, which is the member that the unit names */
void cell_size(Table *t, const json_t *row, const Column *c);      /* of bytes; likewise */
void cell_age(Table *t, const json_t *row, const Column *c);       /* since a time; "-": it is none */
void cell_status(Table *t, const json_t *row, const Column *c);    /* a text in its colour */
void cell_failing(Table *t, const json_t *row, const Column *c);   /* a text, red when it says so */

Table *columns_table(const Column *columns, size_t n);
void columns_add(Table *t, const Column *columns, size_t n, const json_t *row);

/* Prints it to stdout. t may be NULL. Returns the exit status; what went wrong has been told. */
int table_finish(const Table *t);

/* All of it. */
int columns_show(const Column *columns, size_t n, const json_t *list);
