/* given.c: the values that each sandbox was given: in its mask and, sealed, in the store. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/mask.h"
#include "vault/rows.h"
#include "vault/internal.h"

static SealPlace given_place_of(const char *sandbox) {
        return (SealPlace) { "given", sandbox, "" };
}

static int mask_of(Sandbox *sb) {
        if (!sb->mask)
                sb->mask = mask_new();
        return sb->mask ? 0 : -ENOMEM;
}

static int given_write_down(Vault *v, const Sandbox *sb, const void *value, size_t size) {
        const SealPlace place = given_place_of(sb->id);
        uint8_t *sealed = malloc(size + SEAL_EXTRA);
        int r;

        if (!sealed)
                return -ENOMEM;
        seal_close(v->key, &place, value, size, sealed);
        r = store_given_add(v->manager->store, sb->id, sealed, size + SEAL_EXTRA);
        free(sealed);
        return r;
}

int vault_mask_remember(Vault *v, Sandbox *sb, const void *value, size_t size, Error *reterr) {
        int r = mask_of(sb);

        if (r >= 0 && (size < MASK_MIN || mask_has(sb->mask, value, size)))
                return 0;
        if (!vault_is_open(v, reterr))
                return -EKEYREVOKED; /* without a sealed copy it would be shown after a restart */
        if (r >= 0 && !mask_fits(sb->mask, value, size))
                return error_set(reterr, -E2BIG,
                                "a value of %zu bytes cannot be hidden in what this sandbox prints beside the %zu that it was given already: at most %d can, and %zu KiB of "
                                "them in all their spellings, of which %zu are used: give it fewer or shorter ones, or make another sandbox",
                                size, mask_count(sb->mask), MASK_VALUES_MAX, MASK_BYTES_MAX >> 10, mask_bytes(sb->mask) >> 10);
        if (r >= 0)
                r = given_write_down(v, sb, value, size);
        if (r >= 0)
                r = mask_add(sb->mask, value, size);
        return r < 0 ? error_set(reterr, r, "cannot remember which values to hide: %m") : 0;
}

static int load_row(const SecretRow *row, void *userdata) {
        Vault *v = userdata;
        const SealPlace place = given_place_of(row->name);
        size_t size = row->size - MIN_OF(row->size, (size_t) SEAL_EXTRA);
        Sandbox *sb = manager_by_id(v->manager, row->name);
        char *value;
        int r;

        if (!sb)
                return 0;
        value = malloc(size + 1);
        r = value ? mask_of(sb) : -ENOMEM;
        if (r >= 0)
                r = v->open ? seal_open(v->key, &place, row->sealed, row->size, value) : -EKEYREVOKED;
        if (r >= 0)
                r = mask_add(sb->mask, value, size);
        vault_wipe(value, size);
        if (r >= 0 || r == -ENOMEM)
                return r;
        if (v->open && !sb->mask_lost)
                log_error("sandbox %s: a value that it was given cannot be read any more, or not be hidden with the others; its output is not shown", sb->id);
        sb->mask_lost = true;
        return 0;
}

int given_load(Vault *v) {
        return store_given_each(v->manager->store, load_row, v);
}
