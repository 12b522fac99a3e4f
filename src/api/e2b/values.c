/* values.c: fields of bodies with a syntax of their own. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"

static void *place(const ShapeField *f, void *target) {
        return (char *) target + f->offset;
}

int e2b_field_flag(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        if (!json_is_boolean(v))
                return json_complain(c, name, "must be true or false");
        *(E2bFlag *) place(f, target) = json_is_true(v) ? E2B_ON : E2B_OFF;
        return 0;
}

int e2b_field_any(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        json_t **at = place(f, target);

        json_decref(*at);
        *at = json_incref(v);
        return 0;
}

int e2b_field_seconds(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        if (!json_is_integer(v))
                return json_complain(c, name, "must be a whole number of seconds");
        *(int64_t *) place(f, target) = json_integer_value(v);
        return 0;
}

int e2b_field_texts(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        char **at = place(f, target);
        const char *key;
        json_t *value;
        char *text;

        if (!json_is_object(v))
                return json_complain(c, name, "must be an object of texts");
        json_object_foreach(v, key, value)
                if (!json_is_string(value))
                        return json_complain(c, name, "'%.64s' must be a text", key);
        text = json_dumps(v, JSON_COMPACT);
        if (!text)
                return -ENOMEM;
        if (strlen(text) > f->max) {
                free(text);
                return json_complain(c, name, "is too long (%.0f bytes at most)", f->max);
        }
        free(*at);
        *at = text;
        return 0;
}
