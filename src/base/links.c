#include "base/links.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64 /* a power of two, as all that follow */

static LinkSeen *links_find(LinkSeen *slots, size_t n_slots, dev_t dev, ino_t ino) {
        size_t i = (size_t) ((ino * UINT64_C(0x9e3779b97f4a7c15)) >> 20 ^ dev) & (n_slots - 1);

        while (slots[i].path && (slots[i].dev != dev || slots[i].ino != ino))
                i = (i + 1) & (n_slots - 1);
        return slots + i;
}

static int tree_links_grow(Links *l) {
        size_t n = l->n_slots ? l->n_slots * 2 : SLOTS_FIRST;
        LinkSeen *slots = calloc(n, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < l->n_slots; i++)
                if (l->slots[i].path)
                        *links_find(slots, n, l->slots[i].dev, l->slots[i].ino) = l->slots[i];
        free(l->slots);
        l->slots = slots;
        l->n_slots = n;
        return 0;
}

int links_first(Links *l, const struct stat *st, const char *path, const char **ret) {
        LinkSeen *slot;

        *ret = NULL;
        if (st->st_nlink < 2 || S_ISDIR(st->st_mode))
                return 0;
        if ((l->n + 1) * 4 > l->n_slots * 3) {
                int r = tree_links_grow(l);
                if (r < 0)
                        return r;
        }
        slot = links_find(l->slots, l->n_slots, st->st_dev, st->st_ino);
        if (slot->path) {
                *ret = slot->path;
                return 0;
        }
        *slot = (LinkSeen) { .dev = st->st_dev, .ino = st->st_ino, .path = strdup(path) };
        if (!slot->path)
                return -ENOMEM;
        l->n++;
        return 0;
}

void links_done(Links *l) {
        for (size_t i = 0; i < l->n_slots; i++)
                free(l->slots[i].path);
        free(l->slots);
        *l = (Links) { 0 };
}
