#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

static void base_json_put(JsonWriter *w, const char *text, size_t n) {
        if (w->error)
                return;
        if (w->size + n > w->room) {
                size_t room = (w->size + n) * 2 + 1024;
                char *bigger = realloc(w->data, room);

                if (!bigger) {
                        w->error = -ENOMEM;
                        return;
                }
                w->data = bigger;
                w->room = room;
        }
        memcpy(w->data + w->size, text, n);
        w->size += n;
}

static void base_json_put_text(JsonWriter *w, const char *text) {
        base_json_put(w, text, strlen(text));
}

static void base_json_put_line(JsonWriter *w) {
        if (w->compact)
                return;
        base_json_put_text(w, "\n");
        for (unsigned i = 0; i < w->depth; i++)
                base_json_put_text(w, "  ");
}

/* Length of the UTF-8 sequence at p, 0 when there is none: overlong forms, surrogates and what is beyond U+10FFFF are
 * none either. */
size_t json_sequence_length(const unsigned char *p) {
        static const struct {
                unsigned char first, last, second_first, second_last, length;
        } forms[] = {
                { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
                { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
                { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
        };

        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                if (p[0] < forms[i].first || p[0] > forms[i].last)
                        continue;
                if (p[1] < forms[i].second_first || p[1] > forms[i].second_last)
                        return 0;
                for (size_t k = 2; k < forms[i].length; k++)
                        if ((p[k] & 0xc0) != 0x80)
                                return 0;
                return forms[i].length;
        }
        return 0;
}

static void base_json_put_quoted(JsonWriter *w, const char *text) {
        base_json_put_text(w, "\"");
        for (const unsigned char *p = (const unsigned char *) text; *p;) {
                char escape[8];
                size_t n;

                if (*p == '"' || *p == '\\') {
                        (void) snprintf(escape, sizeof(escape), "\\%c", *p++);
                        base_json_put_text(w, escape);
                } else if (*p < 0x20) {
                        (void) snprintf(escape, sizeof(escape), "\\u%04x", *p++);
                        base_json_put_text(w, escape);
                } else if (*p < 0x80)
                        base_json_put(w, (const char *) p++, 1);
                else if ((n = json_sequence_length(p)) > 0) {
                        base_json_put(w, (const char *) p, n);
                        p += n;
                } else {
                        base_json_put_text(w, "\\ufffd");
                        p++;
                }
        }
        base_json_put_text(w, "\"");
}

static void begin_value(JsonWriter *w, const char *key) {
        if (w->has_member)
                base_json_put_text(w, ",");
        if (w->depth > 0)
                base_json_put_line(w);
        w->has_member = true;
        if (key) {
                base_json_put_quoted(w, key);
                base_json_put_text(w, ": ");
        }
}

static void base_json_begin(JsonWriter *w, const char *key, const char *bracket) {
        begin_value(w, key);
        base_json_put_text(w, bracket);
        w->depth++;
        w->has_member = false;
}

static void base_json_end(JsonWriter *w, const char *bracket) {
        w->depth--;
        if (w->has_member)
                base_json_put_line(w);
        base_json_put_text(w, bracket);
        w->has_member = true;
}

void json_begin_object(JsonWriter *w, const char *key) {
        base_json_begin(w, key, "{");
}

void json_end_object(JsonWriter *w) {
        base_json_end(w, "}");
}

void json_begin_list(JsonWriter *w, const char *key) {
        base_json_begin(w, key, "[");
}

void json_end_list(JsonWriter *w) {
        base_json_end(w, "]");
}

void json_write_null(JsonWriter *w, const char *key) {
        begin_value(w, key);
        base_json_put_text(w, "null");
}

void json_write_string(JsonWriter *w, const char *key, const char *value) {
        if (!value) {
                json_write_null(w, key);
                return;
        }
        begin_value(w, key);
        base_json_put_quoted(w, value);
}

void json_write_integer(JsonWriter *w, const char *key, int64_t value) {
        char text[32];

        begin_value(w, key);
        (void) snprintf(text, sizeof(text), "%" PRId64, value);
        base_json_put_text(w, text);
}

void json_write_bool(JsonWriter *w, const char *key, bool value) {
        begin_value(w, key);
        base_json_put_text(w, value ? "true" : "false");
}

void json_write_thousandths(JsonWriter *w, const char *key, uint64_t value) {
        char text[48];

        begin_value(w, key);
        (void) snprintf(text, sizeof(text), "%" PRIu64 ".%03u", value / 1000, (unsigned) (value % 1000));
        base_json_put_text(w, text);
}

int json_finish(JsonWriter *w, int fd) {
        int r;

        base_json_put_text(w, "\n");
        r = w->error ? w->error : fd_write_all(fd, w->data, w->size);
        free(w->data);
        *w = (JsonWriter) { 0 };
        return r;
}
