/* types-text.c: words, lists of words, and what must not be printed. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "config/schema.h"

#define TEXT_MOST   4096
#define SECRET_MOST 65536
#define SECRET_SHOWN "(set)"

static void types_text_replace(Reader *r, char **target, char *value) {
        if (!value) {
                reader_fail(r, -ENOMEM);
                return;
        }
        free(*target);
        *target = value;
}

/* NULL: complained. */
static const char *read_bounded(Reader *r, const Field *f, const YamlNode *v, const char *where) {
        const char *text = read_text(r, f, v, where);
        size_t n = text ? strlen(text) : 0, most = f->max > 0 ? (size_t) f->max : TEXT_MOST;

        if (text && n == 0) {
                reader_complain(r, v->place, "'%s' in %s must not be empty", f->name, where);
                return NULL;
        }
        if (n > most) {
                reader_complain(r, v->place, "'%s' in %s has %zu bytes, may have %zu", f->name, where, n, most);
                return NULL;
        }
        return text;
}

static void parse_text(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        const char *text = read_bounded(r, f, v, where);

        if (text)
                types_text_replace(r, field_at(f, target), strdup(text));
}

static json_t *show_text(const Field *f, const void *target) {
        const char *text = *(char **) field_at(f, target);

        return text ? json_text_or_null(text) : NULL;
}

static void types_text_parse_path(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        const char *text = read_bounded(r, f, v, where);
        char *path = NULL;
        int k;

        if (!text)
                return;
        k = path_normalize(text, &path);
        if (k == -ENOMEM)
                reader_fail(r, k);
        else if (k < 0)
                reader_complain(r, v->place, "'%s' in %s: '%.100s' must be an absolute path without '..'", f->name, where, text);
        else
                types_text_replace(r, field_at(f, target), path);
}

/* Secrets: the value itself, or where it lies. */

/* Not a pipe, which would keep the daemon waiting. Sets errno. */
static bool is_file(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return false;
        errno = EINVAL;
        return S_ISREG(st.st_mode);
}

static char *secret_from_file(Reader *r, const Field *f, const YamlNode *v, const char *where, const char *path) {
        char *text = NULL;
        int k;

        if (path[0] != '/') {
                reader_complain(r, v->place, "'%s' in %s: file:%.100s must be an absolute path", f->name, where, path);
                return NULL;
        }
        k = is_file(path) ? file_read_alloc(AT_FDCWD, path, SECRET_MOST, &text, NULL) : -errno;
        if (k < 0) {
                reader_complain(r, v->place, "'%s' in %s: cannot read '%.200s': %s", f->name, where, path, strerror(-k));
                return NULL;
        }
        text[strcspn(text, "\r\n")] = '\0';
        return text;
}

static char *secret_from_environment(Reader *r, const Field *f, const YamlNode *v, const char *where, const char *name) {
        const char *value = getenv(name);
        char *copy = NULL;

        if (!value)
                reader_complain(r, v->place, "'%s' in %s: there is no variable '%.100s' in the daemon's environment", f->name, where, name);
        else if (!(copy = strdup(value)))
                reader_fail(r, -ENOMEM);
        return copy;
}

static char *secret_as_written(Reader *r, const char *text) {
        char *copy = strdup(text);

        if (!copy)
                reader_fail(r, -ENOMEM);
        return copy;
}

char *read_secret(Reader *r, const Field *f, const YamlNode *v, const char *where) {
        const char *text = read_bounded(r, f, v, where);
        char *value;

        if (!text)
                return NULL;
        if (strstr(text, SECRET_SHOWN)) {
                reader_complain(r, v->place, "'%s' in %s: '" SECRET_SHOWN "' stands where a secret was not shown: write the value, "
                                "file:/PATH or env:NAME", f->name, where);
                return NULL;
        }
        if (strncmp(text, "file:", 5) == 0)
                value = secret_from_file(r, f, v, where, text + 5);
        else if (strncmp(text, "env:", 4) == 0)
                value = secret_from_environment(r, f, v, where, text + 4);
        else
                value = secret_as_written(r, text);
        if (value && !*value) {
                reader_complain(r, v->place, "'%s' in %s: %.200s is empty", f->name, where, text);
                free(value);
                return NULL;
        }
        return value;
}

static void parse_secret(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        char *value = read_secret(r, f, v, where);

        if (value)
                types_text_replace(r, field_at(f, target), value);
}

