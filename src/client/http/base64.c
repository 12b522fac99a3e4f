#include "client/http/base64.h"

#include <errno.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void client_base64_encode(const void *data, size_t size, char *ret) {
        const uint8_t *p = data;

        for (; size >= 3; p += 3, size -= 3) {
                *ret++ = letters[p[0] >> 2];
                *ret++ = letters[(p[0] & 3) << 4 | p[1] >> 4];
                *ret++ = letters[(p[1] & 15) << 2 | p[2] >> 6];
                *ret++ = letters[p[2] & 63];
        }
        if (size == 0)
                return;
        *ret++ = letters[p[0] >> 2];
        *ret++ = letters[(p[0] & 3) << 4 | (size == 2 ? p[1] >> 4 : 0)];
        *ret++ = size == 2 ? letters[(p[1] & 15) << 2] : '=';
        *ret++ = '=';
}

#define NONE 0xff

/* The value of a letter, by table: this is on the way of all binary output. */
static const uint8_t *values(void) {
        static uint8_t table[256];

        if (table['/'] == 0) {
                for (unsigned i = 0; i < 256; i++)
                        table[i] = NONE;
                for (uint8_t i = 0; i < 64; i++)
                        table[(unsigned char) letters[i]] = i;
        }
        return table;
}

ssize_t base64_decode(const char *text, size_t size, uint8_t *ret) {
        const uint8_t *value = values(), *p = (const uint8_t *) text;
        uint8_t *to = ret;
        size_t padding = 0;

        if (size % 4 != 0)
                return -EBADMSG;
        if (size > 0)
                padding = (text[size - 1] == '=') + (size_t) (text[size - 1] == '=' && text[size - 2] == '=');

        for (size_t left = size; left > 0; left -= 4, p += 4) {
                size_t n = left == 4 ? 3 - padding : 3;
                uint8_t a = value[p[0]], b = value[p[1]], c = n > 1 ? value[p[2]] : 0, d = n > 2 ? value[p[3]] : 0;

                if (a == NONE || b == NONE || c == NONE || d == NONE)
                        return -EBADMSG;
                if ((n == 1 && (b & 15)) || (n == 2 && (c & 3))) /* bits that belong to nothing */
                        return -EBADMSG;
                *to++ = (uint8_t) (a << 2 | b >> 4);
                if (n > 1)
                        *to++ = (uint8_t) (b << 4 | c >> 2);
                if (n > 2)
                        *to++ = (uint8_t) (c << 6 | d);
        }
        return to - ret;
}
