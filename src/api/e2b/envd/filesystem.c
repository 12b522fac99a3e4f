/* filesystem.c: the methods of filesystem.Filesystem, and the handlers of those with one answer. */

#include "api/e2b/envd/filesystem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 50000

/* One call: its user and its path. */

static void filesystem_call_destroy(ConnectCall *call, void *state) {
        FsCall *c = state;

        envd_lookup_cancel(c->lookup);
        fileop_free(c->op);
        sandbox_unwatch(&c->watch);
        if (c->watcher)
                fs_watcher_cancel(c->watcher);
        for (size_t i = 0; i < c->n_entries; i++)
                filesystem__entry_info__free_unpacked(c->entries[i], NULL);
        free(c->entries);
        if (c->ahead)
                filesystem__entry_info__free_unpacked(c->ahead, NULL);
        free(c->texts[0]);
        free(c->texts[1]);
        free(c);
}

bool fs_lost(FsCall *c, int error) {
        if (error != -EPIPE && error != -ESTALE)
                return false;
        connect_break(c->call);
        return true;
}

static int filesystem_resolve(FsCall *c, const Sandbox *sb, const EnvdUser *user, unsigned i, char ret[static FILE_PATH_BYTES]) {
        _cleanup_free_ char *path = NULL;
        int r = envd_path(user, sb->spec.workdir, c->texts[i], &path);

        if (r == -EINVAL)
                return connect_error(c->call, CONNECT_INVALID_ARGUMENT,
                                "failed to expand path '%.300s' for user '%s': cannot expand user-specific home dir, or too long", c->texts[i], user->name);
        if (r < 0)
                return connect_errno(c->call, r, NULL);
        (void) strcpy(ret, path);
        return 0;
}

static void filesystem_on_user(int r, const EnvdUser *user, void *userdata) {
        FsCall *c = userdata;
        Sandbox *sb = envd_sandbox(connect_request(c->call));
        const char *name = connect_user(c->call);
        FileRequest g;

        if (r == -ENOENT) {
                (void) connect_error(c->call, CONNECT_UNAUTHENTICATED, "invalid username: '%s'", name ? name : "");
                return;
        }
        if (r < 0 || !sb) {
                if (!fs_lost(c, r < 0 ? r : -EPIPE))
                        (void) connect_errno(c->call, r, NULL);
                return;
        }
        if (filesystem_resolve(c, sb, user, 0, c->path) < 0 || (c->texts[1] && filesystem_resolve(c, sb, user, 1, c->target) < 0))
                return;
        envd_file_request(sb, user, FILE_STAT, &g);
        (void) strcpy(g.path, c->path);
        (void) strcpy(g.target, c->target);
        g.flags = c->asked.flags;
        g.depth = c->asked.depth;
        c->asked.ready(c, sb, &g);
}

static void filesystem_begin(FsCall *c) {
        EnvdLookup *lookup = NULL;
        Error error = { 0 };
        int r = envd_user_lookup(connect_request(c->call)->sandbox, connect_user(c->call), filesystem_on_user, c, &lookup, &error);

        if (r < 0 && !fs_lost(c, r))
                (void) connect_errno(c->call, r, error.text);
        else if (lookup)
                c->lookup = lookup; /* else the lookup is over, and the call may be freed */
}

void fs_call(ConnectCall *call, const FsAsked *asked) {
        FsCall *c = calloc(1, sizeof(*c));

        if (!c) {
                (void) connect_errno(call, -ENOMEM, NULL);
                return;
        }
        c->call = call;
        c->asked = *asked;
        connect_set_state(call, c, filesystem_call_destroy);
        c->texts[0] = strdup(asked->path ? asked->path : "");
        c->texts[1] = asked->target ? strdup(asked->target) : NULL;
        if (!c->texts[0] || (asked->target && !c->texts[1]))
                (void) connect_errno(call, -ENOMEM, NULL);
        else
                filesystem_begin(c);
}

/* Operations with a single answer. */

