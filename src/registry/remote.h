/* remote.h: one repository of one registry: URLs, authentication and retries.
 *
 * Credentials come from the environment and are wiped from it. A 401 leads to a login: with the password
 * (Basic), or with a token (Bearer) from the server that the registry names, which gets the password if there
 * is one. If the new login gets a 401 at once, the request fails.
 * Must not know: what blobs and manifests mean. */
#pragma once

#include "registry/exchange.h"
#include "registry/reference.h"

#define REMOTE_TRIES 4 /* the first and three retries */

typedef struct Remote {
        const Reference *reference; /* borrowed */
        Exchanges *exchanges;
        Exchanges *tokens; /* separate, so that a token can be awaited while other exchanges are under way */
        char base[REFERENCE_HOST_MAX + 16]; /* https://HOST */
        bool push;
        char *user, *password, *bearer; /* as given; NULL: none */
        char *authorization;            /* the header of each request; NULL: none */
        unsigned login;                 /* number of logins so far; a request records the one that it used */
        bool accepted;                  /* the current login has been accepted; true before the first */
} Remote;

typedef struct RemoteOptions {
        const char *ca;
        bool insecure, push;
        bool outside; /* this machine must not be reached, whatever name the reference has */
        usec_t stall_usec;
} RemoteOptions;

/* Reads and wipes the environment; call it before the process confines itself. */
int remote_open(Remote *r, const Reference *reference, const RemoteOptions *options, Error *reterr);
void remote_done(Remote *r);
#define _cleanup_remote_ _cleanup_(remote_done)

/* The URL of "/v2/NAME/KIND/WHAT"; the caller frees. */
char *remote_url(const Remote *r, const char *kind, const char *what);

/* Sends a request and waits for the response. After a 401 it logs in and repeats; it retries failures that
 * may pass. `what`: for messages, "manifest of …". 0: the status is below 400, or 404 with may_miss. */
int remote_ask(Remote *r, Exchange *x, const char *what, bool may_miss, Error *reterr);

/* The parts of remote_ask(), for callers with several exchanges under way. */

int remote_start(Remote *r, Exchange *x, Error *reterr);
/* Call it for every exchange that has ended. 1: it got a 401 and there has been a new login: repeat the
 * request; 0: no new login. */
int remote_login(Remote *r, const Exchange *x, Error *reterr);
/* The pause before the next retry after so many tries; 0: a retry would not help. */
usec_t remote_retry_pause(const Exchange *x, unsigned tries);
/* Sets the error to a description of the failure. */
int remote_explain(const Remote *r, const Exchange *x, const char *what, Error *reterr);
