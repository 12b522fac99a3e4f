/* table.h: rows and columns for a person.
 *
 * Aligned, with colours and cut to the window on a terminal only; NO_COLOR takes the colours away. Cells are cleaned: what is in
 * them may come from a sandbox.
 * Must not know: what is in the cells. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/macro.h"

typedef struct Table Table;

typedef enum Colour {
        COLOUR_NONE,
        COLOUR_GREEN,
        COLOUR_YELLOW,
        COLOUR_RED,
        COLOUR_FAINT,
        COLOUR_BOLD,
} Colour;

bool colours_wanted(int fd);
const char *colour_on(Colour c);
const char *colour_off(void);

/* The colour of a status: of a sandbox, of an execution, of what was asked for. */
Colour colour_of_status(const char *status);

/* Column heads, ended by NULL; one that begins with ">" is aligned to the right. The words are borrowed, the list is not. NULL: no memory. */
Table *table_new(const char *const *heads);
Table *table_free(Table *t);
static inline void table_freep(Table **t) {
        *t = table_free(*t);
}
#define _cleanup_table_ _cleanup_(table_freep)

/* The next cell, from left to right, row by row. NULL and "" are shown as "-". */
void table_cell(Table *t, const char *text);
void table_cell_format(Table *t, const char *format, ...) _printf_(2, 3);
void table_cell_colour(Table *t, const char *text, Colour colour);

/* Likewise, of an id: its first TABLE_ID_SHORT characters, unless the table has been told to show whole ones. What is no id is shown as it is. */
#define TABLE_ID_SHORT 8
void table_cell_id(Table *t, const char *text);
void table_show_whole_ids(Table *t);

typedef struct TableLook {
        bool colours;
        unsigned width;      /* columns of the window; 0: no cutting */
        const char *newline; /* "\r\n" on a raw terminal */
        unsigned rows_max;   /* 0: all */
} TableLook;

/* As it fits a stream of its own: colours and cutting when it is a terminal. */
TableLook table_look(int fd);

/* Returns 0, or -ENOMEM when some cell could not be kept. */
int table_print(const Table *t, FILE *to, const TableLook *look);
