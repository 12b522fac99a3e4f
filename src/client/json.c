#include "client/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/human.h"

/* Three names of jansson (json_string, json_integer, json_null) are also those of functions of base/json.h, and the
 * linker decides which one a program gets. So they are not called here. */

json_t *json_parse(const char *text, size_t size, Error *reterr) {
        json_error_t error;
        json_t *j = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

        if (!j)
                (void) error_set(reterr, -EBADMSG, "not JSON: %s", error.text);
        return j;
}

const char *json_text_of(const json_t *value) {
        return json_is_string(value) ? json_string_value(value) : NULL;
}

const char *json_get_text(const json_t *object, const char *key) {
        return json_text_of(json_object_get(object, key));
}

const char *json_get_text_or(const json_t *object, const char *key, const char *otherwise) {
        const char *text = json_get_text(object, key);
        return text ? text : otherwise;
}

double json_get_number(const json_t *object, const char *key, double otherwise) {
        const json_t *value = json_object_get(object, key);
        return json_is_number(value) ? json_number_value(value) : otherwise;
}

int64_t json_get_integer(const json_t *object, const char *key, int64_t otherwise) {
        const json_t *value = json_object_get(object, key);
        double real;

        if (json_is_integer(value))
                return json_integer_value(value);
        if (!json_is_real(value))
                return otherwise;
        real = json_real_value(value);
        return real >= -9e18 && real <= 9e18 ? (int64_t) real : otherwise;
}

long long json_count(const json_t *object, const char *key) {
        return json_get_integer(object, key, 0);
}

const json_t *json_at(const json_t *object, const char *path) {
        for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
                _cleanup_free_ char *name = strndup(path, (size_t) (dot - path));

                object = name ? json_object_get(object, name) : NULL;
        }
        return json_object_get(object, path);
}

bool json_get_bool(const json_t *object, const char *key) {
        return json_is_true(json_object_get(object, key));
}

bool json_has(const json_t *object, const char *key) {
        const json_t *value = json_object_get(object, key);
        return value && !json_is_null(value);
}

void json_builder_done(JsonBuilder *b) {
        json_decref(b->object);
        *b = (JsonBuilder) { 0 };
}

static void client_json_fail(JsonBuilder *b, const char *key, int error) {
        if (b->error < 0)
                return;
        b->error = error;
        b->where = key;
}

/* Returns the object that has the last part of a key as a member; creates missing objects. NULL: no memory. */
static json_t *client_json_parent(JsonBuilder *b, const char **key) {
        json_t *object = b->object ? b->object : (b->object = json_object());

        for (const char *dot = strchr(*key, '.'); object && dot; dot = strchr(*key, '.')) {
                _cleanup_free_ char *name = strndup(*key, (size_t) (dot - *key));
                json_t *inner = name ? json_object_get(object, name) : NULL;

                if (name && !inner && json_object_set_new(object, name, json_object()) >= 0)
                        inner = json_object_get(object, name);
                object = inner;
                *key = dot + 1;
        }
        return object;
}

void json_put_value(JsonBuilder *b, const char *key, json_t *value) {
        const char *name = key;
        json_t *object = client_json_parent(b, &name);

        if (!value || json_object_set_new(object, name, value) < 0) /* takes the value also on failure */
                client_json_fail(b, key, -ENOMEM);
}

/* Returns the list or object at a key. If there is none, it puts `empty` there. Takes `empty`. */
static json_t *client_json_inside(JsonBuilder *b, const char *key, json_t *empty) {
        const char *name = key;
        json_t *object = client_json_parent(b, &name), *inside = json_object_get(object, name);

        if (inside)
                json_decref(empty);
        else
                json_put_value(b, key, empty);
        return json_object_get(object, name);
}

/* -EILSEQ: the text is not UTF-8, the only reason but memory for which jansson refuses it. */
static json_t *text_value(JsonBuilder *b, const char *key, const char *text) {
        json_t *value = json_stringn(text, strlen(text));

        if (!value)
                client_json_fail(b, key, -EILSEQ);
        return value;
}

void json_put_text(JsonBuilder *b, const char *key, const char *value) {
        if (value)
                json_put_value(b, key, text_value(b, key, value));
}

void json_put_integer(JsonBuilder *b, const char *key, int64_t value) {
        json_put_value(b, key, json_pack("I", (json_int_t) value));
}

void json_put_number(JsonBuilder *b, const char *key, double value) {
        int64_t whole = value > -1e15 && value < 1e15 ? (int64_t) value : 0;
        double rest = value - (double) whole;

        if (rest < 0 || rest > 0)
                json_put_value(b, key, json_real(value));
        else
                json_put_integer(b, key, whole);
}

void json_put_bool(JsonBuilder *b, const char *key, bool value) {
        json_put_value(b, key, json_boolean(value));
}

void json_put_true(JsonBuilder *b, const char *key) {
        json_put_value(b, key, json_true());
}

void json_put_words(JsonBuilder *b, const char *key, char *const *words, size_t n) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                if (json_array_append_new(list, text_value(b, key, words[i])) < 0)
                        client_json_fail(b, key, -ENOMEM);
        json_put_value(b, key, list);
}

size_t json_add_text(JsonBuilder *b, const char *key, const char *value) {
        json_t *list = client_json_inside(b, key, json_array());

        if (json_array_append_new(list, text_value(b, key, value)) < 0)
                client_json_fail(b, key, -ENOMEM);
        return json_array_size(list);
}

size_t json_put_assignments(JsonBuilder *b, const char *key, char *const *assignments, size_t n) {
        json_t *object = n > 0 ? client_json_inside(b, key, json_object()) : NULL;

        for (size_t i = 0; i < n; i++) {
                size_t length = strcspn(assignments[i], "=");
                _cleanup_free_ char *name = strndup(assignments[i], length);
                json_t *value = text_value(b, key, assignments[i] + length + (assignments[i][length] == '='));

                if (!name || json_object_set_new(object, name, value) < 0)
                        client_json_fail(b, key, name ? -EILSEQ : -ENOMEM);
        }
        return json_object_size(object);
}

char *json_builder_print(JsonBuilder *b, Error *reterr) {
        char *text = NULL;

        if (b->error == -EILSEQ)
                (void) error_set(reterr, -EILSEQ, "%s: the text is not UTF-8, which JSON requires", b->where);
        else if (b->error >= 0)
                text = b->object ? client_json_print(b->object, /* pretty= */ false) : strdup("{}");
        if (!text && b->error != -EILSEQ)
                (void) error_set(reterr, -ENOMEM, "out of memory");
        return text;
}

char *client_json_print(const json_t *value, bool pretty) {
        return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) | (pretty ? JSON_INDENT(2) : JSON_COMPACT));
}

char *human_value(const json_t *value) {
        _cleanup_free_ char *raw = json_is_string(value) ? NULL : client_json_print(value, /* pretty= */ false);
        const char *text = json_is_string(value) ? json_string_value(value) : raw;

        return text ? human_clean(text) : NULL;
}

void human_member(const char *indent, int width, const char *key, const json_t *value) {
        _cleanup_free_ char *text = value && !json_is_null(value) ? human_value(value) : NULL;

        printf("%s%-*s %s\n", indent, width, key, !value || json_is_null(value) ? "-" : text ? text : "?");
}
