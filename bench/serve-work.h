/* serve-work.h: what the daemon is put through, with the floors and the peers beside it.
 *
 * Each workload runs its rows in interleaved rounds and fills them. Times end with the last byte of the answer; clearing up
 * behind is outside of them.
 * Must not know: options, how results are told. */
#pragma once

#include "kinds.h"
#include "measure.h"
#include "serve-daemon.h"
#include "serve-http.h"

#define SERVE_PARALLEL 100u
#define SERVE_STREAM   (1ull << 30)

typedef enum ServeRow {
        ROW_FORK_EXEC,   /* floor: static true */
        ROW_HOST,        /* fork+exec of the host's true */
        ROW_NAMESPACES,  /* floor: static true in all namespaces */
        ROW_CREATE,      /* POST /api/sandbox alone */
        ROW_FIRST,       /* the same, and the answer of its first command */
        ROW_EXEC,        /* one command in a live sandbox: the host's true */
        ROW_EXEC_STATIC, /* likewise: the floor's own static true */
        ROW_DELETE,
        ROW_DOCKER_RUN,
        ROW_DOCKER_EXEC,
        _ROW_MAX,
} ServeRow;

extern const char *const serve_row_names[_ROW_MAX];

typedef enum ServeWorkload {
        SERVE_LATENCY,
        SERVE_BURST,
        SERVE_STREAMING,
        SERVE_LIVE,
        SERVE_WARM, /* last: its daemon has pools */
        _SERVE_WORKLOAD_MAX,
        _SERVE_WORKLOAD_INVALID = -EINVAL,
} ServeWorkload;

extern const char *const serve_workload_names[_SERVE_WORKLOAD_MAX];

typedef enum LiveCall {
        LIVE_CALL_LIST, /* a page of one: what it costs to find it */
        LIVE_CALL_STATS,
        LIVE_CALL_FIRST,
        LIVE_CALL_EXEC,
        _LIVE_CALL_MAX,
} LiveCall;

extern const char *const live_call_names[_LIVE_CALL_MAX];

/* Where the memory of the live ones is, in bytes more than without them. */
typedef struct LiveMemory {
        MemoryKinds kinds;
        uint64_t charged; /* by their cgroups; 0: not known */
        uint64_t daemon;  /* resident, of coved */
} LiveMemory;

typedef struct ServeLive {
        size_t n;                     /* so many */
        Row calls[2][_LIVE_CALL_MAX]; /* with one, with all */
        Row floor[2];                 /* the namespaces floor at the same moments */
        LiveMemory memory;
        uint64_t idle_ticks;
        usec_t idle_time;
        usec_t start_time;  /* of all of them */
        Samples adopt_usec; /* from starting a killed daemon again to its first true answer */
        size_t n_lost;
        bool done;
} ServeLive;

typedef enum WarmRow {
        WARM_FORK_EXEC, /* floor: static true */
        WARM_ECHO,      /* fork+exec of the host's echo, and its output */
        WARM_CLAIM,     /* POST /api/sandbox alone, out of the pool */
        WARM_WARM,      /* the same, and the output of its first command, the same echo */
        WARM_COLD,      /* likewise, of a sandbox that is made for it */
        _WARM_MAX,
} WarmRow;

extern const char *const warm_row_names[_WARM_MAX];

typedef struct ServeWarm {
        Row rows[_WARM_MAX];
        size_t n_other; /* warm where a cold one was meant, or the other way round */
        Row burst;
        size_t burst_hits;
        bool done;
} ServeWarm;

typedef struct ServeBench {
        unsigned rounds, batches, streams, warmup;
        double load;
        bool selected[_SERVE_WORKLOAD_MAX];
        bool docker; /* wanted */
        Subjects subjects;
        ServeDaemon daemon;
        Http http;
        char box[64]; /* a sandbox that lives all the time */
        Row rows[_ROW_MAX];
        Row burst, burst_floor;
        Samples stream_usec, pipe_usec;
        ServeLive live;
        ServeWarm warm;
        Error reason; /* of what was left out */
} ServeBench;

/* The floors are ready, the daemon answers, a sandbox with the floor's own `true` in it is there. */
int serve_bench_open(ServeBench *b, Error *reterr);
/* That, and the selected ones in turn. -EINTR: the user wants to leave. */
int serve_bench_run(ServeBench *b, Error *reterr);
void serve_bench_done(ServeBench *b);

/* Parts, in files of their own. */
/* Create with that body and exec, all at once. pooled: how many stood ready; may be NULL. */
int serve_burst(ServeBench *b, const char *create, size_t n, Row *row, size_t *pooled);
int serve_warm(ServeBench *b, Error *reterr);
void serve_warm_done(ServeWarm *w);
int serve_fill(ServeBench *b, size_t n, Error *reterr);
int serve_live(ServeBench *b, Error *reterr);
int serve_first(ServeBench *b, Row *first, Row *create, Row *delete);
int serve_exec(ServeBench *b, const char *body, Row *row);
