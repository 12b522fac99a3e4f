/* native-guest.c: the conversation with the PID 1 of each sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/reserve.h"
#include "core/name.h"
#include "core/enforce.h"
#include "core/run-names.h"
#include "core/zygote.h"
#include "provider/native-internal.h"
#include "wire/channel.h"
#include "wire/message.h"

#define GUESTS_AT_ONCE   64
#define MESSAGES_AT_ONCE 64 /* of one guest, before others get their turn */
#define AGAIN_MIN        (50 * USEC_PER_MSEC)
#define AGAIN_MAX        (2 * USEC_PER_SEC)
#define STAYED           (1 * USEC_PER_SEC) /* a connection that lasted this long did not fail */

static int guest_on_again(sd_event_source *source, uint64_t usec, void *userdata);

static NativeGuest *guest_new(Native *n, Sandbox *sb) {
        NativeGuest *g = calloc(1, sizeof(*g));

        if (!g)
                return NULL;
        g->native = n;
        g->sandbox = sb;
        g->fd = g->root_fd = -EBADF;
        if (sd_event_add_time_relative(n->event, &g->again, CLOCK_MONOTONIC, AGAIN_MAX, 0, guest_on_again, g) < 0 ||
                        sd_event_source_set_enabled(g->again, SD_EVENT_OFF) < 0) {
                sd_event_source_disable_unref(g->again);
                free(g);
                return NULL;
        }
        sb->provider_data = g;
        return g;
}

static void guest_close(NativeGuest *g) {
        Native *n = g->native;

        (void) native_guest_listen(g, 0);
        for (int i = 0; i < n->n_ready; i++)
                if (n->ready[i].data.ptr == g)
                        n->ready[i].data.ptr = NULL;
        g->frozen = sd_event_source_disable_unref(g->frozen);
        g->fd = fd_close(g->fd);
        g->root_fd = fd_close(g->root_fd);
        native_send_forget(g);
}

/* Frees the guest, but while one of its messages is being handled only at the end of that. */
void native_guest_release(Provider *p, Sandbox *sb) {
        NativeGuest *g = sb->provider_data;

        if (!g)
                return;
        sb->provider_data = NULL;
        native_forget_requests(g->native, sb);
        guest_close(g);
        g->again = sd_event_source_disable_unref(g->again);
        g->sandbox = NULL;
        if (g->in_callback)
                g->released = true;
        else
                free(g);
}

/* A path through a descriptor: a socket's name has room for 107 bytes only. */
static socklen_t socket_address(const Native *n, const char *id, struct sockaddr_un *ret) {
        *ret = (struct sockaddr_un) { .sun_family = AF_UNIX };
        (void) snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s" RUN_SOCKET_SUFFIX, n->run_fd, id);
        return sizeof(*ret);
}

void native_remove_socket(Native *n, const char *id) {
        char name[SANDBOX_ID_LENGTH + 8];

        (void) snprintf(name, sizeof(name), "%.*s" RUN_SOCKET_SUFFIX, SANDBOX_ID_LENGTH, id);
        (void) unlinkat(n->run_fd, name, 0);
}

/* To connect, the kernel requires only write permission on the socket: with mode 0600 only our own user can. */
static int bind_name(Native *n, const char *id) {
        _reserve_ bool held = reserve_enter();
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        struct sockaddr_un address;
        socklen_t size = socket_address(n, id, &address);

        if (fd < 0)
                return -errno;
        if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *) &address, size) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static void spare_id(size_t i, char ret[static SANDBOX_ID_LENGTH + 1]) {
        (void) snprintf(ret, SANDBOX_ID_LENGTH + 1, RUN_SPARE_PREFIX "%u", (unsigned) i);
}

/* A socket's name is a file, and creating one may take long (core/execution/journal.c tells why), so some
 * are created ahead and renamed. */
