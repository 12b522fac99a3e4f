/* peer.h: the worker in the sandbox, as cove-archive talks to it: the messages of wire/file.h, one at a time, waiting.
 *
 * What the worker says is checked like anything that comes from a sandbox. */
#pragma once

#include "base/error.h"
#include "wire/file.h"

#define PEER_FD 3

/* When the worker has given up, the error is the one that it told. */
int peer_send(const FileMessage *message, Error *reterr);

/* 1 with an entry (and its descriptor, or -EBADF), 0 at the end with the count. */
int peer_next_entry(FileEntry *ret, int *ret_fd, uint64_t *ret_count, Error *reterr);
int peer_await_end(uint64_t *ret_count, Error *reterr);
