/* watch.c: changes below a path, as server-sent events.
 *
 *      event: ready      data: {"path":"/w"}                        the watch is established
 *      event: created    data: {"path":"/w/a","directory":false}    modified, removed, attributes
 *      event: renamed    data: {"path":"/w/a","target":"/w/b","directory":false}
 *      event: overflow   data: {"path":"/w","directory":true}       events were lost: list the directory again
 *
 * A slow client blocks the worker, not the daemon; events that it misses are reported as an overflow. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/files/files.h"

#define PENDING_HIGH   ((size_t) 256 << 10)
#define PENDING_MAX    ((size_t) 1 << 20)
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

typedef struct Watcher {
        ApiRequest *q;
        FileOp *op;
        Text text; /* to be sent */
        bool stands, paused, over;
        sd_event_source *keepalive;
        char path[FILE_PATH_BYTES];
} Watcher;

static void watcher_destroy(ApiRequest *q, bool answered) {
        Watcher *w = q->state;

        fileop_free(w->op);
        sd_event_source_disable_unref(w->keepalive);
        text_done(&w->text);
        free(w);
        q->state = NULL;
}

static void set_paused(Watcher *w, bool pause) {
        if (w->paused != pause && fileop_pause(w->op, pause) >= 0)
                w->paused = pause;
}

static ssize_t watcher_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        Watcher *w = userdata;
        size_t n = MIN_OF(size, w->text.size);

        if (w->text.error < 0)
                return w->text.error;
        if (n == 0) {
                text_done(&w->text);
                set_paused(w, false);
                return w->over ? HTTP_STREAM_END : 0;
        }
        memcpy(buffer, w->text.data, n);
        text_consume(&w->text, n);
        return (ssize_t) n;
}

static void watch_put_event(Watcher *w, const char *name, const char *path, const char *target, int directory) {
        _cleanup_free_ char *full = file_join(w->path, path), *full_target = target ? file_join(w->path, target) : NULL;

        if (!full || (target && !full_target)) {
                w->text.error = -ENOMEM;
                return;
        }
        text_format(&w->text, "event: %s\ndata: {", name);
        file_put_path(&w->text, "path", full);
        if (full_target) {
                text_put_string(&w->text, ",");
                file_put_path(&w->text, "target", full_target);
        }
        if (directory >= 0)
                text_put_string(&w->text, directory ? ",\"directory\":true" : ",\"directory\":false");
        text_put_string(&w->text, "}\n\n");
}

static void watch_on_event(FileOp *op, const FileEvent *event, void *userdata) {
        static const char *const names[_FILE_EVENT_MAX] = {
                [FILE_CREATED] = "created", [FILE_MODIFIED] = "modified",     [FILE_REMOVED] = "removed",
                [FILE_RENAMED] = "renamed", [FILE_ATTRIBUTES] = "attributes", [FILE_OVERFLOW] = "overflow",
        };
        Watcher *w = userdata;

        if (!w->stands || event->kind >= ELEMENTSOF(names) || !names[event->kind])
                return;
        watch_put_event(w, names[event->kind], event->path, event->kind == FILE_RENAMED ? event->target : NULL, event->directory);
        if (w->text.size > PENDING_HIGH)
                set_paused(w, true);
        http_request_continue(w->q->http);
}

static int watch_on_keepalive(sd_event_source *source, uint64_t usec, void *userdata) {
        Watcher *w = userdata;

        if (w->text.size == 0) {
                text_put_string(&w->text, ": keep-alive\n\n");
                http_request_continue(w->q->http);
        }
        (void) sd_event_source_set_time_relative(source, KEEPALIVE_USEC);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

/* Called when the watch is established, and when the sandbox ends. */
static void watch_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Watcher *w = userdata;
        ApiRequest *q = w->q;
        int r;

        if (w->stands) {
                w->over = true;
                http_request_continue(q->http);
                return;
        }
        if (error < 0) {
                (void) file_answer_error(q, error, path && path[0] ? path : w->path);
                return;
        }
        r = sd_event_add_time_relative(q->manager->event, &w->keepalive, CLOCK_MONOTONIC, KEEPALIVE_USEC, USEC_PER_SEC,
                        watch_on_keepalive, w);
        if (r < 0) {
                (void) api_errno(q, r, NULL);
                return;
        }
        w->stands = true;
        watch_put_event(w, "ready", "", /* target= */ NULL, /* directory= */ -1);
        (void) http_add_header(q->http, "Cache-Control", "no-store");
        q->answered = true;
        (void) http_answer_stream(q->http, 200, "text/event-stream", UINT64_MAX, watcher_next, w);
}

static void watch_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
}

void native_file_watch(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = watch_on_entry, .event = watch_on_event, .end = watch_on_end };
        bool recursive = true;
        Error error = { 0 };
        Watcher *w;
        FileRequest g;
        int r;

        if (file_request_query(q, FILE_WATCH, &g) < 0 || api_query_bool(q, "recursive", &recursive) < 0)
                return;
        g.flags = recursive ? FILE_RECURSIVE : 0;
        w = calloc(1, sizeof(*w));
        if (!w) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        w->q = q;
        w->text.max = PENDING_MAX;
        memcpy(w->path, g.path, sizeof(w->path));
        q->state = w;
        q->destroy = watcher_destroy;
        r = fileop_start(q->sandbox, &g, &handlers, w, &w->op, &error);
        if (r < 0)
                (void) native_core_error(q, r, error.text);
}
