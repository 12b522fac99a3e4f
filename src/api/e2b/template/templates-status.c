/* templates-status.c: status and log of a build. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "build/steps.h"

#define ENTRIES_MAX 100
#define MESSAGE_MAX 400

/* An error begins with its place: "steps:3: RUN: …". */
static json_t *reason_json(const BuildRecord *k) {
        const char *text = k->error ? k->error : "failed", *colon;
        unsigned number = 0;
        char step[16] = "finalize", after;
        json_t *j;

        if (sscanf(text, STEPS_FILE ":%u%c", &number, &after) == 2 && after == ':') {
                if (number == 0)
                        (void) snprintf(step, sizeof(step), "base");
                else
                        (void) snprintf(step, sizeof(step), "%u", number);
                text = strstr(text, ": ") + 2;
                colon = strstr(text, ": ");
                if (colon && text + strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == colon)
                        text = colon + 2;
        }
        j = json_pack("{s:o, s:s, s:[]}", "message", json_text_or_null(text), "step", step, "logEntries");
        return j;
}

typedef struct Entries {
        const BuildRecord *record;
        json_t *list, *lines;
} Entries;

/* FROM is 1, then come hidden steps, then the caller's steps from 1 on. */
static void print_step(unsigned n, char ret[static 16]) {
        if (n <= 1 + STEPS_HIDDEN)
                (void) snprintf(ret, 16, "base");
        else
                (void) snprintf(ret, 16, "%u", n - 1 - STEPS_HIDDEN);
}

static void templates_status_on_line(const BuildLine *line, const char *text, size_t size, void *userdata) {
        Entries *e = userdata;
        json_t *message;
        char step[16];

        print_step(line->step, step);
        message = json_utf8(text, size);
        if (!message) /* if it is not UTF-8 */
                message = json_sprintf("(%zu bytes that are no text)", size);
        (void) json_array_append_new(e->list, json_pack("{s:o, s:o, s:s, s:s}", "timestamp", json_time(line->at), "message", message, "level", "info", "step", step));
}

static bool wants_info(ApiRequest *q) {
        const char *level = http_query(q->http, "level");

        return !level || strcmp(level, "debug") == 0 || strcmp(level, "info") == 0;
}

/* GET …/status: at most a hundred lines per call. */
void e2b_template_status(ApiRequest *q) {
        BuildRecord *k = e2b_build_need(q);
        Entries e = { .record = k };
        uint64_t offset = 0, limit = ENTRIES_MAX;
        char id[E2B_TEMPLATE_ID_MAX];
        json_t *j;

        if (!k || api_query_uint(q, "logsOffset", 0, UINT32_MAX, &offset) < 0 || api_query_uint(q, "limit", 0, UINT32_MAX, &limit) < 0)
                return;
        e2b_template_id(k->tenant, k->name, id);
        e.list = json_array();
        if (wants_info(q))
                (void) build_record_lines(k, offset, MIN_OF(limit, (uint64_t) ENTRIES_MAX), templates_status_on_line, &e);
        j = json_pack("{s:s, s:s, s:s, s:[], s:o}", "templateID", id, "buildID", k->id, "status", build_status_name(k->status), "logs", "logEntries", e.list);
        if (k->status == BUILD_FAILED)
                (void) json_object_set_new(j, "reason", reason_json(k));
        (void) api_answer(q, 200, j);
}

/* GET …/logs: lines from the cursor (milliseconds) on, or the last ones before it. */

typedef struct LogPage {
        Entries entries;
        uint64_t cursor, limit;
        bool backward;
} LogPage;

static void on_paged(const BuildLine *line, const char *text, size_t size, void *userdata) {
        LogPage *p = userdata;
        const uint64_t at = line->at / 1000;

        if (p->cursor > 0 && (p->backward ? at > p->cursor : at < p->cursor))
                return;
        if (!p->backward && json_array_size(p->entries.list) >= p->limit)
                return;
        templates_status_on_line(line, text, size, &p->entries);
        if (p->backward && json_array_size(p->entries.list) > p->limit)
                (void) json_array_remove(p->entries.list, 0);
}

void e2b_template_logs(ApiRequest *q) {
        BuildRecord *k = e2b_build_need(q);
        const char *direction = http_query(q->http, "direction");
        LogPage p = { .limit = ENTRIES_MAX, .backward = direction && strcmp(direction, "backward") == 0 };

        if (!k || api_query_uint(q, "cursor", 0, INT64_MAX, &p.cursor) < 0 || api_query_uint(q, "limit", 1, ENTRIES_MAX, &p.limit) < 0)
                return;
        p.entries.list = json_array();
        if (wants_info(q))
                (void) build_record_lines(k, 0, BUILD_LINES_MAX, on_paged, &p);
        (void) api_answer(q, 200, json_pack("{s:o}", "logs", p.entries.list));
}
