/* filesystem.h: what the files of filesystem.Filesystem share. Each call is a user, one or two paths, and one operation of the core (fileop.h).
 * Private to filesystem*.c. Must not know: codecs, how workers work. */
#pragma once

#include "api/e2b/envd/envd.h"
#include "api/e2b/filesystem.pb-c.h"

extern const ConnectMethod filesystem_methods[];

typedef struct FsCall FsCall;

/* What a call asks for. */
typedef struct FsAsked {
        const char *path, *target; /* as they came; target: NULL where there is one path only */
        /* The user is known: g has paths, owner and flags. */
        void (*ready)(FsCall *c, Sandbox *sb, FileRequest *g);
        uint32_t flags, depth;
        const struct FsKind *kind; /* of those with one answer */
} FsAsked;

/* One call. */
struct FsCall {
        ConnectCall *call;
        EnvdLookup *lookup;
        FsAsked asked;
        char *texts[2]; /* its paths */
        FileOp *op;
        char path[FILE_PATH_BYTES], target[FILE_PATH_BYTES];

        Filesystem__EntryInfo **entries;
        size_t n_entries, room;
        bool failed; /* an entry could not be kept */

        SandboxWatch watch;
        bool stands, over;
        Filesystem__EntryInfo *ahead; /* of the event that comes next */
        struct FsWatcher *watcher;    /* being made for this call */
};

/* Answers when it cannot. ready() may have been called, and all be over, when it returns. */
void fs_call(ConnectCall *c, const FsAsked *asked);
/* The sandbox is gone, or does not run. True: it is that, and the call is over. */
bool fs_lost(FsCall *c, int error);

/* filesystem-entry.c. Made by malloc: filesystem__…__free_unpacked() frees them. */
int fs_entry_new(const FileEntry *e, const char *directory, Filesystem__EntryInfo **ret); /* directory: what relative paths are below; NULL: they are not */
void fs_entry_ahead(Filesystem__EntryInfo **at, const FileEntry *e, const char *directory); /* in place of what is there; NULL: no memory */
int fs_entry_add(FsCall *c, const FileEntry *e, const char *directory);
void fs_permissions(uint32_t mode, char ret[static 16]);
/* One or two, as the kernel's events are to others; takes the entry. The number, or a negative errno. */
int fs_events_new(const FileEvent *e, Filesystem__EntryInfo *entry, Filesystem__FilesystemEvent *ret[static 2]);

/* filesystem-watch.c, filesystem-watchers.c */
void fs_watch_dir(ConnectCall *c, const ProtobufCMessage *request);
void fs_create_watcher(ConnectCall *c, const ProtobufCMessage *request);
void fs_get_watcher_events(ConnectCall *c, const ProtobufCMessage *request);
void fs_remove_watcher(ConnectCall *c, const ProtobufCMessage *request);
void fs_watch_error(FsCall *c, int error); /* of one that never stood */
uint32_t fs_watch_flags(bool recursive, bool include_entry);
void fs_watcher_cancel(struct FsWatcher *w); /* its call is gone */
