/* native-network.c: the provider's part of a sandbox's network: its shape, its sockets, listening ports
 * inside. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "core/network.h"
#include "jail/net.h"
#include "provider/native-internal.h"

#define PROC_FILE_MAX (1024 * 1024) /* of the file of sockets: some six thousand of them */

void native_network_shape(const Sandbox *sb, SpawnCreate *ret) {
        ret->network = (uint8_t) network_shape(sb->spec.network);
        ret->address = ret->network == SPAWN_NETWORK_LINKED ? sb->spec.address : 0;
}

static int native_network_sockets(Provider *p, Sandbox *sb) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_NETWORK }, NULL, 0);
}

static int native_socket(Provider *p, Sandbox *sb, const GuestSocket *socket) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_SOCKET, .socket = *socket }, NULL, 0);
}

static int native_network_flow(Provider *p, Sandbox *sb, const ProviderFlow *flow, uint64_t token) {
        GuestSocket socket = { .kind = GUEST_SOCKET_UDP, .token = token, .local_port = flow->local_port, .remote_port = flow->remote_port };

        memcpy(socket.local, flow->local, sizeof(socket.local));
        memcpy(socket.remote, flow->remote, sizeof(socket.remote));
        return native_socket(p, sb, &socket);
}

static int native_ports_connect(Provider *p, Sandbox *sb, uint16_t port, uint64_t token) {
        return native_socket(p, sb, &(GuestSocket) { .kind = GUEST_SOCKET_TCP, .token = token, .remote_port = port });
}

const ProviderNetwork native_network = { .sockets = native_network_sockets, .flow = native_network_flow };
const ProviderPorts native_ports = { .connect = native_ports_connect };

/* The callback closes the descriptors that it is given, so no other copy may remain. */
void native_on_sockets(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int taken[NET_SOCKETS_MAX];
        size_t n = net_shape_fds((SpawnNetwork) m->shape);
        Native *native = g->native;

        if (!native->provider.events->network)
                return;
        if (n_fds != n) {
                native->provider.events->network(g->sandbox, g->no_fds, m->shape, NULL, 0, native->provider.userdata);
                return;
        }
        for (size_t i = 0; i < n; i++)
                taken[i] = TAKE_FD(fds[i]);
        native->provider.events->network(g->sandbox, 0, m->shape, taken, n, native->provider.userdata);
}

void native_on_socket_made(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int fd = n_fds > 0 ? TAKE_FD(fds[0]) : -EBADF;
        Native *native = g->native;

        if (native->provider.events->socket)
                native->provider.events->socket(g->sandbox, m->socket_made.token, fd < 0 && m->socket_made.error == 0 ? g->no_fds : m->socket_made.error,
                                fd, native->provider.userdata);
        else
                (void) fd_close(fd);
}

/* Reads files of a process's network, which any user may read. A PID is only known to be the sandbox's while
 * the connection stands. */
static int read_proc(const NativeGuest *g, const char *name, char **ret) {
        char path[64];
        size_t size;

        if (!g || g->fd < 0 || g->pid <= 1)
                return -ENOTCONN;
        (void) snprintf(path, sizeof(path), "/proc/%d/net/%s", g->pid, name);
        return file_read_alloc(AT_FDCWD, path, PROC_FILE_MAX, ret, &size);
}

/* "  eth0: RX-BYTES and seven more, TX-BYTES …" */
static void read_interface(const NativeGuest *g, SandboxUsage *ret) {
        _cleanup_free_ char *text = NULL;
        uint64_t rx, tx;
        char *line;

        if (read_proc(g, "dev", &text) < 0)
                return;
        line = strstr(text, "eth0:");
        if (!line || sscanf(line, "eth0: %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &rx, &tx) != 2)
                return;
        ret->network_rx_bytes = rx;
        ret->network_tx_bytes = tx;
        ret->has_network = true;
}

/* The gate counts the traffic that passes through it. */
void native_read_network(const Sandbox *sb, SandboxUsage *ret) {
        SpawnNetwork shape = network_shape(sb->spec.network);

        if (shape == SPAWN_NETWORK_NONE)
                ret->has_network = true; /* there is no interface but loopback: no bytes come or go */
        else if (shape == SPAWN_NETWORK_LINKED)
                read_interface(sb->provider_data, ret);
}
