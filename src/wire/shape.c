#include "wire/shape.h"

#include <errno.h>
#include <string.h>

static size_t wire_width(const ShapeField *f) {
        switch (f->kind) {
        case SHAPE_BOOL:
        case SHAPE_UINT8:
        case SHAPE_ENUM: return 1;
        case SHAPE_UINT16: return 2;
        case SHAPE_UINT32:
        case SHAPE_INT: return 4;
        case SHAPE_UINT64:
        case SHAPE_INT64: return 8;
        default: return 0;
        }
}

static uint8_t *wire_array_count(const ShapeField *f, const void *object) {
        return (uint8_t *) (uintptr_t) object + f->count;
}

static void wire_put_array(WireWriter *w, const ShapeField *f, const void *object) {
        size_t n = *wire_array_count(f, object);

        if (n > f->size / f->shape->size) {
                w->failed = true;
                return;
        }
        wire_put_uint(w, n, 1);
        for (size_t i = 0; i < n; i++)
                wire_put_shape(w, f->shape, (const char *) shape_at(f, object) + i * f->shape->size);
}

static void wire_put_raw(WireWriter *w, const uint8_t *data, size_t size) {
        for (size_t i = 0; i < size; i++)
                wire_put_uint(w, data[i], 1);
}

static void wire_put_field(WireWriter *w, const ShapeField *f, const void *object) {
        const void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_CHARS: wire_put_string(w, at, f->size); break;
        case SHAPE_BYTES: wire_put_raw(w, at, f->size); break;
        case SHAPE_VIEW: wire_put_bytes(w, *(const void *const *) at, *(const size_t *) (const void *) ((const char *) object + f->count)); break;
        case SHAPE_OBJECT: wire_put_shape(w, f->shape, at); break;
        case SHAPE_ARRAY: wire_put_array(w, f, object); break;
        default:
                if (wire_width(f) == 0)
                        w->failed = true;
                else
                        wire_put_uint(w, (uint64_t) shape_get(f, object), wire_width(f));
        }
}

void wire_put_shape(WireWriter *w, const Shape *shape, const void *object) {
        for (size_t i = 0; i < shape->n_fields; i++)
                wire_put_field(w, shape->fields + i, object);
}

static void wire_get_number(WireReader *r, const ShapeField *f, void *object) {
        uint64_t value = wire_get_uint(r, wire_width(f));
        int64_t number = f->kind == SHAPE_INT ? (int32_t) (uint32_t) value : (int64_t) value;

        if (r->failed)
                return;
        if (shape_set(f, object, number) < 0)
                r->failed = true;
        else if (f->kind == SHAPE_UINT64 ? !shape_within(f, (double) value) : !shape_within(f, (double) number))
                r->failed = true;
        else if (f->kind == SHAPE_ENUM && f->names && !shape_name(f->names, (int) number))
                r->failed = true;
}

static void wire_get_array(WireReader *r, const ShapeField *f, void *object) {
        uint64_t n = wire_get_uint(r, 1);

        if (r->failed || n > f->size / f->shape->size) {
                r->failed = true;
                return;
        }
        *wire_array_count(f, object) = (uint8_t) n;
        for (size_t i = 0; i < n && !r->failed; i++)
                wire_get_shape(r, f->shape, (char *) shape_at(f, object) + i * f->shape->size);
}

static void wire_get_raw(WireReader *r, uint8_t *ret, size_t size) {
        for (size_t i = 0; i < size; i++)
                ret[i] = (uint8_t) wire_get_uint(r, 1);
}

static void wire_get_view(WireReader *r, const ShapeField *f, void *object) {
        size_t *size = (size_t *) (void *) ((char *) object + f->count);
        const uint8_t **data = shape_at(f, object);

        wire_get_bytes(r, data, size);
        if (*size == 0)
                *data = NULL;
}

static void wire_get_field(WireReader *r, const ShapeField *f, void *object) {
        void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_CHARS:
                *(char *) at = '\0';
                wire_get_string(r, at, f->size);
                break;
        case SHAPE_BYTES: wire_get_raw(r, at, f->size); break;
        case SHAPE_VIEW: wire_get_view(r, f, object); break;
        case SHAPE_OBJECT: wire_get_shape(r, f->shape, at); break;
        case SHAPE_ARRAY: wire_get_array(r, f, object); break;
        default: wire_get_number(r, f, object);
        }
}

void wire_get_shape(WireReader *r, const Shape *shape, void *ret) {
        for (size_t i = 0; i < shape->n_fields && !r->failed; i++)
                wire_get_field(r, shape->fields + i, ret);
}

/* Sets of messages. */

#define WIRE_HEADER_SIZE 4

static const WireLine *wire_line(const WireSet *set, uint64_t type) {
        return type < set->n_lines && set->lines[type].known ? set->lines + type : NULL;
}

static void *wire_member(const void *message, size_t offset) {
        return (char *) (uintptr_t) message + offset;
}

static void wire_put_line(WireWriter *w, const WireLine *line, unsigned type, const void *fields) {
        if (line->check && !line->check(type, fields))
                w->failed = true;
        if (line->shape)
                wire_put_shape(w, line->shape, fields);
        if (line->put_rest)
                line->put_rest(w, fields);
}

ssize_t wire_set_encode(const WireSet *set, const void *message, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer, .end = buffer + size }, length = { .p = buffer + 2, .end = buffer + WIRE_HEADER_SIZE };
        unsigned type = *(const unsigned *) wire_member(message, set->type);
        const WireLine *line = wire_line(set, type);

        if (!line)
                return -EINVAL;
        wire_put_uint(&w, type, 2);
        wire_put_uint(&w, 0, 2);
        if (set->serial > 0)
                wire_put_uint(&w, *(const uint32_t *) wire_member(message, set->serial), 4);
        wire_put_line(&w, line, type, wire_member(message, line->offset));
        if (w.failed)
                return -ENOSPC;
        if (set->has_length)
                wire_put_uint(&length, (uint64_t) (w.p - buffer - WIRE_HEADER_SIZE), 2);
        return w.p - buffer;
}

static bool wire_get_line(WireReader *r, const WireLine *line, unsigned type, void *fields) {
        if (line->shape) {
                memset(fields, 0, line->shape->size); /* also the bytes behind the fields of the table */
                wire_get_shape(r, line->shape, fields);
        }
        if (!r->failed && line->get_rest && !line->get_rest(r, type, fields))
                return false;
        return wire_reader_at_end(r) && (!line->check || line->check(type, fields));
}

int wire_set_decode(const WireSet *set, const uint8_t *data, size_t size, void *ret) {
        WireReader r = { .p = data, .end = data + size };
        uint64_t type = wire_get_uint(&r, 2), second = wire_get_uint(&r, 2), wanted = set->has_length ? size - WIRE_HEADER_SIZE : 0;
        const WireLine *line = wire_line(set, type);

        if (r.failed || second != wanted || !line)
                return -EBADMSG;
        *(unsigned *) wire_member(ret, set->type) = (unsigned) type;
        if (set->serial > 0)
                *(uint32_t *) wire_member(ret, set->serial) = (uint32_t) wire_get_uint(&r, 4);
        return wire_get_line(&r, line, (unsigned) type, wire_member(ret, line->offset)) ? 0 : -EBADMSG;
}
