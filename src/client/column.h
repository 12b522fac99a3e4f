/* column.h: a table whose rows are JSON objects, defined by columns.
 *
 * Must not know: where the objects come from. */
#pragma once

#include "client/json.h"
#include "client/table.h"

typedef struct Column Column;
struct Column {
        const char *head; /* as table_new() takes it */
        const char *key;  /* of the value: "limits.memoryMB" */
        void (*cell)(Table *t, const json_t *row, const Column *c); /* NULL: a text */
        const char *otherwise; /* shown if the value is missing; NULL: "-" */
        double scale;          /* factor for a number; 0: 1 */
        int digits;            /* digits after the decimal point */
        const char *unit;      /* appended to the number */
};

/* Number cells. They show "-" if there is no number, or a negative one. */
void cell_number(Table *t, const json_t *row, const Column *c);    /* with `digits` decimals */
void cell_short(Table *t, const json_t *row, const Column *c);     /* with as many decimals as needed */
void cell_megabytes(Table *t, const json_t *row, const Column *c);
void cell_span(Table *t, const json_t *row, const Column *c);      /* a duration in microseconds, after scaling */

void cell_id(Table *t, const json_t *row, const Column *c); /* its beginning, which every verb accepts; whole if set */

void cell_count(Table *t, const json_t *row, const Column *c);     /* no value: 0 */
void cell_of(Table *t, const json_t *row,
                const Column *c); /* "3/20": the total is the member that `unit` names */
void cell_size(Table *t, const json_t *row, const Column *c);      /* in bytes; likewise */
void cell_age(Table *t, const json_t *row, const Column *c);       /* time since a timestamp; "-": no timestamp */
void cell_status(Table *t, const json_t *row, const Column *c);    /* a status in its colour */
void cell_failing(Table *t, const json_t *row, const Column *c);   /* a text; red if it reports a failure */

Table *columns_table(const Column *columns, size_t n);
void columns_add(Table *t, const Column *columns, size_t n, const json_t *row);

/* Prints the table to stdout. t may be NULL (out of memory). Returns the exit status; failures have been
 * reported. */
int table_finish(const Table *t);

/* Builds and prints the whole table. */
int columns_show(const Column *columns, size_t n, const json_t *list);
