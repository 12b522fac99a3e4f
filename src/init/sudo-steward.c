/* sudo-steward.c: one command of a sudo client, from the request to the end of its processes.
 *
 *      request · find the client's execution · the walls of any command of that user · spawn · STARTED
 *      signals from the client go to the command's process group · EXITED · we stay with processes left behind */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "init/command.h"
#include "init/sudo.h"
#include "init/tree.h"
#include "wire/channel.h"
#include "wire/sudo.h"

#define NOFILE_UNTOLD 4096 /* before the first execution has set a limit: the client was forked from a zygote. Equal to the default in core/sandbox/spec.c */
#define CLIENT_FD        3
#define SIGNAL_FD        4
#define ASIDE_FD         10
#define ANCESTORS_MAX    65536
#define KILL_AGAIN_FIRST (5 * USEC_PER_MSEC)
#define KILL_AGAIN_MAX   (200 * USEC_PER_MSEC)
#define PTY_SLAVE_FIRST  136 /* major numbers of the slave sides of terminals */
#define PTY_SLAVE_LAST   143

typedef struct Steward {
        ShimSetting setting;
        SudoSlot *slot;
        int client_fd; /* -EBADF: disconnected */
        bool stays;    /* the command outlives its client */
        pid_t command; /* 0: ended */
        bool has_children;
        bool killing;
        usec_t kill_again, kill_pause;
} Steward;

static void sudo_steward_tell(Steward *s, const SudoMessage *m) {
        uint8_t buffer[512];
        ssize_t size = sudo_encode(m, buffer, sizeof(buffer));

        if (size > 0 && s->client_fd >= 0)
                (void) channel_send_bytes(s->client_fd, buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);
}

static _noreturn_ void sudo_steward_leave(Steward *s) {
        atomic_store(&s->slot->state, SUDO_SLOT_DONE);
        _exit(0);
}

static _noreturn_ void sudo_steward_fail(Steward *s, const SpawnFailure *failure) {
        SudoMessage m = { .type = SUDO_FAILED, .failed.error = failure->error };

        (void) snprintf(m.failed.step, sizeof(m.failed.step), "%s", failure->step);
        (void) snprintf(m.failed.detail, sizeof(m.failed.detail), "%.255s", failure->detail ? failure->detail : "");
        sudo_steward_tell(s, &m);
        sudo_steward_leave(s);
}

static _noreturn_ void sudo_steward_fail_step(Steward *s, const char *step, int r) {
        sudo_steward_fail(s, &(SpawnFailure) { .step = step, .error = -r });
}

/* The end */

static void sudo_steward_reap(Steward *s) {
        for (;;) {
                int status;
                pid_t pid = waitpid(-1, &status, WNOHANG);

                if (pid < 0 && errno == EINTR)
                        continue;
                if (pid <= 0) {
                        s->has_children = pid == 0;
                        return;
                }
                if (pid != s->command)
                        continue;
                s->command = 0;
                sudo_steward_tell(s, &(SudoMessage) { .type = SUDO_EXITED, .wait_status = status });
                s->client_fd = fd_close(s->client_fd);
        }
}

static void sudo_steward_kill_tree(Steward *s) {
        s->killing = true;
        (void) tree_kill();
        s->kill_pause = s->kill_pause == 0 ? KILL_AGAIN_FIRST : MIN_OF(2 * s->kill_pause, KILL_AGAIN_MAX);
        s->kill_again = clock_usec() + s->kill_pause;
}

static void pass_signal(Steward *s, int n) {
        if (n == SIGKILL)
                sudo_steward_kill_tree(s);
        else if (s->command > 0) /* not reaped yet: its pid cannot be reused */
                (void) kill(-s->command, n);
        else
                (void) tree_signal(n);
}

