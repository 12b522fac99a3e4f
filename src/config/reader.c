/* reader.c: collects complaints, and guesses the name that was meant. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "config/shape.h"

#define COMPLAINTS_MAX 100

typedef struct Complaint {
        YamlPlace place;
        unsigned order; /* for complaints about the same place */
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

void yaml_complain_at(const YamlValue *v, YamlPlace place, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        if (text)
                reader_complain(v->reader, place, "'%s' in %s%s", v->field->name, v->where, text);
        else
                reader_fail(v->reader, -ENOMEM);
}
