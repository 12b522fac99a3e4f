/* channel.h: one end of the SOCK_SEQPACKET pair between PID 1 and its supervisor.
 *
 * A message may carry a few descriptors. Allocates nothing: used between clone and exec. */
#pragma once

#include "wire/message.h"

int channel_pair(int ret_fds[static 2]);

#define CHANNEL_FDS_MAX 8

int channel_send(int fd, const WireMessage *message, const int *fds, size_t n_fds);

/* Returns 1 with a message, 0 when the other side is gone, -EAGAIN when there is none yet (on a non-blocking call),
 * -EBADMSG for rubbish. Descriptors that came along are handed out, up to max_fds; what is more is closed. */
int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds);
