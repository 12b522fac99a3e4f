/* shape-text.c: values that are texts, secrets, names, words, and lists of texts. */

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
#include "config/shape-internal.h"

#define TEXT_MOST   4096
#define SECRET_MOST 65536

/* Replaces the previous text. NULL: no memory. */
static void yaml_take_text(const YamlValue *v, char *text) {
        char **at = shape_at(v->field, v->object);

        if (!text) {
                reader_fail(v->reader, -ENOMEM);
                return;
        }
        free(*at);
        *at = text;
}

/* NULL: a complaint was added. */
static const char *yaml_bounded_text(const YamlValue *v) {
        const char *text = yaml_text(v);
        size_t n = text ? strlen(text) : 0, most = v->field->max > 0 ? (size_t) v->field->max : TEXT_MOST;

        if (text && n == 0) {
                yaml_complain(v, " must not be empty");
                return NULL;
        }
        if (n > most) {
                yaml_complain(v, " has %zu bytes, may have %zu", n, most);
                return NULL;
        }
        return text;
}

static void yaml_read_path(const YamlValue *v) {
        const char *text = yaml_bounded_text(v);
        char *path = NULL;
        int k;

        if (!text)
                return;
        k = path_normalize(text, &path);
        if (k < 0 && k != -ENOMEM)
                yaml_complain(v, ": '%.100s' must be an absolute path without '..'", text);
        else
                yaml_take_text(v, path);
}

/* Secrets: the value itself, or where to read it. */

/* Refuses pipes, which would block the daemon. Sets errno. */
static bool is_file(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return false;
        errno = EINVAL;
        return S_ISREG(st.st_mode);
}

static char *secret_from_file(const YamlValue *v, const char *path) {
        char *text = NULL;
        int k;

        if (path[0] != '/') {
                yaml_complain(v, ": file:%.100s must be an absolute path", path);
                return NULL;
        }
        k = is_file(path) ? file_read_alloc(AT_FDCWD, path, SECRET_MOST, &text, NULL) : -errno;
        if (k < 0) {
                yaml_complain(v, ": cannot read '%.200s': %s", path, strerror(-k));
                return NULL;
        }
        text[strcspn(text, "\r\n")] = '\0';
        return text;
}

static char *secret_copy(const YamlValue *v, const char *text) {
        char *copy = strdup(text);

        if (!copy)
                reader_fail(v->reader, -ENOMEM);
        return copy;
}

static char *secret_from_environment(const YamlValue *v, const char *name) {
        const char *value = getenv(name);

        if (value)
                return secret_copy(v, value);
        yaml_complain(v, ": there is no variable '%.100s' in the daemon's environment", name);
        return NULL;
}

char *yaml_secret(const YamlValue *v) {
        const char *text = yaml_bounded_text(v);
        char *value;

        if (!text)
                return NULL;
        if (strstr(text, SECRET_SHOWN)) {
                yaml_complain(v, ": '" SECRET_SHOWN "' stands where a secret was not shown: write the value, file:/PATH or env:NAME");
                return NULL;
        }
        if (strncmp(text, "file:", 5) == 0)
                value = secret_from_file(v, text + 5);
        else if (strncmp(text, "env:", 4) == 0)
                value = secret_from_environment(v, text + 4);
        else
                value = secret_copy(v, text);
        if (value && !*value) {
                yaml_complain(v, ": %.200s is empty", text);
                free(value);
                return NULL;
        }
        return value;
}

void yaml_read_text(const YamlValue *v) {
        bool secret = v->field->flags & SHAPE_SECRET;
        const char *text = secret ? NULL : yaml_bounded_text(v);
        char *value = secret ? yaml_secret(v) : text ? strdup(text) : NULL;

        if (value || text)
                yaml_take_text(v, value);
}

