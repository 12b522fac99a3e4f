#include "gate/dns/pins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

typedef struct PinAddress PinAddress;

typedef struct Pin {
        PinAddress *of;
        struct Pin *prev, *next;             /* of all, least recently told first */
        struct Pin *name_prev, *name_next;   /* of this address, the newest first */
        usec_t told_at;
        UT_hash_handle hh;
        /* the key: */
        IpAddress address;
        char name[];
} Pin;

struct PinAddress {
        IpAddress address;
        Pin *names;
        UT_hash_handle hh;
};

struct Pins {
        Pin *by_name; /* and address */
        PinAddress *by_address;
        Pin *oldest;
        size_t n;
};

/* Address and name in one piece, as they lie in a Pin. */
typedef struct PinKey {
        IpAddress address;
        char name[EGRESS_DOMAIN_MAX];
} PinKey;

static size_t pins_key_make(PinKey *key, const char *name, const IpAddress *address) {
        size_t length = strlen(name);

        if (length == 0 || length >= sizeof(key->name))
                return 0;
        key->address = *address;
        memcpy(key->name, name, length);
        return sizeof(key->address) + length;
}

static Pin *pin_find(const Pins *p, const char *name, const IpAddress *address) {
        PinKey key;
        size_t size = pins_key_make(&key, name, address);
        Pin *pin = NULL;

        if (size > 0)
                HASH_FIND(hh, p->by_name, &key, size, pin);
        return pin;
}

static PinAddress *address_find(const Pins *p, const IpAddress *address) {
        PinAddress *a;

        HASH_FIND(hh, p->by_address, address, sizeof(*address), a);
        return a;
}

static PinAddress *address_get(Pins *p, const IpAddress *address) {
        PinAddress *a = address_find(p, address);

        if (a)
                return a;
        a = calloc(1, sizeof(*a));
        if (!a)
                return NULL;
        a->address = *address;
        HASH_ADD(hh, p->by_address, address, sizeof(a->address), a);
        return a;
}

static void pin_remove(Pins *p, Pin *pin) {
        PinAddress *a = pin->of;

        HASH_DELETE(hh, p->by_name, pin);
        DL_DELETE(p->oldest, pin);
        DL_DELETE2(a->names, pin, name_prev, name_next);
        if (!a->names) {
                HASH_DELETE(hh, p->by_address, a);
                free(a);
        }
        free(pin);
        p->n--;
}

static void pins_expire(Pins *p, usec_t now) {
        while (p->oldest && now > PIN_KEEP_USEC && p->oldest->told_at < now - PIN_KEEP_USEC)
                pin_remove(p, p->oldest);
}

static void pin_renew(Pins *p, Pin *pin, usec_t now) {
        pin->told_at = now;
        DL_DELETE(p->oldest, pin);
        DL_APPEND(p->oldest, pin);
        DL_DELETE2(pin->of->names, pin, name_prev, name_next);
        DL_PREPEND2(pin->of->names, pin, name_prev, name_next);
}

static int pin_insert(Pins *p, const char *name, const IpAddress *address, usec_t now) {
        size_t length = strlen(name);
        PinAddress *a;
        Pin *pin;

        if (length == 0 || length >= EGRESS_DOMAIN_MAX)
                return -EINVAL;
        pin = calloc(1, sizeof(*pin) + length + 1);
        a = pin ? address_get(p, address) : NULL;
        if (!a) {
                free(pin);
                return -ENOMEM;
        }
        pin->of = a;
        pin->told_at = now;
        pin->address = *address;
        memcpy(pin->name, name, length + 1);
        HASH_ADD(hh, p->by_name, address, sizeof(pin->address) + length, pin);
        DL_APPEND(p->oldest, pin);
        DL_PREPEND2(a->names, pin, name_prev, name_next);
        p->n++;
        return 0;
}

int pins_new(Pins **ret) {
        Pins *p = calloc(1, sizeof(*p));

        if (!p)
                return -ENOMEM;
        *ret = p;
        return 0;
}

Pins *pins_free(Pins *p) {
        if (!p)
                return NULL;
        while (p->oldest)
                pin_remove(p, p->oldest);
        free(p);
        return NULL;
}

int pins_add(Pins *p, const char *name, const IpAddress *address, usec_t now) {
        Pin *pin;

        pins_expire(p, now);
        pin = pin_find(p, name, address);
        if (pin) {
                pin_renew(p, pin, now);
                return 0;
        }
        if (p->n >= PINS_MAX)
                pin_remove(p, p->oldest);
        return pin_insert(p, name, address, now);
}

bool pins_has(const Pins *p, const char *name, const IpAddress *address) {
        return pin_find(p, name, address);
}

size_t pins_names(const Pins *p, const IpAddress *address, const char **ret, size_t max) {
        const PinAddress *a = address_find(p, address);
        size_t n = 0;
        const Pin *pin;

        if (!a)
                return 0;
        DL_FOREACH2(a->names, pin, name_next) {
                if (n == max)
                        break;
                ret[n++] = pin->name;
        }
        return n;
}

size_t pins_count(const Pins *p) {
        return p->n;
}
