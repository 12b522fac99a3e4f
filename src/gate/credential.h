/* credential.h: secrets that stay outside: the guest has a placeholder, the host it is for gets the value.
 *
 * Values go into a request only where TLS to a host of the credential's domain was opened and that host's certificate is good; and they are
 * taken out again of what comes back. A placeholder on its way elsewhere is an attempt to use it there, and is found here too.
 * Values are wiped when freed and appear in no log, event or error.
 * Must not know: sockets, OpenSSL, policy. */
#pragma once

#include "json/json.h"

typedef struct Credentials Credentials;

int credentials_parse(json_t *list, Credentials **ret, Error *reterr); /* control.h's "credentials" */
Credentials *credentials_free(Credentials *c);
bool credentials_want(const Credentials *c, const char *host); /* so TLS to it is opened */
