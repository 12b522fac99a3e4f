/* network.h: the core's interface to the networks of sandboxes.
 *
 * The core calls its keeper (gatekeeper/) at each point of a sandbox's life where the network matters. The keeper
 * answers by network_prepared() and network_attached(), never from within the call that asked. No caller gets a
 * sandbox with a network before the keeper has confirmed that the gate checks its traffic; without a keeper, or if
 * the keeper fails, the sandbox is not made.
 * Must not know: gates, policies, sockets. */
#pragma once

#include "core/manager.h"
#include "wire/network.h"

typedef struct NetworkKeeper {
        /* Before its row is written: checks whether such a sandbox is possible, and chooses its address for the row. */
        int (*admit)(Sandbox *sb, Error *reterr, void *userdata);
        /* After its row is written. 0: it can be made, 1: not yet, network_prepared() follows. */
        int (*prepare)(Sandbox *sb, Error *reterr, void *userdata);
        void (*attach)(Sandbox *sb, void *userdata);  /* its PID 1 is running: network_attached() follows */
        void (*claim)(Sandbox *sb, void *userdata);   /* from a pool, by a caller with its own policy: network_attached() follows */
        void (*adopted)(Sandbox *sb, void *userdata); /* after a restart of the daemon; no answer follows */
        void (*gone)(Sandbox *sb, void *userdata);    /* it ends, or was never made; may be called twice */
        /* Sockets from the provider; the callee closes the descriptors. */
        void (*sockets)(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata);
        void (*socket)(Sandbox *sb, uint64_t token, int error, int fd, void *userdata);
        /* Adds the default environment of executions, "NAME=value", below that of the sandbox and the caller. */
        int (*environment)(Sandbox *sb, Strv *env, void *userdata);
        void (*execution)(Sandbox *sb, void *userdata); /* an execution begins, and no other runs */
        void *userdata;
} NetworkKeeper;

void manager_set_network(Manager *m, const NetworkKeeper *keeper); /* the caller's; NULL: removes it */

static inline bool sandbox_has_network(const Sandbox *sb) {
        return sb->spec.network != 0;
}

/* The part of a mode that is built into a sandbox; what the sandbox may reach can change. */
SpawnNetwork network_shape(uint8_t mode);
uint8_t network_mode_gated(void); /* the mode with the gate, which lets nothing out without a policy */

/* Asks the provider for the sockets that all traffic of the sandbox uses: the keeper's sockets() follows. */
int network_ask_sockets(Sandbox *sb);

/* The keeper's answers. error NULL: success. */
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
