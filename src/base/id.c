#include "base/id.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

int id_make_tagged(const IdTag *tags, size_t n, char ret[static ID_LENGTH + 1]) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
        uint8_t random[ID_LENGTH];

        if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                return -EIO;
        /* 256 is no multiple of 36: the first four letters are a little likelier, which costs 0.01 bit each. */
        ret[0] = letters[random[0] % 26];
        for (size_t i = 1; i < ID_LENGTH; i++)
                ret[i] = letters[random[i] % 36];
        ret[ID_LENGTH] = '\0';
        if (n > 0)
                memcpy(ret + 1, tags[random[1] % n], ID_TAG_LENGTH);
        return 0;
}

int id_make(char ret[static ID_LENGTH + 1]) {
        return id_make_tagged(/* tags= */ NULL, 0, ret);
}

bool id_is_valid(const char *id) {
        return id[0] >= 'a' && id[0] <= 'z' && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ID_LENGTH &&
               id[ID_LENGTH] == '\0';
}
