/* event.c: parses one line of a driver into the event that surfaces pass on. Untrusted: any process inside may have
 * written it. */

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "context/internal.h"

typedef enum MemberKind {
        MEMBER_STRING,
        MEMBER_TEXT,   /* a string in which values are hidden */
        MEMBER_BOOL,
        MEMBER_NUMBER,
        MEMBER_OBJECT,
        MEMBER_ANY,
} MemberKind;

typedef struct EventMember {
        const char *name;
        MemberKind kind;
} EventMember;

static const EventMember stream_members[] = { { "text", MEMBER_TEXT } };
static const EventMember result_members[] = {
        { "text", MEMBER_TEXT },     { "html", MEMBER_TEXT },   { "markdown", MEMBER_TEXT }, { "svg", MEMBER_TEXT },       { "png", MEMBER_STRING },
        { "jpeg", MEMBER_STRING },   { "pdf", MEMBER_STRING },  { "latex", MEMBER_TEXT },    { "json", MEMBER_ANY },       { "javascript", MEMBER_TEXT },
        { "data", MEMBER_ANY },      { "chart", MEMBER_OBJECT }, { "extra", MEMBER_OBJECT }, { "is_main_result", MEMBER_BOOL },
};
static const EventMember error_members[] = { { "name", MEMBER_TEXT }, { "value", MEMBER_TEXT }, { "traceback", MEMBER_TEXT } };
static const EventMember synced_members[] = { { "token", MEMBER_STRING }, { "count", MEMBER_NUMBER } };

static const struct {
        const char *type;
        const EventMember *members;
        size_t n;
} types[] = {
        { "stdout",           stream_members, ELEMENTSOF(stream_members) },
        { "stderr",           stream_members, ELEMENTSOF(stream_members) },
        { "result",           result_members, ELEMENTSOF(result_members) },
        { "error",            error_members,  ELEMENTSOF(error_members)  },
        { "end_of_execution", NULL,           0                          },
        { "ready",            NULL,           0                          },
        { "synced",           synced_members, ELEMENTSOF(synced_members) },
};

static bool has_shape(const json_t *v, MemberKind kind) {
        switch (kind) {
        case MEMBER_STRING:
        case MEMBER_TEXT: return json_is_string(v);
        case MEMBER_BOOL: return json_is_boolean(v);
        case MEMBER_NUMBER: return json_is_integer(v) && json_integer_value(v) >= 0;
        case MEMBER_OBJECT: return json_is_object(v);
        case MEMBER_ANY: return true;
        }
        return false;
}

/* Copies a value, and hides the mask's values in every string. The parser's limit bounds the depth. */
static json_t *hidden(const json_t *v, const Mask *mask) {
        const char *key;
        json_t *copy, *member;
        size_t i;

        if (json_is_string(v)) {
                _cleanup_free_ char *text = malloc(json_string_length(v) + 1);
                size_t shown;

                if (!text)
                        return NULL;
                memcpy(text, json_string_value(v), json_string_length(v));
                if (mask_apply(mask, text, json_string_length(v), &shown) < 0)
                        return NULL;
                copy = json_stringn(text, json_string_length(v));
                return copy ? copy : json_string("*"); /* a hidden value begins or ends within a character */
        }
        if (json_is_array(v)) {
                copy = json_array();
                json_array_foreach((json_t *) v, i, member)
                        (void) json_array_append_new(copy, hidden(member, mask));
                return copy;
        }
        if (json_is_object(v)) {
                copy = json_object();
                json_object_foreach((json_t *) v, key, member)
                        (void) json_object_set_new(copy, key, hidden(member, mask));
                return copy;
        }
        return json_incref((json_t *) v);
}

static json_t *member_value(json_t *v, MemberKind kind, const Mask *mask) {
        bool plain = kind == MEMBER_STRING || kind == MEMBER_BOOL || kind == MEMBER_NUMBER;

        return plain || !mask || mask_is_empty(mask) ? json_incref(v) : hidden(v, mask);
}

static int event_fill(json_t *to, const json_t *from, const EventMember *members, size_t n, const Mask *mask) {
        for (size_t i = 0; i < n; i++) {
                json_t *v = json_object_get(from, members[i].name), *copy;

                if (!v || json_is_null(v))
                        continue;
                if (!has_shape(v, members[i].kind))
                        return -EBADMSG;
                copy = member_value(v, members[i].kind, mask);
                if (!copy || json_object_set_new(to, members[i].name, copy) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Adds the fields that surfaces rely on. */
static int complete(json_t *event, const char *type) {
        int r = 0;

        if (strcmp(type, "result") == 0) {
                if (!json_object_get(event, "extra"))
                        r = json_object_set_new(event, "extra", json_object());
                if (r >= 0 && !json_object_get(event, "is_main_result"))
                        r = json_object_set_new(event, "is_main_result", json_false());
        } else if (strcmp(type, "error") == 0) {
                for (size_t i = 0; i < ELEMENTSOF(error_members) && r >= 0; i++)
                        if (!json_object_get(event, error_members[i].name))
                                r = json_object_set_new(event, error_members[i].name, json_string(""));
        } else if (strcmp(type, "stdout") == 0 || strcmp(type, "stderr") == 0) {
                if (!json_object_get(event, "text"))
                        return -EBADMSG;
                r = json_object_set_new(event, "timestamp", json_time(clock_wall_usec()));
        } else if (strcmp(type, "synced") == 0 && !json_object_get(event, "token"))
                return -EBADMSG;
        return r < 0 ? -ENOMEM : 0;
}

int context_event_read(const char *line, size_t size, const Mask *mask, json_t **ret, uint64_t *ret_run) {
        _cleanup_json_ json_t *from = json_count_values(line, size) > JSON_VALUES_MAX ? NULL : json_loadb(line, size, JSON_ALLOW_NUL, NULL), *event = NULL;
        const char *type = json_string_value(json_object_get(from, "type"));
        const json_t *run = json_object_get(from, "run");
        int r;

        if (!type || (run && !has_shape(run, MEMBER_NUMBER)))
                return -EBADMSG;
        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                if (strcmp(types[i].type, type) != 0)
                        continue;
                event = json_pack("{s:s}", "type", types[i].type);
                r = event ? event_fill(event, from, types[i].members, types[i].n, mask) : -ENOMEM;
                if (r >= 0)
                        r = complete(event, types[i].type);
                if (r < 0)
                        return r;
                *ret = TAKE_PTR(event);
                *ret_run = run ? (uint64_t) json_integer_value(run) : 0;
                return 0;
        }
        return -EBADMSG;
}

json_t *context_event_stream(bool is_stderr, const char *data, size_t size) {
        return json_pack("{s:s,s:s%,s:o}", "type", is_stderr ? "stderr" : "stdout", "text", data, size, "timestamp", json_time(clock_wall_usec()));
}

json_t *context_event_error(const char *name, const char *value) {
        return json_pack("{s:s,s:s,s:s,s:s}", "type", "error", "name", name, "value", value, "traceback", "");
}

int context_request_put(Text *t, const char *field) {
        if (t->size > 0)
                text_put(t, &(char) { CONTEXT_SEPARATOR }, 1);
        for (const char *p = field; *p;) {
                size_t n = strcspn(p, "\\\n\x1e");

                text_put(t, p, n);
                p += n;
                if (*p)
                        text_put_string(t, *p == '\\' ? "\\\\" : *p == '\n' ? "\\n" : "\\0036");
                p += *p != '\0';
        }
        return t->error;
}
