#include "api/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_HEADER "X-Next-Cursor"

void api_place_print(usec_t at, const char *id, char order, char ret[static API_PLACE_BYTES]) {
        (void) snprintf(ret, API_PLACE_BYTES, "%" PRIx64 "%c%.*s", at, order, SANDBOX_ID_LENGTH, id);
}

int api_place_read(const char *text, char order, ApiPlace *ret) {
        char again[API_PLACE_BYTES], *end;
        ApiPlace p = { .at = strtoull(text, &end, 16) };

        if (*end != order || strlen(end + 1) != SANDBOX_ID_LENGTH)
                return -EINVAL;
        memcpy(p.id, end + 1, SANDBOX_ID_LENGTH);
        api_place_print(p.at, p.id, order, again);
        if (strcmp(again, text) != 0)
                return -EINVAL;
        *ret = p;
        return 0;
}

int api_place_compare(usec_t at, const char *id, const ApiPlace *place) {
        if (at != place->at)
                return at < place->at ? -1 : 1;
        return strcmp(id, place->id);
}

int api_page_cursor(ApiRequest *q, ApiPlace *ret) {
        const char *text = http_query(q->http, "cursor");

        *ret = (ApiPlace) { 0 };
        if (!text)
                return 0;
        if (api_place_read(text, '-', ret) >= 0)
                return 1;
        (void) api_error(q, 400, "invalid", "use 'next' of the page before, or omit it", "cursor: '%.80s' is invalid", text);
        return -EINVAL;
}

int api_page_next(ApiRequest *q, usec_t at, const char *id) {
        char text[API_PLACE_BYTES];

        api_place_print(at, id, '-', text);
        return http_add_header(q->http, NEXT_HEADER, text);
}

int api_page_next_number(ApiRequest *q, uint64_t number) {
        char text[24];

        (void) snprintf(text, sizeof(text), "%" PRIu64, number);
        return http_add_header(q->http, NEXT_HEADER, text);
}
