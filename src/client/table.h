/* table.h: prints rows and columns for people.
 *
 * Columns are aligned. Colours and truncation to the window are for terminals only; NO_COLOR disables
 * colours. Cells are cleaned, because their content may come from a sandbox.
 * Must not know: the content of the cells. */
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

/* The colour of a status of a sandbox, an execution or an approval. */
Colour colour_of_status(const char *status);

/* heads: NULL-terminated; a head that begins with ">" aligns its column to the right. The strings are
 * borrowed, the list is not. NULL: out of memory. */
Table *table_new(const char *const *heads);
Table *table_free(Table *t);
static inline void table_freep(Table **t) {
        *t = table_free(*t);
}
#define _cleanup_table_ _cleanup_(table_freep)

/* Adds the next cell, from left to right, row by row. NULL and "" are shown as "-". */
void table_cell(Table *t, const char *text);
void table_cell_format(Table *t, const char *format, ...) _printf_(2, 3);
void table_cell_colour(Table *t, const char *text, Colour colour);

/* Likewise, for an id: shows its first ID_SHORT characters, unless table_show_whole_ids() was called.
 * Text that is not an id is shown unchanged. */
void table_cell_id(Table *t, const char *text);
void table_show_whole_ids(Table *t);

typedef struct TableLook {
        bool colours;
        unsigned width;      /* width of the window in columns; 0: no truncation */
        const char *newline; /* "\r\n" on a raw terminal */
        unsigned rows_max;   /* 0: all */
} TableLook;

/* The look for a descriptor: colours and truncation if it is a terminal. */
TableLook table_look(int fd);

/* Returns 0, or -ENOMEM if a cell could not be stored. */
int table_print(const Table *t, FILE *to, const TableLook *look);