static void sudo_steward_on_signal(Steward *s) {
        struct signalfd_siginfo info[4];
        uint64_t signals;

        (void) read(SIGNAL_FD, info, sizeof(info));
        sudo_steward_reap(s);
        signals = atomic_exchange(&s->slot->signals, 0);
        for (int n = 1; signals != 0 && n <= 64; n++)
                if (signals & UINT64_C(1) << (n - 1))
                        pass_signal(s, n);
}

/* The client */

static void on_client(Steward *s) {
        uint8_t buffer[512];
        SudoMessage m;
        size_t size, n_fds = 0;
        int r = channel_receive_bytes(s->client_fd, MSG_DONTWAIT, buffer, sizeof(buffer), &size, NULL, 0, &n_fds);

        if (r == -EAGAIN)
                return;
        if (r > 0 && sudo_decode(buffer, size, &m) >= 0 && m.type == SUDO_SIGNAL) {
                if (s->command > 0)
                        (void) kill(-s->command, m.signal);
                return;
        }
        s->client_fd = fd_close(s->client_fd); /* the client has ended, or sends garbage, which is treated the same */
        if (!s->stays)
                sudo_steward_kill_tree(s);
}

static int sudo_steward_poll_timeout(const Steward *s) {
        usec_t now;

        if (!s->killing)
                return -1;
        now = clock_usec();
        return s->kill_again <= now ? 0 : (int) ((s->kill_again - now) / USEC_PER_MSEC) + 1;
}

static void sudo_steward_loop(Steward *s) {
        while (s->has_children) {
                struct pollfd fds[] = {
                        { .fd = SIGNAL_FD,    .events = POLLIN },
                        { .fd = s->client_fd, .events = POLLIN },
                };

                if (poll(fds, ELEMENTSOF(fds), sudo_steward_poll_timeout(s)) < 0 && errno != EINTR)
                        _exit(1); /* PID 1 does the rest */
                if (fds[0].revents)
                        sudo_steward_on_signal(s);
                if (fds[1].revents && s->client_fd >= 0)
                        on_client(s);
                if (s->killing && s->has_children && clock_usec() >= s->kill_again)
                        sudo_steward_kill_tree(s);
        }
}

/* The beginning */

/* Finds an execution by its shim, or by the steward of another command that it has started. */
static bool find_asker(Steward *s, pid_t pid) {
        Board *board = s->setting.board;

        for (size_t i = 0; i < BOARD_SHIMS; i++) {
                ShimSlot *shim = board->shims + i;

                if (atomic_load(&shim->pid) != pid)
                        continue;
                atomic_store(&s->slot->exec, shim->exec.exec);
                atomic_store(&s->slot->record, atomic_load(&shim->record));
                return true;
        }
        for (size_t i = 0; i < BOARD_SUDO; i++) {
                SudoSlot *other = board->sudo + i;

                if (atomic_load(&other->pid) != pid)
                        continue;
                atomic_store(&s->slot->exec, atomic_load(&other->exec));
                atomic_store(&s->slot->record, atomic_load(&other->record));
                return true;
        }
        return false;
}

/* Shims and stewards are PID 1's own children, so the ancestors of any guest process lead to one, or to PID 1
 * if its own is gone. */
static void find_execution(Steward *s, pid_t client) {
        pid_t pid = client;

        for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
                if (find_asker(s, pid))
                        return;
                pid = tree_parent(pid);
        }
}

