/* serve-live.c: a thousand idle sandboxes: what they cost, what they slow down, how long a restart takes. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "serve-work.h"

#define LIVE_ROUNDS_MAX 100u
#define LIVE_SETTLE     (3 * USEC_PER_SEC)
#define LIVE_IDLE       (10 * USEC_PER_SEC)
#define LIVE_RESTARTS   3u
#define LIVE_TRUE       "{\"command\":\"/usr/bin/true\"}"

static int memory_compare(ServeBench *b, const MemoryKinds *before) {
        LiveMemory *m = &b->live.memory;
        MemoryKinds now;
        int r;

        r = kinds_read(&now);
        if (r < 0)
                return r;
        m->kinds = kinds_growth(before, &now);
        if (serve_daemon_charged(&b->daemon, &m->charged) < 0)
                m->charged = 0;
        return serve_daemon_memory(&b->daemon, &m->daemon);
}

static int call_once(ServeBench *b, const char *path, Row *row) {
        usec_t began = clock_usec();
        int r;

        r = http_call(&b->http, "GET", path, NULL, NULL, 200);
        return r < 0 ? r : samples_add(&row->latency_usec, clock_usec() - began);
}

static int phase_measure(ServeBench *b, int phase) {
        unsigned rounds = MIN_OF(b->rounds, LIVE_ROUNDS_MAX);
        Row *rows = b->live.calls[phase];
        int r = 0;

        for (unsigned round = 0; round < rounds && r >= 0; round++) {
                r = call_once(b, "/api/sandbox/list?limit=1", rows + LIVE_CALL_LIST);
                if (r >= 0)
                        r = call_once(b, "/api/sandbox/stats", rows + LIVE_CALL_STATS);
                if (r >= 0)
                        r = serve_exec(b, LIVE_TRUE, rows + LIVE_CALL_EXEC);
                if (r >= 0)
                        r = serve_first(b, rows + LIVE_CALL_FIRST, NULL, NULL);
                if (r >= 0)
                        r = measure_one(&b->subjects, SUBJECT_NAMESPACES, COMMAND_TRUE,
                                        b->live.floor + phase);
        }
        return r;
}

static int idle_measure(ServeBench *b) {
        ServeTicks before, after;
        usec_t began = clock_usec();
        int r;

        r = serve_daemon_ticks(&b->daemon, &before);
        if (r < 0)
                return r;
        (void) usleep((useconds_t) LIVE_IDLE);
        r = serve_daemon_ticks(&b->daemon, &after);
        b->live.idle_ticks = after.coved + after.spawner + after.others - before.coved - before.spawner - before.others;
        b->live.idle_time = clock_usec() - began;
        return r;
}

/* All of them are listed, and none as anything but ready. */
static int count_ready(ServeBench *b, size_t *ret) {
        int r;

        r = http_call(&b->http, "GET", "/api/sandbox/list?status=ready&limit=10000", NULL, NULL, 200);
        if (r < 0)
                return r;
        *ret = http_answer_count(&b->http, "\"status\":\"ready\"");
        return 0;
}

static int restart_measure(ServeBench *b, size_t wanted, Error *reterr) {
        usec_t began;
        size_t found;
        int r;

        http_done(&b->http);
        serve_daemon_kill(&b->daemon);
        began = clock_usec();
        r = serve_daemon_start(&b->daemon, b->subjects.scratch->dir, reterr);
        if (r >= 0)
                r = serve_daemon_wait(&b->daemon, reterr);
        if (r >= 0)
                r = http_open(&b->http, b->daemon.socket_path);
        if (r >= 0)
                r = count_ready(b, &found);
        if (r < 0)
                return r;
        r = samples_add(&b->live.adopt_usec, clock_usec() - began);
        if (found < wanted)
                b->live.n_lost = MAX_OF(b->live.n_lost, wanted - found);
        return r;
}

int serve_live(ServeBench *b, Error *reterr) {
        MemoryKinds before;
        size_t wanted;
        usec_t began;
        int r;

        r = phase_measure(b, 0);
        if (r < 0)
                return r;
        (void) usleep((useconds_t) LIVE_SETTLE);
        r = kinds_read(&before);
        began = clock_usec();
        if (r >= 0)
                r = serve_fill(b, b->live.n, reterr);
        b->live.start_time = clock_usec() - began;
        (void) usleep((useconds_t) LIVE_SETTLE);
        if (r >= 0)
                r = memory_compare(b, &before);
        if (r >= 0)
                r = idle_measure(b);
        if (r >= 0)
                r = phase_measure(b, 1);
        if (r >= 0)
                r = count_ready(b, &wanted);
        for (unsigned i = 0; i < LIVE_RESTARTS && r >= 0; i++)
                r = restart_measure(b, wanted, reterr);
        if (r >= 0)
                r = serve_exec(b, LIVE_TRUE, &b->live.calls[1][LIVE_CALL_EXEC]);
        b->live.done = r >= 0;
        return r;
}
