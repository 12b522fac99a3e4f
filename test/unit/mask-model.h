/* mask-model.h: what a mask must do, written so plainly that it can only be right: every place is compared with every value. For values
 * that are looked for as they are: of 4 to 7 bytes, or of more than MASK_BASE64_MAX, and without newlines. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "core/mask.h"

typedef struct ModelValue {
        const uint8_t *data;
        size_t size;
} ModelValue;

/* As it looks when nothing comes behind it. */
static inline void model_apply(const ModelValue *values, size_t n, const uint8_t *text, size_t size, uint8_t *ret) {
        memcpy(ret, text, size);
        for (size_t v = 0; v < n; v++)
                for (size_t i = 0; values[v].size >= MASK_MIN && i + values[v].size <= size; i++)
                        if (memcmp(text + i, values[v].data, values[v].size) == 0)
                                memset(ret + i, '*', values[v].size);
}

/* Whether the bytes from `at` to the end may be the beginning of a value. */
static inline bool model_pending(const ModelValue *values, size_t n, const uint8_t *text, size_t size, size_t at) {
        for (size_t v = 0; v < n; v++)
                if (values[v].size >= MASK_MIN && values[v].size > size - at && memcmp(text + at, values[v].data, size - at) == 0)
                        return true;
        return false;
}

/* NULL: all is well; else what is not. Reads a file that grows by `step`, in pieces of `piece`, and the whole of it at the end. */
static inline const char *model_check(const Mask *m, const ModelValue *values, size_t n, const uint8_t *text, size_t size, size_t step, size_t piece) {
        uint8_t *wanted = malloc(size + 1), *found = malloc(size + piece + 1);
        int fd = memfd_create("journal", MFD_CLOEXEC);
        size_t at = 0, end = 0, longest = 0;
        const char *wrong = NULL;

        if (!wanted || !found || fd < 0)
                return "no memory";
        model_apply(values, n, text, size, wanted);
        for (size_t v = 0; v < n; v++)
                longest = MAX_OF(longest, values[v].size);
        do {
                size_t more = size - end < step ? size - end : step;
                ssize_t got;
                uint64_t shown;

                if (write(fd, text + end, more) != (ssize_t) more)
                        wrong = "cannot write";
                end += more;
                if (mask_shown_end(m, mask_read_fd, &fd, end, end == size, &shown) < 0)
                        wrong = "no end";
                while ((got = mask_read(m, mask_read_fd, &fd, end, end == size, found + at, piece, at)) > 0)
                        at += (size_t) got;
                if (got < 0)
                        wrong = "cannot read";
                if (at != shown)
                        wrong = "what is shown ends elsewhere";
                if (at > end || memcmp(found, wanted, at) != 0)
                        wrong = "a follower has seen something else";
                if (end < size && at < end) { /* only what must be held back is */
                        bool pending = false;

                        for (size_t i = end - MIN_OF(end, longest); i <= at && !pending; i++)
                                pending = model_pending(values, n, text, end, i);
                        if (!pending)
                                wrong = "held back without a reason";
                }
        } while (end < size && !wrong);
        if (!wrong && at != size)
                wrong = "the end is missing";
        for (size_t from = 0; from < size && !wrong; from += 1 + size / 10) {
                ssize_t got = mask_read(m, mask_read_fd, &fd, size, /* final= */ true, found, size, from);

                if (got != (ssize_t) (size - from) || memcmp(found, wanted + from, size - from) != 0)
                        wrong = "a cursor in the middle sees something else";
        }
        (void) close(fd);
        free(wanted);
        free(found);
        return wrong;
}
