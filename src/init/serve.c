#include "init/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/meminfo.h"
#include "confine/rlimits.h"
#include "confine/seccomp.h"
#include "init/begin.h"
#include "init/execution.h"
#include "init/kept.h"
#include "init/network.h"
#include "init/stop.h"
#include "init/sudo.h"
#include "init/worker.h"
#include "wire/channel.h"
#include "wire/guard.h"

#define LISTEN_BACKLOG 16
#define POLL_MAX_MSEC  3600000
#define STACK_ALIGN    ((size_t) 4096) /* with larger pages the kernel refuses, which does no harm */
#define STACK_RELEASED ((size_t) 128 * 1024)

typedef struct Serve {
        const InitServe *spec;
        int signal_fd;
        InitLink link;
        Stop stop;
        NetworkFds network;
        int meminfo_fd, usage_fd; /* copies of the specification's descriptors that our children do not have; -EBADF: none */
        Sudo sudo;
        bool to_tell;  /* something may not be sent yet */
        bool no_room;  /* … and waits for the reader; until then we read no requests either */
        bool end_list; /* END is due after everything has been sent */
        bool stopped;  /* STOPPED is due */
        Executions executions;
        Kept kept;
        GuestMessage request; /* here, and not on the stack of a loop that never returns, since messages are large */
        uint8_t buffer[GUEST_MESSAGE_MAX];
} Serve;

static _noreturn_ void serve_fail(const InitServe *spec, const char *step, int error) {
        WireMessage m = { .type = WIRE_FAILED, .failed.error = error };

        (void) snprintf(m.failed.step, sizeof(m.failed.step), "%s", step);
        (void) channel_send(spec->control_fd, &m, NULL, 0);
        _exit(1);
}

static int serve_keep(const InitServe *spec, int fd) {
        int kept = fd >= 0 ? private_fd_consume(fd) : -EBADF;

        if (fd >= 0 && kept < 0)
                serve_fail(spec, "descriptors", -kept);
        return kept;
}

static void serve_watch(Serve *s) {
        atomic_store(&s->executions.pool.setting.board->watched, s->end_list || s->stop.active);
}

/* Updated only before each command, so that an idle PID 1 need not wake up for it. */
static __attribute__((noinline)) void serve_write_meminfo(const Serve *s) {
        char text[MEMINFO_MAX];
        ssize_t n;

        if (s->meminfo_fd < 0 || s->usage_fd < 0)
                return;
        n = pread(s->usage_fd, text, sizeof(text) - 1, 0);
        if (n <= 0)
                return;
        text[n] = '\0';
        n = (ssize_t) meminfo_format(s->spec->memory_bytes, strtoull(text, NULL, 10), text);
        (void) pwrite(s->meminfo_fd, text, (size_t) n, 0);
}

/* Requests. An invalid one ends the connection: its sender is not our daemon. */

typedef struct ServeRequest {
        const GuestMessage *message;
        const int *fds;
        size_t n_fds;
} ServeRequest;

static bool on_exec(Serve *s, const ServeRequest *q) {
        GuestMessage answer = { .type = GUEST_EXEC_FAILED };
        const GuestExec *exec = &q->message->exec;
        int r;

        serve_write_meminfo(s);
        if (s->stop.active) {
                answer.exec_failed = (GuestExecFailed) { .exec = exec->exec, .error = ESHUTDOWN, .step = "stop" };
                r = -ESHUTDOWN;
        } else
                r = init_execution_start(&s->executions, s->link.fd, exec, q->fds, q->n_fds, &answer.exec_failed);
        if (r < 0 && r != -EBADMSG)
                link_answer(&s->link, &answer, -EBADF);
        return r != -EBADMSG;
}

static bool on_signal_request(Serve *s, const ServeRequest *q) {
        init_execution_signal(&s->executions, q->message->signal.exec, q->message->signal.signal);
        return true;
}

static bool on_resize(Serve *s, const ServeRequest *q) {
        init_execution_resize(&s->executions, &q->message->resize);
        return true;
}

static bool on_stdin_open(Serve *s, const ServeRequest *q) {
        int fd = execution_input(&s->executions, q->message->exec_id);
        GuestMessage answer = { .type = GUEST_STDIN };

        answer.stdin_ = (GuestStdin) { .exec = q->message->exec_id, .error = fd < 0 ? -fd : 0 };
        link_answer(&s->link, &answer, fd);
        return true;
}

