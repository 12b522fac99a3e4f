#include "serve-work.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"

#define SERVE_CREATE_BODY  "{\"limits\":{\"memoryMB\":256,\"diskMB\":64}}"
#define SERVE_STREAM_BODY  "{\"limits\":{\"outputBytes\":2147483648}}"
#define SERVE_TRUE         "{\"command\":\"/usr/bin/true\"}"
#define SERVE_TRUE_STATIC  "{\"command\":\"/tmp/true\"}"
#define SERVE_SETTLE       (2 * USEC_PER_MSEC) /* the kernel takes a network namespace down behind a delete */
#define SERVE_DOCKER_EVERY 10u
#define SERVE_BOX          "bench"

const char *const serve_row_names[_ROW_MAX] = {
        [ROW_FORK_EXEC] = "fork-exec",
        [ROW_HOST] = "host",
        [ROW_NAMESPACES] = "namespaces",
        [ROW_CREATE] = "create",
        [ROW_FIRST] = "create+exec",
        [ROW_EXEC] = "exec",
        [ROW_EXEC_STATIC] = "exec-static",
        [ROW_DELETE] = "delete",
        [ROW_DOCKER_RUN] = "docker-run",
        [ROW_DOCKER_EXEC] = "docker-exec",
};

const char *const serve_workload_names[_SERVE_WORKLOAD_MAX] = {
        [SERVE_LATENCY] = "latency",
        [SERVE_BURST] = "burst",
        [SERVE_STREAMING] = "stream",
        [SERVE_LIVE] = "live",
        [SERVE_WARM] = "warm",
};

const char *const warm_row_names[_WARM_MAX] = {
        [WARM_FORK_EXEC] = "fork-exec",
        [WARM_ECHO] = "echo",
        [WARM_CLAIM] = "claim",
        [WARM_WARM] = "claim+output",
        [WARM_COLD] = "create+output",
};

const char *const live_call_names[_LIVE_CALL_MAX] = {
        [LIVE_CALL_LIST] = "list",
        [LIVE_CALL_STATS] = "stats",
        [LIVE_CALL_FIRST] = "create+exec",
        [LIVE_CALL_EXEC] = "exec",
};

static void row_fail(Row *row, int r, const char *what, const Http *h) {
        if (row->n_failed++ == 0)
                (void) error_set(&row->failure, r, "%s: %.200s", what,
                                r == -EPROTO && h->buffer ? h->buffer : strerror(-r));
}

/* A connection that broke is made again; the next round counts. */
static int reopen(ServeBench *b) {
        http_done(&b->http);
        return http_open(&b->http, b->daemon.socket_path);
}

int serve_exec(ServeBench *b, const char *body, Row *row) {
        usec_t began = clock_usec();
        int r;

        r = http_call(&b->http, "POST", "/api/sandbox/%s/exec", b->box, body, 200);
        if (r >= 0 && !strstr(http_answer_body(&b->http), "\"exitCode\":0"))
                r = -EPROTO;
        if (r >= 0)
                return samples_add(&row->latency_usec, clock_usec() - began);
        row_fail(row, r, "exec", &b->http);
        return r == -EPROTO ? 0 : reopen(b);
}

/* One sandbox: create, first command, delete. create and delete may be NULL. */
int serve_first(ServeBench *b, Row *first, Row *create, Row *delete) {
        usec_t began = clock_usec(), created, done;
        char id[64];
        int r;

        r = http_call(&b->http, "POST", "/api/sandbox", NULL, SERVE_CREATE_BODY, 201);
        created = clock_usec();
        if (r >= 0)
                r = http_answer_field(&b->http, "id", id, sizeof(id));
        if (r < 0) {
                row_fail(first, r, "create", &b->http);
                return r == -EPROTO ? 0 : reopen(b);
        }
        r = http_call(&b->http, "POST", "/api/sandbox/%s/exec", id, SERVE_TRUE, 200);
        if (r >= 0 && !strstr(http_answer_body(&b->http), "\"exitCode\":0"))
                r = -EPROTO;
        done = clock_usec();
        if (r < 0)
                row_fail(first, r, "first command", &b->http);
        else {
                r = samples_add(&first->latency_usec, done - began);
                if (r >= 0 && create)
                        r = samples_add(&create->latency_usec, created - began);
                if (r < 0)
                        return r;
        }

        done = clock_usec();
        r = http_call(&b->http, "DELETE", "/api/sandbox/%s?force=true", id, NULL, 200);
        if (r < 0) {
                row_fail(delete ? delete : first, r, "delete", &b->http);
                return r == -EPROTO ? 0 : reopen(b);
        }
        if (delete)
                r = samples_add(&delete->latency_usec, clock_usec() - done);
        (void) usleep(SERVE_SETTLE);
        return r;
}

