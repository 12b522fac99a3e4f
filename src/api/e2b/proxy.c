/* proxy.c: ports that are served inside, by E2B's rules, and the answers of E2B's proxy if there is no
 * response. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "api/preview/preview.h"

#define TYPE        "application/json; charset=utf-8"
#define PLACEHOLDER "${PORT}"

int e2b_proxy_answer(ApiRequest *q, unsigned status, json_t *body) {
        size_t size = 0;
        char *text = body ? json_print(body, &size) : NULL;

        json_decref(body);
        q->answered = true;
        (void) http_add_header(q->http, "Cache-Control", "no-store");
        return text ? http_answer_take(q->http, status, TYPE, text, size) : http_answer(q->http, 500, TYPE, "", 0);
}

int e2b_proxy_refuse(ApiRequest *q, unsigned status, const char *id, uint16_t port, const char *message) {
        json_t *body;

        if (preview_wants_page(q))
                return preview_page(q, status, message, id);
        body = json_pack("{s:s, s:s}", "sandboxId", id, "message", message);
        if (body && port > 0)
                (void) json_object_set_new(body, "port", json_integer(port));
        (void) json_object_set_new(body, "code", json_integer(status));
        return e2b_proxy_answer(q, status, body);
}

int e2b_proxy_missing(ApiRequest *q, const char *id) {
        return e2b_proxy_refuse(q, 502, id, /* port= */ 0, "The sandbox was not found");
}

static int port_closed(ApiRequest *q, const ApiTarget *t) {
        return e2b_proxy_refuse(q, 502, t->id, t->port, "The sandbox is running but port is not open");
}

/* Replaces each placeholder by the port. */
static int mask_host(const char *mask, uint16_t port, char **ret) {
        _cleanup_text_ Text t = TEXT_INIT(4096);

        for (const char *at; (at = strstr(mask, PLACEHOLDER)); mask = at + strlen(PLACEHOLDER)) {
                text_put(&t, mask, (size_t) (at - mask));
                text_format(&t, "%u", port);
        }
        text_put_string(&t, mask);
        text_put(&t, "", 1);
        if (t.error < 0)
                return t.error;
        *ret = TAKE_PTR(t.data);
        return 0;
}

int e2b_proxy_admit(ApiRequest *q, const ApiTarget *t, const E2bRecord *record) {
        ApiTarget target = *t;
        PreviewAccess access = { .refuse = port_closed };
        int r;

        target.by_host = true; /* paths are not changed, however the sandbox was named */
        target.rest = http_path(q->http);
        r = record->mask_host ? mask_host(record->mask_host, t->port, &access.host) : 0;
        if (r >= 0)
                r = preview_proxy(q, &target, &access);
        if (r < 0)
                (void) e2b_errno(q, r, NULL);
        return r;
}
