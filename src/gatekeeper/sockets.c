/* sockets.c: sockets inside a sandbox, made by its PID 1: for outside clients of a port, and for datagrams
 * that return to the guest from an address of the world. Each has a token, and a timeout after which the call
 * fails. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fd.h"
#include "gatekeeper/internal.h"

#define PATIENCE (10 * USEC_PER_SEC)

typedef struct SocketCall {
        Gatekeeper *keeper;
        uint64_t token;
        char id[SANDBOX_ID_LENGTH + 1];
        GatekeeperConnected done; /* NULL: for the gate */
        void *userdata;
        uint64_t flow; /* the gate's own token */
        sd_event_source *timer;
        LedgerEntry place;
        UT_hash_handle hh;
} SocketCall;

static void sockets_call_free(SocketCall *c) {
        HASH_DEL(c->keeper->sockets, c);
        c->timer = sd_event_source_disable_unref(c->timer);
        ledger_release(&c->place);
        free(c);
}

static void call_end(SocketCall *c, int error, int fd) {
        Gatekeeper *k = c->keeper;
        GatekeeperConnected done = c->done;
        void *userdata = c->userdata;
        uint64_t flow = c->flow;

        sockets_call_free(c);
        if (done) {
                done(error, fd, userdata);
                return;
        }
        (void) link_send(k, json_pack("{s:s, s:I, s:i}", "do", "flow", "token", (json_int_t) flow, "error", -error), &fd, fd >= 0 ? 1 : 0);
        (void) fd_close(fd);
}

static int sockets_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        call_end(userdata, -ETIMEDOUT, -EBADF);
        return 0;
}

void sockets_on_made(Gatekeeper *k, uint64_t token, int error, int fd) {
        SocketCall *c;

        HASH_FIND(hh, k->sockets, &token, sizeof(token), c);
        if (!c)
                (void) fd_close(fd);
        else
                call_end(c, error == 0 && fd < 0 ? -EBADMSG : -abs(error), fd);
}

/* flow NULL: a stream to the port. */
static int sockets_call_start(Gatekeeper *k, Sandbox *sb, const ProviderFlow *flow, uint16_t port, const SocketCall *what) {
        Provider *p = k->manager->provider;
        SocketCall *c;
        int r;

        r = provider_require(p, flow ? PROVIDER_EGRESS : PROVIDER_PORTS, NULL);
        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = *what;
        c->keeper = k;
        c->token = ++k->token;
        memcpy(c->id, sb->id, sizeof(c->id));
        HASH_ADD(hh, k->sockets, token, sizeof(c->token), c);
        r = ledger_reserve(k->manager, &c->place, sb->spec.tenant, LEDGER_CALLS, 1, /* reterr= */ NULL);
        if (r >= 0)
                r = sd_event_add_time_relative(k->manager->event, &c->timer, CLOCK_MONOTONIC, PATIENCE, 0, sockets_on_timer, c);
        if (r >= 0)
                r = flow ? p->egress->flow(p, sb, flow, c->token) : p->ports->connect(p, sb, port, c->token);
        if (r < 0)
                sockets_call_free(c);
        return r;
}

int gatekeeper_connect(Gatekeeper *k, Sandbox *sb, uint16_t port, GatekeeperConnected done, void *userdata) {
        if (!sandbox_can_run(sb))
                return -ESTALE;
        return sockets_call_start(k, sb, /* flow= */ NULL, port, &(SocketCall) { .done = done, .userdata = userdata });
}

void gatekeeper_forget(Gatekeeper *k, void *userdata) {
        SocketCall *c, *next;

        HASH_ITER(hh, k->sockets, c, next)
                if (c->done && c->userdata == userdata)
                        sockets_call_free(c); /* a descriptor that still arrives is closed then */
}

/* For the gate. */

static int address_of(json_t *event, const char *key, uint8_t ret[static 16]) {
        const char *text = json_string_value(json_object_get(event, key));
        IpAddress address;
        int r = text ? ip_parse(text, &address) : -EINVAL;

        if (r >= 0)
                memcpy(ret, address.bytes, 16);
        return r;
}

static int sockets_port_of(json_t *event, const char *key, uint16_t *ret) {
        json_int_t port = json_integer_value(json_object_get(event, key));

        if (port < 1 || port > UINT16_MAX)
                return -EINVAL;
        *ret = (uint16_t) port;
        return 0;
}

/* To the gate, the guest is local and the world is remote. For a socket that stands for the world it is the
 * other way round. */
void sockets_flow(Seat *s, json_t *event) {
        uint64_t token = (uint64_t) json_integer_value(json_object_get(event, "token"));
        ProviderFlow flow = { 0 };
        int r;

        r = address_of(event, "remote", flow.local);
        if (r >= 0)
                r = address_of(event, "local", flow.remote);
        if (r >= 0)
                r = sockets_port_of(event, "remotePort", &flow.local_port);
        if (r >= 0)
                r = sockets_port_of(event, "localPort", &flow.remote_port);
        if (r >= 0)
                r = sockets_call_start(s->keeper, s->sandbox, &flow, /* port= */ 0, &(SocketCall) { .flow = token });
        if (r < 0)
                (void) link_send(s->keeper, json_pack("{s:s, s:I, s:i}", "do", "flow", "token", (json_int_t) token, "error", -r), NULL, 0);
}

/* The end. */

void sockets_sandbox_gone(Gatekeeper *k, const Sandbox *sb) {
        SocketCall *c, *next;

        if (HASH_COUNT(k->sockets) == 0)
                return;
        HASH_ITER(hh, k->sockets, c, next)
                if (strcmp(c->id, sb->id) == 0)
                        (void) sd_event_source_set_time_relative(c->timer, 0); /* not from within */
}

void sockets_done(Gatekeeper *k) {
        SocketCall *c, *next;

        HASH_ITER(hh, k->sockets, c, next)
                sockets_call_free(c);
}
