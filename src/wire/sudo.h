/* sudo.h: the messages between cove-sudo and PID 1 of its sandbox.
 *
 * SOCK_SEQPACKET, at an abstract address in the sandbox's own network namespace. PID 1 binds it before the first guest
 * process, so no guest can take it. Both sides check the peer's credentials. PID 1's side treats every message as if an
 * enemy had written it: it may come from any process of the sandbox, and from any program. Pure encode and decode.
 *
 *      offset 0   u16 type
 *             2   u16 reserved, 0
 *             4   the fields of the type
 *
 *      client   RUN                  + descriptors
 *      PID 1    STARTED | FAILED     FAILED is the last message
 *      client   SIGNAL …
 *      PID 1    EXITED
 *
 * A client that hangs up before EXITED ends the command, unless it has set SUDO_STAY. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUDO_ADDRESS     "cove/sudo" /* behind a NUL */
#define SUDO_MESSAGE_MAX 65536
#define SUDO_INLINE_MAX  32768 /* strings beyond this come in a file */
#define SUDO_STEP_MAX    32
#define SUDO_DETAIL_MAX  256
#define SUDO_FDS_MAX     5

typedef enum SudoType {
        SUDO_RUN = 128,
        SUDO_SIGNAL,

        SUDO_STARTED = 160,
        SUDO_FAILED,
        SUDO_EXITED,
        _SUDO_TYPE_MAX,
} SudoType;

typedef enum SudoFlags {
        SUDO_TERMINAL = 1 << 0, /* the fourth descriptor becomes its controlling terminal */
        SUDO_BLOB = 1 << 1,     /* the strings come in a file, the last descriptor */
        SUDO_STAY = 1 << 2,     /* the command continues without its client */
} SudoFlags;

#define SUDO_FLAGS_ALL (SUDO_TERMINAL | SUDO_BLOB | SUDO_STAY)

/* Descriptors: the command's 0–2, then those of the flags, in their order. */
typedef struct SudoRun {
        uint32_t flags;
        uint32_t uid, gid;
        uint32_t n_args, n_env;
        const uint8_t *strings; /* working directory, args, env: each ends with a NUL; NULL with BLOB */
        size_t strings_size;
} SudoRun;

typedef struct SudoFailed {
        int32_t error; /* positive errno */
        char step[SUDO_STEP_MAX];
        char detail[SUDO_DETAIL_MAX];
} SudoFailed;

typedef struct SudoMessage {
        SudoType type;
        union {
                SudoRun run;
                int32_t signal;
                int32_t pid;         /* started: as the sandbox sees it */
                int32_t wait_status; /* exited: as wait(2) gives it */
                SudoFailed failed;
        };
} SudoMessage;

/* Number of descriptors of a request with these flags. */
size_t sudo_n_fds(uint32_t flags);

ssize_t sudo_encode(const SudoMessage *message, uint8_t *buffer, size_t size);

/* Strings point into the data. -EBADMSG for anything that sudo_encode() would not make. */
int sudo_decode(const uint8_t *data, size_t size, SudoMessage *ret);