/* A client outside this sandbox has no pid here. */
static pid_t check_client(Steward *s) {
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (getsockopt(s->client_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
                sudo_steward_fail_step(s, "client", -EPERM);
        return peer.pid;
}

/* As for any command that the daemon requests: an id of our own would make a guest our equal. */
static void sudo_steward_check_ids(Steward *s, const SudoRun *q) {
        const InitServe *serve = s->setting.serve;

        if (serve->single_id && (q->uid != serve->uid || q->gid != serve->gid))
                sudo_steward_fail_step(s, "one user", -EPERM);
        if (!serve->single_id && (q->uid == getuid() || q->gid == getgid() || q->uid == (uid_t) -1 || q->gid == (gid_t) -1))
                sudo_steward_fail_step(s, "ids", -EPERM);
}

/* The user that the command runs as may open its terminal again by name. */
static void give_terminal(const Steward *s, const SudoRun *q, int fd) {
        struct stat st;

        if (s->setting.serve->single_id || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || major(st.st_rdev) < PTY_SLAVE_FIRST ||
                        major(st.st_rdev) > PTY_SLAVE_LAST)
                return;
        (void) fchown(fd, q->uid, (gid_t) -1);
}

static void sudo_steward_start(Steward *s, const SudoRun *q, const int *fds) {
        uint64_t nofile;
        size_t n = 3;
        int terminal_fd = q->flags & SUDO_TERMINAL ? fds[n++] : 0, r;
        SpawnFailure failure;
        SpawnSpec spec;
        Strings strings;

        r = q->flags & SUDO_BLOB ? strings_read(fds[n], q->n_args, q->n_env, q->uid, &strings) :
                                   strings_parse(q->strings, q->strings_size, q->n_args, q->n_env, q->uid, &strings);
        if (r < 0)
                sudo_steward_fail_step(s, "strings", r);
        failure = command_prepare(&s->setting, q->uid);
        if (failure.error != 0)
                sudo_steward_fail(s, &failure);
        if (q->flags & SUDO_TERMINAL)
                give_terminal(s, q, terminal_fd);
        nofile = atomic_load(&s->setting.board->nofile);
        spec = command_spec(&s->setting, q->uid, q->gid, nofile != 0 ? nofile : NOFILE_UNTOLD, s->setting.serve->pids, &strings);
        memcpy(spec.stdio, fds, sizeof(spec.stdio));
        spec.terminal = q->flags & SUDO_TERMINAL;
        spec.terminal_fd = terminal_fd;
        s->command = spawn(&spec, &failure);
        if (s->command < 0)
                sudo_steward_fail(s, &failure);
        s->has_children = true;
        strings_done(&strings);
}

static void sudo_steward_run(Steward *s) {
        static uint8_t buffer[SUDO_MESSAGE_MAX];
        int fds[CHANNEL_FDS_MAX], r;
        pid_t client = check_client(s);
        size_t size, n_fds = 0;
        SudoMessage m;

        r = channel_receive_bytes(s->client_fd, MSG_DONTWAIT, buffer, sizeof(buffer), &size, fds, ELEMENTSOF(fds), &n_fds);
        if (r <= 0)
                sudo_steward_leave(s);
        if (sudo_decode(buffer, size, &m) < 0 || m.type != SUDO_RUN || n_fds != sudo_n_fds(m.run.flags))
                sudo_steward_fail_step(s, "request", -EBADMSG);
        sudo_steward_check_ids(s, &m.run);
        find_execution(s, client);
        s->stays = m.run.flags & SUDO_STAY;
        sudo_steward_start(s, &m.run, fds);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
        sudo_steward_tell(s, &(SudoMessage) { .type = SUDO_STARTED, .pid = s->command });
        sudo_steward_loop(s);
}

static int sudo_steward_keep_descriptors(int client_fd) {
        int c = fcntl(client_fd, F_DUPFD_CLOEXEC, ASIDE_FD);

        if (c < 0 || dup3(c, CLIENT_FD, O_CLOEXEC) < 0) /* the door has put the signal descriptor in its place */
                return -errno;
        return kernel_close_range(SIGNAL_FD + 1, ~0u, 0) < 0 ? -errno : 0;
}

void sudo_steward_main(const ShimSetting *setting, SudoSlot *slot, int client_fd) {
        static Steward s;

        atomic_store(&slot->pid, getpid());
        (void) prctl(PR_SET_NAME, "cove-steward");
        s = (Steward) { .setting = *setting, .slot = slot, .client_fd = CLIENT_FD };
        if (sudo_steward_keep_descriptors(client_fd) < 0)
                _exit(1);
        sudo_steward_run(&s);
        sudo_steward_leave(&s);
}
