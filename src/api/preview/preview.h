/* preview.h: ports that are served inside sandboxes, as URLs that a browser can open.
 *
 *      http://<port>-<id>.<domain>:8787/            an origin of its own; domain is previews.domain. Browsers lead every name below
 *                                                   "localhost", which it is when nothing else was said, to this machine by themselves
 *      http://127.0.0.1:8787/preview/<id>/<port>/   without names. It shares its origin with the API, so answers carry a
 *                                                   Content-Security-Policy that takes that origin away from what it shows. Pages without
 *                                                   an origin have no cookies, so a signed link is part of the path: <port>~<signature>
 *
 * A request that is for one of them never reaches the table of routes: it goes to the port, through a socket that PID 1 has connected inside
 * (no interface, no way out), and the answer comes back as it is made. What two ways of reading could make of an answer, nobody gets.
 *
 * Private: it takes a key that may see the sandbox, a link that was signed for this port (and a browser keeps that in a cookie, without the
 * link in its history), or a port that was made public. Credentials of ours (keys, tokens, links, cookies) are taken out of what is passed on, whichever of them has opened the
 * door: what runs inside must not learn any (request.c).
 *
 *      target.c     which sandbox, which port
 *      link.c       URLs, and signatures
 *      access.c     who may
 *      previews.c   what is public; the key of the signatures
 *      exchange.c   one request and its answer          request.c, response.c: their heads
 *      tunnel.c     bytes both ways, after an upgrade
 *      page.c       what a person sees who gets no answer from inside
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

/* target.c: 1: it is for a preview; 0: it is not; -EINVAL: it is for none that can be. domain: as configured. */
int preview_target_parse(const char *host, const char *path, const char *domain, ApiTarget *ret);
int preview_find(ApiRequest *q, ApiTarget *ret); /* ApiSurface.claims */

/* link.c: expires is by the calendar, in seconds; 0: as long as the sandbox is there. */
void preview_sign(const uint8_t *key, const char *id, uint16_t port, uint64_t expires, char ret[static PREVIEW_TOKEN_MAX]);
bool preview_verify(const uint8_t *key, const char *id, uint16_t port, uint64_t now, const char *token);
/* Where the server can be reached by the caller: by the Host that was asked for, else where we listen. token may be NULL. */
void preview_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]);
void preview_path_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]);

/* access.c: 1: may; 0: has been answered. */
typedef struct PreviewAccess {
        bool by_link;   /* in the query: give it a cookie */
        /* Of another surface, which has looked for itself who may, and sets q->sandbox: */
        int (*refuse)(ApiRequest *q, const ApiTarget *t); /* what it says when nobody inside answers; NULL: all of this is ours */
        char *host;                                           /* what is told inside instead of the host that was asked for; NULL: that one. Owned */
} PreviewAccess;
int preview_may(ApiRequest *q, const ApiTarget *t, PreviewAccess *ret);
/* The value of one cookie; false: there is none of that name. */
bool preview_cookie(const char *header, const char *name, char *ret, size_t size);

/* page.c */
bool preview_wants_page(const ApiRequest *q); /* a person's browser */
int preview_page(ApiRequest *q, unsigned status, const char *message, const char *hint);
int preview_refuse(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) _printf_(5, 6);

/* exchange.c: the route that all of them have. */
extern const ApiRoute preview_route[]; /* the first, and an empty line */
/* ApiSurface.admit. */
int preview_admit(ApiRequest *q, const ApiTarget *t);
/* For a surface with rules of its own. Takes access->host always. t->rest: as preview_target_parse() leaves it. */
int preview_proxy(ApiRequest *q, const ApiTarget *t, const PreviewAccess *access);
