/* HTTP of any guest and any server. The first byte says which, and how large the portions are: however it is cut, the same comes out. What is
 * taken for a head, written out again, is read the same again: nobody behind us can see another one in it. */
#include "fuzz.h"

#include <errno.h>

#include "base/macro.h"
#include "gate/http/http-frame.h"
#include "gate/http/http-head.h"
#include "gate/http/http-target.h"

static int read_head(bool request, const uint8_t *data, size_t size, size_t *scanned, HttpHead *ret) {
        return request ? http_head_read_request(data, size, scanned, ret) : http_head_read_response(data, size, scanned, false, ret);
}

static void write_again(bool request, const HttpHead *h) {
        _cleanup_free_ char *text = malloc(h->size + 64 + 4 * h->n_fields);
        size_t n, scanned = 0;
        HttpHead again = { 0 };

        MUST(text);
        if (request)
                n = (size_t) sprintf(text, "%s %s HTTP/1.%u\r\n", h->method, h->target, h->minor);
        else
                n = (size_t) sprintf(text, "HTTP/1.%u %03u %s\r\n", h->minor, h->status, h->phrase);
        for (size_t i = 0; i < h->n_fields; i++)
                n += (size_t) sprintf(text + n, "%s: %s\r\n", h->fields[i].name, h->fields[i].value);
        n += (size_t) sprintf(text + n, "\r\n");
        if (n >= HEAD_MAX)
                return;
        MUST(read_head(request, (uint8_t *) text, n, &scanned, &again) == 1);
        MUST(again.framing == h->framing && again.length == h->length && again.n_fields == h->n_fields);
        http_head_done(&again);
}

static void check_target(const HttpHead *h) {
        HttpAuthority authority;
        HttpTarget t = { 0 };
        char *again;

        if (http_head_field(h, "Host"))
                (void) http_authority_parse(http_head_field(h, "Host"), &authority);
        if (http_target_parse(h->method, h->target, &t) < 0)
                return;
        if (t.path[0] == '/') { /* the normal form is one */
                MUST(http_path_normalise(t.path, strlen(t.path), &again) == 0);
                MUST(strcmp(again, t.path) == 0);
                MUST(!strstr(t.path, "/../") && !strstr(t.path, "/./"));
                free(again);
        }
        http_target_done(&t);
}

/* The sum of a body that comes in portions. */
static ssize_t unframe(HttpFrame *f, const uint8_t *data, size_t size, size_t portion, uint64_t *ret_sum) {
        size_t used = 0, end = 0;

        for (;;) {
                const uint8_t *piece;
                size_t n_piece;
                ssize_t n = http_frame_next(f, data + used, end - used, &piece, &n_piece);

                if (n < 0)
                        return n;
                MUST((size_t) n <= end - used && n_piece <= (size_t) n);
                for (size_t i = 0; i < n_piece; i++)
                        *ret_sum = *ret_sum * 31 + piece[i];
                used += (size_t) n;
                if (n == 0 && (end == size || http_frame_is_over(f)))
                        return (ssize_t) used;
                if (n == 0)
                        end = MIN_OF(end + portion, size);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        HttpHead whole = { 0 }, part = { 0 };
        size_t portion, scanned = 0, again = 0;
        bool request;
        int r, q = 0;

        if (size == 0)
                return 0;
        request = data[0] % 2 == 0;
        portion = 1 + data[0] / 2U % 64U;
        data++;
        size--;
        (void) http_sniff(data, size);
        r = read_head(request, data, size, &scanned, &whole);
        for (size_t n = portion; q == 0; n += portion) {
                q = read_head(request, data, MIN_OF(n, size), &again, &part);
                if (n >= size)
                        break;
        }
        MUST(r == q);
        if (r == 1) {
                HttpFrame a, b;
                uint64_t sum_a = 0, sum_b = 0;
                ssize_t n, m;

                MUST(whole.size == part.size && whole.framing == part.framing && whole.n_fields == part.n_fields);
                write_again(request, &whole);
                if (request)
                        check_target(&whole);
                http_frame_init(&a, whole.framing, whole.length);
                http_frame_init(&b, whole.framing, whole.length);
                n = unframe(&a, data + whole.size, size - whole.size, SIZE_MAX / 2, &sum_a);
                m = unframe(&b, data + whole.size, size - whole.size, portion, &sum_b);
                MUST(n == m);
                if (n >= 0)
                        MUST(sum_a == sum_b && a.total == b.total && a.state == b.state);
        }
        http_head_done(&whole);
        http_head_done(&part);
        return 0;
}
