/* filesystem-watchers.c: changes in a directory, queued until the client polls them: for clients that cannot
 * hold a stream.
 *
 * A watcher belongs to its sandbox. It is deleted with the sandbox, or if it is not polled for long. Its
 * queue is bounded: on overflow the watcher fails with an error, as the kernel's queue does. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-event.h>
#include <uthash.h>

#include "api/e2b/envd/filesystem.h"

#define WATCHERS_MAX         1024 /* in all sandboxes: each is a process inside */
#define SANDBOX_WATCHERS_MAX 64
#define EVENTS_MAX           4096
#define BYTES_MAX            ((size_t) 1 << 20) /* of one watcher's events: names may be long, and watchers many */
#define UNUSED_USEC          (60 * 60 * USEC_PER_SEC)
#define ID_SIZE              22 /* "w", twenty letters and a NUL */

typedef struct FsWatcher {
        char id[ID_SIZE];
        Sandbox *sandbox;
        FsWatchers *all;
        FsCall *maker; /* the call that waits until it is established */
        FileOp *op;
        sd_event_source *unused;
        char path[FILE_PATH_BYTES];
        Filesystem__EntryInfo *ahead;
        Filesystem__FilesystemEvent *events[EVENTS_MAX];
        size_t n_events, bytes;
        const char *error; /* NULL: none */
        UT_hash_handle hh;
} FsWatcher;

struct FsWatchers {
        FsWatcher *by_id;
};

static void drop_events(FsWatcher *w) {
        for (size_t i = 0; i < w->n_events; i++)
                filesystem__filesystem_event__free_unpacked(w->events[i], NULL);
        w->n_events = w->bytes = 0;
}

static void watcher_free(FsWatcher *w) {
        HASH_DEL(w->all->by_id, w);
        if (w->maker)
                w->maker->watcher = NULL;
        sd_event_source_disable_unref(w->unused);
        fileop_free(w->op);
        drop_events(w);
        (void) sandbox_unref(w->sandbox);
        if (w->ahead)
                filesystem__entry_info__free_unpacked(w->ahead, NULL);
        free(w);
}

void fs_watcher_cancel(FsWatcher *w) {
        w->maker = NULL;
        watcher_free(w);
}

FsWatchers *fs_watchers_new(void) {
        return calloc(1, sizeof(FsWatchers));
}

FsWatchers *fs_watchers_free(FsWatchers *all) {
        FsWatcher *w, *next;

        if (!all)
                return NULL;
        HASH_ITER(hh, all->by_id, w, next)
                watcher_free(w);
        free(all);
        return NULL;
}

static void filesystem_watchers_fail(FsWatcher *w, const char *error) {
        w->error = error;
        w->op = fileop_free(w->op);
        drop_events(w);
}

static void filesystem_watchers_on_ahead(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FsWatcher *w = userdata;

        fs_entry_ahead(&w->ahead, entry, w->path);
}

static void filesystem_watchers_on_event(FileOp *op, const FileEvent *event, void *userdata) {
        Filesystem__FilesystemEvent *events[2];
        FsWatcher *w = userdata;
        int n;

        if (event->kind == FILE_OVERFLOW || w->n_events + 2 > EVENTS_MAX || w->bytes > BYTES_MAX) {
                filesystem_watchers_fail(w, "watcher error: fsnotify: queue or buffer overflow");
                return;
        }
        n = fs_events_new(event, TAKE_PTR(w->ahead), events);
        if (n < 0) {
                filesystem_watchers_fail(w, "watcher error: out of memory");
                return;
        }
        for (int i = 0; i < n; i++) {
                w->bytes += filesystem__filesystem_event__get_packed_size(events[i]);
                w->events[w->n_events++] = events[i];
        }
}

static void answer_maker(FsWatcher *w) {
        Filesystem__CreateWatcherResponse m = FILESYSTEM__CREATE_WATCHER_RESPONSE__INIT;
        FsCall *c = TAKE_PTR(w->maker);

        if (!c)
                return;
        c->watcher = NULL;
        m.watcher_id = w->id;
        (void) connect_answer(c->call, &m.base);
}

static void filesystem_watchers_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FsWatcher *w = userdata;
        FsCall *maker = w->maker;

        if (error == 0)
                answer_maker(w);
        else if (maker || error == -EPIPE) {
                watcher_free(w);
                if (maker)
                        fs_watch_error(maker, error);
        } else if (error != -ENOENT) /* ENOENT: the watched path was removed, and an event said so */
                filesystem_watchers_fail(w, "watcher error: the watch has broken");
}

static int on_unused(sd_event_source *source, uint64_t usec, void *userdata) {
        watcher_free(userdata);
        return 0;
}

static int filesystem_watchers_make_id(char ret[static ID_SIZE]) {
        static const char letters[] = "0123456789abcdefghijklmnopqrstuv"; /* 32 */
        uint8_t bytes[ID_SIZE - 2];

        if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
                return -EIO;
        ret[0] = 'w';
        for (size_t i = 0; i < sizeof(bytes); i++)
                ret[i + 1] = letters[bytes[i] % 32];
        ret[ID_SIZE - 1] = '\0';
        return 0;
}

