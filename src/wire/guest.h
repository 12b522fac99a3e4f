/* guest.h: the messages between coved and the PID 1 of a sandbox.
 *
 * SOCK_SEQPACKET. The first connection is the control channel that the spawner returns; a restarted coved connects to
 * the socket in the sandbox's run directory. The newest connection replaces an older one, which is closed. coved
 * treats every message as if an enemy had written it. Pure encode and decode.
 *
 *      offset 0   u16 type
 *             2   u16 reserved, 0
 *             4   the fields of the type
 *
 * A start (after a restart coved connects and sends LIST, and the answers replace READY):
 *
 *      init   READY | the FAILED of message.h, which has other type numbers
 *      coved  EXEC 1                          + the sandbox's segment, the first time
 *      init   STARTED 1 | EXEC_FAILED 1
 *      init   EXITED 1                        exactly once, again after each LIST until it is forgotten
 *      coved  FORGET 1                        the end is in the store
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file-request.h"

#define GUEST_MESSAGE_MAX 65536
#define GUEST_INLINE_MAX  32768 /* strings of an EXEC beyond this come in a sealed memfd */
#define GUEST_STEP_MAX    32
#define GUEST_STEP_SEGMENT "segment" /* the step of EXEC_FAILED when PID 1 does not have it */
#define GUEST_DETAIL_MAX  256

typedef enum GuestType {
        /* coved → init. Numbers begin above those of message.h, which share the first connection. */
        GUEST_EXEC = 64,
        GUEST_SIGNAL,
        GUEST_RESIZE,
        GUEST_STDIN_OPEN,  /* answered by STDIN with a descriptor to write to: a pipe, or the terminal */
        GUEST_STDIN_CLOSE, /* closes init's own copy; the reader gets end of file when coved has closed its copy too */
        GUEST_FORGET,
        GUEST_LIST,
        GUEST_STOP, /* TERM to all executions, KILL after the grace time; answered by STOPPED when no guest process is left */
        GUEST_FILE, /* file.h; + descriptors: the worker's channel, and for data a pipe */
        GUEST_NETWORK, /* answered by SOCKETS */
        GUEST_SOCKET,  /* a socket of the sandbox's network; answered by SOCKET_MADE */
        GUEST_CHANNEL_OPEN, /* answered by CHANNEL with copies of the descriptors that PID 1 keeps; repeated after each restart of coved */
        GUEST_KEEP,         /* + descriptors as CHANNEL: keep the daemon's ends of a process that is no execution, for as long as it lives; without: forget them */
        GUEST_KEPT_ASK,     /* asks for the kept process of that number, from 0 on; answered by KEPT */
        GUEST_KILL,         /* signals a process inside that is no execution, by its pid */

        /* init → coved */
        GUEST_READY = 96, /* + descriptor: the root directory, by name only (O_PATH): for statfs */
        GUEST_STARTED,
        GUEST_EXEC_FAILED,
        GUEST_EXITED,
        GUEST_STDIN,
        GUEST_END, /* + descriptor, as READY. Ends a LIST, after STARTED for each running execution and EXITED for each ended one that is not forgotten */
        GUEST_STOPPED,
        GUEST_SOCKETS,     /* + descriptors, by shape. Gated: TCP listener, DNS socket, UDP socket; linked: DNS socket, the hub */
        GUEST_SOCKET_MADE, /* + descriptor when error is 0 */
        GUEST_CHANNEL,     /* + descriptors when error is 0: the channel, the pipe from its stdout, from its stderr */
        GUEST_KEPT,        /* + descriptors, copies of the kept ones; pid 0: there is none of that number */
        _GUEST_TYPE_MAX,
} GuestType;

typedef enum GuestExecFlags {
        GUEST_EXEC_PTY = 1 << 0,   /* a terminal; one journal */
        GUEST_EXEC_STDIN = 1 << 1, /* a pipe as stdin, held open until STDIN_CLOSE; else /dev/null */
        GUEST_EXEC_BLOB = 1 << 2,  /* the strings come in a descriptor after the journals */
        GUEST_EXEC_STAY = 1 << 3,  /* its shim stays parked afterwards without a time limit, ready for the next execution */
        GUEST_EXEC_CHANNEL = 1 << 4, /* descriptor 3 is one end of a stream socket, 1 and 2 are pipes; PID 1 keeps the other ends, and no output goes
                                      * into the journals. Not with a terminal */
        GUEST_EXEC_SEGMENT = 1 << 5, /* the output goes to the sandbox's segment (segment.h) and not to journals of its own */
} GuestExecFlags;

/* Descriptors, in this order: journal of stdout (or of the terminal), journal of stderr (not for a terminal), strings (with
 * BLOB). Journals are open for appending; with CHANNEL there may be none. With SEGMENT, instead of journals: data and
 * index, or neither, if PID 1 has them already. */
