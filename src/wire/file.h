/* file.h: file operations inside a sandbox.
 *
 * Each operation is one GUEST_FILE message with a SOCK_SEQPACKET channel of its own. PID 1 forks a worker, which
 * becomes the requested user, carries out the operation, answers on the channel and ends. If the client closes the
 * channel, the worker undoes its half-done work and ends. All paths are the sandbox's own; a request cannot name
 * anything else.
 *
 *      STAT, MKDIR, MOVE, COPY, CHMOD, REMOVE      ENTRY (the state afterwards; not for REMOVE), END
 *      LIST                                        ENTRY…, END
 *      READ                                        ENTRY with a descriptor, open for reading, of a regular file; END
 *      WRITE    + descriptor: a pipe with data     (data until end of file), coved: COMMIT; then ENTRY, END. Without COMMIT
 *                                                  nothing has happened. Replaces atomically.
 *      WATCH                                       END at once (the watch is set up), then EVENT… until hang-up
 *      PACK                                        ENTRY… depth first, regular files with a descriptor, END
 *      UNPACK                                      other side: PUT, DATA… , PUT, …, COMMIT; then END
 *
 * FAILED may be the last message of any of them, also of a watch that breaks later.
 * END has a count: LIST entries (above the request's limit: there is more), PACK and UNPACK entries, WRITE 1 if a
 * file was replaced, MKDIR directories made (0: it existed), REMOVE, COPY and CHMOD files and directories.
 * FILE_DETAILS: each ENTRY has details (FileEntry.detailed), and a WATCH sends one before each EVENT whose file still
 * exists. A single file is packed by its own name. Files that the kernel generates on read (/proc) come as copies,
 * with their true size. Pure encode and decode. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/file-request.h"

#define FILE_MESSAGE_MAX 65536
#define FILE_DATA_MAX    61440

typedef enum FileType {
        FILE_ENTRY = 1, /* worker → */
        FILE_END,       /* worker → */
        FILE_FAILED,    /* worker → */
        FILE_EVENT,     /* worker → */
        FILE_COMMIT,    /* → worker */
        FILE_PUT,       /* → worker */
        FILE_DATA,      /* → worker */
        _FILE_TYPE_MAX,
} FileType;

typedef struct FileFailure {
        int32_t error; /* positive errno */
        char path[FILE_PATH_BYTES];
} FileFailure;

typedef struct FileData {
        const uint8_t *data;
        size_t size;
} FileData;

typedef struct FileMessage {
        FileType type;
        union {
                FileEntry entry; /* entry, put */
                FileFailure failure;
                FileEvent event;
                uint64_t count; /* end: entries */
                FileData bytes; /* data */
        };
} FileMessage;

ssize_t file_encode(const FileMessage *message, uint8_t *buffer, size_t size);
int file_decode(const uint8_t *data, size_t size, FileMessage *ret); /* data points into the message; -EBADMSG */
