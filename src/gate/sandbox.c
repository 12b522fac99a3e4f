#include "gate/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"
#include "gate/ask.h"
#include "gate/dns/dns.h"
#include "gate/events.h"
#include "gate/http/http.h"
#include "gate/memory.h"
#include "gate/relay/bucket.h"
#include "gate/relay/connection.h"
#include "gate/relay/listener.h"
#include "gate/settings.h"
#include "gate/share.h"
#include "gate/tell.h"

static int check_socket(int fd, int type, const char *what, Error *reterr) {
        int found = 0;
        socklen_t size = sizeof(found);

        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &found, &size) < 0)
                return error_set(reterr, -errno, "the %s is no socket: %m", what);
        if (found != type)
                return error_set(reterr, -EPROTOTYPE, "the %s is a socket of another kind", what);
        /* PID 1 shares the open file, and thereby the flags, but never reads from it. */
        if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                return error_set(reterr, -errno, "the %s: %m", what);
        return 0;
}

/* Between the guest and the gate there is only memory: a congestion control that measures the path and paces
 * (as the host's default may) is only slower. Accepted sockets inherit it from the listener. */
static void hurry(int fd) {
        (void) setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", strlen("reno"));
}

static int gate_sandbox_on_gone(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        GateSandbox *s = userdata;
        Gate *g = s->gate;

        log_sandbox("debug", s->id, "its PID 1 has ended");
        gate_event_send(g, json_pack("{s:s, s:s, s:o}", "event", "gone", "id", s->id, "usage", gate_usage_to_json(&s->usage)));
        gate_sandbox_free(s);
        return 0;
}

typedef struct GateSandboxSocket {
        const char *name;
        int type; /* -1: no socket */
        size_t fd, source; /* in GateSandbox */
        sd_event_io_handler_t handler;
} GateSandboxSocket;

#define PLACE(x) offsetof(GateSandbox, x##_fd), offsetof(GateSandbox, x##_source)

static const GateSandboxSocket gated[GATE_FDS_GATED] = {
        { "TCP listener", SOCK_STREAM, PLACE(tcp),                                                      listener_on_ready },
        { "DNS socket",   SOCK_DGRAM,  PLACE(dns),                                                      dns_on_datagram   },
        { "UDP socket",   SOCK_DGRAM,  PLACE(udp),                                                      udp_on_datagram   },
        { "pidfd",        -1,          offsetof(GateSandbox, pidfd), offsetof(GateSandbox, pid_source), gate_sandbox_on_gone           },
};

static const GateSandboxSocket linked[GATE_FDS_LINKED] = {
        { "DNS socket", SOCK_DGRAM, PLACE(dns),                                                      dns_on_datagram },
        { "pidfd",      -1,         offsetof(GateSandbox, pidfd), offsetof(GateSandbox, pid_source), gate_sandbox_on_gone         },
};

static int take_socket(GateSandbox *s, const GateSandboxSocket *k, int *fd) {
        sd_event_source **source = (void *) ((char *) s + k->source);
        int *place = (void *) ((char *) s + k->fd);
        sd_event_source *added = NULL;
        int r = sd_event_add_io(s->gate->event, &added, *fd, EPOLLIN, k->handler, s);

        if (r < 0)
                return r;
        sd_event_source_disable_unref(*source);
        (void) fd_close(*place);
        (void) sd_event_source_set_priority(added, k->type < 0 ? SD_EVENT_PRIORITY_NORMAL : share_priority(s));
        *source = added;
        *place = TAKE_FD(*fd);
        return 0;
}

static int check_sockets(NetworkMode mode, const int *fds, size_t n_fds, const GateSandboxSocket **ret, Error *reterr) {
        const GateSandboxSocket *kinds = mode == NETWORK_ISOLATED ? linked : gated;
        size_t n = mode == NETWORK_ISOLATED ? ELEMENTSOF(linked) : ELEMENTSOF(gated);

        if (n_fds != n)
                return error_set(reterr, -EINVAL, "there are %zu descriptors, mode %s wants %zu", n_fds, network_mode_to_string(mode), n);
        for (size_t i = 0; i < n; i++) {
                int r = kinds[i].type < 0 ? 0 : check_socket(fds[i], kinds[i].type, kinds[i].name, reterr);
                if (r < 0)
                        return r;
        }
        *ret = kinds;
        return 0;
}

