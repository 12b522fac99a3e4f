/* HTTP answers of any server: however they are cut into portions, the same comes out, and nothing that is not there. The first byte
 * says how large the portions are. */
#include "fuzz.h"

#include <errno.h>

#include "base/macro.h"
#include "client/http/http.h"

typedef struct Seen {
        uint64_t size, sum;
} Seen;

static int take(void *userdata, const void *data, size_t size) {
        Seen *seen = userdata;

        MUST(size > 0);
        for (size_t i = 0; i < size; i++)
                seen->sum = seen->sum * 31 + ((const uint8_t *) data)[i];
        seen->size += size;
        return 0;
}

/* Returns the bytes used, or the error. */
static ssize_t feed(HttpReader *h, const uint8_t *data, size_t size, size_t portion) {
        size_t used = 0;

        while (used < size) {
                size_t want = MIN_OF(portion, size - used);
                ssize_t n = http_reader_feed(h, data + used, want);

                if (n < 0)
                        return n;
                MUST((size_t) n <= want);
                used += (size_t) n;
                if ((size_t) n < want) {
                        MUST(http_reader_is_over(h));
                        break;
                }
        }
        return (ssize_t) used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        size_t portion = size > 0 ? 1 + data[0] % 64U : 1;
        Seen whole = { 0 }, parts = { 0 };
        ssize_t n, m;
        HttpReader a, b;

        if (size == 0)
                return 0;
        data++;
        size--;
        http_reader_init(&a, false, take, &whole);
        http_reader_init(&b, false, take, &parts);
        n = feed(&a, data, size, size > 0 ? size : 1);
        m = feed(&b, data, size, portion);
        MUST(n == m);
        MUST(n >= 0 || n == -EBADMSG);
        if (n >= 0) {
                MUST(whole.size == parts.size && whole.sum == parts.sum && a.frame.total == whole.size);
                MUST(a.frame.state == b.frame.state && a.status == b.status && a.head.n_fields == b.head.n_fields);
                MUST(whole.size <= (uint64_t) n);
                MUST(http_reader_end(&a) == http_reader_end(&b));
                for (size_t i = 0; i < a.head.n_fields; i++)
                        MUST(strcmp(a.head.fields[i].name, b.head.fields[i].name) == 0 && strcmp(a.head.fields[i].value, b.head.fields[i].value) == 0);
        }
        http_reader_done(&a);
        http_reader_done(&b);
        return 0;
}
