#include "sudo/relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/channel.h"
#include "wire/sudo.h"

#define DRAIN_MSEC 100 /* for output on its way, while a process that was left behind has the terminal open */

typedef struct SudoRelay {
        int channel_fd, signal_fd;
        Terminal *terminal;
        const char *name; /* of the command */
        bool started, ended;
        int status;
        char typed[4096]; /* input that the command's terminal has not taken yet */
        size_t n_typed;
        bool input_over;
} SudoRelay;

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH, SIGCONT };

int relay_signals(void) {
        sigset_t set;
        int fd;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGTTOU, SIG_IGN);
        (void) sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(forwarded); i++)
                (void) sigaddset(&set, forwarded[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

static void relay_send_signal(const SudoRelay *k, int signal_number) {
        const SudoMessage m = { .type = SUDO_SIGNAL, .signal = signal_number };
        uint8_t buffer[64];
        ssize_t size = sudo_encode(&m, buffer, sizeof(buffer));

        if (size > 0)
                (void) channel_send_bytes(k->channel_fd, buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);
}

/* Stops together with the command, and continues with it. The command leads a session of its own, so only SIGSTOP
 * stops it. */
static void suspend(SudoRelay *k) {
        relay_send_signal(k, SIGSTOP);
        terminal_leave(k->terminal);
        (void) raise(SIGSTOP);
        relay_send_signal(k, SIGCONT);
        terminal_resize(k->terminal);
        terminal_enter(k->terminal);
}

static void relay_on_signal(SudoRelay *k) {
        struct signalfd_siginfo info;

        if (read(k->signal_fd, &info, sizeof(info)) != sizeof(info))
                return;
        if (info.ssi_signo == SIGWINCH)
                terminal_resize(k->terminal);
        else if (info.ssi_signo == SIGTSTP)
                suspend(k);
        else if (info.ssi_signo == SIGCONT)
                terminal_enter(k->terminal);
        else
                relay_send_signal(k, (int) info.ssi_signo);
}

/* PID 1's side */

static int relay_complain(const SudoRelay *k, const SudoFailed *f) {
        bool no_program = strcmp(f->step, "exec") == 0 && f->error == ENOENT;

        if (no_program)
                (void) dprintf(2, "sudo: %s: command not found\n", k->name);
        else if (strcmp(f->step, "exec") == 0)
                (void) dprintf(2, "sudo: unable to execute %s: %s\n", k->name, strerror(f->error));
        else if (strcmp(f->step, "one user") == 0)
                (void) dprintf(2, "sudo: this sandbox has one user only: its daemon was not started by root\n");
        else if (strcmp(f->step, "ids") == 0)
                (void) dprintf(2, "sudo: that user or group is not permitted in this sandbox\n");
        else
                (void) dprintf(2, "sudo: %s: %s%s%s\n", f->step, strerror(f->error), *f->detail ? ": " : "", f->detail);
        return 1;
}

static void relay_on_channel(SudoRelay *k) {
        uint8_t buffer[1024];
        SudoMessage m = { 0 };
        size_t size, n_fds = 0;
        int r = channel_receive_bytes(k->channel_fd, 0, buffer, sizeof(buffer), &size, NULL, 0, &n_fds);

        if (r <= 0 || sudo_decode(buffer, size, &m) < 0) {
                terminal_leave(k->terminal);
                (void) dprintf(2, "sudo: PID 1 closed the connection: the command was ended, or never started\n");
                k->ended = true;
                k->status = 1;
        } else if (m.type == SUDO_STARTED)
                k->started = true;
        else if (m.type == SUDO_FAILED) {
                terminal_leave(k->terminal);
                k->ended = true;
                k->status = relay_complain(k, &m.failed);
        } else if (m.type == SUDO_EXITED) {
                k->ended = true;
                k->status = WIFEXITED(m.wait_status) ? WEXITSTATUS(m.wait_status) : 128 + WTERMSIG(m.wait_status);
        }
}

/* The terminals */

/* False: there is no more output. */
static bool pump_out(SudoRelay *k) {
        char buffer[8192];
        ssize_t n = read(k->terminal->master_fd, buffer, sizeof(buffer));

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return true;
        if (n <= 0)
                return false;
        (void) fd_write_all(k->terminal->user_fd, buffer, (size_t) n);
        return true;
}

static void pump_in(SudoRelay *k) {
        ssize_t n = read(k->terminal->user_fd, k->typed + k->n_typed, sizeof(k->typed) - k->n_typed);

        if (n > 0)
                k->n_typed += (size_t) n;
        else if (n == 0 || errno == EIO)
                k->input_over = true;
}

static void pump_typed(SudoRelay *k) {
        ssize_t n = k->n_typed > 0 ? write(k->terminal->master_fd, k->typed, k->n_typed) : 0;

        if (n <= 0)
                return;
        k->n_typed -= (size_t) n;
        memmove(k->typed, k->typed + n, k->n_typed);
}

static bool reads_terminal(const SudoRelay *k) {
        return k->started && k->terminal->raw && !k->input_over && k->n_typed < sizeof(k->typed) && terminal_is_ours(k->terminal);
}

/* Passes on the output up to the command's end. */
static void sudo_relay_drain(SudoRelay *k) {
        struct pollfd fd = { .fd = k->terminal->master_fd, .events = POLLIN };

        while (fd.fd >= 0 && poll(&fd, 1, DRAIN_MSEC) > 0)
                if (!pump_out(k))
                        return;
}

static void relay_turn(SudoRelay *k, bool *out_over) {
        const Terminal *t = k->terminal;
        struct pollfd fds[] = {
                { .fd = k->channel_fd, .events = POLLIN },
                { .fd = k->signal_fd, .events = POLLIN },
                { .fd = *out_over ? -1 : t->master_fd, .events = (short) (POLLIN | (k->n_typed > 0 ? POLLOUT : 0)) },
                { .fd = reads_terminal(k) ? t->user_fd : -1, .events = POLLIN },
        };

        if (poll(fds, ELEMENTSOF(fds), -1) < 0)
                return;
        if (fds[1].revents)
                relay_on_signal(k);
        if (fds[3].revents)
                pump_in(k);
        if (fds[2].revents & POLLOUT)
                pump_typed(k);
        if (fds[2].revents & (POLLIN | POLLHUP | POLLERR))
                *out_over = !pump_out(k);
        if (fds[0].revents)
                relay_on_channel(k);
}

int relay_start(int channel_fd, const char *name) {
        Terminal none = TERMINAL_EMPTY;
        SudoRelay k = { .channel_fd = channel_fd, .signal_fd = -EBADF, .terminal = &none, .name = name };

        while (!k.ended && !k.started)
                relay_on_channel(&k);
        return k.started ? 0 : k.status;
}

int relay_run(int channel_fd, int signal_fd, Terminal *t, const char *name) {
        SudoRelay k = { .channel_fd = channel_fd, .signal_fd = signal_fd, .terminal = t, .name = name };
        bool out_over = false;

        while (!k.ended)
                relay_turn(&k, &out_over);
        if (!out_over)
                sudo_relay_drain(&k);
        terminal_leave(t);
        return k.status;
}