typedef struct FsKind {
        FileOperation operation;
        uint32_t flags;
        bool makes; /* creates missing parents, owned by the user */
        /* Returns true if the operation has failed, and then has answered. path: where it failed. */
        bool (*failed)(FsCall *c, int error, const char *path, uint64_t count);
        void (*answer)(FsCall *c); /* with its entries */
} FsKind;

static void filesystem_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FsCall *c = userdata;

        if (c->n_entries >= LIST_MAX || fs_entry_add(c, entry, c->path) < 0)
                c->failed = true;
}

static void filesystem_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FsCall *c = userdata;

        if (fs_lost(c, error) || c->asked.kind->failed(c, error, path[0] ? path : c->path, count))
                return;
        if (c->failed)
                (void) connect_errno(c->call, -ENOMEM, NULL);
        else
                c->asked.kind->answer(c);
}

static void filesystem_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_on_entry, .end = filesystem_on_end };
        const FsKind *k = c->asked.kind;
        Error error = { 0 };
        int r;

        g->operation = (uint16_t) k->operation;
        g->flags = k->flags | (k->makes ? FILE_PARENTS | (g->owner != FILE_ID_NONE ? FILE_OWN_PARENTS : 0) : 0);
        g->limit = LIST_MAX;
        r = fileop_start(sb, g, &handlers, c, &c->op, &error);
        if (r < 0 && !fs_lost(c, r))
                (void) connect_errno(c->call, r, error.text);
}

static void filesystem_ask(ConnectCall *call, const FsKind *kind, const char *path, const char *target, uint32_t depth) {
        fs_call(call, &(FsAsked) { .path = path, .target = target, .ready = filesystem_ready, .depth = depth, .kind = kind });
}

/* Answers with the requested entry. The answers of Stat, MakeDir and Move differ only in their names. */
static void filesystem_answer_entry(FsCall *c) {
        Filesystem__StatResponse m = FILESYSTEM__STAT_RESPONSE__INIT;

        if (c->n_entries != 1) {
                (void) connect_errno(c->call, -EPROTO, "the sandbox did not report the result");
                return;
        }
        m.entry = c->entries[0];
        (void) connect_answer(c->call, &m.base);
}

/* Stat. */

static bool stat_failed(FsCall *c, int error, const char *path, uint64_t count) {
        if (error < 0)
                (void) connect_error(c->call, error == -ENOENT ? CONNECT_NOT_FOUND : CONNECT_INTERNAL, "%s: lstat %s: %s",
                                error == -ENOENT ? "file not found" : "error getting file info", c->path, envd_strerror(-error));
        return error < 0;
}

static void fs_stat(ConnectCall *call, const ProtobufCMessage *request) {
        static const FsKind kind = { FILE_STAT, FILE_NO_FOLLOW | FILE_DETAILS, .failed = stat_failed, .answer = filesystem_answer_entry };

        filesystem_ask(call, &kind, ((const Filesystem__StatRequest *) request)->path, NULL, 0);
}

/* MakeDir. */

static bool make_dir_failed(FsCall *c, int error, const char *path, uint64_t count) {
        if (error == 0 && count == 0)
                (void) connect_error(c->call, CONNECT_ALREADY_EXISTS, "directory already exists: %s", c->path);
        else if (error == -EEXIST)
                (void) connect_error(c->call, CONNECT_INVALID_ARGUMENT, "path already exists but it is not a directory: %s", c->path);
        else if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "failed to create directory: mkdir %s: %s", c->path, envd_strerror(-error));
        return error < 0 || count == 0;
}

static void fs_make_dir(ConnectCall *call, const ProtobufCMessage *request) {
        static const FsKind kind = { FILE_MKDIR, FILE_DETAILS, .makes = true, .failed = make_dir_failed, .answer = filesystem_answer_entry };

        filesystem_ask(call, &kind, ((const Filesystem__MakeDirRequest *) request)->path, NULL, 0);
}

/* Move. */

static bool move_failed(FsCall *c, int error, const char *path, uint64_t count) {
        if (error < 0)
                (void) connect_error(c->call, error == -ENOENT ? CONNECT_NOT_FOUND : CONNECT_INTERNAL, "%s: rename %s %s: %s",
                                error == -ENOENT ? "source file not found" : "error renaming", c->path, c->target, envd_strerror(-error));
        return error < 0;
}

