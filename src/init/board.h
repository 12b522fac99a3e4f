/* board.h: the memory that PID 1 and its shims share.
 *
 * One mapping, shared by forks. No guest has it: it does not survive an exec, and no guest can read our memory. Data
 * that a shim has written stays even when guest root kills the shim.
 *
 * A record is one execution. PID 1 takes a free one and makes it STARTING. Then only the shim whose slot names the
 * record changes it, until the slot is released; after that PID 1 owns it again.
 *
 *      FREE → STARTING → RUNNING → ENDED → FREE    when coved has sent FORGET
 *                     └→ FAILED ──────────→ FREE    when coved has been told
 *
 * Must not know: sockets, processes. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"
#include "wire/guest.h"

#define BOARD_RECORDS   5120 /* executions that run, or that coved has not forgotten */
#define BOARD_SHIMS     1024 /* executions that run */
#define BOARD_SUDO      128  /* sudo commands, and the processes that they have left behind */
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
        _Atomic uint32_t untold; /* PID 1 must report the state: the shim could not, or coved has asked for a list */
        usec_t started_at;
        GuestStarted started; /* from RUNNING on */
        union {
                GuestExited exited; /* ENDED; before that the counters so far */
                GuestExecFailed failed;
        };
} Record;

typedef enum ShimState {
        SHIM_BUSY,
        SHIM_PARKED, /* ready for another execution; the first to change this, the shim or PID 1, decides */
        SHIM_GOING,
} ShimState;

typedef struct ShimSlot {
        _Atomic uint32_t state;
        _Atomic int32_t pid;      /* its own; 0: none */
        _Atomic int32_t record;   /* BOARD_NO_RECORD: it does not touch any */
        _Atomic uint64_t signals; /* bit n: send signal n + 1 to the execution. SIGUSR1 makes the shim read this */
        GuestExec exec;           /* without its strings, which are passed separately */
        uint64_t nproc;           /* limit on the guest's processes, where only rlimits count them */
        uint32_t descriptors;     /* bit n: descriptor n of ShimDescriptor came along */
} ShimSlot;

typedef enum SudoSlotState {
        SUDO_SLOT_FREE,
        SUDO_SLOT_TAKEN, /* by the door (sudo.h), for a steward that it is about to fork */
        SUDO_SLOT_DONE,  /* its steward ends, and no process is left below it */
} SudoSlotState;

typedef struct SudoSlot {
        _Atomic uint32_t state;
        _Atomic int32_t pid;      /* of the steward, which writes it before anything else; 0: not yet */
        _Atomic int32_t record;   /* of the execution that the client belongs to; BOARD_NO_RECORD: unknown */
        _Atomic uint64_t exec;    /* number of that execution: records are reused */
        _Atomic uint64_t signals; /* as in ShimSlot */
} SudoSlot;

typedef struct Board {
        _Atomic uint32_t watched;  /* shims send SIGUSR1 to PID 1 on every change */
        _Atomic uint32_t n_parked;
        _Atomic uint64_t segment_end; /* bytes of the segment's data that are reserved (base/segment.h) */
        _Atomic uint64_t nofile; /* of the newest execution: all executions of a sandbox have the same */
        SudoSlot sudo[BOARD_SUDO];
        ShimSlot shims[BOARD_SHIMS];
        Record records[BOARD_RECORDS];
} Board;
