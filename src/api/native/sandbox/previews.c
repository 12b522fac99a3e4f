/* previews.c: the ports that are served inside, and their URLs. */

#include <errno.h>
#include <stdlib.h>

#include "api/native/routes/routes.h"
#include "api/preview/preview.h"
#include "base/parse.h"
#include "config/config.h"
#include "core/ports.h"
#include "core/provider.h"

#define LINK_MOST   (365 * 86400.0)

typedef struct PublicBody {
        bool public;
} PublicBody;

static const Shape native_preview_shape = SHAPE_FIELDS(
        { "public", SHAPE_BOOL, offsetof(PublicBody, public), .flags = SHAPE_MANDATORY });

static bool is_up(ApiRequest *q) {
        SandboxStatus status = q->sandbox->status;

        if (status == SANDBOX_READY || status == SANDBOX_RUNNING || status == SANDBOX_PAUSED)
                return true;
        (void) api_error(q, 409, "not_running", NULL, "Sandbox not running (state: %s)", sandbox_status_name(status));
        return false;
}

static bool has_previews(ApiRequest *q) {
        Previews *p = q->api->rooms.gatekeeper && provider_has(q->manager->provider, PROVIDER_PORTS) ? previews_of(q->api) : NULL;

        return native_room(q, p, "this provider cannot reach ports of sandboxes");
}

typedef struct NativePreview {
        uint16_t port;
        char url[PREVIEW_URL_MAX], path_url[PREVIEW_URL_MAX];
        bool public;
        usec_t expires_at;
        bool listening, listening_is_known;
} NativePreview;

#define OF(member) offsetof(NativePreview, member)
#define PREVIEW_FIELDS                                                                              \
        { "port",      SHAPE_UINT16, OF(port)                                                    }, \
        { "url",       SHAPE_CHARS,  SHAPE_AT(NativePreview, url),      .flags = SHAPE_ALWAYS    }, \
        { "pathUrl",   SHAPE_CHARS,  SHAPE_AT(NativePreview, path_url), .flags = SHAPE_ALWAYS    }, \
        { "public",    SHAPE_BOOL,   OF(public)                                                  }, \
        { "expiresAt", SHAPE_UINT64, OF(expires_at), .unit = SHAPE_TIME                          }

static const ShapeField preview_port_fields[] = { PREVIEW_FIELDS };
static const Shape preview_port_shape = SHAPE_BODY(preview_port_fields);

static const Shape native_preview_answer = SHAPE_FIELDS(
        PREVIEW_FIELDS,
        { "listening", SHAPE_BOOL, OF(listening), SHAPE_MEASURED, .count = OF(listening_is_known) });

static const Shape native_ports_answer = SHAPE_FIELDS(
        { "ports", SHAPE_LIST, SHAPE_AT(NativePage, list), .shape = &preview_port_shape, .json = SHAPE_MADE });

/* expires: UINT64_MAX makes no link. */
static void preview_make(const ApiRequest *q, uint16_t port, uint64_t expires, NativePreview *ret) {
        const char *id = q->sandbox->id;
        bool public = previews_is_public(previews_of(q->api), id, port), signed_ = !public && expires != UINT64_MAX;
        char token[PREVIEW_TOKEN_MAX];

        if (signed_)
                preview_sign(previews_key(previews_of(q->api)), id, port, expires, token);
        preview_url(q, id, port, signed_ ? token : NULL, ret->url);
        preview_path_url(q, id, port, signed_ ? token : NULL, ret->path_url);
        ret->port = port;
        ret->public = public;
        ret->expires_at = signed_ ? expires * USEC_PER_SEC : 0;
}

/* Asks for the ports that are listened on inside, then answers. */
typedef struct UrlCall UrlCall;
typedef void (*UrlAnswer)(ApiRequest *q, const UrlCall *c);

struct UrlCall {
        UrlAnswer answer;
        uint16_t port; /* 0: all */
        uint64_t expires;
        PortsCall *asking;
        const uint16_t *ports;
        size_t n;
};

static void forget_call(ApiRequest *q, bool answered) {
        UrlCall *c = q->state;

        ports_cancel(c->asking);
        free(c);
}

