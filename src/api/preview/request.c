/* request.c: the head of a request for the server inside.
 *
 * Our credentials are always removed, however the request came and whether or not they were used: a header,
 * cookie or query parameter that contains one is not forwarded. Credentials of the program inside are.
 * Headers that belong to one connection only (RFC 9110, section 7.6.1) are written anew. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/preview/internal.h"
#include "base/text.h"
#include "core/access.h"

static bool preview_request_is_one_of(const char *name, const char *const *list) {
        for (; *list; list++)
                if (strcasecmp(name, *list) == 0)
                        return true;
        return false;
}

/* Headers that are ours. The server in front answers Expect. */
static const char *const ours[] = { "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE", "Trailer", "Transfer-Encoding",
                                    "Upgrade", "Expect", "Content-Length", "X-API-KEY", "X-Forwarded-For", "X-Forwarded-Host",
                                    "X-Forwarded-Proto", "X-Forwarded-Prefix", NULL };
/* Credentials of another surface, and Host, which that surface sets in its own way. */
static const char *const theirs[] = { "Host", "X-Access-Token", "E2b-Traffic-Access-Token", NULL };

/* In the Basic scheme, name and password are base64. */
static bool request_has_credential(const char *value) {
        static const char scheme[] = "Basic ";
        _cleanup_free_ char *decoded = NULL;
        ssize_t n;

        if (credential_is_in(value))
                return true;
        if (strncasecmp(value, scheme, strlen(scheme)) != 0)
                return false;
        value += strlen(scheme) + strspn(value + strlen(scheme), " \t");
        decoded = calloc(1, strlen(value) + 1);
        n = decoded ? base64_read(value, strlen(value), (uint8_t *) decoded) : 0;
        return !decoded || (n >= 0 && credential_is_in(decoded));
}

static bool is_upgrade(const ApiRequest *q) {
        return http_header(q->http, "Upgrade") && !http_header(q->http, "Content-Length") && !http_header(q->http, "Transfer-Encoding");
}

static bool is_our_cookie(const char *value, size_t n) {
        _cleanup_free_ char *one = strndup(value, n);

        return !one || strncmp(one, PREVIEW_COOKIE "=", strlen(PREVIEW_COOKIE "=")) == 0 || credential_is_in(one);
}

/* Forwards all cookies except ours. */
static void put_cookies(Text *out, const char *value) {
        bool first = true;

        while (*value) {
                size_t n;

                value += strspn(value, "; ");
                n = strcspn(value, ";");
                if (n > 0 && !is_our_cookie(value, n)) {
                        text_put_string(out, first ? "Cookie: " : "; ");
                        text_put(out, value, n);
                        first = false;
                }
                value += n;
        }
        if (!first)
                text_put_string(out, "\r\n");
}

static void preview_request_put_header(Text *out, const char *name, const char *value) {
        text_put_string(out, name);
        text_put_string(out, ": ");
        text_put_string(out, value);
        text_put_string(out, "\r\n");
}

/* Whether a URL contains a link's credential, in its query or path. The URL may be in any header (Referer, a
 * proxy's header). */
static bool is_link(const char *url) {
        const char *path = strstr(url, "/preview/");

        return strstr(url, PREVIEW_QUERY "=") || strstr(url, "signature=v1_") || (path && strchr(path, '~'));
}

static int pass_header(const char *name, const char *value, void *userdata) {
        PreviewExchange *x = userdata;

        if (preview_request_is_one_of(name, ours) || (x->access.refuse && preview_request_is_one_of(name, theirs)))
                return 0;
        if (strcasecmp(name, "Cookie") == 0)
                put_cookies(&x->out, value);
        else if (!is_link(value) && !request_has_credential(value))
                preview_request_put_header(&x->out, name, value);
        return 0;
}

