/* gatekeeper.h: coved's side of the network: which sandboxes have one, their policies, and the events of
 * their traffic.
 *
 * Starts cove-gate, or connects to the one that an earlier coved left running. Attaches each sandbox that has
 * a way out before anything can run in it. After the death of either process it makes the gate's view equal
 * to the store's again. Turns the gate's events into events of the sandbox, counts, audit records and
 * approvals. A create is not answered before the gate has confirmed the attach: without a gate there is no
 * network, never an open one.
 * Policies, approvals and usage are in the store; the values of secrets come from the vault at the moment of
 * use.
 * Must not know: HTTP, SQL, DNS, TLS. */
#pragma once

#include "core/manager.h"
#include "policy/policy.h"

typedef struct Gatekeeper Gatekeeper;
typedef struct Vault Vault;

typedef struct GatekeeperConfig {
        const char *program; /* cove-gate */
        const char *run_dir; /* directory of gate.sock */
        const char *state_dir; /* gate.seed */
} GatekeeperConfig;

int gatekeeper_new(Manager *m, Vault *vault, const GatekeeperConfig *config, Gatekeeper **ret, Error *reterr);
Gatekeeper *gatekeeper_free(Gatekeeper *k); /* call before the manager is freed; the gate and its sandboxes go on */
void gatekeeper_reloaded(Gatekeeper *k);    /* call after the settings have changed */

/* Replaces the network part of a running sandbox's policy. done is called when it is in force. -EINVAL: not
 * possible in this mode. -EPERM: it names secrets, and `who` may not use them. */
int gatekeeper_set_policy(Gatekeeper *k, const Principal *who, Sandbox *sb, const Policy *policy, SandboxDone done, void *userdata, Error *reterr);
void gatekeeper_forget_policy(Gatekeeper *k, const char *sandbox, void *userdata); /* afterwards done is not called */

/* Checks whether this machine allows the policy, which the policy room cannot know. -EPERM, -EOPNOTSUPP. */
int gatekeeper_check_policy(const Gatekeeper *k, const EgressPolicy *p, Error *reterr);

/* {allowed, action, reason, rule, granted, text, cure, inspect}. -EINVAL: not a URL. */
int gatekeeper_explain(Gatekeeper *k, const Sandbox *sb, const char *url, const char *method, json_t **ret, Error *reterr);
/* {network, seen}: the smallest policy that would allow what has passed, and a list of what has passed. */
int gatekeeper_learned(Gatekeeper *k, const Sandbox *sb, json_t **ret);

typedef enum ApprovalScope { APPROVAL_ONCE, APPROVAL_SANDBOX, APPROVAL_PROFILE, _APPROVAL_SCOPE_MAX } ApprovalScope;

const char *approval_scope_to_string(ApprovalScope s);
int approval_scope_from_string(const char *text); /* -EINVAL */

/* A denied attempt to get out. Strings are borrowed, and may be NULL. */
typedef struct NetworkDenial {
        const char *sandbox;
        uint64_t number; /* counts per sandbox; set by the store */
        usec_t at;
        const char *kind, *protocol, *host, *address;
        uint32_t port;
        const char *method, *path, *rule, *reason, *text, *cure;
        uint64_t count; /* repetitions since the last report, this one included */
} NetworkDenial;

extern const Shape network_denial_shape, approval_shape;

/* Newest first; rows with a number below `before` (0: from the newest). each returns < 0 to stop. */
int gatekeeper_denial_each(const Manager *m, const char *sandbox, uint64_t before, unsigned limit,
                int (*each)(const NetworkDenial *d, void *userdata), void *userdata);

typedef struct StoreApproval {
        uint64_t serial; /* set by the store */
        char id[32];
        char ask[64]; /* the gate's id of the question */
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char *tenant, *profile, *object, *rule;
        char status[12], scope[12]; /* scope "": none */
        usec_t asked_at, expires_at, answered_at;
        char *by;
} StoreApproval;

/* Likewise; tenant, status NULL: any. Open approvals whose time is over are marked as expired first. */
typedef int (*ApprovalRowEach)(StoreApproval *row, void *userdata);
int gatekeeper_approval_each(const Manager *m, const char *tenant, const char *status, uint64_t before, unsigned limit, ApprovalRowEach each, void *userdata);
int gatekeeper_approval_find(const Manager *m, const char *id, ApprovalRowEach each, void *userdata); /* -ENOENT */

/* Answers an approval. Its status is "open", "allowed", "denied" or "expired"; object is for people
 * ("https://example.org:443"), rule is the rule to grant. -ENOENT; -EALREADY: answered before; -ETIME:
 * expired; -EPERM; -EINVAL: scope is profile, and the approval has none. */
int gatekeeper_answer(Gatekeeper *k, const Principal *who, const char *approval, bool allow, ApprovalScope scope, Error *reterr);

/* Connects to a port inside the sandbox (for previews). done is called exactly once, not from within, and
 * owns fd. */
typedef void (*GatekeeperConnected)(int error, int fd, void *userdata);
int gatekeeper_connect(Gatekeeper *k, Sandbox *sb, uint16_t port, GatekeeperConnected done, void *userdata);
void gatekeeper_forget(Gatekeeper *k, void *userdata);
