/* hello.h: parses the TLS ClientHello, as far as it tells the destination.
 *
 * Input is bytes, output a name and two flags. Strict: anything that the server might read differently (two
 * names, a name that is a number, inconsistent lengths, data after the message) is refused.
 * Must not know: sockets, policy, OpenSSL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/egress.h"

#define HELLO_MAX 32768 /* bytes, including record headers; anything longer is not a hello */

typedef struct TlsHello {
        char name[EGRESS_DOMAIN_MAX]; /* lower case, no final dot; "": none */
        bool encrypted;               /* has an encrypted ClientHello extension */
        bool h2;                      /* offers HTTP/2 */
} TlsHello;

/* 1: complete. 0: more bytes are needed. -EBADMSG. Reassembles across records. */
int hello_parse(const uint8_t *data, size_t size, TlsHello *ret);
