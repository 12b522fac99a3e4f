/* native-network.c: the network of a sandbox, as far as it is the provider's: its shape, its sockets, who listens inside. */

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

#define PROC_FILE_MAX (1024 * 1024) /* of sockets: some six thousand of them */
#define STATE_LISTEN  0x0a

void native_network_shape(const Sandbox *sb, SpawnCreate *ret) {
        ret->network = (uint8_t) network_shape(sb->spec.network);
        ret->address = ret->network == SPAWN_NETWORK_LINKED ? sb->spec.address : 0;
}

int native_network(Provider *p, Sandbox *sb) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_NETWORK }, NULL, 0);
}

int native_socket(Provider *p, Sandbox *sb, const GuestSocket *socket) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_SOCKET, .socket = *socket }, NULL, 0);
}

/* The callee closes what it is given, so there is no other copy then. */
void native_on_sockets(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int taken[NET_SOCKETS_MAX];
        size_t n = net_shape_fds((SpawnNetwork) m->shape);
        Native *native = g->native;

        if (!native->provider.events->network)
                return;
        if (n_fds != n) {
                native->provider.events->network(g->sandbox, EPROTO, m->shape, NULL, 0, native->provider.userdata);
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
                native->provider.events->socket(g->sandbox, m->socket_made.token, fd < 0 && m->socket_made.error == 0 ? EPROTO : m->socket_made.error,
                                fd, native->provider.userdata);
        else
                (void) fd_close(fd);
}

/* Files of a process's network, which everybody may read. A pid is only known to be ours while the connection stands. */
static int read_proc(const NativeGuest *g, const char *name, char **ret) {
        char path[64];
        size_t size;

        if (!g || g->fd < 0 || g->pid <= 1)
                return -ENOTCONN;
        (void) snprintf(path, sizeof(path), "/proc/%d/net/%s", g->pid, name);
        return file_read_alloc(AT_FDCWD, path, PROC_FILE_MAX, ret, &size);
}

/* Who listens to all addresses or to loopback, can be reached by loopback. Words of 32 bits, in the order of the machine. */
static bool is_reachable(const char *address, size_t digits) {
        static const char *const v4[] = { "00000000", "0100007F" };
        static const char *const v6[] = {
                "00000000000000000000000000000000", "00000000000000000000000001000000",
                "0000000000000000FFFF000000000000", "0000000000000000FFFF00000100007F",
        };

        for (size_t i = 0; digits == 8 && i < ELEMENTSOF(v4); i++)
                if (memcmp(address, v4[i], digits) == 0)
                        return true;
        for (size_t i = 0; digits == 32 && i < ELEMENTSOF(v6); i++)
                if (memcmp(address, v6[i], digits) == 0)
                        return true;
        return false;
}

/* "   0: 00000000:1F90 00000000:0000 0A …": 0 for a line that is no socket of interest. */
static uint16_t port_of_line(const char *line) {
        const char *address = strchr(line, ':');
        unsigned port, state;
        size_t digits;

        if (!address)
                return 0;
        address += 1 + strspn(address + 1, " ");
        digits = strcspn(address, ":");
        if (sscanf(address + digits, ":%4X %*[0-9A-F]:%*4X %2X", &port, &state) != 2 || state != STATE_LISTEN || port > UINT16_MAX)
                return 0;
        return is_reachable(address, digits) ? (uint16_t) port : 0;
}

static void add_port(uint16_t port, uint16_t *ports, size_t max, size_t *n) {
        size_t at = 0;

        while (at < *n && ports[at] < port)
                at++;
        if (at >= max || (at < *n && ports[at] == port))
                return;
        if (*n < max)
                (*n)++;
        memmove(ports + at + 1, ports + at, (*n - at - 1) * sizeof(*ports));
        ports[at] = port;
}

static int add_ports_of(const NativeGuest *g, const char *file, bool gated, uint16_t *ports, size_t max, size_t *n) {
        _cleanup_free_ char *text = NULL;
        char *save = NULL;
        int r = read_proc(g, file, &text);

        if (r < 0)
                return r;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                uint16_t port = port_of_line(line);

                if (port != 0 && !(gated && port == NET_GATE_PORT))
                        add_port(port, ports, max, n);
        }
        return 0;
}

int native_ports(Provider *p, Sandbox *sb, uint16_t *ret, size_t max, size_t *ret_n) {
        const NativeGuest *g = sb->provider_data;
        bool gated = network_shape(sb->spec.network) == SPAWN_NETWORK_GATED;
        size_t n = 0;
        int r;

        r = add_ports_of(g, "tcp", gated, ret, max, &n);
        if (r < 0)
                return r;
        r = add_ports_of(g, "tcp6", gated, ret, max, &n);
        if (r < 0 && r != -ENOENT) /* a kernel without IPv6 */
                return r;
        *ret_n = n;
        return 0;
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

/* What goes through the gate, the gate counts. */
void native_read_network(const Sandbox *sb, SandboxUsage *ret) {
        SpawnNetwork shape = network_shape(sb->spec.network);

        if (shape == SPAWN_NETWORK_NONE)
                ret->has_network = true; /* there is no interface but its own loopback: nothing comes and nothing goes */
        else if (shape == SPAWN_NETWORK_LINKED)
                read_interface(sb->provider_data, ret);
}
