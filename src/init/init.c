#include "init/init.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "init/pty.h"
#include "wire/channel.h"

#define DISK_FULL_BYTES (64 * 1024) /* with less free, there is no room for another file of any use */

static _noreturn_ void init_fail(int control_fd, const SpawnFailure *failure) {
        WireMessage m = { .type = WIRE_FAILED, .failed.error = failure->error };

        (void) snprintf(m.failed.step, sizeof(m.failed.step), "%s", failure->step);
        if (failure->detail)
                (void) snprintf(m.failed.detail, sizeof(m.failed.detail), "%.255s", failure->detail);
        (void) channel_send(control_fd, &m, NULL, 0);
        _exit(1);
}

static int block_signals(void) {
        sigset_t all, child;

        (void) sigfillset(&all);
        if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
                return -1; /* a signal that is not blocked could come between two checks, and would then be waited for forever */
        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static pid_t init_start(const InitSpec *spec) {
        _cleanup_close_ int master = -EBADF, slave = -EBADF;
        SpawnSpec command = spec->command;
        SpawnFailure failure;
        WireMessage m = { .type = WIRE_STARTED, .started.guards_missing = spec->guards_missing };
        pid_t pid;

        if (spec->tty) {
                int r = pty_open(&spec->window, command.uid, command.gid, command.single_id, &master, &slave);
                if (r < 0)
                        init_fail(spec->control_fd, &(SpawnFailure) { .step = "terminal", .error = -r });
                command.terminal = true;
                for (int i = 0; i < 3; i++)
                        command.stdio[i] = slave;
        }
        pid = spawn(&command, &failure);
        if (pid < 0)
                init_fail(spec->control_fd, &failure);

        if (channel_send(spec->control_fd, &m, &master, spec->tty ? 1 : 0) < 0)
                _exit(1);
        (void) TAKE_FD(slave); /* held until the end: a terminal that no process has open for a moment would report its end */
        return pid;
}

/* Reaps children until the command or the supervisor has ended. */
static int reap_until(pid_t command, int signal_fd, int control_fd) {
        for (;;) {
                struct pollfd fds[] = {
                        { .fd = signal_fd,  .events = POLLIN },
                        { .fd = control_fd, .events = POLLIN },
                };
                struct signalfd_siginfo info;
                int status, ended = -1;
                pid_t pid;

                while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                        if (pid == command)
                                ended = status;
                if (ended != -1)
                        return ended;
                if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
                        _exit(1);
                if (fds[1].revents)
                        _exit(1); /* the supervisor sends nothing more: this is its end. Our end ends all other processes. */
                (void) read(signal_fd, &info, sizeof(info));
        }
}

static void measure_disk(WireExited *ret) {
        struct statfs fs;

        if (statfs("/", &fs) < 0)
                return;
        ret->disk_bytes = (uint64_t) (fs.f_blocks - fs.f_bfree) * (uint64_t) fs.f_bsize;
        ret->disk_full = (uint64_t) fs.f_bavail * (uint64_t) fs.f_bsize < DISK_FULL_BYTES ||
                         (fs.f_files > 0 && fs.f_ffree == 0);
}

void init_main(const InitSpec *spec) {
        WireMessage m = { .type = WIRE_EXITED };
        int signal_fd;
        usec_t started;
        pid_t command;

        (void) prctl(PR_SET_NAME, "cove-init");
        signal_fd = block_signals();
        if (signal_fd < 0)
                init_fail(spec->control_fd, &(SpawnFailure) { .step = "signals", .error = errno });

        started = clock_usec();
        command = init_start(spec);

        /* The guest's output must end when the guest's processes do: hold no copy of it. */
        for (int i = 0; i < 3; i++)
                (void) close(i);

        m.exited.wait_status = reap_until(command, signal_fd, spec->control_fd);
        m.exited.wall_usec = clock_usec() - started;
        if (spec->measure_disk && (spec->always_measure || m.exited.wait_status != 0))
                measure_disk(&m.exited);

        /* Our end is the end of all: the kernel kills and reaps every process left in the namespace. (kill(-1)
         * would do it too, but it looks at every process of the host.) */
        (void) channel_send(spec->control_fd, &m, NULL, 0);
        _exit(0);
}
