#include "client/place.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/listener.h"
#include "base/parse.h"
#include "client/http/tunnel.h"

#define STATE_OF_ROOT "/var/lib/cove"
#define STATE_OF_USER "/.local/share/cove" /* in the home directory */
#define SOCKET_NAME   "cove.sock"
#define PORT_DEFAULT  "8787"
#define PORT_TLS      "443"
#define URL_DEFAULT   "http://127.0.0.1:" PORT_DEFAULT

void place_done(Place *p) {
        free(p->socket);
        free(p->host);
        free(p->port);
        free(p->cacert);
        free(p->key);
        free(p->label);
        *p = (Place) { 0 };
}

static const char *environment(const char *name) {
        const char *value = getenv(name);
        return value && *value ? value : NULL;
}

static int place_no_memory(Error *reterr) {
        return error_set(reterr, -ENOMEM, "out of memory");
}

static int place_set(char **field, const char *value, Error *reterr) {
        *field = strdup(value);
        return *field ? 0 : place_no_memory(reterr);
}

/* "host", "host:port", "[address]:port". from: who says so. p->tls says which port is meant. */
static int split_authority(const char *from, const char *authority, size_t length, Place *p, Error *reterr) {
        const char *end = authority + length, *host = authority, *host_end, *port;
        uint64_t number;

        if (length > 0 && *authority == '[') {
                host++;
                host_end = memchr(host, ']', (size_t) (end - host));
                port = host_end ? host_end + 1 : NULL;
        } else {
                host_end = memchr(host, ':', length);
                if (!host_end)
                        host_end = end;
                port = host_end;
        }
        if (!port || host_end == host || (port < end && (*port != ':' || port + 1 == end)))
                return error_set(reterr, -EINVAL, "%s: '%.*s' is no host with a port, as in 127.0.0.1:8787", from,
                                (int) length, authority);
        p->host = strndup(host, (size_t) (host_end - host));
        p->port = port < end ? strndup(port + 1, (size_t) (end - port - 1)) : strdup(p->tls ? PORT_TLS : PORT_DEFAULT);
        if (!p->host || !p->port)
                return place_no_memory(reterr);
        if (parse_uint64(p->port, /* min= */ 1, UINT16_MAX, &number) < 0)
                return error_set(reterr, -EINVAL, "%s: '%s' is no port: one has a number from 1 to 65535", from, p->port);
        return 0;
}

static int use_url(const char *from, const char *url, const char *key, Place *p, Error *reterr) {
        const char *authority;
        size_t length;
        int r;

        if (strchr(url, '@')) /* first: no other message may show a password */
                return error_set(reterr, -EINVAL, "%s has a user in it: a key goes into COVE_API_KEY, or --key", from);
        p->tls = strncmp(url, "https://", 8) == 0;
        if (!p->tls && strncmp(url, "http://", 7) != 0)
                return error_set(reterr, -EINVAL, "%s: '%s' does not begin with http:// or https://", from, url);
        authority = strstr(url, "://") + 3;
        length = strcspn(authority, "/?#");
        if (strcmp(authority + length, "") != 0 && strcmp(authority + length, "/") != 0)
                return error_set(reterr, -EINVAL, "%s: '%s' has a path; write http%s://HOST:PORT", from, url, p->tls ? "s" : "");
        r = split_authority(from, authority, length, p, reterr);
        if (r < 0)
                return r;
        if (key) {
                r = place_set(&p->key, key, reterr);
                if (r < 0)
                        return r;
        }
        return place_set(&p->label, url, reterr);
}

static int use_socket(const char *path, Place *p, Error *reterr) {
        int r = place_set(&p->socket, path, reterr);
        return r < 0 ? r : place_set(&p->label, path, reterr);
}

static int use_state(const char *directory, Place *p, Error *reterr) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/" SOCKET_NAME, directory) < 0) {
                path = NULL;
                return place_no_memory(reterr);
        }
        return use_socket(path, p, reterr);
}

