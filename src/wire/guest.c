#include "wire/guest.h"

#include "wire/file.h"
#include "wire/network.h"
#include "wire/shape.h"

#define EXEC_FLAGS_ALL (GUEST_EXEC_PTY | GUEST_EXEC_STDIN | GUEST_EXEC_BLOB | GUEST_EXEC_STAY | GUEST_EXEC_CHANNEL | \
                        GUEST_EXEC_SEGMENT)

/* One number: of an execution, of microseconds, or a set of guards. Each is the first eight bytes of the union. */
static const ShapeField number_fields[] = { { "number", SHAPE_UINT64, 0 } };
static const Shape number = SHAPE_OF(number, uint64_t);

static const ShapeField exec_fields[] = {
        { "exec",        SHAPE_UINT64, offsetof(GuestExec, exec)         },
        { "flags",       SHAPE_UINT32, offsetof(GuestExec, flags)        },
        { "uid",         SHAPE_UINT32, offsetof(GuestExec, uid)          },
        { "gid",         SHAPE_UINT32, offsetof(GuestExec, gid)          },
        { "columns",     SHAPE_UINT16, offsetof(GuestExec, columns)      },
        { "rows",        SHAPE_UINT16, offsetof(GuestExec, rows)         },
        { "timeoutUsec", SHAPE_UINT64, offsetof(GuestExec, timeout_usec) },
        { "outputMax",   SHAPE_UINT64, offsetof(GuestExec, output_max)   },
        { "nofile",      SHAPE_UINT64, offsetof(GuestExec, nofile)       },
        { "args",        SHAPE_UINT32, offsetof(GuestExec, n_args)       },
        { "env",         SHAPE_UINT32, offsetof(GuestExec, n_env)        },
        { "strings",     SHAPE_VIEW,   offsetof(GuestExec, strings), .count = offsetof(GuestExec, strings_size) },
};
static const Shape exec = SHAPE_OF(exec, GuestExec);

static bool exec_check(unsigned type, const void *fields) {
        const GuestExec *e = fields;

        if (e->flags & ~(uint32_t) EXEC_FLAGS_ALL)
                return false;
        if (e->flags & GUEST_EXEC_CHANNEL && e->flags & (GUEST_EXEC_PTY | GUEST_EXEC_SEGMENT))
                return false;
        return e->flags & GUEST_EXEC_BLOB ? e->strings_size == 0 : e->strings_size <= GUEST_INLINE_MAX;
}

static const ShapeField signal_fields[] = {
        { "exec",   SHAPE_UINT64, offsetof(GuestSignal, exec)                                     },
        { "signal", SHAPE_INT,    offsetof(GuestSignal, signal), .min = 1, .max = WIRE_SIGNAL_MAX },
};
static const Shape signal_shape = SHAPE_OF(signal, GuestSignal);

static const ShapeField kill_fields[] = {
        { "pid",    SHAPE_INT, offsetof(GuestKill, pid), .min = 2                            },
        { "signal", SHAPE_INT, offsetof(GuestKill, signal), .min = 1, .max = WIRE_SIGNAL_MAX },
};
static const Shape kill_shape = SHAPE_OF(kill, GuestKill);

static const ShapeField kept_fields[] = {
        { "number", SHAPE_UINT32, offsetof(GuestKept, number) },
        { "pid",    SHAPE_INT,    offsetof(GuestKept, pid)    },
        { "text",   SHAPE_CHARS,  SHAPE_AT(GuestKept, text)   },
};
static const Shape kept = SHAPE_OF(kept, GuestKept);

static bool kept_check(unsigned type, const void *fields) {
        const GuestKept *k = fields;

        return k->pid > 1 || (type == GUEST_KEPT && k->pid == 0);
}

static const ShapeField resize_fields[] = {
        { "exec",    SHAPE_UINT64, offsetof(GuestResize, exec)    },
        { "columns", SHAPE_UINT16, offsetof(GuestResize, columns) },
        { "rows",    SHAPE_UINT16, offsetof(GuestResize, rows)    },
};
static const Shape resize = SHAPE_OF(resize, GuestResize);

