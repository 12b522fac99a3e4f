/* shape.h: encodes structs as bytes, by their shapes (base/shape.h).
 *
 * Fields are sent in the order of their table: numbers little-endian in their own width, bools and enums as one byte,
 * INT as four, CHARS as a string (u16 length and bytes), BYTES unchanged, VIEW with a u32 length, OBJECT by its
 * fields, ARRAY as a u8 count and its items. No other kind is sent. Decoding is strict: a bool above 1, a number out
 * of the field's bounds, an enum value without a name, or a count beyond the array fails the reader.
 * Allocates nothing. Must not know: any message. */
#pragma once

#include <sys/types.h>

#include "base/shape.h"
#include "wire/codec.h"

void wire_put_shape(WireWriter *w, const Shape *shape, const void *object);
void wire_get_shape(WireReader *r, const Shape *shape, void *ret);

/* A count or time: at most INT64_MAX, since larger values would be negative elsewhere. */
#define WIRE_COUNT(type, member) SHAPE_INT64, offsetof(type, member), .max = (double) INT64_MAX

#define WIRE_ERROR_MAX  4095 /* the kernel's */
#define WIRE_SIGNAL_MAX 64

/* One type of message. The rest follows the fields: the part that a table cannot describe. */
typedef struct WireLine {
        bool known;         /* else the type does not exist */
        const Shape *shape; /* of its fields; NULL: none */
        size_t offset;      /* of the fields in the message */
        bool (*check)(unsigned type, const void *fields); /* false: invalid; fails encode and decode. NULL: only the bounds are checked */
        void (*put_rest)(WireWriter *w, const void *fields);
        bool (*get_rest)(WireReader *r, unsigned type, void *fields); /* false: invalid */
} WireLine;

#define WIRE_NOTHING                           { .known = true }
#define WIRE_LINE(message, member, table, ...) { .known = true, .shape = &(table), .offset = offsetof(message, member), ##__VA_ARGS__ }

/* A closed set of messages: a struct with an enum `type`, a u32 `serial` where there is one, and a union of fields.
 *
 *      offset 0   u16 type
 *             2   u16 reserved, 0; or the length of what follows
 *             4   u32 serial, where there is one
 *                 the fields of the type
 */
typedef struct WireSet {
        const WireLine *lines; /* by type */
        unsigned n_lines;
        size_t type;   /* offset */
        size_t serial; /* likewise; 0: there is none */
        bool has_length;
} WireSet;

/* Returns the size; -EINVAL: no such type; -ENOSPC: no room, or an invalid message. */
ssize_t wire_set_encode(const WireSet *set, const void *message, uint8_t *buffer, size_t size);

/* -EBADMSG for anything that wire_set_encode() would not make; the message is then undefined. */
int wire_set_decode(const WireSet *set, const uint8_t *data, size_t size, void *ret);

/* Defines ssize_t ENCODE(const MESSAGE *message, uint8_t *buffer, size_t size) and
 * int DECODE(const uint8_t *data, size_t size, MESSAGE *ret), which leaves *ret alone on failure. */
#define WIRE_CODEC(encode, decode, message_type, set)                                                             \
        ssize_t encode(const message_type *message, uint8_t *buffer, size_t size) {                               \
                return wire_set_encode(&(set), message, buffer, size);                                            \
        }                                                                                                         \
        int decode(const uint8_t *data, size_t size, message_type *ret) {                                         \
                message_type m = { 0 };                                                                           \
                int r = wire_set_decode(&(set), data, size, &m);                                                  \
                                                                                                                  \
                if (r >= 0)                                                                                       \
                        *ret = m;                                                                                 \
                return r;                                                                                         \
        }                                                                                                         \
        _Static_assert(sizeof(message_type) > 0, "")