static void on_ports(int error, const uint16_t *ports, size_t n, void *userdata) {
        ApiRequest *q = userdata;
        UrlCall *c = q->state;

        q->sandbox = sandbox_unless_gone(q->about); /* it may have been removed during the wait */
        c->ports = ports;
        c->n = n;
        if (!q->sandbox)
                (void) api_error(q, 404, "not_found", NULL, "there is no sandbox '%s'", q->sandbox_id);
        else if (error < 0)
                (void) api_errno(q, error == -EPIPE ? -ESTALE : error, NULL);
        else
                c->answer(q, c);
}

static void ask_ports(ApiRequest *q, uint16_t port, uint64_t expires, UrlAnswer answer) {
        UrlCall *c = calloc(1, sizeof(*c));
        Error error = { 0 };
        int r = -ENOMEM;

        if (c) {
                *c = (UrlCall) { .answer = answer, .port = port, .expires = expires };
                q->state = c;
                q->destroy = forget_call;
                if (q->sandbox->status == SANDBOX_PAUSED && port != 0) { /* a paused sandbox cannot be asked */
                        answer(q, c);
                        return;
                }
                r = ports_ask(q->sandbox, on_ports, q, &c->asking, &error);
        }
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

static void answer_ports(ApiRequest *q, const UrlCall *c) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q, .shape = &preview_port_shape);
        int r = 0;

        for (size_t i = 0; i < c->n && r >= 0; i++) {
                NativePreview v;

                preview_make(q, c->ports[i], UINT64_MAX, &v);
                r = native_page_add(&p, &v, i);
        }
        native_page_show(&p, r);
}

static void answer_url(ApiRequest *q, const UrlCall *c) {
        NativePreview v = { .listening_is_known = q->sandbox->status != SANDBOX_PAUSED };

        preview_make(q, c->port, c->expires, &v);
        for (size_t i = 0; i < c->n; i++)
                v.listening = v.listening || c->ports[i] == c->port;
        (void) api_show(q, 200, &v);
}

static void native_sandbox_ports(ApiRequest *q) {
        if (q->sandbox->status == SANDBOX_PAUSED)
                (void) api_error(q, 409, "not_running", "resume it", "Sandbox not running (state: paused)");
        else if (has_previews(q) && is_up(q))
                ask_ports(q, /* port= */ 0, /* expires= */ 0, answer_ports);
}

static int native_previews_take_port(ApiRequest *q, uint16_t *ret) {
        uint64_t port;

        if (parse_uint64(q->parameters[1], 1, UINT16_MAX, &port) < 0) {
                (void) api_error(q, 400, "invalid", NULL, "'%.60s' is not a port from 1 to 65535", q->parameters[1]);
                return -EINVAL;
        }
        *ret = (uint16_t) port;
        return 0;
}

/* The validity of a link: as requested, else as configured. 0: as long as the sandbox exists. */
static int take_expiry(ApiRequest *q, uint64_t *ret) {
        uint64_t seconds = q->manager->settings->previews.link_usec / USEC_PER_SEC;

        if (api_query_uint(q, "expiresSeconds", 0, (uint64_t) LINK_MOST, &seconds) < 0)
                return -EINVAL;
        *ret = seconds == 0 ? 0 : clock_wall_usec() / USEC_PER_SEC + seconds;
        return 0;
}

static void native_sandbox_url(ApiRequest *q) {
        uint64_t expires;
        uint16_t port;

        if (has_previews(q) && is_up(q) && native_previews_take_port(q, &port) >= 0 && take_expiry(q, &expires) >= 0)
                ask_ports(q, port, expires, answer_url);
}

static void native_sandbox_url_set(ApiRequest *q) {
        PublicBody body = { 0 };
        Error error = { 0 };
        uint64_t expires;
        uint16_t port;
        int r;

        if (!has_previews(q) || !is_up(q) || native_previews_take_port(q, &port) < 0 || api_read(q, &body) < 0 || take_expiry(q, &expires) < 0)
                return;
        r = previews_set_public(previews_of(q->api), q->sandbox, port, body.public, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                ask_ports(q, port, expires, answer_url);
}

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute preview_routes[] = {
        { "GET", SANDBOX "/ports",      MAY_SEE,    .handle = native_sandbox_ports, ANSWER(ports) },
        { "GET", SANDBOX "/url/{port}", MAY_MANAGE, .handle = native_sandbox_url, ANSWER(preview), .queries = QUERIES("expiresSeconds") },
        { "PUT", SANDBOX "/url/{port}", MAY_MANAGE, .handle = native_sandbox_url_set, JSON_BODY(preview), ANSWER(preview) },
        { 0 },
};
