/* gatekeeper.h: coved's side of the network: who has one, by which policy, and what became of it.
 *
 * Starts cove-gate (or finds the one that an earlier coved has left running), attaches each sandbox that has a way out before anybody can run
 * anything in it, keeps the gate's view equal to the store's after the death of either, and turns its events into events of the sandbox, counts,
 * audit records and approvals. A create is not answered before the gate has said done: with no gate there is no network, never an open one.
 * Policies, approvals and what was used are in the store; secrets' values come from the vault at the moment of use.
 * Must not know: HTTP, SQL, DNS, TLS. */
#pragma once

#include "core/manager.h"
#include "policy/policy.h"

typedef struct Gatekeeper Gatekeeper;
typedef struct Vault Vault;

typedef struct GatekeeperConfig {
        const char *program; /* cove-gate */
        const char *run_dir; /* gate.sock lies here */
        const char *state_dir; /* gate.seed */
} GatekeeperConfig;

int gatekeeper_new(Manager *m, Vault *vault, const GatekeeperConfig *config, Gatekeeper **ret, Error *reterr);
Gatekeeper *gatekeeper_free(Gatekeeper *k); /* before the manager; the gate and its sandboxes go on */
void gatekeeper_reloaded(Gatekeeper *k);    /* the settings are others */

/* Replaces the network part while it runs. done when it is in force. -EINVAL: not for this mode. -EPERM: it names secrets, and who may not. */
int gatekeeper_set_policy(Gatekeeper *k, const Principal *who, Sandbox *sb, const Policy *policy, SandboxDone done, void *userdata, Error *reterr);
void gatekeeper_forget_policy(Gatekeeper *k, const char *sandbox, void *userdata); /* done is not called any more */

/* What no policy can know: whether this machine allows it. -EPERM, -EOPNOTSUPP. */
int gatekeeper_check_policy(const Gatekeeper *k, const EgressPolicy *p, Error *reterr);

/* {allowed, action, reason, rule, granted, text, cure, inspect}. -EINVAL: no URL */
int gatekeeper_explain(Gatekeeper *k, const Sandbox *sb, const char *url, const char *method, json_t **ret, Error *reterr);
/* {network, seen}: the smallest policy for what has passed, and what that was. */
int gatekeeper_learned(Gatekeeper *k, const Sandbox *sb, json_t **ret);

typedef enum ApprovalScope { APPROVAL_ONCE, APPROVAL_SANDBOX, APPROVAL_PROFILE, _APPROVAL_SCOPE_MAX } ApprovalScope;

const char *approval_scope_to_string(ApprovalScope s);
int approval_scope_from_string(const char *text); /* -EINVAL */

/* Something that wanted out. Strings are borrowed, and may be NULL. */
typedef struct NetworkDenial {
        const char *sandbox;
        uint64_t number; /* of the sandbox's own; given by the store */
        usec_t at;
        const char *kind, *protocol, *host, *address;
        uint32_t port;
        const char *method, *path, *rule, *reason, *text, *cure;
        uint64_t count; /* how often, since it was told before */
} NetworkDenial;

extern const Shape network_denial_shape, approval_shape;

/* Newest first, those below `before` (0: from the newest). Return < 0 to stop. */
int gatekeeper_denial_each(const Manager *m, const char *sandbox, uint64_t before, unsigned limit,
                int (*each)(const NetworkDenial *d, void *userdata), void *userdata);

typedef struct StoreApproval {
        uint64_t serial; /* given by the store */
        char id[32];
        char ask[64]; /* the gate's name for it */
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char *tenant, *profile, *object, *rule;
        char status[12], scope[12]; /* scope "": none */
        usec_t asked_at, expires_at, answered_at;
        char *by;
} StoreApproval;

/* Likewise; tenant, status NULL: any. Open ones whose time is over become expired first. */
typedef int (*ApprovalRowEach)(StoreApproval *row, void *userdata);
int gatekeeper_approval_each(const Manager *m, const char *tenant, const char *status, uint64_t before, unsigned limit, ApprovalRowEach each, void *userdata);
int gatekeeper_approval_find(const Manager *m, const char *id, ApprovalRowEach each, void *userdata); /* -ENOENT */

/* Status of an approval: "open", "allowed", "denied", "expired"; object is as people read it
 * ("https://example.org:443"), rule is what would be granted.
 * -ENOENT, -EALREADY, -ETIME, -EPERM, -EINVAL: scope profile, and it has none */
int gatekeeper_answer(Gatekeeper *k, const Principal *who, const char *approval, bool allow, ApprovalScope scope, Error *reterr);

/* Somebody wants a connection to a port inside (previews). fd is the callee's to close; exactly once, not from within. */
typedef void (*GatekeeperConnected)(int error, int fd, void *userdata);
int gatekeeper_connect(Gatekeeper *k, Sandbox *sb, uint16_t port, GatekeeperConnected done, void *userdata);
void gatekeeper_forget(Gatekeeper *k, void *userdata);
