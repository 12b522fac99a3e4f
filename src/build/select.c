/* select.c: selects the files of the context for a COPY, and their destinations. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ignore.h"
#include "base/word.h"
#include "build/context.h"
#include "core/secret.h"

#define LINKS_MAX    32
#define LOOKS_MAX    4000000 /* lookups of members in one COPY, repeated ones included: the daemon waits meanwhile */
#define LOOKS_COPY   4       /* lookups counted for each member copied */
#define LOOKS_LINK   8       /* lookups counted for each link followed */
#define MAP_MAX      (64 << 20) /* bytes of source and destination names */

typedef struct Chooser {
        const BuildContext *c;
        const SelectionRequest *request;
        Selection *s;
        const ContextMember **found; /* members that the sources match */
        size_t n_found, room;
        size_t map_room;
        size_t n_looks;
        SecretSha256 hash;
        Error *reterr;
} Chooser;

void selection_done(Selection *s) {
        free(s->map);
        strv_done(&s->unpacked);
        *s = (Selection) { 0 };
}

/* Returns the source as a path below the context: without leading slashes, "." and empty parts. */
static int clean_source(const char *source, char **ret, Error *reterr) {
        char *to, *path = malloc(strlen(source) + 1);

        if (!path)
                return error_set(reterr, -ENOMEM, "out of memory");
        to = path;
        for (const char *p = source; *p;) {
                size_t n = strcspn(p, "/");

                if (n == 2 && p[0] == '.' && p[1] == '.') {
                        free(path);
                        return error_set(reterr, -EXDEV, "'%.200s' is outside of the context: only what was sent can be copied", source);
                }
                if (n > 0 && !(n == 1 && *p == '.')) {
                        if (to != path)
                                *to++ = '/';
                        memcpy(to, p, n);
                        to += n;
                }
                p += n + (p[n] == '/');
        }
        *to = '\0';
        *ret = path;
        return 0;
}

static int found_add(Chooser *k, const ContextMember *m) {
        if (ARRAY_RESERVE(k->found, k->room, k->n_found + 1) < 0)
                return error_set(k->reterr, -ENOMEM, "out of memory");
        k->found[k->n_found++] = m;
        return 0;
}

static int select_look(Chooser *k, size_t n) {
        k->n_looks += n;
        if (k->n_looks > LOOKS_MAX)
                return error_set(k->reterr, -E2BIG, "it takes more than %d looks at the files: have fewer patterns, and name each directory once", LOOKS_MAX);
        return 0;
}

/* Follows a link that is itself a source, within the context. NULL: it leads nowhere. */
static const ContextMember *select_follow(Chooser *k, const ContextMember *m) {
        for (unsigned i = 0; m && m->type == 'l'; i++) {
                char path[4096 * 2], clean[4096];
                const char *slash = strrchr(m->path, '/');
                size_t n = 0;

                k->n_looks += LOOKS_LINK;
                if (i > LINKS_MAX || strlen(m->path) + strlen(m->target) + 2 > sizeof(clean))
                        return NULL;
                (void) snprintf(path, sizeof(path), "%.*s/%s", *m->target == '/' || !slash ? 0 : (int) (slash - m->path), m->path, m->target);
                clean[0] = '\0';
                for (const char *p = path; *p;) {
                        size_t part = strcspn(p, "/");

                        if (part == 2 && p[0] == '.' && p[1] == '.') {
                                char *up = strrchr(clean, '/');

                                n = up ? (size_t) (up - clean) : 0;
                        } else if (part > 0 && !(part == 1 && *p == '.')) {
                                if (n > 0)
                                        clean[n++] = '/';
                                memcpy(clean + n, p, part);
                                n += part;
                        }
                        clean[n] = '\0';
                        p += part + (p[part] == '/');
                }
                m = build_context_find(k->c, clean);
        }
        return m;
}

static int no_such(Chooser *k, const char *source, const char *path) {
        unsigned best = word_tolerance(path);
        const char *nearest = NULL;
        const ContextMember *m;

        if (!k->c)
                return error_set(k->reterr, -ENOENT, "'%.200s': no files came with this build", source);
        m = build_context_find(k->c, path);
        if (m && m->type == 'l' && !m->ignored)
                return error_set(k->reterr, -ENOENT, "'%.200s' is a link to '%.200s', which is not among the files that came with the build", source, m->target);
        if (m)
                return error_set(k->reterr, -ENOENT, "'%.200s' is left out by .dockerignore", source);
        for (size_t i = 0; i < k->c->n && k->c->n < 10000; i++)
                if (word_is_nearer(path, k->c->members[i].path, &best))
                        nearest = k->c->members[i].path;
        if (nearest)
                return error_set(k->reterr, -ENOENT, "'%.200s' is not among the files that came with the build (did you mean '%.100s'?)", source, nearest);
        return error_set(k->reterr, -ENOENT, "'%.200s' is not among the files that came with the build", source);
}