static int take_sockets(GateSandbox *s, const GateSandboxSocket *kinds, int *fds, size_t n_fds, Error *reterr) {
        for (size_t i = 0; i < n_fds; i++) {
                int r = take_socket(s, kinds + i, fds + i);
                if (r < 0)
                        return error_set(reterr, r, "the %s cannot be waited for: %m", kinds[i].name);
        }
        return 0;
}

/* Buckets. */

static int gate_sandbox_set_rate(struct Bucket **bucket, uint64_t rate, usec_t now) {
        if (rate == 0) {
                *bucket = bucket_free(*bucket);
                return 0;
        }
        if (*bucket)
                bucket_set_rate(*bucket, rate, now);
        else
                *bucket = bucket_new(rate, now);
        return *bucket ? 0 : -ENOMEM;
}

/* Checks that there is room for the settings, if they take more than the old ones. The memory of the
 * sandbox's connections does not count: they can be cut, and a policy must be able to change. */
static int gate_sandbox_check_memory(const Gate *g, const GateSandbox *s, const GateSettings *n, Error *reterr) {
        size_t before = s ? s->settings_held : 0, now = gate_settings_size(n);

        if (now <= before || memory_fits(g, NULL, now - before))
                return 0;
        return error_set(reterr, -ENOBUFS, "its credentials and the paths in its rules take %zu bytes of the gate's memory, more than is left for them: "
                        "use fewer or shorter ones, or ask the operator to raise network.gateMemory", now);
}

/* Puts the settings in force, and tells connections and flows, which were decided by the old ones. */
static int put_in_force(GateSandbox *s, GateSettings *n, Error *reterr) {
        usec_t now = clock_usec();
        GateSettings old = {
                .policy = s->policy,
                .grants = s->grants,
                .names = s->names,
                .credentials = s->credentials,
        };

        if (gate_sandbox_set_rate(&s->up, n->policy.up_bytes_per_sec, now) < 0 || gate_sandbox_set_rate(&s->down, n->policy.down_bytes_per_sec, now) < 0)
                return error_set(reterr, -ENOMEM, "%m");
        s->policy = n->policy;
        s->grants = n->grants;
        s->names = n->names;
        s->credentials = n->credentials;
        (void) memory_hold(s, &s->settings_held, gate_settings_size(n));
        *n = (GateSettings) { 0 };
        connections_policy_changed(s);
        udp_policy_changed(s);
        gate_settings_done(&old);
        return 0;
}

/* An isolated sandbox has other sockets than the rest, and is served differently. */
static int gate_sandbox_check_change(const GateSandbox *s, const GateSettings *n, Error *reterr) {
        if ((s->policy.mode == NETWORK_ISOLATED) != (n->policy.mode == NETWORK_ISOLATED))
                return error_set(reterr, -EINVAL, "mode %s cannot become %s", network_mode_to_string(s->policy.mode),
                                network_mode_to_string(n->policy.mode));
        return 0;
}

int gate_sandbox_replace(GateSandbox *s, json_t *message, Error *reterr) {
        GateSettings n = { 0 };
        int r;

        r = gate_settings_read(s->gate, message, &n, reterr);
        if (r < 0)
                return r;
        r = gate_sandbox_check_change(s, &n, reterr);
        if (r >= 0)
                r = gate_sandbox_check_memory(s->gate, s, &n, reterr);
        if (r >= 0)
                r = put_in_force(s, &n, reterr);
        gate_settings_done(&n);
        return r;
}

int gate_sandbox_set_names(GateSandbox *s, json_t *names, Error *reterr) {
        int r = gate_names_check(names, reterr);

        if (r < 0)
                return r;
        json_decref(s->names);
        s->names = json_incref(names);
        return 0;
}

int gate_sandbox_grant(GateSandbox *s, json_t *rule, Error *reterr) {
        int r = gate_grant_add(&s->grants, rule, reterr);

        (void) memory_hold(s, &s->settings_held, gate_settings_size(&(GateSettings) {
                .policy = s->policy, .grants = s->grants, .credentials = s->credentials }));
        return r;
}

static GateSandbox *gate_sandbox_new(Gate *g, const char *id) {
        GateSandbox *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->gate = g;
        (void) snprintf(s->id, sizeof(s->id), "%s", id);
        s->tcp_fd = s->dns_fd = s->udp_fd = s->pidfd = -EBADF;
        s->events = gate_events_new();
        HASH_ADD_STR(g->sandboxes, id, s);
        if (!s->events || pins_new(&s->pins) < 0)
                return gate_sandbox_free(s);
        return s;
}

