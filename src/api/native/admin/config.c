/* config.c: the configuration that is in force, and reading it again. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/native.h"
#include "config/config.h"
#include "config/reload.h"

static Reload *need_reload(ApiRequest *q) {
        if (!q->api->rooms.reload)
                (void) api_error(q, 501, "unsupported", NULL, "this daemon cannot read its configuration again");
        return q->api->rooms.reload;
}

static json_t *failure_json(const ReloadStatus *s) {
        if (s->failed_at == 0)
                return json_null();
        return json_pack("{s:o,s:o,s:o}", "at", json_time(s->failed_at), "message", json_text_or_null(s->error), "complaints",
                        json_strings(s->complaints));
}

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

void native_config_get(ApiRequest *q) {
        const char *format = http_query(q->http, "format");
        const Reload *l = need_reload(q);
        ReloadStatus s;
        json_t *settings;

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
        reload_status(l, &s);
        settings = settings_json(q->manager->settings);
        if (!settings) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        (void) api_answer(q, 200, json_pack("{s:o,s:o,s:o,s:o,s:o}", "path", json_text_or_null(s.path), "readAt", json_time(s.read_at),
                        "lastError", failure_json(&s), "restartNeeded", json_strings(s.restart), "config", settings));
}

/* One entry for each complaint, by where it is in the file. */
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

void native_config_reload(ApiRequest *q) {
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
                (void) api_answer(q, 200, json_pack("{s:o,s:o,s:o,s:o}", "path", json_text_or_null(s.path), "readAt", json_time(s.read_at),
                                "changes", json_text_or_null(s.changes), "restartNeeded", json_strings(s.restart)));
}
