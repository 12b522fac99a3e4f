/* rows.h: store rows about networks: usage, denials, learned traffic, approvals, grants.
 *
 * Rows of a sandbox are deleted with it. Approvals are kept for people to read; the oldest are deleted.
 * Must not know: what the texts mean. */
#pragma once

#include "core/sandbox.h"
#include "core/store.h"
#include "gatekeeper/gatekeeper.h"

typedef struct NetworkCounts {
        uint64_t up_bytes, down_bytes, requests, denied;
} NetworkCounts;

typedef struct NetworkUse {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        NetworkCounts total;
        NetworkCounts base; /* the part of total from before the last attach, from which the gate counts */
} NetworkUse;

extern const StoreTable network_use_table, approval_table, grant_table;
STORE_WRITE(store_network_use_put, store_put, network_use_table, NetworkUse); /* -ENOENT: no such sandbox */
STORE_EACH(store_network_use_each, network_use_table, const NetworkUse);

/* Keeps only the newest `keep` of the older rows. */
int store_denial_add(Store *s, const NetworkDenial *d, unsigned keep) _must_check_;
/* Newest first; rows with a number below `before` (0: from the newest). */
int store_denial_each(Store *s, const char *sandbox, uint64_t before, unsigned limit, int (*each)(const NetworkDenial *d, void *userdata),
                void *userdata);

/* Traffic that passed in learn mode. Texts are never NULL. */
typedef struct NetworkLearned {
        const char *sandbox, *protocol, *host, *address;
        uint32_t port;
        const char *method;
        uint64_t count;
        usec_t at;
} NetworkLearned;

/* Adds to the count of an existing row. A new row beyond `keep` distinct ones is dropped. */
int store_learned_add(Store *s, const NetworkLearned *l, unsigned keep) _must_check_;
int store_learned_each(Store *s, const char *sandbox, int (*each)(const NetworkLearned *l, void *userdata), void *userdata);

STORE_DONE(store_approval_done, approval_table, StoreApproval);
/* Keeps only the newest `keep` of the approvals that are not open. */
int store_approval_add(Store *s, const StoreApproval *a, unsigned keep) _must_check_;
STORE_WRITE(store_approval_update, store_update, approval_table, StoreApproval);
int store_approval_get(Store *s, const char *id, StoreApproval *ret); /* -ENOENT */
int store_approval_get_ask(Store *s, const char *ask, StoreApproval *ret);
/* Newest first; tenant, status NULL: any; rows below `before` (0: from the newest). */
int store_approval_each(Store *s, const char *tenant, const char *status, uint64_t before, unsigned limit,
                int (*each)(StoreApproval *row, void *userdata), void *userdata);
/* Sets `status` on open approvals of one sandbox (NULL: of all) that expire by `due` (USEC_INFINITY: all).
 * Returns how many. */
int store_approval_close(Store *s, const char *sandbox, const char *status, usec_t due, usec_t now) _must_check_;

typedef struct NetworkGrant {
        const char *sandbox;          /* NULL: of a profile */
        const char *tenant, *profile; /* NULL: of a sandbox */
        const char *rule;
        usec_t at;
} NetworkGrant;

STORE_WRITE(store_grant_add, store_put, grant_table, NetworkGrant); /* an existing row stays */
/* The grants of the sandbox, then those of the profile (NULL: none). */
int store_grant_each(Store *s, const char *sandbox, const char *tenant, const char *profile,
                int (*each)(const NetworkGrant *g, void *userdata), void *userdata);
