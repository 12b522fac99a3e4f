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

static json_t *capabilities_json(unsigned have) {
        static const struct {
                ProviderCapability bit;
                const char *name;
        } names[] = {
                { PROVIDER_PAUSE,    "pause"    },
                { PROVIDER_PTY,      "pty"      },
                { PROVIDER_FILES,    "files"    },
                { PROVIDER_USAGE,    "usage"    },
                { PROVIDER_SURVIVES, "survives" },
        };
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (have & names[i].bit)
                        (void) json_array_append_new(list, json_string(names[i].name));
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
                        "capabilities", capabilities_json(p ? p->ops->capabilities : 0),
                        "guardsMissing", guards_missing_json(q->manager)));
}

void native_openapi(ApiRequest *q) {
        q->answered = true;
        (void) http_answer(q->http, 200, "application/json", api_openapi_json, api_openapi_json_size);
}
