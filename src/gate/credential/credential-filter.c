/* credential-filter.c: finds words in a stream, wherever it is split.
 *
 * Most pairs of bytes in a stream begin no word, so a bitmap of pairs excludes them; only otherwise the words
 * are compared, the longest first. At the end of a portion, bytes that may begin a word are held: at most one
 * byte less than the longest word. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/credential/credential-internal.h"

#define PIECE_MAX    (64 * 1024)
#define HELD_MAX     (CREDENTIAL_PLACEHOLDER_MAX + PIECE_MAX)
#define PATTERNS_MAX CREDENTIALS_MAX

typedef struct CredentialFilterPattern {
        const char *from, *to;
        size_t n_from, n_to;
        const char *name;
        const char *headers; /* replaced only in these headers; NULL: anywhere */
} CredentialFilterPattern;

struct CredentialFilter {
        Credentials *credentials;
        CredentialFilterPattern patterns[PATTERNS_MAX]; /* the longest first */
        size_t n_patterns;
        uint64_t pairs[65536 / 64];
        Text held;
        SpellFinder *values; /* searched for instead of patterns; NULL: none */
        const char *field; /* the field whose value is being searched; NULL: no field */
        const char *hit;
};

static int compare_patterns(const void *a, const void *b) {
        size_t n = ((const CredentialFilterPattern *) a)->n_from, m = ((const CredentialFilterPattern *) b)->n_from;

        return n > m ? -1 : n < m;
}

static void filter_add(CredentialFilter *f, const Credential *c, const char *from, const char *to, const char *headers) {
        const uint8_t *bytes = (const uint8_t *) from;
        unsigned pair;

        if (strlen(from) < 2)
                return;
        for (size_t i = 0; i < f->n_patterns; i++)
                if (strcmp(f->patterns[i].from, from) == 0 && (!headers || strcmp(f->patterns[i].headers, headers) == 0))
                        return;
        pair = (unsigned) bytes[0] << 8 | bytes[1];
        f->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
        f->patterns[f->n_patterns++] =
                        (CredentialFilterPattern) { .from = from, .n_from = strlen(from), .to = to, .n_to = strlen(to), .name = c->name, .headers = headers };
}

static int filter_new(Credentials *c, CredentialFilter **ret) {
        CredentialFilter *f = calloc(1, sizeof(CredentialFilter));

        assert(c);
        assert(ret);

        if (!f)
                return -ENOMEM;
        f->credentials = credentials_ref(c);
        f->held = (Text) TEXT_INIT(HELD_MAX);
        *ret = f;
        return 0;
}

static void filter_ready(CredentialFilter *f) {
        qsort(f->patterns, f->n_patterns, sizeof(CredentialFilterPattern), compare_patterns);
}

CredentialFilter *credential_filter_free(CredentialFilter *f) {
        if (!f)
                return NULL;
        text_wipe(&f->held);
        spell_finder_free(f->values);
        (void) credentials_free(f->credentials);
        free(f);
        return NULL;
}

int credential_filter_new_find(Credentials *c, const char *host, CredentialFilter **ret) {
        int r = filter_new(c, ret);

        if (r < 0)
                return r;
        for (size_t i = 0; i < c->n; i++)
                if (!credentials_belong(c, c->items[i].placeholder, host))
                        filter_add(*ret, c->items + i, c->items[i].placeholder, c->items[i].placeholder, /* headers= */ NULL);
        filter_ready(*ret);
        return 0;
}

int credential_filter_new_fill(Credentials *c, const char *host, CredentialPlace place, CredentialForm form, CredentialFilter **ret) {
        int r = filter_new(c, ret);

        if (r < 0)
                return r;
        for (size_t i = 0; i < c->n; i++)
                if ((c->items[i].places & place) && credential_is_for(c->items + i, host))
                        filter_add(*ret, c->items + i, c->items[i].placeholder, c->items[i].forms[form],
                                        place == CREDENTIAL_HEADER ? c->items[i].headers : NULL);
        filter_ready(*ret);
        return 0;
}

/* An earlier credential of the host has the same value. */
static bool is_masked_before(const Credentials *c, size_t index, const char *host) {
        for (size_t i = 0; i < index; i++)
                if (credential_is_for(c->items + i, host) && strcmp(c->items[i].forms[CREDENTIAL_PLAIN], c->items[index].forms[CREDENTIAL_PLAIN]) == 0)
                        return true;
        return false;
}