static json_t *show_secret(const Field *f, const void *target) {
        return *(char **) field_at(f, target) ? json_string(SECRET_SHOWN) : NULL;
}

/* Where it goes is shown, but not what lets one in: a name and password in front of the host, a path such as Slack's. */
static json_t *types_text_show_url(const Field *f, const void *target) {
        const char *url = *(char **) field_at(f, target), *host, *end, *at;

        if (!url)
                return NULL;
        host = strstr(url, "://");
        if (!host)
                return json_string(SECRET_SHOWN);
        host += 3;
        end = host + strcspn(host, "/?#");
        at = memrchr(host, '@', (size_t) (end - host));
        return json_sprintf("%.*s%s%.*s%s", (int) (host - url), url, at ? SECRET_SHOWN "@" : "", (int) (end - (at ? at + 1 : host)),
                        at ? at + 1 : host, strlen(end) > 1 ? "/" SECRET_SHOWN : end);
}

/* Names. */

bool name_is_good(const char *text) {
        if (!isalnum((unsigned char) text[0]))
                return false;
        for (; *text; text++)
                if (!isalnum((unsigned char) *text) && !strchr("_-.", *text))
                        return false;
        return true;
}

static void parse_name(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        const char *text = read_text(r, f, v, where);

        if (!text)
                return;
        if (strlen(text) >= f->room)
                reader_complain(r, v->place, "'%s' in %s has %zu bytes, may have %zu", f->name, where, strlen(text), f->room - 1);
        else if (!name_is_good(text))
                reader_complain(r, v->place, "'%s' in %s: '%.100s' is no name: letters, digits, '_', '-', '.'", f->name, where, text);
        else
                memcpy(field_at(f, target), text, strlen(text) + 1);
}

static json_t *types_text_show_name(const Field *f, const void *target) {
        const char *text = field_at(f, target);

        return *text ? json_string(text) : NULL;
}

