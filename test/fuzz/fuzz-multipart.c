/* Any form, by anybody. The first byte says how it is cut and how much is taken at once: whatever it is, the same comes out, and what was given out lies in what was given in or is
 * a delimiter's beginning. */
#include "fuzz.h"

#include "api/e2b/envd/files-type.h"
#include "api/e2b/envd/multipart.h"
#include "base/macro.h"

typedef struct Result {
        uint64_t hash;
        int last;
        unsigned n_parts;
} Result;

static void add(Result *r, const void *data, size_t size) {
        const uint8_t *p = data;

        for (size_t i = 0; i < size; i++)
                r->hash = (r->hash ^ p[i]) * UINT64_C(1099511628211);
}

static int step(Multipart *m, const char *data, size_t size, size_t take, size_t *used, Result *r) {
        MultipartPiece piece;
        size_t n;
        int event = multipart_next(m, data, size, &n, &piece);

        MUST(n <= size);
        *used = n;
        if (event == MULTIPART_PART) {
                r->n_parts++;
                add(r, m->name, strlen(m->name) + 1);
                add(r, m->filename, strlen(m->filename) + 1);
        } else if (event == MULTIPART_DATA) {
                size_t taken = MIN_OF(take, piece.size);

                MUST(piece.size > 0);
                MUST((piece.data >= data + n && piece.data + piece.size <= data + size) ||
                                (piece.data >= m->delimiter && piece.data + piece.size <= m->delimiter + m->delimiter_size));
                add(r, piece.data, taken);
                *used += multipart_took(m, taken);
        }
        return event;
}

static Result run(const char *type, const char *data, size_t size, size_t portion, size_t take) {
        static Multipart m;
        Result r = { .hash = 1 };

        if (multipart_init(&m, type) < 0)
                return r;
        for (size_t at = 0; at < size && r.last >= 0 && r.last != MULTIPART_END;) {
                size_t n = MIN_OF(portion, size - at), used;

                do {
                        r.last = step(&m, data + at, n, take, &used, &r);
                        at += used;
                        n -= used;
                } while (r.last > 0 && r.last != MULTIPART_END);
        }
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char type[300], *text;
        const uint8_t *line;
        Result whole, cut;
        size_t n;

        /* The first line is the content type. */
        line = size > 1 ? memchr(data + 1, '\n', size - 1) : NULL;
        if (!line || (size_t) (line - data) >= sizeof(type))
                return 0;
        n = (size_t) (line - data - 1);
        memcpy(type, data + 1, n);
        type[n] = '\0';
        (void) files_identity_is_fine(type);
        text = files_disposition(type);
        MUST(text && !strpbrk(text, "\r\n"));
        free(text);
        whole = run(type, (const char *) line + 1, size - n - 2, SIZE_MAX, SIZE_MAX);
        cut = run(type, (const char *) line + 1, size - n - 2, 1 + (data[0] & 15), 1 + (data[0] >> 4));
        MUST(whole.hash == cut.hash && whole.n_parts == cut.n_parts);
        MUST((whole.last < 0) == (cut.last < 0));
        return 0;
}
