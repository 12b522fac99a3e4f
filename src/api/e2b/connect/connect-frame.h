/* connect-frame.h: envelopes of the Connect protocol, read from bytes that come in pieces of any size.
 *
 *      1 byte    flags: 1 the message is compressed, 2 it is the end of a stream (which servers say alone)
 *      4 bytes   length of the message, big-endian
 *      …         the message
 *
 * A state machine that takes bytes up to the end of one envelope and no further. What is announced is not believed: the message's room grows with what has come.
 * Must not know: HTTP, what messages say. */
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
        size_t length; /* once the head is there */
        Text message;  /* its max is the longest message there may be */
} ConnectFrame;

void connect_frame_init(ConnectFrame *f, size_t max);
void connect_frame_done(ConnectFrame *f);

/* How many bytes were taken: fewer than given when an envelope is complete, or all of them. -EOPNOTSUPP: compressed. -EBADMSG: other flags. -EFBIG: longer than
 * allowed, which is said before any of the message is taken. After an error, and before the next envelope, comes connect_frame_next(). */
ssize_t connect_frame_take(ConnectFrame *f, const void *data, size_t size);
bool connect_frame_complete(const ConnectFrame *f);
bool connect_frame_empty(const ConnectFrame *f); /* nothing of an envelope has come */
void connect_frame_next(ConnectFrame *f);

void connect_frame_head(uint8_t flags, size_t length, uint8_t ret[static CONNECT_HEAD_SIZE]);