/* Shows the host, but no credentials: a name and password before the host, or a path such as Slack's. */
static json_t *yaml_show_url(const ShapeField *f, const void *object) {
        const char *url = *(char **) shape_at(f, object), *host, *end, *at;

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

bool yaml_is_name(const char *text) {
        if (!isalnum((unsigned char) text[0]))
                return false;
        for (; *text; text++)
                if (!isalnum((unsigned char) *text) && !strchr("_-.", *text))
                        return false;
        return true;
}

void yaml_read_name(const YamlValue *v) {
        const char *text = yaml_text(v);

        if (!text)
                return;
        if (strlen(text) >= v->field->size)
                yaml_complain(v, " has %zu bytes, may have %zu", strlen(text), v->field->size - 1);
        else if (!yaml_is_name(text))
                yaml_complain(v, ": '%.100s' is no name: letters, digits, '_', '-', '.'", text);
        else
                memcpy(shape_at(v->field, v->object), text, strlen(text) + 1);
}

void yaml_read_word(const YamlValue *v) {
        const ShapeNames *names = v->field->names;
        const char *text = yaml_text(v);
        char list[256] = "", guessed[128];
        Guess guess;

        if (!text)
                return;
        guess = guess_new(text);
        for (int i = 0; i < names->max; i++) {
                const char *name = shape_name(names, i);
                size_t n = strlen(list);

                if (strcasecmp(name, text) == 0) {
                        (void) shape_set(v->field, v->object, i);
                        return;
                }
                guess_look(&guess, name);
                (void) snprintf(list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", name);
        }
        yaml_complain(v, " must be one of %s, not '%.100s'%s", list, text, guess_text(&guess, guessed));
}

/* Lists. */

static void yaml_note_push(const YamlValue *v, const Strv *list, YamlPlace place, int k, const char *full) {
        if (k == -E2BIG)
                yaml_complain_at(v, place, " %s %zu entries", full, list->max);
        else if (k < 0)
                reader_fail(v->reader, k);
}

void yaml_push(const YamlValue *v, Strv *list, const char *text, const char *full) {
        yaml_note_push(v, list, v->node->place, strv_push(list, text), full);
}

void yaml_read_entries(const YamlValue *v, void (*entry)(const YamlValue *v, Strv *list)) {
        Strv *list = shape_at(v->field, v->object);

        if (v->node->kind == YAML_MAP || v->node->kind == YAML_EMPTY) {
                (void) yaml_text(v);
                return;
        }
        strv_done(list);
        if (v->node->kind == YAML_TEXT)
                entry(v, list);
        for (const YamlNode *node = v->node->items; node; node = node->next) {
                YamlValue item = { v->reader, v->field, node, v->where, v->object };

                if (node->kind == YAML_TEXT)
                        entry(&item, list);
                else
                        yaml_complain(&item, ": each entry must be a text");
        }
}

static void yaml_string_entry(const YamlValue *v, Strv *list) {
        yaml_push(v, list, v->node->text, "has more than");
}

void yaml_read_strings(const YamlValue *v) {
        yaml_read_entries(v, yaml_string_entry);
}

/* Maps of texts. */
static void yaml_read_pairs(const YamlValue *v, void (*entry)(const YamlValue *v, Strv *list)) {
        if (v->node->kind == YAML_TEXT)
                yaml_complain(v, " must be %s", yaml_words(v->field));
        else if (v->node->kind != YAML_MAP)
                (void) yaml_text(v);
        for (const YamlNode *node = v->node->kind == YAML_MAP ? v->node->items : NULL; node; node = node->next)
                entry(&(YamlValue) { v->reader, v->field, node, v->where, v->object }, shape_at(v->field, v->object));
}

static void yaml_env_entry(const YamlValue *v, Strv *list) {
        const YamlNode *node = v->node;
        _cleanup_free_ char *assignment = NULL;

        if (node->kind == YAML_LIST || node->kind == YAML_MAP || !*node->key || strchr(node->key, '=')) {
                yaml_complain_at(v, node->key_place, ": '%.100s' must be a NAME with a text", node->key);
                return;
        }
        if (asprintf(&assignment, "%s=%s", node->key, node->kind == YAML_TEXT ? node->text : "") < 0) {
                assignment = NULL;
                reader_fail(v->reader, -ENOMEM);
                return;
        }
        yaml_note_push(v, list, node->key_place, strv_set_env(list, assignment), "has more than");
}

/* NAME: value, added to what is inherited. */
void yaml_read_env(const YamlValue *v) {
        yaml_read_pairs(v, yaml_env_entry);
}

static bool is_header_name(const char *text) {
        if (!*text)
                return false;
        for (; *text; text++)
                if (!isalnum((unsigned char) *text) && !strchr("-_", *text))
                        return false;
        return true;
}

/* Each value may be a credential. */
static void yaml_header_entry(const YamlValue *v, Strv *list) {
        _cleanup_free_ char *value = NULL, *line = NULL;

        if (!is_header_name(v->node->key)) {
                yaml_complain_at(v, v->node->key_place, ": '%.100s' is no header's name", v->node->key);
                return;
        }
        value = yaml_secret(v);
        if (!value)
                return;
        if (strpbrk(value, "\r\n"))
                yaml_complain(v, ": a header is one line");
        else if (asprintf(&line, "%s: %s", v->node->key, value) < 0) {
                line = NULL;
                reader_fail(v->reader, -ENOMEM);
        } else
                yaml_push(v, list, line, "has more than");
}

static void yaml_read_headers(const YamlValue *v) {
        if (v->node->kind == YAML_MAP)
                strv_done(shape_at(v->field, v->object));
        yaml_read_pairs(v, yaml_header_entry);
}

static json_t *yaml_show_headers(const ShapeField *f, const void *object) {
        const Strv *list = shape_at(f, object);
        json_t *map = json_object();

        for (size_t i = 0; i < list->n; i++) {
                _cleanup_free_ char *name = strndup(list->items[i], strcspn(list->items[i], ":"));

                if (name)
                        (void) json_object_set_new(map, name, json_string(SECRET_SHOWN));
        }
        return map;
}

const ShapeYaml yaml_path = { .words = "an absolute path", .parse = yaml_read_path };
const ShapeYaml yaml_url = { .words = "a URL: itself, file:/PATH or env:NAME", .show = yaml_show_url };
const ShapeYaml yaml_headers = { .words = "a map of Name: value", .parse = yaml_read_headers, .show = yaml_show_headers };
