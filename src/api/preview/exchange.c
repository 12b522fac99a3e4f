/* exchange.c: one request to a port inside, and its response. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "api/preview/internal.h"
#include "base/fd.h"
#include "gatekeeper/gatekeeper.h"

static void exchange_free(PreviewExchange *x) {
        if (x->q->api->rooms.gatekeeper)
                gatekeeper_forget(x->q->api->rooms.gatekeeper, x);
        x->io = sd_event_source_disable_unref(x->io);
        (void) fd_close(x->fd);
        text_done(&x->out);
        free(x->in);
        free(x->access.host);
        free(x);
}

static void on_over(ApiRequest *q, bool answered) {
        exchange_free(q->state);
}

static bool wants_more(const PreviewExchange *x) {
        return !x->in_ended && x->in_size < PREVIEW_IN_MAX && x->phase < PREVIEW_ENDED;
}

void preview_exchange_watch(PreviewExchange *x) {
        uint32_t events = (x->out.size > 0 ? EPOLLOUT : 0) | (wants_more(x) ? EPOLLIN : 0);

        if (!x->io || x->watched == events)
                return;
        x->watched = events;
        (void) sd_event_source_set_io_events(x->io, events);
}

/* Before the response has begun, the error is reported. After that, the client sees that the response is
 * incomplete. */
static void exchange_fail(PreviewExchange *x, unsigned status, const char *code, const char *message) {
        x->phase = PREVIEW_ENDED;
        x->in_ended = true;
        if (!x->q->answered && x->access.refuse)
                (void) x->access.refuse(x->q, &x->target);
        else if (!x->q->answered)
                (void) preview_refuse(x->q, status, code, NULL, "port %u of sandbox %s %s", x->target.port, x->target.id, message);
        else
                http_request_continue(x->q->http);
}

static int exchange_write_out(PreviewExchange *x) {
        while (x->out.size > 0) {
                ssize_t n = send(x->fd, x->out.data, x->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0 && (errno == EAGAIN || errno == EINTR))
                        return 0;
                if (n < 0) {
                        /* The server may have answered without reading the whole body. */
                        x->out.size = 0;
                        return 0;
                }
                text_consume(&x->out, (size_t) n);
        }
        return 0;
}

static int read_in(PreviewExchange *x) {
        while (wants_more(x)) {
                ssize_t n = recv(x->fd, x->in + x->in_size, PREVIEW_IN_MAX - x->in_size, MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN ? 0 : -errno;
                if (n == 0) {
                        x->in_ended = true;
                        break;
                }
                x->in_size += (size_t) n;
        }
        return 0;
}

/* Returns true if the exchange must not be used any more. */
static bool look_for_head(PreviewExchange *x) {
        int r = preview_response_begin(x);

        if (r == 1)
                return true;
        if (r == -EAGAIN && x->in_ended)
                exchange_fail(x, 502, "bad_gateway", "hung up without an answer");
        else if (r == -EAGAIN && x->in_size == PREVIEW_IN_MAX)
                exchange_fail(x, 502, "bad_gateway", "gave an answer whose head is too large");
        else if (r < 0 && r != -EAGAIN)
                exchange_fail(x, 502, "bad_gateway", "gave an answer that is not HTTP");
        return false;
}

static int exchange_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        PreviewExchange *x = userdata;
        int r = exchange_write_out(x);

        if (r >= 0)
                r = read_in(x);
        if (r < 0) {
                x->in_ended = true;
                if (x->phase == PREVIEW_HEAD && x->in_size == 0) {
                        exchange_fail(x, 502, "bad_gateway", "broke the connection off");
                        return 0;
                }
        }
        if (x->phase == PREVIEW_HEAD && look_for_head(x))
                return 0;
        if (x->out.size < PREVIEW_OUT_MAX / 2 && x->body_waits) {
                x->body_waits = false;
                http_request_continue(x->q->http);
        }
        if (x->phase == PREVIEW_BODY && x->answer_waits) {
                x->answer_waits = false;
                http_request_continue(x->q->http);
        }
        preview_exchange_watch(x);
        return 0;
}

int preview_exchange_to_tunnel(PreviewExchange *x, const char *protocol) {
        ApiRequest *q = x->q;
        int r, fd = x->fd;

        x->io = sd_event_source_disable_unref(x->io);
        x->fd = -EBADF;
        q->destroy = NULL;
        r = preview_tunnel_start(q, protocol, fd, x->in, x->in_size);
        if (r < 0 && !q->answered)
                (void) api_errno(q, r, NULL);
        exchange_free(x);
        return 1;
}

