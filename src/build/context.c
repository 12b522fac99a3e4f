#include "build/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"

#define MEMBERS_MAX 400000 /* including the directories that names imply */
#define FILES_MAX   16
#define NO_HASH     "-"

BuildContext *context_free(BuildContext *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->n; i++) {
                free(c->members[i].path);
                free(c->members[i].target);
        }
        free(c->members);
        for (size_t i = 0; i < c->n_files; i++) {
                free(c->files[i].path);
                free(c->files[i].data);
        }
        free(c->files);
        free(c->text);
        free(c);
        return NULL;
}

typedef struct ContextSurvey {
        BuildContext *c;
        const char *p, *end;
        size_t room;
} ContextSurvey;

static const char *take_string(ContextSurvey *s) {
        const char *text = s->p, *nul = memchr(s->p, '\0', (size_t) (s->end - s->p));

        if (!nul)
                return NULL;
        s->p = nul + 1;
        return text;
}

static int context_add(ContextSurvey *s, const ContextMember *m, const char *path, const char *target) {
        BuildContext *c = s->c;

        if (c->n >= MEMBERS_MAX)
                return -E2BIG;
        if (ARRAY_RESERVE(c->members, s->room, c->n + 1) < 0)
                return -ENOMEM;
        c->members[c->n] = *m;
        c->members[c->n].path = strdup(path);
        c->members[c->n].target = strdup(target);
        if (!c->members[c->n].path || !c->members[c->n].target) {
                free(c->members[c->n].path);
                free(c->members[c->n].target);
                return -ENOMEM;
        }
        c->n++;
        return 0;
}

/* "f 644 12 - HASH" */
static int read_member(ContextSurvey *s, const char *line) {
        const char *path = take_string(s), *target = path ? take_string(s) : NULL;
        unsigned long long size;
        ContextMember m = { 0 };
        char flag;
        int hash = 0;

        if (!target || sscanf(line, "%c %o %llu %c %n", &m.type, &m.mode, &size, &flag, &hash) != 4 || hash == 0 || !strchr("fdlh", m.type))
                return -EBADMSG;
        m.size = size;
        m.archive = flag == 't';
        m.ignored = flag == 'i';
        m.hash = line + hash;
        if (*path == '\0' || (strcmp(m.hash, NO_HASH) != 0 && strlen(m.hash) != CONTEXT_HASH_HEX - 1))
                return -EBADMSG;
        return context_add(s, &m, path, target);
}

/* "= SIZE" */
static int context_read_file(ContextSurvey *s, const char *line) {
        const char *path = take_string(s);
        BuildContext *c = s->c;
        ContextFile *f;
        uint64_t size;

        if (!path || parse_uint64(line + 2, 0, (uint64_t) (s->end - s->p), &size) < 0 || size == (uint64_t) (s->end - s->p) ||
                        c->n_files >= FILES_MAX)
                return -EBADMSG;
        if (ARRAY_EXTEND(c->files, c->n_files) < 0)
                return -ENOMEM;
        f = c->files + c->n_files;
        *f = (ContextFile) { .path = strdup(path), .data = malloc(size + 1), .size = (size_t) size };
        if (!f->path || !f->data) {
                free(f->path);
                free(f->data);
                return -ENOMEM;
        }
        memcpy(f->data, s->p, size);
        f->data[size] = '\0';
        c->n_files++;
        s->p += size + 1;
        return 0;
}

static int context_compare(const void *a, const void *b) {
        return strcmp(((const ContextMember *) a)->path, ((const ContextMember *) b)->path);
}

const ContextMember *build_context_find(const BuildContext *c, const char *path) {
        const ContextMember key = { .path = (char *) path };

        return c->n > 0 ? bsearch(&key, c->members, c->n, sizeof(key), context_compare) : NULL;
}

/* Index of the first member whose path is not less than `text`. */
static size_t lower_bound(const BuildContext *c, const char *text) {
        size_t low = 0, high = c->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(c->members[middle].path, text) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

size_t context_below(const BuildContext *c, const char *directory, size_t *ret_n) {
        char from[4096 + 2], to[4096 + 2];
        size_t first = 0, last = c->n, n = strlen(directory);

        if (n > 0) {
                (void) snprintf(from, sizeof(from), "%s/", directory);
                (void) snprintf(to, sizeof(to), "%s0", directory); /* '0' is the character after '/' */
                first = lower_bound(c, from);
                last = lower_bound(c, to);
        }
        *ret_n = last - first;
        return first;
}

/* Of members with the same name the last one counts, as it does when they are unpacked. */
static void sort_members(BuildContext *c) {
        size_t kept = 0;

        if (c->n == 0)
                return;
        qsort(c->members, c->n, sizeof(*c->members), context_compare);
        for (size_t i = 1; i < c->n; i++) {
                if (strcmp(c->members[kept].path, c->members[i].path) != 0) {
                        c->members[++kept] = c->members[i];
                        continue;
                }
                /* The order of these two is lost. Anything else replaces a directory, which a name may only
                 * have implied. */
                if (c->members[i].type == 'd') {
                        free(c->members[i].path);
                        free(c->members[i].target);
                        continue;
                }
                free(c->members[kept].path);
                free(c->members[kept].target);
                c->members[kept] = c->members[i];
        }
        c->n = kept + 1;
}

static bool same_directory(const char *a, const char *b) {
        const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
        size_t n = x ? (size_t) (x - a) : 0;

        return n == (y ? (size_t) (y - b) : 0) && memcmp(a, b, n) == 0;
}

static int add_parents(ContextSurvey *s) {
        const size_t n = s->c->n;

        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *path = NULL;

                if (i > 0 && same_directory(s->c->members[i - 1].path, s->c->members[i].path))
                        continue;
                path = strdup(s->c->members[i].path);
                if (!path)
                        return -ENOMEM;
                for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
                        const ContextMember directory = { .type = 'd', .mode = 0755, .hash = NO_HASH };
                        const ContextMember key = { .path = path };
                        int r;

                        *slash = '\0';
                        if (bsearch(&key, s->c->members, n, sizeof(key), context_compare))
                                break;
                        r = context_add(s, &directory, path, "");
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int read_survey(ContextSurvey *s) {
        for (;;) {
                const char *line = take_string(s);
                uint64_t count;
                int r;

                if (!line)
                        return -EBADMSG;
                if (line[0] == '.' && line[1] == ' ')
                        return parse_uint64(line + 2, s->c->n, s->c->n, &count) < 0 || s->p != s->end ? -EBADMSG : 0;
                r = line[0] == '=' && line[1] == ' ' ? context_read_file(s, line) : read_member(s, line);
                if (r < 0)
                        return r;
        }
}

int context_parse(char *text, size_t size, BuildContext **ret, Error *reterr) {
        _cleanup_context_ BuildContext *c = calloc(1, sizeof(*c));
        ContextSurvey s = { .c = c, .p = text, .end = text + size };
        int r;

        if (!c) {
                free(text);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        c->text = text;
        r = read_survey(&s);
        if (r >= 0) {
                sort_members(c);
                r = add_parents(&s);
                sort_members(c);
        }
        if (r < 0)
                return error_set(reterr, r, r == -EBADMSG ? "what the archive program has said about the context is cut off" :
                                r == -E2BIG ? "the context has too many files" : "out of memory");
        *ret = TAKE_PTR(c);
        return 0;
}

const ContextFile *context_file(const BuildContext *c, const char *path) {
        for (size_t i = 0; i < c->n_files; i++)
                if (strcmp(c->files[i].path, path) == 0)
                        return c->files + i;
        return NULL;
}
