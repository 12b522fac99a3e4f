/* run-gate.h: cove-gate for one `cove run`, and what it tells.
 *
 *      1. run_gate_start()   while the sandbox waits for its network; the rules are known to be good when it returns
 *      2. run_gate_read()    when events_fd has something: denials become lines on stderr
 *      3. run_gate_end()     the sandbox has ended, and the gate does so by itself
 *
 * The gate runs as nobody where we are root. Whenever it ends, whatever for, nothing gets out any more.
 * Must not know: the sandbox, what the rules mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/run-net.h"

#define RUN_GATE_LINE_MAX 8192

typedef struct RunGate {
        pid_t pid;     /* 0: none */
        int events_fd; /* -EBADF: it tells nothing more */
        bool quiet;
        bool done;     /* it has begun */
        char line[RUN_GATE_LINE_MAX];
        size_t size;
} RunGate;

#define RUN_GATE_EMPTY { .events_fd = -EBADF }

int run_gate_start(RunGate *g, const RunNet *net, const int *sockets, int pidfd, Error *reterr);
void run_gate_read(RunGate *g);
void run_gate_end(RunGate *g);
