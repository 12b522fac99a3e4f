/* cove top: what all sandboxes use, again and again. */

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
#include "base/log.h"
#include "cli/terminal.h"
#include "client/sandbox/listing.h"
#include "client/sandbox/resources.h"
#include "client/usage.h"
#include "client/verbs.h"

#define INTERVAL_DEFAULT (2 * USEC_PER_SEC)
#define INTERVAL_MIN     (100 * USEC_PER_MSEC)
#define INTERVAL_MAX     (24 * 3600 * USEC_PER_SEC)

typedef struct TopOptions {
        Common common;
        usec_t interval;
        bool once;
} TopOptions;

APPLY_FLAG(TopOptions, once)

static int apply_interval(void *target, const char *value, Error *reterr) {
        TopOptions *o = target;
        int r = value_duration("--interval", value, &o->interval, reterr);

        if (r >= 0 && (o->interval < INTERVAL_MIN || o->interval > INTERVAL_MAX))
                return error_set(reterr, -ERANGE, "--interval: '%s' is out of range (100ms to 1d)", value);
        return r;
}

static const Option top_options[] = {
        { "interval", 'i', "TIME", "between two looks (default 2s)", apply_interval },
        { "once",     '1', NULL,   "look once; so it is without a terminal, too", apply_once },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "top [options]",
        .about = "Shows what all sandboxes use, the busiest first, until q or Ctrl-C.",
        .more = "keys: c by CPU, m by memory, d by disk, p by processes, n by name; space looks again; q leaves.",
        USAGE_OPTIONS(top_options),
};

typedef struct Top {
        const Place *place;
        Resources *rows;
        size_t n, room;
        char order;
        int signal_fd;
} Top;

static void top_forget_rows(Top *t) {
        while (t->n > 0)
                resources_done(t->rows + --t->n);
}

static int top_make_room(Top *t) {
        size_t room = t->room ? t->room * 2 : 64;
        Resources *bigger;

        if (t->n < t->room)
                return 0;
        bigger = reallocarray(t->rows, room, sizeof(Resources));
        if (!bigger)
                return -ENOMEM;
        t->rows = bigger;
        t->room = room;
        return 0;
}

/* Nothing runs in one that has ended. */
static bool is_live(const json_t *sandbox) {
        return !json_has(sandbox, "ended_at");
}

/* One that went between the list and the question is passed over. */
static int top_add_row(const json_t *sandbox, void *userdata) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        Error error = { 0 };
        Top *t = userdata;
        int r;

        if (!is_live(sandbox))
                return 0;
        url_sandbox(&u, json_get_text_or(sandbox, "id", ""), "resources");
        r = client_ask(t->place, /* method= */ NULL, &u, /* body= */ NULL, &a, &error);
        if (r < 0) {
                log_error("%s", error.text);
                return r;
        }
        if (!answer_is_good(&a))
                return 0;
        r = top_make_room(t);
        if (r >= 0)
                r = resources_read(sandbox, a.json, t->rows + t->n);
        if (r >= 0)
                t->n++;
        return r;
}

static int top_by_number(double a, double b) {
        return a < b ? 1 : a > b ? -1 : 0;
}

static int top_compare(const void *left, const void *right, void *userdata) {
        const Resources *a = left, *b = right;
        const Top *t = userdata;
        int r = 0;

        switch (t->order) {
        case 'c': r = top_by_number(a->cpu_percent, b->cpu_percent); break;
        case 'm': r = top_by_number(a->memory_mb, b->memory_mb); break;
        case 'd': r = top_by_number(a->disk_mb, b->disk_mb); break;
        case 'p': r = top_by_number(a->pids, b->pids); break;
        }
        return r != 0 ? r : strcmp(a->label, b->label);
}

static int top_look(Top *t, Listing *l) {
        int r = listing_get(t->place, /* filter= */ NULL, l);

        top_forget_rows(t);
        if (r >= 0)
                r = listing_each(l, top_add_row, t);
        if (r >= 0)
                qsort_r(t->rows, t->n, sizeof(Resources), top_compare, t);
        return r;
}