static bool on_channel_open(Serve *s, const ServeRequest *q) {
        GuestMessage answer = { .type = GUEST_CHANNEL };
        int error;
        const int *fds = execution_channel(&s->executions, q->message->exec_id, &error);

        answer.stdin_ = (GuestStdin) { .exec = q->message->exec_id, .error = -error };
        if (fds)
                link_answer_fds(&s->link, &answer, fds, _CHANNEL_END_MAX);
        else
                link_answer(&s->link, &answer, -EBADF);
        return true;
}

static bool on_keep(Serve *s, const ServeRequest *q) {
        if (q->n_fds == GUEST_KEPT_FDS)
                (void) kept_put(&s->kept, &q->message->kept, q->fds);
        else
                kept_forget(&s->kept, q->message->kept.pid);
        return q->n_fds == 0 || q->n_fds == GUEST_KEPT_FDS;
}

static bool on_kept_ask(Serve *s, const ServeRequest *q) {
        const KeptChannel *one = kept_at(&s->kept, (size_t) q->message->exec_id);
        GuestMessage answer = { .type = GUEST_KEPT };

        answer.kept = (GuestKept) { .number = (uint32_t) q->message->exec_id, .pid = one ? one->pid : 0 };
        if (one)
                memcpy(answer.kept.text, one->text, sizeof(answer.kept.text));
        link_answer_fds(&s->link, &answer, one ? one->fds : NULL, one ? GUEST_KEPT_FDS : 0);
        return true;
}

/* Processes of our own session are our helpers, even if the pid has been reused for one. */
static bool on_kill(Serve *s, const ServeRequest *q) {
        if (getsid(q->message->kill.pid) != getsid(0))
                (void) kill(q->message->kill.pid, q->message->kill.signal);
        return true;
}

static bool on_stdin_close(Serve *s, const ServeRequest *q) {
        execution_close_input(&s->executions, q->message->exec_id);
        return true;
}

static bool on_forget(Serve *s, const ServeRequest *q) {
        execution_forget(&s->executions, q->message->exec_id);
        return true;
}

static bool on_list(Serve *s, const ServeRequest *q) {
        s->end_list = s->to_tell = true;
        serve_watch(s); /* before the list is made: a shim that is starting wakes us */
        executions_list(&s->executions);
        return true;
}

static bool on_stop(Serve *s, const ServeRequest *q) {
        s->stop.active = true;
        serve_watch(s);
        stop_begin(&s->stop, &s->executions, q->message->grace_usec);
        return true;
}

static bool on_file(Serve *s, const ServeRequest *q) {
        if (q->n_fds < 1)
                return false;
        (void) worker_start(&q->message->file, s->spec->single_id, s->spec->file_size_max, q->fds, q->n_fds);
        return true;
}

static bool serve_on_network(Serve *s, const ServeRequest *q) {
        const GuestMessage answer = { .type = GUEST_SOCKETS, .shape = s->spec->network };

        link_answer_fds(&s->link, &answer, s->network.fds, s->network.n);
        return true;
}

static bool serve_on_socket(Serve *s, const ServeRequest *q) {
        _cleanup_close_ int fd = network_socket(&q->message->socket);
        GuestMessage answer = { .type = GUEST_SOCKET_MADE };

        answer.socket_made = (GuestSocketMade) { .token = q->message->socket.token, .error = fd < 0 ? -fd : 0 };
        link_answer(&s->link, &answer, fd);
        return true;
}

/* The requests of the daemon, and the most descriptors that each may carry. */
static const struct {
        bool (*function)(Serve *s, const ServeRequest *q);
        size_t max_fds;
} requests[_GUEST_TYPE_MAX] = {
        [GUEST_EXEC]        = { on_exec,           3 },
        [GUEST_SIGNAL]      = { on_signal_request, 0 },
        [GUEST_RESIZE]      = { on_resize,         0 },
        [GUEST_STDIN_OPEN]  = { on_stdin_open,     0 },
        [GUEST_STDIN_CLOSE] = { on_stdin_close,    0 },
        [GUEST_FORGET]      = { on_forget,         0 },
        [GUEST_LIST]        = { on_list,           0 },
        [GUEST_STOP]        = { on_stop,           0 },
        [GUEST_FILE]        = { on_file,           2 },
        [GUEST_NETWORK]     = { serve_on_network,        0 },
        [GUEST_SOCKET]      = { serve_on_socket,         0 },
        [GUEST_CHANNEL_OPEN] = { on_channel_open,  0 },
        [GUEST_KEEP]        = { on_keep,           GUEST_KEPT_FDS },
        [GUEST_KEPT_ASK]    = { on_kept_ask,       0 },
        [GUEST_KILL]        = { on_kill,           0 },
};

