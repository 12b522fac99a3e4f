#include "base/word.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define WORD_MAX 32

static bool same_letter(char a, char b) {
        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

unsigned word_distance(const char *a, const char *b) {
        size_t n = strlen(a), m = strlen(b);
        unsigned row[WORD_MAX + 1];

        if (n > WORD_MAX || m > WORD_MAX)
                return WORD_MAX;
        for (size_t j = 0; j <= m; j++)
                row[j] = (unsigned) j;
        for (size_t i = 1; i <= n; i++) {
                unsigned diagonal = row[0];

                row[0] = (unsigned) i;
                for (size_t j = 1; j <= m; j++) {
                        unsigned changed = diagonal + !same_letter(a[i - 1], b[j - 1]), longer = MIN_OF(row[j], row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = MIN_OF(changed, longer);
                }
        }
        return row[m];
}

unsigned word_tolerance(const char *word) {
        return strlen(word) < 4 ? 2 : 3;
}

bool word_is_nearer(const char *word, const char *candidate, unsigned *best) {
        size_t length = strlen(word);
        unsigned d = word_distance(word, candidate);

        if (length > 1 && strncasecmp(word, candidate, length) == 0)
                d = MIN_OF(d, 1U); /* the beginning of a longer word */
        if (d >= *best)
                return false;
        *best = d;
        return true;
}
