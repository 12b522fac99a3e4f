#include "core/network.h"

#include "base/fd.h"
#include "core/internal.h"

/* By NetworkMode of policy/egress.h, which the core does not read: none, isolated, egress, open. */
static const SpawnNetwork shapes[] = {
        SPAWN_NETWORK_NONE,
        SPAWN_NETWORK_LINKED,
        SPAWN_NETWORK_GATED,
        SPAWN_NETWORK_GATED,
};

SpawnNetwork network_shape(uint8_t mode) {
        return mode < ELEMENTSOF(shapes) ? shapes[mode] : SPAWN_NETWORK_NONE;
}

uint8_t network_mode_gated(void) {
        return 2; /* egress */
}

void manager_set_network(Manager *m, const NetworkKeeper *keeper) {
        m->network = keeper;
}

static const NetworkKeeper *core_network_keeper_of(const Sandbox *sb) {
        return sandbox_has_network(sb) ? sb->manager->network : NULL;
}

static ProviderCapability network_needs(const Sandbox *sb) {
        return network_shape(sb->spec.network) == SPAWN_NETWORK_LINKED ? PROVIDER_GROUPS : PROVIDER_EGRESS;
}

/* A sandbox that the provider cannot isolate as required is not made. */
static int check_provider(const Sandbox *sb, Error *reterr) {
        SpawnNetwork shape = network_shape(sb->spec.network);

        if (shape == SPAWN_NETWORK_NONE)
                return error_set(reterr, -EOPNOTSUPP, "sandboxes of the daemon cannot have this kind of network");
        return provider_require(sb->manager->provider, network_needs(sb), reterr);
}

int network_ask_sockets(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        int r = provider_require(p, network_needs(sb), NULL);

        return r < 0 ? r : (network_needs(sb) == PROVIDER_GROUPS ? p->groups : p->egress)->sockets(p, sb);
}

int network_admit(Sandbox *sb, Error *reterr) {
        const NetworkKeeper *k = sb->manager->network;
        int r;

        if (!sandbox_has_network(sb))
                return 0;
        r = check_provider(sb, reterr);
        if (r < 0)
                return r;
        if (!k)
                return error_set(reterr, -EOPNOTSUPP, "this daemon has no networks for sandboxes");
        return k->admit(sb, reterr, k->userdata);
}

int network_prepare(Sandbox *sb, Error *reterr) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        return k ? k->prepare(sb, reterr, k->userdata) : 0;
}

void network_prepared(Sandbox *sb, const Error *error) {
        Error failure = error ? *error : (Error) { 0 };
        int r = failure.code;

        if (sandbox_boot_heard(sb, error) || sb->status != SANDBOX_INITIALIZING)
                return; /* parked, or being deleted already */
        if (r >= 0)
                r = sandbox_make(sb, &failure);
        if (r >= 0)
                return;
        sb->create_error = r;
        sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, failure.text);
}

bool network_attach(Sandbox *sb) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        if (!k)
                return false;
        (void) sandbox_set_activity(sb, ACTIVITY_CONNECTING);
        k->attach(sb, k->userdata);
        return true;
}

bool network_claim(Sandbox *sb, SandboxDone done, void *userdata) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        if (!k || sandbox_call_add(sb, CALL_NETWORK, done, userdata) < 0)
                return false;
        (void) sandbox_set_activity(sb, ACTIVITY_CONNECTING);
        k->claim(sb, k->userdata);
        return true;
}

static void core_network_fail(Sandbox *sb, const Error *error) {
        Error told = *error;

        if (sandbox_boot_heard(sb, &told))
                return;
        sb->create_error = told.code;
        if (sb->status == SANDBOX_INITIALIZING) {
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, told.text);
                return;
        }
        if (sandbox_call_finish(sb, CALL_NETWORK, &told))
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, told.text);
}

void network_attached(Sandbox *sb, const Error *error) {
        if (sb->activity != ACTIVITY_CONNECTING)
                return;
        if (error) {
                core_network_fail(sb, error);
                return;
        }
        if (!sandbox_is_up(sb)) {
                sandbox_on_ready(sb);
                return;
        }
        (void) sandbox_set_activity(sb, ACTIVITY_NONE);
        if (sandbox_call_finish(sb, CALL_NETWORK, NULL))
                sandbox_serve_waiting(sb);
}

void network_adopted(Sandbox *sb) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        if (k)
                k->adopted(sb, k->userdata);
}

void network_gone(Sandbox *sb) {
        const NetworkKeeper *k = sb->manager->network; /* a sandbox without a network may have sockets inside */

        if (k)
                k->gone(sb, k->userdata);
}

void network_on_sockets(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds) {
        const NetworkKeeper *k = sb->manager->network;

        if (k) {
                k->sockets(sb, error, shape, fds, n_fds, k->userdata);
                return;
        }
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
}

void network_on_socket(Sandbox *sb, uint64_t token, int error, int fd) {
        const NetworkKeeper *k = sb->manager->network;

        if (k)
                k->socket(sb, token, error, fd, k->userdata);
        else
                (void) fd_close(fd);
}

int network_environment(Sandbox *sb, Strv *env) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        return k ? k->environment(sb, env, k->userdata) : 0;
}

void network_execution(Sandbox *sb) {
        const NetworkKeeper *k = core_network_keeper_of(sb);

        if (k)
                k->execution(sb, k->userdata);
}
