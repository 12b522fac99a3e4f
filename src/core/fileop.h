/* fileop.h: one file operation in a sandbox.
 *
 * The provider performs it as a user of the sandbox. Its answers may come from the guest; the core checks and
 * bounds them before a handler sees them.
 * Must not know: HTTP, JSON, how a provider reaches files. */
#pragma once

#include "base/file-request.h"
#include "core/sandbox.h"

typedef struct FileOp FileOp;

typedef struct FileOpHandlers {
        /* fd: READ, PACK: a regular file of that size, closed by the handler; else -EBADF. */
        void (*entry)(FileOp *op, const FileEntry *entry, int fd, void *userdata);
        void (*event)(FileOp *op, const FileEvent *event, void *userdata);
        void (*writable)(FileOp *op, void *userdata); /* after fileop_write() took less than it was given: it takes more */
        /* Once, and last. error: 0, or a negative errno with the path: -EPIPE if the sandbox has ended, -EBADMSG if the
         * answers are invalid. For a watch: called when the watch is set up; events follow; called again with an error when
         * it breaks. count: as of fileop_on_end(). */
        void (*end)(FileOp *op, int error, const char *path, uint64_t count, void *userdata);
} FileOpHandlers;

/* -ESTALE: the sandbox is not in a state for it. -EOPNOTSUPP: PACK or UNPACK, and the provider has no archives. The
 * operation runs as the request's uid and gid. */
int fileop_start(Sandbox *sb, const FileRequest *request, const FileOpHandlers *handlers, void *userdata, FileOp **ret, Error *reterr);

/* Also in the middle of the operation, which is undone then, and from within a handler. NULL is fine. */
FileOp *fileop_free(FileOp *op);

/* FILE_WRITE: writes data as fast as the worker reads it; the file is replaced only by the commit. Returns how much
 * was taken. -EPIPE: the worker has given up; end() has the reason. */
ssize_t fileop_write(FileOp *op, const void *data, size_t size);
int fileop_wait(FileOp *op);   /* asks for writable(); for a writer that yields to the loop although it could go on */
int fileop_commit(FileOp *op); /* -EPIPE likewise */
/* Writes all data, then commits. The data stays the caller's, which must not move or free it before the end. */
int fileop_write_all(FileOp *op, const void *data, size_t size);

/* FILE_PACK, FILE_UNPACK: returns the channel itself, for the archive program. The op gets no more answers; the
 * caller still frees it. */
int fileop_take_channel(FileOp *op);
/* FILE_UNPACK: reports the data and the end to the recorder; the archive program passes them on without the core. */
void fileop_tell_data(FileOp *op, const void *data, size_t size);
void fileop_tell_end(FileOp *op, bool done);

/* Pauses or resumes the answers, for a handler that cannot pass on entries as fast as they come. */
int fileop_pause(FileOp *op, bool pause);

/* For providers: the answers to file_start(), never from within a call. An answer that is invalid for the operation
 * ends it with -EBADMSG. Each of these may end the operation, and file_end() is called then.
 *
 *      STAT, MKDIR, MOVE, COPY, CHMOD      entry (the file afterwards), end
 *      REMOVE, UNPACK                      end
 *      LIST, PACK                          entries, end
 *      READ                                entry with a descriptor, end
 *      WRITE                               after file_commit(): entry, end. Replaces atomically
 *      WATCH                               end (the watch is set up), then events; with FILE_DETAILS, an entry before each
 *      any                                 failed, and nothing after it
 *
 * The count of an end: LIST, PACK, UNPACK: entries (LIST: a count above the request's limit means that there are
 * more); WRITE: 1 if a file was replaced; MKDIR: directories made; REMOVE, COPY, CHMOD: files and directories. */
/* fd: READ, PACK: a regular file, open for reading, taken; its size replaces the entry's. Else -EBADF. */
void fileop_on_entry(FileOp *op, FileEntry *entry, int fd);
void fileop_on_event(FileOp *op, const FileEvent *event);
void fileop_on_end(FileOp *op, uint64_t count);
void fileop_on_failed(FileOp *op, int error, const char *path); /* error: negative errno */
void *fileop_provider_data(const FileOp *op);
void fileop_set_provider_data(FileOp *op, void *data);
