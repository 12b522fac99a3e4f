#include "api/percent.h"

#include <errno.h>

#include "base/text.h"

int percent_decode(const char *text, size_t size, char *ret, size_t *ret_size) {
        size_t n = 0;

        for (size_t i = 0; i < size; i++) {
                int c = (unsigned char) text[i];

                if (c == '%') {
                        if (size - i < 3 || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0)
                                return -EILSEQ;
                        c = hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]);
                        i += 2;
                }
                if (c == '\0')
                        return -EILSEQ;
                ret[n++] = (char) c;
        }
        ret[n] = '\0';
        *ret_size = n;
        return 0;
}
