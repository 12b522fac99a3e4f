/* internal.h: what the files of the gatekeeper share among themselves. Nobody else includes it.
 *
 *      gatekeeper.c    the keeper the core asks; seats of sandboxes come and go
 *      link.c          the gate as a connection: start, greeting, messages out, its death; start.c as a process
 *      messages.c      what the gate says, by kind
 *      seat.c          one sandbox at the gate: attach, policy, detach; whoever waits for it
 *      settings.c      what the gate is told about the world
 *      request.c       what is told to the gate about a sandbox: policy, credentials, grants, names
 *      group.c         isolated networks: addresses, the hub, names
 *      certificate.c   the authority of a sandbox into its own trust store
 *      credential.c    placeholders
 *      earlier.c       policies that this version would not take, and works by
 *      approval.c      what was asked, and what people said
 *      events.c        what was denied or learned
 *      usage.c         what went through
 *      sockets.c       sockets inside: for previews and for datagrams that come back
 *      policy.c        policies that are changed while it runs; explain.c what they say of a URL; learned.c one that would be enough
 *
 * A seat:
 *
 *      waiting → sockets → sent → (certificate) → seated
 *         └──────────┴───────┴──────────────────────┘      the gate has died: from the beginning
 *
 * Invariants: 1. core is told network_attached() exactly once for each attach and claim, never from within. 2. `at_gate` is what the
 * connected gate has said, nothing else. 3. Policies are read from the sandbox's own row at the moment they are sent. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "base/beat.h"
#include "core/internal.h"
#include "core/ledger.h"
#include "core/network.h"
#include "core/secret.h"
#include "gate/control.h"
#include "gatekeeper/gatekeeper.h"
#include "gatekeeper/rows.h"

#define GATE_PATIENCE (10 * USEC_PER_SEC) /* how long a create waits for a gate */
#define SEED_SIZE     32

typedef struct Seat Seat;
typedef struct Group Group;

typedef enum LinkState {
        LINK_DOWN,      /* there is none, or it is not time to try again */
        LINK_STARTING,  /* it was started, and does not listen yet */
        LINK_GREETING,  /* hello is on its way */
        LINK_LISTING,   /* what it has, is being told */
        LINK_UP,
        LINK_REPLACING, /* it is of another version, and was told to go */
} LinkState;

typedef struct LinkItem LinkItem;

typedef struct GateLink {
        LinkState state;
        int fd;
        sd_event_source *io, *timer, *child;
        sd_event_source *rest; /* while it is not looked at */
        usec_t up_since;
        Beat beat;
        usec_t pause;    /* before it is tried again */
        bool evicting;   /* one that cannot be reached was killed, and is not gone yet */
        bool fresh;      /* started by us: knows nothing */
        unsigned n_starts;
        LinkItem *items; /* that did not fit into the socket */
        unsigned n_items;
} GateLink;

typedef enum SeatState {
        SEAT_IDLE,    /* its PID 1 is not there yet, or not any more */
        SEAT_WAITING, /* for a gate, and for its turn */
        SEAT_SOCKETS, /* PID 1 was asked for them */
        SEAT_SENT,    /* the gate was asked; serial says what for */
        SEAT_SEATED,
} SeatState;

typedef struct SeatWaiter {
        SandboxDone done;
        void *userdata;
        struct SeatWaiter *prev, *next;
} SeatWaiter;

struct Seat {
        Gatekeeper *keeper;
        Sandbox *sandbox;
        char id[SANDBOX_ID_LENGTH + 1];
        SeatState state;
        uint64_t serial;
        bool at_gate;
        bool dirty;   /* what the gate was told is not what the row says */
        bool in_force; /* the gate holds it to what `told` is the hash of */
        uint8_t told[SECRET_HASH_SIZE];
        bool awaited; /* by the core */
        bool queued;  /* for a turn */
        bool released; /* nothing of it is left in the kernel */
        sd_event_source *timer; /* patience, or a pause before it is tried again */
        usec_t pause;           /* the next of those */
        SeatWaiter *waiters;
        char *certificate, *bundle_path, *certificate_path; /* of its authority; where they lie inside */
        struct Certification *certification; /* under way */
        Group *group;
        NetworkUse use;
        uint64_t cpu_usec; /* of the gate's thread, as it has told last */
        unsigned tokens; /* events that may still be written down in this second */
        usec_t tokens_at;
        uint64_t untold; /* those that were not */
        Seat *turn_prev, *turn_next;
        Seat *group_prev, *group_next; /* members */
        Seat *wait_prev, *wait_next;   /* for the hub */
        bool waits_for_hub, names_stale;
        UT_hash_handle hh;
};

typedef enum QuestionKind {
        QUESTION_ATTACH,
        QUESTION_POLICY,
        QUESTION_USAGE,
} QuestionKind;

/* Asked of the gate and not answered. */
typedef struct Question {
        uint64_t serial;
        QuestionKind kind;
        char id[SANDBOX_ID_LENGTH + 1];
        LedgerEntry place;
        UT_hash_handle hh;
} Question;

struct Gatekeeper {
        Manager *manager;
        Vault *vault;
        char *program, *socket_path, *seed_path;
        uint8_t seed[SEED_SIZE];
        bool has_seed;
        GateLink link;
        Seat *seats;     /* by id */
        Seat *turns;     /* who wants something of the gate, in turn */
        sd_event_source *turn;
        sd_event_source *usage_timer;
        char usage_next[SANDBOX_ID_LENGTH + 1];
        Question *questions;
        uint64_t serial;
        Group *groups;   /* by tenant and name */
        sd_event_source *group_timer;
        struct SocketCall *sockets; /* by token */
        uint64_t token;
        bool has_earlier; /* policies, earlier.c */
        NetworkKeeper hooks;
        LedgerPot *cpu; /* of the gate's thread, by tenant */
        char last_error[ERROR_TEXT_MAX]; /* why there is no gate */
};

