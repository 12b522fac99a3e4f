#include "gate/tls/authority.h"

#include <assert.h>
#include <errno.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "gate/tls/authority-key.h"
#include "policy/egress.h"

#define DAY ((time_t) 24 * 3600)
#define AUTHORITY_DAYS 3653
#define LEAF_DAYS      90
#define LEAF_RENEW     30 /* days; an older leaf is replaced */

typedef struct Leaf {
        char host[EGRESS_DOMAIN_MAX];
        X509 *certificate;
        time_t made;
        UT_hash_handle hh; /* in the order they were made */
} Leaf;

struct Authority {
        EVP_PKEY *key, *leaf_key; /* one key for all leaves: it never leaves this process */
        X509 *certificate;
        Leaf *leaves;
};

static Leaf *leaf_free(Leaf *l) {
        if (!l)
                return NULL;
        X509_free(l->certificate);
        free(l);
        return NULL;
}

static void authority_drop(Authority *a, Leaf *l) {
        HASH_DEL(a->leaves, l);
        (void) leaf_free(l);
}

Authority *authority_free(Authority *a) {
        Leaf *l, *next;

        if (!a)
                return NULL;
        HASH_ITER(hh, a->leaves, l, next)
                authority_drop(a, l);
        X509_free(a->certificate);
        EVP_PKEY_free(a->leaf_key);
        EVP_PKEY_free(a->key);
        free(a);
        return NULL;
}

static void authority_freep(Authority **a) {
        (void) authority_free(*a);
}

/* The certificate is valid from a day ago: a clock inside that is a little slow must not make it invalid. */
static int authority_certify(Authority *a, const char *id, Error *reterr) {
        time_t now = time(NULL);
        char subject[64];
        CertificateSpec spec = {
                .subject = subject, .key = a->key, .issuer_key = a->key, .from = now - DAY, .until = now + AUTHORITY_DAYS * DAY,
        };

        (void) snprintf(subject, sizeof(subject), "cove sandbox %s", id);
        return authority_certificate_new(&spec, &a->certificate, reterr);
}

int authority_new(const uint8_t seed[static 32], const char *id, Authority **ret, Error *reterr) {
        _cleanup_(authority_freep) Authority *a = calloc(1, sizeof(Authority));
        int r;

        assert(seed);
        assert(id);
        assert(ret);

        if (!a)
                return error_set(reterr, -ENOMEM, "Out of memory");
        r = authority_key_derive(seed, id, &a->key, reterr);
        if (r >= 0)
                r = authority_key_new(&a->leaf_key, reterr);
        if (r >= 0)
                r = authority_certify(a, id, reterr);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

char *authority_certificate(const Authority *a) {
        BIO *out = BIO_new(BIO_s_mem());
        char *text = NULL, *data;
        long size;

        assert(a);

        if (out && PEM_write_bio_X509(out, a->certificate)) {
                size = BIO_get_mem_data(out, &data);
                text = strndup(data, (size_t) size);
        }
        BIO_free(out);
        return text;
}

static int leaf_make(Authority *a, const char *host, Leaf *l) {
        CertificateSpec spec = {
                .subject = host, .host = host, .key = a->leaf_key, .issuer = a->certificate, .issuer_key = a->key,
                .from = l->made - DAY, .until = l->made + LEAF_DAYS * DAY,
        };
        Error error = { 0 };

        return authority_certificate_new(&spec, &l->certificate, &error);
}

/* Makes a leaf; it replaces the oldest if there are too many. */
static int authority_add_leaf(Authority *a, const char *host, Leaf **ret) {
        Leaf *l = calloc(1, sizeof(Leaf));
        int r;

        if (!l)
                return -ENOMEM;
        strcpy(l->host, host);
        l->made = time(NULL);
        r = leaf_make(a, host, l);
        if (r < 0) {
                (void) leaf_free(l);
                return r;
        }
        if (HASH_COUNT(a->leaves) >= AUTHORITY_LEAVES_MAX)
                authority_drop(a, a->leaves);
        HASH_ADD_STR(a->leaves, host, l);
        *ret = l;
        return 0;
}

int authority_leaf(Authority *a, const char *host, struct x509_st **ret, struct evp_pkey_st **ret_key) {
        Leaf *l;
        int r;

        assert(a);
        assert(host);
        assert(ret && ret_key);

        if (strlen(host) >= EGRESS_DOMAIN_MAX || host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:")])
                return -EINVAL; /* it becomes part of a string in OpenSSL's own syntax */
        HASH_FIND_STR(a->leaves, host, l);
        if (l && time(NULL) - l->made > LEAF_RENEW * DAY) {
                authority_drop(a, l);
                l = NULL;
        }
        if (!l) {
                r = authority_add_leaf(a, host, &l);
                if (r < 0)
                        return r;
        }
        *ret = l->certificate;
        *ret_key = a->leaf_key;
        return 0;
}
