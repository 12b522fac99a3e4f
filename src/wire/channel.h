/* channel.h: one end of a SOCK_SEQPACKET pair: between PID 1 and its supervisor, coved and the spawner, coved and PID 1.
 *
 * A message may carry a few descriptors. Allocates nothing: used between clone and exec.
 * Must not know: the messages' contents, except those of message.h. */
#pragma once

#include "wire/message.h"

int channel_pair(int ret_fds[static 2]);

#define CHANNEL_FDS_MAX 20

/* Sends one datagram. The descriptors stay the caller's. Flags are those of send(2); -EAGAIN only with MSG_DONTWAIT. */
int channel_send_bytes(int fd, const void *data, size_t size, const int *fds, size_t n_fds, int flags);

/* One of several messages, sent by one call. Returns how many were sent, at least one. */
typedef struct ChannelPiece {
        const void *data;
        size_t size;
        const int *fds;
        size_t n_fds; /* CHANNEL_FDS_MAX at most */
} ChannelPiece;
#define CHANNEL_PIECES_MAX 8

int channel_send_pieces(int fd, const ChannelPiece *pieces, size_t n, int flags);

/* Returns 1 with a datagram, 0 if the peer is gone, -EAGAIN if there is none yet (on a non-blocking call), -EBADMSG
 * for a datagram that is larger than the buffer or has too many descriptors. After any other error nothing was
 * received, and the peer is still there. Returns the received descriptors, up to max_fds, and closes the rest.
 * CHANNEL_SHORT: a datagram whose descriptors are lost, because this process may open no more (*ret_n_fds is 0). Only
 * the operation that the datagram is about has failed. */
#define CHANNEL_SHORT 2

int channel_receive_bytes(int fd, int flags, void *buffer, size_t size, size_t *ret_size, int *ret_fds, size_t max_fds,
                size_t *ret_n_fds);

/* The same with the messages of message.h; also -EBADMSG for an invalid message, and -EMFILE instead of
 * CHANNEL_SHORT. */
int channel_send(int fd, const WireMessage *message, const int *fds, size_t n_fds);
int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds);
