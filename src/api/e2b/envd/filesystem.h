/* filesystem.h: shared by the files of filesystem.Filesystem. Each call has a user, one or two paths, and one
 * core operation (fileop.h). Private to filesystem*.c.
 * Must not know: codecs, how workers work. */
#pragma once

#include "api/e2b/envd/envd.h"
#include "api/e2b/filesystem.pb-c.h"

extern const ConnectMethod filesystem_methods[];

typedef struct FsCall FsCall;

/* The parameters of a call. */
typedef struct FsAsked {
        const char *path, *target; /* as received; target: NULL if there is only one path */
        /* Called when the user is known: g has paths, owner and flags. */
        void (*ready)(FsCall *c, Sandbox *sb, FileRequest *g);
        uint32_t flags, depth;
        const struct FsKind *kind; /* for calls with one answer */
} FsAsked;

/* One call. */
struct FsCall {
        ConnectCall *call;
        EnvdLookup *lookup;
        FsAsked asked;
        char *texts[2]; /* copies of its paths */
        FileOp *op;
        char path[FILE_PATH_BYTES], target[FILE_PATH_BYTES];

        Filesystem__EntryInfo **entries;
        size_t n_entries, room;
        bool failed; /* an entry could not be stored */

        SandboxWatch watch;
        bool stands, over;
        Filesystem__EntryInfo *ahead; /* the entry for the next event */
        struct FsWatcher *watcher;    /* being created by this call */
};

/* Starts the call; answers on failure. ready() may have been called, and the call be over, when this returns. */
void fs_call(ConnectCall *c, const FsAsked *asked);
/* Whether the error means that the sandbox is gone or not running. True: the call is over. */
bool fs_lost(FsCall *c, int error);

/* filesystem-entry.c. Entries are allocated with malloc(); filesystem__…__free_unpacked() frees them. */
/* directory: the base of a relative path; NULL: the path is absolute. */
int fs_entry_new(const FileEntry *e, const char *directory, Filesystem__EntryInfo **ret);
/* Replaces *at; NULL: out of memory. */
void fs_entry_ahead(Filesystem__EntryInfo **at, const FileEntry *e, const char *directory);
int fs_entry_add(FsCall *c, const FileEntry *e, const char *directory);
void fs_permissions(uint32_t mode, char ret[static 16]);
/* Converts a kernel event into one or two events of the API; takes the entry. Returns the number, or a
 * negative errno. */
int fs_events_new(const FileEvent *e, Filesystem__EntryInfo *entry, Filesystem__FilesystemEvent *ret[static 2]);

/* filesystem-watch.c, filesystem-watchers.c */
void fs_watch_dir(ConnectCall *c, const ProtobufCMessage *request);
void fs_create_watcher(ConnectCall *c, const ProtobufCMessage *request);
void fs_get_watcher_events(ConnectCall *c, const ProtobufCMessage *request);
void fs_remove_watcher(ConnectCall *c, const ProtobufCMessage *request);
void fs_watch_error(FsCall *c, int error); /* for a watch that was never established */
uint32_t fs_watch_flags(bool recursive, bool include_entry);
void fs_watcher_cancel(struct FsWatcher *w); /* its call has ended */
