#include "tree/seen.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define SLOTS_FIRST 1024 /* a power of two, as all that follow */

void seen_init(Seen *s) {
        *s = (Seen) { 0 };
        (void) getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK);
}

void seen_done(Seen *s) {
        free(s->slots);
        *s = (Seen) { 0 };
}

static uint64_t seen_mix(uint64_t h) {
        h ^= h >> 33;
        h *= UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 33;
        h *= UINT64_C(0xc4ceb9fe1a85ec53);
        return h ^ (h >> 33);
}

static uint64_t seen_hash(const Seen *s, const struct stat *directory, const char *name) {
        uint64_t h = seen_mix(s->seed ^ directory->st_ino) ^ directory->st_dev;

        for (; *name; name++)
                h = (h ^ (unsigned char) *name) * UINT64_C(0x100000001b3);
        h = seen_mix(h);
        return h ? h : 1;
}

static uint64_t *seen_find(uint64_t *slots, size_t n_slots, uint64_t h) {
        size_t i = h & (n_slots - 1);

        while (slots[i] && slots[i] != h)
                i = (i + 1) & (n_slots - 1);
        return slots + i;
}

static int seen_grow(Seen *s) {
        size_t n = s->n_slots ? s->n_slots * 2 : SLOTS_FIRST;
        uint64_t *slots = calloc(n, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_slots; i++)
                if (s->slots[i])
                        *seen_find(slots, n, s->slots[i]) = s->slots[i];
        free(s->slots);
        s->slots = slots;
        s->n_slots = n;
        return 0;
}

int seen_add(Seen *s, const struct stat *directory, const char *name) {
        uint64_t h = seen_hash(s, directory, name), *slot;

        if ((s->n + 1) * 4 > s->n_slots * 3) {
                int r = seen_grow(s);
                if (r < 0)
                        return r;
        }
        slot = seen_find(s->slots, s->n_slots, h);
        if (!*slot) {
                *slot = h;
                s->n++;
        }
        return 0;
}

bool seen_has(const Seen *s, const struct stat *directory, const char *name) {
        return s->n_slots > 0 && *seen_find(s->slots, s->n_slots, seen_hash(s, directory, name)) != 0;
}
