/* base64.c: decodes base64 of JSON requests: either alphabet, with or without padding. */

#include <errno.h>

#include "base/text.h"

static int base64_letter_value(char c) {
        if (c >= 'A' && c <= 'Z')
                return c - 'A';
        if (c >= 'a' && c <= 'z')
                return c - 'a' + 26;
        if (c >= '0' && c <= '9')
                return c - '0' + 52;
        if (c == '+' || c == '-')
                return 62;
        return c == '/' || c == '_' ? 63 : -1;
}

/* Returns the number of letters without the padding; negative if the padding has the wrong length. */
static ssize_t without_padding(const char *text, size_t size) {
        size_t n = size;

        while (n > 0 && size - n < 2 && text[n - 1] == '=')
                n--;
        if ((size != n && size % 4 != 0) || n % 4 == 1)
                return -EBADMSG;
        return (ssize_t) n;
}

ssize_t base64_read(const char *text, size_t size, uint8_t *ret) {
        ssize_t n = without_padding(text, size);
        uint32_t bits = 0;
        unsigned have = 0;
        size_t k = 0;

        if (n < 0)
                return n;
        for (size_t i = 0; i < (size_t) n; i++) {
                int value = base64_letter_value(text[i]);

                if (value < 0)
                        return -EBADMSG;
                bits = bits << 6 | (uint32_t) value;
                have += 6;
                if (have < 8)
                        continue;
                have -= 8;
                ret[k++] = (uint8_t) (bits >> have);
                bits &= (1U << have) - 1;
        }
        return (ssize_t) k;
}