static int use_default(Place *p, Error *reterr) {
        _cleanup_free_ char *directory = NULL;
        const char *home;

        if (geteuid() == 0)
                return use_state(STATE_OF_ROOT, p, reterr);
        home = environment("HOME");
        if (!home)
                return error_set(reterr, -ENOENT, "HOME is not set: name the daemon's directory with --state DIR");
        if (asprintf(&directory, "%s" STATE_OF_USER, home) < 0) {
                directory = NULL;
                return place_no_memory(reterr);
        }
        return use_state(directory, p, reterr);
}

static int client_place_find(const PlaceOptions *o, Place *p, Error *reterr) {
        const char *key = o->key ? o->key : environment("COVE_API_KEY");

        if ((o->url != NULL) + (o->socket != NULL) + (o->state != NULL) > 1)
                return error_set(reterr, -EINVAL, "--url, --socket and --state each name a daemon: give one of them");
        if (o->url)
                return use_url("--url", o->url, key, p, reterr);
        if (o->socket)
                return use_socket(o->socket, p, reterr);
        if (o->state)
                return use_state(o->state, p, reterr);
        if (environment("COVE_URL"))
                return use_url("COVE_URL", environment("COVE_URL"), key, p, reterr);
        if (environment("COVE_SOCKET"))
                return use_socket(environment("COVE_SOCKET"), p, reterr);
        if (environment("COVE_STATE"))
                return use_state(environment("COVE_STATE"), p, reterr);
        p->given = false;
        return use_default(p, reterr);
}

/* A key goes into a header. */
static bool key_is_clean(const char *key) {
        for (; *key; key++)
                if ((unsigned char) *key <= ' ' || (unsigned char) *key >= 0x7f)
                        return false;
        return true;
}

static int place_set_authority(Place *p, const char *file, Error *reterr) {
        return file ? place_set(&p->cacert, file, reterr) : 0;
}

int place_find(const PlaceOptions *options, Place *ret, Error *reterr) {
        Place p = { .given = true };
        int r = client_place_find(options, &p, reterr);

        if (r >= 0 && p.tls)
                r = place_set_authority(&p, options->cacert ? options->cacert : environment("COVE_CACERT"), reterr);
        else if (r >= 0 && options->cacert)
                r = error_set(reterr, -EINVAL, "--cacert is for a daemon that is reached by https://; this one is at %s", p.label);
        /* Through a socket the kernel tells the daemon who we are; a key is only for a caller that asks to
         * be another principal. */
        if (r >= 0 && p.socket && options->key)
                r = place_set(&p.key, options->key, reterr);
        if (r >= 0 && p.key && !key_is_clean(p.key))
                r = error_set(reterr, -EINVAL, "the API key has a space or a character that is not printable ASCII: check COVE_API_KEY or --key");
        if (r < 0) {
                place_done(&p);
                return r;
        }
        *ret = p;
        return 0;
}