int credential_filter_new_mask(Credentials *c, const char *host, bool same_length, CredentialFilter **ret) {
        CredentialFilter *f;
        int r = filter_new(c, &f);

        if (r < 0)
                return r;
        f->values = spell_finder_new(same_length);
        if (!f->values)
                r = -ENOMEM;
        for (size_t i = 0; i < c->n && r >= 0; i++)
                if (credential_is_for(c->items + i, host) && !is_masked_before(c, i, host))
                        r = spell_finder_add(f->values, c->items[i].spellings);
        if (r < 0) {
                credential_filter_free(f);
                return r;
        }
        *ret = f;
        return 0;
}

const char *credential_filter_hit(const CredentialFilter *f) {
        return f->hit;
}

void credential_filter_forget(CredentialFilter *f) {
        f->hit = NULL;
}

void credential_filter_in_field(CredentialFilter *f, const char *name) {
        f->field = name;
}

size_t credential_filter_size(const CredentialFilter *f) {
        return f ? sizeof(*f) + f->held.room + (f->values ? spell_finder_size(f->values) : 0) : 0;
}

bool credential_filter_is_idle(const CredentialFilter *f) {
        return f->n_patterns == 0 && !f->values;
}

static bool pattern_is_for(const CredentialFilterPattern *p, const char *field) {
        size_t n = field ? strlen(field) : 0;

        if (!field || !p->headers)
                return true;
        for (const char *h = p->headers; *h; h += strcspn(h, " ") + 1)
                if (strncasecmp(h, field, n) == 0 && h[n] == ' ')
                        return true;
        return false;
}

/* Returns the pattern that matches here, or sets *ret_partial if the data may be the beginning of one. */
static const CredentialFilterPattern *filter_match(const CredentialFilter *f, const uint8_t *data, size_t size, bool last, bool *ret_partial) {
        for (size_t i = 0; i < f->n_patterns; i++) {
                const CredentialFilterPattern *p = f->patterns + i;
                size_t n = MIN_OF(p->n_from, size);

                if (memcmp(p->from, data, n) != 0 || !pattern_is_for(p, f->field))
                        continue;
                if (n == p->n_from)
                        return p;
                if (!last) {
                        *ret_partial = true;
                        return NULL;
                }
        }
        return NULL;
}

static bool credential_filter_may_begin(const CredentialFilter *f, const uint8_t *data) {
        unsigned pair = (unsigned) data[0] << 8 | data[1];

        return f->pairs[pair / 64] >> pair % 64 & 1;
}

/* Returns how many bytes are decided; the rest may begin a word. */
static size_t filter_pass(CredentialFilter *f, const uint8_t *data, size_t size, bool last, Text *out) {
        size_t at = 0, done = 0;

        while (at < size) {
                const CredentialFilterPattern *p;
                bool partial = false;

                if (size - at >= 2 && !credential_filter_may_begin(f, data + at)) {
                        at++;
                        continue;
                }
                p = filter_match(f, data + at, size - at, last, &partial);
                if (partial)
                        break;
                if (!p) {
                        at++;
                        continue;
                }
                f->hit = p->name;
                text_put(out, data + done, at - done);
                text_put(out, p->to, p->n_to);
                at += p->n_from;
                done = at;
        }
        text_put(out, data + done, at - done);
        return at;
}

static int filter_piece(CredentialFilter *f, const uint8_t *data, size_t size, bool last, Text *out) {
        size_t n;

        if (size == 0 && f->held.size == 0)
                return out->error;
        if (f->held.size == 0) { /* the usual case */
                n = filter_pass(f, data, size, last, out);
                text_put(&f->held, data + n, size - n);
        } else {
                text_put(&f->held, data, size);
                if (f->held.error < 0)
                        return f->held.error;
                n = filter_pass(f, (const uint8_t *) f->held.data, f->held.size, last, out);
                text_consume(&f->held, n);
        }
        return f->held.error < 0 ? f->held.error : out->error;
}

int credential_filter_feed(CredentialFilter *f, const void *data, size_t size, bool last, Text *out) {
        const uint8_t *bytes = data ? data : (const uint8_t *) "";
        int r;

        assert(f);
        assert(out);

        do {
                size_t n = MIN_OF(size, (size_t) PIECE_MAX);

                r = f->values ? spell_finder_feed(f->values, bytes, n, last && n == size, out, &f->hit) : filter_piece(f, bytes, n, last && n == size, out);
                bytes += n;
                size -= n;
        } while (r >= 0 && size > 0);
        if (r < 0)
                out->error = r;
        return r;
}
