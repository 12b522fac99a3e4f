/* filesystem-watch.c: changes in a directory as a stream. The worker inside watches; a client that does not
 * read delays only its own watch. */

#include <errno.h>
#include <string.h>

#include "api/e2b/envd/filesystem.h"

void fs_watch_error(FsCall *c, int error) {
        if (fs_lost(c, error))
                return;
        if (error == -ENOENT)
                (void) connect_error(c->call, CONNECT_NOT_FOUND, "path %s not found: stat %s: %s", c->path, c->path, envd_strerror(ENOENT));
        else if (error == -ENOTDIR)
                (void) connect_error(c->call, CONNECT_INVALID_ARGUMENT, "path %s not a directory", c->path);
        else if (error == -ENOSPC || error == -EMFILE)
                (void) connect_error(c->call, CONNECT_RESOURCE_EXHAUSTED, "error adding path %s to watcher: too many directories are watched", c->path);
        else
                (void) connect_error(c->call, CONNECT_INTERNAL, "error adding path %s to watcher: %s", c->path, envd_strerror(-error));
}

uint32_t fs_watch_flags(bool recursive, bool include_entry) {
        return FILE_DIRECTORY | FILE_LEAVERS | (recursive ? FILE_RECURSIVE : 0) | (include_entry ? FILE_DETAILS : 0);
}

static void filesystem_watch_on_ahead(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FsCall *c = userdata;

        fs_entry_ahead(&c->ahead, entry, c->path); /* the event is sent even without the entry */
}

static void filesystem_watch_send_event(FsCall *c, Filesystem__FilesystemEvent *e) {
        Filesystem__WatchDirResponse m = FILESYSTEM__WATCH_DIR_RESPONSE__INIT;

        m.event_case = FILESYSTEM__WATCH_DIR_RESPONSE__EVENT_FILESYSTEM;
        m.filesystem = e;
        (void) connect_send(c->call, &m.base);
}

static void filesystem_watch_on_event(FileOp *op, const FileEvent *event, void *userdata) {
        Filesystem__FilesystemEvent *events[2];
        FsCall *c = userdata;
        int n;

        if (c->over)
                return;
        if (event->kind == FILE_OVERFLOW) {
                c->over = true;
                (void) connect_error(c->call, CONNECT_INTERNAL, "watcher error: fsnotify: queue or buffer overflow");
                return;
        }
        n = fs_events_new(event, TAKE_PTR(c->ahead), events);
        if (n < 0) {
                c->over = true;
                (void) connect_errno(c->call, n, NULL);
                return;
        }
        for (int i = 0; i < n; i++) {
                filesystem_watch_send_event(c, events[i]);
                filesystem__filesystem_event__free_unpacked(events[i], NULL);
        }
        if (connect_backlog(c->call) > CONNECT_HIGH)
                (void) fileop_pause(op, true);
}

static void filesystem_watch_on_drained(ConnectCall *call, void *state) {
        FsCall *c = state;

        if (c->op)
                (void) fileop_pause(c->op, false);
}

static void stand(FsCall *c) {
        static Filesystem__WatchDirResponse__StartEvent start = FILESYSTEM__WATCH_DIR_RESPONSE__START_EVENT__INIT;
        static Filesystem__WatchDirResponse__KeepAlive ping = FILESYSTEM__WATCH_DIR_RESPONSE__KEEP_ALIVE__INIT;
        Filesystem__WatchDirResponse m = FILESYSTEM__WATCH_DIR_RESPONSE__INIT;

        c->stands = true;
        connect_on_drained(c->call, filesystem_watch_on_drained);
        m.event_case = FILESYSTEM__WATCH_DIR_RESPONSE__EVENT_START;
        m.start = &start;
        (void) connect_send(c->call, &m.base);
        m.event_case = FILESYSTEM__WATCH_DIR_RESPONSE__EVENT_KEEPALIVE;
        m.keepalive = &ping;
        (void) connect_keepalive(c->call, &m.base);
}

/* The watch is established, or failed, or has ended. If the watched path was removed, nothing is sent: the
 * stream stays silent. */
static void filesystem_watch_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FsCall *c = userdata;

        if (c->over || (c->stands && error == -ENOENT))
                return;
        if (error == 0) {
                stand(c);
                return;
        }
        c->over = true;
        if (!c->stands)
                fs_watch_error(c, error);
        else if (!fs_lost(c, error))
                (void) connect_error(c->call, CONNECT_INTERNAL, "watcher error: %s", envd_strerror(-error));
}

/* If the sandbox is paused or ends, the stream is broken off. */
static void filesystem_watch_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        FsCall *c = userdata;

        if (x || c->over || sandbox_is_up(sb) || sb->status == SANDBOX_INITIALIZING)
                return;
        c->over = true;
        connect_break(c->call);
}

static void watch_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_watch_on_ahead, .event = filesystem_watch_on_event, .end = filesystem_watch_on_end };
        Error error = { 0 };
        int r;

        g->operation = FILE_WATCH;
        r = fileop_start(sb, g, &handlers, c, &c->op, &error);
        if (r < 0) {
                fs_watch_error(c, r);
                return;
        }
        c->watch = (SandboxWatch) { .changed = filesystem_watch_on_sandbox, .userdata = c };
        sandbox_watch(sb, &c->watch);
}

void fs_watch_dir(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__WatchDirRequest *m = (const Filesystem__WatchDirRequest *) request;
        const uint32_t flags = fs_watch_flags(m->has_recursive && m->recursive, m->has_include_entry && m->include_entry);

        fs_call(call, &(FsAsked) { .path = m->path, .ready = watch_ready, .flags = flags });
}
