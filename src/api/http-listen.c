/* http-listen.c: opens the listening sockets. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/http-internal.h"
#include "base/fd.h"
#include "base/listener.h"
#include "base/parse.h"

#define BACKLOG     1024
#define SOCKET_MODE 0660 /* a peer must still be the owner or root, or have a key */

typedef union Address {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
} Address;

static int http_listen_parse_host(const char *host, uint16_t port, Address *ret, socklen_t *ret_size) {
        *ret = (Address) { 0 };
        if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &ret->v4.sin_addr) == 1) {
                ret->v4.sin_family = AF_INET;
                ret->v4.sin_port = htons(port);
                *ret_size = sizeof(ret->v4);
                return 0;
        }
        if (inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1) {
                ret->v6.sin6_family = AF_INET6;
                ret->v6.sin6_port = htons(port);
                *ret_size = sizeof(ret->v6);
                return 0;
        }
        return -EINVAL;
}

/* Parses "127.0.0.1:8787", "localhost:0" or "[::1]:8787". Names are not looked up, so that the address is
 * visible in the configuration. */
static int parse_address(const char *text, Address *ret, socklen_t *ret_size, Error *reterr) {
        const char *colon = strrchr(text, ':');
        char host[INET6_ADDRSTRLEN + 2];
        uint64_t port;
        size_t n;
        int r = -EINVAL;

        n = colon ? (size_t) (colon - text) : 0;
        if (n > 0 && n < sizeof(host) && parse_uint64(colon + 1, 0, UINT16_MAX, &port) >= 0) {
                memcpy(host, text, n);
                host[n] = '\0';
                if (host[0] == '[' && host[n - 1] == ']') {
                        host[n - 1] = '\0';
                        r = http_listen_parse_host(host + 1, (uint16_t) port, ret, ret_size);
                } else if (!strchr(host, ':'))
                        r = http_listen_parse_host(host, (uint16_t) port, ret, ret_size);
        }
        if (r < 0)
                return error_set(reterr, -EINVAL, "'%s' is not an address to listen on; use one such as 127.0.0.1:8787 or [::1]:8787",
                                text);
        return 0;
}

static int print_address(int fd, char **ret) {
        char host[INET6_ADDRSTRLEN];
        Address a;
        socklen_t size = sizeof(a);
        int r;

        if (getsockname(fd, &a.any, &size) < 0)
                return -errno;
        if (a.any.sa_family == AF_INET6)
                r = asprintf(ret, "[%s]:%u", inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof(host)),
                                ntohs(a.v6.sin6_port));
        else
                r = asprintf(ret, "%s:%u", inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof(host)), ntohs(a.v4.sin_port));
        return r < 0 ? -ENOMEM : 0;
}

static bool is_loopback(const Address *a) {
        if (a->any.sa_family == AF_INET6)
                return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Reports which program uses the address, and what to do. */
static int http_listen_refuse(const char *text, const Address *a, socklen_t size, int code, Error *reterr) {
        Listener l;

        if (code != -EADDRINUSE || listener_find(&a->any, size, &l) < 0)
                return error_set(reterr, code, "cannot listen on %s: %m", text);
        if (l.is_cove)
                return error_set(reterr, code,
                                "cannot listen on %s: a cove daemon of user %s listens there. Use that one (COVE_URL=http://%s, with a key from its owner "
                                "in COVE_API_KEY), or choose another port, as in --listen 127.0.0.1:0",
                                text, l.user, text);
        return error_set(reterr, code, "cannot listen on %s: another program, of user %s, listens there. Choose another port with --listen or --tls-listen",
                        text, l.user);
}

int http_listen_tcp(const char *address, bool loopback_only, char **ret_address, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        const int one = 1;
        socklen_t size;
        Address a;
        int r;

        r = parse_address(address, &a, &size, reterr);
        if (r < 0)
                return r;
        if (loopback_only && !is_loopback(&a))
                return error_set(reterr, -EPERM,
                                "'%s' can be reached from other machines: add --public if that is intended", address);
        fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket for %s: %m", address);
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* connections inherit it */
        if (a.any.sa_family == AF_INET6)
                (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
        if (bind(fd, &a.any, size) < 0 || listen(fd, BACKLOG) < 0)
                return http_listen_refuse(address, &a, size, -errno, reterr);
        r = print_address(fd, ret_address);
        if (r < 0)
                return error_set(reterr, r, "cannot tell the address of the socket: %m");
        return TAKE_FD(fd);
}

/* A socket file remains if its owner is killed. It is removed unless a server answers. */
static int remove_stale(const Address *a, Error *reterr) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct stat st;

        if (lstat(a->local.sun_path, &st) < 0)
                return 0;
        if (!S_ISSOCK(st.st_mode))
                return error_set(reterr, -EEXIST, "%s exists and is not a socket", a->local.sun_path);
        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        if (connect(fd, &a->any, sizeof(a->local)) >= 0 || errno == EAGAIN)
                return error_set(reterr, -EADDRINUSE, "another process listens on %s", a->local.sun_path);
        if (unlink(a->local.sun_path) < 0 && errno != ENOENT)
                return error_set(reterr, -errno, "cannot remove the old socket %s: %m", a->local.sun_path);
        return 0;
}

int http_listen_unix(const char *path, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        Address a = { .local.sun_family = AF_UNIX };
        int r;

        if (strlen(path) >= sizeof(a.local.sun_path))
                return error_set(reterr, -ENAMETOOLONG,
                                "the socket '%s' has %zu bytes; the maximum is %zu: choose another --socket", path,
                                strlen(path), sizeof(a.local.sun_path) - 1);
        memcpy(a.local.sun_path, path, strlen(path) + 1);
        r = remove_stale(&a, reterr);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        if (fchmod(fd, SOCKET_MODE) < 0) /* before it has a name: bind(2) gives the file this mode, minus the umask */
                return error_set(reterr, -errno, "cannot set the mode of a socket: %m");
        if (bind(fd, &a.any, sizeof(a.local)) < 0 || listen(fd, BACKLOG) < 0)
                return error_set(reterr, -errno, "cannot listen on %s: %m", path);
        return TAKE_FD(fd);
}