/* Docker's exec, in a container that lives all the time. */
static int docker_command(ServeBench *b, const char *const words[], Row *row) {
        char host[128];
        const char *argv[16] = { b->subjects.items[SUBJECT_DOCKER].program, "-H", host };
        size_t n = 3;
        usec_t began;
        pid_t pid;
        int status, r;

        (void) snprintf(host, sizeof(host), "unix://%s/docker.sock", b->subjects.scratch->dir);
        for (size_t i = 0; words[i] && n < ELEMENTSOF(argv) - 1; i++)
                argv[n++] = words[i];
        began = clock_usec();
        r = child_start(argv, child_quiet, &pid);
        if (r < 0)
                return r;
        r = child_wait(pid, /* ret_pid= */ NULL, &status);
        if (r < 0)
                return r;
        r = child_check(status, &row->failure);
        if (r < 0) {
                row->n_failed++;
                return 0;
        }
        return samples_add(&row->latency_usec, clock_usec() - began);
}

static int docker_hold(ServeBench *b) {
        const char *const words[] = { "run", "-d", "--network=none", "--name=bench", "--volume=/usr:/usr:ro",
                "cove-bench", "/usr/bin/sleep", "100000", NULL };
        Row row = {};
        int r;

        r = docker_command(b, words, &row);
        row_done(&row);
        return r < 0 ? r : row.n_failed > 0 ? -EPROTO : 0;
}

static int docker_round(ServeBench *b) {
        const char *const words[] = { "exec", "bench", "/usr/bin/true", NULL };
        int r;

        r = measure_one(&b->subjects, SUBJECT_DOCKER, COMMAND_TRUE, b->rows + ROW_DOCKER_RUN);
        return r < 0 ? r : docker_command(b, words, b->rows + ROW_DOCKER_EXEC);
}

/* The steps of a round; their order is drawn anew for each, see measure.h. */
static int latency_step(ServeBench *b, unsigned step) {
        switch (step) {
        case 0: return measure_one(&b->subjects, SUBJECT_FORK_EXEC, COMMAND_TRUE, b->rows + ROW_FORK_EXEC);
        case 1: return measure_one(&b->subjects, SUBJECT_HOST, COMMAND_TRUE, b->rows + ROW_HOST);
        case 2: return measure_one(&b->subjects, SUBJECT_NAMESPACES, COMMAND_TRUE, b->rows + ROW_NAMESPACES);
        case 3: return serve_first(b, b->rows + ROW_FIRST, b->rows + ROW_CREATE, b->rows + ROW_DELETE);
        case 4: return serve_exec(b, SERVE_TRUE, b->rows + ROW_EXEC);
        default: return serve_exec(b, SERVE_TRUE_STATIC, b->rows + ROW_EXEC_STATIC);
        }
}
#define LATENCY_STEPS 6

static void rows_forget(ServeBench *b) {
        for (int i = 0; i < _ROW_MAX; i++) {
                row_done(b->rows + i);
                b->rows[i] = (Row) {};
        }
}

