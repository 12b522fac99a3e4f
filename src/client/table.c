#include "client/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/id.h"
#include "cli/terminal.h"
#include "client/human.h"

#define GAP 2

typedef struct Cell {
        char *text;
        Colour colour;
        size_t width;
} Cell;

struct Table {
        const char **heads; /* the list is its own, the words are borrowed */
        size_t n_columns, n_cells, room;
        Cell *cells;
        bool whole_ids;
        int error;
};

static const char *const colour_codes[] = {
        [COLOUR_NONE] = "",
        [COLOUR_GREEN] = "\033[32m",
        [COLOUR_YELLOW] = "\033[33m",
        [COLOUR_RED] = "\033[31m",
        [COLOUR_FAINT] = "\033[2m",
        [COLOUR_BOLD] = "\033[1m",
};

static const struct {
        const char *status;
        Colour colour;
} status_colours[] = {
        { "initializing", COLOUR_YELLOW }, { "ready", COLOUR_GREEN },        { "running", COLOUR_GREEN },
        { "paused", COLOUR_YELLOW },       { "stopped", COLOUR_YELLOW },     { "terminating", COLOUR_YELLOW },
        { "completed", COLOUR_FAINT },     { "failed", COLOUR_RED },         { "terminated", COLOUR_FAINT },
        { "starting", COLOUR_YELLOW },     { "exited", COLOUR_FAINT },       { "dead", COLOUR_RED },
        { "open", COLOUR_YELLOW },         { "allowed", COLOUR_GREEN },      { "denied", COLOUR_RED },
        { "expired", COLOUR_FAINT },
};

bool colours_wanted(int fd) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *colour_on(Colour c) {
        return colour_codes[c];
}

const char *colour_off(void) {
        return "\033[0m";
}

Colour colour_of_status(const char *status) {
        for (size_t i = 0; status && i < ELEMENTSOF(status_colours); i++)
                if (strcmp(status, status_colours[i].status) == 0)
                        return status_colours[i].colour;
        return COLOUR_NONE;
}

Table *table_new(const char *const *heads) {
        Table *t = calloc(1, sizeof(Table));

        if (!t)
                return NULL;
        while (heads[t->n_columns])
                t->n_columns++;
        t->heads = calloc(t->n_columns + 1, sizeof(*t->heads));
        if (!t->heads)
                return table_free(t);
        memcpy(t->heads, heads, t->n_columns * sizeof(*t->heads));
        return t;
}

Table *table_free(Table *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n_cells; i++)
                free(t->cells[i].text);
        free(t->cells);
        free(t->heads);
        free(t);
        return NULL;
}

void table_cell_colour(Table *t, const char *text, Colour colour) {
        char *clean = human_clean(text && *text ? text : "-");

        if (!clean || ARRAY_RESERVE(t->cells, t->room, t->n_cells + 1) < 0) {
                free(clean);
                t->error = -ENOMEM;
                return;
        }
        t->cells[t->n_cells++] = (Cell) { clean, colour, human_width(clean) };
}

void table_cell(Table *t, const char *text) {
        table_cell_colour(t, text, COLOUR_NONE);
}

void table_cell_format(Table *t, const char *format, ...) {
        char text[1024];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        table_cell(t, text);
}

void table_show_whole_ids(Table *t) {
        t->whole_ids = true;
}

void table_cell_id(Table *t, const char *text) {
        if (text && id_is_valid(text) && !t->whole_ids)
                table_cell_format(t, "%.*s", ID_SHORT, text);
        else
                table_cell(t, text);
}

TableLook table_look(int fd) {
        return (TableLook) {
                .colours = colours_wanted(fd),
                .width = isatty(fd) ? terminal_size().ws_col : 0,
                .newline = "\n",
        };
}

static const char *head_text(const char *head) {
        return head + (*head == '>');
}

static size_t column_width(const Table *t, size_t column) {
        size_t width = human_width(head_text(t->heads[column]));

        for (size_t i = column; i < t->n_cells; i += t->n_columns)
                width = MAX_OF(width, t->cells[i].width);
        return width;
}

/* Returns how many bytes of the text fit into a width. */
static int bytes_within(const char *text, size_t width) {
        _cleanup_free_ char *copy = strdup(text);
        size_t n = strlen(text);

        while (copy && n > 0 && human_width(copy) > width) {
                do /* back to the beginning of a character */
                        n--;
                while (n > 0 && ((unsigned char) copy[n] & 0xc0) == 0x80);
                copy[n] = '\0';
        }
        return (int) n;
}

/* The rest of a line of the window. */
typedef struct ClientTableLine {
        FILE *to;
        size_t left; /* SIZE_MAX: no window */
} ClientTableLine;

static void print_gap(ClientTableLine *line, size_t n) {
        n = MIN_OF(n, line->left);
        fprintf(line->to, "%*s", (int) n, "");
        line->left -= n;
}

static void client_table_print_text(ClientTableLine *line, const Cell *c, bool colours) {
        bool coloured = colours && c->colour != COLOUR_NONE;

        fprintf(line->to, "%s%.*s%s", coloured ? colour_on(c->colour) : "",
                        line->left < c->width ? bytes_within(c->text, line->left) : (int) strlen(c->text), c->text,
                        coloured ? colour_off() : "");
        line->left -= MIN_OF(c->width, line->left);
}

static void print_row(const Table *t, FILE *to, const Cell *cells, const size_t *widths, const TableLook *look) {
        ClientTableLine line = { to, look->width > 0 ? look->width : SIZE_MAX };

        for (size_t i = 0; i < t->n_columns; i++) {
                size_t padding = widths[i] - cells[i].width;
                bool right = t->heads[i][0] == '>', last = i + 1 == t->n_columns;

                print_gap(&line, right ? padding : 0);
                client_table_print_text(&line, cells + i, look->colours);
                print_gap(&line, last ? 0 : (right ? 0 : padding) + GAP);
        }
        fputs(look->newline, to);
}

int table_print(const Table *t, FILE *to, const TableLook *look) {
        _cleanup_free_ size_t *widths = calloc(t->n_columns, sizeof(size_t));
        _cleanup_free_ Cell *heads = calloc(t->n_columns, sizeof(Cell));
        size_t n_rows = t->n_cells / t->n_columns;

        if (!widths || !heads)
                return -ENOMEM;
        for (size_t i = 0; i < t->n_columns; i++) {
                const char *text = head_text(t->heads[i]);

                widths[i] = column_width(t, i);
                heads[i] = (Cell) { (char *) text, COLOUR_BOLD, human_width(text) };
        }
        if (look->rows_max > 0)
                n_rows = MIN_OF(n_rows, (size_t) look->rows_max);
        print_row(t, to, heads, widths, look);
        for (size_t i = 0; i < n_rows; i++)
                print_row(t, to, t->cells + i * t->n_columns, widths, look);
        return t->error;
}
