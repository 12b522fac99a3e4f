/* serve-warm.c: a sandbox out of the warm pool and the first output of it, beside one that is made for its caller and the bare
 * process; and a hundred callers at once.
 *
 * A daemon of its own: with a pool for what a caller gets who says nothing. Who names other limits gets a cold one. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"
#include "serve-work.h"

#define WARM_CREATE  "{}"
#define COLD_CREATE  "{\"limits\":{\"memoryMB\":513}}"
#define ECHO         "{\"command\":\"/usr/bin/echo\",\"args\":[\"hello\"]}"
#define ECHO_OUTPUT  "\"stdout\":\"hello\\n\""
#define WARM_MIN     10u
#define WARM_SETTLE  (4 * USEC_PER_MSEC)  /* what was deleted goes, what was claimed is replaced */
#define FULL_POLL    (20 * USEC_PER_MSEC)
#define FULL_TRIES   500u
#define POOLS                                                                                            \
        "pools:\n"                                                                                       \
        "  - template: host\n"                                                                           \
        "    minSize: 10\n"                                                                              \
        "    maxSize: 100\n"                                                                             \
        "    evictionInterval: 1h\n"

static void fail(Row *row, int r, const char *what, const Http *h) {
        if (row->n_failed++ == 0)
                (void) error_set(&row->failure, r, "%s: %.200s", what,
                                r == -EPROTO && h->buffer ? h->buffer : strerror(-r));
}

/* A process, and what it says. */
static int echo_once(Row *row) {
        static const char *const argv[] = { "/usr/bin/echo", "hello", NULL };
        _cleanup_close_ int read_end = -EBADF;
        usec_t began = clock_usec();
        char output[16];
        int fds[2], stdio[3], status, r;
        ssize_t n;
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_end = fds[0];
        stdio[0] = stdio[2] = child_quiet[0];
        stdio[1] = fds[1];
        r = child_start(argv, stdio, &pid);
        (void) fd_close(fds[1]);
        if (r < 0)
                return r;
        n = read(read_end, output, sizeof(output));
        r = child_wait(pid, /* ret_pid= */ NULL, &status);
        if (r < 0)
                return r;
        return n == 6 ? samples_add(&row->latency_usec, clock_usec() - began) : -EPROTO;
}

/* One sandbox and the first output of it. create may be NULL. */
static int first_output(ServeBench *b, const char *body, bool pooled, Row *row, Row *create) {
        usec_t began = clock_usec(), created;
        char id[64];
        int r;

        r = http_call(&b->http, "POST", "/api/sandbox", NULL, body, 201);
        created = clock_usec();
        if (r >= 0 && (strstr(http_answer_body(&b->http), "\"pooled\":true") != NULL) != pooled)
                b->warm.n_other++;
        if (r >= 0)
                r = http_answer_field(&b->http, "id", id, sizeof(id));
        if (r < 0) {
                fail(row, r, "create", &b->http);
                return r == -EPROTO ? 0 : r;
        }
        r = http_call(&b->http, "POST", "/api/sandbox/%s/exec", id, ECHO, 200);
        if (r >= 0 && !strstr(http_answer_body(&b->http), ECHO_OUTPUT))
                r = -EPROTO;
        if (r >= 0)
                r = samples_add(&row->latency_usec, clock_usec() - began);
        else
                fail(row, r, "first output", &b->http);
        if (r >= 0 && create)
                r = samples_add(&create->latency_usec, created - began);
        if (r >= 0 || r == -EPROTO)
                r = http_call(&b->http, "DELETE", "/api/sandbox/%s?force=true", id, NULL, 200);
        (void) usleep(WARM_SETTLE);
        return r;
}

static int step(ServeBench *b, unsigned i) {
        ServeWarm *w = &b->warm;

        switch (i) {
        case 0: return measure_one(&b->subjects, SUBJECT_FORK_EXEC, COMMAND_TRUE, w->rows + WARM_FORK_EXEC);
        case 1: return echo_once(w->rows + WARM_ECHO);
        case 2: return first_output(b, COLD_CREATE, /* pooled= */ false, w->rows + WARM_COLD, NULL);
        default: return first_output(b, WARM_CREATE, /* pooled= */ true, w->rows + WARM_WARM, w->rows + WARM_CLAIM);
        }
}
#define STEPS 4

/* As many stand ready as shall. */
static int wait_until_full(ServeBench *b) {
        for (unsigned i = 0; i < FULL_TRIES; i++) {
                unsigned idle = 0, target = 0;
                const char *body;
                int r = http_call(&b->http, "GET", "/api/pool", NULL, NULL, 200);

                if (r < 0)
                        return r;
                body = http_answer_body(&b->http);
                (void) sscanf(strstr(body, "\"idle\":") ? strstr(body, "\"idle\":") : "", "\"idle\":%u", &idle);
                (void) sscanf(strstr(body, "\"target\":") ? strstr(body, "\"target\":") : "", "\"target\":%u", &target);
                if (target >= WARM_MIN && idle >= target)
                        return 0;
                (void) usleep(FULL_POLL);
        }
        return -ETIME;
}

static int restart(ServeBench *b, Error *reterr) {
        int r;

        http_done(&b->http);
        r = serve_daemon_stop(&b->daemon, reterr);
        if (r >= 0)
                r = serve_daemon_configure(&b->daemon, b->subjects.scratch->dir, POOLS);
        if (r >= 0)
                r = serve_daemon_start(&b->daemon, b->subjects.scratch->dir, reterr);
        if (r >= 0)
                r = serve_daemon_wait(&b->daemon, reterr);
        if (r >= 0)
                r = http_open(&b->http, b->daemon.socket_path);
        return r;
}

static void rows_forget(ServeWarm *w) {
        for (int i = 0; i < _WARM_MAX; i++) {
                row_done(w->rows + i);
                w->rows[i] = (Row) {};
        }
        w->n_other = 0;
}

static int rounds(ServeBench *b) {
        Order order;
        int r = 0;

        order_init(&order);
        for (int i = 0; i < STEPS; i++)
                order_add(&order, (SubjectId) i);
        for (unsigned round = 0; round < b->warmup + b->rounds && r >= 0; round++) {
                if (round == b->warmup)
                        rows_forget(&b->warm);
                order_shuffle(&order);
                for (size_t i = 0; i < order.n && r >= 0; i++)
                        r = step(b, (unsigned) order.ids[i]);
        }
        return r;
}

int serve_warm(ServeBench *b, Error *reterr) {
        int r;

        r = restart(b, reterr);
        if (r >= 0)
                r = wait_until_full(b);
        if (r >= 0)
                r = rounds(b);
        for (unsigned batch = 0; batch < b->batches && r >= 0; batch++) {
                r = wait_until_full(b);
                if (r >= 0)
                        r = serve_burst(b, WARM_CREATE, SERVE_PARALLEL, &b->warm.burst, &b->warm.burst_hits);
        }
        b->warm.done = r >= 0;
        return r;
}

void serve_warm_done(ServeWarm *w) {
        rows_forget(w);
        row_done(&w->burst);
}
