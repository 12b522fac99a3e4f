/* Any line of a driver: it becomes an event that surfaces may count on, or is none. Values that must be hidden are not in it. Any text survives being put into a request. */
#include "fuzz.h"

#include "context/internal.h"
#include "core/mask.h"

static void check_event(const json_t *event, const Mask *mask) {
        const char *type = json_string_value(json_object_get(event, "type"));
        char *text = json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII);

        MUST(type && text && !strchr(text, '\n'));
        if (strcmp(type, "result") == 0)
                MUST(json_is_object(json_object_get(event, "extra")) && json_is_boolean(json_object_get(event, "is_main_result")));
        if (strcmp(type, "error") == 0)
                MUST(json_is_string(json_object_get(event, "name")) && json_is_string(json_object_get(event, "value")) &&
                                json_is_string(json_object_get(event, "traceback")));
        if (strcmp(type, "stdout") == 0 || strcmp(type, "stderr") == 0) {
                const json_t *said = json_object_get(event, "text");

                MUST(json_is_string(said) && json_is_string(json_object_get(event, "timestamp")));
                MUST(!mask || !memmem(json_string_value(said), json_string_length(said), "sesame", 6));
        }
        free(text);
}

static void check_line(const char *line, size_t size, const Mask *mask) {
        json_t *event = NULL;
        uint64_t run;

        if (context_event_read(line, size, mask, &event, &run) < 0) {
                MUST(!event);
                return;
        }
        check_event(event, mask);
        json_decref(event);
}

/* What a driver does: the three escapes, and nothing else. */
static void check_request(const char *text) {
        Text t = TEXT_INIT((size_t) 64 << 20);
        size_t at = 0;

        MUST(context_request_put(&t, text) >= 0);
        MUST(t.size == 0 || (!memchr(t.data, '\n', t.size) && !memchr(t.data, CONTEXT_SEPARATOR, t.size)));
        for (size_t i = 0; i < t.size; at++) {
                char c = t.data[i++];

                if (c == '\\') {
                        c = t.data[i++];
                        if (c == 'n')
                                c = '\n';
                        else if (c == '0') {
                                MUST(i + 3 <= t.size && memcmp(t.data + i, "036", 3) == 0);
                                i += 3;
                                c = CONTEXT_SEPARATOR;
                        } else
                                MUST(c == '\\');
                }
                MUST(text[at] == c);
        }
        MUST(text[at] == '\0');
        text_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = fuzz_string(data, size);
        Mask *mask = mask_new();

        MUST(mask && mask_add(mask, "sesame", 6) >= 0);
        check_line(text, size, NULL);
        check_line(text, size, mask);
        check_request(text);
        mask_unref(mask);
        free(text);
        return 0;
}
