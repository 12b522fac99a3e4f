/* hello.h: the first message of TLS, as far as it says where somebody wants to go.
 *
 * Bytes in, a name and two bits out. Strict: what the other side might read differently (two names, a name that is a number, lengths that do
 * not agree, something behind the message) is refused.
 * Must not know: sockets, policy, OpenSSL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/egress.h"

#define HELLO_MAX 32768 /* bytes with their record headers; beyond that it is no hello any more */

typedef struct TlsHello {
        char name[EGRESS_DOMAIN_MAX]; /* lower case, no final dot; "": none */
        bool encrypted;               /* has an encrypted ClientHello extension */
        bool h2;                      /* offers HTTP/2 */
} TlsHello;

/* 1: there it is; 0: more bytes are needed; -EBADMSG. Reads across records. */
int hello_parse(const uint8_t *data, size_t size, TlsHello *ret);
