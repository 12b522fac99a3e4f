/* json.c: values and text. */

#include "json/json.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define PRINT_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

json_t *json_utf8(const void *data, size_t size) {
        return json_stringn(data, size);
}

json_t *json_base64(const void *data, size_t size) {
        _cleanup_free_ char *text = malloc(BASE64_SIZE(size) + 1);

        if (!text)
                return NULL;
        base64_encode(data, size, text);
        return json_stringn_nocheck(text, BASE64_SIZE(size));
}

json_t *json_time(uint64_t usec) {
        time_t seconds = (time_t) (usec / USEC_PER_SEC);
        char text[64];
        struct tm tm;
        size_t n;

        if (usec == 0 || !gmtime_r(&seconds, &tm))
                return json_null();
        n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
        n += (size_t) snprintf(text + n, sizeof(text) - n, ".%03uZ", (unsigned) (usec % USEC_PER_SEC / USEC_PER_MSEC));
        return json_stringn_nocheck(text, n);
}

/* Texts may come from anywhere: bytes that are not UTF-8 are replaced. */
static json_t *json_lossy(const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        char *p = copy, *end;

        if (!copy)
                return NULL;
        end = copy + strlen(copy);
        while (p < end) {
                bool cut;

                p += utf8_prefix(p, (size_t) (end - p), &cut);
                if (p < end)
                        *p++ = '?';
        }
        return json_stringn_nocheck(copy, (size_t) (end - copy));
}

json_t *json_text_or_null(const char *text) {
        json_t *j;

        if (!text)
                return json_null();
        j = json_string(text);
        return j ? j : json_lossy(text);
}

json_t *json_signal(int number) {
        const char *name = number > 0 ? sigabbrev_np(number) : NULL;

        if (number <= 0)
                return json_null();
        return name ? json_sprintf("SIG%s", name) : json_sprintf("SIG%d", number); /* real-time ones have no name */
}

static int json_put_piece(const char *data, size_t size, void *userdata) {
        Text *t = userdata;

        text_put(t, data, size);
        return t->error < 0 ? -1 : 0;
}

int json_put(Text *t, json_t *j) {
        if (t->error == 0 && (!j || json_dump_callback(j, json_put_piece, t, PRINT_FLAGS) < 0) && t->error == 0)
                t->error = -ENOMEM;
        return t->error;
}

char *json_print(json_t *j, size_t *ret_size) {
        _cleanup_text_ Text t = TEXT_INIT(SIZE_MAX / 2);

        (void) json_put(&t, j);
        text_put(&t, "\n", sizeof("\n")); /* with its NUL */
        if (t.error < 0)
                return NULL;
        *ret_size = t.size - 1;
        return TAKE_PTR(t.data);
}

size_t json_count_values(const char *text, size_t size) {
        bool quoted = false;
        size_t n = 0;

        for (size_t i = 0; i < size; i++) {
                if (quoted && text[i] == '\\')
                        i++;
                else if (text[i] == '"')
                        quoted = !quoted;
                else if (!quoted && (text[i] == '{' || text[i] == '[' || text[i] == ','))
                        n++;
        }
        return n;
}
