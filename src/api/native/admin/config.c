/* config.c: shows the current configuration, and reloads it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "config/config.h"
#include "config/reload.h"

static Reload *need_reload(ApiRequest *q) {
        return native_room(q, q->api->rooms.reload, "this daemon cannot read its configuration again");
}

typedef struct NativeConfigState {
        ReloadStatus status;
        const ReloadStatus *failed; /* NULL: the last reload succeeded */
        json_t *settings;
} NativeConfigState;

static json_t *config_show_strings(const ShapeField *f, const void *object) {
        return json_strings(*(const Strv *const *) shape_at(f, object));
}

static const Shape config_failure_shape = SHAPE_FIELDS(
        { "at",         SHAPE_UINT64,   offsetof(ReloadStatus, failed_at),  SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "message",    SHAPE_BORROWED, offsetof(ReloadStatus, error),      SHAPE_ALWAYS },
        { "complaints", SHAPE_STRV,     offsetof(ReloadStatus, complaints), .json = SHAPE_SHOW(config_show_strings) });

#define OF(member) offsetof(NativeConfigState, member)
static const Shape native_config_answer = SHAPE_FIELDS(
        { "path",          SHAPE_BORROWED, OF(status.path)                                                 },
        { "readAt",        SHAPE_UINT64,   OF(status.read_at), SHAPE_ALWAYS, .unit = SHAPE_TIME            },
        { "lastError",     SHAPE_POINTER,  OF(failed),         .shape = &config_failure_shape              },
        { "restartNeeded", SHAPE_STRV,     OF(status.restart), .json = SHAPE_SHOW(config_show_strings)     },
        { "config",        SHAPE_JSON,     OF(settings),       .json = SHAPE_MADE });

SHAPE_SHOWN(config_show_changes, ReloadStatus, s, json_text_or_null(s->changes)); /* "": nothing */

static const Shape native_config_reload_answer = SHAPE_FIELDS(
        { "path",          SHAPE_BORROWED, offsetof(ReloadStatus, path) },
        { "readAt",        SHAPE_UINT64,   offsetof(ReloadStatus, read_at), SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "changes",       SHAPE_BORROWED, offsetof(ReloadStatus, changes), .json = SHAPE_SHOW(config_show_changes) },
        { "restartNeeded", SHAPE_STRV,     offsetof(ReloadStatus, restart), .json = SHAPE_SHOW(config_show_strings) });

static json_t *settings_json(const Config *c) {
        _cleanup_free_ char *text = config_print_json(c);

        return text ? json_loads(text, 0, NULL) : NULL;
}

static void answer_yaml(ApiRequest *q) {
        char *text = config_print(q->manager->settings);

        if (!text) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        q->answered = true;
        (void) http_answer_take(q->http, 200, "application/yaml", text, strlen(text));
}

static void native_config_get(ApiRequest *q) {
        const char *format = http_query(q->http, "format");
        const Reload *l = need_reload(q);
        NativeConfigState c = { 0 };

        if (!l)
                return;
        if (format && strcmp(format, "yaml") == 0) {
                answer_yaml(q);
                return;
        }
        if (format && strcmp(format, "json") != 0) {
                (void) api_error(q, 400, "invalid", NULL, "format: '%.60s' is neither json nor yaml", format);
                return;
        }
        reload_status(l, &c.status);
        c.failed = c.status.failed_at > 0 ? &c.status : NULL;
        c.settings = settings_json(q->manager->settings);
        if (c.settings)
                (void) api_show(q, 200, &c);
        else
                (void) api_errno(q, -ENOMEM, NULL);
        json_decref(c.settings);
}

/* One entry per complaint, with its place in the file. */
static int answer_complaints(ApiRequest *q, const ReloadStatus *s) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };

        for (size_t i = 0; i < s->complaints->n; i++) {
                unsigned line, column;
                const char *text = config_complaint_split(s->complaints->items[i], &line, &column);
                char place[64];

                (void) snprintf(place, sizeof(place), "%u:%u", line, column);
                if (json_complain(&c, place, "%s", text) < 0)
                        return api_errno(q, -ENOMEM, NULL);
        }
        return api_complaints(q, &c);
}

static void native_config_reload(ApiRequest *q) {
        Reload *l = need_reload(q);
        ReloadStatus s;
        int r;

        if (!l)
                return;
        r = reload_now(l);
        reload_status(l, &s);
        if (r < 0 && s.complaints->n > 0)
                (void) answer_complaints(q, &s);
        else if (r < 0)
                (void) api_error(q, r == -ENOMEM ? 503 : 400, "invalid", NULL, "%s", s.error);
        else
                (void) api_show(q, 200, &s);
}

const ApiRoute config_routes[] = {
        { "GET",  "/api/config",        MAY_ADMIN, .handle = native_config_get, ANSWER(config), .queries = QUERIES("format") },
        { "POST", "/api/config/reload", MAY_ADMIN, .handle = native_config_reload, JSON_BODY(empty), ANSWER(config_reload) },
        { 0 },
};