static void fs_move(ConnectCall *call, const ProtobufCMessage *request) {
        static const FsKind kind = { FILE_MOVE, FILE_DETAILS, .makes = true, .failed = move_failed, .answer = filesystem_answer_entry };
        const Filesystem__MoveRequest *m = (const Filesystem__MoveRequest *) request;

        filesystem_ask(call, &kind, m->source, m->destination ? m->destination : "", 0);
}

/* ListDir. */

static bool list_failed(FsCall *c, int error, const char *path, uint64_t count) {
        if (error == -ENOENT)
                (void) connect_error(c->call, CONNECT_NOT_FOUND, "path not found: lstat %s: %s", c->path, envd_strerror(ENOENT));
        else if (error == -ENOTDIR)
                (void) connect_error(c->call, CONNECT_INVALID_ARGUMENT, "path is not a directory: %s", c->path);
        else if (error == -ELOOP)
                (void) connect_error(c->call, CONNECT_FAILED_PRECONDITION, "cyclic symlink or chain >255 links at \"%s\"", c->path);
        else if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "error reading directory %s: open %s: %s", c->path, path, envd_strerror(-error));
        else if (count > LIST_MAX)
                (void) connect_error(c->call, CONNECT_RESOURCE_EXHAUSTED, "%s has more than %d entries to this depth: ask for less of it at a time", c->path,
                                LIST_MAX);
        return error < 0 || count > LIST_MAX;
}

static void list_answer(FsCall *c) {
        Filesystem__ListDirResponse m = FILESYSTEM__LIST_DIR_RESPONSE__INIT;

        m.n_entries = c->n_entries;
        m.entries = c->entries;
        (void) connect_answer(c->call, &m.base);
}

static void fs_list_dir(ConnectCall *call, const ProtobufCMessage *request) {
        static const FsKind kind = { FILE_LIST, FILE_DETAILS, .failed = list_failed, .answer = list_answer };
        const Filesystem__ListDirRequest *m = (const Filesystem__ListDirRequest *) request;

        filesystem_ask(call, &kind, m->path, NULL, m->has_depth && m->depth > 0 ? m->depth : 1);
}

/* Remove. */

static bool remove_failed(FsCall *c, int error, const char *path, uint64_t count) {
        if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "error removing file or directory: unlinkat %s: %s", path, envd_strerror(-error));
        return error < 0;
}

static void remove_answer(FsCall *c) {
        Filesystem__RemoveResponse m = FILESYSTEM__REMOVE_RESPONSE__INIT;

        (void) connect_answer(c->call, &m.base);
}

static void fs_remove(ConnectCall *call, const ProtobufCMessage *request) {
        static const FsKind kind = { FILE_REMOVE, FILE_RECURSIVE | FILE_MISSING_OK, .failed = remove_failed, .answer = remove_answer };

        filesystem_ask(call, &kind, ((const Filesystem__RemoveRequest *) request)->path, NULL, 0);
}

#define METHOD(name, kind, prefix, handler) \
        { "/filesystem.Filesystem/" name, kind, &filesystem__##prefix##_request__descriptor, &filesystem__##prefix##_response__descriptor, handler }

const ConnectMethod filesystem_methods[] = {
        METHOD("Stat", CONNECT_UNARY, stat, fs_stat),
        METHOD("MakeDir", CONNECT_UNARY, make_dir, fs_make_dir),
        METHOD("Move", CONNECT_UNARY, move, fs_move),
        METHOD("ListDir", CONNECT_UNARY, list_dir, fs_list_dir),
        METHOD("Remove", CONNECT_UNARY, remove, fs_remove),
        METHOD("WatchDir", CONNECT_SERVER_STREAM, watch_dir, fs_watch_dir),
        METHOD("CreateWatcher", CONNECT_UNARY, create_watcher, fs_create_watcher),
        METHOD("GetWatcherEvents", CONNECT_UNARY, get_watcher_events, fs_get_watcher_events),
        METHOD("RemoveWatcher", CONNECT_UNARY, remove_watcher, fs_remove_watcher),
        { 0 },
};
