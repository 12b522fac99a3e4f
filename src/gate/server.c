#include "gate/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/reserve.h"
#include "gate/claim.h"
#include "gate/messages.h"
#include "gate/peer.h"

#define NEW_SUFFIX  ".new"
#define WAIT_FIRST  (30 * USEC_PER_SEC) /* for the first coved */
#define WAIT_ALONE  (5 * USEC_PER_SEC)  /* with neither coved nor sandbox */
#define TIMER_SLACK (250 * USEC_PER_MSEC)

struct Server {
        Gate *gate;
        int fd; /* -EBADF: the gate was started with a connected socket */
        sd_event_source *source, *idle;
};

static int make_address(const char *path, const char *suffix, struct sockaddr_un *ret, Error *reterr) {
        *ret = (struct sockaddr_un) { .sun_family = AF_UNIX };
        if ((size_t) snprintf(ret->sun_path, sizeof(ret->sun_path), "%s%s", path, suffix) >= sizeof(ret->sun_path))
                return error_set(reterr, -ENAMETOOLONG, "--socket: '%.100s…' is longer than %zu bytes", path,
                                sizeof(ret->sun_path) - sizeof(NEW_SUFFIX));
        return 0;
}

/* The socket may be left over from a gate that was killed: then connect() fails. A gate of a version without
 * the lock accepts. */
static int check_alone(const struct sockaddr_un *address, Error *reterr) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) >= 0 || errno == EAGAIN)
                return error_set(reterr, -EADDRINUSE, "another gate listens on '%s'", address->sun_path);
        return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address) {
        mode_t before = umask(0177);
        int r;

        (void) unlink(address->sun_path);
        r = bind(fd, (const struct sockaddr *) address, sizeof(*address)) < 0 ? -errno : 0;
        (void) umask(before);
        if (r >= 0 && listen(fd, 16) < 0)
                r = -errno;
        return r;
}

/* The lock file was touched: the gate ends if the claim is lost. */
static int server_on_claim(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        Gate *g = userdata;

        if (claim_is_held(g->claim_path, g->claim_fd))
                return 0;
        log_warning("the lock of '%s' is held by another gate: this one ends", g->claim_path);
        return sd_event_exit(g->event, 0);
}

/* Makes this process the gate of the path, and watches the lock file. */
static int take_claim(Gate *g, const char *path, Error *reterr) {
        char lock[PATH_MAX];
        sd_event_source *source = NULL;
        int r = claim_take(path, &g->claim_fd, reterr);

        if (r < 0)
                return r;
        g->claim_path = path;
        r = claim_path(path, lock);
        if (r >= 0)
                r = sd_event_add_inotify(g->event, &source, lock, IN_ATTRIB | IN_MOVE_SELF, server_on_claim, g);
        if (r >= 0)
                r = sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT - 1); /* before connections and messages are handled */
        if (r >= 0)
                r = sd_event_source_set_floating(source, true);
        sd_event_source_unref(source);
        if (r < 0)
                return error_set(reterr, r, "cannot watch the lock of '%s': %m", path);
        if (!claim_is_held(path, g->claim_fd)) /* it was removed before it was watched */
                return error_set(reterr, -EADDRINUSE, "the lock of '%s' was taken by another gate", path);
        return 0;
}

/* Binds under another name and renames: a client that finds the socket under its own name can connect. */
int server_listen(Gate *g, const char *path, int *ret_fd, Error *reterr) {
        struct sockaddr_un address, made;
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = make_address(path, "", &address, reterr);
        if (r >= 0)
                r = make_address(path, NEW_SUFFIX, &made, reterr);
        if (r >= 0)
                r = take_claim(g, path, reterr);
        if (r >= 0)
                r = check_alone(&address, reterr);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        r = bind_and_listen(fd, &made);
        if (r >= 0 && rename(made.sun_path, path) < 0)
                r = -errno;
        if (r < 0)
                return error_set(reterr, r, "cannot listen on '%s': %m", path);
        *ret_fd = TAKE_FD(fd);
        return 0;
}

