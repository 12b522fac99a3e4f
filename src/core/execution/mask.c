/* mask.c: two ways to find values. Short ones through a table by their first four bytes: one look for each byte of the text, however many
 * values there are. Long ones each with a failure table (Knuth, Morris, Pratt): a guest that prints the beginning of a long value again
 * and again would make comparing at each byte slow for everybody. */

#include "base/array.h"
#include "core/mask.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "core/secret.h"

#define LONG      256 /* bytes, from which on a value has a failure table */
#define HEADS     1024
#define NONE      UINT32_MAX
#define BYTES_MIN 4096
#define HIDDEN    '*'

typedef struct MaskPattern {
        size_t at, size;  /* in the bytes */
        uint32_t next;    /* with the same head */
        uint32_t *failure; /* NULL: a short one */
} MaskPattern;

struct Mask {
        unsigned n_ref;
        uint8_t *bytes; /* of all patterns; locked */
        size_t used, room;
        MaskPattern *patterns;
        size_t n, n_long, n_values;
        size_t longest;
        uint32_t heads[HEADS]; /* of short ones */
};

Mask *mask_new(void) {
        Mask *m = calloc(1, sizeof(*m));

        if (!m)
                return NULL;
        m->n_ref = 1;
        memset(m->heads, 0xff, sizeof(m->heads));
        return m;
}

Mask *mask_ref(Mask *m) {
        if (m)
                m->n_ref++;
        return m;
}

Mask *mask_unref(Mask *m) {
        if (!m || --m->n_ref > 0)
                return NULL;
        for (size_t i = 0; i < m->n; i++)
                free(m->patterns[i].failure);
        free(m->patterns);
        secret_free(m->bytes, m->room);
        free(m);
        return NULL;
}

bool mask_is_empty(const Mask *m) {
        return !m || m->n == 0;
}

size_t mask_count(const Mask *m) {
        return m ? m->n_values : 0;
}

/* Adding. */

static unsigned head_of(const uint8_t *p) {
        uint32_t word;

        memcpy(&word, p, sizeof(word));
        return (unsigned) (word * UINT32_C(2654435761) >> 22);
}

static const uint8_t *bytes_of(const Mask *m, const MaskPattern *p) {
        return m->bytes + p->at;
}

static int mask_make_room(Mask *m, size_t size) {
        size_t room = MAX_OF(m->room, (size_t) BYTES_MIN);
        uint8_t *bytes;

        if (m->room - m->used >= size)
                return 0;
        while (room - m->used < size)
                room *= 2;
        bytes = secret_alloc(room);
        if (!bytes)
                return -ENOMEM;
        if (m->used > 0)
                memcpy(bytes, m->bytes, m->used);
        secret_free(m->bytes, m->room);
        m->bytes = bytes;
        m->room = room;
        return 0;
}

/* failure[i]: how many bytes of the beginning also end at i. */
static uint32_t *make_failure(const uint8_t *p, size_t size) {
        uint32_t *failure = calloc(size, sizeof(*failure)), k = 0;

        for (size_t i = 1; failure && i < size; i++) {
                while (k > 0 && p[k] != p[i])
                        k = failure[k - 1];
                k += p[k] == p[i];
                failure[i] = k;
        }
        return failure;
}

static bool has_pattern(const Mask *m, const void *data, size_t size) {
        for (size_t i = 0; i < m->n; i++)
                if (m->patterns[i].size == size && memcmp(bytes_of(m, m->patterns + i), data, size) == 0)
                        return true;
        return false;
}

bool mask_has(const Mask *m, const void *value, size_t size) {
        return m && has_pattern(m, value, size);
}

/* 1: added. */
static int add_pattern(Mask *m, const void *data, size_t size) {
        uint32_t *failure = NULL;
        MaskPattern *p;
        int r;

        if (size < MASK_MIN || has_pattern(m, data, size))
                return 0;
        r = mask_make_room(m, size);
        if (r < 0)
                return r;
        if (ARRAY_EXTEND(m->patterns, m->n) < 0)
                return -ENOMEM;
        if (size >= LONG && !(failure = make_failure(data, size)))
                return -ENOMEM;

        p = m->patterns + m->n;
        *p = (MaskPattern) { .at = m->used, .size = size, .next = NONE, .failure = failure };
        memcpy(m->bytes + m->used, data, size);
        m->used += size;
        if (failure)
                m->n_long++;
        else {
                unsigned head = head_of(data);

                p->next = m->heads[head];
                m->heads[head] = (uint32_t) m->n;
        }
        m->n++;
        m->longest = MAX_OF(m->longest, size);
        return 1;
}

/* As it stands in the base64 of a text that has it `shift` bytes behind a multiple of three: only the characters that say nothing
 * of what is before and behind it. */
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
                if (length >= MASK_LINE_MIN && memcmp(line, "-----", 5) != 0) /* everybody's keys have those */
                        r = add_pattern(m, line, length);
        }
        if (terminal)
                secret_wipe(terminal, 2 * size);
        free(terminal);
        return r;
}

