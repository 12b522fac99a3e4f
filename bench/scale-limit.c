/* scale-limit.c: at the limit of open files, creates are refused, and nothing else changes. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scale.h"

#define LIMIT_CREATE "{\"limits\":{\"memoryMB\":256,\"diskMB\":64},\"waitSeconds\":0}"
#define LIMIT_TRUE   "{\"command\":\"/usr/bin/true\"}"

static int make(Http *h) {
        int r = http_ask(h, "POST", "/api/sandbox", NULL, LIMIT_CREATE);

        while (r == 0)
                r = http_hear(h);
        return r;
}

static size_t active(Http *h) {
        size_t n = 0;

        if (http_call(h, "GET", "/api/sandbox/stats", NULL, NULL, 200) >= 0)
                (void) sscanf(http_answer_body(h), "{\"active\":%zu", &n);
        return n;
}

/* The daemon is as it was: `id` is one of its sandboxes. */
static bool is_unchanged(Http *h, const char *id, size_t n) {
        return active(h) == n && http_call(h, "POST", "/api/sandbox/%s/exec", id, LIMIT_TRUE, 200) >= 0 &&
               strstr(http_answer_body(h), "\"exitCode\":0") &&
               http_call(h, "DELETE", "/api/sandbox/%s?force=true", id, NULL, 200) >= 0 && make(h) == 201 && active(h) == n;
}

static int fill(ScaleLimit *l, Http *h, char id[static 32], Error *reterr) {
        size_t most = l->files; /* one needs more than one */
        int r;

        while (l->n_made <= most) {
                r = make(h);
                if (r < 0)
                        return error_set(reterr, r, "the connection broke after %zu sandboxes: %m", l->n_made);
                if (r != 201) {
                        l->status = r;
                        l->cure = strstr(http_answer_body(h), "ulimit -n") || strstr(http_answer_body(h), "open files");
                        return 0;
                }
                if (l->n_made++ == 0)
                        (void) http_answer_field(h, "id", id, 32);
        }
        return error_set(reterr, -ERANGE, "%zu sandboxes with %u open files, and none was refused", l->n_made, l->files);
}

int scale_limit(ScaleBench *b, Error *reterr) {
        ServeDaemon *d = &b->serve.daemon;
        ScaleLimit *l = &b->limit;
        char id[32] = "";
        int r;

        http_done(&b->serve.http);
        r = serve_daemon_stop(d, reterr);
        d->files = l->files;
        if (r >= 0)
                r = serve_daemon_start(d, b->serve.subjects.scratch->dir, reterr);
        if (r >= 0)
                r = serve_daemon_wait(d, reterr);
        if (r >= 0)
                r = http_open(&b->serve.http, d->socket_path);
        if (r < 0)
                return r;
        r = fill(l, &b->serve.http, id, &l->reason);
        if (r >= 0)
                l->unchanged = is_unchanged(&b->serve.http, id, l->n_made);
        l->done = true;
        return 0;
}
