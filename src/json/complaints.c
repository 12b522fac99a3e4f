/* complaints.c: collects all errors of a document. */

#include <errno.h>
#include <stdarg.h>

#include "base/text.h"
#include "json/json.h"

#define COMPLAINTS_MAX 64

void json_complaints_done(JsonComplaints *c) {
        json_decref(c->list);
        c->list = NULL;
}

int json_complain(JsonComplaints *c, const char *field, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        json_t *entry;
        va_list ap;

        if (!c->list)
                c->list = json_array();
        if (!c->list)
                return -ENOMEM;
        if (json_array_size(c->list) >= COMPLAINTS_MAX)
                return 0;
        va_start(ap, format);
        message = string_vformat(format, ap);
        va_end(ap);
        if (!message)
                return -ENOMEM;
        entry = json_object();
        if (!entry || json_object_set_new(entry, "field", json_text_or_null(field)) < 0 ||
                        json_object_set_new(entry, "message", json_text_or_null(message)) < 0) {
                json_decref(entry);
                return -ENOMEM;
        }
        return json_array_append_new(c->list, entry) < 0 ? -ENOMEM : 0;
}

const char *json_type_words(json_t *v) {
        switch (json_typeof(v)) {
        case JSON_OBJECT: return "an object";
        case JSON_ARRAY: return "a list";
        case JSON_STRING: return "a string";
        case JSON_INTEGER:
        case JSON_REAL: return "a number";
        case JSON_TRUE: return "true";
        case JSON_FALSE: return "false";
        default: return "null";
        }
}

int json_complain_type(JsonComplaints *c, const char *name, const char *wanted, json_t *v) {
        return json_complain(c, name, "must be %s, not %s", wanted, json_type_words(v));
}
