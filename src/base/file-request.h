/* file-request.h: file operations inside a sandbox: requests, entries and events.
 *
 * The core passes these structures to a provider, wire/file.h encodes them for PID 1, and the archive program uses
 * them too. Plain data.
 * Must not know: messages, callers, how an operation is carried out. */
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
        FILE_CHMOD, /* those of mode, owner, group that are set */
        FILE_REMOVE,
        FILE_WATCH,
        FILE_PACK,
        FILE_UNPACK,
        _FILE_OPERATION_MAX,
} FileOperation;

typedef enum FileFlags {
        FILE_RECURSIVE = 1 << 0,   /* remove, watch, copy, chmod */
        FILE_PARENTS = 1 << 1,     /* mkdir, write: make missing parent directories; mkdir: an existing directory is fine */
        FILE_NO_REPLACE = 1 << 2,  /* write, move, copy: -EEXIST */
        FILE_MISSING_OK = 1 << 3,  /* remove */
        FILE_NO_FOLLOW = 1 << 4,   /* stat */
        FILE_DETAILS = 1 << 5,     /* all operations that send entries, except pack */
        FILE_IN_PLACE = 1 << 6,    /* write: into the existing file, step by step, as a program would: links, mode and watchers stay. Not atomic */
        FILE_OWN_PARENTS = 1 << 7, /* with parents: the directories made get the owner and group as well */
        FILE_SET_LABELS = 1 << 8,  /* write: the request's labels replace all existing ones */
        FILE_DIRECTORY = 1 << 9,   /* watch: -ENOTDIR for anything else */
        FILE_LEAVERS = 1 << 10,    /* watch: a file moved out of the tree is reported as RENAMED to "", not as REMOVED */
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
        char path[FILE_PATH_BYTES];   /* list, pack: relative to the requested path, "" for that path itself. Else absolute */
        char target[FILE_PATH_BYTES]; /* of a symbolic link; put: of a hard link too (relative, hard set) */
        uint8_t hard;
        uint32_t mode; /* with the type bits */
        uint32_t uid, gid; /* inside */
        uint64_t size;
        uint64_t inode, device;
        int64_t mtime_nsec, ctime_nsec;

        /* Entries with details. `target` is then the absolute path that the link resolves to, or the link itself if it
         * resolves to nothing. */
        bool detailed;
        uint32_t target_mode; /* of the file that a link resolves to; 0: nothing */
        char owner[FILE_NAME_BYTES], group[FILE_NAME_BYTES]; /* from the sandbox's own /etc; "": the id has no name */
        const uint8_t *labels; /* file_labels_check(); borrowed */
        size_t labels_size;
} FileEntry;

typedef enum FileEventKind {
        FILE_CREATED = 1,
        FILE_MODIFIED,
        FILE_REMOVED,
        FILE_RENAMED, /* path is the old name, target the new one */
        FILE_ATTRIBUTES,
        FILE_OVERFLOW, /* events were lost: list again */
        _FILE_EVENT_MAX,
} FileEventKind;

typedef struct FileEvent {
        uint8_t kind;
        uint8_t directory;
        char path[FILE_PATH_BYTES]; /* relative to the watched path */
        char target[FILE_PATH_BYTES];
} FileEvent;

/* Labels are extended attributes with a prefix that is reserved for them: "key\0value\0…", keys without the prefix. */
#define FILE_LABEL_PREFIX "user.e2b."
bool file_labels_check(const uint8_t *labels, size_t size);
/* Returns the pair at *offset and advances it; false at the end. */
bool file_labels_next(const uint8_t *labels, size_t size, size_t *offset, const char **ret_key, const char **ret_value);