static int native_guest_on_idle(sd_event_source *source, void *userdata) {
        Native *n = userdata;
        char id[SANDBOX_ID_LENGTH + 1];
        int fd;

        spare_id(n->n_sockets, id);
        native_remove_socket(n, id);
        fd = bind_name(n, id);
        if (fd >= 0)
                n->sockets[n->n_sockets++] = fd;
        if (fd < 0 || n->n_sockets >= NATIVE_SOCKETS)
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

int native_sockets_init(Native *n) {
        int r = sd_event_add_defer(n->event, &n->stock, native_guest_on_idle, n);

        if (r >= 0)
                r = sd_event_source_set_priority(n->stock, SD_EVENT_PRIORITY_IDLE);
        for (size_t before = 0; r >= 0 && n->n_sockets < NATIVE_SOCKETS; before = n->n_sockets)
                if (native_guest_on_idle(n->stock, n) < 0 || n->n_sockets == before)
                        break; /* no room: each one is created when it is needed */
        return r >= 0 ? sd_event_source_set_enabled(n->stock, SD_EVENT_OFF) : r;
}

void native_sockets_done(Native *n) {
        char id[SANDBOX_ID_LENGTH + 1];

        while (n->n_sockets > 0) {
                spare_id(--n->n_sockets, id);
                native_remove_socket(n, id);
                (void) fd_close(n->sockets[n->n_sockets]);
        }
        n->stock = sd_event_source_disable_unref(n->stock);
}

static int bind_socket(Native *n, const char *id) {
        char spare[SANDBOX_ID_LENGTH + 8], name[SANDBOX_ID_LENGTH + 8], number[SANDBOX_ID_LENGTH + 1];
        int fd;

        if (n->n_sockets == 0)
                return bind_name(n, id);
        fd = n->sockets[--n->n_sockets];
        (void) sd_event_source_set_enabled(n->stock, SD_EVENT_ON);
        spare_id(n->n_sockets, number);
        (void) snprintf(spare, sizeof(spare), "%s" RUN_SOCKET_SUFFIX, number);
        (void) snprintf(name, sizeof(name), "%.*s" RUN_SOCKET_SUFFIX, SANDBOX_ID_LENGTH, id);
        if (renameat(n->run_fd, spare, n->run_fd, name) == 0)
                return fd;
        (void) fd_close(fd);
        return bind_name(n, id);
}

/* From PID 1: message by message. */

static void take_root(NativeGuest *g, int *fds, size_t n_fds) {
        if (n_fds == 0)
                return;
        (void) fd_close(g->root_fd);
        g->root_fd = TAKE_FD(fds[0]);
}

static void native_guest_on_ready(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        Native *n = g->native;

        if (g->state != GUEST_BOOTING)
                return;
        g->state = GUEST_UP;
        g->segment = (GuestSegmentState) m->ready.segment;
        take_root(g, fds, n_fds);
        n->provider.events->created(g->sandbox, g->pid, g->id_base, g->guards_missing | m->ready.guards_missing, NULL,
                        n->provider.userdata);
}

static void native_guest_on_end(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        if (g->state != GUEST_ADOPTING)
                return;
        g->state = GUEST_UP;
        g->segment = (GuestSegmentState) m->ready.segment;
        g->delay = 0;
        take_root(g, fds, n_fds);
        g->native->provider.events->adopted(g->sandbox, NULL, g->native->provider.userdata);
}

static void native_guest_on_stopped(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        g->native->provider.events->stopped(g->sandbox, g->native->provider.userdata);
}

static void (*const handlers[_GUEST_TYPE_MAX])(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) = {
        [GUEST_READY] = native_guest_on_ready,
        [GUEST_STARTED] = native_on_exec_started,
        [GUEST_EXEC_FAILED] = native_on_exec_failed,
        [GUEST_EXITED] = native_on_exec_exited,
        [GUEST_STDIN] = native_on_exec_stdin,
        [GUEST_CHANNEL] = native_on_exec_channel,
        [GUEST_KEPT] = native_on_kept,
        [GUEST_END] = native_guest_on_end,
        [GUEST_STOPPED] = native_guest_on_stopped,
        [GUEST_SOCKETS] = native_on_sockets,
        [GUEST_SOCKET_MADE] = native_on_socket_made,
};

/* While the sandbox is created, a failing step is reported in the words of message.h. */
static void native_guest_on_failed(NativeGuest *g, const WireFailed *f) {
        Native *n = g->native;
        Error error = { 0 };

        if (g->state != GUEST_BOOTING)
                return;
        g->state = GUEST_LOST;
        (void) error_set(&error, -f->error, "cannot set up the sandbox: %s: %s%s%s", f->step, f->detail, f->detail[0] ? ": " : "",
                        strerror(f->error));
        n->provider.events->created(g->sandbox, 0, 0, 0, &error, n->provider.userdata);
}

/* The end of a command is mostly the last message for now. If not, the loop tells again, which costs as much as a
 * look that finds nothing. */
enum { RECEIVED = 1, RECEIVED_LAST };

static int dispatch(NativeGuest *g, const uint8_t *data, size_t size, int *fds, size_t n_fds) {
        GuestMessage m;
        WireMessage w;

        if (guest_decode(data, size, &m) >= 0) {
                if (!handlers[m.type])
                        return -EBADMSG;
                handlers[m.type](g, &m, fds, n_fds);
                return m.type == GUEST_EXITED ? RECEIVED_LAST : RECEIVED;
        }
        if (wire_decode(data, size, &w) >= 0 && w.type == WIRE_FAILED) {
                native_guest_on_failed(g, &w.failed);
                return RECEIVED;
        }
        return -EBADMSG;
}

static int native_guest_receive(NativeGuest *g) {
        static uint8_t buffer[GUEST_MESSAGE_MAX]; /* one loop, one message at a time */
        int fds[CHANNEL_FDS_MAX], r;
        size_t size, n_fds = 0;

        r = native_receive(g->fd, buffer, sizeof(buffer), &size, fds, &n_fds);
        if (r <= 0)
                return r;
        g->no_fds = r == CHANNEL_SHORT ? EMFILE : EPROTO;
        r = dispatch(g, buffer, size, fds, n_fds);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
        return r;
}

bool native_guest_listen(NativeGuest *g, uint32_t events) {
        struct epoll_event event = { .events = events, .data.ptr = g };
        int how = events == 0 ? EPOLL_CTL_DEL : g->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

        if (g->events == events || g->fd < 0)
                return true;
        if (epoll_ctl(g->native->guests_fd, how, g->fd, &event) < 0)
                return false;
        g->events = events;
        return true;
}

static int guest_attach(NativeGuest *g, int fd) {
        g->fd = fd;
        g->events = 0;
        if (native_guest_listen(g, EPOLLIN))
                return 0;
        g->fd = -EBADF;
        return -ENOMEM;
}

static int connect_guest(Native *n, const char *id) {
        _reserve_ bool held = reserve_enter();
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address;
        socklen_t size = socket_address(n, id, &address);

        if (fd < 0)
                return -errno;
        if (connect(fd, (struct sockaddr *) &address, size) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int guest_on_adopted_frozen(sd_event_source *source, void *userdata) {
        NativeGuest *g = userdata;
        const Provider *p = &g->native->provider;

        g->frozen = sd_event_source_disable_unref(g->frozen);
        p->events->adopted(g->sandbox, NULL, p->userdata);
        return 0;
}

/* Connects to PID 1, and asks for what it knows. */
static int guest_reach(NativeGuest *g) {
        Native *n = g->native;
        struct ucred peer = { 0 };
        socklen_t size = sizeof(peer);
        int fd, r;

        fd = connect_guest(n, g->sandbox->id);
        if (fd < 0)
                return fd;
        r = guest_attach(g, fd);
        if (r < 0) {
                (void) fd_close(fd);
                return r;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
                g->pid = g->sandbox->pid = peer.pid;
        g->state = GUEST_ADOPTING;
        g->reached = clock_usec();
        r = native_guest_send(&n->provider, g->sandbox, &(GuestMessage) { .type = GUEST_LIST }, NULL, 0);
        if (r >= 0 && g->sandbox->status == SANDBOX_PAUSED) /* frozen: its answer comes when it thaws */
                r = sd_event_add_defer(n->event, &g->frozen, guest_on_adopted_frozen, g);
        if (r < 0)
                guest_close(g);
        return r < 0 ? r : 0;
}

/* PID 1 is gone only if no process listens on its socket. All other errors concern us, or this one
 * connection. */
static bool guest_is_gone(int r) {
        return r == -ECONNREFUSED || r == -ENOENT;
}

static void guest_wait(NativeGuest *g) {
        g->delay = MIN_OF(MAX_OF(2 * g->delay, AGAIN_MIN), AGAIN_MAX);
        (void) sd_event_source_set_time_relative(g->again, g->delay);
        (void) sd_event_source_set_enabled(g->again, SD_EVENT_ONESHOT);
}

/* 0: PID 1 was asked, or will be. Negative: it is gone. */
static int guest_reach_in_time(NativeGuest *g) {
        int r = -ECONNRESET;

        if (g->reached == 0 || clock_usec() - g->reached >= STAYED || g->state == GUEST_APART)
                r = guest_reach(g);
        if (r >= 0 || guest_is_gone(r))
                return r;
        if (g->state != GUEST_APART)
                log_sandbox("warning", g->sandbox->id, "its PID 1 cannot be reached for now (%s), trying again", strerror(-r));
        g->state = GUEST_APART;
        guest_wait(g);
        return 0;
}

static void guest_lose(NativeGuest *g, GuestState state) {
        Native *n = g->native;

        g->state = GUEST_LOST;
        if (state == GUEST_ADOPTING || state == GUEST_APART)
                n->provider.events->adopted(g->sandbox, &(Error) { -ECONNREFUSED, "its PID 1 is gone" }, n->provider.userdata);
        else if (state != GUEST_LOST)
                n->provider.events->gone(g->sandbox, n->provider.userdata);
}

/* PID 1 may also hang up because it found our messages invalid: it is gone only if it can no longer be
 * reached. While a sandbox is destroyed, a process that PID 1 forked may hold its socket a moment longer: a
 * new connection would be hung up on, and look like a problem. */
static void native_guest_on_hangup(NativeGuest *g) {
        GuestState state = g->state;

        guest_close(g);
        if (!g->going && (state == GUEST_UP || state == GUEST_ADOPTING) && guest_reach_in_time(g) >= 0)
                return;
        guest_lose(g, state);
}

/* Without memory for that, it is tried again. */
static void guest_listen_again(NativeGuest *g) {
        if (!native_guest_listen(g, g->outbox.blocked ? EPOLLIN | EPOLLOUT : EPOLLIN))
                guest_wait(g);
}

static int guest_on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        NativeGuest *g = userdata;

        if (g->fd >= 0)
                guest_listen_again(g);
        else if (g->state == GUEST_APART && guest_reach_in_time(g) < 0)
                guest_lose(g, GUEST_APART);
        return 0;
}

/* A message cannot be taken for lack of resources: it stays in the socket until there is room. */
void native_guest_rest(NativeGuest *g) {
        (void) native_guest_listen(g, 0);
        guest_wait(g);
}

static void guest_serve(NativeGuest *g, uint32_t revents) {
        int r = 1;

        g->in_callback = true;
        if (revents & EPOLLOUT && !settle_held(g->native->config.settle) && error_is_shortage(native_flush_guest(g)))
                native_guest_rest(g);
        for (unsigned i = 0; i < MESSAGES_AT_ONCE && r == RECEIVED && !g->released && g->fd >= 0; i++)
                r = native_guest_receive(g);
        if (r == -EBADMSG)
                log_warning("sandbox %s: its PID 1 sent invalid data", g->sandbox ? g->sandbox->id : "(gone)");
        if (!g->released && g->sandbox && r <= 0 && r != -EAGAIN) {
                if (error_is_shortage(r))
                        native_guest_rest(g);
                else
                        native_guest_on_hangup(g);
        }
        g->in_callback = false;
        if (g->released)
                free(g);
}

/* All guests are one source of the loop, so that a hundred ends of commands cost one turn through it. */
static int native_on_guests(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct epoll_event ready[GUESTS_AT_ONCE];
        Native *n = userdata;

        n->n_ready = epoll_wait(fd, ready, ELEMENTSOF(ready), 0);
        n->ready = ready;
        for (int i = 0; i < n->n_ready; i++)
                if (ready[i].data.ptr)
                        guest_serve(ready[i].data.ptr, ready[i].events);
        n->n_ready = 0;
        return 0;
}

int native_guests_init(Native *n) {
        n->guests_fd = epoll_create1(EPOLL_CLOEXEC);
        if (n->guests_fd < 0)
                return -errno;
        return sd_event_add_io(n->event, &n->guests, n->guests_fd, EPOLLIN, native_on_guests, n);
}

void native_guests_done(Native *n) {
        n->guests = sd_event_source_disable_unref(n->guests);
        n->guests_fd = fd_close(n->guests_fd);
}

/* Calls from the core. */

static void native_guest_copy_text(char *to, size_t size, const char *from) {
        (void) snprintf(to, size, "%s", from);
}

/* The trees that outlive the sandbox: the layer below, the disk above, volumes. */
static int fill_trees(const SandboxSpec *spec, SpawnCreate *ret) {
        if (spec->n_volumes > SPAWN_VOLUMES_MAX)
                return -E2BIG;
        ret->kept = spec->persistent;
        native_guest_copy_text(ret->layer, sizeof(ret->layer), spec->layer ? spec->layer : "");
        for (; ret->n_volumes < spec->n_volumes; ret->n_volumes++) {
                const SandboxVolume *from = &spec->volumes[ret->n_volumes];
                SpawnVolume *to = &ret->volumes[ret->n_volumes];

                if (strlen(from->target) >= sizeof(to->target))
                        return -ENAMETOOLONG;
                native_guest_copy_text(to->name, sizeof(to->name), from->tree);
                native_guest_copy_text(to->target, sizeof(to->target), from->target);
                to->writable = from->writable;
        }
        return 0;
}

int native_guest_create(Provider *p, Sandbox *sb, Error *reterr) {
        Native *n = (Native *) p;
        SpawnMessage m = {
                .create = {
                        .uid = sb->spec.uid,
                        .gid = sb->spec.gid,
                        .sudo = sb->spec.sudo,
                        .memory_bytes = sb->spec.limits.memory_bytes,
                        .disk_bytes = sb->spec.limits.disk_bytes,
                        .cpu_milli = sb->spec.limits.cpu_milli,
                        .pids = sb->spec.limits.pids,
                        .allow_missing = n->config.allow_missing,
                },
        };
        const Enforce *enforce = sandbox_enforce(sb);
        _cleanup_close_ int listen_fd = -EBADF;
        int fds[2], r;

        native_network_shape(sb, &m.create);
        if (!enforce)
                return error_set(reterr, -EINVAL, "its policy cannot be read");
        m.create.rules = enforce->rules;
        m.create.zygote = zygote_serves(sb->manager, &sb->spec) && !(enforce->rules.flags & RULES_SEALED);
        r = fill_trees(&sb->spec, &m.create);
        if (r < 0)
                return error_set(reterr, r, "cannot ask for its volumes: %m");
        listen_fd = bind_socket(n, sb->id);
        if (listen_fd < 0)
                return error_set(reterr, listen_fd, "cannot make the socket of the sandbox: %m");
        native_guest_copy_text(m.create.id, sizeof(m.create.id), sb->id);
        native_guest_copy_text(m.create.template_name, sizeof(m.create.template_name), sandbox_spec_base(&sb->spec));
        object_host_name(sb->spec.name, sb->id, m.create.hostname);
        native_guest_copy_text(m.create.workdir, sizeof(m.create.workdir), sb->spec.workdir ? sb->spec.workdir : "/workspace");

        fds[0] = listen_fd;
        fds[1] = sb->spec.hub_fd;
        r = guest_new(n, sb) ? native_request(n, SPAWN_CREATE, &m, sb, fds,
                                               m.create.network == SPAWN_NETWORK_LINKED && fds[1] > 0 ? 2 : 1) :
                               -ENOMEM;
        if (r < 0) {
                native_guest_release(p, sb);
                native_remove_socket(n, sb->id);
                return error_set(reterr, r, "cannot ask the spawner: %m");
        }
        return 0;
}

void native_guest_created(NativeGuest *g, const SpawnCreated *created, int channel_fd) {
        Native *n = g->native;
        int r;

        g->state = GUEST_BOOTING;
        g->pid = created->pid;
        g->id_base = created->id_base;
        g->guards_missing = created->guards_missing;
        r = guest_attach(g, channel_fd);
        if (r < 0) {
                Error error = { 0 };

                (void) fd_close(channel_fd);
                (void) error_set(&error, r, "cannot listen to the sandbox: %m");
                n->provider.events->created(g->sandbox, 0, 0, 0, &error, n->provider.userdata);
        }
}

int native_guest_adopt(Provider *p, Sandbox *sb) {
        NativeGuest *g = guest_new((Native *) p, sb);
        int r;

        if (!g)
                return -ENOMEM;
        r = guest_reach_in_time(g);
        if (r < 0)
                native_guest_release(p, sb);
        return r;
}

static int native_guest_verify(Provider *p, Sandbox *sb) {
        NativeGuest *g = sb->provider_data;
        int r;

        if (!g || g->state == GUEST_LOST || (g->fd < 0 && g->state != GUEST_APART))
                return -ENOTCONN;
        if (g->state != GUEST_UP)
                return 0; /* an answer to an earlier question is pending, and serves as well */
        r = native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_LIST }, NULL, 0);
        if (r >= 0)
                g->state = GUEST_ADOPTING;
        return r;
}

const ProviderHealth native_guest_health = { .verify = native_guest_verify };

int native_guest_send(Provider *p, Sandbox *sb, const GuestMessage *message, const int *fds, size_t n_fds) {
        static uint8_t buffer[GUEST_MESSAGE_MAX];
        NativeGuest *g = sb->provider_data;
        ssize_t size;
        int r;

        if (!g || g->fd < 0)
                return -ENOTCONN;
        size = guest_encode(message, buffer, sizeof(buffer));
        if (size < 0)
                return (int) size;
        r = native_send_guest(g, buffer, (size_t) size, fds, n_fds, message->type == GUEST_FORGET);
        explicit_bzero(buffer, (size_t) size); /* an environment may have secrets in it */
        return r;
}

/* The daemon of a plain user runs as the same host user as its sandboxes, so it can kill their PID 1. */
static void native_kill_own(NativeGuest *g) {
        _cleanup_close_ int pidfd = -EBADF;

        if (g->pid <= 1 || g->native->config.privileged || g->fd < 0)
                return; /* a PID is only known to be the sandbox's while the connection stands */
        pidfd = (int) syscall(SYS_pidfd_open, g->pid, 0);
        if (pidfd >= 0)
                (void) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

void native_guest_going(NativeGuest *g) {
        g->going = true;
        g->root_fd = fd_close(g->root_fd); /* whoever closes it last unmounts the disk, which takes long: not us, after PID 1 */
        settle_now(g->native->config.settle);
        native_kill_own(g);
}
