/* What is hidden in a text, read in any pieces, is what a plain model hides: a byte tells how many values, each with its size. */
#include "fuzz.h"

#include "../unit/mask-model.h"

#define VALUES_MAX 4
#define LONG_SIZE  (MASK_BASE64_MAX + 100)
#define READS_MAX  32 /* of one text: each takes the bytes around it, so that pieces of one byte would make a run as slow as a thousand others */

/* Few letters, so that values meet. */
static uint8_t letter(uint8_t byte) {
        return (uint8_t) ('a' + byte % 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static uint8_t pool[VALUES_MAX][LONG_SIZE], text[4096];
        ModelValue values[VALUES_MAX];
        size_t n, length = 0, step, piece;
        Mask *m;

        if (size < 3)
                return 0;
        n = data[0] % (VALUES_MAX + 1);
        step = 1 + data[1];
        piece = 1 + data[2];
        data += 3, size -= 3;
        m = mask_new();
        MUST(m);
        for (size_t v = 0; v < n; v++) {
                uint8_t kind = size > 0 ? data[0] : 0;
                size_t seed = size > 0 ? MIN_OF(size - 1, (size_t) 1 + kind % 7) : 0;

                values[v] = (ModelValue) { pool[v], kind & 0x80 ? LONG_SIZE : seed };
                for (size_t i = 0; i < values[v].size; i++)
                        pool[v][i] = letter(seed > 0 ? data[1 + i % seed] : 0);
                data += size > 0 ? 1 + seed : 0;
                size -= size > 0 ? 1 + seed : 0;
                MUST(mask_add(m, values[v].data, values[v].size) >= 0);
        }
        for (; length < sizeof(text) && length < size; length++)
                text[length] = letter(data[length]);
        if (n > 0 && values[0].size == LONG_SIZE && length + LONG_SIZE < sizeof(text)) {
                memcpy(text + length, values[0].data, LONG_SIZE);
                length += LONG_SIZE;
        }
        step = MAX_OF(step, length / READS_MAX);
        piece = MAX_OF(piece, length / READS_MAX);
        MUST(!model_check(m, values, n, text, length, step, piece));
        mask_unref(m);
        return 0;
}
