#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/text.h"

#define JSON_WRITTEN_MAX ((size_t) 1 << 30)

static void base_json_put(JsonWriter *w, const char *text, size_t n) {
        w->out.max = JSON_WRITTEN_MAX; /* writers begin as zeros */
        text_put(&w->out, text, n);
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

static void base_json_put_quoted(JsonWriter *w, const char *text) {
        base_json_put_text(w, "\"");
        for (const unsigned char *p = (const unsigned char *) text; *p;) {
                char escape[8];
                int n;

                if (*p == '"' || *p == '\\') {
                        (void) snprintf(escape, sizeof(escape), "\\%c", *p++);
                        base_json_put_text(w, escape);
                } else if (*p < 0x20) {
                        (void) snprintf(escape, sizeof(escape), "\\u%04x", *p++);
                        base_json_put_text(w, escape);
                } else if (*p < 0x80)
                        base_json_put(w, (const char *) p++, 1);
                else if ((n = utf8_length(p, strnlen((const char *) p, 4))) > 0) {
                        base_json_put(w, (const char *) p, (size_t) n);
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
        r = w->out.error < 0 ? w->out.error : fd_write_all(fd, w->out.data, w->out.size);
        json_discard(w);
        return r;
}

void json_discard(JsonWriter *w) {
        text_done(&w->out);
        *w = (JsonWriter) { 0 };
}
