#include "wire/message.h"

#include <errno.h>
#include <string.h>

#define HEADER_SIZE 4

typedef struct Writer {
        uint8_t *p, *end;
        int failed;
} Writer;

typedef struct Reader {
        const uint8_t *p, *end;
        int failed;
} Reader;

static void put_uint(Writer *w, uint64_t value, size_t width) {
        if (w->failed || (size_t) (w->end - w->p) < width) {
                w->failed = 1;
                return;
        }
        for (size_t i = 0; i < width; i++)
                *w->p++ = (uint8_t) (value >> (8 * i));
}

static void put_string(Writer *w, const char *text, size_t max) {
        size_t n = strnlen(text, max - 1);

        put_uint(w, n, 2);
        if (w->failed || (size_t) (w->end - w->p) < n) {
                w->failed = 1;
                return;
        }
        memcpy(w->p, text, n);
        w->p += n;
}

static uint64_t get_uint(Reader *r, size_t width) {
        uint64_t value = 0;

        if (r->failed || (size_t) (r->end - r->p) < width) {
                r->failed = 1;
                return 0;
        }
        for (size_t i = 0; i < width; i++)
                value |= (uint64_t) *r->p++ << (8 * i);
        return value;
}

static void get_string(Reader *r, char *text, size_t max) {
        size_t n = (size_t) get_uint(r, 2);

        if (r->failed || n >= max || (size_t) (r->end - r->p) < n || memchr(r->p, 0, n)) {
                r->failed = 1;
                return;
        }
        memcpy(text, r->p, n);
        text[n] = '\0';
        r->p += n;
}

ssize_t wire_encode(const WireMessage *message, uint8_t *buffer, size_t size) {
        Writer w = { .p = buffer + HEADER_SIZE, .end = buffer + size };
        Writer header = { .p = buffer, .end = buffer + HEADER_SIZE };

        if (size < HEADER_SIZE)
                return -ENOSPC;

        switch (message->type) {
        case WIRE_FAILED:
                put_uint(&w, (uint32_t) message->failed.error, 4);
                put_string(&w, message->failed.step, WIRE_STEP_MAX);
                put_string(&w, message->failed.detail, WIRE_DETAIL_MAX);
                break;
        case WIRE_EXITED:
                put_uint(&w, (uint32_t) message->exited.wait_status, 4);
                put_uint(&w, message->exited.disk_full, 1);
                put_uint(&w, message->exited.disk_bytes, 8);
                put_uint(&w, message->exited.wall_usec, 8);
                break;
        case WIRE_OUTSIDE: put_uint(&w, message->outside.guards_missing, 8); break;
        case WIRE_STARTED: put_uint(&w, message->started.guards_missing, 8); break;
        case WIRE_GO:
        default: break;
        }
        if (w.failed)
                return -ENOSPC;

        put_uint(&header, (uint64_t) message->type, 2);
        put_uint(&header, (uint64_t) (w.p - buffer - HEADER_SIZE), 2);
        return w.p - buffer;
}

int wire_decode(const uint8_t *data, size_t size, WireMessage *ret) {
        Reader r = { .p = data, .end = data + size };
        WireMessage m = { 0 };
        uint64_t type = get_uint(&r, 2);
        uint64_t length = get_uint(&r, 2);

        if (r.failed || length != (size_t) (r.end - r.p))
                return -EBADMSG;
        if (type < WIRE_GO || type >= _WIRE_TYPE_MAX)
                return -EBADMSG;

        m.type = (WireType) type;
        switch (m.type) {
        case WIRE_FAILED:
                m.failed.error = (int32_t) get_uint(&r, 4);
                get_string(&r, m.failed.step, WIRE_STEP_MAX);
                get_string(&r, m.failed.detail, WIRE_DETAIL_MAX);
                if (m.failed.error <= 0 || m.failed.error > 4095)
                        return -EBADMSG;
                break;
        case WIRE_EXITED:
                m.exited.wait_status = (int32_t) get_uint(&r, 4);
                m.exited.disk_full = (uint8_t) get_uint(&r, 1);
                m.exited.disk_bytes = get_uint(&r, 8);
                m.exited.wall_usec = get_uint(&r, 8);
                if (m.exited.disk_full > 1 || m.exited.disk_bytes > INT64_MAX || m.exited.wall_usec > INT64_MAX)
                        return -EBADMSG;
                break;
        case WIRE_OUTSIDE: m.outside.guards_missing = get_uint(&r, 8); break;
        case WIRE_STARTED: m.started.guards_missing = get_uint(&r, 8); break;
        case WIRE_GO:
        default: break;
        }
        if (r.failed || r.p != r.end)
                return -EBADMSG;

        *ret = m;
        return 0;
}