static void preview_request_put_encoded(Text *out, const char *s) {
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$'()*,;:@/?";

        for (; *s; s++)
                if (strchr(plain, *s))
                        text_put(out, s, 1);
                else
                        text_format(out, "%%%02X", (unsigned char) *s);
}

typedef struct QueryPut {
        Text *out;
        bool any;
} QueryPut;

/* The signature for a file, as in E2B's URLs. */
static bool is_signature(const char *name, const char *value) {
        return strcmp(name, "signature") == 0 && strncmp(value, "v1_", 3) == 0;
}

static int pass_query(const char *name, const char *value, void *userdata) {
        QueryPut *p = userdata;

        if (strcmp(name, PREVIEW_QUERY) == 0 || is_signature(name, value) || credential_is_in(name) || credential_is_in(value))
                return 0;
        text_put_string(p->out, p->any ? "&" : "?");
        p->any = true;
        preview_request_put_encoded(p->out, name);
        if (*value) {
                text_put_string(p->out, "=");
                preview_request_put_encoded(p->out, value);
        }
        return 0;
}

void preview_put_query(const ApiRequest *q, Text *out) {
        QueryPut query = { .out = out };

        (void) http_query_each(q->http, pass_query, &query);
}

static void put_forwarded(PreviewExchange *x) {
        const char *host = http_header(x->q->http, "Host");
        char peer[96], prefix[API_TARGET_ID_MAX + 33]; /* without the link */
        size_t n;

        http_peer_print(x->q->http, peer, sizeof(peer));
        n = strcspn(peer, "]");
        peer[peer[0] == '[' ? n : strcspn(peer, ":")] = '\0';
        preview_request_put_header(&x->out, "X-Forwarded-For", peer + (peer[0] == '['));
        preview_request_put_header(&x->out, "X-Forwarded-Proto", http_is_secure(x->q->http) ? "https" : "http");
        if (host)
                preview_request_put_header(&x->out, "X-Forwarded-Host", host);
        if (x->target.by_host)
                return;
        (void) snprintf(prefix, sizeof(prefix), "/preview/%s/%u", x->target.id, x->target.port);
        preview_request_put_header(&x->out, "X-Forwarded-Prefix", prefix);
}

/* As in E2B's proxy: Host is the requested name; or it is another name, with the requested one in
 * X-Forwarded-Host. */
static void put_host(PreviewExchange *x) {
        const char *asked = http_header(x->q->http, "Host");

        preview_request_put_header(&x->out, "Host", x->access.host ? x->access.host : asked ? asked : "localhost");
        if (x->access.host && asked)
                preview_request_put_header(&x->out, "X-Forwarded-Host", asked);
}

static void put_framing(PreviewExchange *x) {
        const char *length = http_header(x->q->http, "Content-Length");

        if (is_upgrade(x->q)) {
                preview_request_put_header(&x->out, "Connection", "Upgrade");
                preview_request_put_header(&x->out, "Upgrade", http_header(x->q->http, "Upgrade"));
                return;
        }
        preview_request_put_header(&x->out, "Connection", "close");
        x->chunked_out = http_header(x->q->http, "Transfer-Encoding") != NULL;
        if (x->chunked_out)
                preview_request_put_header(&x->out, "Transfer-Encoding", "chunked");
        else if (length)
                preview_request_put_header(&x->out, "Content-Length", length);
}

int preview_request_put(PreviewExchange *x) {
        text_put_string(&x->out, http_method(x->q->http));
        text_put_string(&x->out, " ");
        text_put_string(&x->out, x->target.rest[0] ? x->target.rest : "/");
        preview_put_query(x->q, &x->out);
        text_put_string(&x->out, " HTTP/1.1\r\n");
        if (x->access.refuse)
                put_host(x);
        (void) http_header_each(x->q->http, pass_header, x);
        if (!x->access.refuse)
                put_forwarded(x);
        put_framing(x);
        text_put_string(&x->out, "\r\n");
        return x->out.error;
}
