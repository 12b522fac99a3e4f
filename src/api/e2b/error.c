/* error.c: answers that all services of this surface share. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "config/config.h"

bool e2b_enabled(const Manager *m) {
        return m->settings->e2b.enabled;
}

int e2b_refuse(ApiRequest *q, unsigned status, const char *message) {
        return api_answer(q, status, json_pack("{s:i, s:o}", "code", (int) status, "message", json_text_or_null(message ? message : "")));
}

int e2b_error(ApiRequest *q, unsigned status, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;

        va_start(ap, format);
        message = string_vformat(format, ap);
        va_end(ap);
        (void) e2b_refuse(q, status, message ? message : "out of memory");
        return -ECANCELED;
}

int e2b_errno(ApiRequest *q, int r, const char *text) {
        const char *message;
        unsigned status = api_errno_status(r, &message);

        if (text && *text)
                message = text;
        if (status >= 500)
                log_error("%s %s: %s", http_method(q->http), http_path(q->http), message);
        (void) e2b_refuse(q, status, message);
        return -ECANCELED;
}

int e2b_empty(ApiRequest *q, unsigned status) {
        q->answered = true;
        return http_answer(q->http, status, /* type= */ NULL, "", 0);
}

int e2b_done(ApiRequest *q, int r, const char *text) {
        return r < 0 ? e2b_errno(q, r, text) : e2b_empty(q, 204);
}

static int e2b_complaints(ApiRequest *q, const JsonComplaints *c) {
        json_t *first = json_array_get(c->list, 0);

        return e2b_error(q, 400, "%s: %s", json_string_value(json_object_get(first, "field")), json_string_value(json_object_get(first, "message")));
}

static void error_drop_unknown(json_t *object, const Shape *shape) {
        const char *key;
        json_t *value;
        void *next;

        json_object_foreach_safe(object, next, key, value)
                if (!shape_find(shape, key))
                        (void) json_object_del(object, key);
}

/* Parses the body; an empty body is an empty object. */
static json_t *error_load(ApiRequest *q) {
        json_error_t error;
        json_t *document;
        size_t size;
        const char *text = http_body(q->http, &size);

        while (size > 0 && strchr(" \t\r\n", *text)) {
                text++;
                size--;
        }
        if (json_count_values(text, size) > JSON_VALUES_MAX) {
                (void) e2b_error(q, 400, "the body has more than %d values", JSON_VALUES_MAX);
                return NULL;
        }
        document = size == 0 ? json_object() : json_loadb(text, size, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
        if (!document && size > 0)
                (void) e2b_error(q, 400, "the body is not JSON: %s (line %d, column %d)", error.text, error.line, error.column);
        else if (!document)
                (void) e2b_errno(q, -ENOMEM, NULL);
        else if (!json_is_object(document)) {
                (void) e2b_error(q, 400, "the body must be a JSON object");
                json_decref(document);
                return NULL;
        }
        return document;
}

int e2b_judge(ApiRequest *q, int r, const JsonComplaints *c) {
        if (r < 0)
                (void) e2b_errno(q, r, NULL);
        else if (json_has_complaints(c))
                (void) e2b_complaints(q, c);
        return r < 0 ? r : json_has_complaints(c) ? -EINVAL : 0;
}

int e2b_read(ApiRequest *q, const Shape *shape, void *target) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *document = error_load(q);

        if (!document)
                return -EINVAL;
        error_drop_unknown(document, shape);
        return e2b_judge(q, shape_read(document, "", shape, target, &c), &c);
}

int e2b_read_field(ApiRequest *q, const char *name, unsigned flags, const ShapeJson *json, void *target) {
        const ShapeField field = { name, SHAPE_CUSTOM, .flags = flags, .json = json };

        return e2b_read(q, &(const Shape) { .fields = &field, .n_fields = 1 }, target);
}

int e2b_read_second(ApiRequest *q, const char *name, usec_t *value) {
        const char *text = http_query(q->http, name);
        uint64_t seconds;

        if (!text || !*text)
                return 0;
        if (parse_uint64(text, 0, UINT32_MAX, &seconds) < 0)
                return e2b_error(q, 400, "%s: '%.60s' is not a time in seconds", name, text);
        *value = seconds * USEC_PER_SEC;
        return 0;
}
