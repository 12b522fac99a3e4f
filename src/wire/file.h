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

#include "wire/guest.h"

#define FILE_MESSAGE_MAX 65536
#define FILE_DATA_MAX    61440
#define FILE_MODE_NONE   UINT32_MAX
#define FILE_ID_NONE     UINT32_MAX
#define FILE_NAME_BYTES  64

typedef enum FileOperation {
        FILE_STAT = 1,
        FILE_LIST,
        FILE_READ,
        FILE_WRITE,
        FILE_MKDIR,
        FILE_MOVE,
        FILE_COPY,
        FILE_CHMOD, /* mode, owner, group: what is given */
        FILE_REMOVE,
        FILE_WATCH,
        FILE_PACK,
        FILE_UNPACK,
        _FILE_OPERATION_MAX,
} FileOperation;

typedef enum FileFlags {
        FILE_RECURSIVE = 1 << 0,   /* remove, watch, copy, chmod */
        FILE_PARENTS = 1 << 1,     /* mkdir, write: make what is missing on the way; mkdir: an existing directory is fine */
        FILE_NO_REPLACE = 1 << 2,  /* write, move, copy: -EEXIST */
        FILE_MISSING_OK = 1 << 3,  /* remove */
        FILE_NO_FOLLOW = 1 << 4,   /* stat */
        FILE_DETAILS = 1 << 5,     /* all that send entries but pack */
        FILE_IN_PLACE = 1 << 6,    /* write: into the file that is there, as a program would, step by step: links, mode and watchers stay. Not atomic */
        FILE_OWN_PARENTS = 1 << 7, /* with parents: what is made on the way gets the owner and group as well */
        FILE_SET_LABELS = 1 << 8,  /* write: those of the request take the place of all there are */
        FILE_DIRECTORY = 1 << 9,   /* watch: -ENOTDIR for anything else */
        FILE_LEAVERS = 1 << 10,    /* watch: what is moved out of the tree is RENAMED to "", not REMOVED */
} FileFlags;

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

typedef struct FileEntry {
        char path[FILE_PATH_BYTES];   /* list, pack: relative to what was asked for; "" is itself. Else absolute */
        char target[FILE_PATH_BYTES]; /* of a symbolic link; put: of a hard link too (relative, hard set) */
        uint8_t hard;
        uint32_t mode; /* with the type bits */
        uint32_t uid, gid; /* inside */
        uint64_t size;
        uint64_t inode, device;
        int64_t mtime_nsec, ctime_nsec;

        /* Entries with details. The target of a link is then where it leads in the end, absolute; the link itself, when that is nowhere. */
        bool detailed;
        uint32_t target_mode; /* of what a link leads to; 0: nothing */
        char owner[FILE_NAME_BYTES], group[FILE_NAME_BYTES]; /* by the sandbox's own files; "": it has no name */
        const uint8_t *labels; /* file_labels_check(); points into the message */
        size_t labels_size;
} FileEntry;

typedef struct FileFailure {
        int32_t error; /* positive errno */
        char path[FILE_PATH_BYTES];
} FileFailure;

typedef enum FileEventKind {
        FILE_CREATED = 1,
        FILE_MODIFIED,
        FILE_REMOVED,
        FILE_RENAMED, /* path is the old name, target the new one */
        FILE_ATTRIBUTES,
        FILE_OVERFLOW, /* some events are lost: look again */
        _FILE_EVENT_MAX,
} FileEventKind;

typedef struct FileEvent {
        uint8_t kind;
        uint8_t directory;
        char path[FILE_PATH_BYTES]; /* relative to what is watched */
        char target[FILE_PATH_BYTES];
} FileEvent;

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

/* Labels are extended attributes of one prefix, which nobody else writes: "key\0value\0…", keys without the prefix. */
#define FILE_LABEL_PREFIX "user.e2b."
bool file_labels_check(const uint8_t *labels, size_t size);
/* The pair at the offset, which is moved on; false: that was the last. */
bool file_labels_next(const uint8_t *labels, size_t size, size_t *offset, const char **ret_key, const char **ret_value);

ssize_t file_encode(const FileMessage *message, uint8_t *buffer, size_t size);
int file_decode(const uint8_t *data, size_t size, FileMessage *ret); /* data points into the message; -EBADMSG */
