/* response.c: the response of a port inside: checks and forwards its head, removes its framing. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/preview/internal.h"
#include "base/fd.h"

/* Headers of one connection only, or written by the server in front. */
static const char *const ours[] = { "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "TE", "Trailer", "Transfer-Encoding",
                                    "Upgrade", "Content-Length", NULL };

/* Headers that apply to a whole origin. Below a path, that origin is the API's own and that of all other
 * previews: a name and password entered for one would be sent to the next one that asks. */
static const char *const origin_wide[] = { "Alt-Svc", "Clear-Site-Data", "NEL", "Referrer-Policy", "Report-To", "Reporting-Endpoints",
                                           "Service-Worker-Allowed", "Strict-Transport-Security", "WWW-Authenticate", NULL };

static bool response_is_one_of(const char *name, const char *const *list) {
        for (; *list; list++)
                if (strcasecmp(name, *list) == 0)
                        return true;
        return false;
}

/* Returns the path of a URL such as "http://localhost:8000/x", by which the server inside knows itself.
 * NULL: it leads elsewhere. */
static const char *own_path(const PreviewExchange *x, const char *url) {
        static const char *const names[] = { "http://localhost:", "http://127.0.0.1:", "http://0.0.0.0:", "http://[::1]:" };
        char port[8];
        size_t n = (size_t) snprintf(port, sizeof(port), "%u", x->target.port);

        if (url[0] == '/' && url[1] != '/')
                return url;
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const char *rest = url + strlen(names[i]);

                if (strncasecmp(url, names[i], strlen(names[i])) == 0 && strncmp(rest, port, n) == 0 && strchr("/?#", rest[n]))
                        return rest + n;
        }
        return NULL;
}

/* Rewrites a redirect so that it stays in the preview. */
static int pass_location(PreviewExchange *x, const char *url) {
        const char *path = own_path(x, url);
        _cleanup_free_ char *there = NULL;

        if (!path)
                return http_add_header(x->q->http, "Location", url);
        if (asprintf(&there, "%s%s%s", x->target.by_host ? "" : x->prefix, path[0] == '/' ? "" : "/", path) < 0)
                return -ENOMEM;
        return http_add_header(x->q->http, "Location", there);
}

/* Removes the Domain attribute, which would send the cookie to other previews as well. */
static int pass_cookie_by_host(PreviewExchange *x, const char *value) {
        _cleanup_text_ Text t = TEXT_INIT(PREVIEW_IN_MAX);

        for (const char *p = value; *p;) {
                size_t blank = strspn(p, " \t"), n = strcspn(p, ";"), name = strcspn(p + blank, "= \t;");

                if (p == value || name != 6 || strncasecmp(p + blank, "Domain", 6) != 0) {
                        text_put_string(&t, p == value ? "" : ";");
                        text_put(&t, p, n);
                }
                p += n + (p[n] == ';');
        }
        text_put(&t, "", 1);
        return t.error < 0 ? t.error : http_add_header(x->q->http, "Set-Cookie", t.data);
}

/* Limits a cookie to the preview's path, so that only this preview gets it. Drops a cookie with the name of
 * ours. */
static int pass_cookie(PreviewExchange *x, const char *value) {
        _cleanup_free_ char *text = NULL;
        const char *end = strchr(value, ';');
        size_t n = end ? (size_t) (end - value) : strlen(value);

        if (strncmp(value, PREVIEW_COOKIE "=", strlen(PREVIEW_COOKIE "=")) == 0)
                return 0;
        if (x->target.by_host)
                return pass_cookie_by_host(x, value);
        if (asprintf(&text, "%.*s; Path=%s/; SameSite=Lax%s", (int) n, value, x->prefix, end && strcasestr(end, "httponly") ? "; HttpOnly" : "") < 0)
                return -ENOMEM;
        return http_add_header(x->q->http, "Set-Cookie", text);
}

