/* preview.h: ports that are served inside sandboxes, as URLs for a browser.
 *
 *      http://<port>-<id>.<domain>:8787/            an origin of its own; domain is previews.domain, by default "localhost": browsers
 *                                                   resolve every name below that to this machine
 *      http://127.0.0.1:8787/preview/<id>/<port>/   needs no DNS. It shares its origin with the API, so responses get a
 *                                                   Content-Security-Policy that denies that origin to the page. Pages without an
 *                                                   origin have no cookies, so a signed link is part of the path: <port>~<signature>
 *
 * A request for a preview bypasses the table of routes. It is sent to the port through a socket that PID 1
 * has connected inside (no interface, no way out), and the response is streamed back. An ambiguous response
 * is not passed on.
 *
 * Previews are private. Access needs a key that may see the sandbox, a link that was signed for this port
 * (the browser keeps it in a cookie, so that the link is not in its history), or a port that was made public.
 * Our credentials (keys, tokens, links, cookies) are removed from forwarded requests, whichever of them
 * granted access: code in the sandbox must not learn any (request.c).
 *
 *      target.c     which sandbox, which port
 *      link.c       URLs and signatures
 *      access.c     access control
 *      previews.c   public ports; the key of the signatures
 *      exchange.c   one request and its response         request.c, response.c: their heads
 *      tunnel.c     bytes in both directions, after an upgrade
 *      page.c       error pages for people, if the server inside does not answer
 *
 * Must not know: SQL beyond rows.h, namespaces. */
#pragma once

#include "api/surface.h"

typedef struct Previews Previews;

extern const ApiSurface preview_surface;

#define PREVIEW_TOKEN_MAX    API_TARGET_TOKEN_MAX
#define PREVIEW_URL_MAX      512
#define PREVIEW_QUERY        "cove_token"
#define PREVIEW_COOKIE       "cove_preview"

/* previews.c */
int previews_new(Manager *m, Previews **ret, Error *reterr);
Previews *previews_free(Previews *p);
bool previews_is_public(const Previews *p, const char *id, uint16_t port);
int previews_set_public(Previews *p, const Sandbox *sb, uint16_t port, bool public, Error *reterr);
Previews *previews_of(const Api *api);
const uint8_t *previews_key(const Previews *p); /* SECRET_SHA256_SIZE bytes */

/* target.c: 1: for a preview; 0: not; -EINVAL: a preview address that is invalid. domain: as configured. */
int preview_target_parse(const char *host, const char *path, const char *domain, ApiTarget *ret);
int preview_find(ApiRequest *q, ApiTarget *ret); /* ApiSurface.claims */

/* link.c: expires: wall clock in seconds; 0: valid as long as the sandbox exists. */
void preview_sign(const uint8_t *key, const char *id, uint16_t port, uint64_t expires, char ret[static PREVIEW_TOKEN_MAX]);
bool preview_verify(const uint8_t *key, const char *id, uint16_t port, uint64_t now, const char *token);
/* URLs by which the caller can reach the server: by the request's Host, else our own address. token may be
 * NULL. */
void preview_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]);
void preview_path_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]);

/* access.c: 1: allowed; 0: has been answered. */
typedef struct PreviewAccess {
        bool by_link;   /* by a link in the query: set a cookie */
        /* For another surface that has checked access itself, and sets q->sandbox: */
        /* Its answer if the server inside does not respond; NULL: ours. */
        int (*refuse)(ApiRequest *q, const ApiTarget *t);
        /* Replaces the Host header for the server inside; NULL: unchanged. Owned. */
        char *host;
} PreviewAccess;
int preview_may(ApiRequest *q, const ApiTarget *t, PreviewAccess *ret);
/* Gets the value of a cookie; false: not found. */
bool preview_cookie(const char *header, const char *name, char *ret, size_t size);

/* page.c */
bool preview_wants_page(const ApiRequest *q); /* whether the client is a person's browser */
int preview_page(ApiRequest *q, unsigned status, const char *message, const char *hint);
int preview_refuse(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) _printf_(5, 6);

/* exchange.c: the one route of all previews. */
extern const ApiRoute preview_route[]; /* the route, and a terminator */
/* ApiSurface.admit. */
int preview_admit(ApiRequest *q, const ApiTarget *t);
/* For a surface with rules of its own. Always takes access->host. t->rest: as set by preview_target_parse(). */
int preview_proxy(ApiRequest *q, const ApiTarget *t, const PreviewAccess *access);
