/* Any body of a request: it is read, complained about, or refused; what was read keeps its bounds, and complaints can be printed. */
#include "fuzz.h"

#include <errno.h>

#include "json/shape.h"
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

static const ShapeField inner_fields[] = {
        { "memoryMB", SHAPE_UINT64, offsetof(Target, bytes),  SHAPE_NULLABLE, .min = 4, .max = 1024, .unit = SHAPE_MEGABYTES },
        { "pids",     SHAPE_UINT32, offsetof(Target, medium), SHAPE_NULLABLE, .min = 1, .max = 512                         },
};
static const Shape inner_shape = { .fields = inner_fields, .n_fields = sizeof(inner_fields) / sizeof(inner_fields[0]) };

static const ShapeField target_fields[] = {
        { "name",           SHAPE_TEXT,   offsetof(Target, text),   SHAPE_NULLABLE, .min = 1, .max = 63 },
        { "critical",       SHAPE_BOOL,   offsetof(Target, flag)                                        },
        { "outputBytes",    SHAPE_UINT64, offsetof(Target, large),  SHAPE_MANDATORY                     },
        { "cols",           SHAPE_UINT16, offsetof(Target, small),  .min = 1                            },
        { "timeoutSeconds", SHAPE_UINT64, offsetof(Target, time),   .max = 1000, .unit = SHAPE_SECONDS  },
        { "limits",         SHAPE_OBJECT, 0,                        .shape = &inner_shape      },
        { "env",            SHAPE_ENV,    offsetof(Target, env),    .max = 16                           },
        { "args",           SHAPE_STRV,   offsetof(Target, list),   .max = 16                           },
        { "metadata",       SHAPE_JSON,   offsetof(Target, object), .max = 256                          },
};
static const Shape target_shape = { .fields = target_fields, .n_fields = sizeof(target_fields) / sizeof(target_fields[0]) };

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
        int r = json_read((const char *) data, size, &target_shape, &t, &c, &error);

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
