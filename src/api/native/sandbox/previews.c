/* previews.c: which ports are served inside, and under which URL a browser finds them. */

#include <errno.h>
#include <stdlib.h>

#include "api/native/native.h"
#include "api/preview/preview.h"
#include "base/parse.h"
#include "config/config.h"
#include "core/ports.h"
#include "core/provider.h"

#define LINK_MOST   (365 * 86400.0)

typedef struct PublicBody {
        bool public;
} PublicBody;

static const ShapeField native_preview_fields[] = {
        { "public", SHAPE_BOOL, offsetof(PublicBody, public), .flags = SHAPE_MANDATORY },
};
const Shape native_preview_shape = SHAPE_BODY(native_preview_fields);

static bool is_up(ApiRequest *q) {
        SandboxStatus status = q->sandbox->status;

        if (status == SANDBOX_READY || status == SANDBOX_RUNNING || status == SANDBOX_PAUSED)
                return true;
        (void) api_error(q, 409, "not_running", NULL, "Sandbox not running (state: %s)", sandbox_status_name(status));
        return false;
}

static bool has_previews(ApiRequest *q) {
        if (previews_of(q->api) && q->api->rooms.gatekeeper && provider_has(q->manager->provider, PROVIDER_PORTS))
                return true;
        (void) api_error(q, 501, "unsupported", NULL, "ports of sandboxes cannot be reached with this provider");
        return false;
}

/* expires: UINT64_MAX, no link is made. */
static json_t *preview_json(const ApiRequest *q, uint16_t port, uint64_t expires) {
        const char *id = q->sandbox->id;
        bool public = previews_is_public(previews_of(q->api), id, port), signed_ = !public && expires != UINT64_MAX;
        char url[PREVIEW_URL_MAX], path_url[PREVIEW_URL_MAX], token[PREVIEW_TOKEN_MAX];

        if (signed_)
                preview_sign(previews_key(previews_of(q->api)), id, port, expires, token);
        preview_url(q, id, port, signed_ ? token : NULL, url);
        preview_path_url(q, id, port, signed_ ? token : NULL, path_url);
        return json_pack("{s:i,s:s,s:s,s:b,s:o}", "port", port, "url", url, "pathUrl", path_url, "public", public, "expiresAt",
                        signed_ && expires > 0 ? json_time(expires * USEC_PER_SEC) : json_null());
}

/* Who listens inside is asked first; then the answer is made. */
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

        q->sandbox = sandbox_unless_gone(q->about); /* it may have gone while we waited */
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
                if (q->sandbox->status == SANDBOX_PAUSED && port != 0) { /* nobody inside can be asked */
                        answer(q, c);
                        return;
                }
                r = ports_ask(q->sandbox, on_ports, q, &c->asking, &error);
        }
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

static void answer_ports(ApiRequest *q, const UrlCall *c) {
        json_t *list = json_array();

        for (size_t i = 0; i < c->n; i++)
                (void) json_array_append_new(list, preview_json(q, c->ports[i], UINT64_MAX));
        (void) api_answer(q, 200, json_pack("{s:o}", "ports", list));
}

static void answer_url(ApiRequest *q, const UrlCall *c) {
        json_t *j = preview_json(q, c->port, c->expires);
        bool listening = false;

        for (size_t i = 0; i < c->n; i++)
                listening = listening || c->ports[i] == c->port;
        (void) json_object_set_new(j, "listening", q->sandbox->status == SANDBOX_PAUSED ? json_null() : json_boolean(listening));
        (void) api_answer(q, 200, j);
}

void native_sandbox_ports(ApiRequest *q) {
        if (q->sandbox->status == SANDBOX_PAUSED)
                (void) api_error(q, 409, "not_running", "resume it", "Sandbox not running (state: paused)");
        else if (has_previews(q) && is_up(q))
                ask_ports(q, /* port= */ 0, /* expires= */ 0, answer_ports);
}

static int native_previews_take_port(ApiRequest *q, uint16_t *ret) {
        uint64_t port;

        if (parse_uint64(q->parameters[1], 1, UINT16_MAX, &port) < 0) {
                (void) api_error(q, 400, "invalid", NULL, "'%.60s' is no port from 1 to 65535", q->parameters[1]);
                return -EINVAL;
        }
        *ret = (uint16_t) port;
        return 0;
}

/* How long the link is good for: what was asked, else what is configured; 0 is for as long as the sandbox is there. */
static int take_expiry(ApiRequest *q, uint64_t *ret) {
        uint64_t seconds = q->manager->settings->previews.link_usec / USEC_PER_SEC;

        if (api_query_uint(q, "expiresSeconds", 0, (uint64_t) LINK_MOST, &seconds) < 0)
                return -EINVAL;
        *ret = seconds == 0 ? 0 : clock_wall_usec() / USEC_PER_SEC + seconds;
        return 0;
}

void native_sandbox_url(ApiRequest *q) {
        uint64_t expires;
        uint16_t port;

        if (has_previews(q) && is_up(q) && native_previews_take_port(q, &port) >= 0 && take_expiry(q, &expires) >= 0)
                ask_ports(q, port, expires, answer_url);
}

void native_sandbox_url_set(ApiRequest *q) {
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