typedef struct GuestExec {
        uint64_t exec; /* chosen by coved, never used twice in a sandbox */
        uint32_t flags;
        uint32_t uid, gid;
        uint16_t columns, rows;
        uint64_t timeout_usec; /* 0: none. PID 1 enforces it, whether coved lives or not */
        uint64_t output_max;   /* bytes per stream; the rest is read and dropped */
        uint64_t nofile;
        uint32_t n_args, n_env;
        const uint8_t *strings; /* cwd, args, env: each ends with a NUL; NULL with BLOB */
        size_t strings_size;
} GuestExec;

typedef struct GuestSignal {
        uint64_t exec;
        int32_t signal; /* KILL goes to the whole tree, including detached descendants; others go to the process group */
} GuestSignal;

typedef struct GuestKill {
        int32_t pid; /* inside, never PID 1 */
        int32_t signal;
} GuestKill;

#define GUEST_KEPT_MAX      32  /* of a sandbox */
#define GUEST_KEPT_TEXT_MAX 512 /* with its NUL */
#define GUEST_KEPT_FDS      3

typedef struct GuestKept {
        uint32_t number; /* in KEPT: the number that was asked for */
        int32_t pid;     /* inside */
        char text[GUEST_KEPT_TEXT_MAX]; /* opaque to PID 1; the daemon's description of it */
} GuestKept;

typedef struct GuestResize {
        uint64_t exec;
        uint16_t columns, rows;
} GuestResize;

typedef enum GuestSegmentState {
        GUEST_SEGMENT_UNKNOWN, /* PID 1 is older than segments: commands get journals of their own. It does not send the field */
        GUEST_SEGMENT_NONE,    /* it must be sent */
        GUEST_SEGMENT_KEPT,    /* PID 1 keeps it */
        _GUEST_SEGMENT_STATE_MAX,
} GuestSegmentState;

typedef struct GuestReady {
        uint64_t guards_missing; /* of READY */
        uint8_t segment;         /* GuestSegmentState; READY, END */
} GuestReady;

typedef struct GuestStarted {
        uint64_t exec;
        int32_t pid; /* inside */
        uint32_t flags;
} GuestStarted;

typedef struct GuestExecFailed {
        uint64_t exec;
        int32_t error; /* positive errno */
        char step[GUEST_STEP_MAX];
        char detail[GUEST_DETAIL_MAX];
} GuestExecFailed;

typedef struct GuestExited {
        uint64_t exec;
        int32_t wait_status; /* as wait(2) gives it */
        uint8_t timed_out;   /* PID 1 killed it for timeout_usec */
        uint8_t disk_full;
        uint8_t out_truncated, err_truncated;
        uint64_t out_bytes, err_bytes; /* in the journals at that moment; a process left behind may write more */
        uint64_t wall_usec, user_usec, system_usec;
        uint64_t max_rss_bytes;
} GuestExited;

typedef struct GuestStdin {
        uint64_t exec;
        int32_t error; /* 0 with a descriptor; positive errno: ESRCH no such execution or exited, EBADF closed or none */
} GuestStdin;

typedef enum GuestSocketKind {
        GUEST_SOCKET_TCP = 1, /* non-blocking, connecting to remote_port of the sandbox's own loopback: 127.0.0.1, or ::1 if only that listens */
        GUEST_SOCKET_UDP,     /* bound to local (the outside address that the guest has sent to), connected to remote (the guest) */
} GuestSocketKind;

typedef struct GuestSocket {
        uint64_t token; /* returned with the answer */
        uint8_t kind;
        uint8_t local[16], remote[16]; /* IPv6; IPv4 as ::ffff:a.b.c.d */
        uint16_t local_port, remote_port;
} GuestSocket;

typedef struct GuestSocketMade {
        uint64_t token;
        int32_t error; /* positive errno; ECONNREFUSED: no listener */
} GuestSocketMade;

typedef struct GuestMessage {
        GuestType type;
        union {
                uint64_t exec_id; /* stdin_open, stdin_close, forget, channel_open, kept_ask */
                uint64_t grace_usec; /* stop */
                GuestExec exec;
                GuestSignal signal;
                GuestResize resize;
                FileRequest file; /* file.h has the rest of the conversation */
                GuestReady ready; /* ready, end */
                GuestStarted started;
                GuestExecFailed exec_failed;
                GuestExited exited;
                GuestStdin stdin_; /* stdin, channel */
                GuestKill kill;
                GuestKept kept; /* keep, kept */
                uint8_t shape; /* sockets: SpawnNetwork */
                GuestSocket socket;
                GuestSocketMade socket_made;
        };
} GuestMessage;

ssize_t guest_encode(const GuestMessage *message, uint8_t *buffer, size_t size);

/* Strings of an EXEC point into the data. -EBADMSG for anything that guest_encode() would not make. */
int guest_decode(const uint8_t *data, size_t size, GuestMessage *ret);
