/* peer.h: the connection of cove-archive to the worker in the sandbox: the messages of wire/file.h, one at a
 * time, blocking.
 *
 * Messages of the worker are as untrusted as anything that comes from a sandbox, and are checked. */
#pragma once

#include "base/error.h"
#include "wire/file.h"

#define PEER_FD 3

/* If the worker has given up, the error is the one that it sent. */
int peer_send(const FileMessage *message, Error *reterr);

/* Returns 1 with an entry (and its descriptor, or -EBADF), 0 at the end with the count. */
int peer_next_entry(FileEntry *ret, int *ret_fd, uint64_t *ret_count, Error *reterr);
int peer_await_end(uint64_t *ret_count, Error *reterr);