static int print_rows(const Top *t, const TableLook *look_of_table) {
        _cleanup_table_ Table *table = table_new(resources_heads);

        for (size_t i = 0; table && i < t->n; i++)
                resources_row(table, t->rows + i);
        if (!table || table_print(table, stdout, look_of_table) < 0) {
                log_error("out of memory");
                return -ENOMEM;
        }
        return 0;
}

/* {"sandbox id": resources, …}, as the daemon gave them. */
static int top_print_json(const Top *t) {
        printf("{");
        for (size_t i = 0; i < t->n; i++) {
                _cleanup_answer_ Answer a = { 0 };
                _cleanup_url_ Url u = { 0 };

                url_sandbox(&u, t->rows[i].id, "resources");
                if (client_need(t->place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                        return -EREMOTEIO;
                while (a.size > 0 && a.text[a.size - 1] == '\n')
                        a.size--;
                printf("%s\"%s\":%.*s", i > 0 ? "," : "", t->rows[i].id, (int) a.size, a.text);
        }
        printf("}\n");
        return 0;
}

static int run_once(Top *t, const TopOptions *o) {
        _cleanup_listing_ Listing l = { 0 };
        TableLook how = table_look(STDOUT_FILENO);
        int r = top_look(t, &l);

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
        printf("\033[?25h\033[?1049l"); /* the cursor, and what was there before */
        (void) fflush(stdout);
        terminal_restore();
}

static void enter_screen(void) {
        on_screen = true;
        (void) atexit(leave_screen);
        (void) terminal_raw(STDIN_FILENO);
        printf("\033[?1049h\033[?25l");
}

static int draw(Top *t) {
        _cleanup_listing_ Listing l = { 0 };
        struct winsize size = terminal_size();
        TableLook how = table_look(STDOUT_FILENO);
        double cpu = 0, memory = 0;
        int r = top_look(t, &l);

        if (r < 0)
                return r;
        for (size_t i = 0; i < t->n; i++) {
                cpu += MAX_OF(t->rows[i].cpu_percent, 0.0);
                memory += MAX_OF(t->rows[i].memory_mb, 0.0);
        }
        how.newline = "\033[K\r\n";
        how.rows_max = size.ws_row > 4 ? size.ws_row - 4U : 1;
        printf("\033[H%zu sandboxes, CPU %.1f%%, memory %.0f MB    %s\033[K\r\n\033[K\r\n", t->n, cpu, memory,
                        t->place->label);
        r = print_rows(t, &how);
        printf("\033[J");
        return fflush(stdout) != 0 ? -errno : r;
}

/* 1: leave, 0: look again. */
static int take_key(Top *t) {
        char key;
        ssize_t n = read(STDIN_FILENO, &key, 1);

        if (n <= 0 || key == 'q' || key == 'Q' || key == 0x03 /* Ctrl-C */ || key == 0x04)
                return 1;
        if (strchr("cmdpn", key))
                t->order = key;
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

static int top_open_signals(void) {
        sigset_t set;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGINT);
        (void) sigaddset(&set, SIGTERM);
        (void) sigaddset(&set, SIGHUP);
        (void) sigaddset(&set, SIGWINCH);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_live(Top *t, usec_t interval) {
        _cleanup_listing_ Listing l = { 0 };
        _cleanup_close_ int signal_fd = -EBADF;
        int r = top_look(t, &l); /* before the screen is taken: what fails at once is told where it can be read */

        if (r < 0)
                return EXIT_OWN_FAILURE;
        t->signal_fd = signal_fd = top_open_signals();
        enter_screen();
        do
                r = draw(t);
        while (r >= 0 && wait_for_next(t, interval) == 0);
        leave_screen();
        if (r < 0)
                log_error("the daemon at %s does not answer any more", t->place->label);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

int verb_top(int argc, char **argv) {
        TopOptions o = { .interval = INTERVAL_DEFAULT };
        _cleanup_place_ Place place = { 0 };
        Top t = { .place = &place, .order = 'c' };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        if (o.once || o.common.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
                status = run_once(&t, &o);
        else
                status = run_live(&t, o.interval);
        top_forget_rows(&t);
        free(t.rows);
        return status;
}
