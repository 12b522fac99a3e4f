/* run-gate.h: starts cove-gate for one `cove run` and prints its events.
 *
 *      1. run_gate_start()   while the sandbox waits for its network; returns after the gate has accepted the rules
 *      2. run_gate_read()    when events_fd is readable; prints denials as lines on stderr
 *      3. run_gate_end()     after the sandbox has ended; the gate then ends by itself
 *
 * If cove runs as root, the gate runs as nobody. When the gate ends, for whatever reason, nothing gets out
 * any more.
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
        int events_fd; /* -EBADF: no more events */
        bool quiet;
        bool done;     /* the gate has reported that it is ready */
        char line[RUN_GATE_LINE_MAX];
        size_t size;
} RunGate;

#define RUN_GATE_EMPTY { .events_fd = -EBADF }

int run_gate_start(RunGate *g, const RunNet *net, const int *sockets, int pidfd, Error *reterr);
void run_gate_read(RunGate *g);
void run_gate_end(RunGate *g);
