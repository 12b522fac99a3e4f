#include "api/accept.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

/* The client's preference for a type; larger values win. */
typedef struct Liking {
        unsigned precision; /* 0: not named, 1: by the widest wildcard, 2: by type, 3: in full */
        unsigned quality;   /* thousandths */
        size_t position;    /* in the header */
} Liking;

/* The q parameter of one range, as in "q=0.5"; 1000 if absent, 0 if invalid. */
static unsigned range_quality(const char *parameters, size_t size) {
        const char *p = parameters, *end = parameters + size;

        while (p < end) {
                p += strspn(p, "; \t");
                if (end - p > 2 && (p[0] == 'q' || p[0] == 'Q') && p[1] == '=') {
                        double q = p[2] == '0' || p[2] == '1' ? strtod(p + 2, NULL) : 0;

                        return q > 0 && q <= 1 ? (unsigned) (q * 1000) : 0;
                }
                while (p < end && *p != ';')
                        p++;
        }
        return 1000;
}

static unsigned range_precision(const char *range, size_t size, const char *type) {
        size_t major = strcspn(type, "/") + 1;

        if (size == strlen(type) && strncasecmp(range, type, size) == 0)
                return 3;
        if (size == major + 1 && range[major] == '*' && strncasecmp(range, type, major) == 0)
                return 2;
        return size == 3 && strncmp(range, "*/*", 3) == 0 ? 1 : 0;
}

static Liking header_liking(const char *header, const char *type) {
        Liking best = { 0 };
        const char *p = header;

        for (size_t position = 0; *p; position++) {
                size_t whole, size;
                unsigned precision;

                p += strspn(p, ", \t");
                whole = strcspn(p, ",");
                size = MIN_OF(strcspn(p, "; \t"), whole);
                precision = size > 0 ? range_precision(p, size, type) : 0;
                if (precision > best.precision)
                        best = (Liking) { precision, range_quality(p + size, whole - size), position };
                p += whole;
        }
        return best;
}

static bool accept_is_better(const Liking *a, const Liking *b) {
        if (a->quality != b->quality)
                return a->quality > b->quality;
        if (a->precision != b->precision)
                return a->precision > b->precision;
        return a->position < b->position;
}

int accept_choose(const char *header, const char *const *types, size_t n) {
        Liking best = { 0 };
        int choice = -ENOENT;

        if (!header || header[strspn(header, " \t")] == '\0')
                return 0;
        for (size_t i = 0; i < n; i++) {
                Liking l = header_liking(header, types[i]);

                if (l.precision > 0 && l.quality > 0 && (choice < 0 || accept_is_better(&l, &best))) {
                        best = l;
                        choice = (int) i;
                }
        }
        return choice;
}
