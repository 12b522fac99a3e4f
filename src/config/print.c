/* print.c: prints a Config as YAML and as JSON, from the tables. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"

#define PRINT_MAX      (16 << 20)
#define COMMENT_COLUMN 44
#define INDENT         2

typedef struct PrintPrinter {
        Text text;
        bool comments; /* adds a comment to each key, and keys without a value as examples */
        bool defaults; /* leaves out values that follow from others */
        bool example;  /* prints everything as a comment */
} PrintPrinter;

/* True if YAML reads the text without quotes as the same text, also within brackets. */
static bool print_is_plain(const char *s, bool flow) {
        if (!isalnum((unsigned char) s[0]) && s[0] != '/')
                return false;
        if (strcasecmp(s, "null") == 0)
                return false;
        for (; *s; s++)
                if (!isalnum((unsigned char) *s) && !strchr("_./@%+-", *s) && !(*s == ':' && !flow && s[1] && s[1] != ' '))
                        return false;
        return true;
}

/* Returns a character that JSON accepts unescaped and YAML does not, or takes for the end of a line. The input
 * is valid UTF-8. */
static unsigned strange_character(const unsigned char *s) {
        unsigned code;

        if (s[0] == 0x7f)
                return s[0];
        if (s[0] == 0xc2)
                return s[1] < 0xa0 ? s[1] : 0;
        if (s[0] != 0xe2 && s[0] != 0xef)
                return 0;
        code = (s[0] & 15U) << 12 | (s[1] & 63U) << 6 | (s[2] & 63U);
        return code == 0x2028 || code == 0x2029 || code == 0xfeff || code >= 0xfffe ? code : 0;
}

static void print_put_quoted(Text *t, const char *text) {
        _cleanup_text_ Text json = TEXT_INIT(PRINT_MAX);
        const char *end, *rest;

        text_quote_string(&json, text);
        text_put(&json, "", 1);
        if (json.error < 0) {
                t->error = json.error;
                return;
        }
        rest = end = json.data;
        while (*end) {
                unsigned code = strange_character((const unsigned char *) end);

                if (code == 0) {
                        end++;
                        continue;
                }
                text_put(t, rest, (size_t) (end - rest));
                text_format(t, "\\u%04x", code);
                end += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
                rest = end;
        }
        text_put_string(t, rest);
}

static void put_scalar(Text *t, const json_t *v, bool flow) {
        if (json_is_string(v) && print_is_plain(json_string_value(v), flow))
                text_put_string(t, json_string_value(v));
        else if (json_is_string(v))
                print_put_quoted(t, json_string_value(v));
        else if (json_is_integer(v))
                text_format(t, "%lld", (long long) json_integer_value(v));
        else if (json_is_real(v))
                text_format(t, "%.15g", json_real_value(v));
        else
                text_put_string(t, json_is_null(v) ? "null" : json_is_true(v) ? "true" : "false");
}

static void put_key(Text *t, const char *key) {
        if (print_is_plain(key, true))
                text_put_string(t, key);
        else
                print_put_quoted(t, key);
}

static void put_flow(Text *t, const json_t *v);

static void put_within(Text *t, const json_t *v) {
        if (json_is_array(v) || json_is_object(v))
                put_flow(t, v);
        else
                put_scalar(t, v, true);
}

/* Lists of words and maps of words, in brackets. */
static void put_flow(Text *t, const json_t *v) {
        const char *key, *separator = "";
        json_t *item;
        size_t i;

        if (json_is_array(v)) {
                text_put_string(t, "[");
                json_array_foreach(v, i, item) {
                        text_put_string(t, separator);
                        put_within(t, item);
                        separator = ", ";
                }
                text_put_string(t, "]");
                return;
        }
        text_put_string(t, "{");
        json_object_foreach((json_t *) (uintptr_t) v, key, item) {
                text_put_string(t, separator);
                put_key(t, key);
                text_put_string(t, ": ");
                put_within(t, item);
                separator = ", ";
        }
        text_put_string(t, "}");
}

