/* network.h: the networks of sandboxes, as the core sees them: somebody keeps them.
 *
 * The core asks its keeper (gatekeeper/) at each point of a life where a network matters, and hears from it by network_prepared() and
 * network_attached(), never from within the call that asked. A sandbox that has a network is in nobody's hands before its keeper has said
 * that what leaves it is looked at; with no keeper, or one that fails, it is not made.
 * Must not know: gates, policies, sockets. */
#pragma once

#include "core/manager.h"
#include "wire/network.h"

typedef struct NetworkKeeper {
        /* Before anything of it is written down: may there be such a one? Chooses what the row has to have (its address). */
        int (*admit)(Sandbox *sb, Error *reterr, void *userdata);
        /* Its row is written. 0: it can be made, 1: not yet, network_prepared() follows. */
        int (*prepare)(Sandbox *sb, Error *reterr, void *userdata);
        void (*attach)(Sandbox *sb, void *userdata);  /* its PID 1 is there: network_attached() follows */
        void (*claim)(Sandbox *sb, void *userdata);   /* out of a pool, by a caller with a policy of his own: network_attached() follows */
        void (*adopted)(Sandbox *sb, void *userdata); /* after a restart of ours; nobody waits */
        void (*gone)(Sandbox *sb, void *userdata);    /* it ends, or never came to be; also twice */
        /* What the provider has brought; descriptors are the callee's to close. */
        void (*sockets)(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata);
        void (*socket)(Sandbox *sb, uint64_t token, int error, int fd, void *userdata);
        /* What executions find in their environment when nobody has said otherwise: "NAME=value". */
        int (*environment)(Sandbox *sb, Strv *env, void *userdata);
        void (*execution)(Sandbox *sb, void *userdata); /* one begins, and no other runs */
        void *userdata;
} NetworkKeeper;

void manager_set_network(Manager *m, const NetworkKeeper *keeper); /* NULL: there is none any more. It stays the caller's */

static inline bool sandbox_has_network(const Sandbox *sb) {
        return sb->spec.network != 0;
}

/* What of a mode is built into a sandbox; what it may be used for can change. */
SpawnNetwork network_shape(uint8_t mode);
uint8_t network_mode_gated(void); /* the mode that stands at the gate, and by itself lets nothing out */

/* The provider is asked for the sockets by which everything leaves it: the keeper's sockets() follows. */
int network_ask_sockets(Sandbox *sb);

/* The keeper's answers. error NULL: well. */
void network_prepared(Sandbox *sb, const Error *error);
void network_attached(Sandbox *sb, const Error *error);

/* For the files of the core. */
int network_admit(Sandbox *sb, Error *reterr);
int network_prepare(Sandbox *sb, Error *reterr);
bool network_attach(Sandbox *sb); /* true: it waits for its network now */
bool network_claim(Sandbox *sb, SandboxDone done, void *userdata); /* likewise; done comes then */
void network_adopted(Sandbox *sb);
void network_gone(Sandbox *sb);
void network_on_sockets(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds);
void network_on_socket(Sandbox *sb, uint64_t token, int error, int fd);
int network_environment(Sandbox *sb, Strv *env);
void network_execution(Sandbox *sb);