static int attach_new(Gate *g, const char *id, GateSettings *n, int *fds, size_t n_fds, const GateSandboxSocket *kinds, GateSandbox **ret, Error *reterr) {
        GateSandbox *s = gate_sandbox_new(g, id);
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "%m");
        s->used_bytes = n->used_bytes;
        r = put_in_force(s, n, reterr);
        if (r >= 0)
                r = take_sockets(s, kinds, fds, n_fds, reterr);
        if (r >= 0 && s->tcp_fd >= 0)
                hurry(s->tcp_fd);
        if (r < 0) {
                gate_sandbox_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

static int attach_again(GateSandbox *s, GateSettings *n, int *fds, size_t n_fds, const GateSandboxSocket *kinds, Error *reterr) {
        int r = gate_sandbox_check_change(s, n, reterr);

        if (r >= 0)
                r = take_sockets(s, kinds, fds, n_fds, reterr);
        if (r >= 0)
                r = put_in_force(s, n, reterr);
        if (r >= 0)
                listener_resume(s);
        return r;
}

static bool gate_sandbox_is_id(const char *id) {
        size_t n = id ? strlen(id) : 0;

        return n > 0 && n < sizeof(((GateSandbox *) NULL)->id) &&
                        strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

int gate_sandbox_attach(Gate *g, json_t *message, int *fds, size_t n_fds, GateSandbox **ret, Error *reterr) {
        const char *id = json_string_value(json_object_get(message, "id"));
        const GateSandboxSocket *kinds = NULL;
        GateSettings n = { 0 };
        GateSandbox *s;
        int r;

        if (!gate_sandbox_is_id(id))
                return error_set(reterr, -EINVAL, "id: must be the id of a sandbox");
        r = gate_settings_read(g, message, &n, reterr);
        if (r < 0)
                return r;
        r = check_sockets(n.policy.mode, fds, n_fds, &kinds, reterr);
        s = gate_find(g, id);
        if (r >= 0)
                r = gate_sandbox_check_memory(g, s, &n, reterr);
        if (r >= 0)
                r = s ? attach_again(s, &n, fds, n_fds, kinds, reterr) : attach_new(g, id, &n, fds, n_fds, kinds, &s, reterr);
        gate_settings_done(&n);
        if (r < 0)
                return r;
        if (g->on_change)
                g->on_change(g, g->change_userdata);
        *ret = s;
        return 0;
}

GateSandbox *gate_sandbox_free(GateSandbox *s) {
        Gate *g;

        if (!s)
                return NULL;
        g = s->gate;
        HASH_DEL(g->sandboxes, s);
        connections_sandbox_gone(s);
        dns_sandbox_gone(s);
        udp_sandbox_gone(s);
        asks_sandbox_gone(s);
        share_sandbox_gone(s);
        sd_event_source_disable_unref(s->tcp_source);
        sd_event_source_disable_unref(s->dns_source);
        sd_event_source_disable_unref(s->udp_source);
        sd_event_source_disable_unref(s->pid_source);
        (void) fd_close(s->tcp_fd);
        (void) fd_close(s->dns_fd);
        (void) fd_close(s->udp_fd);
        (void) fd_close(s->pidfd);
        s->up = bucket_free(s->up);
        s->down = bucket_free(s->down);
        pins_free(s->pins);
        gate_events_free(s->events);
        authority_free(s->authority);
        gate_settings_done(&(GateSettings) {
                .policy = s->policy, .grants = s->grants, .names = s->names, .credentials = s->credentials });
        (void) memory_hold(s, &s->settings_held, 0);
        free(s);
        if (g->on_change)
                g->on_change(g, g->change_userdata);
        return NULL;
}

int gate_sandbox_certificate(GateSandbox *s, char **ret, Error *reterr) {
        int r;

        *ret = NULL;
        if (!gate_opens_tls(s))
                return 0;
        if (!s->authority) {
                r = authority_new(s->gate->seed, s->id, &s->authority, reterr);
                if (r < 0)
                        return error_prefix(reterr, r, "its authority cannot be made");
        }
        *ret = authority_certificate(s->authority);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "%m");
}