static const char *why_not(int error) {
        return error == -ECONNREFUSED ? "has no program listening" : error == -ETIMEDOUT ? "does not answer" : "cannot be reached";
}

static void exchange_on_connected(int error, int fd, void *userdata) {
        PreviewExchange *x = userdata;

        if (error < 0) {
                exchange_fail(x, error == -ETIMEDOUT ? 504 : 502, error == -ETIMEDOUT ? "gateway_timeout" : "bad_gateway", why_not(error));
                return;
        }
        x->fd = fd;
        x->phase = PREVIEW_HEAD;
        x->watched = EPOLLIN | EPOLLOUT;
        if (sd_event_add_io(x->q->manager->event, &x->io, fd, x->watched, exchange_on_io, x) < 0)
                exchange_fail(x, 500, "internal", "cannot be watched: out of memory");
}

/* Passes on the body of the request as it arrives. */
static ssize_t exchange_on_body(ApiRequest *q, const void *data, size_t size) {
        PreviewExchange *x = q->state;
        size_t room = x->out.size < PREVIEW_OUT_MAX ? PREVIEW_OUT_MAX - x->out.size : 0;

        if (size == 0) {
                x->body_ended = true;
                if (x->chunked_out)
                        text_put_string(&x->out, "0\r\n\r\n");
                preview_exchange_watch(x);
                return 0;
        }
        x->body_waits = size > room; /* the rest is offered again */
        if (room == 0)
                return 0;
        if (size > room)
                size = room;
        if (x->chunked_out)
                text_format(&x->out, "%zx\r\n", size);
        text_put(&x->out, data, size);
        if (x->chunked_out)
                text_put_string(&x->out, "\r\n");
        preview_exchange_watch(x);
        return x->out.error < 0 ? -ENOMEM : (ssize_t) size;
}

/* Checks that need nothing from inside the sandbox. */
static int check_sandbox(ApiRequest *q, Sandbox *sb, const ApiTarget *t) {
        if (!sb)
                return preview_refuse(q, 404, "not_found", NULL, "there is no sandbox %s", t->id);
        api_about(q, sb, NULL);
        if (!sandbox_is_up(sb))
                return preview_refuse(q, 409, "not_running", "start or resume it", "sandbox %s is not running (state: %s)", t->id,
                                sandbox_status_name(sb->status));
        if (!q->api->rooms.gatekeeper)
                return preview_refuse(q, 501, "unsupported", NULL, "this daemon cannot reach ports");
        return 1;
}

static PreviewExchange *exchange_new(ApiRequest *q, const ApiTarget *t) {
        PreviewExchange *x = calloc(1, sizeof(*x));

        if (!x)
                return NULL;
        *x = (PreviewExchange) { .q = q, .target = *t, .fd = -EBADF, .out = TEXT_INIT(2 * PREVIEW_OUT_MAX), .in = malloc(PREVIEW_IN_MAX) };
        if (!x->in) {
                free(x);
                return NULL;
        }
        (void) snprintf(x->prefix, sizeof(x->prefix), "/preview/%s/%u%s%s", t->id, t->port, t->token[0] ? "~" : "", t->token);
        q->state = x;
        q->destroy = on_over;
        return x;
}

static void exchange_on_handle(ApiRequest *q) {
        PreviewExchange *x = q->state;
        Sandbox *sb = x->access.refuse ? q->sandbox : manager_find(q->manager, &q->who, x->target.id);
        int r;

        if (check_sandbox(q, sb, &x->target) != 1)
                return;
        r = preview_request_put(x);
        if (r >= 0)
                r = gatekeeper_connect(q->api->rooms.gatekeeper, sb, x->target.port, exchange_on_connected, x);
        if (r < 0)
                exchange_fail(x, r == -EOPNOTSUPP ? 501 : 502, r == -EOPNOTSUPP ? "unsupported" : "bad_gateway", why_not(r));
}

/* All methods are forwarded. This route stands for all of them, also in the records of calls. */
const ApiRoute preview_route[] = {
        { .method = "ANY",
          .path = "/preview/{id}/{port}/",
          .needs = MAY_PORTS, /* access.c checks what else a method needs */
          .body = HTTP_BODY_STREAM,
          .handle = exchange_on_handle,
          .data = exchange_on_body },
        { 0 },
};

