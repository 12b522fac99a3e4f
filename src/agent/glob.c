#include "agent/glob.h"

#include <stdint.h>
#include <string.h>

/* Follows all ways through the pattern at once, with a bit for each piece of the pattern that may come next. So
 * the time is the length of the path times a few words, for every pattern. Backtracking would let a caller
 * choose how long a match takes. */

#define WORD_BITS 64
#define WORDS (GLOB_PATTERN_MAX / WORD_BITS + 1)

typedef struct GlobSet {
        uint64_t words[WORDS];
} GlobSet;

typedef struct Glob {
        GlobSet fits[256];               /* pieces that match this character */
        GlobSet star, deep, parts, skip; /* "*", "**", "**" with a slash; all of these, which may match nothing */
        size_t n, n_words;               /* pieces; words of their bits and of the one behind the last */
} Glob;

static void glob_set_add(GlobSet *s, size_t i) {
        s->words[i / WORD_BITS] |= UINT64_C(1) << (i % WORD_BITS);
}

static bool glob_set_has(const GlobSet *s, size_t i) {
        return s->words[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

/* At most two pieces in a row may match nothing: after "**" another such piece adds nothing, and neither does a
 * repetition of the piece before. */
static void glob_add_skip(Glob *g, GlobSet *kind) {
        if (g->n > 0 && (glob_set_has(&g->deep, g->n - 1) || glob_set_has(kind, g->n - 1)))
                return;
        glob_set_add(kind, g->n);
        glob_set_add(&g->skip, g->n++);
}

static void glob_read(Glob *g, const char *p) {
        memset(g, 0, sizeof(*g));
        while (*p)
                if (p[0] == '*' && p[1] == '*' && p[2] == '/') {
                        glob_add_skip(g, &g->parts);
                        p += 3;
                } else if (p[0] == '*' && p[1] == '*') {
                        glob_add_skip(g, &g->deep);
                        p += 2;
                } else if (*p == '*') {
                        glob_add_skip(g, &g->star);
                        p++;
                } else {
                        for (unsigned c = 1; *p == '?' && c < 256; c++)
                                if (c != '/')
                                        glob_set_add(&g->fits[c], g->n);
                        if (*p != '?')
                                glob_set_add(&g->fits[(uint8_t) *p], g->n);
                        g->n++;
                        p++;
                }
        g->n_words = g->n / WORD_BITS + 1;
}

/* If a piece may match nothing, the next one may follow at once. Two turns, because at most two such pieces
 * follow each other. */
static void glob_skip(const Glob *g, GlobSet *s) {
        for (unsigned turn = 0; turn < 2; turn++)
                for (size_t i = 0, carry = 0; i < g->n_words; i++) {
                        uint64_t skipped = s->words[i] & g->skip.words[i];

                        s->words[i] |= skipped << 1 | carry;
                        carry = skipped >> (WORD_BITS - 1);
                }
}

/* "**" with a slash stays while path components pass, and continues only after a slash. */
static void glob_step(const Glob *g, uint8_t c, GlobSet *s) {
        GlobSet next = { 0 };

        for (size_t i = 0, carry = 0; i < g->n_words; i++) {
                uint64_t now = s->words[i], on = now & (g->fits[c].words[i] | (c == '/' ? g->parts.words[i] : 0));

                next.words[i] = on << 1 | carry | (now & (g->deep.words[i] | (c != '/' ? g->star.words[i] : 0)));
                carry = on >> (WORD_BITS - 1);
        }
        glob_skip(g, &next);
        for (size_t i = 0; i < g->n_words; i++)
                s->words[i] = next.words[i] | (s->words[i] & g->parts.words[i]);
}

bool glob_match(const char *pattern, const char *path) {
        GlobSet s = { { 1 } };
        Glob g;

        if (strlen(pattern) > GLOB_PATTERN_MAX)
                return false;
        glob_read(&g, pattern);
        glob_skip(&g, &s);
        for (; *path; path++)
                glob_step(&g, (uint8_t) *path, &s);
        return glob_set_has(&s, g.n);
}
