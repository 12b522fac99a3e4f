/* previews.c: which ports are served inside, and under which URL a browser finds them. */

#include <errno.h>
#include <stdlib.h>

#include "api/native/native.h"
#include "api/preview/preview.h"
#include "base/parse.h"
#include "config/config.h"
#include "core/provider.h"

#define PORTS_MAX   1024
#define LINK_MOST   (365 * 86400.0)

typedef struct PublicBody {
        bool public;
} PublicBody;

const JsonField native_preview_fields[] = {
        { "public", json_field_bool, offsetof(PublicBody, public), .flags = JSON_MANDATORY },
};
const size_t native_preview_n_fields = ELEMENTSOF(native_preview_fields);

static bool is_up(ApiRequest *q) {
        SandboxStatus status = q->sandbox->status;

        if (status == SANDBOX_READY || status == SANDBOX_RUNNING || status == SANDBOX_PAUSED)
                return true;
        (void) api_error(q, 409, "not_running", NULL, "Sandbox not running (state: %s)", sandbox_status_name(status));
        return false;
}

static bool has_previews(ApiRequest *q) {
        const Provider *p = q->manager->provider;

        if (q->api->rooms.previews && p && (p->ops->capabilities & PROVIDER_PORTS))
                return true;
        (void) api_error(q, 501, "unsupported", NULL, "ports of sandboxes cannot be reached with this provider");
        return false;
}

/* expires: UINT64_MAX, no link is made. */
static json_t *preview_json(const ApiRequest *q, uint16_t port, uint64_t expires) {
        const char *id = q->sandbox->id;
        bool public = previews_is_public(q->api->rooms.previews, id, port), signed_ = !public && expires != UINT64_MAX;
        char url[PREVIEW_URL_MAX], path_url[PREVIEW_URL_MAX], token[PREVIEW_TOKEN_MAX];

        if (signed_)
                preview_sign(previews_key(q->api->rooms.previews), id, port, expires, token);
        preview_url(q, id, port, signed_ ? token : NULL, url);
        preview_path_url(q, id, port, signed_ ? token : NULL, path_url);
        return json_pack("{s:i,s:s,s:s,s:b,s:o}", "port", port, "url", url, "pathUrl", path_url, "public", public, "expiresAt",
                        signed_ && expires > 0 ? json_time(expires * USEC_PER_SEC) : json_null());
}

static int list_ports(ApiRequest *q, uint16_t *ports, size_t *ret_n) {
        Provider *p = q->manager->provider;
        int r = p->ops->ports(p, q->sandbox, ports, PORTS_MAX, ret_n);

        if (r < 0)
                (void) api_errno(q, r, NULL);
        return r;
}

void native_sandbox_ports(ApiRequest *q) {
        uint16_t ports[PORTS_MAX];
        json_t *list;
        size_t n;

        if (!has_previews(q) || !is_up(q) || list_ports(q, ports, &n) < 0)
                return;
        list = json_array();
        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, preview_json(q, ports[i], UINT64_MAX));
        (void) api_answer(q, 200, json_pack("{s:o}", "ports", list));
}

static int take_port(ApiRequest *q, uint16_t *ret) {
        uint64_t port;

        if (parse_uint64(q->parameters[1], 1, UINT16_MAX, &port) < 0) {
                (void) api_error(q, 400, "invalid", NULL, "'%.60s' is no port from 1 to 65535", q->parameters[1]);
                return -EINVAL;
        }
        *ret = (uint16_t) port;
        return 0;
}

static bool is_listening(ApiRequest *q, uint16_t port, int *ret_error) {
        uint16_t ports[PORTS_MAX];
        size_t n = 0;

        *ret_error = list_ports(q, ports, &n);
        for (size_t i = 0; i < n && *ret_error >= 0; i++)
                if (ports[i] == port)
                        return true;
        return false;
}

static void answer_url(ApiRequest *q, uint16_t port, uint64_t expires) {
        int r;
        bool listening = is_listening(q, port, &r);
        json_t *j;

        if (r < 0)
                return;
        j = preview_json(q, port, expires);
        (void) json_object_set_new(j, "listening", json_boolean(listening));
        (void) api_answer(q, 200, j);
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

        if (has_previews(q) && is_up(q) && take_port(q, &port) >= 0 && take_expiry(q, &expires) >= 0)
                answer_url(q, port, expires);
}

void native_sandbox_url_set(ApiRequest *q) {
        PublicBody body = { 0 };
        Error error = { 0 };
        uint64_t expires;
        uint16_t port;
        int r;

        if (!has_previews(q) || !is_up(q) || take_port(q, &port) < 0 || api_read(q, &body) < 0 || take_expiry(q, &expires) < 0)
                return;
        r = previews_set_public(q->api->rooms.previews, q->sandbox, port, body.public, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                answer_url(q, port, expires);
}
