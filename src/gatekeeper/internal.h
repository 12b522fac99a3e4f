/* internal.h: shared by the files of the gatekeeper. Private to them.
 *
 *      gatekeeper.c    the callbacks that core calls; creates and removes seats
 *      link.c          the connection to the gate: start, greeting, messages out, loss; start.c the gate as a process
 *      messages.c      the gate's messages, by kind
 *      seat.c          one sandbox at the gate: attach, policy, detach, and the callers that wait for it
 *      settings.c      global settings for the gate (hello)
 *      request.c       messages about a sandbox: policy, credentials, grants, names
 *      group.c         isolated networks: addresses, the hub, names
 *      certificate.c   installs the authority of a sandbox into its own trust store
 *      credential.c    placeholders
 *      earlier.c       policies that this version would refuse, but still applies
 *      approval.c      questions of the gate, and people's answers
 *      events.c        denied and learned traffic
 *      usage.c         traffic counts
 *      sockets.c       sockets inside: for previews and for datagrams that come back
 *      policy.c        policy changes of a running sandbox; explain.c the verdict on a URL; learned.c the smallest sufficient policy
 *
 * A seat:
 *
 *      waiting → sockets → sent → (certificate) → seated
 *         └──────────┴───────┴──────────────────────┘      the gate has died: from the beginning
 *
 * Invariants:
 * 1. core receives network_attached() exactly once for each attach and claim, never from within.
 * 2. `at_gate` is what the connected gate has confirmed, nothing else.
 * 3. Policies are read from the sandbox's own row at the moment they are sent. */
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

#define GATE_PATIENCE (10 * USEC_PER_SEC) /* limit for a create's wait for a gate */
#define SEED_SIZE     32

typedef struct Seat Seat;
typedef struct Group Group;

typedef enum LinkState {
        LINK_DOWN,      /* no gate, or a pause before the next attempt */
        LINK_STARTING,  /* started, does not listen yet */
        LINK_GREETING,  /* hello sent, not answered */
        LINK_LISTING,   /* the gate is listing its sandboxes */
        LINK_UP,
        LINK_REPLACING, /* it is of another version, and was told to quit */
} LinkState;

typedef struct LinkItem LinkItem;

typedef struct GateLink {
        LinkState state;
        int fd;
        sd_event_source *io, *timer, *child;
        sd_event_source *rest; /* ends a pause in which the socket is not read */
        usec_t up_since;
        Beat beat;
        usec_t pause;    /* before the next attempt */
        bool evicting;   /* an unreachable gate was killed, and has not exited yet */
        bool fresh;      /* started by us: it knows no sandbox yet */
        unsigned n_starts;
        LinkItem *items; /* messages that the socket did not accept yet */
        unsigned n_items;
} GateLink;

typedef enum SeatState {
        SEAT_IDLE,    /* its PID 1 does not exist yet, or has ended */
        SEAT_WAITING, /* waits for a gate, and for its turn */
        SEAT_SOCKETS, /* sockets requested from PID 1 */
        SEAT_SENT,    /* the gate was asked; serial identifies the question */
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
        bool dirty;   /* the policy at the gate differs from the row */
        bool in_force; /* the gate enforces the rules whose hash is `told` */
        uint8_t told[SECRET_HASH_SIZE];
        bool awaited; /* core waits for network_attached() */
        bool queued;  /* waits for a turn */
        bool released; /* no kernel object of it is left */
        sd_event_source *timer; /* timeout of the wait, or the pause before the next attempt */
        usec_t pause;           /* the last pause */
        SeatWaiter *waiters;
        char *certificate, *bundle_path; /* of its authority; path inside the sandbox of the list that has it */
        struct Certification *certification; /* in progress */
        Group *group;
        NetworkUse use;
        uint64_t cpu_usec; /* of the gate's thread, as last reported */
        unsigned tokens; /* events that may still be stored in this second */
        usec_t tokens_at;
        uint64_t untold; /* events that were not stored */
        Seat *turn_prev, *turn_next;
        Seat *group_prev, *group_next; /* members */
        Seat *wait_prev, *wait_next;   /* list of seats that wait for the hub */
        bool waits_for_hub, names_stale;
        UT_hash_handle hh;
};

typedef enum QuestionKind {
        QUESTION_ATTACH,
        QUESTION_POLICY,
        QUESTION_USAGE,
} QuestionKind;

/* A question to the gate that is not answered yet. */
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
        Seat *turns;     /* seats that want something from the gate, in order */
        sd_event_source *turn;
        sd_event_source *usage_timer;
        char usage_next[SANDBOX_ID_LENGTH + 1];
        Question *questions;
        uint64_t serial;
        Group *groups;   /* by tenant and name */
        sd_event_source *group_timer;
        struct SocketCall *sockets; /* by token */
        uint64_t token;
        bool has_earlier; /* policies of an earlier version exist, see earlier.c */
        NetworkKeeper hooks;
        LedgerPot *cpu; /* of the gate's thread, by tenant */
        char last_error[ERROR_TEXT_MAX]; /* why the gate is not running */
};

