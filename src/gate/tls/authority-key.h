/* authority-key.h: keys and certificates as OpenSSL makes them; for authority.c alone.
 *
 * Gives back objects that the caller frees. Must not know: sandboxes, caches. */
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

/* The same key for the same seed and id, always. */
int authority_key_derive(const uint8_t seed[static 32], const char *id, EVP_PKEY **ret, Error *reterr);
int authority_key_new(EVP_PKEY **ret, Error *reterr);

typedef struct CertificateSpec {
        const char *subject;   /* its common name */
        const char *host;      /* of a leaf: a name or an address; NULL: an authority */
        EVP_PKEY *key;         /* whose public half it carries */
        X509 *issuer;          /* NULL: itself */
        EVP_PKEY *issuer_key;
        time_t from, until;
} CertificateSpec;

int authority_certificate_new(const CertificateSpec *spec, X509 **ret, Error *reterr);

/* Says what OpenSSL has last complained about, and forgets it. */
int authority_failed(Error *reterr, const char *what);