static const ShapeField file_fields[] = {
        { "operation", SHAPE_UINT16, offsetof(FileRequest, operation), .min = FILE_STAT, .max = _FILE_OPERATION_MAX - 1 },
        { "flags",     SHAPE_UINT32, offsetof(FileRequest, flags) },
        { "uid",       SHAPE_UINT32, offsetof(FileRequest, uid)   },
        { "gid",       SHAPE_UINT32, offsetof(FileRequest, gid)   },
        { "mode",      SHAPE_UINT32, offsetof(FileRequest, mode)  },
        { "owner",     SHAPE_UINT32, offsetof(FileRequest, owner) },
        { "group",     SHAPE_UINT32, offsetof(FileRequest, group) },
        { "depth",     SHAPE_UINT32, offsetof(FileRequest, depth) },
        { "limit",     SHAPE_UINT64, offsetof(FileRequest, limit) },
        { "path",      SHAPE_CHARS,  SHAPE_AT(FileRequest, path)  },
        { "target",    SHAPE_CHARS,  SHAPE_AT(FileRequest, target) },
};
static const Shape file = SHAPE_OF(file, FileRequest);

static void file_put_labels(WireWriter *w, const void *fields) {
        const FileRequest *f = fields;

        if (f->flags & FILE_SET_LABELS)
                wire_put_bytes(w, f->labels, f->labels_size);
}

static bool file_get_labels(WireReader *r, unsigned type, void *fields) {
        FileRequest *f = fields;

        if (f->flags & FILE_SET_LABELS)
                wire_get_bytes(r, &f->labels, &f->labels_size);
        return !r->failed && file_labels_check(f->labels, f->labels_size);
}

/* A PID 1 that is older than the field does not send it. */
static void ready_put_segment(WireWriter *w, const void *fields) {
        const GuestReady *f = fields;

        if (f->segment != GUEST_SEGMENT_UNKNOWN)
                wire_put_uint(w, f->segment, 1);
}

static bool ready_get_segment(WireReader *r, unsigned type, void *fields) {
        GuestReady *f = fields;

        f->segment = GUEST_SEGMENT_UNKNOWN;
        if (r->p == r->end)
                return true;
        f->segment = (uint8_t) wire_get_uint(r, 1);
        return f->segment != GUEST_SEGMENT_UNKNOWN && f->segment < _GUEST_SEGMENT_STATE_MAX;
}

static const ShapeField started_fields[] = {
        { "exec",  SHAPE_UINT64, offsetof(GuestStarted, exec)                          },
        { "pid",   SHAPE_INT,    offsetof(GuestStarted, pid), .min = 1                 },
        { "flags", SHAPE_UINT32, offsetof(GuestStarted, flags), .max = EXEC_FLAGS_ALL  },
};
static const Shape started = SHAPE_OF(started, GuestStarted);

static const ShapeField exec_failed_fields[] = {
        { "exec",   SHAPE_UINT64, offsetof(GuestExecFailed, exec)                                   },
        { "error",  SHAPE_INT,    offsetof(GuestExecFailed, error), .min = 1, .max = WIRE_ERROR_MAX },
        { "step",   SHAPE_CHARS,  SHAPE_AT(GuestExecFailed, step)                                   },
        { "detail", SHAPE_CHARS,  SHAPE_AT(GuestExecFailed, detail)                                 },
};
static const Shape exec_failed = SHAPE_OF(exec_failed, GuestExecFailed);

static const ShapeField exited_fields[] = {
        { "exec",         SHAPE_UINT64, offsetof(GuestExited, exec)        },
        { "waitStatus",   SHAPE_INT,    offsetof(GuestExited, wait_status) },
        { "timedOut",     SHAPE_BOOL,   offsetof(GuestExited, timed_out)   },
        { "diskFull",     SHAPE_BOOL,   offsetof(GuestExited, disk_full)   },
        { "outTruncated", SHAPE_BOOL,   offsetof(GuestExited, out_truncated) },
        { "errTruncated", SHAPE_BOOL,   offsetof(GuestExited, err_truncated) },
        { "outBytes",     WIRE_COUNT(GuestExited, out_bytes)               },
        { "errBytes",     WIRE_COUNT(GuestExited, err_bytes)               },
        { "wallUsec",     WIRE_COUNT(GuestExited, wall_usec)               },
        { "userUsec",     WIRE_COUNT(GuestExited, user_usec)               },
        { "systemUsec",   WIRE_COUNT(GuestExited, system_usec)             },
        { "maxRssBytes",  WIRE_COUNT(GuestExited, max_rss_bytes)           },
};
static const Shape exited = SHAPE_OF(exited, GuestExited);

static const ShapeField stdin_fields[] = {
        { "exec",  SHAPE_UINT64, offsetof(GuestStdin, exec)                         },
        { "error", SHAPE_INT,    offsetof(GuestStdin, error), .max = WIRE_ERROR_MAX },
};
static const Shape stdin_shape = SHAPE_OF(stdin, GuestStdin);

