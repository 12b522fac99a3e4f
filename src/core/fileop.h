/* fileop.h: one file operation in a sandbox, under way.
 *
 * The provider does it, as a user of the sandbox. The core checks and bounds the answers before a handler sees them.
 * Must not know: HTTP, JSON, how a provider reaches files. */
#pragma once

#include "base/file-request.h"
#include "core/sandbox.h"

typedef struct FileOp FileOp;

typedef struct FileOpHandlers {
        void (*entry)(FileOp *op, const FileEntry *entry, int fd, void *userdata); /* fd: read, pack: a regular file of that size, the handler's to close; else -EBADF */
        void (*event)(FileOp *op, const FileEvent *event, void *userdata);
        void (*writable)(FileOp *op, void *userdata); /* after fileop_write() took less than it was given: it takes more */
        /* Once, and last. error 0, or a negative errno with the path it is about: -EPIPE when the sandbox has ended, -EBADMSG when
         * the answers make no sense. Of a watch: when it stands, events follow, and once more with an error when it breaks. The
         * count is that of fileop_on_end(). */
        void (*end)(FileOp *op, int error, const char *path, uint64_t count, void *userdata);
} FileOpHandlers;

/* -ESTALE: the sandbox is not in a state for it. -EOPNOTSUPP: pack, unpack, and the provider has no archives. The request's uid and gid are those of the user who does it. */
int fileop_start(Sandbox *sb, const FileRequest *request, const FileOpHandlers *handlers, void *userdata, FileOp **ret, Error *reterr);

/* Also in the middle: then nothing of it remains; also from within a handler. NULL is fine. */
FileOp *fileop_free(FileOp *op);

/* FILE_WRITE: the data, as fast as the worker takes it, and then the commit: nothing of it counts before. Returns how much was taken.
 * -EPIPE: the worker has given up; why, the end tells. */
ssize_t fileop_write(FileOp *op, const void *data, size_t size);
int fileop_wait(FileOp *op);   /* for writable(), of who leaves its turn to others */
int fileop_commit(FileOp *op); /* -EPIPE likewise */
/* All of it, and the commit. The data stays the caller's, and where it is until the end. */
int fileop_write_all(FileOp *op, const void *data, size_t size);

/* FILE_PACK, FILE_UNPACK: the channel itself, for the archive program that will speak on it. The op stays to be freed and hears
 * nothing more. */
int fileop_take_channel(FileOp *op);
/* FILE_UNPACK: what goes in, and whether it got there: nobody here sees it otherwise. */
void fileop_tell_data(FileOp *op, const void *data, size_t size);
void fileop_tell_end(FileOp *op, bool done);

/* Stop and go on reading the answers, when entries come faster than they can be passed on. */
int fileop_pause(FileOp *op, bool pause);

/* For providers: the answers to file_start(), never from within a call. An answer that the operation cannot have ends it with -EBADMSG. Each of them may end the
 * operation, and file_end() comes then.
 *
 *      STAT, MKDIR, MOVE, COPY, CHMOD      entry (the thing afterwards), end
 *      REMOVE, UNPACK                      end
 *      LIST, PACK                          entries, end
 *      READ                                entry with a descriptor, end
 *      WRITE                               after file_commit(): entry, end. Replaces atomically
 *      WATCH                               end at once (the watch stands), then events, each with an entry before it when FILE_DETAILS asks for it
 *      any                                 failed, and nothing after it
 *
 * The count of an end: LIST, PACK, UNPACK entries (LIST: above the request's limit there is more), WRITE 1 when a file was replaced, MKDIR directories made,
 * REMOVE, COPY, CHMOD things. */
void fileop_on_entry(FileOp *op, FileEntry *entry, int fd); /* fd: a regular file, open for reading (read, pack), which says the size; taken. Else -EBADF */
void fileop_on_event(FileOp *op, const FileEvent *event);
void fileop_on_end(FileOp *op, uint64_t count);
void fileop_on_failed(FileOp *op, int error, const char *path); /* error: negative errno */
void *fileop_provider_data(const FileOp *op);
void fileop_set_provider_data(FileOp *op, void *data);
