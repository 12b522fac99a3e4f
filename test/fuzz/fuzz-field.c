/* Values of headers and queries, by anybody: ranges, types, percent, times, cookies, signed links. The first byte says which. */
#include "fuzz.h"

#include <errno.h>

#include "api/accept.h"
#include "api/e2b/connect/connect-json.h"
#include "api/percent.h"
#include "api/preview/preview.h"
#include "api/range.h"

static void check_range(const char *text) {
        uint64_t first = 0, length = 0;

        for (uint64_t size = 0; size < 1000; size = size * 3 + 1)
                if (range_parse(text, size, &first, &length) == RANGE_PART)
                        MUST(length > 0 && first < size && length <= size - first);
}

static void check_percent(const char *text, size_t size) {
        _cleanup_free_ char *decoded = malloc(size + 1);
        size_t n = 0;

        MUST(decoded);
        if (percent_decode(text, size, decoded, &n) == 0)
                MUST(n <= size && decoded[n] == '\0' && strlen(decoded) == n);
}

static void check_accept(const char *text) {
        static const char *const types[] = { "application/json", "application/x-ndjson", "text/event-stream" };
        int k = accept_choose(text, types, 3);

        MUST(k == -ENOENT || (k >= 0 && k < 3));
}

/* Nothing that was not signed is a link, and what was is one for its port and time alone. */
static void check_link(const char *text) {
        static const uint8_t key[32] = { 1 };
        char token[PREVIEW_TOKEN_MAX], cookie[64];

        preview_sign(key, "k3v9m2x7q1p5t8w4y6z0a", 8000, 100, token);
        MUST(preview_verify(key, "k3v9m2x7q1p5t8w4y6z0a", 8000, 99, token) && !preview_verify(key, "k3v9m2x7q1p5t8w4y6z0a", 8000, 100, token));
        MUST(!preview_verify(key, "k3v9m2x7q1p5t8w4y6z0a", 8000, 99, text) || strcmp(text, token) == 0);
        if (preview_cookie(text, "cove", cookie, sizeof(cookie)))
                MUST(strlen(cookie) < sizeof(cookie) && strstr(text, cookie));
}

static void check_time(const char *text) {
        int64_t seconds = 0;
        int32_t nanos = 0;

        if (connect_time_parse(text, &seconds, &nanos) == 0)
                MUST(nanos >= 0 && nanos < 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = size > 0 ? fuzz_string(data + 1, size - 1) : NULL;

        if (!text)
                return 0;
        switch (data[0] % 5) {
        case 0:
                check_range(text);
                break;
        case 1:
                check_percent(text, strlen(text));
                break;
        case 2:
                check_accept(text);
                break;
        case 3:
                check_link(text);
                break;
        default:
                check_time(text);
        }
        return 0;
}
