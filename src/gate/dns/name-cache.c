#include "gate/dns/name-cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uthash.h>
#include <utlist.h>

#include "base/macro.h"

/* One byte for the family, then the name. */
typedef struct NameCacheKey {
        char text[1 + EGRESS_DOMAIN_MAX];
        size_t size;
} NameCacheKey;

typedef struct Entry {
        struct Entry *prev, *next; /* least recently used first */
        usec_t until;
        ResolverAnswer answer;
        UT_hash_handle hh;
        NameCacheKey key;
} Entry;

struct NameCache {
        Entry *entries, *oldest;
        size_t max;
};

static bool name_cache_key_make(const char *name, int family, NameCacheKey *ret) {
        size_t length = strlen(name);

        if (length >= EGRESS_DOMAIN_MAX)
                return false;
        ret->text[0] = family == AF_INET6 ? '6' : '4';
        memcpy(ret->text + 1, name, length);
        ret->size = 1 + length;
        return true;
}

static Entry *entry_find(NameCache *c, const NameCacheKey *key) {
        Entry *e;

        HASH_FIND(hh, c->entries, key->text, key->size, e);
        return e;
}

static void entry_remove(NameCache *c, Entry *e) {
        HASH_DELETE(hh, c->entries, e);
        DL_DELETE(c->oldest, e);
        free(e);
}

static void entry_used(NameCache *c, Entry *e) {
        DL_DELETE(c->oldest, e);
        DL_APPEND(c->oldest, e);
}

static Entry *name_cache_entry_new(NameCache *c, const NameCacheKey *key) {
        Entry *e;

        if (HASH_COUNT(c->entries) >= c->max)
                entry_remove(c, c->oldest);
        e = calloc(1, sizeof(*e));
        if (!e)
                return NULL;
        e->key = *key;
        HASH_ADD(hh, c->entries, key.text, e->key.size, e);
        DL_APPEND(c->oldest, e);
        return e;
}

int name_cache_new(size_t max, NameCache **ret) {
        NameCache *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        c->max = max;
        *ret = c;
        return 0;
}

void name_cache_clear(NameCache *c) {
        while (c->oldest)
                entry_remove(c, c->oldest);
}

NameCache *name_cache_free(NameCache *c) {
        if (c)
                name_cache_clear(c);
        free(c);
        return NULL;
}

size_t name_cache_count(const NameCache *c) {
        return HASH_COUNT(c->entries);
}

int name_cache_put(NameCache *c, const char *name, int family, const ResolverAnswer *a, usec_t now) {
        uint32_t ttl;
        Entry *e;
        NameCacheKey key;

        if (a->error == 0)
                ttl = MAX_OF(MIN_OF(a->ttl, (uint32_t) RESOLVER_TTL_MAX), (uint32_t) RESOLVER_TTL_MIN);
        else if (a->error == -ENOENT || a->error == -ENODATA)
                ttl = RESOLVER_TTL_NEGATIVE;
        else
                return 0;
        if (!name_cache_key_make(name, family, &key))
                return -EINVAL;
        e = entry_find(c, &key);
        if (e)
                entry_used(c, e);
        else
                e = name_cache_entry_new(c, &key);
        if (!e)
                return -ENOMEM;
        e->answer = *a;
        e->until = now + ttl * USEC_PER_SEC;
        return 0;
}

bool name_cache_get(NameCache *c, const char *name, int family, usec_t now, ResolverAnswer *ret) {
        Entry *e;
        NameCacheKey key;

        if (!name_cache_key_make(name, family, &key))
                return false;
        e = entry_find(c, &key);
        if (!e)
                return false;
        if (e->until <= now) {
                entry_remove(c, e);
                return false;
        }
        entry_used(c, e);
        *ret = e->answer;
        ret->ttl = MAX_OF((uint32_t) ((e->until - now) / USEC_PER_SEC), (uint32_t) RESOLVER_TTL_MIN);
        return true;
}
