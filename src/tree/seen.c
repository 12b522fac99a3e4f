#include "tree/seen.h"

#include <sys/random.h>

void seen_init(Seen *s) {
        *s = (Seen) { 0 };
        (void) getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK);
}

void seen_done(Seen *s) {
        hashset_done(&s->names);
}

static uint64_t seen_mix(uint64_t h) {
        h ^= h >> 33;
        h *= UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 33;
        h *= UINT64_C(0xc4ceb9fe1a85ec53);
        return h ^ (h >> 33);
}

static uint64_t seen_hash(const Seen *s, const struct stat *directory, const char *name) {
        return seen_mix(hash_text(seen_mix(s->seed ^ directory->st_ino) ^ directory->st_dev, name));
}

int seen_add(Seen *s, const struct stat *directory, const char *name) {
        return hashset_add(&s->names, seen_hash(s, directory, name));
}

bool seen_has(const Seen *s, const struct stat *directory, const char *name) {
        return hashset_has(&s->names, seen_hash(s, directory, name));
}
