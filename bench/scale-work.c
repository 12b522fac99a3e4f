#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "scale.h"

#define WORK_TRUE     "{\"command\":\"/usr/bin/true\"}"
#define WORK_CREATE   "{\"limits\":{\"memoryMB\":256,\"diskMB\":64}}"
#define WORK_SETTLE   (2 * USEC_PER_SEC)
#define WORK_PARALLEL 100u
#define WORK_CONFIG                                                                                         \
        "daemon:\n"                                                                                         \
        "  max-sandboxes: 12288\n"                                                                          \
        "limits:\n"                                                                                         \
        "  maxSandboxes: 12288\n"                                                                           \
        "  queueTimeout: 30s\n"

static int step(ScaleBench *b, ScaleLevel *l, unsigned i) {
        switch (i) {
        case 0: return measure_one(&b->serve.subjects, SUBJECT_FORK_EXEC, COMMAND_TRUE, l->rows + ROW_FORK_EXEC);
        case 1: return measure_one(&b->serve.subjects, SUBJECT_HOST, COMMAND_TRUE, l->rows + ROW_HOST);
        case 2: return measure_one(&b->serve.subjects, SUBJECT_NAMESPACES, COMMAND_TRUE, l->rows + ROW_NAMESPACES);
        case 3: return serve_first(&b->serve, l->rows + ROW_FIRST, l->rows + ROW_CREATE, l->rows + ROW_DELETE);
        default: return serve_exec(&b->serve, WORK_TRUE, l->rows + ROW_EXEC);
        }
}
#define STEPS 5

static int one_at_a_time(ScaleBench *b, ScaleLevel *l) {
        Order order;
        int r = 0;

        order_init(&order);
        for (int i = 0; i < STEPS; i++)
                order_add(&order, (SubjectId) i);
        for (unsigned round = 0; round < b->serve.warmup + b->serve.rounds && r >= 0; round++) {
                for (int i = 0; i < _ROW_MAX && round == b->serve.warmup; i++) {
                        row_done(l->rows + i);
                        l->rows[i] = (Row) {};
                }
                order_shuffle(&order);
                for (size_t i = 0; i < order.n && r >= 0; i++)
                        r = step(b, l, (unsigned) order.ids[i]);
        }
        return r;
}

/* Of both, so many at once: the rates that the kernel alone has. */
static int floors_at_once(ScaleBench *b, ScaleLevel *l) {
        int r = 0;

        for (unsigned batch = 0; batch < b->serve.batches && r >= 0; batch++) {
                r = measure_batch(&b->serve.subjects, SUBJECT_FORK_EXEC, COMMAND_TRUE, WORK_PARALLEL, &l->fork_at_once);
                if (r >= 0)
                        r = measure_batch(&b->serve.subjects, SUBJECT_NAMESPACES, COMMAND_TRUE, WORK_PARALLEL, &l->floor_at_once);
        }
        return r;
}

/* 0: it is not told. */
static size_t number(ScaleBench *b, const char *name) {
        const char *at;
        size_t n = 0;

        if (http_call(&b->serve.http, "GET", "/api/sandbox/stats", NULL, NULL, 200) < 0)
                return 0;
        at = strstr(http_answer_body(&b->serve.http), name);
        return at && sscanf(at + strlen(name), "\":%zu", &n) == 1 ? n : 0;
}

/* Ready is said when all are adopted; they are counted, and one of them works. */
static int restart(ScaleBench *b, ScaleLevel *l, Error *reterr) {
        ServeBench *s = &b->serve;
        size_t wanted = number(b, "\"active"), found;
        usec_t began;
        int r;

        http_done(&s->http);
        serve_daemon_kill(&s->daemon);
        began = clock_usec();
        r = serve_daemon_start(&s->daemon, s->subjects.scratch->dir, reterr);
        if (r >= 0)
                r = serve_daemon_wait(&s->daemon, reterr);
        if (r >= 0)
                r = http_open(&s->http, s->daemon.socket_path);
        if (r < 0)
                return r;
        found = number(b, "\"active");
        l->restart_seconds = (double) (clock_usec() - began) / 1e6;
        l->n_lost = wanted > found ? wanted - found : 0;
        return serve_exec(s, WORK_TRUE, l->rows + ROW_EXEC);
}

