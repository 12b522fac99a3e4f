/* upload.h: a file, a directory as an archive, or what comes on a descriptor, as the body of a request.
 *
 * How far it is, is shown on a terminal meanwhile.
 * Must not know: what it is sent for. */
#pragma once

#include "client/client.h"
#include "client/files/pack.h"
#include "client/progress.h"

typedef struct ClientUpload {
        const char *name; /* for people */
        int fd;
        Pack *pack;  /* instead of the descriptor */
        int wait_fd; /* to wait for before it is read; -EBADF: it never blocks */
        Progress *progress;
        Error error;
} ClientUpload;

/* size: CALL_SIZE_UNKNOWN, or what there is to read. ret NULL: the answer does not matter. What went wrong has been told. */
int upload_send(ClientUpload *s, const Place *place, const char *method, const Url *u, const char *type, uint64_t size, Answer *ret);
