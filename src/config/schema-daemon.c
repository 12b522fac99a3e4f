/* schema-daemon.c: options of the daemon, which ConfigHooks.check_option checks. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/schema.h"

static bool is_option_name(const char *text) {
        return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

static void daemon_complain_unknown(Reader *r, const YamlNode *v) {
        Guess guess = guess_new(v->key);
        const char *name;
        char text[128];

        for (size_t i = 0; r->hooks->option_name && (name = r->hooks->option_name(i)); i++)
                guess_look(&guess, name);
        reader_complain(r, v->key_place, "unknown key '%.100s' in section daemon%s", v->key, guess_text(&guess, text));
}

/* False: the name is unknown, so that further values need not be checked. */
static bool daemon_take(Reader *r, const char *name, const YamlNode *v, const YamlNode *named, Strv *list) {
        char assignment[4096 + 128];
        Error error = { 0 };
        int k = 0;

        if (v->kind != YAML_TEXT || strlen(v->text) > 4096) {
                reader_complain(r, v->place, "'%s' in section daemon must be a single value, as on the command line", name);
                return true;
        }
        if (!is_option_name(name))
                k = -ENOENT;
        else if (r->hooks->check_option)
                k = r->hooks->check_option(name, v->text, &error);
        if (k == -ENOENT) {
                daemon_complain_unknown(r, named);
                return false;
        }
        if (k < 0) {
                reader_complain(r, v->place, "%s", error.text);
                return true;
        }
        (void) snprintf(assignment, sizeof(assignment), "%s=%s", name, v->text);
        k = strv_push(list, assignment);
        if (k == -E2BIG)
                reader_complain(r, v->place, "section daemon has more than %zu values", list->max);
        else if (k < 0)
                reader_fail(r, k);
        return true;
}

static void daemon_read(const YamlValue *v) {
        Strv *list = shape_at(v->field, v->object);

        if (!yaml_is(v->reader, v->node, YAML_MAP, "section daemon"))
                return;
        for (const YamlNode *option = v->node->items; option; option = option->next) {
                if (option->kind != YAML_LIST) {
                        (void) daemon_take(v->reader, option->key, option, option, list);
                        continue;
                }
                for (const YamlNode *item = option->items; item; item = item->next) /* given several times */
                        if (!daemon_take(v->reader, option->key, item, option, list))
                                break;
        }
}

/* A single value as a text, several values as a list. */
static json_t *daemon_show(const ShapeField *f, const void *object) {
        const Strv *list = shape_at(f, object);
        json_t *map = json_object();

        for (size_t i = 0; i < list->n; i++) {
                const char *equals = strchr(list->items[i], '=');
                _cleanup_free_ char *name = strndup(list->items[i], (size_t) (equals - list->items[i]));
                json_t *value = json_text_or_null(equals + 1), *before = name ? json_object_get(map, name) : NULL;

                if (!name)
                        json_decref(value);
                else if (!before)
                        (void) json_object_set_new(map, name, value);
                else if (json_is_array(before))
                        (void) json_array_append_new(before, value);
                else
                        (void) json_object_set_new(map, name, json_pack("[O,o]", before, value));
        }
        return map;
}

const ShapeYaml daemon_yaml = { .words = "a map of option: value", .parse = daemon_read, .show = daemon_show };