/* Removes failed watchers, which are not informed of the end of their sandbox. */
static void drop_orphans(FsWatchers *all) {
        FsWatcher *w, *next;

        HASH_ITER(hh, all->by_id, w, next)
                if (!w->op && !w->maker && sandbox_status_is_ended(w->sandbox->status))
                        watcher_free(w);
}

static bool filesystem_watchers_is_full(const FsWatchers *all, const Sandbox *sb) {
        unsigned n = 0;

        for (const FsWatcher *w = all->by_id; w; w = w->hh.next)
                n += w->sandbox == sb;
        return n >= SANDBOX_WATCHERS_MAX || HASH_COUNT(all->by_id) >= WATCHERS_MAX;
}

static int watcher_new(FsCall *c, Sandbox *sb, FsWatchers *all, FsWatcher **ret) {
        FsWatcher *w = calloc(1, sizeof(*w));
        int r;

        if (!w)
                return -ENOMEM;
        r = filesystem_watchers_make_id(w->id);
        if (r >= 0)
                r = sd_event_add_time_relative(sb->manager->event, &w->unused, CLOCK_MONOTONIC, UNUSED_USEC, USEC_PER_SEC, on_unused, w);
        if (r < 0) {
                free(w);
                return r;
        }
        w->sandbox = sandbox_ref(sb);
        memcpy(w->path, c->path, sizeof(w->path));
        w->all = all;
        w->maker = c;
        c->watcher = w;
        HASH_ADD_STR(all->by_id, id, w);
        *ret = w;
        return 0;
}

static void create_ready(FsCall *c, Sandbox *sb, FileRequest *g) {
        static const FileOpHandlers handlers = { .entry = filesystem_watchers_on_ahead, .event = filesystem_watchers_on_event, .end = filesystem_watchers_on_end };
        FsWatchers *all = fs_watchers_of(connect_request(c->call)->api);
        Error error = { 0 };
        FsWatcher *w;
        int r;

        drop_orphans(all);
        if (filesystem_watchers_is_full(all, sb)) {
                (void) connect_error(c->call, CONNECT_RESOURCE_EXHAUSTED, "there are %d watchers already: remove some", SANDBOX_WATCHERS_MAX);
                return;
        }
        r = watcher_new(c, sb, all, &w);
        if (r < 0) {
                (void) connect_errno(c->call, r, NULL);
                return;
        }
        g->operation = FILE_WATCH;
        r = fileop_start(sb, g, &handlers, w, &w->op, &error);
        if (r < 0) {
                watcher_free(w);
                fs_watch_error(c, r);
        }
}

void fs_create_watcher(ConnectCall *call, const ProtobufCMessage *request) {
        const Filesystem__CreateWatcherRequest *m = (const Filesystem__CreateWatcherRequest *) request;
        const uint32_t flags = fs_watch_flags(m->has_recursive && m->recursive, m->has_include_entry && m->include_entry);

        fs_call(call, &(FsAsked) { .path = m->path, .ready = create_ready, .flags = flags });
}

/* Finds a watcher of this sandbox. Those of other sandboxes are not found. */
static FsWatcher *find_watcher(ConnectCall *call, const char *id) {
        FsWatchers *all = fs_watchers_of(connect_request(call)->api);
        FsWatcher *w = NULL;

        if (id)
                HASH_FIND_STR(all->by_id, id, w);
        if (w && !w->maker && w->sandbox == connect_request(call)->sandbox)
                return w;
        (void) connect_error(call, CONNECT_NOT_FOUND, "watcher with id %.100s not found", id ? id : "");
        return NULL;
}

void fs_get_watcher_events(ConnectCall *call, const ProtobufCMessage *request) {
        Filesystem__GetWatcherEventsResponse m = FILESYSTEM__GET_WATCHER_EVENTS_RESPONSE__INIT;
        FsWatcher *w = find_watcher(call, ((const Filesystem__GetWatcherEventsRequest *) request)->watcher_id);

        if (!w)
                return;
        (void) sd_event_source_set_time_relative(w->unused, UNUSED_USEC);
        if (w->error) {
                (void) connect_error(call, CONNECT_INTERNAL, "%s", w->error);
                return;
        }
        m.n_events = w->n_events;
        m.events = w->events;
        (void) connect_answer(call, &m.base);
        drop_events(w);
}

void fs_remove_watcher(ConnectCall *call, const ProtobufCMessage *request) {
        Filesystem__RemoveWatcherResponse m = FILESYSTEM__REMOVE_WATCHER_RESPONSE__INIT;
        FsWatcher *w = find_watcher(call, ((const Filesystem__RemoveWatcherRequest *) request)->watcher_id);

        if (!w)
                return;
        watcher_free(w);
        (void) connect_answer(call, &m.base);
}
