/* connect-frame.h: parses envelopes of the Connect protocol from input in pieces of any size.
 *
 *      1 byte    flags: 1 the message is compressed, 2 it ends a stream (servers only)
 *      4 bytes   length of the message, big-endian
 *      …         the message
 *
 * A state machine that consumes bytes up to the end of one envelope. The announced length is not trusted: the
 * buffer grows with the data received.
 * Must not know: HTTP, the content of messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

#define CONNECT_HEAD_SIZE 5

typedef enum ConnectFlags {
        CONNECT_FLAG_COMPRESSED = 1 << 0,
        CONNECT_FLAG_END = 1 << 1,
} ConnectFlags;

typedef struct ConnectFrame {
        uint8_t head[CONNECT_HEAD_SIZE];
        size_t n_head;
        size_t length; /* valid once the head is complete */
        Text message;  /* its max is the longest allowed message */
} ConnectFrame;

void connect_frame_init(ConnectFrame *f, size_t max);
void connect_frame_done(ConnectFrame *f);

/* Returns the bytes taken: fewer than given if the envelope is complete, else all. -EOPNOTSUPP: compressed.
 * -EBADMSG: other flags. -EFBIG: longer than allowed, detected before any of the message is taken. Call
 * connect_frame_next() after an error, and before the next envelope. */
ssize_t connect_frame_take(ConnectFrame *f, const void *data, size_t size);
bool connect_frame_complete(const ConnectFrame *f);
bool connect_frame_empty(const ConnectFrame *f); /* no byte of an envelope has arrived */
void connect_frame_next(ConnectFrame *f);

void connect_frame_head(uint8_t flags, size_t length, uint8_t ret[static CONNECT_HEAD_SIZE]);