static int fill(ScaleBench *b, ScaleLevel *l, Error *reterr) {
        size_t live = number(b, "\"active") - SCALE_WORK - 1; /* and the one that ServeBench has */
        MemoryKinds now;
        usec_t began = clock_usec();
        int r = 0;

        if (l->live > live)
                r = serve_fill(&b->serve, l->live - live, reterr);
        l->fill_seconds = (double) (clock_usec() - began) / 1e6;
        if (r < 0)
                return r;
        (void) usleep((useconds_t) WORK_SETTLE);
        r = kinds_read(&now);
        l->memory = kinds_growth(&b->empty, &now);
        return r;
}

static int measure(ScaleBench *b, ScaleLevel *l, Error *reterr) {
        int r;

        if (getloadavg(&l->load, 1) < 0)
                l->load = 0;
        r = fill(b, l, reterr);
        if (r >= 0)
                r = one_at_a_time(b, l);
        if (r >= 0)
                r = floors_at_once(b, l);
        if (r >= 0)
                r = scale_storm(b, 1, l->storms);
        if (r >= 0)
                r = scale_storm(b, SCALE_STORM, l->storms + 1);
        for (size_t i = 0; i < b->n_counts && r >= 0; i++)
                r = scale_commands(b, b->clients[i], l->commands + i);
        if (r >= 0)
                r = scale_beside(b, 0, &l->alone);
        if (r >= 0)
                r = scale_beside(b, SCALE_STORM, &l->beside);
        if (r >= 0)
                r = restart(b, l, reterr);
        l->done = r >= 0;
        return r;
}

static int work_make(ScaleBench *b, Error *reterr) {
        int r = 0;

        for (size_t i = 0; i < SCALE_WORK && r >= 0; i++) {
                r = http_call(&b->serve.http, "POST", "/api/sandbox", NULL, WORK_CREATE, 201);
                if (r >= 0)
                        r = http_answer_field(&b->serve.http, "id", b->work[i], sizeof(b->work[i]));
        }
        if (r < 0)
                return error_set(reterr, r, "sandboxes for commands: %.200s", b->serve.http.buffer);
        (void) usleep((useconds_t) WORK_SETTLE);
        return kinds_read(&b->empty);
}

int scale_run(ScaleBench *b, Error *reterr) {
        int r;

        b->until = clock_usec() + b->time_max;
        r = serve_daemon_configure(&b->serve.daemon, b->serve.subjects.scratch->dir, WORK_CONFIG);
        if (r >= 0)
                r = serve_bench_open(&b->serve, reterr);
        if (r >= 0)
                r = work_make(b, reterr);
        for (size_t i = 0; i < b->n_levels && r >= 0; i++) {
                ScaleLevel *l = b->levels + i;

                if (clock_usec() > b->until)
                        (void) error_set(&l->left_out, -ETIME, "time: %llu s are over (--time)",
                                        (unsigned long long) (b->time_max / USEC_PER_SEC));
                else if (scale_room(b, l->live, number(b, "\"cap"), &l->left_out) >= 0)
                        r = measure(b, l, reterr);
        }
        if (r >= 0 && b->limit.files > 0)
                r = scale_limit(b, reterr);
        if (r < 0 && reterr->code == 0)
                (void) error_set(reterr, r, "%m");
        return r;
}

static void level_done(ScaleLevel *l) {
        for (int i = 0; i < _ROW_MAX; i++)
                row_done(l->rows + i);
        for (size_t i = 0; i < ELEMENTSOF(l->storms); i++) {
                row_done(&l->storms[i].create);
                row_done(&l->storms[i].delete);
        }
        for (size_t i = 0; i < SCALE_COUNTS; i++)
                row_done(&l->commands[i].exec);
        row_done(&l->fork_at_once);
        row_done(&l->floor_at_once);
        row_done(&l->alone);
        row_done(&l->beside);
}

void scale_done(ScaleBench *b) {
        for (size_t i = 0; i < b->n_levels; i++)
                level_done(b->levels + i);
        serve_bench_done(&b->serve);
}
