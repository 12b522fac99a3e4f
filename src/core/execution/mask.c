#include "core/mask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "core/finder.h"
#include "core/secret.h"

#define HIDDEN '*'

struct Mask {
        unsigned n_ref;
        Finder *finder;
        uint8_t *hashes; /* of the values, SECRET_HASH_SIZE each; locked */
        size_t hashes_room, n_values;
        size_t bytes;
};

Mask *mask_new(void) {
        Mask *m = calloc(1, sizeof(*m));

        if (!m)
                return NULL;
        m->n_ref = 1;
        m->finder = finder_new();
        return m->finder ? m : mask_unref(m);
}

Mask *mask_ref(Mask *m) {
        if (m)
                m->n_ref++;
        return m;
}

Mask *mask_unref(Mask *m) {
        if (!m || --m->n_ref > 0)
                return NULL;
        finder_free(m->finder);
        secret_free(m->hashes, m->hashes_room);
        free(m);
        return NULL;
}

bool mask_is_empty(const Mask *m) {
        return !m || finder_is_empty(m->finder);
}

size_t mask_count(const Mask *m) {
        return m ? m->n_values : 0;
}

size_t mask_bytes(const Mask *m) {
        return m ? m->bytes : 0;
}

uint64_t mask_steps(const Mask *m) {
        return finder_steps(m->finder);
}

/* Adding. */

static bool has_hash(const Mask *m, const uint8_t *hash) {
        for (size_t i = 0; i < m->n_values; i++)
                if (memcmp(m->hashes + i * SECRET_HASH_SIZE, hash, SECRET_HASH_SIZE) == 0)
                        return true;
        return false;
}

bool mask_has(const Mask *m, const void *value, size_t size) {
        uint8_t hash[SECRET_HASH_SIZE];

        if (!m || m->n_values == 0)
                return false;
        secret_hash(value, size, hash);
        return has_hash(m, hash);
}

/* A long pattern is added in parts of about the same size. */
static int add_pattern(Mask *m, const void *data, size_t size) {
        size_t n = (size + FINDER_WORD_MAX - 1) / FINDER_WORD_MAX;
        int r = 0;

        for (size_t i = 0; i < n && size >= MASK_MIN && r >= 0; i++) {
                size_t from = i * size / n, to = (i + 1) * size / n;

                r = finder_add(m->finder, (const uint8_t *) data + from, to - from);
        }
        return r;
}

/* The base64 of a text in which the value begins `shift` bytes behind a multiple of three: only the characters
 * that do not depend on the bytes before and after the value. */
static int add_base64(Mask *m, const uint8_t *value, size_t size, size_t shift) {
        size_t whole = shift + size, first = (shift * 8 + 5) / 6, last = whole * 8 / 6;
        uint8_t padded[MASK_BASE64_MAX + 2] = { 0 };
        char text[SECRET_BASE64_SIZE(sizeof(padded))];
        int r = 0;

        memcpy(padded + shift, value, size);
        for (int url = 0; url < 2 && r >= 0; url++) {
                secret_base64(padded, whole, url, text, sizeof(text));
                r = add_pattern(m, text + first, last - first);
        }
        secret_wipe(padded, sizeof(padded));
        secret_wipe(text, sizeof(text));
        return r;
}

static int add_lines(Mask *m, const char *value, size_t size) {
        char *terminal = malloc(2 * size), *p = terminal;
        int r = terminal ? 0 : -ENOMEM;

        for (size_t i = 0; i < size && r >= 0; i++) {
                if (value[i] == '\n')
                        *p++ = '\r';
                *p++ = value[i];
        }
        if (r >= 0)
                r = add_pattern(m, terminal, (size_t) (p - terminal));
        for (size_t n = 0, at = 0; at < size && n < MASK_LINES_MAX && r >= 0; n++) {
                const char *line = value + at, *end = memchr(line, '\n', size - at);
                size_t length = end ? (size_t) (end - line) : size - at;

                at += length + 1;
                while (length > 0 && line[length - 1] == '\r')
                        length--;
                if (length >= MASK_LINE_MIN && memcmp(line, "-----", 5) != 0) /* these lines are the same in all keys */
                        r = add_pattern(m, line, length);
        }
        if (terminal)
                secret_wipe(terminal, 2 * size);
        free(terminal);
        return r;
}

static size_t bare_size(const char *value, size_t size) {
        while (size > 0 && (value[size - 1] == '\r' || value[size - 1] == '\n'))
                size--;
        return size;
}

static bool has_base64(size_t bare) {
        return bare >= MASK_BASE64_MIN && bare <= MASK_BASE64_MAX;
}

/* The most bytes that are searched for. */
static size_t value_cost(const char *value, size_t size) {
        size_t cost = size, n_lines = 0, bare = bare_size(value, size);

        for (size_t i = 0; i < bare; i++)
                n_lines += value[i] == '\n';
        if (n_lines > 0)
                cost += 2 * bare + n_lines;
        if (has_base64(bare))
                cost += 6 * SECRET_BASE64_SIZE(bare + 2);
        return cost;
}

