#include "client/column.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/verbs.h"
#include "client/human.h"

#define COLUMNS_MAX 32

static double column_number(const json_t *row, const Column *c, double otherwise) {
        const json_t *value = json_at(row, c->key);

        return json_is_number(value) ? json_number_value(value) * (c->scale > 0 ? c->scale : 1) : otherwise;
}

void cell_number(Table *t, const json_t *row, const Column *c) {
        double n = column_number(row, c, -1);

        if (n < 0)
                table_cell(t, c->otherwise);
        else
                table_cell_format(t, "%.*f%s", c->digits, n, c->unit ? c->unit : "");
}

void cell_short(Table *t, const json_t *row, const Column *c) {
        double n = column_number(row, c, -1);

        if (n < 0)
                table_cell(t, c->otherwise);
        else
                table_cell_format(t, "%g%s", n, c->unit ? c->unit : "");
}

void cell_megabytes(Table *t, const json_t *row, const Column *c) {
        double n = column_number(row, c, -1);
        char text[HUMAN_MAX];

        table_cell(t, n < 0 ? c->otherwise : human_megabytes(n, text));
}

void cell_span(Table *t, const json_t *row, const Column *c) {
        double usec = column_number(row, c, -1);
        char text[HUMAN_MAX];

        table_cell(t, usec < 0 ? c->otherwise : human_span((usec_t) usec, text));
}

void cell_id(Table *t, const json_t *row, const Column *c) {
        table_cell_id(t, json_text_of(json_at(row, c->key)));
}

void cell_count(Table *t, const json_t *row, const Column *c) {
        table_cell_format(t, "%.0f", column_number(row, c, 0));
}

void cell_of(Table *t, const json_t *row, const Column *c) {
        const Column total = { .key = c->unit };

        table_cell_format(t, "%.0f/%.0f", column_number(row, c, 0), column_number(row, &total, 0));
}

void cell_size(Table *t, const json_t *row, const Column *c) {
        char text[HUMAN_MAX];

        table_cell(t, human_size(column_number(row, c, 0), text));
}

void cell_age(Table *t, const json_t *row, const Column *c) {
        const char *text = json_text_of(json_at(row, c->key));
        usec_t at, now = clock_wall_usec();
        char age[HUMAN_MAX];

        table_cell(t, human_parse_time(text, &at) < 0 ? c->otherwise : human_span(now > at ? now - at : 0, age));
}

void cell_status(Table *t, const json_t *row, const Column *c) {
        const char *status = json_text_of(json_at(row, c->key));

        table_cell_colour(t, status, colour_of_status(status));
}

void cell_failing(Table *t, const json_t *row, const Column *c) {
        const char *text = json_text_of(json_at(row, c->key));

        table_cell_colour(t, text ? text : c->otherwise, text && strncmp(text, "fail", 4) == 0 ? COLOUR_RED : COLOUR_NONE);
}

Table *columns_table(const Column *columns, size_t n) {
        const char *heads[COLUMNS_MAX + 1] = { NULL };

        assert(n <= COLUMNS_MAX);
        for (size_t i = 0; i < n; i++)
                heads[i] = columns[i].head;
        return table_new(heads);
}

void columns_add(Table *t, const Column *columns, size_t n, const json_t *row) {
        for (const Column *c = columns; t && c < columns + n; c++) {
                const char *text = c->cell ? NULL : json_text_of(json_at(row, c->key));

                if (c->cell)
                        c->cell(t, row, c);
                else
                        table_cell(t, text ? text : c->otherwise);
        }
}

int table_finish(const Table *t) {
        TableLook look = table_look(STDOUT_FILENO);

        if (t && table_print(t, stdout, &look) >= 0)
                return 0;
        log_error("out of memory");
        return EXIT_OWN_FAILURE;
}

int columns_show(const Column *columns, size_t n, const json_t *list) {
        _cleanup_table_ Table *t = columns_table(columns, n);
        const json_t *row;
        size_t i;

        json_array_foreach(list, i, row)
                columns_add(t, columns, n, row);
        return table_finish(t);
}