int mask_add(Mask *m, const void *value, size_t size) {
        size_t bare = size;
        int r;

        if (size < MASK_MIN || has_pattern(m, value, size))
                return 0;
        if (m->n_values >= MASK_VALUES_MAX)
                return -E2BIG;
        while (bare > 0 && strchr("\r\n", ((const char *) value)[bare - 1]) && ((const char *) value)[bare - 1] != '\0')
                bare--;
        r = add_pattern(m, value, size);
        if (r >= 0)
                r = add_pattern(m, value, bare);
        if (r >= 0 && memchr(value, '\n', bare))
                r = add_lines(m, value, bare);
        for (size_t shift = 0; shift < 3 && r >= 0 && bare >= MASK_BASE64_MIN && bare <= MASK_BASE64_MAX; shift++)
                r = add_base64(m, value, bare, shift);
        if (r < 0)
                return r;
        m->n_values++;
        return 1;
}

/* Looking. */

/* How long the longest short value is that begins here; beyond the text: only whether its beginning does. */
static size_t match_at(const Mask *m, const uint8_t *data, size_t size, size_t at, bool *pending) {
        size_t left = size - at, best = 0;

        if (left < MASK_MIN) {
                for (size_t i = 0; i < m->n && !*pending; i++)
                        *pending = memcmp(bytes_of(m, m->patterns + i), data + at, left) == 0;
                return 0;
        }
        for (uint32_t i = m->heads[head_of(data + at)]; i != NONE; i = m->patterns[i].next) {
                const MaskPattern *p = m->patterns + i;

                if (p->size <= best && p->size <= left)
                        continue;
                if (memcmp(bytes_of(m, p), data + at, MIN_OF(p->size, left)) != 0)
                        continue;
                if (p->size <= left)
                        best = p->size;
                else
                        *pending = true;
        }
        return best;
}

/* reach[i]: how far a long value goes that begins at i. Returns where the longest beginning of it begins that the text ends with. */
static size_t find_long(const Mask *m, const MaskPattern *p, const uint8_t *data, size_t size, uint32_t *reach) {
        const uint8_t *value = bytes_of(m, p);
        uint32_t k = 0;

        for (size_t i = 0; i < size; i++) {
                while (k > 0 && value[k] != data[i])
                        k = p->failure[k - 1];
                k += value[k] == data[i];
                if (k == p->size) {
                        reach[i + 1 - k] = MAX_OF(reach[i + 1 - k], k);
                        k = p->failure[k - 1];
                }
        }
        return size - k;
}

int mask_apply(const Mask *m, void *data, size_t size, size_t *ret_shown) {
        size_t covered = 0, held = size, shown = size;
        uint32_t *reach = NULL;
        uint8_t *bytes = data;

        if (!mask_is_empty(m) && m->n_long > 0) {
                reach = calloc(MAX_OF(size, (size_t) 1), sizeof(*reach));
                if (!reach)
                        return -ENOMEM;
                for (size_t i = 0; i < m->n; i++)
                        if (m->patterns[i].failure)
                                held = MIN_OF(held, find_long(m, m->patterns + i, bytes, size, reach));
        }
        /* A byte is not needed any more when everything that begins at it has been looked for. */
        for (size_t i = 0; i < size && !mask_is_empty(m); i++) {
                bool pending = false;
                size_t n = match_at(m, bytes, size, i, &pending);

                if (pending)
                        held = MIN_OF(held, i);
                if (reach)
                        n = MAX_OF(n, (size_t) reach[i]);
                covered = MAX_OF(covered, i + n);
                if (i < covered)
                        bytes[i] = HIDDEN; /* also where another value may begin: that hides it too */
                else if (i >= held)
                        shown = MIN_OF(shown, i);
        }
        free(reach);
        if (ret_shown)
                *ret_shown = shown;
        return 0;
}

/* Files. */

static ssize_t pread_full(int fd, void *buffer, size_t size, uint64_t offset) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = pread(fd, (char *) buffer + done, size - done, (off_t) (offset + done));

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

ssize_t mask_pread(const Mask *m, int fd, uint64_t end, bool final, void *buffer, size_t size, uint64_t offset) {
        size_t around = mask_is_empty(m) ? 0 : m->longest - 1, before = (size_t) MIN_OF(offset, (uint64_t) around), shown;
        _cleanup_free_ uint8_t *text = NULL;
        uint64_t from = offset - before, to;
        ssize_t n;
        int r;

        if (offset >= end || size == 0)
                return 0;
        size = (size_t) MIN_OF((uint64_t) size, end - offset);
        if (mask_is_empty(m))
                return pread_full(fd, buffer, size, offset);
        to = MIN_OF(offset + size + around, end);
        text = malloc((size_t) (to - from));
        if (!text)
                return -ENOMEM;
        n = pread_full(fd, text, (size_t) (to - from), from);
        if (n < 0)
                return n;
        if ((uint64_t) n < to - from)
                to = end = from + (uint64_t) n; /* shorter than it was said to be */
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

int mask_shown_end(const Mask *m, int fd, uint64_t end, bool final, uint64_t *ret) {
        uint64_t from;
        uint8_t *tail;
        ssize_t n;

        if (mask_is_empty(m) || final || end == 0) {
                *ret = end;
                return 0;
        }
        from = end - MIN_OF(end, (uint64_t) m->longest);
        tail = malloc((size_t) (end - from));
        if (!tail)
                return -ENOMEM;
        n = mask_pread(m, fd, end, final, tail, (size_t) (end - from), from);
        free(tail);
        if (n < 0)
                return (int) n;
        *ret = from + (uint64_t) n;
        return 0;
}