bool mask_fits(const Mask *m, const void *value, size_t size) {
        return m->n_values < MASK_VALUES_MAX && m->bytes + value_cost(value, size) <= MASK_BYTES_MAX;
}

int mask_add(Mask *m, const void *value, size_t size) {
        size_t bare = bare_size(value, size);
        uint8_t hash[SECRET_HASH_SIZE];
        int r;

        if (size < MASK_MIN)
                return 0;
        secret_hash(value, size, hash);
        if (has_hash(m, hash))
                return 0;
        if (!mask_fits(m, value, size))
                return -E2BIG;
        r = secret_reserve(&m->hashes, &m->hashes_room, (m->n_values + 1) * sizeof(hash));
        if (r >= 0)
                r = add_pattern(m, value, size);
        if (r >= 0)
                r = add_pattern(m, value, bare);
        if (r >= 0 && memchr(value, '\n', bare))
                r = add_lines(m, value, bare);
        for (size_t shift = 0; shift < 3 && r >= 0 && has_base64(bare); shift++)
                r = add_base64(m, value, bare, shift);
        if (r < 0)
                return r;
        memcpy(m->hashes + m->n_values++ * sizeof(hash), hash, sizeof(hash));
        m->bytes += value_cost(value, size);
        return 1;
}

/* Searching. */

/* Works backwards, since the finder reports the end of a value. Returns the first byte that is not hidden and
 * may be part of a value that begins in the last `pending` bytes. */
static size_t hide(uint8_t *data, size_t size, const uint16_t *ends, size_t pending) {
        size_t shown = size, left = 0;

        for (size_t i = size; i-- > 0;) {
                left = MAX_OF(left, (size_t) ends[i]);
                if (left > 0) {
                        data[i] = HIDDEN; /* also where another value may begin, which is hidden by that too */
                        left--;
                } else if (i >= size - pending)
                        shown = i;
        }
        return shown;
}

int mask_apply(const Mask *m, void *data, size_t size, size_t *ret_shown) {
        _cleanup_free_ uint16_t *ends = NULL;
        size_t found, pending, shown = size;
        FinderState state = 0;
        int r;

        if (!mask_is_empty(m) && size > 0) {
                r = finder_prepare(m->finder);
                if (r < 0)
                        return r;
                ends = reallocarray(NULL, size, sizeof(*ends));
                if (!ends)
                        return -ENOMEM;
                found = finder_look(m->finder, &state, data, size, ends);
                pending = finder_pending(m->finder, state);
                shown = found > 0 ? hide(data, size, ends, pending) : size - pending;
        }
        if (ret_shown)
                *ret_shown = shown;
        return 0;
}

/* Texts that lie elsewhere. */

ssize_t mask_read_fd(void *fd, void *buffer, size_t size, uint64_t offset) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = pread(*(const int *) fd, (char *) buffer + done, size - done, (off_t) (offset + done));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

ssize_t mask_read(const Mask *m, MaskRead read_from, void *source, uint64_t end, bool final, void *buffer, size_t size, uint64_t offset) {
        size_t around = mask_is_empty(m) ? 0 : finder_longest(m->finder) - 1, before = (size_t) MIN_OF(offset, (uint64_t) around), shown;
        _cleanup_free_ uint8_t *text = NULL;
        uint64_t from = offset - before, to;
        ssize_t n;
        int r;

        if (offset >= end || size == 0)
                return 0;
        size = (size_t) MIN_OF((uint64_t) size, end - offset);
        if (mask_is_empty(m))
                return read_from(source, buffer, size, offset);
        to = MIN_OF(offset + size + around, end);
        text = malloc((size_t) (to - from));
        if (!text)
                return -ENOMEM;
        n = read_from(source, text, (size_t) (to - from), from);
        if (n < 0)
                return n;
        if ((uint64_t) n < to - from)
                to = end = from + (uint64_t) n; /* shorter than reported */
        if (end <= offset)
                return 0;
        r = mask_apply(m, text, (size_t) n, &shown);
        if (r < 0)
                return r;
        if (to < end || final)
                shown = (size_t) n;
        if (shown <= before)
                return 0;
        size = MIN_OF(size, shown - before);
        memcpy(buffer, text + before, size);
        return (ssize_t) size;
}

int mask_shown_end(const Mask *m, MaskRead read_from, void *source, uint64_t end, bool final, uint64_t *ret) {
        uint64_t from;
        uint8_t *tail;
        ssize_t n;

        if (mask_is_empty(m) || final || end == 0) {
                *ret = end;
                return 0;
        }
        from = end - MIN_OF(end, (uint64_t) finder_longest(m->finder));
        tail = malloc((size_t) (end - from));
        if (!tail)
                return -ENOMEM;
        n = mask_read(m, read_from, source, end, final, tail, (size_t) (end - from), from);
        free(tail);
        if (n < 0)
                return (int) n;
        *ret = from + (uint64_t) n;
        return 0;
}