/* A path that is too long for a socket address is reached through a descriptor of its directory. */
static int connect_unix(int fd, const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int directory = -EBADF;
        _cleanup_free_ char *parent = NULL;
        const char *slash = strrchr(path, '/');
        int n;

        if (strlen(path) < sizeof(address.sun_path))
                n = snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        else {
                if (!slash)
                        return -ENAMETOOLONG;
                parent = strndup(path, (size_t) (slash - path) + 1);
                if (!parent)
                        return -ENOMEM;
                directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (directory < 0)
                        return -errno;
                n = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d%s", directory, slash);
        }
        if (n < 0 || (size_t) n >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        return connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0 ? -errno : 0;
}

/* Whether a process listens on the socket of root's daemon, which only root and the daemon's user may connect to. */
static bool place_root_listens(void) {
        FILE *f = fopen("/proc/net/unix", "re");
        char line[512];
        bool found = false;

        while (f && !found && fgets(line, sizeof(line), f))
                found = strstr(line, " " STATE_OF_ROOT "/" SOCKET_NAME "\n") != NULL;
        if (f)
                (void) fclose(f);
        return found;
}

static int place_tell_nobody(const Place *p, Error *reterr) {
        if (p->given || geteuid() == 0 || !place_root_listens())
                return error_set(reterr, -ENOENT, "no daemon at %s: start one with `cove serve`", p->socket);
        return error_set(reterr, -ENOENT,
                        "no daemon of yours at %s, but one of another user serves " STATE_OF_ROOT ". To use it, get its URL and a key from its operator "
                        "(`cove key create NAME`) and set COVE_URL and COVE_API_KEY. To start your own: cove serve",
                        p->socket);
}

/* No daemon is at the default place; one of another user may be at the default port, or at root's default place. */
static int place_tell_neighbour(const Place *p, Error *reterr) {
        const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t) atoi(PORT_DEFAULT)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        const char *name = strrchr(p->socket, '/');
        Listener l;

        if (p->given && name && strcmp(name, "/" SOCKET_NAME) == 0)
                return error_set(reterr, -ENOENT, "no daemon at %s: start one with `cove serve --state %.*s`", p->socket, (int) (name - p->socket), p->socket);
        if (p->given || listener_find((const struct sockaddr *) &address, sizeof(address), &l) < 0 || !l.is_cove)
                return place_tell_nobody(p, reterr);
        if (l.uid == geteuid())
                return error_set(reterr, -ENOENT, "no daemon at %s, but one of yours listens on " URL_DEFAULT ": name its directory with --state DIR",
                                p->socket);
        return error_set(reterr, -ENOENT,
                        "no daemon of yours at %s, but user %s runs one on " URL_DEFAULT ". To use it, get a key from them (`cove key create NAME`) and "
                        "set COVE_URL=" URL_DEFAULT " and COVE_API_KEY. To start your own: cove serve --listen 127.0.0.1:0",
                        p->socket, l.user);
}

static int tell_unix(const Place *p, int r, Error *reterr) {
        if (r == -ENOENT || r == -ECONNREFUSED || r == -ENOTDIR)
                return place_tell_neighbour(p, reterr);
        if (r == -EACCES || r == -EPERM)
                return error_set(reterr, r,
                                "not allowed to speak to the daemon at %s: its owner and root are; others take --url and a key",
                                p->socket);
        return error_set(reterr, r, "cannot connect to %s: %m", p->socket);
}

static int open_unix(const Place *p, Error *reterr) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int r;

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        r = connect_unix(fd, p->socket);
        if (r < 0)
                return tell_unix(p, r, reterr);
        return TAKE_FD(fd);
}

static int open_tcp(const Place *p, Error *reterr) {
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *list;
        int r = getaddrinfo(p->host, p->port, &hints, &list), one = 1, last = -ENOENT;

        if (r != 0)
                return error_set(reterr, -EHOSTUNREACH, "cannot look up '%s' port '%s': %s", p->host, p->port,
                                gai_strerror(r));
        for (struct addrinfo *a = list; a; a = a->ai_next) {
                _cleanup_close_ int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);

                if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
                        /* a key press must not wait for the one before */
                        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
                        freeaddrinfo(list);
                        return TAKE_FD(fd);
                }
                last = -errno;
        }
        freeaddrinfo(list);
        if (last == -ECONNREFUSED && p->tls)
                return error_set(reterr, -ENOENT, "no daemon at %s (port %s): start one with `cove serve --tls-cert FILE --tls-key FILE --tls-listen ADDRESS:PORT`",
                                p->label, p->port);
        if (last == -ECONNREFUSED)
                return error_set(reterr, -ENOENT, "no daemon at %s: start one with `cove serve --listen ADDRESS:PORT`", p->label);
        return error_set(reterr, last, "cannot connect to %s: %m", p->label);
}

static int open_tls(const Place *p, int *ret_report, Error *reterr) {
        const TunnelPeer peer = { .host = p->host, .url = p->label, .ca = p->cacert };
        _cleanup_close_ int fd = open_tcp(p, reterr);

        return fd < 0 ? fd : tunnel_open(&peer, fd, ret_report, reterr);
}

int place_connect(const Place *p, int *ret_report, Error *reterr) {
        int fd;

        *ret_report = -EBADF;
        fd = p->socket ? open_unix(p, reterr) : p->tls ? open_tls(p, ret_report, reterr) : open_tcp(p, reterr);
        if (fd >= 0)
                (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        return fd;
}