/* The index of the word; -1: complained. */
static int types_text_read_word(Reader *r, const Field *f, const YamlNode *v, const char *where) {
        const char *text = read_text(r, f, v, where);
        char list[256] = "", guessed[128];
        Guess guess;

        if (!text)
                return -1;
        guess = guess_new(text);
        for (int i = 0; f->words[i]; i++) {
                size_t n = strlen(list);

                if (strcasecmp(f->words[i], text) == 0)
                        return i;
                guess_look(&guess, f->words[i]);
                (void) snprintf(list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", f->words[i]);
        }
        reader_complain(r, v->place, "'%s' in %s must be one of %s, not '%.100s'%s", f->name, where, list, text,
                        guess_text(&guess, guessed));
        return -1;
}

static void types_text_parse_word(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        int i = types_text_read_word(r, f, v, where);

        if (i >= 0)
                *(int *) field_at(f, target) = i; /* an enum */
}

static json_t *show_word(const Field *f, const void *target) {
        return json_string(f->words[*(int *) field_at(f, target)]);
}

static void parse_choice(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        int i = types_text_read_word(r, f, v, where);

        if (i >= 0)
                *(bool *) field_at(f, target) = i > 0;
}

static json_t *show_choice(const Field *f, const void *target) {
        return json_string(f->words[*(bool *) field_at(f, target)]);
}

/* Lists. */

static void types_text_push(Reader *r, const Field *f, const YamlNode *v, const char *where, Strv *list, const char *text) {
        int k = strv_push(list, text);

        if (k == -E2BIG)
                reader_complain(r, v->place, "'%s' in %s has more than %zu entries", f->name, where, list->max);
        else if (k < 0)
                reader_fail(r, k);
}

static void types_text_parse_strings(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Strv *list = field_at(f, target);

        if (v->kind == YAML_MAP || v->kind == YAML_EMPTY) {
                (void) read_text(r, f, v, where);
                return;
        }
        strv_done(list);
        if (v->kind == YAML_TEXT) {
                types_text_push(r, f, v, where, list, v->text);
                return;
        }
        for (const YamlNode *item = v->items; item; item = item->next)
                if (item->kind != YAML_TEXT)
                        reader_complain(r, item->place, "'%s' in %s: each entry must be a text", f->name, where);
                else
                        types_text_push(r, f, item, where, list, item->text);
}

static json_t *show_strings(const Field *f, const void *target) {
        const Strv *list = field_at(f, target);
        json_t *array = json_array();

        for (size_t i = 0; i < list->n; i++)
                (void) json_array_append_new(array, json_text_or_null(list->items[i]));
        return array;
}

/* NAME: value, on top of what is inherited. */
static void parse_env(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Strv *list = field_at(f, target);

        if (v->kind != YAML_MAP) {
                (void) read_text(r, f, v, where);
                if (v->kind == YAML_TEXT)
                        reader_complain(r, v->place, "'%s' in %s must be %s", f->name, where, f->type->words);
                return;
        }
        for (const YamlNode *item = v->items; item; item = item->next) {
                _cleanup_free_ char *assignment = NULL;
                int k;

                if (item->kind == YAML_LIST || item->kind == YAML_MAP || !*item->key || strchr(item->key, '=')) {
                        reader_complain(r, item->key_place, "'%s' in %s: '%.100s' must be a NAME with a text", f->name, where, item->key);
                        continue;
                }
                if (asprintf(&assignment, "%s=%s", item->key, item->kind == YAML_TEXT ? item->text : "") < 0) {
                        assignment = NULL;
                        reader_fail(r, -ENOMEM);
                        return;
                }
                k = strv_set_env(list, assignment);
                if (k == -E2BIG)
                        reader_complain(r, item->key_place, "'%s' in %s has more than %zu entries", f->name, where, list->max);
                else if (k < 0)
                        reader_fail(r, k);
        }
}

static json_t *show_pairs(const Strv *list, const char *separator, bool hide) {
        json_t *map = json_object();

        for (size_t i = 0; i < list->n; i++) {
                const char *at = strstr(list->items[i], separator);
                _cleanup_free_ char *name = strndup(list->items[i], (size_t) (at - list->items[i]));

                if (name)
                        (void) json_object_set_new(map, name, json_text_or_null(hide ? SECRET_SHOWN : at + strlen(separator)));
        }
        return map;
}

static json_t *show_env(const Field *f, const void *target) {
        return show_pairs(field_at(f, target), "=", /* hide= */ false);
}

static bool is_header_name(const char *text) {
        if (!*text)
                return false;
        for (; *text; text++)
                if (!isalnum((unsigned char) *text) && !strchr("-_", *text))
                        return false;
        return true;
}

/* Each may be what lets one in. */
static void parse_headers(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Strv *list = field_at(f, target);

        if (v->kind != YAML_MAP) {
                (void) read_text(r, f, v, where);
                if (v->kind == YAML_TEXT)
                        reader_complain(r, v->place, "'%s' in %s must be %s", f->name, where, f->type->words);
                return;
        }
        strv_done(list);
        for (const YamlNode *item = v->items; item; item = item->next) {
                _cleanup_free_ char *value = NULL, *line = NULL;

                if (!is_header_name(item->key)) {
                        reader_complain(r, item->key_place, "'%s' in %s: '%.100s' is no header's name", f->name, where, item->key);
                        continue;
                }
                value = read_secret(r, f, item, where);
                if (!value)
                        continue;
                if (strpbrk(value, "\r\n"))
                        reader_complain(r, item->place, "'%s' in %s: a header is one line", f->name, where);
                else if (asprintf(&line, "%s: %s", item->key, value) < 0) {
                        line = NULL;
                        reader_fail(r, -ENOMEM);
                } else
                        types_text_push(r, f, item, where, list, line);
        }
}

static json_t *show_headers(const Field *f, const void *target) {
        return show_pairs(field_at(f, target), ": ", /* hide= */ true);
}

const FieldType type_text = { "a text", parse_text, show_text, NULL };
const FieldType type_path = { "an absolute path", types_text_parse_path, show_text, NULL };
const FieldType type_secret = { "a secret: its value, file:/PATH or env:NAME", parse_secret, show_secret, NULL };
const FieldType type_url = { "a URL: itself, file:/PATH or env:NAME", parse_secret, types_text_show_url, NULL };
const FieldType type_name = { "a name", parse_name, types_text_show_name, NULL };
const FieldType type_word = { "a word", types_text_parse_word, show_word, NULL };
const FieldType type_choice = { "a word", parse_choice, show_choice, NULL };
const FieldType type_strings = { "a list of texts", types_text_parse_strings, show_strings, NULL };
const FieldType type_env = { "a map of NAME: value", parse_env, show_env, NULL };
const FieldType type_headers = { "a map of Name: value", parse_headers, show_headers, NULL };
