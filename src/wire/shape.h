/* shape.h: structs as bytes, by base/shape.h.
 *
 * Fields stand in the order of their table: numbers little-endian in their own width, bools and enums as one byte, INT as four,
 * CHARS as a string (u16 length and bytes), BYTES as they are, VIEW with a u32 length, OBJECT by its fields, ARRAY as a u8 count and
 * its items. No other kind is sent. Getting is strict: a bool above 1, a number out of the field's bounds, an enum without a name, a
 * count beyond the array fails the reader.
 * Allocates nothing. Must not know: any message. */
#pragma once

#include "base/shape.h"
#include "wire/codec.h"

void wire_put_shape(WireWriter *w, const Shape *shape, const void *object);
void wire_get_shape(WireReader *r, const Shape *shape, void *ret);

/* A closed set of messages. A type without a shape has no fields; one that `known` does not name does not exist. */
typedef struct WireMessage {
        bool known;
        const Shape *shape;                /* NULL: no fields */
        size_t offset;                     /* of the fields in the message */
        bool (*check)(const void *fields); /* what the shape cannot say: false fails encode and decode. NULL: nothing */
} WireMessage;

void wire_put_message(WireWriter *w, const WireMessage *types, const void *message, unsigned type);
void wire_get_message(WireReader *r, const WireMessage *types, void *message, unsigned type);
