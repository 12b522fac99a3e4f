/* filesystem.c: the methods of filesystem.Filesystem, and those of them that have one answer. */

#include "api/e2b/envd/filesystem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 50000

/* One call: whose, where. */

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
        c->ready(c, sb, &g);
}

void fs_call(ConnectCall *call, const char *path, const char *target, void (*ready)(FsCall *c, Sandbox *sb, FileRequest *g), FsCall **ret) {
        FsCall *c = calloc(1, sizeof(*c));

        *ret = NULL;
        if (!c) {
                (void) connect_errno(call, -ENOMEM, NULL);
                return;
        }
        c->call = call;
        c->ready = ready;
        connect_set_state(call, c, filesystem_call_destroy);
        c->texts[0] = strdup(path ? path : "");
        c->texts[1] = target ? strdup(target) : NULL;
        if (!c->texts[0] || (target && !c->texts[1])) {
                (void) connect_errno(call, -ENOMEM, NULL);
                return;
        }
        *ret = c;
}

void fs_begin(FsCall *c) {
        EnvdLookup *lookup = NULL;
        Error error = { 0 };
        int r = envd_user_lookup(connect_request(c->call)->sandbox, connect_user(c->call), filesystem_on_user, c, &lookup, &error);

        if (r < 0 && !fs_lost(c, r))
                (void) connect_errno(c->call, r, error.text);
        else if (lookup)
                c->lookup = lookup; /* else it is over already, and the call may be */
}

static void filesystem_start(FsCall *c, Sandbox *sb, const FileRequest *g, const FileOpHandlers *handlers) {
        Error error = { 0 };
        int r = fileop_start(sb, g, handlers, c, &c->op, &error);

        if (r < 0 && !fs_lost(c, r))
                (void) connect_errno(c->call, r, error.text);
}

static void filesystem_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FsCall *c = userdata;

        if (c->n_entries >= LIST_MAX || fs_entry_add(c, entry, c->path) < 0)
                c->failed = true;
}

/* The one that was asked for. NULL: has been answered. */
static Filesystem__EntryInfo *only_entry(FsCall *c) {
        if (c->n_entries == 1 && !c->failed)
                return c->entries[0];
        (void) connect_errno(c->call, c->failed ? -ENOMEM : -EPROTO, c->failed ? NULL : "the sandbox has not said what became of it");
        return NULL;
}

/* Stat. */

static void filesystem_on_stat(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Filesystem__StatResponse m = FILESYSTEM__STAT_RESPONSE__INIT;
        FsCall *c = userdata;

        if (fs_lost(c, error))
                return;
        if (error < 0) {
                (void) connect_error(c->call, error == -ENOENT ? CONNECT_NOT_FOUND : CONNECT_INTERNAL, "%s: lstat %s: %s",
                                error == -ENOENT ? "file not found" : "error getting file info", c->path, envd_strerror(-error));
                return;
        }
        m.entry = only_entry(c);
        if (m.entry)
                (void) connect_answer(c->call, &m.base);
}

static void stat_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_on_entry, .end = filesystem_on_stat };

        g->flags = FILE_NO_FOLLOW | FILE_DETAILS;
        filesystem_start(c, sb, g, &handlers);
}

static void fs_stat(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__StatRequest *m = (const Filesystem__StatRequest *) request;
        FsCall *c;

        fs_call(call, m->path, NULL, stat_ready, &c);
        if (c)
                fs_begin(c);
}

/* MakeDir. */

static void filesystem_on_made(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Filesystem__MakeDirResponse m = FILESYSTEM__MAKE_DIR_RESPONSE__INIT;
        FsCall *c = userdata;

        if (fs_lost(c, error))
                return;
        if (error == 0 && count == 0)
                (void) connect_error(c->call, CONNECT_ALREADY_EXISTS, "directory already exists: %s", c->path);
        else if (error == -EEXIST)
                (void) connect_error(c->call, CONNECT_INVALID_ARGUMENT, "path already exists but it is not a directory: %s", c->path);
        else if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "failed to create directory: mkdir %s: %s", c->path, envd_strerror(-error));
        else {
                m.entry = only_entry(c);
                if (m.entry)
                        (void) connect_answer(c->call, &m.base);
        }
}

static void make_dir_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_on_entry, .end = filesystem_on_made };

        g->operation = FILE_MKDIR;
        g->flags = FILE_PARENTS | FILE_DETAILS | (g->owner != FILE_ID_NONE ? FILE_OWN_PARENTS : 0);
        filesystem_start(c, sb, g, &handlers);
}

