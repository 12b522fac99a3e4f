/* channel.h: one end of the SOCK_SEQPACKET pair between PID 1 and its supervisor.
 *
 * A message may carry one descriptor. Allocates nothing: used between clone and exec. */
#pragma once

#include "wire/message.h"

int channel_pair(int ret_fds[static 2]);

int channel_send(int fd, const WireMessage *message, int pass_fd);

/* Returns 1 with a message, 0 when the other side is gone, -EAGAIN when there is none yet (on a non-blocking call),
 * -EBADMSG for rubbish. A descriptor that came along is handed out, or closed when the caller does not want one. */
int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fd);