/* How long we stay. */

static int on_alone(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        log_debug("no sandbox is left to serve");
        return sd_event_exit(s->gate->event, 0);
}

static void wait_for_somebody(Server *s, usec_t how_long) {
        int r;

        if (s->idle) {
                (void) sd_event_source_set_time_relative(s->idle, how_long);
                (void) sd_event_source_set_enabled(s->idle, SD_EVENT_ONESHOT);
                return;
        }
        r = sd_event_add_time_relative(s->gate->event, &s->idle, CLOCK_MONOTONIC, how_long, TIMER_SLACK, on_alone, s);
        if (r < 0)
                log_warning("cannot set a timer: the gate will not end by itself");
}

static void look_around(Server *s) {
        if (!s->gate->peer && !s->gate->sandboxes)
                wait_for_somebody(s, WAIT_ALONE);
        else if (s->idle)
                (void) sd_event_source_set_enabled(s->idle, SD_EVENT_OFF);
}

static void server_on_change(Gate *g, void *userdata) {
        look_around(userdata);
}

static void on_peer_gone(Gate *g, void *userdata) {
        log_debug("coved has gone");
        look_around(userdata);
}

/* coved. */

static void server_tell(Gate *g, json_t *event, void *userdata) {
        peer_event(g->peer, event);
}

static int take_peer(Server *s, int fd, Error *reterr) {
        const PeerEvents events = {
                .message = messages_on_message,
                .broken = messages_on_broken,
                .cut = messages_on_cut,
                .gone = on_peer_gone,
                .userdata = s,
        };
        int r = peer_new(s->gate, fd, &events, reterr);

        look_around(s);
        return r;
}

static bool is_trusted(int fd) {
        struct ucred who;
        socklen_t size = sizeof(who);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
                return false;
        if (who.uid == 0 || who.uid == geteuid())
                return true;
        log_warning("a connection of user %u is refused", (unsigned) who.uid);
        return false;
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        _reserve_ bool held = reserve_enter();
        _cleanup_close_ int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        Error error = { 0 };

        if (connection < 0 || !is_trusted(connection))
                return 0;
        if (take_peer(userdata, TAKE_FD(connection), &error) < 0)
                log_warning("coved cannot be served: %s", error.text);
        return 0;
}

static bool does_listen(int fd) {
        int value = 0;
        socklen_t size = sizeof(value);

        return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) >= 0 && value;
}

static int gate_server_start(Server *s, int fd, Error *reterr) {
        int r;

        if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
                return error_set(reterr, -errno, "the control socket: %m");
        if (!does_listen(fd))
                return take_peer(s, fd, reterr);
        s->fd = fd;
        r = sd_event_add_io(s->gate->event, &s->source, fd, EPOLLIN, on_connection, s);
        if (r < 0)
                return error_set(reterr, r, "cannot wait for coved: %m");
        (void) sd_event_source_set_priority(s->source, SD_EVENT_PRIORITY_IMPORTANT);
        wait_for_somebody(s, WAIT_FIRST);
        return 0;
}

int server_new(Gate *g, int fd, Server **ret, Error *reterr) {
        Server *s = calloc(1, sizeof(*s));
        int r;

        if (!s) {
                (void) fd_close(fd);
                return error_set(reterr, -ENOMEM, "%m");
        }
        s->gate = g;
        s->fd = -EBADF;
        g->tell = server_tell;
        g->on_change = server_on_change;
        g->change_userdata = s;
        r = gate_server_start(s, fd, reterr);
        if (r < 0) {
                server_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

Server *server_free(Server *s) {
        if (!s)
                return NULL;
        s->gate->on_change = NULL;
        s->gate->tell = NULL;
        peer_free(s->gate->peer);
        sd_event_source_disable_unref(s->source);
        sd_event_source_disable_unref(s->idle);
        (void) fd_close(s->fd);
        free(s);
        return NULL;
}
