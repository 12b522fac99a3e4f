#include "gatekeeper/gatekeeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "config/config.h"
#include "core/run-names.h"
#include "core/secret.h"
#include "gatekeeper/internal.h"
#include "vault/vault.h"

/* core/sandbox/network.c assumes this order, and cannot check it there. */
_Static_assert(NETWORK_NONE == 0 && NETWORK_ISOLATED == 1 && NETWORK_EGRESS == 2 && NETWORK_OPEN == 3, "network_shape() is wrong");

Seat *seat_find(Gatekeeper *k, const char *id) {
        Seat *s;

        HASH_FIND_STR(k->seats, id, s);
        return s;
}

/* Calls from the core. */

static int gatekeeper_check_mode(const Gatekeeper *k, const Sandbox *sb, Error *reterr) {
        const SandboxSpec *spec = &sb->spec;
        _cleanup_json_ json_t *network = sandbox_network_json(sb);
        const EgressPolicy p = { .mode = (NetworkMode) spec->network, .learn = json_is_true(json_object_get(network, "learn")) };
        int r = gatekeeper_check_policy(k, &p, reterr);

        if (r < 0)
                return r;
        if (spec->group && strlen(spec->group) > SANDBOX_NAME_MAX)
                return error_set(reterr, -EINVAL, "the name of its group is longer than %d characters", SANDBOX_NAME_MAX);
        return 0;
}

static int on_admit(Sandbox *sb, Error *reterr, void *userdata) {
        Gatekeeper *k = userdata;
        Seat *s;
        int r = gatekeeper_check_mode(k, sb, reterr);

        if (r < 0)
                return r;
        r = seat_new(k, sb, &s);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        r = k->has_seed ? 0 : seed_load(k, reterr);
        if (r >= 0)
                r = credentials_check(s, reterr);
        if (r >= 0 && sb->spec.network == NETWORK_ISOLATED)
                r = group_admit(s, reterr);
        if (r < 0)
                seat_free(s);
        else {
                earlier_changed(k, sb, /* before= */ NULL);
                link_want(k); /* so that the gate is up when the sandbox is */
        }
        return r;
}

static int on_prepare(Sandbox *sb, Error *reterr, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);

        return s && s->group ? group_prepare(s, reterr) : 0;
}

static void on_attach(Sandbox *sb, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);

        if (s)
                seat_attach(s, /* awaited= */ true);
}

static void on_claim(Sandbox *sb, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);

        if (s)
                seat_claim(s);
}

static void gatekeeper_on_adopted(Sandbox *sb, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);

        if (s)
                seat_attach(s, /* awaited= */ false);
}

static void gatekeeper_on_gone(Sandbox *sb, void *userdata) {
        Gatekeeper *k = userdata;
        Seat *s = seat_find(k, sb->id);

        sockets_sandbox_gone(k, sb);
        if (k->has_earlier)
                earlier_changed(k, sb, sb->spec.policy);
        if (!s)
                return;
        if (sb->status == SANDBOX_TERMINATING || sb->activity == ACTIVITY_UNLOADING)
                seat_leave(s);
        else
                seat_free(s);
}

static void on_sockets(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);
        int copy[CONTROL_FDS_MAX];

        for (size_t i = 0; i < n_fds; i++)
                if (i < CONTROL_FDS_MAX)
                        copy[i] = fds[i];
                else
                        (void) fd_close(fds[i]);
        n_fds = MIN_OF(n_fds, (size_t) CONTROL_FDS_MAX);
        if (s)
                seat_on_sockets(s, error, shape, copy, n_fds);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(copy[i]);
}

static void gatekeeper_on_socket(Sandbox *sb, uint64_t token, int error, int fd, void *userdata) {
        sockets_on_made(userdata, token, error, fd);
}

static int on_environment(Sandbox *sb, Strv *env, void *userdata) {
        Seat *s = seat_find(userdata, sb->id);
        int r = s ? certificate_environment(s, env) : 0;

        return r < 0 || !s ? r : credentials_environment(s, env);
}

