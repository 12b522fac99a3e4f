#include "base/hashset.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"

#define FREE       UINT64_C(0)
#define TAKEN      UINT64_C(1) /* removed; the search goes on behind it */
#define ROOM_FIRST ((size_t) 256)

static uint64_t hashset_key(uint64_t h) {
        return h > TAKEN ? h : h + 2;
}

/* The slot of the key, or the free slot for it. */
static uint64_t *hashset_slot(const HashSet *s, uint64_t key) {
        size_t i = (size_t) (key & (s->room - 1));

        while (s->slots[i] != FREE && s->slots[i] != key)
                i = (i + 1) & (s->room - 1);
        return s->slots + i;
}

static int hashset_grow(HashSet *s) {
        HashSet larger = { .room = MAX_OF(s->room * 2, ROOM_FIRST) };

        larger.slots = calloc(larger.room, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < s->room; i++)
                if (s->slots[i] > TAKEN) {
                        *hashset_slot(&larger, s->slots[i]) = s->slots[i];
                        larger.n++;
                }
        free(s->slots);
        *s = larger;
        return 0;
}

int hashset_add(HashSet *s, uint64_t h) {
        uint64_t *slot;

        if ((s->n + 1) * 4 > s->room * 3) {
                int r = hashset_grow(s);

                if (r < 0)
                        return r;
        }
        slot = hashset_slot(s, hashset_key(h));
        if (*slot == FREE) {
                *slot = hashset_key(h);
                s->n++;
        }
        return 0;
}

bool hashset_has(const HashSet *s, uint64_t h) {
        return s->n > 0 && *hashset_slot(s, hashset_key(h)) != FREE;
}

bool hashset_take(HashSet *s, uint64_t h) {
        if (!hashset_has(s, h))
                return false;
        *hashset_slot(s, hashset_key(h)) = TAKEN;
        return true;
}

void hashset_done(HashSet *s) {
        free(s->slots);
        *s = (HashSet) { 0 };
}

uint64_t hash_text(uint64_t h, const char *text) {
        for (; *text; text++)
                h = (h ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
        return h;
}
