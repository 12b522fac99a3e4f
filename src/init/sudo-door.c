/* sudo-door.c: accepts the clients of sudo and forks a steward for each.
 *
 * All input may be hostile: thousands of connections, connections without a request, unreadable requests. The number
 * of waiting connections and their waiting time are bounded; a new one pushes out the oldest. At worst this process
 * hangs, and sudo does not work in this sandbox. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "init/sudo.h"
#include "wire/channel.h"
#include "wire/sudo.h"

#define LISTEN_FD    3
#define SIGNAL_FD    4
#define ASIDE_FD     10 /* where descriptors are moved while the low ones are arranged */
#define PENDING_MAX  32
#define PATIENCE     (5 * USEC_PER_SEC) /* between a connection and its request */
#define IDLE_MSEC    2000

typedef struct SudoDoorPending {
        int fd;
        usec_t since;
} SudoDoorPending;

typedef struct Door {
        ShimSetting setting;
        SudoDoorPending pending[PENDING_MAX]; /* the oldest first */
        size_t n;
        pid_t stewards[BOARD_SUDO]; /* as forked; the slot of a steward that was killed before it could write its pid stays taken */
} Door;

static void sudo_door_drop(Door *d, size_t i) {
        (void) fd_close(d->pending[i].fd);
        d->n--;
        memmove(d->pending + i, d->pending + i + 1, (d->n - i) * sizeof(SudoDoorPending));
}

static bool sudo_door_is_gone(pid_t pid) {
        return pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH);
}

static int take_slot(Door *d) {
        for (size_t i = 0; i < BOARD_SUDO; i++) {
                SudoSlot *slot = d->setting.board->sudo + i;
                uint32_t state = atomic_load(&slot->state);

                if (state != SUDO_SLOT_FREE && (atomic_load(&slot->pid) != 0 || !sudo_door_is_gone(d->stewards[i])))
                        continue;
                atomic_store(&slot->record, BOARD_NO_RECORD);
                atomic_store(&slot->exec, 0);
                atomic_store(&slot->signals, 0);
                atomic_store(&slot->pid, 0);
                atomic_store(&slot->state, SUDO_SLOT_TAKEN);
                return (int) i;
        }
        return -EAGAIN;
}

static void sudo_door_refuse(int fd, const char *step, int error) {
        SudoMessage m = { .type = SUDO_FAILED, .failed.error = error };
        uint8_t buffer[512];
        ssize_t size;

        (void) snprintf(m.failed.step, sizeof(m.failed.step), "%s", step);
        size = sudo_encode(&m, buffer, sizeof(buffer));
        if (size > 0)
                (void) channel_send_bytes(fd, buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);
}

/* A child of PID 1 and not ours, so that it outlives us, and PID 1 is notified of its end. */
static pid_t fork_for_init(void) {
        return (pid_t) syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void sudo_door_serve(Door *d, int fd) {
        int i = take_slot(d);
        pid_t pid;

        if (i < 0) {
                sudo_door_refuse(fd, "too many", EAGAIN);
                return;
        }
        pid = fork_for_init();
        if (pid == 0)
                sudo_steward_main(&d->setting, d->setting.board->sudo + i, fd);
        if (pid < 0) {
                sudo_door_refuse(fd, "fork", errno);
                atomic_store(&d->setting.board->sudo[i].state, SUDO_SLOT_FREE);
        } else
                d->stewards[i] = pid;
}

static void accept_some(Door *d) {
        for (int i = 0; i < PENDING_MAX; i++) {
                int fd = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);

                if (fd < 0)
                        return;
                if (d->n == PENDING_MAX)
                        sudo_door_drop(d, 0);
                d->pending[d->n++] = (SudoDoorPending) { .fd = fd, .since = clock_usec() };
        }
}

static int sudo_door_poll_timeout(const Door *d) {
        usec_t now;

        if (d->n == 0)
                return IDLE_MSEC;
        now = clock_usec();
        return d->pending[0].since + PATIENCE <= now ? 0 : (int) ((d->pending[0].since + PATIENCE - now) / USEC_PER_MSEC) + 1;
}

static void serve_pending(Door *d, const struct pollfd *fds) {
        usec_t now = clock_usec();

        for (size_t i = d->n; i > 0; i--) {
                SudoDoorPending *p = d->pending + i - 1;

                if (fds[i - 1].revents)
                        sudo_door_serve(d, p->fd);
                else if (now < p->since + PATIENCE)
                        continue;
                sudo_door_drop(d, i - 1);
        }
}

/* Closes all descriptors of PID 1: its connections, and its ends of the inputs of commands. */
static int sudo_door_keep_descriptors(const ShimSetting *setting, int listen_fd) {
        int l = fcntl(listen_fd, F_DUPFD_CLOEXEC, ASIDE_FD), s = fcntl(setting->signal_fd, F_DUPFD_CLOEXEC, ASIDE_FD);

        if (l < 0 || s < 0 || dup3(l, LISTEN_FD, O_CLOEXEC) < 0 || dup3(s, SIGNAL_FD, O_CLOEXEC) < 0)
                return -errno;
        return kernel_close_range(SIGNAL_FD + 1, ~0u, 0) < 0 ? -errno : 0;
}

void sudo_door_main(const ShimSetting *setting, int listen_fd) {
        static Door d;

        (void) prctl(PR_SET_NAME, "cove-door");
        d.setting = *setting;
        d.setting.signal_fd = SIGNAL_FD;
        if (sudo_door_keep_descriptors(setting, listen_fd) < 0)
                _exit(1);
        for (;;) {
                struct pollfd fds[1 + PENDING_MAX] = { { .fd = LISTEN_FD, .events = POLLIN } };
                int r;

                for (size_t i = 0; i < d.n; i++)
                        fds[1 + i] = (struct pollfd) { .fd = d.pending[i].fd, .events = POLLIN };
                r = poll(fds, 1 + d.n, sudo_door_poll_timeout(&d));
                if (r < 0 && errno != EINTR)
                        _exit(1);
                if (r == 0 && d.n == 0)
                        _exit(0);
                if (r >= 0)
                        serve_pending(&d, fds + 1);
                if (r > 0 && fds[0].revents)
                        accept_some(&d);
        }
}
