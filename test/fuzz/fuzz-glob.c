/* Patterns of callers against paths of guests: what matches is what a slow reading of the same words says, place by place. The pattern is the first line. */
#include "fuzz.h"

#include "agent/glob.h"

#define PATTERN_MAX 200
#define PATH_MOST 256

/* fits[j]: the rest of the pattern fits the path from j on. From the pattern's end to its beginning. */
static bool slowly(const char *pattern, const char *path) {
        size_t m = strlen(pattern), n = strlen(path);
        bool fits[PATTERN_MAX + 1][PATH_MOST + 1];

        for (size_t i = m + 1; i-- > 0;)
                for (size_t j = n + 1; j-- > 0;) {
                        const char *p = pattern + i;
                        bool deep = p[0] == '*' && p[1] == '*', parts = deep && p[2] == '/';

                        if (j == n)
                                fits[i][j] = !*p || (*p == '*' && fits[i + 1 + deep + parts][j]);
                        else if (deep)
                                fits[i][j] = fits[i + 2 + parts][j] || (parts ? false : fits[i][j + 1]);
                        else if (*p == '*')
                                fits[i][j] = fits[i + 1][j] || (path[j] != '/' && fits[i][j + 1]);
                        else
                                fits[i][j] = (*p == '?' ? path[j] != '/' : *p && *p == path[j]) && fits[i + 1][j + 1];
                        for (size_t k = j; parts && k < n && !fits[i][j]; k++) /* or from any part that follows */
                                fits[i][j] = path[k] == '/' && fits[i + 3][k + 1];
                }
        return fits[0][0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = fuzz_string(data, size), *path = strchr(text, '\n');

        if (path)
                *path++ = '\0';
        if (path && strlen(text) <= PATTERN_MAX && strlen(path) <= PATH_MOST)
                MUST(glob_match(text, path) == slowly(text, path));
        free(text);
        return 0;
}
