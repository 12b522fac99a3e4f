#include "wire/message.h"

#include "wire/shape.h"

#define ERROR_MAX 4095 /* the kernel's */

static const ShapeField failed_fields[] = {
        { "error",  SHAPE_INT,   offsetof(WireFailed, error), .min = 1, .max = ERROR_MAX },
        { "step",   SHAPE_CHARS, SHAPE_AT(WireFailed, step)                              },
        { "detail", SHAPE_CHARS, SHAPE_AT(WireFailed, detail)                            },
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

#define LINE(member, table) { .known = true, .shape = &(table), .offset = offsetof(WireMessage, member) }
static const WireLine wire_lines[_WIRE_TYPE_MAX] = {
        [WIRE_GO]      = { .known = true },
        [WIRE_OUTSIDE] = LINE(outside, guards),
        [WIRE_FAILED]  = LINE(failed, failed),
        [WIRE_STARTED] = LINE(started, guards),
        [WIRE_EXITED]  = LINE(exited, exited),
};

static const WireSet wire_set = { wire_lines, _WIRE_TYPE_MAX, .type = offsetof(WireMessage, type), .has_length = true };

ssize_t wire_encode(const WireMessage *message, uint8_t *buffer, size_t size) {
        return wire_set_encode(&wire_set, message, buffer, size);
}

int wire_decode(const uint8_t *data, size_t size, WireMessage *ret) {
        WireMessage m = { 0 };
        int r = wire_set_decode(&wire_set, data, size, &m);

        if (r >= 0)
                *ret = m;
        return r;
}
