#include "init/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "init/pool.h"

#define REFUSED_MSEC 2 /* on loopback a refusal arrives before connect(2) returns, unless the kernel is busy */

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

int network_keep(const int *fds, NetworkFds *ret) {
        ret->n = 0;
        for (size_t i = 0; i < NETWORK_FDS_MAX && fds && fds[i] >= 0; i++) {
                int fd = private_fd_consume(fds[i]);

                if (fd < 0)
                        return fd;
                ret->fds[ret->n++] = fd;
        }
        return 0;
}

static bool is_v4(const uint8_t address[static 16]) {
        static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

        return memcmp(address, mapped, sizeof(mapped)) == 0;
}

static socklen_t init_network_fill(const uint8_t address[static 16], uint16_t port, bool v4, struct sockaddr_storage *ret) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
        struct sockaddr_in6 b = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

        memset(ret, 0, sizeof(*ret));
        if (v4) {
                memcpy(&a.sin_addr, address + 12, sizeof(a.sin_addr));
                memcpy(ret, &a, sizeof(a));
                return sizeof(a);
        }
        memcpy(&b.sin6_addr, address, sizeof(b.sin6_addr));
        memcpy(ret, &b, sizeof(b));
        return sizeof(b);
}

/* Returns a socket, connected or still connecting; -ECONNREFUSED: no listener. */
static int connect_loopback(const uint8_t address[static 16], uint16_t port) {
        bool v4 = is_v4(address);
        _cleanup_close_ int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct pollfd wait = { .fd = fd, .events = POLLOUT };
        struct sockaddr_storage to;
        socklen_t size = init_network_fill(address, port, v4, &to);
        int error = 0;

        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *) &to, size) == 0)
                return TAKE_FD(fd);
        if (errno != EINPROGRESS)
                return -errno;
        if (poll(&wait, 1, REFUSED_MSEC) > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t) { sizeof(error) }) == 0 &&
                        error != 0)
                return -error;
        return TAKE_FD(fd);
}

static int connect_port(const GuestSocket *q) {
        static const uint8_t v4[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 }, v6[16] = { [15] = 1 };
        int fd = connect_loopback(v4, q->remote_port), r;

        if (fd != -ECONNREFUSED)
                return fd;
        r = connect_loopback(v6, q->remote_port);
        return r < 0 ? fd : r; /* without IPv6 the second error is another one, of no interest */
}

/* Other peers use the same address of the same guest: only remote and local address together identify a
 * conversation. A route makes every address local, which is enough to bind an IPv4 address; IPv6 needs an
 * option. */
static int open_flow(const GuestSocket *q) {
        bool v4 = is_v4(q->local) && is_v4(q->remote);
        _cleanup_close_ int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_storage local, remote;
        socklen_t local_size = init_network_fill(q->local, q->local_port, v4, &local), remote_size = init_network_fill(q->remote, q->remote_port, v4, &remote);
        const int on = 1;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
                return -errno;
        if (!v4 && setsockopt(fd, SOL_IPV6, IPV6_FREEBIND, &on, sizeof(on)) < 0)
                return -errno;
        if (bind(fd, (const struct sockaddr *) &local, local_size) < 0 || connect(fd, (const struct sockaddr *) &remote, remote_size) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int network_socket(const GuestSocket *request) {
        return request->kind == GUEST_SOCKET_TCP ? connect_port(request) : open_flow(request);
}
