/* fileop.h: one file operation in a sandbox, under way.
 *
 * Done by a worker inside, as a user of the sandbox; here is the daemon's end of its channel. What it says is checked and
 * bounded. Must not know: HTTP, JSON. */
#pragma once

#include "core/sandbox.h"
#include "wire/file.h"

typedef struct FileOp FileOp;

typedef struct FileOpHandlers {
        void (*entry)(FileOp *op, const FileEntry *entry, int fd, void *userdata); /* fd: read, pack; the handler's to close; else -EBADF */
        void (*event)(FileOp *op, const FileEvent *event, void *userdata);
        /* Once, and last. error 0, or a negative errno with the path it is about: -EPIPE when the sandbox went away, -EBADMSG when
         * the worker talks nonsense. Of a watch: when it stands, events follow, and once more with an error when it breaks. The
         * count is that of END in file.h. */
        void (*end)(FileOp *op, int error, const char *path, uint64_t count, void *userdata);
} FileOpHandlers;

/* -ESTALE: the sandbox is not in a state for it. The request's uid and gid are those of the worker. */
int fileop_start(Sandbox *sb, const GuestFile *request, const FileOpHandlers *handlers, void *userdata, FileOp **ret, Error *reterr);

/* Also in the middle: then nothing of it remains; also from within a handler. NULL is fine. */
FileOp *fileop_free(FileOp *op);

/* FILE_WRITE: the non-blocking end of the pipe to write the data to; the op owns it, and it is -EBADF after the end. When all is
 * written: commit, which closes it. */
int fileop_data_fd(const FileOp *op);
ssize_t fileop_write(FileOp *op, const void *data, size_t size); /* write(2) to it: -EAGAIN, -EPIPE */
int fileop_commit(FileOp *op);

/* FILE_PACK, FILE_UNPACK: the channel itself, for the archive program that will speak on it. The op stays to be freed and hears
 * nothing more. */
int fileop_take_channel(FileOp *op);
/* FILE_UNPACK: what goes in, and whether it got there: nobody here sees it otherwise. */
void fileop_tell_data(FileOp *op, const void *data, size_t size);
void fileop_tell_end(FileOp *op, bool done);

/* Stop and go on reading what the worker says, when entries come faster than they can be passed on. */
int fileop_pause(FileOp *op, bool pause);