static bool answer_request(Serve *s, size_t size, const int *fds, size_t n_fds) {
        const GuestMessage *m = &s->request;

        if (guest_decode(s->buffer, size, &s->request) < 0)
                return false;
        if (!requests[m->type].function || n_fds > requests[m->type].max_fds)
                return false;
        return requests[m->type].function(s, &(ServeRequest) { .message = m, .fds = fds, .n_fds = n_fds });
}

/* Returns false if there is nothing more to read at present. */
static bool serve_read_request(Serve *s) {
        int fds[CHANNEL_FDS_MAX], r;
        size_t size, n_fds = 0;

        r = channel_receive_bytes(s->link.fd, MSG_DONTWAIT, s->buffer, sizeof(s->buffer), &size, fds, ELEMENTSOF(fds),
                        &n_fds);
        if (r == -EAGAIN)
                return false;
        if (r <= 0 || !answer_request(s, size, fds, n_fds))
                link_close(&s->link);
        for (size_t i = 0; r > 0 && i < n_fds; i++)
                (void) fd_close(fds[i]);
        return s->link.fd >= 0;
}

static void serve_on_link(Serve *s) {
        (void) serve_read_request(s);
}

/* A former daemon has answered for these requests by its row in the store, so they are carried out, although it
 * is gone and gets no answer. */
static void finish_requests(Serve *s) {
        s->link.deaf = true;
        while (s->link.fd >= 0 && serve_read_request(s))
                ;
}

/* The newest connection replaces the former. A process of this sandbox cannot be the daemon, even if it has
 * reached the socket. */
static void on_connect(Serve *s) {
        int fd = accept4(s->spec->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (fd < 0)
                return;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid != 0) {
                (void) fd_close(fd);
                return;
        }
        finish_requests(s);
        link_replace_take(&s->link, fd);
        s->end_list = s->stopped = s->no_room = false;
        s->to_tell = true;
        serve_watch(s);
}

/* Children */

static void serve_on_child(Serve *s, pid_t pid, int status) {
        int32_t record;

        if (WIFSTOPPED(status)) {
                /* A guest's root may stop our helpers, so they are continued. A guest's process that is stopped
                 * is left alone. */
                if (getsid(pid) == getsid(0))
                        (void) kill(pid, SIGCONT);
                return;
        }
        if (sudo_reaped(&s->sudo, pid, status))
                stop_orphans(&s->stop);
        if (pool_reaped(&s->executions.pool, pid, &record) == 0 || record == BOARD_NO_RECORD)
                return;
        stop_orphans(&s->stop);
        execution_lost(&s->executions, record);
}

static void serve_on_signal(Serve *s) {
        struct signalfd_siginfo info[4];
        int status;
        pid_t pid;

        (void) read(s->signal_fd, info, sizeof(info));
        while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
                serve_on_child(s, pid, status);
        s->to_tell = true;
}

/* Telling */

static uint8_t segment_state(const Serve *s) {
        return s->executions.segment[0] >= 0 ? GUEST_SEGMENT_KEPT : GUEST_SEGMENT_NONE;
}

/* The descriptor lets a daemon that did not start this sandbox see as well how full the disk is. */
static int say_end(Serve *s) {
        _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        return init_link_send(&s->link, &(GuestMessage) { .type = GUEST_END, .ready.segment = segment_state(s) }, root);
}

static void serve_tell(Serve *s) {
        int r;

        s->no_room = link_flush(&s->link);
        if (s->no_room || !s->to_tell || s->link.fd < 0 || s->link.deaf)
                return;

        r = executions_tell(&s->executions, &s->link);
        if (r >= 0 && s->end_list) {
                r = say_end(s);
                s->end_list = r < 0;
        }
        if (r >= 0 && s->stopped) {
                r = link_send_bare(&s->link, GUEST_STOPPED);
                s->stopped = r < 0;
        }
        s->no_room = r == -EAGAIN;
        s->to_tell = r < 0;
        executions_sweep(&s->executions);
        serve_watch(s);
}

static int serve_poll_timeout(const Serve *s) {
        usec_t next = MIN_OF(stop_next(&s->stop), sudo_next(&s->sudo)), now;

        if (next == USEC_INFINITY)
                return -1;
        now = clock_usec();
        return next <= now ? 0 : (int) MIN_OF((next - now + USEC_PER_MSEC - 1) / USEC_PER_MSEC, (usec_t) POLL_MAX_MSEC);
}