static const ShapeField sockets_fields[] = { { "shape", SHAPE_UINT8, 0, .max = _SPAWN_NETWORK_MAX - 1 } };
static const Shape sockets = SHAPE_OF(sockets, uint8_t);

static const ShapeField socket_fields[] = {
        { "token",      SHAPE_UINT64, offsetof(GuestSocket, token) },
        { "kind",       SHAPE_UINT8,  offsetof(GuestSocket, kind), .min = GUEST_SOCKET_TCP, .max = GUEST_SOCKET_UDP },
        { "local",      SHAPE_BYTES,  SHAPE_AT(GuestSocket, local)  },
        { "remote",     SHAPE_BYTES,  SHAPE_AT(GuestSocket, remote) },
        { "localPort",  SHAPE_UINT16, offsetof(GuestSocket, local_port) },
        { "remotePort", SHAPE_UINT16, offsetof(GuestSocket, remote_port), .min = 1 },
};
static const Shape socket_shape = SHAPE_OF(socket, GuestSocket);

static const ShapeField socket_made_fields[] = {
        { "token", SHAPE_UINT64, offsetof(GuestSocketMade, token)                        },
        { "error", SHAPE_INT,    offsetof(GuestSocketMade, error), .max = WIRE_ERROR_MAX },
};
static const Shape socket_made = SHAPE_OF(socket_made, GuestSocketMade);

static const WireLine guest_lines[_GUEST_TYPE_MAX] = {
        [GUEST_EXEC]         = WIRE_LINE(GuestMessage, exec, exec, .check = exec_check),
        [GUEST_SIGNAL]       = WIRE_LINE(GuestMessage, signal, signal_shape),
        [GUEST_RESIZE]       = WIRE_LINE(GuestMessage, resize, resize),
        [GUEST_STDIN_OPEN]   = WIRE_LINE(GuestMessage, exec_id, number),
        [GUEST_STDIN_CLOSE]  = WIRE_LINE(GuestMessage, exec_id, number),
        [GUEST_FORGET]       = WIRE_LINE(GuestMessage, exec_id, number),
        [GUEST_LIST]         = WIRE_NOTHING,
        [GUEST_STOP]         = WIRE_LINE(GuestMessage, grace_usec, number),
        [GUEST_FILE]         = WIRE_LINE(GuestMessage, file, file, .put_rest = file_put_labels, .get_rest = file_get_labels),
        [GUEST_NETWORK]      = WIRE_NOTHING,
        [GUEST_SOCKET]       = WIRE_LINE(GuestMessage, socket, socket_shape),
        [GUEST_CHANNEL_OPEN] = WIRE_LINE(GuestMessage, exec_id, number),
        [GUEST_KEEP]         = WIRE_LINE(GuestMessage, kept, kept, .check = kept_check),
        [GUEST_KEPT_ASK]     = WIRE_LINE(GuestMessage, exec_id, number),
        [GUEST_KILL]         = WIRE_LINE(GuestMessage, kill, kill_shape),
        [GUEST_READY]        = WIRE_LINE(GuestMessage, ready, number, .put_rest = ready_put_segment, .get_rest = ready_get_segment),
        [GUEST_STARTED]      = WIRE_LINE(GuestMessage, started, started),
        [GUEST_EXEC_FAILED]  = WIRE_LINE(GuestMessage, exec_failed, exec_failed),
        [GUEST_EXITED]       = WIRE_LINE(GuestMessage, exited, exited),
        [GUEST_STDIN]        = WIRE_LINE(GuestMessage, stdin_, stdin_shape),
        [GUEST_END]          = { .known = true, .offset = offsetof(GuestMessage, ready), .put_rest = ready_put_segment, .get_rest = ready_get_segment },
        [GUEST_STOPPED]      = WIRE_NOTHING,
        [GUEST_SOCKETS]      = WIRE_LINE(GuestMessage, shape, sockets),
        [GUEST_SOCKET_MADE]  = WIRE_LINE(GuestMessage, socket_made, socket_made),
        [GUEST_CHANNEL]      = WIRE_LINE(GuestMessage, stdin_, stdin_shape),
        [GUEST_KEPT]         = WIRE_LINE(GuestMessage, kept, kept, .check = kept_check),
};

static const WireSet guest_set = { guest_lines, _GUEST_TYPE_MAX, .type = offsetof(GuestMessage, type) };
WIRE_CODEC(guest_encode, guest_decode, GuestMessage, guest_set);