/* A browser that opened a link continues with a cookie, so that the link is not in its history. */
static int set_cookie(ApiRequest *q, const ApiTarget *t) {
        char text[PREVIEW_TOKEN_MAX + 224], where[API_TARGET_ID_MAX + 33] = "/";

        if (!t->by_host)
                (void) snprintf(where, sizeof(where), "/preview/%s/%u/", t->id, t->port);
        (void) snprintf(text, sizeof(text), PREVIEW_COOKIE "=%s; Path=%s; HttpOnly; SameSite=Lax", http_query(q->http, PREVIEW_QUERY), where);
        return http_add_header(q->http, "Set-Cookie", text);
}

/* Whether a browser opens the page in a window of its own. Anywhere else it may refuse to store our
 * cookies. */
static bool is_visit(const ApiRequest *q) {
        const char *mode = http_header(q->http, "Sec-Fetch-Mode"), *dest = http_header(q->http, "Sec-Fetch-Dest");

        if (strcmp(http_method(q->http), "GET") != 0 || (dest && strcmp(dest, "document") != 0))
                return false;
        return (mode && strcmp(mode, "navigate") == 0) || (!mode && http_header(q->http, "Upgrade-Insecure-Requests"));
}

/* Redirects to the address without the link. Scripts of the page can read the address, and send it with
 * anything they fetch. Returns 1 if answered. */
static int leave_link_behind(ApiRequest *q) {
        _cleanup_text_ Text there = TEXT_INIT(PREVIEW_OUT_MAX);
        const char *path = http_path(q->http);

        if (!is_visit(q) || path[0] != '/' || path[1] == '/' || strchr(path, '\\')) /* "//host" would lead elsewhere */
                return 0;
        text_put_string(&there, path);
        preview_put_query(q, &there);
        text_put(&there, "", 1);
        if (there.error < 0 || http_add_header(q->http, "Location", there.data) < 0)
                return 0;
        (void) http_add_header(q->http, "Referrer-Policy", "no-referrer");
        (void) preview_refuse(q, 303, "moved", NULL, "the preview is at %.400s", there.data);
        return 1;
}

int preview_admit(ApiRequest *q, const ApiTarget *t) {
        PreviewAccess access;
        PreviewExchange *x;

        q->route = preview_route;
        (void) snprintf(q->shown_path, sizeof(q->shown_path), "/preview/%s/%u/", t->id, t->port);
        if (!t->id[0]) {
                (void) preview_refuse(q, 404, "not_found", "PORT-ID.DOMAIN, or /preview/ID/PORT/", "there is no such preview");
                return -ENOENT;
        }
        if (preview_may(q, t, &access) == 0)
                return -EACCES;
        if (q->manager->recovering) {
                (void) http_add_header(q->http, "Retry-After", "1");
                (void) preview_refuse(q, 503, "recovering", "try again in a second", "the daemon has just started and looks for its sandboxes");
                return -EAGAIN;
        }
        if (access.by_link && set_cookie(q, t) < 0) {
                (void) api_errno(q, -ENOMEM, NULL);
                return -ENOMEM;
        }
        if (access.by_link && leave_link_behind(q) > 0)
                return -EAGAIN;
        if (!t->by_host && t->rest[0] == '\0') { /* relative links would resolve wrongly */
                char there[PREVIEW_TOKEN_MAX + API_TARGET_ID_MAX + 33];

                (void) snprintf(there, sizeof(there), "/preview/%s/%u%s%s/", t->id, t->port, t->token[0] ? "~" : "", t->token);
                (void) http_add_header(q->http, "Location", there);
                (void) preview_refuse(q, 308, "moved", NULL, "the preview is at %s", there);
                return -EAGAIN;
        }
        x = exchange_new(q, t);
        if (!x) {
                (void) api_errno(q, -ENOMEM, NULL);
                return -ENOMEM;
        }
        x->access = access;
        return 0;
}

int preview_proxy(ApiRequest *q, const ApiTarget *t, const PreviewAccess *access) {
        PreviewExchange *x = exchange_new(q, t);

        q->route = preview_route;
        (void) snprintf(q->shown_path, sizeof(q->shown_path), "/preview/%s/%u/", t->id, t->port);
        if (!x) {
                free(access->host);
                return -ENOMEM;
        }
        x->access = *access;
        return 0;
}