static int select_find_source(Chooser *k, const char *source) {
        static const ContextMember top = { .type = 'd', .path = (char *) "", .hash = "-" };
        _cleanup_free_ char *path = NULL;
        const size_t before = k->n_found;
        int r = clean_source(source, &path, k->reterr);

        if (r < 0)
                return r;
        if (!k->c)
                return no_such(k, source, path);
        if (*path == '\0')
                return found_add(k, &top);
        if (k->request->literal || pattern_is_plain(path)) {
                const ContextMember *m = build_context_find(k->c, path);

                if (m && (m->type == 'd' || !m->ignored))
                        m = k->request->keep_links ? m : select_follow(k, m);
                else
                        m = NULL;
                return m ? found_add(k, m) : no_such(k, source, path);
        }
        for (size_t i = 0; r >= 0 && i < k->c->n; i++) {
                const ContextMember *m = k->c->members + i;

                r = select_look(k, 1);
                if (r >= 0 && !m->ignored && pattern_match(path, m->path) && (m = select_follow(k, m)))
                        r = found_add(k, m);
        }
        return r < 0 || k->n_found > before ? r : no_such(k, source, path);
}

static int map_add(Chooser *k, const char *text) {
        size_t n = strlen(text) + 1;

        if (n > MAP_MAX - k->s->map_size) /* "COPY . . . … /x/" */
                return error_set(k->reterr, -E2BIG, "the names of what it copies come to more than %d bytes: name each directory once", MAP_MAX);
        if (ARRAY_RESERVE(k->s->map, k->map_room, k->s->map_size + n) < 0)
                return error_set(k->reterr, -ENOMEM, "out of memory");
        memcpy(k->s->map + k->s->map_size, text, n);
        k->s->map_size += n;
        return 0;
}

static void hash_member(Chooser *k, const ContextMember *m, const char *to) {
        char line[128];

        (void) snprintf(line, sizeof(line), "%c %o %s", m->type, m->mode, m->hash);
        secret_sha256_add(&k->hash, line, strlen(line) + 1);
        secret_sha256_add(&k->hash, to, strlen(to) + 1);
        secret_sha256_add(&k->hash, m->target, strlen(m->target) + 1);
}

/* `to` is a path below the destination; "" is the destination itself. */
static int select_choose(Chooser *k, const ContextMember *m, const char *to) {
        const char *top = k->request->destination;
        _cleanup_free_ char *path = NULL;
        size_t n;
        int r;

        while (*top == '/')
                top++;
        n = strlen(top);
        while (n > 0 && top[n - 1] == '/')
                n--;
        if (asprintf(&path, "%.*s%s%s", (int) n, top, n > 0 && *to ? "/" : "", to) < 0) {
                path = NULL;
                return error_set(k->reterr, -ENOMEM, "out of memory");
        }
        if (*path == '\0')
                return error_set(k->reterr, -EINVAL, "a file cannot take the place of '/'");
        hash_member(k, m, path);
        r = map_add(k, m->path);
        if (r >= 0)
                r = map_add(k, path);
        k->s->n += r >= 0;
        return r;
}

/* Selects everything below the directory. The destination takes the place of the directory itself. */
static int choose_below(Chooser *k, const ContextMember *directory) {
        const size_t n = strlen(directory->path);
        size_t count, first = context_below(k->c, directory->path, &count);
        int r = select_look(k, count * LOOKS_COPY);

        hash_member(k, &(ContextMember) { .type = 'd', .hash = "-", .target = (char *) "" }, "");
        for (size_t i = first; r >= 0 && i < first + count; i++) {
                const ContextMember *m = k->c->members + i;

                if (!m->ignored)
                        r = select_choose(k, m, m->path + n + (n > 0));
        }
        return r;
}

static int choose_found(Chooser *k, const ContextMember *m) {
        const char *name = strrchr(m->path, '/');

        if (m->type == 'd')
                return choose_below(k, m);
        if (k->request->unpack && m->archive) {
                int r = strv_push(&k->s->unpacked, m->path);

                hash_member(k, m, "unpacked");
                return r < 0 ? error_set(k->reterr, r, "too many archives at once") : 0;
        }
        return select_choose(k, m, !k->s->directory ? "" : name ? name + 1 : m->path);
}

static int choose_all(Chooser *k) {
        const char *to = k->request->destination;
        const bool slash = to[strlen(to) - 1] == '/' || k->request->destination_is_directory;

        for (size_t i = 0; i < k->request->n_sources; i++) {
                int r = select_find_source(k, k->request->sources[i]);

                if (r < 0)
                        return r;
        }
        if (k->n_found > 1 && !slash)
                return error_set(k->reterr, -EINVAL, "with more than one source the destination must be a directory: write '%.200s/'", to);
        k->s->directory = slash || (k->n_found > 0 && (k->found[0]->type == 'd' || (k->request->unpack && k->found[0]->archive)));
        for (size_t i = 0; i < k->n_found; i++) {
                int r = choose_found(k, k->found[i]);

                if (r < 0)
                        return r;
        }
        return 0;
}

int context_select(const BuildContext *c, const SelectionRequest *request, Selection *ret, Error *reterr) {
        Selection s = { .unpacked.max = 256 };
        Chooser k = { .c = c, .request = request, .s = &s, .reterr = reterr };
        uint8_t digest[SECRET_SHA256_SIZE];
        int r;

        secret_sha256_begin(&k.hash);
        r = choose_all(&k);
        free(k.found);
        if (r < 0) {
                selection_done(&s);
                return r;
        }
        secret_sha256_end(&k.hash, digest);
        secret_hex(digest, sizeof(digest), s.hash);
        *ret = s;
        return 0;
}
