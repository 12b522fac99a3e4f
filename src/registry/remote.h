/* remote.h: one repository of one registry: addresses, who we are to it, and trying again.
 *
 * Credentials come from the environment and are wiped from it. A 401 is answered once: with the password (Basic), or with a token that is got with it from where
 * the registry says (Bearer). Must not know: what blobs and manifests mean. */
#pragma once

#include "registry/exchange.h"
#include "registry/reference.h"

#define REMOTE_TRIES 4 /* the first one and three more */

typedef struct Remote {
        const Reference *reference; /* borrowed */
        Exchanges *exchanges;
        Exchanges *tokens; /* apart, so that one can be waited for while others are under way */
        char base[REFERENCE_HOST_MAX + 16]; /* https://HOST */
        bool push;
        char *user, *password, *bearer; /* as given; NULL: none */
        char *authorization;            /* what goes into each request; NULL: nothing */
        unsigned login;                 /* how many there were: which one a request went out with */
        bool accepted;                  /* the last one was good for something; so it is before the first */
} Remote;

typedef struct RemoteOptions {
        const char *ca;
        bool insecure, push;
        bool outside; /* whoever asks has no business with this machine, whatever its name in the reference */
        usec_t stall_usec;
} RemoteOptions;

/* Before the process shuts itself in: the environment is read and wiped. */
int remote_open(Remote *r, const Reference *reference, const RemoteOptions *options, Error *reterr);
void remote_done(Remote *r);
#define _cleanup_remote_ _cleanup_(remote_done)

/* "/v2/NAME/" and the rest, as a URL; the caller frees. */
char *remote_url(const Remote *r, const char *kind, const char *what);

/* Waits for the answer: with a new login after a 401, and again when that may help. `what`: for people, "manifest of …". 0: there is a status
 * below 400, or 404 with may_miss. */
int remote_ask(Remote *r, Exchange *x, const char *what, bool may_miss, Error *reterr);

/* The thoughts of it, for those who have several under way. */

int remote_start(Remote *r, Exchange *x, Error *reterr);
/* To be told of everything that has ended. 1: it was a 401, there has been a new login, so ask again; 0: nothing of that kind. */
int remote_login(Remote *r, const Exchange *x, Error *reterr);
/* When to ask again after this many tries, or 0: it would not help. */
usec_t remote_retry_pause(const Exchange *x, unsigned tries);
/* What has become of it, in words. */
int remote_explain(const Remote *r, const Exchange *x, const char *what, Error *reterr);
