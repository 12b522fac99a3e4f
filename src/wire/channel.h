/* channel.h: one end of a SOCK_SEQPACKET pair: between PID 1 and its supervisor, coved and the spawner, coved and PID 1.
 *
 * A message may carry a few descriptors. Allocates nothing: used between clone and exec.
 * Must not know: what the messages say, but for those of message.h. */
#pragma once

#include "wire/message.h"

int channel_pair(int ret_fds[static 2]);

#define CHANNEL_FDS_MAX 20

/* One datagram. The descriptors stay the caller's. Flags are those of send(2); -EAGAIN only with MSG_DONTWAIT. */
int channel_send_bytes(int fd, const void *data, size_t size, const int *fds, size_t n_fds, int flags);

/* Returns 1 with a datagram, 0 when the other side is gone, -EAGAIN when there is none yet (on a non-blocking call),
 * -EBADMSG for one that is larger than the buffer or brings too many descriptors; with any other error nothing was received, and the other
 * side is there. Descriptors that came along are handed out, up to max_fds; what is more is closed.
 * CHANNEL_SHORT: a datagram whose descriptors are lost, for this process may have no more of them (*ret_n_fds is 0). What it is about has
 * failed; nothing else has. */
#define CHANNEL_SHORT 2

int channel_receive_bytes(int fd, int flags, void *buffer, size_t size, size_t *ret_size, int *ret_fds, size_t max_fds,
                size_t *ret_n_fds);

/* The same with the messages of message.h; -EBADMSG for rubbish as well, and -EMFILE instead of CHANNEL_SHORT. */
int channel_send(int fd, const WireMessage *message, const int *fds, size_t n_fds);
int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds);
