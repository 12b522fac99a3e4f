/* authority-key.h: creates keys and certificates with OpenSSL; for authority.c only.
 *
 * Returned objects are freed by the caller.
 * Must not know: sandboxes, caches. */
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

/* The same seed and id always give the same key. */
int authority_key_derive(const uint8_t seed[static 32], const char *id, EVP_PKEY **ret, Error *reterr);
int authority_key_new(EVP_PKEY **ret, Error *reterr);

typedef struct CertificateSpec {
        const char *subject;   /* the common name */
        const char *host;      /* of a leaf certificate: a name or an address; NULL: it is an authority */
        EVP_PKEY *key;         /* the certificate carries its public half */
        X509 *issuer;          /* NULL: self-signed */
        EVP_PKEY *issuer_key;
        time_t from, until;
} CertificateSpec;

int authority_certificate_new(const CertificateSpec *spec, X509 **ret, Error *reterr);

/* Sets the error from OpenSSL's last error, and clears OpenSSL's queue. */
int authority_failed(Error *reterr, const char *what);
