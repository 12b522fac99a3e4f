/* authority.h: a sandbox's own certificate authority.
 *
 * Its key is derived from the gate's seed and the sandbox's id, so it is the same after a restart and nothing
 * is stored. The guest has the authority's certificate in its trust store. Certificates for single hosts are
 * made when TLS to them is opened, and cached (AUTHORITY_LEAVES_MAX).
 * With authority-key.c and tls.c, the only user of OpenSSL in the gate.
 * Must not know: connections, policy. */
#pragma once

#include <stdint.h>

#include "base/error.h"

#define AUTHORITY_LEAVES_MAX 256

typedef struct Authority Authority;

int authority_new(const uint8_t seed[static 32], const char *id, Authority **ret, Error *reterr);
Authority *authority_free(Authority *a);
char *authority_certificate(const Authority *a); /* PEM; the caller frees */

/* For tls.c: certificate and key to present as this host; borrowed until the next call. */
struct x509_st;
struct evp_pkey_st;
int authority_leaf(Authority *a, const char *host, struct x509_st **ret, struct evp_pkey_st **ret_key);
