/* diff.c: the differences between two configurations, in one line for a person. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"

#define CHANGES_SHOWN 8
#define LINE_MAX_SIZE 4096
#define VALUE_SHOWN   60

typedef struct Diff {
        Text text;
        unsigned n;
} Diff;

static void diff_put_value(Text *t, json_t *v) {
        _cleanup_text_ Text value = TEXT_INIT(LINE_MAX_SIZE);

        if (json_is_string(v))
                text_put_string(&value, json_string_value(v));
        else
                (void) json_put(&value, v);
        text_put(t, value.data, MIN_OF(value.size, (size_t) VALUE_SHOWN));
        if (value.size > VALUE_SHOWN)
                text_put_string(t, "…");
}

static void diff_add(Diff *d, const char *path, json_t *before, json_t *after) {
        if (d->n++ >= CHANGES_SHOWN)
                return;
        text_format(&d->text, "%s%.200s ", d->n > 1 ? ", " : "", path);
        if (!before || json_is_null(before)) {
                text_put_string(&d->text, "set");
                if (json_is_object(after))
                        return;
                text_put_string(&d->text, " to ");
                diff_put_value(&d->text, after);
        } else if (!after || json_is_null(after))
                text_put_string(&d->text, "gone");
        else {
                diff_put_value(&d->text, before);
                text_put_string(&d->text, " → ");
                diff_put_value(&d->text, after);
        }
}

static void diff_compare(Diff *d, const char *path, json_t *before, json_t *after) {
        const char *key;
        json_t *value;

        if (json_equal(before, after))
                return;
        if (!json_is_object(before) || !json_is_object(after)) {
                diff_add(d, path, before, after);
                return;
        }
        json_object_foreach(before, key, value) {
                _cleanup_free_ char *name = NULL;

                if (asprintf(&name, "%s%s%s", path, *path ? "." : "", key) < 0)
                        name = NULL;
                else
                        diff_compare(d, name, value, json_object_get(after, key));
        }
        json_object_foreach(after, key, value) {
                _cleanup_free_ char *name = NULL;

                if (json_object_get(before, key))
                        continue;
                if (asprintf(&name, "%s%s%s", path, *path ? "." : "", key) < 0)
                        name = NULL;
                else
                        diff_add(d, name, NULL, value);
        }
}

char *config_diff(const Config *before, const Config *after) {
        _cleanup_json_ json_t *a = yaml_show(&config_shape, before), *b = yaml_show(&config_shape, after);
        Diff d = { .text = TEXT_INIT(LINE_MAX_SIZE) };

        if (!a || !b)
                return NULL;
        diff_compare(&d, "", a, b);
        if (d.n == 0)
                text_put_string(&d.text, "nothing that is shown has changed"); /* secrets are not shown */
        if (d.n > CHANGES_SHOWN)
                text_format(&d.text, " and %u more", d.n - CHANGES_SHOWN);
        text_put(&d.text, "", 1);
        if (d.text.error < 0) {
                text_done(&d.text);
                return NULL;
        }
        return d.text.data;
}
