/* file-request.h: what can be asked of the files in a sandbox, and the words of the answers.
 *
 * The core asks a provider in these words, wire/file.h carries them to PID 1, and the archive program speaks them. Plain data.
 * Must not know: messages, who asks, how it is done. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_BYTES 4096
#define FILE_NAME_BYTES 64
#define FILE_LABELS_MAX 4096
#define FILE_MODE_NONE  UINT32_MAX
#define FILE_ID_NONE    UINT32_MAX

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

typedef struct FileRequest {
        uint16_t operation; /* FileOperation */
        uint32_t flags;     /* FileFlags */
        uint32_t uid, gid;
        uint32_t mode; /* FILE_MODE_NONE: leave it */
        uint32_t owner, group; /* FILE_ID_NONE: leave it */
        uint32_t depth;
        uint64_t limit; /* list: entries at most */
        char path[FILE_PATH_BYTES];
        char target[FILE_PATH_BYTES]; /* move, copy */
        const uint8_t *labels; /* with FILE_SET_LABELS */
        size_t labels_size;
} FileRequest;

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
        const uint8_t *labels; /* file_labels_check(); borrowed */
        size_t labels_size;
} FileEntry;

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

/* Labels are extended attributes of one prefix, which nobody else writes: "key\0value\0…", keys without the prefix. */
#define FILE_LABEL_PREFIX "user.e2b."
bool file_labels_check(const uint8_t *labels, size_t size);
/* The pair at the offset, which is moved on; false: that was the last. */
bool file_labels_next(const uint8_t *labels, size_t size, size_t *offset, const char **ret_key, const char **ret_value);
