#include "init/file-seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define FREE  UINT64_C(0)
#define TAKEN UINT64_C(1) /* was there; the search goes on behind it */

static uint64_t file_seen_hash(int wd, const char *name) {
        uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t) (unsigned) wd;

        h *= UINT64_C(0x100000001b3);
        for (const char *p = name; *p; p++)
                h = (h ^ (uint8_t) *p) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
        return h > TAKEN ? h : h + 2;
}

/* Its slot, or the free one where it would be. */
static uint64_t *slot(const FileSeen *s, uint64_t h) {
        size_t i = (size_t) (h & (s->room - 1));

        while (s->slots[i] != FREE && s->slots[i] != h)
                i = (i + 1) & (s->room - 1);
        return s->slots + i;
}

static int file_seen_grow(FileSeen *s) {
        FileSeen larger = { .room = MAX_OF(s->room * 2, (size_t) 256) };

        larger.slots = calloc(larger.room, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < s->room; i++)
                if (s->slots[i] > TAKEN) {
                        *slot(&larger, s->slots[i]) = s->slots[i];
                        larger.n++;
                }
        free(s->slots);
        *s = larger;
        return 0;
}

int file_seen_add(FileSeen *s, int wd, const char *name) {
        uint64_t h = file_seen_hash(wd, name), *p;

        if ((s->n + 1) * 2 > s->room) {
                int r = file_seen_grow(s);
                if (r < 0)
                        return r;
        }
        p = slot(s, h);
        if (*p == FREE) {
                *p = h;
                s->n++;
        }
        return 0;
}

bool seen_take(FileSeen *s, int wd, const char *name) {
        uint64_t *p;

        if (s->n == 0)
                return false;
        p = slot(s, file_seen_hash(wd, name));
        if (*p == FREE)
                return false;
        *p = TAKEN;
        return true;
}

void seen_clear(FileSeen *s) {
        free(s->slots);
        *s = (FileSeen) { 0 };
}
