/* cove top: the resource usage of all sandboxes, updated repeatedly. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "cli/terminal.h"
#include "client/ask.h"
#include "client/sandbox/listing.h"
#include "client/sandbox/resources.h"
#include "client/verbs.h"

#define INTERVAL_DEFAULT (2 * USEC_PER_SEC)
#define INTERVAL_MIN     (100 * USEC_PER_MSEC)
#define INTERVAL_MAX     (24 * 3600 * USEC_PER_SEC)

typedef struct TopOptions {
        Common common;
        usec_t interval;
        bool once, tenants;
} TopOptions;

static int top_interval(const Option *o, void *target, const char *value, Error *reterr) {
        const usec_t *interval = option_field(o, target);
        int r = option_duration(o, target, value, reterr);

        if (r >= 0 && (*interval < INTERVAL_MIN || *interval > INTERVAL_MAX))
                return error_set(reterr, -ERANGE, "--interval: '%s' is out of range (100ms to 1d)", value);
        return r;
}

static const Option top_options[] = {
        { "interval", 'i', "TIME", "time between updates (default 2s)", top_interval, OPTION_FIELD(TopOptions, interval) },
        { "once",     '1', NULL,   "print the table once; the default without a terminal", OPTION_FLAG(TopOptions, once) },
        { "tenants",  't', NULL,   "print the usage of each tenant, once", OPTION_FLAG(TopOptions, tenants) },
};

/* The order that a key selects. */
typedef struct TopOrder {
        char key;
        const char *member; /* of the resources; NULL: by name */
        const char *column, *marked; /* the column's head, without and with the mark of the order */
} TopOrder;

static const TopOrder orders[] = {
        { 'c', "cpu_percent", ">CPU%",   ">CPU%▼"   },
        { 'm', "memory_mb",   ">MEMORY", ">MEMORY▼" },
        { 'd', "disk_mb",     ">DISK",   ">DISK▼"   },
        { 'p', "pids",        ">PIDS",   ">PIDS▼"   },
        { 'n', NULL,          "SANDBOX", "SANDBOX▲" },
};

typedef struct Top {
        const Place *place;
        json_t *rows; /* of resources.h */
        const TopOrder *order;
        int signal_fd;
} Top;

/* A sandbox that was removed after the list was made is skipped. */
static int top_add_row(Top *t, const json_t *sandbox) {
        _cleanup_answer_ Answer a = { 0 };
        int r;

        if (json_has(sandbox, "ended_at")) /* nothing runs in it */
                return 0;
        r = client_try(t->place, /* method= */ NULL, /* body= */ NULL, &a, "/api/sandbox/%s/resources",
                        json_get_text_or(sandbox, "id", ""));
        if (r < 0 || !answer_is_good(&a))
                return r;
        return json_array_append_new(t->rows, resources_row(sandbox, a.json)) < 0 ? -ENOMEM : 0;
}

static const TopOrder *top_order(char key) {
        for (size_t i = 0; i < ELEMENTSOF(orders); i++)
                if (orders[i].key == key)
                        return orders + i;
        return NULL;
}

static int top_compare(const void *left, const void *right, void *userdata) {
        const json_t *a = *(json_t *const *) left, *b = *(json_t *const *) right;
        const json_t *mine = json_object_get(a, "resources"), *other = json_object_get(b, "resources");
        const Top *t = userdata;
        const char *member = t->order->member;
        double more = member ? json_get_number(mine, member, -1) : 0, less = member ? json_get_number(other, member, -1) : 0;

        if (more < less || more > less)
                return more < less ? 1 : -1;
        return strcmp(sandbox_label(json_object_get(a, "sandbox")), sandbox_label(json_object_get(b, "sandbox")));
}

static int top_sort(Top *t) {
        size_t n = json_array_size(t->rows), i;
        _cleanup_free_ json_t **rows = calloc(n + 1, sizeof(*rows));
        json_t *row;

        if (!rows)
                return -ENOMEM;
        json_array_foreach(t->rows, i, row)
                rows[i] = json_incref(row);
        qsort_r(rows, n, sizeof(*rows), top_compare, t);
        for (i = 0; i < n; i++)
                (void) json_array_set_new(t->rows, i, rows[i]);
        return 0;
}

static int top_look(Top *t) {
        _cleanup_listing_ Listing l = { 0 };
        int r = listing_sandboxes(t->place, &l);

        (void) json_array_clear(t->rows);
        for (const json_t *sandbox; r >= 0 && (sandbox = listing_row(&l));)
                r = top_add_row(t, sandbox);
        return r < 0 ? r : top_sort(t);
}

/* The name, cut to the width of its column. */
static void cell_cut_label(Table *t, const json_t *row, const Column *c) {
        const char *label = sandbox_label(json_object_get(row, c->key));

        if (id_is_valid(label) || strlen(label) <= (size_t) c->digits)
                table_cell_id(t, label);
        else
                table_cell_format(t, "%.*s…", c->digits - 1, label);
}

