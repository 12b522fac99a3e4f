/* board.h: what PID 1 and its shims tell each other by memory.
 *
 * One mapping that forks share. No guest has it: it does not survive an exec, and nobody may look into ours. Whatever a shim
 * writes here is still there when a guest's root has killed it.
 *
 * A record is one execution. PID 1 takes a free one and makes it STARTING; from then on the shim whose slot names it changes
 * it, until the slot is let go; then it is PID 1's again.
 *
 *      FREE → STARTING → RUNNING → ENDED → FREE    when coved has said FORGET
 *                     └→ FAILED ──────────→ FREE    when it has been told
 *
 * Must not know: sockets, processes. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"
#include "wire/guest.h"

#define BOARD_RECORDS   5120 /* executions that run, or that coved has not forgotten */
#define BOARD_SHIMS     1024 /* executions that run */
#define BOARD_NO_RECORD (-1)

typedef enum RecordState {
        RECORD_FREE,
        RECORD_STARTING,
        RECORD_RUNNING,
        RECORD_ENDED,
        RECORD_FAILED,
} RecordState;

typedef struct Record {
        _Atomic uint32_t state;
        _Atomic uint32_t untold; /* PID 1 has to tell the state: the shim could not, or coved has asked for a list */
        usec_t started_at;
        GuestStarted started; /* from RUNNING on */
        union {
                GuestExited exited; /* ENDED; before that the counters, as far as they have come */
                GuestExecFailed failed;
        };
} Record;

typedef enum ShimState {
        SHIM_BUSY,
        SHIM_PARKED, /* takes another execution; whoever changes this first, it or PID 1, has decided */
        SHIM_GOING,
} ShimState;

typedef struct ShimSlot {
        _Atomic uint32_t state;
        _Atomic int32_t record;   /* BOARD_NO_RECORD: it does not touch any */
        _Atomic uint64_t signals; /* bit n: signal n + 1 is for the execution. SIGUSR1 tells the shim to look */
        GuestExec exec;           /* its strings come another way */
        uint64_t nproc;           /* processes of the guest, where only rlimits count them */
        uint32_t descriptors;     /* bit n: descriptor n of ShimDescriptor came along */
} ShimSlot;

typedef struct Board {
        _Atomic uint32_t watched;  /* PID 1 wants to hear of every change: shims send it SIGUSR1 */
        _Atomic uint32_t n_parked;
        ShimSlot shims[BOARD_SHIMS];
        Record records[BOARD_RECORDS];
} Board;