static int run_latency(ServeBench *b) {
        bool docker = b->docker && subjects_ready(&b->subjects, SUBJECT_DOCKER, COMMAND_TRUE) &&
                      docker_hold(b) >= 0;
        Order order;
        int r = 0;

        order_init(&order);
        for (int i = 0; i < LATENCY_STEPS; i++)
                order_add(&order, (SubjectId) i);
        for (unsigned round = 0; round < b->warmup + b->rounds && r >= 0; round++) {
                if (round == b->warmup)
                        rows_forget(b);
                order_shuffle(&order);
                for (size_t i = 0; i < order.n && r >= 0; i++)
                        r = latency_step(b, (unsigned) order.ids[i]);
                if (docker && r >= 0 && round >= b->warmup && round % SERVE_DOCKER_EVERY == 0)
                        r = docker_round(b);
        }
        return r;
}

static int run_burst(ServeBench *b) {
        int r = 0;

        for (unsigned batch = 0; batch < b->batches && r >= 0; batch++) {
                r = measure_batch(&b->subjects, SUBJECT_NAMESPACES, COMMAND_TRUE, SERVE_PARALLEL,
                                &b->burst_floor);
                if (r >= 0)
                        r = serve_burst(b, SERVE_CREATE_BODY, SERVE_PARALLEL, &b->burst, /* pooled= */ NULL);
        }
        return r;
}

/* The same bytes, from the same program, through a bare pipe. */
static int pipe_once(Samples *samples) {
        static const char *const argv[] = { "/usr/bin/dd", "if=/dev/zero", "bs=131072", "count=8192",
                "status=none", NULL };
        _cleanup_close_ int read_end = -EBADF;
        _cleanup_free_ char *data = malloc(1 << 20);
        usec_t began = clock_usec();
        uint64_t bytes = 0;
        int fds[2], stdio[3], status, r;
        ssize_t n;
        pid_t pid;

        if (!data)
                return -ENOMEM;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_end = fds[0];
        stdio[0] = stdio[2] = child_quiet[0];
        stdio[1] = fds[1];
        r = child_start(argv, stdio, &pid);
        (void) fd_close(fds[1]);
        if (r < 0)
                return r;
        while ((n = read(read_end, data, 1 << 20)) > 0)
                bytes += (uint64_t) n;
        r = child_wait(pid, /* ret_pid= */ NULL, &status);
        if (r < 0)
                return r;
        return bytes == SERVE_STREAM ? samples_add(samples, clock_usec() - began) : -EPROTO;
}

static int stream_once(ServeBench *b, Error *reterr) {
        char path[96], eid[32], id[64];
        uint64_t bytes = 0;
        usec_t began;
        int r;

        r = http_call(&b->http, "POST", "/api/sandbox", NULL, SERVE_STREAM_BODY, 201);
        if (r >= 0)
                r = http_answer_field(&b->http, "id", id, sizeof(id));
        if (r < 0)
                return error_set(reterr, r, "create: %.200s", b->http.buffer);
        began = clock_usec();
        r = http_call(&b->http, "POST", "/api/sandbox/%s/exec", id,
                        "{\"command\":\"dd\",\"args\":[\"if=/dev/"
                        "zero\",\"bs=131072\",\"count=8192\",\"status=none\"],\"background\":true}",
                        202);
        if (r >= 0)
                r = http_answer_field(&b->http, "id", eid, sizeof(eid));
        if (r < 0)
                return error_set(reterr, r, "exec: %.200s", b->http.buffer);
        (void) snprintf(path, sizeof(path), "/api/sandbox/%%s/exec/%s/output?follow=1", eid);
        r = http_drain(b->daemon.socket_path, path, id, &bytes);
        if (r < 0 || bytes < SERVE_STREAM)
                return error_set(reterr, r < 0 ? r : -EPROTO, "the stream ended after %llu bytes",
                                (unsigned long long) bytes);
        r = samples_add(&b->stream_usec, clock_usec() - began);
        if (r >= 0)
                r = http_call(&b->http, "DELETE", "/api/sandbox/%s?force=true", id, NULL, 200);
        return r < 0 ? error_set(reterr, r, "delete: %m") : 0;
}