static void print_put_value(Text *t, const json_t *v) {
        if (json_is_array(v) || json_is_object(v))
                put_flow(t, v);
        else
                put_scalar(t, v, false);
}

static void put_indent(PrintPrinter *p, unsigned depth) {
        text_format(&p->text, "%s%*s", p->example ? "# " : "", (int) (depth * INDENT), "");
}

static void print_end_line(PrintPrinter *p, size_t began, const char *help) {
        size_t width = p->text.size - began;

        if (p->comments && help)
                text_format(&p->text, "%*s# %s", (int) (width < COMMENT_COLUMN ? COMMENT_COLUMN - width : 1), "", help);
        text_put_string(&p->text, "\n");
}

static void print_put_line(PrintPrinter *p, unsigned depth, const char *key, const json_t *v, const char *help) {
        size_t began = p->text.size;

        put_indent(p, depth);
        put_key(&p->text, key);
        text_put_string(&p->text, ":");
        if (v) {
                text_put_string(&p->text, " ");
                print_put_value(&p->text, v);
        }
        print_end_line(p, began, help);
}

/* Prints an example for a key that has no value, or whose value follows from others. */
static void put_hint(PrintPrinter *p, unsigned depth, const ShapeField *f, const char *value) {
        size_t began = p->text.size;

        if (!p->comments)
                return;
        text_format(&p->text, "%s%*s%s%s: %s", p->example ? "# " : "", (int) (depth * INDENT), "", p->example ? "" : "# ", f->name,
                        value ? value : "…");
        print_end_line(p, began, f->help);
}

static void put_fields(PrintPrinter *p, const Shape *shape, const json_t *map, unsigned depth);

static void put_item(PrintPrinter *p, const ShapeField *f, const json_t *item, unsigned depth) {
        size_t began = p->text.size, place = began + depth * INDENT + (p->example ? 2 : 0);

        put_fields(p, f->shape, item, depth + 1);
        if (p->text.error == 0 && place < p->text.size)
                p->text.data[place] = '-'; /* before the first key of the item */
}

static void put_examples(PrintPrinter *p, const ShapeField *f, unsigned depth) {
        json_t *fresh = yaml_show_fresh(f);

        p->example = true;
        print_put_line(p, depth, f->name, NULL, NULL);
        if (!shape_key(f->shape))
                put_item(p, f, fresh, depth + 1);
        else {
                print_put_line(p, depth + 1, f->example, NULL, NULL);
                put_fields(p, f->shape, fresh, depth + 2);
        }
        p->example = false;
        json_decref(fresh);
}

/* Maps and lists of objects. Only the first one has comments. */
static void put_items(PrintPrinter *p, const ShapeField *f, const json_t *items, unsigned depth) {
        bool comments = p->comments;
        const char *key;
        json_t *item;
        size_t i;

        if (json_object_size(items) + json_array_size(items) == 0) {
                print_put_line(p, depth, f->name, items, f->help);
                if (comments)
                        put_examples(p, f, depth);
                return;
        }
        print_put_line(p, depth, f->name, NULL, f->help);
        json_array_foreach(items, i, item) {
                put_item(p, f, item, depth + 1);
        }
        json_object_foreach((json_t *) (uintptr_t) items, key, item) {
                print_put_line(p, depth + 1, key, NULL, NULL);
                put_fields(p, f->shape, item, depth + 2);
                p->comments = false;
        }
        p->comments = comments;
}

/* True for a map that is printed on several lines. */
static bool print_is_section(const ShapeField *f) {
        return f->kind == SHAPE_OBJECT && !f->yaml;
}

static void put_fields(PrintPrinter *p, const Shape *shape, const json_t *map, unsigned depth) {
        for (const ShapeField *f = shape->fields; f < shape->fields + shape->n_fields; f++) {
                const json_t *v = f->name ? json_object_get(map, f->name) : NULL;

                if (!f->name || f->flags & SHAPE_ALIAS)
                        continue;
                if (depth == 0 && p->comments)
                        text_put_string(&p->text, "\n");
                if (f->kind == SHAPE_LIST)
                        put_items(p, f, v, depth);
                else if (print_is_section(f)) {
                        print_put_line(p, depth, f->name, NULL, f->help);
                        put_fields(p, f->shape, v, depth + 1);
                } else if (!v || json_is_null(v) || (p->example && f->example))
                        put_hint(p, depth, f, f->example);
                else if (p->defaults && f->flags & SHAPE_DERIVED)
                        put_hint(p, depth, f, f->example);
                else
                        print_put_line(p, depth, f->name, v, f->help);
        }
}

