/* exchange-answer.c: the response of an exchange, as it arrives. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "registry/exchange-internal.h"

#define COMPLAINT_MAX 4096 /* bytes kept of an error response */

static void forget_headers(Exchange *x) {
        x->type[0] = x->digest[0] = x->location[0] = x->challenge[0] = 0;
        x->length = x->range_from = UINT64_MAX;
}

static void exchange_answer_copy_text(char *to, size_t room, const char *value) {
        if (strlen(value) < room)
                (void) strcpy(to, value);
}

static void take_type(Exchange *x, const char *value) {
        exchange_answer_copy_text(x->type, sizeof(x->type), value);
        x->type[strcspn(x->type, "; \t")] = 0;
}

static void exchange_answer_take_digest(Exchange *x, const char *value) {
        exchange_answer_copy_text(x->digest, sizeof(x->digest), value);
}

static void take_location(Exchange *x, const char *value) {
        exchange_answer_copy_text(x->location, sizeof(x->location), value);
}

static void take_challenge(Exchange *x, const char *value) {
        if (!x->challenge[0] || strncasecmp(value, "Bearer", 6) == 0)
                exchange_answer_copy_text(x->challenge, sizeof(x->challenge), value);
}

static void take_length(Exchange *x, const char *value) {
        (void) parse_uint64(value, 0, INT64_MAX, &x->length);
}

static void take_range(Exchange *x, const char *value) {
        char number[24] = "";

        if (strncasecmp(value, "bytes ", 6) != 0)
                return;
        value += 6 + strspn(value + 6, " ");
        (void) strncat(number, value, MIN_OF(strspn(value, "0123456789"), sizeof(number) - 1));
        (void) parse_uint64(number, 0, INT64_MAX, &x->range_from);
}

static const struct {
        const char *name;
        void (*take)(Exchange *x, const char *value);
} wanted[] = {
        { "Content-Type",          take_type      },
        { "Content-Length",        take_length    },
        { "Content-Range",         take_range     },
        { "Docker-Content-Digest", exchange_answer_take_digest    },
        { "Location",              take_location  },
        { "WWW-Authenticate",      take_challenge },
};

void exchange_on_header(const char *name, const char *value, void *userdata) {
        Exchange *x = userdata;

        if (!name)
                forget_headers(x); /* another response begins: void the headers of the redirect */
        for (size_t k = 0; name && k < ELEMENTSOF(wanted); k++)
                if (strcasecmp(name, wanted[k].name) == 0)
                        wanted[k].take(x, value);
}

static int take_good(Exchange *x, const void *data, size_t size) {
        if (x->on_data)
                return x->on_data(x, data, size);
        if (size > x->answer_max - x->answer.size)
                return -EFBIG;
        text_put(&x->answer, data, size);
        return x->answer.error;
}

/* Keeps the beginning, which has the reason. Stops an error response that is too long. */
static int take_bad(Exchange *x, const void *data, size_t size) {
        size_t room = COMPLAINT_MAX - MIN_OF(x->answer.size, (size_t) COMPLAINT_MAX);

        text_put(&x->answer, data, MIN_OF(size, room));
        if (size > room)
                x->cut = true;
        return x->cut ? -EFBIG : x->answer.error;
}

int exchange_on_data(unsigned status, const void *data, size_t size, void *userdata) {
        Exchange *x = userdata;

        x->status = (int) status;
        return status >= 200 && status < 300 ? take_good(x, data, size) : take_bad(x, data, size);
}
