/* authority.h: a sandbox's own certificate authority.
 *
 * Its key comes from the gate's seed and the sandbox's id, so that it is the same after a restart and nothing of it is stored. The guest has its
 * certificate in the trust store; certificates for single hosts are made when TLS to them is opened, and kept (AUTHORITY_LEAVES_MAX).
 * The door to OpenSSL together with tls.c.
 * Must not know: connections, policy. */
#pragma once

#include <stdint.h>

#include "base/error.h"

#define AUTHORITY_LEAVES_MAX 256

typedef struct Authority Authority;

int authority_new(const uint8_t seed[static 32], const char *id, Authority **ret, Error *reterr); /* the same key for the same seed and id, always */
Authority *authority_free(Authority *a);
char *authority_certificate(const Authority *a); /* PEM; the caller frees */

/* tls.c: what a server for this host shows, borrowed until the next call. */
struct x509_st;
struct evp_pkey_st;
int authority_leaf(Authority *a, const char *host, struct x509_st **ret, struct evp_pkey_st **ret_key);