/* gatekeeper.c */
Seat *seat_find(Gatekeeper *k, const char *id);

/* link.c */
void link_init(GateLink *l);
void link_done(Gatekeeper *k);
void link_dismiss(Gatekeeper *k); /* nobody needs it: it goes, and its socket */
void link_want(Gatekeeper *k); /* somebody needs a gate */
bool link_is_up(const Gatekeeper *k);
/* Takes the message; descriptors are duplicated when they have to wait. */
int link_send(Gatekeeper *k, json_t *message, const int *fds, size_t n_fds);
void link_greeted(Gatekeeper *k, bool same_version);
void link_refused(Gatekeeper *k, const char *text); /* something that nobody waits for: the greeting, perhaps */
void link_listed(Gatekeeper *k);
void link_hello(Gatekeeper *k); /* again, with other settings */

/* messages.c */
void messages_take(Gatekeeper *k, json_t *message);
void control_message_free(json_t *message); /* one of ours, with what is secret in it */
int question_add(const Seat *s, QuestionKind kind, uint64_t *ret_serial); /* -EAGAIN: its tenant has asked enough that is not answered */
void question_drop(Gatekeeper *k, uint64_t serial); /* it was not asked after all */
void questions_forget(Gatekeeper *k);

/* seat.c */
int seat_new(Gatekeeper *k, Sandbox *sb, Seat **ret);
Seat *seat_free(Seat *s);
void seat_attach(Seat *s, bool awaited);
void seat_claim(Seat *s);
int seat_set_policy(Seat *s, SandboxDone done, void *userdata);
void seat_want_turn(Seat *s);
void seat_forget_waiter(Seat *s, void *userdata);
void seat_arm(Seat *s, usec_t usec); /* unless it is armed already */
void seats_turn(Gatekeeper *k);      /* the gate is there: whoever waits has a turn */
void seats_gate_gone(Gatekeeper *k);
void seats_reloaded(Gatekeeper *k);
void seat_on_sockets(Seat *s, int error, uint8_t shape, int *fds, size_t n_fds);
void seat_on_done(Seat *s, json_t *answer);
void seat_on_failed(Seat *s, const char *text);
void seat_on_gone(Seat *s); /* the gate has seen its PID 1 go */
void seat_certified(Seat *s, const Error *error);
void seat_leave(Seat *s);   /* it ends */

/* request.c */
int request_make(Seat *s, const char *what, uint64_t serial, json_t **ret, Error *reterr);
json_t *request_grants(Seat *s);
json_t *sandbox_network_json(const Sandbox *sb); /* the network part of its policy; the caller's */

/* group.c */
int group_admit(Seat *s, Error *reterr);
int group_prepare(Seat *s, Error *reterr); /* 1: it waits, network_prepared() follows */
void group_leave(Seat *s);          /* names */
void group_release(Seat *s);        /* address and hub */
void group_take_hub(Seat *s, int fd); /* takes it */
void group_came(Seat *s);
json_t *group_names(const Group *g);
void groups_done(Gatekeeper *k);

/* certificate.c */
int certification_start(Seat *s);
struct Certification *certification_free(struct Certification *c);
int certificate_environment(const Seat *s, Strv *env);

/* credential.c */
int credentials_for_gate(Seat *s, json_t **ret, Error *reterr);
/* A secret as a credential: that it is there, and that the gate would take it. -ENOKEY: it is missing; -EINVAL. */
int credential_check(Gatekeeper *k, const char *tenant, const char *secret, size_t *all, Error *reterr);
int credentials_check(Seat *s, Error *reterr); /* each of the sandbox's policy */
int credentials_environment(Seat *s, Strv *env);
/* Stored when the guest chose the header. Now it is one of those that are for credentials, which servers neither repeat nor write down. */
bool credential_is_earlier(json_t *credential);
#define CREDENTIAL_EARLIER_HEADERS "Authorization, X-API-Key, Api-Key, X-Auth-Token, Private-Token, X-Goog-Api-Key, X-Access-Token, X-Token"
void credentials_changed(const char *tenant, const char *secret, void *userdata); /* VaultChanged */

/* earlier.c */
void earlier_look(Gatekeeper *k);
void earlier_changed(Gatekeeper *k, const Sandbox *sb, const char *before); /* it came or goes, or has another policy than before (NULL: had none) */

/* approval.c */
void approval_asked(Seat *s, json_t *event);
void approval_expired(Gatekeeper *k, json_t *event);
void approvals_gate_is_fresh(Gatekeeper *k);

/* events.c */
void event_hide(const Seat *s, json_t *event); /* values of secrets in what a guest has said */
void event_denied(Seat *s, json_t *event);
void event_learned(Seat *s, json_t *event);

/* usage.c */
int usage_load(Gatekeeper *k);
int usage_start(Gatekeeper *k);
void usage_attached(Seat *s);
void usage_told(Seat *s, json_t *usage);
void usage_ask(Seat *s);

/* sockets.c */
void sockets_on_made(Gatekeeper *k, uint64_t token, int error, int fd);
void sockets_flow(Seat *s, json_t *event);
void sockets_sandbox_gone(Gatekeeper *k, const Sandbox *sb);
void sockets_done(Gatekeeper *k);

/* settings.c */
int seed_load(Gatekeeper *k, Error *reterr);
json_t *hello_message(const Gatekeeper *k);
json_t *gatekeeper_settings_strings(const Strv *v);