static char *config_print_text(const Config *c, bool comments, const char *heading) {
        PrintPrinter p = { .text = TEXT_INIT(PRINT_MAX), .comments = comments, .defaults = comments };
        json_t *tree = yaml_show(&config_shape, c);

        if (!tree)
                return NULL;
        text_put_string(&p.text, heading);
        put_fields(&p, &config_shape, tree, 0);
        json_decref(tree);
        text_put(&p.text, "", 1);
        if (p.text.error < 0) {
                text_done(&p.text);
                return NULL;
        }
        return p.text.data;
}

char *config_print(const Config *c) {
        return config_print_text(c, /* comments= */ false, "");
}

char *config_print_commented(void) {
        static const char heading[] =
                        "# cove.yaml: configuration of coved. All values here are the defaults: keep the keys that you change.\n"
                        "#\n"
                        "# Read from /etc/cove/cove.yaml (root), ~/.config/cove/cove.yaml, or the file that --config names. `cove config check`\n"
                        "# checks it without a daemon; SIGHUP or `cove config reload` apply it to a running one.\n"
                        "# Times: 90s, 5m, 24h; a bare number is seconds (in pools: milliseconds). Sizes: 64MB, 1G; a bare number is bytes.\n"
                        "# Secrets: the value itself, file:/PATH or env:NAME. All keys: cove.yaml(5).\n";
        _cleanup_config_ Config *c = NULL;

        return config_defaults(&c) < 0 ? NULL : config_print_text(c, /* comments= */ true, heading);
}

char *config_print_json(const Config *c) {
        json_t *tree = yaml_show(&config_shape, c);
        size_t size;
        char *text = tree ? json_print(tree, &size) : NULL;

        json_decref(tree);
        return text;
}

/* The list of keys. */

static json_t *bound_text(const ShapeField *f, double bound) {
        char text[BOUND_MAX];

        return yaml_bound(f, bound, text) ? json_string(text) : json_null();
}

static void list_keys(json_t *list, const char *prefix, const Shape *shape, const json_t *defaults) {
        for (const ShapeField *f = shape->fields; f < shape->fields + shape->n_fields; f++) {
                const json_t *v = f->name ? json_object_get(defaults, f->name) : NULL;
                bool items = f->kind == SHAPE_LIST, nested = items || print_is_section(f);
                _cleanup_free_ char *key = NULL;

                if (!f->name)
                        continue;
                if (asprintf(&key, "%s%s%s%s", prefix, *prefix ? "." : "", f->name, !items ? "" : shape_key(f->shape) ? ".NAME" : "[]") < 0) {
                        key = NULL;
                        return;
                }
                (void) json_array_append_new(list, json_pack("{s:s,s:s,s:O?,s:o,s:o,s:s,s:b}", "key", key, "type", yaml_words(f),
                                "default", nested || f->flags & SHAPE_DERIVED ? NULL : v, "min", bound_text(f, f->min), "max",
                                f->max > 0 ? bound_text(f, f->max) : json_null(), "help", f->help, "alias", f->flags & SHAPE_ALIAS));
                if (nested) {
                        _cleanup_json_ json_t *fresh = items ? yaml_show_fresh(f) : json_incref((json_t *) (uintptr_t) v);

                        list_keys(list, key, f->shape, fresh);
                }
        }
}

char *config_print_keys(void) {
        _cleanup_config_ Config *c = NULL;
        _cleanup_json_ json_t *list = json_array(), *tree = NULL;
        size_t size;

        if (config_defaults(&c) < 0)
                return NULL;
        tree = yaml_show(&config_shape, c);
        list_keys(list, "", &config_shape, tree);
        return json_print(list, &size);
}