static unsigned top_label_width(const Top *t) {
        size_t i, widest = ID_SHORT;
        const json_t *row;

        json_array_foreach(t->rows, i, row) {
                const char *label = sandbox_label(json_object_get(row, "sandbox"));

                widest = MAX_OF(widest, id_is_valid(label) ? (size_t) ID_SHORT : strlen(label));
        }
        return (unsigned) widest;
}

/* If the window is too narrow for all columns, those from the left are shown that fit wholly. The column
 * that orders the rows is always shown. */
static size_t top_choose(const Top *t, unsigned width, Column chosen[static RESOURCES_COLUMNS]) {
        static const unsigned widths[RESOURCES_COLUMNS] = { 8, 7, 6, 7, 6, 6, 5, 6, 7, 8, 10 }; /* usual widths of the columns, except the name */
        const TopOrder *order = t->order;
        unsigned label = MIN_OF(MAX_OF(width / 3, (unsigned) ID_SHORT), top_label_width(t)), left = width, n = 0;

        for (size_t i = 0; i < RESOURCES_COLUMNS; i++)
                if (strcmp(resources_columns[i].head, order->column) == 0)
                        left -= MIN_OF(left, i == 0 ? 0 : widths[i] + 2);
        for (size_t i = 0; i < RESOURCES_COLUMNS; i++) {
                bool orders_rows = strcmp(resources_columns[i].head, order->column) == 0;
                unsigned needs = i == 0 ? label : widths[i] + 2;

                if (i > 0 && !orders_rows && width > 0 && needs > left) {
                        left = 0; /* no narrower column takes its place: the columns keep their order */
                        continue;
                }
                left -= orders_rows && i > 0 ? 0 : MIN_OF(needs, left);
                chosen[n] = resources_columns[i];
                if (i == 0 && width > 0) {
                        chosen[n].cell = cell_cut_label;
                        chosen[n].digits = (int) label;
                }
                if (orders_rows && width > 0)
                        chosen[n].head = order->marked;
                n++;
        }
        return n;
}

/* On a screen the look has a width; otherwise all columns are shown, unmarked. */
static int print_rows(const Top *t, const TableLook *look_of_table) {
        Column chosen[RESOURCES_COLUMNS];
        size_t n = top_choose(t, look_of_table->width, chosen), i;
        _cleanup_table_ Table *table = columns_table(chosen, n);
        const json_t *row;

        json_array_foreach(t->rows, i, row)
                columns_add(table, chosen, n, row);
        if (!table || table_print(table, stdout, look_of_table) < 0)
                return log_failure(-ENOMEM, "out of memory");
        return 0;
}

/* {"sandbox id": resources, …}, as the daemon gave them. */
static int top_print_json(const Top *t) {
        const json_t *row;
        size_t i;

        printf("{");
        json_array_foreach(t->rows, i, row) {
                const char *id = json_get_text_or(json_object_get(row, "sandbox"), "id", "");
                _cleanup_answer_ Answer a = { 0 };

                if (client_need_path(t->place, /* body= */ NULL, &a, "/api/sandbox/%s/resources", id) < 0)
                        return -EREMOTEIO;
                printf("%s\"%s\":%.*s", i > 0 ? "," : "", id, answer_length(&a), a.text);
        }
        printf("}\n");
        return 0;
}

static int run_once(Top *t, const TopOptions *o) {
        TableLook how = table_look(STDOUT_FILENO);
        int r = top_look(t);

        if (r >= 0)
                r = o->common.json ? top_print_json(t) : print_rows(t, &how);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

/* The screen. */

static bool on_screen;

static void leave_screen(void) {
        if (!on_screen)
                return;
        on_screen = false;
        printf("\033[?25h\033[?1049l"); /* restores the cursor and the screen */
        (void) fflush(stdout);
        terminal_restore();
}

static void enter_screen(void) {
        on_screen = true;
        (void) atexit(leave_screen);
        (void) terminal_raw(STDIN_FILENO);
        printf("\033[?1049h\033[?25l");
}

/* The last line: the keys, as many as fit. */
static void draw_footer(struct winsize size) {
        static const char *const keys[] = { "q quit", "c CPU", "m memory", "d disk", "p pids", "n name", "space now" };
        unsigned used = 0;

        printf("\033[%u;1H", (unsigned) size.ws_row);
        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                unsigned width = (unsigned) strlen(keys[i]) + (i > 0 ? 2 : 0);

                if (used + width > size.ws_col)
                        break;
                printf("%s%s", i > 0 ? "  " : "", keys[i]);
                used += width;
        }
        printf("\033[K");
}

