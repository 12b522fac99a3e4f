/* logs.c: the events of a sandbox as its logs. The output of commands goes only to the clients that run them,
 * and to the native API. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "base/parse.h"
#include "core/events.h"

#define LIMIT_MAX 1000

typedef enum E2bLogsLevel { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARN, LEVEL_ERROR, _LEVEL_MAX } E2bLogsLevel;
static const char *const levels[_LEVEL_MAX] = { "debug", "info", "warn", "error" };

/* Events that are not an ordinary part of a sandbox's life. */
static const struct {
        const char *type;
        E2bLogsLevel level;
} unusual[] = {
        { "oom", LEVEL_ERROR },
        { "timeout", LEVEL_WARN },
        { "security", LEVEL_WARN },
        { "denied", LEVEL_WARN },
};

typedef struct E2bLogsQuery {
        usec_t from, to; /* to: not itself */
        uint64_t limit;
        bool backward;
        E2bLogsLevel least;
        const char *search;
        json_t *entries;
} E2bLogsQuery;

static E2bLogsLevel level_of(const char *type) {
        for (size_t i = 0; i < ELEMENTSOF(unusual); i++)
                if (strstr(type, unusual[i].type))
                        return unusual[i].level;
        return LEVEL_INFO;
}

static int e2b_logs_add(const StoreEvent *event, void *userdata) {
        E2bLogsQuery *k = userdata;
        const char *text = event->text ? event->text : "";
        E2bLogsLevel level = level_of(event->type);
        json_t *fields, *entry;

        if (event->at < k->from || event->at >= k->to || level < k->least || (k->search && !strstr(text, k->search) && !strstr(event->type, k->search)))
                return 0;
        if (!k->backward && json_array_size(k->entries) >= k->limit)
                return 0;
        fields = json_pack("{s:s}", "type", event->type);
        if (event->execution_id)
                (void) json_object_set_new(fields, "execution", json_text_or_null(event->execution_id));
        entry = json_pack("{s:o, s:o, s:s, s:o}", "timestamp", json_time(event->at), "message", json_sprintf("%s%s%s", event->type, *text ? " " : "", text), "level",
                        levels[level], "fields", fields);
        if (!entry)
                return 0; /* its text is not valid */
        if (k->backward && json_array_size(k->entries) >= k->limit)
                (void) json_array_remove(k->entries, json_array_size(k->entries) - 1);
        if (k->backward)
                return json_array_insert_new(k->entries, 0, entry) < 0 ? -ENOMEM : 0;
        return json_array_append_new(k->entries, entry) < 0 ? -ENOMEM : 0;
}

static int e2b_logs_read_number(ApiRequest *q, const char *name, uint64_t max, uint64_t *ret) {
        const char *text = http_query(q->http, name);

        if (!text || !*text)
                return 0;
        if (parse_uint64(text, 0, max, ret) < 0)
                return e2b_error(q, 400, "%s: '%.60s' is not a number up to %llu", name, text, (unsigned long long) max);
        return 1;
}

static int e2b_logs_load(ApiRequest *q, const Sandbox *sb, E2bLogsQuery *k) {
        int r;

        k->entries = json_array();
        r = sandbox_event_each(q->manager, sb->id, /* after_serial= */ 0, k->from, e2b_logs_add, k);
        if (r < 0) {
                json_decref(k->entries);
                (void) e2b_errno(q, r, NULL);
        }
        return r;
}

/* A line of the first generation is JSON text, as the service's own logger writes it. E2B's CLI parses it,
 * and expects a level in it. */
static json_t *e2b_logs_line(const json_t *entry) {
        _cleanup_json_ json_t *line = json_pack("{s:O, s:O, s:s}", "level", json_object_get(entry, "level"), "message", json_object_get(entry, "message"), "logger", "sandbox");
        _cleanup_free_ char *text = NULL;

        if (!line || json_object_update_missing(line, json_object_get(entry, "fields")) < 0)
                return NULL;
        text = json_dumps(line, JSON_COMPACT);
        return text ? json_pack("{s:O, s:s}", "timestamp", json_object_get(entry, "timestamp"), "line", text) : NULL;
}

/* The first generation returns everything twice: as lines and as entries. */
void e2b_sandbox_logs(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        E2bLogsQuery k = { .to = USEC_INFINITY, .limit = LIMIT_MAX };
        uint64_t start = 0;
        json_t *lines, *entry;
        size_t i;

        if (!sb || e2b_logs_read_number(q, "start", INT64_MAX / 1000, &start) < 0 || e2b_logs_read_number(q, "limit", LIMIT_MAX, &k.limit) < 0)
                return;
        k.from = start * USEC_PER_MSEC;
        if (e2b_logs_load(q, sb, &k) < 0)
                return;
        lines = json_array();
        json_array_foreach(k.entries, i, entry)
                (void) json_array_append_new(lines, e2b_logs_line(entry));
        (void) api_answer(q, 200, json_pack("{s:o, s:o}", "logs", lines, "logEntries", k.entries));
}

static int e2b_logs_read_words(ApiRequest *q, E2bLogsQuery *k) {
        const char *direction = http_query(q->http, "direction"), *level = http_query(q->http, "level"), *search = http_query(q->http, "search");

        k->backward = !direction || !*direction || strcmp(direction, "backward") == 0;
        k->search = search && *search ? search : NULL;
        if (!k->backward && strcmp(direction, "forward") != 0)
                return e2b_error(q, 400, "direction: '%.60s' is neither forward nor backward", direction);
        for (; level && *level && k->least < _LEVEL_MAX && strcmp(levels[k->least], level) != 0; k->least++)
                ;
        if (k->least == _LEVEL_MAX)
                return e2b_error(q, 400, "invalid level '%.60s': use debug, info, warn, error", level);
        return 0;
}

void e2b_sandbox_logs_v2(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        E2bLogsQuery k = { .to = USEC_INFINITY, .limit = LIMIT_MAX };
        uint64_t cursor = 0;
        int has_cursor;

        if (!sb || e2b_logs_read_words(q, &k) < 0 || e2b_logs_read_number(q, "limit", LIMIT_MAX, &k.limit) < 0)
                return;
        has_cursor = e2b_logs_read_number(q, "cursor", INT64_MAX / 1000, &cursor);
        if (has_cursor < 0)
                return;
        if (has_cursor && k.backward)
                k.to = cursor * USEC_PER_MSEC;
        else
                k.from = cursor * USEC_PER_MSEC;
        if (e2b_logs_load(q, sb, &k) >= 0)
                (void) api_answer(q, 200, json_pack("{s:o}", "logs", k.entries));
}