static _noreturn_ void serve_loop(Serve *s) {
        for (;;) {
                struct pollfd fds[] = {
                        { .fd = s->signal_fd,       .events = POLLIN                         },
                        { .fd = s->spec->listen_fd, .events = POLLIN                         },
                        { .fd = s->link.fd,         .events = s->no_room ? POLLOUT : POLLIN  },
                        { .fd = sudo_poll(&s->sudo), .events = POLLIN                        },
                };

                if (poll(fds, ELEMENTSOF(fds), serve_poll_timeout(s)) < 0)
                        continue;
                if (fds[0].revents)
                        serve_on_signal(s);
                if (fds[2].revents & (s->no_room ? POLLHUP | POLLERR : POLLIN | POLLHUP | POLLERR))
                        serve_on_link(s);
                if (fds[1].revents)
                        on_connect(s);
                if (fds[3].revents)
                        sudo_open_door(&s->sudo);
                if (stop_step(&s->stop, &s->executions))
                        s->stopped = s->to_tell = true;
                if (s->to_tell || s->link.held_size > 0)
                        serve_tell(s);
        }
}

/* Beginning */

static void *map_zeroed(const InitServe *spec, size_t size, int flags) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (p == MAP_FAILED)
                serve_fail(spec, "memory", errno);
        return p;
}

static Serve *serve_new(const InitServe *spec) {
        Serve *s = map_zeroed(spec, sizeof(*s), MAP_PRIVATE);
        ShimSetting *setting = &s->executions.pool.setting;
        int r;

        s->spec = spec;
        s->link = (InitLink) LINK_EMPTY;
        s->link.fd = spec->control_fd;
        s->executions.segment[0] = s->executions.segment[1] = -EBADF;
        s->stop = (Stop) STOP_EMPTY;
        s->signal_fd = begin_signals();
        if (s->signal_fd < 0)
                serve_fail(spec, "signals", errno);
        r = network_keep(spec->net_fds, &s->network);
        if (r < 0)
                serve_fail(spec, "network", -r);
        for (size_t i = 0; i < spec->n_held; i++)
                (void) serve_keep(spec, spec->held_fds[i]);
        s->meminfo_fd = serve_keep(spec, spec->meminfo_fd);
        s->usage_fd = serve_keep(spec, spec->usage_fd);
        *setting = (ShimSetting) {
                .serve = spec,
                .board = map_zeroed(spec, sizeof(Board), MAP_SHARED),
                .signal_fd = s->signal_fd,
                .measure_disk = !(spec->guards_missing & GUARD_BIT(GUARD_DISK)),
                .has_quota = spec->has_quota,
                .limit_memory = spec->guards_missing & GUARD_BIT(GUARD_MEMORY),
                .limit_pids = spec->guards_missing & GUARD_BIT(GUARD_PIDS),
                .reset_oom = begin_is_spared_by_oom(),
        };
        r = sudo_init(&s->sudo, setting);
        if (r < 0)
                serve_fail(spec, "sudo", -r);
        return s;
}

static __attribute__((noinline)) void say_ready(Serve *s) {
        _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        GuestMessage m = { .type = GUEST_READY };

        m.ready = (GuestReady) { .guards_missing = s->spec->guards_missing, .segment = segment_state(s) };
        (void) init_link_send(&s->link, &m, root);
}

/* Setting up the sandbox took more stack than is ever needed again, which adds up with a thousand sandboxes.
 * Not inlined: the released range begins below our own frame, and ends in the gap below the stack, where
 * nothing is mapped. */
static __attribute__((noinline)) void release_stack(void) {
        uintptr_t here = (uintptr_t) __builtin_frame_address(0) & ~(uintptr_t) (STACK_ALIGN - 1);

        (void) madvise((void *) (here - STACK_ALIGN - STACK_RELEASED), STACK_RELEASED, MADV_DONTNEED);
}

void init_serve(const InitServe *spec) {
        Serve *s;
        int r;

        (void) prctl(PR_SET_NAME, "cove-init");
        (void) setsid(); /* fails if we lead a session already */
        begin_nofile();
        r = rlimits_apply_common(); /* guests inherit them from us */
        if (r < 0)
                serve_fail(spec, "rlimits", -r);
        s = serve_new(spec);
        if (listen(spec->listen_fd, LISTEN_BACKLOG) < 0 || fcntl(spec->listen_fd, F_SETFL, O_NONBLOCK) < 0)
                serve_fail(spec, "listen", errno);

        /* Loaded for PID 1 as well: compiling the filter takes longer than starting a command, and children
         * inherit it. The calls of PID 1 itself are on its list. */
        if (!(spec->guards_missing & GUARD_BIT(GUARD_SECCOMP))) {
                r = seccomp_load(/* flags= */ 0);
                if (r < 0)
                        serve_fail(spec, "seccomp", -r);
        }
        say_ready(s);
        pool_warm(&s->executions.pool);
        release_stack();
        serve_loop(s);
}