static void fs_make_dir(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__MakeDirRequest *m = (const Filesystem__MakeDirRequest *) request;
        FsCall *c;

        fs_call(call, m->path, NULL, make_dir_ready, &c);
        if (c)
                fs_begin(c);
}

/* Move. */

static void on_moved(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Filesystem__MoveResponse m = FILESYSTEM__MOVE_RESPONSE__INIT;
        FsCall *c = userdata;

        if (fs_lost(c, error))
                return;
        if (error < 0) {
                (void) connect_error(c->call, error == -ENOENT ? CONNECT_NOT_FOUND : CONNECT_INTERNAL, "%s: rename %s %s: %s",
                                error == -ENOENT ? "source file not found" : "error renaming", c->path, c->target, envd_strerror(-error));
                return;
        }
        m.entry = only_entry(c);
        if (m.entry)
                (void) connect_answer(c->call, &m.base);
}

static void move_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_on_entry, .end = on_moved };

        g->operation = FILE_MOVE;
        g->flags = FILE_PARENTS | FILE_DETAILS | (g->owner != FILE_ID_NONE ? FILE_OWN_PARENTS : 0);
        filesystem_start(c, sb, g, &handlers);
}

static void fs_move(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__MoveRequest *m = (const Filesystem__MoveRequest *) request;
        FsCall *c;

        fs_call(call, m->source, m->destination ? m->destination : "", move_ready, &c);
        if (c)
                fs_begin(c);
}

/* ListDir. */

static void filesystem_on_listed(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Filesystem__ListDirResponse m = FILESYSTEM__LIST_DIR_RESPONSE__INIT;
        FsCall *c = userdata;

        if (fs_lost(c, error))
                return;
        if (error == -ENOENT)
                (void) connect_error(c->call, CONNECT_NOT_FOUND, "path not found: lstat %s: %s", c->path, envd_strerror(ENOENT));
        else if (error == -ENOTDIR)
                (void) connect_error(c->call, CONNECT_INVALID_ARGUMENT, "path is not a directory: %s", c->path);
        else if (error == -ELOOP)
                (void) connect_error(c->call, CONNECT_FAILED_PRECONDITION, "cyclic symlink or chain >255 links at \"%s\"", c->path);
        else if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "error reading directory %s: open %s: %s", c->path, path[0] ? path : c->path,
                                envd_strerror(-error));
        else if (count > LIST_MAX)
                (void) connect_error(c->call, CONNECT_RESOURCE_EXHAUSTED, "%s has more than %d entries to this depth: ask for less of it at a time", c->path,
                                LIST_MAX);
        else if (c->failed)
                (void) connect_errno(c->call, -ENOMEM, NULL);
        else {
                m.n_entries = c->n_entries;
                m.entries = c->entries;
                (void) connect_answer(c->call, &m.base);
        }
}

static void list_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_on_entry, .end = filesystem_on_listed };

        g->operation = FILE_LIST;
        g->flags = FILE_DETAILS;
        g->depth = c->depth;
        g->limit = LIST_MAX;
        filesystem_start(c, sb, g, &handlers);
}

static void fs_list_dir(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__ListDirRequest *m = (const Filesystem__ListDirRequest *) request;
        FsCall *c;

        fs_call(call, m->path, NULL, list_ready, &c);
        if (!c)
                return;
        c->depth = m->has_depth && m->depth > 0 ? m->depth : 1;
        fs_begin(c);
}

/* Remove. */

static void filesystem_on_removed(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Filesystem__RemoveResponse m = FILESYSTEM__REMOVE_RESPONSE__INIT;
        FsCall *c = userdata;

        if (fs_lost(c, error))
                return;
        if (error < 0)
                (void) connect_error(c->call, CONNECT_INTERNAL, "error removing file or directory: unlinkat %s: %s", path[0] ? path : c->path,
                                envd_strerror(-error));
        else
                (void) connect_answer(c->call, &m.base);
}

static void remove_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .end = filesystem_on_removed };

        g->operation = FILE_REMOVE;
        g->flags = FILE_RECURSIVE | FILE_MISSING_OK;
        filesystem_start(c, sb, g, &handlers);
}

static void fs_remove(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__RemoveRequest *m = (const Filesystem__RemoveRequest *) request;
        FsCall *c;

        fs_call(call, m->path, NULL, remove_ready, &c);
        if (c)
                fs_begin(c);
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
