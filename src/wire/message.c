#include "wire/message.h"

#include "wire/shape.h"

static const ShapeField failed_fields[] = {
        { "error",  SHAPE_INT,   offsetof(WireFailed, error), .min = 1, .max = WIRE_ERROR_MAX },
        { "step",   SHAPE_CHARS, SHAPE_AT(WireFailed, step)                                   },
        { "detail", SHAPE_CHARS, SHAPE_AT(WireFailed, detail)                                 },
};
static const Shape failed = SHAPE_OF(failed, WireFailed);

static const ShapeField exited_fields[] = {
        { "waitStatus", SHAPE_INT,  offsetof(WireExited, wait_status) },
        { "diskFull",   SHAPE_BOOL, offsetof(WireExited, disk_full)   },
        { "diskBytes",  WIRE_COUNT(WireExited, disk_bytes)            },
        { "wallUsec",   WIRE_COUNT(WireExited, wall_usec)             },
};
static const Shape exited = SHAPE_OF(exited, WireExited);

static const ShapeField guards_fields[] = {
        { "guardsMissing", SHAPE_UINT64, offsetof(WireStarted, guards_missing) },
};
static const Shape guards = SHAPE_OF(guards, WireStarted);

static const WireLine wire_lines[_WIRE_TYPE_MAX] = {
        [WIRE_GO]      = WIRE_NOTHING,
        [WIRE_OUTSIDE] = WIRE_LINE(WireMessage, outside, guards),
        [WIRE_FAILED]  = WIRE_LINE(WireMessage, failed, failed),
        [WIRE_STARTED] = WIRE_LINE(WireMessage, started, guards),
        [WIRE_EXITED]  = WIRE_LINE(WireMessage, exited, exited),
};

static const WireSet wire_set = { wire_lines, _WIRE_TYPE_MAX, .type = offsetof(WireMessage, type), .has_length = true };
WIRE_CODEC(wire_encode, wire_decode, WireMessage, wire_set);