static int run_stream(ServeBench *b, Error *reterr) {
        for (unsigned round = 0; round < b->streams; round++) {
                int r = pipe_once(&b->pipe_usec);

                if (r >= 0)
                        r = stream_once(b, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The floor's own static `true`, into the sandbox that lives all the time. */
static int box_furnish(ServeBench *b) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *data = NULL;
        char path[PATH_MAX], head[256];
        struct stat st;
        int r;

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", b->subjects.exec_fds[COMMAND_TRUE]);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        data = malloc((size_t) st.st_size);
        if (!data)
                return -ENOMEM;
        if (fd_read_full(fd, data, (size_t) st.st_size) != st.st_size)
                return -EIO;
        (void) snprintf(head, sizeof(head),
                        "PUT /api/sandbox/" SERVE_BOX "/files?path=/tmp/true&mode=0755 HTTP/1.1\r\nHost: "
                                                      "x\r\nContent-Length: %lld\r\n\r\n",
                        (long long) st.st_size);
        b->http.n = 0;
        r = fd_write_all(b->http.fd, head, strlen(head));
        if (r >= 0)
                r = fd_write_all(b->http.fd, data, (size_t) st.st_size);
        while (r == 0)
                r = http_hear(&b->http);
        return r < 0 ? r : r == 201 ? 0 : -EPROTO;
}

int serve_bench_open(ServeBench *b, Error *reterr) {
        static const SubjectId floors[] = { SUBJECT_FORK_EXEC, SUBJECT_HOST, SUBJECT_NAMESPACES };
        int r;

        for (size_t i = 0; i < ELEMENTSOF(floors); i++)
                if (!subjects_ready(&b->subjects, floors[i], COMMAND_TRUE))
                        return error_set(reterr, -ENOENT, "%s: %s", subject_types[floors[i]].name,
                                        b->subjects.items[floors[i]].reason.text);
        r = serve_daemon_start(&b->daemon, b->subjects.scratch->dir, reterr);
        if (r >= 0)
                r = serve_daemon_wait(&b->daemon, reterr);
        if (r < 0)
                return r;
        r = http_open(&b->http, b->daemon.socket_path);
        if (r >= 0)
                r = http_call(&b->http, "POST", "/api/sandbox", NULL, "{\"name\":\"" SERVE_BOX "\"}", 201);
        (void) snprintf(b->box, sizeof(b->box), "%s", SERVE_BOX);
        if (r >= 0)
                r = box_furnish(b);
        return r < 0 ? error_set(reterr, r, "the first sandbox: %.200s",
                                       b->http.buffer ? b->http.buffer : strerror(-r))
                     : 0;
}

int serve_bench_run(ServeBench *b, Error *reterr) {
        int r;

        r = serve_bench_open(b, reterr);
        if (r >= 0 && b->selected[SERVE_LATENCY])
                r = run_latency(b);
        if (r >= 0 && b->selected[SERVE_BURST])
                r = run_burst(b);
        if (r >= 0 && b->selected[SERVE_STREAMING])
                r = run_stream(b, reterr);
        if (r >= 0 && b->selected[SERVE_LIVE])
                r = serve_live(b, reterr);
        if (r >= 0 && b->selected[SERVE_WARM])
                r = serve_warm(b, reterr);
        if (r < 0 && reterr->code == 0)
                (void) error_set(reterr, r, "%m");
        return r;
}

void serve_bench_done(ServeBench *b) {
        Error ignored = {};

        http_done(&b->http);
        (void) serve_daemon_stop(&b->daemon, &ignored);
        rows_forget(b);
        serve_warm_done(&b->warm);
        row_done(&b->burst);
        row_done(&b->burst_floor);
        samples_done(&b->stream_usec);
        samples_done(&b->pipe_usec);
        samples_done(&b->live.adopt_usec);
        for (int phase = 0; phase < 2; phase++) {
                row_done(b->live.floor + phase);
                for (int call = 0; call < _LIVE_CALL_MAX; call++)
                        row_done(&b->live.calls[phase][call]);
        }
        subjects_done(&b->subjects);
}