static int draw(Top *t) {
        struct winsize size = terminal_size();
        size_t n_shown;
        char head[256];
        TableLook how = table_look(STDOUT_FILENO);
        double cpu = 0, memory = 0;
        int r = top_look(t);
        const json_t *row;
        size_t i;

        if (r < 0)
                return r;
        json_array_foreach(t->rows, i, row) {
                cpu += MAX_OF(json_get_number(json_object_get(row, "resources"), "cpu_percent", 0), 0.0);
                memory += MAX_OF(json_get_number(json_object_get(row, "resources"), "memory_mb", 0), 0.0);
        }
        how.newline = "\033[K\r\n";
        how.rows_max = size.ws_row > 4 ? size.ws_row - 4U : 1;
        n_shown = MIN_OF(json_array_size(t->rows), (size_t) how.rows_max);
        (void) snprintf(head, sizeof(head), "%zu sandboxes%s, CPU %.1f%%, memory %.0f MB    %s", json_array_size(t->rows),
                        n_shown < json_array_size(t->rows) ? " (more than fit)" : "", cpu, memory, t->place->label);
        printf("\033[H%.*s\033[K\r\n\033[K\r\n", (int) size.ws_col, head);
        r = print_rows(t, &how);
        printf("\033[J");
        draw_footer(size);
        return fflush(stdout) != 0 ? -errno : r;
}

/* 1: leave, 0: look again. */
static int take_key(Top *t) {
        char key;
        ssize_t n = read(STDIN_FILENO, &key, 1);

        if (n <= 0 || key == 'q' || key == 'Q' || key == 0x03 /* Ctrl-C */ || key == 0x04)
                return 1;
        if (top_order(key))
                t->order = top_order(key);
        return 0;
}

/* 1: leave, 0: look again: the window has another size. */
static int take_signal(const Top *t) {
        struct signalfd_siginfo info;

        if (read(t->signal_fd, &info, sizeof(info)) != sizeof(info))
                return 0;
        return info.ssi_signo == SIGWINCH ? 0 : 1;
}

static int wait_for_next(Top *t, usec_t interval) {
        struct pollfd polls[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = t->signal_fd, .events = POLLIN } };

        if (poll(polls, ELEMENTSOF(polls), (int) (interval / USEC_PER_MSEC)) < 0)
                return errno == EINTR ? 0 : 1;
        if (polls[1].revents)
                return take_signal(t);
        return polls[0].revents ? take_key(t) : 0;
}

static int run_live(Top *t, usec_t interval) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
        _cleanup_close_ int signal_fd = -EBADF;
        int r = top_look(t); /* before the screen is taken: an immediate failure is printed where it can be read */

        if (r < 0)
                return EXIT_OWN_FAILURE;
        t->signal_fd = signal_fd = terminal_signals(signals, ELEMENTSOF(signals));
        enter_screen();
        do
                r = draw(t);
        while (r >= 0 && wait_for_next(t, interval) == 0);
        leave_screen();
        if (r < 0)
                log_error("the daemon at %s does not answer any more", t->place->label);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

/* Tenants. */

static const Column tenant_usage_columns[] = {
        { "TENANT", "tenant" },
        { ">SANDBOXES", "sandboxes", cell_number },
        { ">RUNNING", "executions", cell_number },
        { ">BUILDS", "builds", cell_number },
        { ">REQUESTS", "requests", cell_number },
        { ">DISK", "disk.bytes", cell_size },
        { ">QUOTA", "disk.quotaBytes", cell_size },
        { ">DISKS", "disk.disks.bytes", cell_size },
        { ">VOLUMES", "disk.volumes.bytes", cell_size },
        { ">SNAPSHOTS", "disk.snapshots.bytes", cell_size },
        { ">OUTPUT", "disk.journals.bytes", cell_size },
        { ">ARTIFACTS", "disk.artifacts.bytes", cell_size },
        { ">RECORDED", "disk.recordings.bytes", cell_size },
        { ">ARRIVING", "disk.spools.bytes", cell_size },
        { ">UPLOADS", "disk.uploads.bytes", cell_size },
        { ">TEMPLATES", "disk.templates.bytes", cell_size },
        { ">ANSWERS", "answers.bytes", cell_size },
        { ">GATE CPU", "gateCpuSeconds", cell_span, .scale = 1e6 },
};

static int top_tenants(const Place *place, const TopOptions *o) {
        _cleanup_answer_ Answer a = { 0 };

        if (client_need_path(place, /* body= */ NULL, &a, "/api/usage") < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                printf("%.*s", answer_length(&a), a.text);
                return 0;
        }
        return columns_show(tenant_usage_columns, ELEMENTSOF(tenant_usage_columns), json_object_get(a.json, "tenants"));
}

static int top_run(const Place *place, void *options, const Operands *words) {
        const TopOptions *o = options;
        Top t = { .place = place, .rows = json_array(), .order = orders };
        bool once = o->once || o->common.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
        int status = o->tenants ? top_tenants(place, o) : once ? run_once(&t, o) : run_live(&t, o->interval);

        json_decref(t.rows);
        return status;
}

const Verb command_top = {
        .synopsis = "top [options]",
        .about = "Shows the usage of all sandboxes, busiest first, until q or Ctrl-C.",
        .more = "keys: c by CPU, m by memory, d by disk, p by processes, n by name; space updates; q leaves.",
        VERB_OPTIONS(top_options), VERB_RUN(top_run, TopOptions), .defaults = &(const TopOptions) { .interval = INTERVAL_DEFAULT },
};
