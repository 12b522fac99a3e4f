/* file.h: file operations inside a sandbox.
 *
 * Each is one GUEST_FILE message with a SOCK_SEQPACKET channel of its own; PID 1 forks a worker for it, which becomes the
 * asked-for user, does it, answers on the channel and ends. A hang-up of the channel ends the worker, undoing what is half
 * done. All paths are the sandbox's own; there is nothing else to name.
 *
 *      STAT, MKDIR, MOVE, COPY, CHMOD, REMOVE      ENTRY (the thing afterwards; not for REMOVE), END
 *      LIST                                        ENTRY…, END
 *      READ                                        ENTRY with a descriptor, open for reading, of a regular file; END
 *      WRITE    + descriptor: a pipe with data     (data until end of file), coved: COMMIT; then ENTRY, END. Without COMMIT
 *                                                  nothing has happened. Replaces atomically.
 *      WATCH                                       END at once (the watch stands), then EVENT… until hang-up
 *      PACK                                        ENTRY… depth first, regular files with a descriptor, END
 *      UNPACK                                      other side: PUT, DATA… , PUT, …, COMMIT; then END
 *
 * Any of them: FAILED, last message; of a watch that breaks, too.
 * END counts: LIST entries (above the request's limit: there is more), PACK and UNPACK entries, WRITE 1 when a file was replaced,
 * MKDIR directories made (0: it was there), REMOVE, COPY and CHMOD things.
 * FILE_DETAILS: each ENTRY says more (FileEntry.detailed), and a WATCH has one before each EVENT whose thing is still there.
 * A single file is packed by its own name. Files that the kernel makes up (/proc) come as copies, with their true size.
 * Pure encode and decode. */
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