static int pass_fields(PreviewExchange *x, const HttpHead *h) {
        int r = 0;

        for (size_t i = 0; i < h->n_fields && r >= 0; i++) {
                const HttpField *f = h->fields + i;

                if (response_is_one_of(f->name, ours) || http_head_has_word(h, "Connection", f->name))
                        continue;
                if (!x->target.by_host && response_is_one_of(f->name, origin_wide))
                        continue;
                if (strcasecmp(f->name, "Location") == 0)
                        r = pass_location(x, f->value);
                else if (strcasecmp(f->name, "Set-Cookie") == 0)
                        r = pass_cookie(x, f->value);
                else
                        r = http_add_header(x->q->http, f->name, f->value);
        }
        /* Below the API's own origin, a page gets an opaque origin without any rights there, and sends no
         * Referer. */
        if (r >= 0 && !x->target.by_host)
                r = http_add_header(x->q->http, "Referrer-Policy", "no-referrer");
        if (r >= 0 && !x->target.by_host)
                r = http_add_header(x->q->http, "Content-Security-Policy",
                                "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts");
        return r;
}

static void response_drop(PreviewExchange *x, size_t n) {
        memmove(x->in, x->in + n, x->in_size - n);
        x->in_size -= n;
}

/* Turns the exchange into a tunnel, which takes over the socket and the data already read. */
static int switch_protocols(PreviewExchange *x, const HttpHead *h) {
        _cleanup_free_ char *protocol = strdup(http_head_field(h, "Upgrade") ?: "");
        ApiRequest *q = x->q;

        if (!protocol || !*protocol || !http_header(q->http, "Upgrade"))
                return -EBADMSG;
        if (pass_fields(x, h) < 0)
                return -ENOMEM;
        response_drop(x, h->size);
        return preview_exchange_to_tunnel(x, protocol);
}

/* Takes the body without its framing, as far as there is room. */
static ssize_t response_take_body(PreviewExchange *x, uint8_t *buffer, size_t size) {
        size_t used = 0, made = 0;

        while (made < size && used < x->in_size && !http_frame_is_over(&x->frame)) {
                size_t room = size - made, there = x->in_size - used, n;
                const uint8_t *piece;
                ssize_t k = http_frame_next(&x->frame, x->in + used, there < room ? there : room, &piece, &n);

                if (k < 0)
                        return k;
                if (k == 0)
                        break;
                if (n > 0)
                        memcpy(buffer + made, piece, n);
                made += n;
                used += (size_t) k;
        }
        response_drop(x, used);
        return (ssize_t) made;
}

ssize_t preview_body_next(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata) {
        PreviewExchange *x = userdata;
        ssize_t n = response_take_body(x, buffer, size);

        if (n != 0)
                return n;
        if (x->in_ended && !http_frame_is_over(&x->frame) && http_frame_end(&x->frame) < 0)
                return -ECONNRESET;
        if (http_frame_is_over(&x->frame)) {
                x->phase = PREVIEW_ENDED;
                return HTTP_STREAM_END;
        }
        x->answer_waits = true;
        preview_exchange_watch(x);
        return 0;
}

static int response_answer(PreviewExchange *x, const HttpHead *h) {
        uint64_t size = h->framing == FRAMING_LENGTH || h->has_length ? h->length : h->framing == FRAMING_NONE ? 0 : UINT64_MAX;
        int r = pass_fields(x, h);

        if (r < 0)
                return r;
        http_frame_init(&x->frame, h->framing, h->length);
        response_drop(x, h->size);
        x->phase = PREVIEW_BODY;
        x->q->answered = true;
        if (h->framing == FRAMING_NONE && (!h->has_length || h->status == 304 || h->status == 204)) {
                x->phase = PREVIEW_ENDED;
                return http_answer(x->q->http, h->status, NULL, "", 0);
        }
        return http_answer_stream(x->q->http, h->status, NULL, size, preview_body_next, x);
}

int preview_response_begin(PreviewExchange *x) {
        bool bodyless = strcmp(http_method(x->q->http), "HEAD") == 0;
        int r;

        for (;;) {
                HttpHead h = { 0 };

                r = http_head_read_response(x->in, x->in_size, &x->scanned, bodyless, &h);
                if (r > 0 && h.status == 101)
                        r = switch_protocols(x, &h);
                else if (r > 0 && h.status < 200) { /* 100, 103: the server in front sends its own */
                        response_drop(x, h.size);
                        x->scanned = 0;
                        http_head_done(&h);
                        continue;
                } else if (r > 0)
                        r = response_answer(x, &h);
                else if (r == 0)
                        r = -EAGAIN;
                http_head_done(&h);
                return r;
        }
}
