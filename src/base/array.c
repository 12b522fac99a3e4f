#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define ROOM_FIRST ((size_t) 16)
#define BYTES_MAX  (SIZE_MAX >> 24) /* far more than any array may have; an allocator that checks would end the process for more than it can count */

/* The array pointer may have any type, which is not compatible with void **: it is copied as bytes. */
static int array_resize(void *items, size_t room, size_t size) {
        void *array;

        if (room > BYTES_MAX / size)
                return -ENOMEM;
        memcpy(&array, items, sizeof(array));
        array = reallocarray(array, room, size);
        if (!array)
                return -ENOMEM;
        memcpy(items, &array, sizeof(array));
        return 0;
}

int array_reserve(void *items, size_t *room, size_t needed, size_t size) {
        size_t more = MAX_OF(*room * 2, ROOM_FIRST), wanted = MAX_OF(needed, more);
        int r;

        if (needed <= *room)
                return 0;
        r = array_resize(items, wanted, size);
        if (r >= 0)
                *room = wanted;
        return r;
}

int array_extend(void *items, size_t n, size_t size) {
        return array_resize(items, n + 1, size);
}
