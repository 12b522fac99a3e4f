/* upload.h: sends a file, a directory as an archive, or the data from a descriptor as the body of a request.
 *
 * Progress is shown on a terminal.
 * Must not know: the purpose of the upload. */
#pragma once

#include "client/client.h"
#include "client/files/pack.h"
#include "client/progress.h"

typedef struct ClientUpload {
        const char *name; /* for the progress line */
        int fd;
        Pack *pack;  /* used instead of fd */
        int wait_fd; /* to wait for before reading; -EBADF: it never blocks */
        Progress *progress;
        Error error;
} ClientUpload;

/* size: CALL_SIZE_UNKNOWN, or the number of bytes to send. ret NULL: the answer is discarded. Failures have
 * been reported. */
int upload_send(ClientUpload *s, const Place *place, const char *method, const Url *u, const char *type, uint64_t size, Answer *ret);
