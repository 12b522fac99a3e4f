#include "wire/message.h"

#include <errno.h>

#include "wire/codec.h"

#define HEADER_SIZE 4

ssize_t wire_encode(const WireMessage *message, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer + HEADER_SIZE, .end = buffer + size };
        WireWriter header = { .p = buffer, .end = buffer + HEADER_SIZE };

        if (size < HEADER_SIZE)
                return -ENOSPC;

        switch (message->type) {
        case WIRE_FAILED:
                wire_put_uint(&w, (uint32_t) message->failed.error, 4);
                wire_put_string(&w, message->failed.step, WIRE_STEP_MAX);
                wire_put_string(&w, message->failed.detail, WIRE_DETAIL_MAX);
                break;
        case WIRE_EXITED:
                wire_put_uint(&w, (uint32_t) message->exited.wait_status, 4);
                wire_put_uint(&w, message->exited.disk_full, 1);
                wire_put_uint(&w, message->exited.disk_bytes, 8);
                wire_put_uint(&w, message->exited.wall_usec, 8);
                break;
        case WIRE_OUTSIDE: wire_put_uint(&w, message->outside.guards_missing, 8); break;
        case WIRE_STARTED: wire_put_uint(&w, message->started.guards_missing, 8); break;
        case WIRE_GO:
        default: break;
        }
        if (w.failed)
                return -ENOSPC;

        wire_put_uint(&header, (uint64_t) message->type, 2);
        wire_put_uint(&header, (uint64_t) (w.p - buffer - HEADER_SIZE), 2);
        return w.p - buffer;
}

int wire_decode(const uint8_t *data, size_t size, WireMessage *ret) {
        WireReader r = { .p = data, .end = data + size };
        WireMessage m = { 0 };
        uint64_t type = wire_get_uint(&r, 2);
        uint64_t length = wire_get_uint(&r, 2);

        if (r.failed || length != (size_t) (r.end - r.p))
                return -EBADMSG;
        if (type < WIRE_GO || type >= _WIRE_TYPE_MAX)
                return -EBADMSG;

        m.type = (WireType) type;
        switch (m.type) {
        case WIRE_FAILED:
                m.failed.error = (int32_t) wire_get_uint(&r, 4);
                wire_get_string(&r, m.failed.step, WIRE_STEP_MAX);
                wire_get_string(&r, m.failed.detail, WIRE_DETAIL_MAX);
                if (m.failed.error <= 0 || m.failed.error > 4095)
                        return -EBADMSG;
                break;
        case WIRE_EXITED:
                m.exited.wait_status = (int32_t) wire_get_uint(&r, 4);
                m.exited.disk_full = (uint8_t) wire_get_uint(&r, 1);
                m.exited.disk_bytes = wire_get_uint(&r, 8);
                m.exited.wall_usec = wire_get_uint(&r, 8);
                if (m.exited.disk_full > 1 || m.exited.disk_bytes > INT64_MAX || m.exited.wall_usec > INT64_MAX)
                        return -EBADMSG;
                break;
        case WIRE_OUTSIDE: m.outside.guards_missing = wire_get_uint(&r, 8); break;
        case WIRE_STARTED: m.started.guards_missing = wire_get_uint(&r, 8); break;
        case WIRE_GO:
        default: break;
        }
        if (!wire_reader_at_end(&r))
                return -EBADMSG;

        *ret = m;
        return 0;
}
