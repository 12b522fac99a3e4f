#include "registry/document.h"

#include <errno.h>
#include <string.h>

/* jansson's own ceiling is two thousand, each of which costs stack. */
static bool is_shallow(const char *p, size_t size) {
        unsigned depth = 0;
        bool quoted = false;

        for (size_t i = 0; i < size; i++) {
                if (quoted) {
                        if (p[i] == '\\')
                                i++;
                        else if (p[i] == '"')
                                quoted = false;
                } else if (p[i] == '"')
                        quoted = true;
                else if (p[i] == '{' || p[i] == '[') {
                        if (++depth > DOCUMENT_DEPTH_MAX)
                                return false;
                } else if ((p[i] == '}' || p[i] == ']') && depth > 0)
                        depth--;
        }
        return true;
}

static json_t *registry_document_parse(const char *data, size_t size, json_type type, Error *reterr) {
        json_error_t e;
        json_t *j;

        if (!is_shallow(data, size)) {
                (void) error_set(reterr, -EBADMSG, "it is JSON that is nested more than %d deep", DOCUMENT_DEPTH_MAX);
                return NULL;
        }
        j = json_loadb(data, size, JSON_REJECT_DUPLICATES, &e);
        if (!j)
                (void) error_set(reterr, -EBADMSG, "it is no JSON: line %d, column %d: %.200s", e.line, e.column, e.text);
        else if (json_typeof(j) != type) {
                json_decref(j);
                j = NULL;
                (void) error_set(reterr, -EBADMSG, "it is no JSON %s", type == JSON_OBJECT ? "object" : "list");
        }
        return j;
}

json_t *document_parse(const char *data, size_t size, Error *reterr) {
        return registry_document_parse(data, size, JSON_OBJECT, reterr);
}

json_t *document_parse_list(const char *data, size_t size, Error *reterr) {
        return registry_document_parse(data, size, JSON_ARRAY, reterr);
}

int document_text(json_t *object, const char *key, char *ret, size_t room, Error *reterr) {
        json_t *v = json_object_get(object, key);

        ret[0] = 0;
        if (!v || json_is_null(v))
                return 0;
        if (!json_is_string(v) || json_string_length(v) >= room)
                return error_set(reterr, -EBADMSG, "'%s' is no text, or has more than %zu bytes", key, room - 1);
        memcpy(ret, json_string_value(v), json_string_length(v) + 1);
        return 0;
}
