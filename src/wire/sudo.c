#include "wire/sudo.h"

#include "wire/shape.h"

#define STATUS_MAX 0xffff
#define COUNT_MAX  (4u << 20) /* no string is shorter than its NUL */

size_t sudo_n_fds(uint32_t flags) {
        return 3u + (flags & SUDO_TERMINAL ? 1 : 0) + (flags & SUDO_BLOB ? 1 : 0);
}

static const ShapeField run_fields[] = {
        { "flags",   SHAPE_UINT32, offsetof(SudoRun, flags)                                                     },
        { "uid",     SHAPE_UINT32, offsetof(SudoRun, uid)                                                       },
        { "gid",     SHAPE_UINT32, offsetof(SudoRun, gid)                                                       },
        { "args",    SHAPE_UINT32, offsetof(SudoRun, n_args), .min = 1, .max = COUNT_MAX                        },
        { "env",     SHAPE_UINT32, offsetof(SudoRun, n_env), .max = COUNT_MAX                                   },
        { "strings", SHAPE_VIEW,   offsetof(SudoRun, strings), .count = offsetof(SudoRun, strings_size)         },
};
static const Shape run = SHAPE_OF(run, SudoRun);

static bool run_check(unsigned type, const void *fields) {
        const SudoRun *q = fields;

        if (q->flags & ~(uint32_t) SUDO_FLAGS_ALL)
                return false;
        return q->flags & SUDO_BLOB ? q->strings_size == 0 : q->strings_size > 0 && q->strings_size <= SUDO_INLINE_MAX;
}

/* One number, at the beginning of the union. */
static const ShapeField signal_fields[] = { { "signal", SHAPE_INT, 0, .min = 1, .max = WIRE_SIGNAL_MAX } };
static const ShapeField pid_fields[] = { { "pid", SHAPE_INT, 0, .min = 1 } };
static const ShapeField status_fields[] = { { "waitStatus", SHAPE_INT, 0, .max = STATUS_MAX } };
static const Shape signal_shape = SHAPE_OF(signal, int32_t), pid_shape = SHAPE_OF(pid, int32_t), status_shape = SHAPE_OF(status, int32_t);

static const ShapeField failed_fields[] = {
        { "error",  SHAPE_INT,   offsetof(SudoFailed, error), .min = 1, .max = WIRE_ERROR_MAX },
        { "step",   SHAPE_CHARS, SHAPE_AT(SudoFailed, step)                                   },
        { "detail", SHAPE_CHARS, SHAPE_AT(SudoFailed, detail)                                 },
};
static const Shape failed = SHAPE_OF(failed, SudoFailed);

static const WireLine sudo_lines[_SUDO_TYPE_MAX] = {
        [SUDO_RUN]     = WIRE_LINE(SudoMessage, run, run, .check = run_check),
        [SUDO_SIGNAL]  = WIRE_LINE(SudoMessage, signal, signal_shape),
        [SUDO_STARTED] = WIRE_LINE(SudoMessage, pid, pid_shape),
        [SUDO_FAILED]  = WIRE_LINE(SudoMessage, failed, failed),
        [SUDO_EXITED]  = WIRE_LINE(SudoMessage, wait_status, status_shape),
};

static const WireSet sudo_set = { sudo_lines, _SUDO_TYPE_MAX, .type = offsetof(SudoMessage, type) };
WIRE_CODEC(sudo_encode, sudo_decode, SudoMessage, sudo_set);
