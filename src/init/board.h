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
#define BOARD_SUDO      128  /* commands that somebody has asked PID 1 for, and what they have left behind */
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
        _Atomic int32_t pid;      /* its own; 0: none */
        _Atomic int32_t record;   /* BOARD_NO_RECORD: it does not touch any */
        _Atomic uint64_t signals; /* bit n: signal n + 1 is for the execution. SIGUSR1 tells the shim to look */
        GuestExec exec;           /* its strings come another way */
        uint64_t nproc;           /* processes of the guest, where only rlimits count them */
        uint32_t descriptors;     /* bit n: descriptor n of ShimDescriptor came along */
} ShimSlot;

typedef enum SudoSlotState {
        SUDO_SLOT_FREE,
        SUDO_SLOT_TAKEN, /* by the door (sudo.h), for a steward that it is about to fork */
        SUDO_SLOT_DONE,  /* its steward ends, with nothing left below it */
} SudoSlotState;

typedef struct SudoSlot {
        _Atomic uint32_t state;
        _Atomic int32_t pid;      /* of the steward, which writes it first of all; 0: not yet */
        _Atomic int32_t record;   /* of the execution that has asked; BOARD_NO_RECORD: none that is known */
        _Atomic uint64_t exec;    /* its number: records are used again */
        _Atomic uint64_t signals; /* as those of a shim */
} SudoSlot;

typedef struct Board {
        _Atomic uint32_t watched;  /* PID 1 wants to hear of every change: shims send it SIGUSR1 */
        _Atomic uint32_t n_parked;
        _Atomic uint64_t nofile; /* of the newest execution: all of a sandbox have the same */
        SudoSlot sudo[BOARD_SUDO];
        ShimSlot shims[BOARD_SHIMS];
        Record records[BOARD_RECORDS];
} Board;
