/* message.h: the messages between a sandbox's PID 1 and its supervisor.
 *
 * Pure encode and decode of one datagram each, little-endian, with bounds; channel.h sends and receives them over a
 * SOCK_SEQPACKET pair. The supervisor treats every message as if an enemy had written it.
 * Must not know: what a jail is, how processes are made.
 *
 *      offset 0   u16 type
 *             2   u16 length of the body
 *             4   body: the fields of the type in the order below; strings are u16 length + bytes, no NUL inside
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRE_MESSAGE_MAX 512
#define WIRE_STEP_MAX    32
#define WIRE_DETAIL_MAX  256

typedef enum WireType {
        WIRE_GO = 1,      /* supervisor → init: ids are mapped, continue */
        WIRE_OUTSIDE = 2, /* supervisor → init: network namespace and cgroup are ready (their descriptors come along) */
        WIRE_FAILED = 3,  /* init → supervisor: could not start; last message */
        WIRE_STARTED = 4, /* init → supervisor: the command runs (with the terminal's master as descriptor) */
        WIRE_EXITED = 5,  /* init → supervisor: the command ended; last message */
        _WIRE_TYPE_MAX,
} WireType;

typedef struct WireFailed {
        int32_t error;                /* positive errno */
        char step[WIRE_STEP_MAX];     /* the step that failed */
        char detail[WIRE_DETAIL_MAX]; /* the object it was about, may be empty */
} WireFailed;

typedef struct WireOutside {
        uint64_t guards_missing; /* optional guards that could not be raised outside; rlimits replace missing controllers */
} WireOutside;

typedef struct WireStarted {
        uint64_t guards_missing; /* optional guards that could not be raised from inside */
} WireStarted;

typedef struct WireExited {
        int32_t wait_status; /* as wait(2) gives it */
        uint8_t disk_full;   /* the writable layer had no room left when the command ended */
        uint64_t disk_bytes; /* used in the writable layer */
        uint64_t wall_usec;  /* from the command's start to its end */
} WireExited;

typedef struct WireMessage {
        WireType type;
        union {
                WireOutside outside;
                WireFailed failed;
                WireStarted started;
                WireExited exited;
        };
} WireMessage;

/* Returns the size, or -ENOSPC. */
ssize_t wire_encode(const WireMessage *message, uint8_t *buffer, size_t size);

/* -EBADMSG for anything that wire_encode() would not make. */
int wire_decode(const uint8_t *data, size_t size, WireMessage *ret);
