/* Lines of events: what is decoded straight from the line is what the JSON library reads in it. */
#include "fuzz.h"

#include <errno.h>

#include "base/macro.h"
#include "client/execution/events.h"

typedef struct Seen {
        unsigned n;
        EventKind kind;
        uint64_t offset;
        uint8_t *data;
        size_t size;
} Seen;

static int take(void *userdata, const Event *e) {
        Seen *seen = userdata;

        seen->n++;
        seen->kind = e->kind;
        seen->offset = e->offset;
        free(seen->data);
        seen->data = malloc(e->size + 1);
        MUST(seen->data);
        if (e->size > 0)
                memcpy(seen->data, e->data, e->size);
        seen->size = e->size;
        return 0;
}

/* The same line with a blank in front, which only the library reads. */
static void compare(const uint8_t *data, size_t size) {
        Seen quick = { 0 }, slow = { 0 };
        EventReader a = { .event = take, .userdata = &quick }, b = { .event = take, .userdata = &slow };
        char *spaced = malloc(size + 1);
        int r, s;

        MUST(spaced);
        spaced[0] = ' ';
        memcpy(spaced + 1, data, size);
        r = event_reader_line(&a, (const char *) data, size);
        s = event_reader_line(&b, spaced, size + 1);
        MUST(r == 0 || r == -EBADMSG);
        MUST(s == 0 || s == -EBADMSG);
        if (s == 0) { /* the library refuses more: bytes that are no UTF-8, control characters, numbers that are too large */
                MUST(r == 0);
                MUST(quick.n == 1 && slow.n == 1 && quick.kind == slow.kind && quick.size == slow.size);
                MUST(memcmp(quick.data, slow.data, quick.size) == 0);
                MUST(quick.offset == slow.offset);
        }
        free(spaced);
        free(quick.data);
        free(slow.data);
        event_reader_done(&a);
        event_reader_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Seen seen = { 0 };
        EventReader r = { .event = take, .userdata = &seen };
        size_t portion = size > 0 ? 1 + data[0] % 32U : 1;

        for (size_t i = 0; i < size; i += portion)
                if (event_reader_feed(&r, data + i, MIN_OF(portion, size - i)) < 0)
                        break;
        event_reader_done(&r);
        free(seen.data);
        if (!memchr(data, '\n', size))
                compare(data, size);
        return 0;
}
