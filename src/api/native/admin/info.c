/* info.c: information about the daemon, and its health. */

#include <stdio.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/sandbox.h"
#include "api/openapi.h"
#include "config.h"
#include "core/provider.h"
#include "wire/guard.h"

/* Requested often, so it is made as text. */
static void native_healthz(ApiRequest *q) {
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

/* Guards that running sandboxes have to do without. */
static json_t *guards_missing_json(const Manager *m) {
        const Sandbox *sb, *next;
        GuardSet missing = 0;

        HASH_ITER(hh, m->sandboxes, sb, next)
                if (sandbox_status_is_live(sb->status))
                        missing |= sb->guards_missing;
        return native_guards_json(missing);
}

SHAPE_SHOWN(version_show_version, Manager, m, json_string(COVE_VERSION));
SHAPE_SHOWN(version_show_api, Manager, m, json_integer(1));
SHAPE_SHOWN(version_show_provider, Manager, m, json_text_or_null(native_provider_name(m)));
SHAPE_SHOWN(version_show_capabilities, Manager, m, capabilities_json(m->provider));
SHAPE_SHOWN(version_show_guards, Manager, m, guards_missing_json(m));

static const Shape native_version_answer = SHAPE_FIELDS(
        { "version",       SHAPE_TEXT, 0, SHAPE_ALWAYS, .json = SHAPE_SHOW(version_show_version)  },
        { "api",           SHAPE_INT,  0, .json = SHAPE_SHOW(version_show_api)                    },
        { "provider",      SHAPE_TEXT, 0, SHAPE_ALWAYS, .json = SHAPE_SHOW(version_show_provider) },
        { "capabilities",  SHAPE_STRV, 0, .json = SHAPE_SHOW(version_show_capabilities)           },
        { "guardsMissing", SHAPE_STRV, 0, .json = SHAPE_SHOW(version_show_guards)                 });

static void native_version(ApiRequest *q) {
        (void) api_show(q, 200, q->manager);
}

static void native_openapi(ApiRequest *q) {
        q->answered = true;
        (void) http_answer(q->http, 200, "application/json", api_openapi_json, api_openapi_json_size);
}

const ApiRoute info_routes[] = {
        { "GET", "/healthz",          MAY_PING, .while_recovering = true, .handle = native_healthz },
        { "GET", "/api/version",      MAY_SEE, .while_recovering = true, .handle = native_version, ANSWER(version) },
        { "GET", "/api/openapi.json", MAY_PING, .while_recovering = true, .handle = native_openapi },
        { 0 },
};
