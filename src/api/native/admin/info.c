/* info.c: what this daemon is, and whether it is well. */

#include <stdio.h>

#include "api/native/native.h"
#include "api/openapi.h"
#include "config.h"
#include "core/provider.h"
#include "wire/guard.h"

/* Asked for often: as text. */
void native_healthz(ApiRequest *q) {
        const char *status = q->manager->stopping ? "stopping" : q->manager->recovering ? "recovering" : "ok";
        char text[64];
        int n = snprintf(text, sizeof(text), "{\"status\":\"%s\"}\n", status);

        q->answered = true;
        (void) http_answer(q->http, 200, "application/json", text, (size_t) n);
}

static json_t *capabilities_json(const Provider *p) {
        static const ProviderCapability told[] = { PROVIDER_PAUSE, PROVIDER_PTY };
        static const char *const always[] = { "files", "usage", "survives" }; /* provider.h: every provider has these */
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(told); i++)
                if (provider_has(p, told[i]))
                        (void) json_array_append_new(list, json_string(provider_capability_name(told[i])));
        for (size_t i = 0; p && i < ELEMENTSOF(always); i++)
                (void) json_array_append_new(list, json_string(always[i]));
        return list;
}

/* What sandboxes that live here had to do without. */
static json_t *guards_missing_json(const Manager *m) {
        json_t *list = json_array();
        const Sandbox *sb, *next;
        GuardSet missing = 0;

        HASH_ITER(hh, m->sandboxes, sb, next)
                if (sandbox_status_is_live(sb->status))
                        missing |= sb->guards_missing;
        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (missing & GUARD_BIT(g))
                        (void) json_array_append_new(list, json_string(guard_name(g)));
        return list;
}

void native_version(ApiRequest *q) {
        const Provider *p = q->manager->provider;

        (void) api_answer(q, 200, json_pack("{s:s,s:i,s:s,s:o,s:o}",
                        "version", COVE_VERSION,
                        "api", 1,
                        "provider", p ? p->ops->name : "native",
                        "capabilities", capabilities_json(p),
                        "guardsMissing", guards_missing_json(q->manager)));
}

void native_openapi(ApiRequest *q) {
        q->answered = true;
        (void) http_answer(q->http, 200, "application/json", api_openapi_json, api_openapi_json_size);
}