/* gatekeeper.c */
Seat *seat_find(Gatekeeper *k, const char *id);

/* link.c */
void link_init(GateLink *l);
void link_done(Gatekeeper *k);
void link_dismiss(Gatekeeper *k); /* no sandbox needs the gate: ends it and removes its socket */
void link_want(Gatekeeper *k); /* a seat needs the gate */
bool link_is_up(const Gatekeeper *k);
/* Takes ownership of the message; descriptors are duplicated if they have to wait. */
int link_send(Gatekeeper *k, json_t *message, const int *fds, size_t n_fds);
void link_greeted(Gatekeeper *k, bool same_version);
void link_refused(Gatekeeper *k, const char *text); /* the gate refused a message without a serial, e.g. the greeting */
void link_listed(Gatekeeper *k);
void link_hello(Gatekeeper *k); /* sends hello again, with changed settings */

/* messages.c */
void messages_take(Gatekeeper *k, json_t *message);
void control_message_free(json_t *message); /* wipes the secrets in it */
int question_add(const Seat *s, QuestionKind kind, uint64_t *ret_serial); /* -EAGAIN: its tenant has too many unanswered questions */
void question_drop(Gatekeeper *k, uint64_t serial); /* the question was not sent */
void questions_forget(Gatekeeper *k);

/* seat.c */
int seat_new(Gatekeeper *k, Sandbox *sb, Seat **ret);
Seat *seat_free(Seat *s);
void seat_attach(Seat *s, bool awaited);
void seat_claim(Seat *s);
int seat_set_policy(Seat *s, SandboxDone done, void *userdata);
void seat_want_turn(Seat *s);
void seat_forget_waiter(Seat *s, void *userdata);
void seat_arm(Seat *s, usec_t usec); /* does nothing if already armed */
void seats_turn(Gatekeeper *k);      /* the gate is up: gives a turn to each waiting seat */
void seats_gate_gone(Gatekeeper *k);
void seats_reloaded(Gatekeeper *k);
void seat_on_sockets(Seat *s, int error, uint8_t shape, int *fds, size_t n_fds);
void seat_on_done(Seat *s, json_t *answer);
void seat_on_failed(Seat *s, const char *text);
void seat_on_gone(Seat *s); /* the gate has reported the end of its PID 1 */
void seat_certified(Seat *s, const Error *error);
void seat_leave(Seat *s);   /* the sandbox ends */

/* request.c */
int request_make(Seat *s, const char *what, uint64_t serial, json_t **ret, Error *reterr);
json_t *request_grants(Seat *s);
json_t *sandbox_network_json(const Sandbox *sb); /* the network part of its policy; a new reference */

/* group.c */
int group_admit(Seat *s, Error *reterr);
int group_prepare(Seat *s, Error *reterr); /* 1: it has to wait; network_prepared() follows */
void group_leave(Seat *s);          /* gives up its name */
void group_release(Seat *s);        /* gives up its address and hub */
void group_take_hub(Seat *s, int fd); /* takes ownership of fd */
void group_came(Seat *s);
json_t *group_names(const Group *g);
void groups_done(Gatekeeper *k);

/* certificate.c */
int certification_start(Seat *s);
struct Certification *certification_free(struct Certification *c);
int certificate_environment(const Seat *s, Strv *env);

/* credential.c */
int credentials_for_gate(Seat *s, json_t **ret, Error *reterr);
/* Checks that a secret exists and that the gate would accept its value. -ENOKEY: it does not exist; -EINVAL. */
int credential_check(Gatekeeper *k, const char *tenant, const char *secret, size_t *all, Error *reterr);
int credentials_check(Seat *s, Error *reterr); /* all credentials of the sandbox's policy */
int credentials_environment(Seat *s, Strv *env);
/* Whether the credential was stored by an earlier version, in which the guest chose the header. It is limited
 * to the headers below: they carry credentials, and servers neither repeat nor log them. */
bool credential_is_earlier(json_t *credential);
#define CREDENTIAL_EARLIER_HEADERS "Authorization, X-API-Key, Api-Key, X-Auth-Token, Private-Token, X-Goog-Api-Key, X-Access-Token, X-Token"
void credentials_changed(const char *tenant, const char *secret, void *userdata); /* VaultChanged */

/* earlier.c */
void earlier_look(Gatekeeper *k);
void earlier_changed(Gatekeeper *k, const Sandbox *sb, const char *before); /* before: the earlier policy; NULL: none */

/* approval.c */
void approval_asked(Seat *s, json_t *event);
void approval_expired(Gatekeeper *k, json_t *event);
void approvals_gate_is_fresh(Gatekeeper *k);

/* events.c */
void event_hide(const Seat *s, json_t *event); /* masks values of secrets in a guest's text */
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