static void gatekeeper_on_execution(Sandbox *sb, void *userdata) {
        Gatekeeper *k = userdata;
        Seat *s = seat_find(k, sb->id);

        if (s && s->at_gate)
                (void) link_send(k, json_pack("{s:s, s:s}", "do", "execution", "id", s->id), NULL, 0);
}

/* At the start, each sandbox that has a row and lives gets its seat, address and group. */
static int gatekeeper_take_stock(Gatekeeper *k) {
        Sandbox *sb, *next;
        Error error = { 0 };

        HASH_ITER(hh, k->manager->sandboxes, sb, next) {
                Seat *s;
                int r;

                if (!sandbox_has_network(sb) || sandbox_status_is_ended(sb->status) || sb->parked)
                        continue;
                r = seat_new(k, sb, &s);
                if (r >= 0 && sb->spec.network == NETWORK_ISOLATED)
                        r = group_admit(s, &error);
                if (r < 0)
                        return r;
        }
        return usage_load(k);
}

static int make_paths(Gatekeeper *k, const GatekeeperConfig *config) {
        if (asprintf(&k->socket_path, "%s/" RUN_GATE, config->run_dir) < 0) {
                k->socket_path = NULL;
                return -ENOMEM;
        }
        if (asprintf(&k->seed_path, "%s/gate.seed", config->state_dir) < 0) {
                k->seed_path = NULL;
                return -ENOMEM;
        }
        k->program = config->program ? strdup(config->program) : NULL;
        return config->program && !k->program ? -ENOMEM : 0;
}

static void set_hooks(Gatekeeper *k) {
        k->hooks = (NetworkKeeper) {
                .admit = on_admit,
                .prepare = on_prepare,
                .attach = on_attach,
                .claim = on_claim,
                .adopted = gatekeeper_on_adopted,
                .gone = gatekeeper_on_gone,
                .sockets = on_sockets,
                .socket = gatekeeper_on_socket,
                .environment = on_environment,
                .execution = gatekeeper_on_execution,
                .userdata = k,
        };
        manager_set_network(k->manager, &k->hooks);
}

int gatekeeper_new(Manager *m, Vault *vault, const GatekeeperConfig *config, Gatekeeper **ret, Error *reterr) {
        Gatekeeper *k = calloc(1, sizeof(*k));
        int r;

        if (!k)
                return error_set(reterr, -ENOMEM, "out of memory");
        k->manager = m;
        k->vault = vault;
        link_init(&k->link);
        r = make_paths(k, config);
        if (r >= 0)
                r = gatekeeper_take_stock(k);
        if (r >= 0)
                r = usage_start(k);
        if (r < 0) {
                gatekeeper_free(k);
                return error_set(reterr, r, "cannot restore the networks of sandboxes: %m");
        }
        set_hooks(k);
        if (vault)
                vault_on_change(vault, credentials_changed, k);
        if (k->seats)
                link_want(k);
        earlier_look(k);
        *ret = k;
        return 0;
}

void gatekeeper_reloaded(Gatekeeper *k) {
        earlier_look(k);
        link_hello(k);
        seats_reloaded(k);
}

Gatekeeper *gatekeeper_free(Gatekeeper *k) {
        Seat *s, *next;

        if (!k)
                return NULL;
        if (k->manager->network == &k->hooks)
                manager_set_network(k->manager, NULL);
        if (k->vault)
                vault_on_change(k->vault, NULL, NULL);
        if (!k->seats)
                link_dismiss(k);
        link_done(k); /* the gate keeps running */
        sockets_done(k);
        HASH_ITER(hh, k->seats, s, next)
                seat_free(s);
        groups_done(k);
        questions_forget(k);
        k->turn = sd_event_source_disable_unref(k->turn);
        k->usage_timer = sd_event_source_disable_unref(k->usage_timer);
        ledger_pots_free(&k->cpu);
        secret_wipe(k->seed, sizeof(k->seed));
        free(k->program);
        free(k->socket_path);
        free(k->seed_path);
        free(k);
        return NULL;
}
