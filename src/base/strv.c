#include "base/strv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

void strv_done(Strv *v) {
        for (size_t i = 0; i < v->n; i++)
                free(v->items[i]);
        free(v->items);
        v->items = NULL;
        v->n = v->room = 0;
}

int strv_push_take(Strv *v, char *text) {
        if (v->n >= v->max)
                return -E2BIG;
        if (ARRAY_RESERVE(v->items, v->room, v->n + 2) < 0)
                return -ENOMEM;
        v->items[v->n++] = text;
        v->items[v->n] = NULL;
        return 0;
}

int strv_push(Strv *v, const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        int r;

        if (!copy)
                return -ENOMEM;
        r = strv_push_take(v, copy);
        if (r < 0)
                return r;
        TAKE_PTR(copy);
        return 0;
}

int strv_push_all(Strv *v, const char *const *texts) {
        int r = 0;

        for (; texts && *texts && r >= 0; texts++)
                r = strv_push(v, *texts);
        return r;
}

int strv_extend(Strv *v, const Strv *more) {
        int r = 0;

        for (size_t i = 0; more && i < more->n && r >= 0; i++)
                r = strv_push(v, more->items[i]);
        return r;
}

static size_t strv_name_length(const char *assignment) {
        return strcspn(assignment, "=");
}

int strv_set_env(Strv *v, const char *assignment) {
        size_t n = strv_name_length(assignment);

        for (size_t i = 0; i < v->n; i++)
                if (strv_name_length(v->items[i]) == n && memcmp(v->items[i], assignment, n) == 0) {
                        char *copy = strdup(assignment);
                        if (!copy)
                                return -ENOMEM;
                        free(v->items[i]);
                        v->items[i] = copy;
                        return 0;
                }
        return strv_push(v, assignment);
}

const char *strv_get_env(const Strv *v, const char *name) {
        size_t n = strlen(name);

        for (size_t i = 0; i < v->n; i++)
                if (strncmp(v->items[i], name, n) == 0 && v->items[i][n] == '=')
                        return v->items[i] + n + 1;
        return NULL;
}

static const char cut_mark[] = "…";

void strv_cut(Strv *v, size_t bytes) {
        size_t i = 0, left = bytes, size;
        char *cut, **items;

        for (; i < v->n && strlen(v->items[i]) + STRV_EACH <= left; i++)
                left -= strlen(v->items[i]) + STRV_EACH;
        if (i == v->n)
                return;
        size = left > STRV_EACH ? MIN_OF(left - STRV_EACH, strlen(v->items[i])) : 0;
        while (size > 0 && ((unsigned char) v->items[i][size] & 0xc0) == 0x80)
                size--; /* not within a character */
        cut = malloc(size + sizeof(cut_mark));
        if (cut) {
                memcpy(cut, v->items[i], size);
                memcpy(cut + size, cut_mark, sizeof(cut_mark));
                free(v->items[i]);
                v->items[i++] = cut;
        }
        for (size_t k = i; k < v->n; k++)
                free(v->items[k]);
        v->items[i] = NULL;
        v->n = i;
        items = realloc(v->items, (i + 1) * sizeof(*items));
        if (items) {
                v->items = items;
                v->room = i + 1;
        }
}
