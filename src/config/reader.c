/* reader.c: from nodes to fields, with complaints. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "config/schema.h"

#define COMPLAINTS_MAX 100
#define WHERE_MAX      256

typedef struct Complaint {
        YamlPlace place;
        unsigned order; /* of two at the same place */
        char *text;
} Complaint;

void reader_complain(Reader *r, YamlPlace place, const char *format, ...) {
        Complaint *c;
        va_list ap;

        if (r->n_complaints >= COMPLAINTS_MAX)
                return;
        if (!r->complaints)
                r->complaints = calloc(COMPLAINTS_MAX, sizeof(*r->complaints));
        if (!r->complaints) {
                reader_fail(r, -ENOMEM);
                return;
        }
        c = r->complaints + r->n_complaints;
        va_start(ap, format);
        if (vasprintf(&c->text, format, ap) < 0)
                c->text = NULL;
        va_end(ap);
        if (!c->text) {
                reader_fail(r, -ENOMEM);
                return;
        }
        c->place = place;
        c->order = r->n_complaints++;
}

static int reader_compare(const void *a, const void *b) {
        const Complaint *x = a, *y = b;
        const unsigned left[] = { x->place.line, x->place.column, x->order }, right[] = { y->place.line, y->place.column, y->order };

        for (size_t i = 0; i < ELEMENTSOF(left); i++)
                if (left[i] != right[i])
                        return left[i] < right[i] ? -1 : 1;
        return 0;
}

int reader_tell(Reader *r, Error *reterr) {
        unsigned n = r->n_complaints;

        if (n > 0)
                qsort(r->complaints, n, sizeof(*r->complaints), reader_compare);
        for (unsigned i = 0; i < n; i++) {
                Complaint *c = r->complaints + i;
                char line[ERROR_TEXT_MAX * 2];

                (void) snprintf(line, sizeof(line), "%s:%u:%u: %s", r->file, c->place.line, c->place.column, c->text);
                free(c->text);
                if (i == 0)
                        (void) error_set(reterr, -EINVAL, "%s", line);
                if (r->complain && r->error == 0)
                        r->complain(line, r->userdata);
        }
        free(r->complaints);
        r->complaints = NULL;
        r->n_complaints = 0;
        if (r->error < 0)
                return error_set(reterr, r->error, "out of memory");
        return n > 0 ? -EINVAL : 0;
}

void reader_fail(Reader *r, int error) {
        if (r->error == 0)
                r->error = error;
}

Guess guess_new(const char *word) {
        return (Guess) { .word = word, .best = word_tolerance(word) };
}

void guess_look(Guess *g, const char *candidate) {
        if (word_is_nearer(g->word, candidate, &g->best))
                g->found = candidate;
}

const char *guess_text(const Guess *g, char ret[static 128]) {
        ret[0] = '\0';
        if (g->found)
                (void) snprintf(ret, 128, " (did you mean '%s'?)", g->found);
        return ret;
}

static const char *kind_words(YamlKind kind) {
        static const char *const words[] = {
                [YAML_EMPTY] = "nothing",
                [YAML_TEXT] = "a single value",
                [YAML_LIST] = "a list",
                [YAML_MAP] = "a map of keys",
        };

        return words[kind];
}

bool read_is(Reader *r, const YamlNode *v, YamlKind kind, const char *where) {
        if (v->kind != kind && v->kind != YAML_EMPTY)
                reader_complain(r, v->place, "%s must be %s, not %s", where, kind_words(kind), kind_words(v->kind));
        return v->kind == kind;
}

static void reader_complain_unknown(Reader *r, const Field *fields, const YamlNode *v, const char *where) {
        Guess guess = guess_new(v->key);
        char text[128];

        for (const Field *f = fields; f->name; f++)
                guess_look(&guess, f->name);
        reader_complain(r, v->key_place, "unknown key '%.100s' in %s%s", v->key, where, guess_text(&guess, text));
}

static const Field *reader_find(const Field *fields, const char *name) {
        for (; fields->name; fields++)
                if (strcmp(fields->name, name) == 0)
                        return fields;
        return NULL;
}

/* memoryMB and memory: which of the two would count? */
static void complain_twice(Reader *r, const Field *fields, const YamlNode *map, const char *where) {
        for (const Field *f = fields; f->name; f++)
                for (const Field *g = fields; g->name && f->flags & FIELD_ALIAS; g++) {
                        const YamlNode *one = yaml_tree_get(map, f->name), *other = yaml_tree_get(map, g->name);

                        if (f != g && one && other && f->offset == g->offset)
                                reader_complain(r, one->key_place, "'%s' and '%s' in %s say the same thing: keep one of them", f->name,
                                                g->name, where);
                }
}

void read_fields(Reader *r, const Field *fields, const YamlNode *map, const char *where, void *target) {
        if (!read_is(r, map, YAML_MAP, where))
                return;
        for (const YamlNode *v = map->items; v; v = v->next) {
                const Field *f = reader_find(fields, v->key);

                if (!f) {
                        reader_complain_unknown(r, fields, v, where);
                        continue;
                }
                f->type->parse(r, f, v, where, target);
                if (f->told > 0)
                        *(bool *) ((char *) target + f->told) = true;
        }
        complain_twice(r, fields, map, where);
}

json_t *show_fields(const Field *fields, const void *target) {
        json_t *map = json_object();

        for (const Field *f = fields; f->name && map; f++) {
                json_t *value;

                if (f->flags & FIELD_ALIAS)
                        continue;
                value = f->type->show(f, target);
                if (json_object_set_new(map, f->name, value ? value : json_null()) < 0) {
                        json_decref(map);
                        return NULL;
                }
        }
        return map;
}

static void section_parse(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        char place[WHERE_MAX];

        (void) snprintf(place, sizeof(place), "section %s", f->name);
        read_fields(r, f->fields, v, place, field_at(f, target));
}

static json_t *section_show(const Field *f, const void *target) {
        return show_fields(f->fields, field_at(f, target));
}

const FieldType type_section = { .words = "a map of keys", .parse = section_parse, .show = section_show };
