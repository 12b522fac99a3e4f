/* Any body of a request: it is read, complained about, or refused; what was read keeps its bounds, and complaints can be printed. */
#include "fuzz.h"

#include <errno.h>

#include "json/json.h"
#include "base/clock.h"
#include "base/strv.h"

typedef struct Target {
        char *text, *object;
        bool flag;
        uint64_t large, bytes;
        uint32_t medium;
        uint16_t small;
        usec_t time;
        Strv env, list;
} Target;

static const JsonField inner[] = {
        { "memoryMB", json_field_megabytes, offsetof(Target, bytes),  JSON_NULLABLE, .min = 4, .max = 1024 },
        { "pids",     json_field_uint32,    offsetof(Target, medium), JSON_NULLABLE, .min = 1, .max = 512  },
};

static const JsonField fields[] = {
        { "name",           json_field_string,  offsetof(Target, text),   JSON_NULLABLE, .min = 1, .max = 63 },
        { "critical",       json_field_bool,    offsetof(Target, flag)                                       },
        { "outputBytes",    json_field_uint64,  offsetof(Target, large),  JSON_MANDATORY                     },
        { "cols",           json_field_uint16,  offsetof(Target, small),  .min = 1                           },
        { "timeoutSeconds", json_field_seconds, offsetof(Target, time),   .max = 1000                        },
        { "limits",         json_field_object,  0, .fields = inner, .n_fields = 2                            },
        { "env",            json_field_env,     offsetof(Target, env),    .max = 16                          },
        { "args",           json_field_strings, offsetof(Target, list),   .max = 16                          },
        { "metadata",       json_field_text,    offsetof(Target, object), .max = 256                         },
};

static void check_bounds(const Target *t) {
        MUST(!t->text || (strlen(t->text) >= 1 && strlen(t->text) <= 63));
        MUST(!t->object || (strlen(t->object) <= 256 && t->object[0] == '{'));
        MUST(t->large <= INT64_MAX && t->medium <= 512);
        MUST(t->bytes == 0 || (t->bytes >= (4 << 20) && t->bytes <= (1 << 30)));
        MUST(t->time <= 1000 * USEC_PER_SEC);
        MUST(t->env.n <= 16 && t->list.n <= 16);
        for (size_t i = 0; i < t->env.n; i++)
                MUST(strchr(t->env.items[i], '=') > t->env.items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        JsonComplaints c = { 0 };
        Error error = { 0 };
        Target t = { 0 };
        int r = json_read((const char *) data, size, fields, sizeof(fields) / sizeof(fields[0]), &t, &c, &error);

        MUST(r == 0 || r == -EBADMSG);
        MUST((r < 0) == (error.text[0] != '\0'));
        check_bounds(&t);
        if (json_has_complaints(&c)) {
                size_t n;
                char *text = json_print(c.list, &n);

                MUST(text && n == strlen(text));
                free(text);
        }
        json_complaints_done(&c);
        free(t.text);
        free(t.object);
        strv_done(&t.env);
        strv_done(&t.list);
        return 0;
}
