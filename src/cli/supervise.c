#include "cli/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/title.h"
#include "cli/pump.h"
#include "cli/run-gate.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "confine/caps.h"
#include "confine/seccomp.h"
#include "init/init.h"
#include "jail/cgroup.h"

#define PIPE_SIZE          (1024 * 1024)
#define CPU_CHECK_MIN_USEC (5 * USEC_PER_MSEC)
#define CTRL_D             "\x04"
#define LAST_WORDS_USEC    (2 * USEC_PER_SEC)

enum { FD_CONTROL, FD_SIGNAL, FD_OUT, FD_ERR, FD_IN, FD_GATE, _FD_MAX };

typedef struct Supervisor {
        const RunOptions *o;
        Outcome *out;
        Jail jail;
        int signal_fd;
        int pipes[3]; /* our ends of the guest's stdout and stderr */
        int master;   /* of the guest's terminal */
        struct winsize window; /* at the start: no terminal can be asked from the inside */
        Pump pump_out, pump_err, pump_in;
        RunGate gate;
        usec_t started, deadline, next_cpu_check;
        usec_t give_up;         /* when to stop passing on the output of a sandbox that we have ended, if it is not read */
        bool alive;  /* PID 1 has not hung up yet */
        bool killed; /* by us, for out->reason */
        bool exited; /* PID 1 has reported the end of the command */
        int wait_status;
} Supervisor;

/* The inside: tells PID 1 what to do. Runs in the new process, with a copy of our memory. */
static void supervise_inside_main(const JailInside *inside, void *arg) {
        const Supervisor *s = arg;
        const RunOptions *o = s->o;
        GuardSet missing = inside->missing;
        unsigned seccomp_flags = 0;

        title_set("cove-init");

        /* Files made in a writable bind belong to a real user of the host. */
        for (size_t i = 0; i < o->spec.n_binds; i++)
                if (o->spec.binds[i].writable)
                        seccomp_flags |= SECCOMP_NOSUID;

        init_main(&(InitSpec) {
                .control_fd = inside->control_fd,
                .guards_missing = missing,
                .tty = o->tty,
                .window = s->window,
                .measure_disk = !(missing & GUARD_BIT(GUARD_DISK)),
                .always_measure = o->report != NULL,
                .command = {
                        .argv = o->command.items,
                        .envp = o->env.items,
                        .path = run_options_path(o),
                        .workdir = o->spec.workdir,
                        .uid = o->spec.uid,
                        .gid = o->spec.gid,
                        .single_id = inside->single_id,
                        .capabilities = o->spec.uid == 0 ? caps_guest_root() : 0,
                        .seccomp = !(missing & GUARD_BIT(GUARD_SECCOMP)),
                        .seccomp_flags = seccomp_flags,
                        .no_processes = o->rules.flags & RULES_NO_PROCESSES,
                        .stdio = { -EBADF, -EBADF, -EBADF },
                        .rlimits = {
                                .nofile = o->nofile,
                                .file_bytes = o->rules.file_size_max,
                                .data_bytes = missing & GUARD_BIT(GUARD_MEMORY) ? o->spec.limits.memory_bytes :
                                                                                  RLIMIT_VALUE_UNSET,
                                .nproc = missing & GUARD_BIT(GUARD_PIDS) ? o->spec.limits.pids + 1 : RLIMIT_VALUE_UNSET,
                                .cpu_seconds = (missing & GUARD_BIT(GUARD_CPU)) && o->cpu_time != USEC_INFINITY ?
                                                (o->cpu_time + USEC_PER_SEC - 1) / USEC_PER_SEC :
                                                RLIMIT_VALUE_UNSET,
                        },
                },
        });
}

static const char *supervise_signal_name(int number) {
        return number == SIGINT    ? "SIGINT"
               : number == SIGTERM ? "SIGTERM"
               : number == SIGHUP  ? "SIGHUP"
               : number == SIGQUIT ? "SIGQUIT"
                                   : "a signal";
}

static int supervise_open_signals(void) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };

        (void) signal(SIGPIPE, SIG_IGN); /* a reader that goes away concerns the guest, not us */
        (void) signal(SIGCHLD, SIG_DFL); /* if the caller ignores it, children would vanish before we wait for them */
        (void) signal(SIGTTOU, SIG_IGN); /* in the background the terminal may still be set back */
        (void) signal(SIGXFSZ, SIG_IGN); /* a limit on our file sizes is an error, not our end */
        return terminal_signals(signals, ELEMENTSOF(signals));
}

/* Output goes straight to the caller's descriptors unless it has to be counted or limited. */
static bool wants_pipes(const RunOptions *o) {
        return !o->tty && (o->report || o->output_max != UINT64_MAX);
}

static int supervise_open_pipe(int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        (void) fcntl(fds[0], F_SETPIPE_SZ, PIPE_SIZE);
        *ret_ours = fds[0];
        *ret_theirs = fds[1];
        return 0;
}

/* A terminal is usually open for both reading and writing: if output is limited, the guest must not write
 * through its stdin. */
static int readonly_stdin(void) {
        return isatty(STDIN_FILENO) ? open("/proc/self/fd/0", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -EBADF;
}

/* The sandbox waits until its gate runs, so that its traffic is judged from the first byte on. */
static int attend(const Network *network, int pidfd, void *arg, Error *reterr) {
        Supervisor *s = arg;

        return run_gate_start(&s->gate, &s->o->net, network->fds, pidfd, reterr);
}

static int supervise_start(Supervisor *s, Error *reterr) {
        JailSpec spec = s->o->spec;
        int stdio[3] = { 0, 1, 2 };
        _cleanup_close_ int theirs_out = -EBADF, theirs_err = -EBADF, theirs_in = -EBADF;
        int r;

        if (s->o->tty)
                stdio[0] = stdio[1] = stdio[2] = -EBADF;
        else if (wants_pipes(s->o)) {
                r = supervise_open_pipe(s->pipes + 1, &theirs_out);
                if (r >= 0)
                        r = supervise_open_pipe(s->pipes + 2, &theirs_err);
                if (r < 0)
                        return error_set(reterr, r, "cannot make a pipe: %m");
                theirs_in = readonly_stdin();
                stdio[0] = theirs_in >= 0 ? theirs_in : STDIN_FILENO;
                stdio[1] = theirs_out;
                stdio[2] = theirs_err;
                pump_init(&s->pump_out, s->pipes[1], STDOUT_FILENO);
                pump_init(&s->pump_err, s->pipes[2], STDERR_FILENO);
                s->out->counted = true;
        }
        spec.attend = attend;
        spec.first_core = (unsigned) getpid(); /* any core will do, and the next run gets another */
        return jail_start(&spec, stdio, supervise_inside_main, s, &s->jail, reterr);
}

/* Warns that a limit holds only for each process, and not for the whole sandbox. With --allow-missing the
 * user knows it. */
static void supervise_tell_weak(const Supervisor *s) {
        const RunOptions *o = s->o;
        GuardSet weak = s->jail.missing & ~o->spec.allow_missing;
        bool memory = o->memory_given && (weak & GUARD_BIT(GUARD_MEMORY));
        bool cpu_time = o->cpu_time != USEC_INFINITY && (weak & GUARD_BIT(GUARD_CPU));

        if (o->net.quiet || (!memory && !cpu_time) || !poll(&(struct pollfd) { .fd = STDERR_FILENO, .events = POLLOUT }, 1, 0))
                return;
        log_notice("%s%s%s %s for each process, and not for the sandbox as a whole: %s; to run without this notice: --quiet",
                        memory ? "--memory" : "", memory && cpu_time ? " and " : "", cpu_time ? "--cpu-time" : "", memory && cpu_time ? "hold" : "holds",
                        cgroup_detect() == CGROUP_V1
                                        ? "cgroup v1 cannot be delegated to a plain user. For the whole: sudo cove run …"
                                        : "no cgroup is delegated to this user. To get one: systemd-run --user --scope -p Delegate=yes cove run …");
}

static void supervise_stop(Supervisor *s, Reason reason, const char *format, ...) _printf_(3, 4);
static void supervise_stop(Supervisor *s, Reason reason, const char *format, ...) {
        va_list ap;

        if (s->killed || s->exited)
                return;
        s->killed = true;
        s->out->reason = reason;
        va_start(ap, format);
        (void) vsnprintf(s->out->message, sizeof(s->out->message), format, ap);
        va_end(ap);
        (void) jail_kill(&s->jail);
}

static void supervise_on_started(Supervisor *s, const WireMessage *m, int master) {
        s->out->started = true;
        log_debug("sandbox %s: ids from %u, memory %lluM, disk %lluM in %s, %u processes", s->o->spec.id, s->jail.id_base,
                        (unsigned long long) s->o->spec.limits.memory_bytes >> 20,
                        (unsigned long long) s->o->spec.limits.disk_bytes >> 20, disk_backing_name(s->jail.disk_backing),
                        s->o->spec.limits.pids);
        s->out->guards_missing |= m->started.guards_missing & GUARD_ALL;
        s->started = clock_usec();
        s->deadline = s->o->timeout == USEC_INFINITY ? USEC_INFINITY : s->started + s->o->timeout;
        s->next_cpu_check = s->o->cpu_time == USEC_INFINITY ? USEC_INFINITY : s->started;
        if (!s->o->tty || master < 0)
                return;

        s->master = master;
        (void) fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
        pump_init(&s->pump_out, master, STDOUT_FILENO);
        s->pump_out.copies = true;
        pump_init(&s->pump_in, STDIN_FILENO, master);
        s->pump_in.copies = true;
        (void) terminal_raw(STDIN_FILENO);
        s->out->counted = true;
}

/* Users of container tools name an image first. */
static bool supervise_is_image(const char *word) {
        static const char *const names[] = { "alpine", "centos", "debian", "fedora", "ubuntu" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(word, names[i]) == 0)
                        return true;
        return word[0] != '/' && word[0] != '.' && strchr(word, ':') && !strpbrk(word, " \t\n");
}

/* A failing step of the setup is our failure. A failing exec is the caller's: not found and not executable
 * have their own status. */
static void supervise_on_failed(Supervisor *s, const WireFailed *f) {
        Outcome *out = s->out;

        out->reason = REASON_INTERNAL;
        s->killed = true;
        if (strcmp(f->step, "exec") == 0 && (f->error == ENOENT || f->error == ENOTDIR)) {
                out->exit_status = EXIT_NOT_FOUND;
                (void) snprintf(out->message, sizeof(out->message), "command not found in the sandbox: '%s'%s", f->detail,
                                supervise_is_image(f->detail) ? " (an image? It belongs to a daemon: `cove template pull IMAGE`, then `cove create --template IMAGE`)" :
                                strpbrk(f->detail, " \t\n") ? " (that is all one name; a shell takes a line: sh -c LINE)" :
                                strchr(f->detail, '/')        ? " (or the interpreter it names)" : "");
        } else if (strcmp(f->step, "exec") == 0 && f->error != ENOMEM && f->error != E2BIG) {
                out->exit_status = EXIT_NOT_EXECUTABLE;
                (void) snprintf(out->message, sizeof(out->message), "cannot execute '%s': %s", f->detail,
                                strerror(f->error));
        } else {
                out->exit_status = EXIT_OWN_FAILURE;
                (void) snprintf(out->message, sizeof(out->message), "cannot set up the sandbox: %s: %s%s%s", f->step,
                                f->detail, f->detail[0] ? ": " : "", strerror(f->error));
        }
}

static void supervise_on_control(Supervisor *s) {
        _cleanup_close_ int fd = -EBADF;
        WireMessage m;
        int r = jail_receive(&s->jail, MSG_DONTWAIT, &m, &fd);

        if (r == -EAGAIN)
                return;
        if (r == 0) {
                s->alive = false;
                return;
        }
        if (r < 0) {
                supervise_stop(s, REASON_INTERNAL, "the sandbox's PID 1 sent invalid data");
                s->alive = false;
                return;
        }
        switch (m.type) {
        case WIRE_STARTED:
                if (!s->out->started)
                        supervise_on_started(s, &m, TAKE_FD(fd));
                break;
        case WIRE_FAILED: supervise_on_failed(s, &m.failed); break;
        case WIRE_EXITED:
                s->exited = true;
                s->alive = s->pump_out.open || s->pump_err.open; /* PID 1 sends no more; processes of the guest may still have output */
                s->wait_status = m.exited.wait_status;
                s->out->disk_full = m.exited.disk_full;
                s->out->disk_bytes = m.exited.disk_bytes;
                s->out->wall_usec = m.exited.wall_usec;
                break;
        case WIRE_GO:
        case _WIRE_TYPE_MAX:
        default: break;
        }
}

static void supervise_on_signal(Supervisor *s) {
        struct signalfd_siginfo info;

        while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
                if (info.ssi_signo == SIGWINCH) {
                        struct winsize size = terminal_size();
                        if (s->master >= 0)
                                (void) ioctl(s->master, TIOCSWINSZ, &size);
                        continue;
                }
                /* If the guest is gone already, only output that is not read is left to cancel. */
                s->pump_out.open = s->pump_err.open = false;
                s->out->exit_status = EXIT_SIGNAL_BASE + (int) info.ssi_signo;
                supervise_stop(s, REASON_CANCELLED, "cancelled by %s", supervise_signal_name((int) info.ssi_signo));
        }
}

static void on_gate(Supervisor *s) {
        run_gate_read(&s->gate);
        if (s->gate.events_fd < 0 && s->alive && !s->killed)
                log_warning("the gate has ended: nothing gets out of the sandbox any more");
}

static uint64_t output_left(const Supervisor *s) {
        uint64_t used = s->pump_out.bytes + s->pump_err.bytes;
        return s->o->output_max > used ? s->o->output_max - used : 0;
}

static void on_output(Supervisor *s, Pump *p, short revents, bool *truncated) {
        int r = pump_step(p, revents, output_left(s));

        if (r == 1) {
                *truncated = true;
                p->open = false;
                supervise_stop(s, REASON_OUTPUT_LIMIT, "more output than --output-limit");
        } else if (r < 0)
                supervise_stop(s, REASON_INTERNAL, "cannot pass on the output: %s", strerror(-r));
        /* If the reader has closed its end, the guest must see a closed pipe. */
        if (p->broken)
                for (int i = 1; i < 3; i++)
                        if (p->from == s->pipes[i])
                                s->pipes[i] = fd_close(s->pipes[i]);
}

static void supervise_on_input(Supervisor *s, short revents) {
        (void) pump_step(&s->pump_in, revents, UINT64_MAX);
        if (!s->pump_in.open && s->master >= 0 && !s->pump_in.broken) {
                (void) write(s->master, CTRL_D, 1); /* end of input, as a terminal sends it */
                s->pump_in.broken = true;
        }
}

/* The next check is due when all cores together could have used up the rest. */
static void check_cpu_time(Supervisor *s, usec_t now) {
        usec_t used, left;

        if (now < s->next_cpu_check)
                return;
        if (cgroup_cpu_usec(&s->jail.cgroup, &used) < 0) {
                s->next_cpu_check = USEC_INFINITY;
                if (!(s->jail.missing & GUARD_BIT(GUARD_CPU))) /* otherwise rlimits enforce it */
                        supervise_stop(s, REASON_INTERNAL, "cannot read the CPU time, which --cpu-time limits");
                return;
        }
        if (used >= s->o->cpu_time) {
                supervise_stop(s, REASON_CPU_TIME, "used up its CPU time");
                s->next_cpu_check = USEC_INFINITY;
                return;
        }
        left = (s->o->cpu_time - used) / (usec_t) MAX_OF(get_nprocs(), 1);
        s->next_cpu_check = now + MAX_OF(left, CPU_CHECK_MIN_USEC);
}

/* Output of a program is passed on for as long as it takes. But a limit that we enforce must not wait for a
 * reader that has stopped reading. */
static void check_reader(Supervisor *s, usec_t now) {
        if (s->alive || !s->killed)
                return;
        if (s->give_up == USEC_INFINITY)
                s->give_up = now + LAST_WORDS_USEC;
        else if (now >= s->give_up) {
                s->out->stdout_lost |= s->pump_out.open;
                s->out->stderr_lost |= s->pump_err.open;
                s->pump_out.open = s->pump_err.open = false;
        }
}

static void supervise_check_time(Supervisor *s) {
        usec_t now = clock_usec();

        check_reader(s, now);

        if (now >= s->deadline) {
                supervise_stop(s, REASON_TIMEOUT, "timed out");
                s->deadline = USEC_INFINITY;
        }
        check_cpu_time(s, now);
}

static int supervise_poll_timeout(const Supervisor *s) {
        usec_t next = MIN_OF(s->deadline, s->next_cpu_check), now;

        next = MIN_OF(next, s->give_up);
        if (!s->alive && (pump_wants_input(&s->pump_out) || pump_wants_input(&s->pump_err)))
                return 0; /* no process is left to write: only what is there now comes */
        if (next == USEC_INFINITY)
                return -1;
        now = clock_usec();
        if (next <= now)
                return 0;
        return (int) MIN_OF((next - now + USEC_PER_MSEC - 1) / USEC_PER_MSEC, (usec_t) 3600000);
}

static bool supervise_is_busy(const Supervisor *s) {
        return s->alive || s->pump_out.open || s->pump_err.open;
}

static void end_without_input(Pump *p, short revents) {
        if (pump_wants_input(p) && revents == 0)
                p->open = false;
}

static void supervise_loop(Supervisor *s) {
        while (supervise_is_busy(s)) {
                struct pollfd fds[_FD_MAX] = {
                        [FD_CONTROL] = { .fd = s->alive ? s->jail.control_fd : -1, .events = POLLIN },
                        [FD_SIGNAL] = { .fd = s->signal_fd, .events = POLLIN },
                        [FD_GATE] = { .fd = s->gate.events_fd, .events = POLLIN },
                };

                bool was_alive = s->alive;

                pump_poll(&s->pump_out, fds + FD_OUT);
                pump_poll(&s->pump_err, fds + FD_ERR);
                pump_poll(&s->pump_in, fds + FD_IN);
                if (poll(fds, _FD_MAX, supervise_poll_timeout(s)) < 0 && errno != EINTR)
                        supervise_stop(s, REASON_INTERNAL, "poll: %s", strerror(errno));

                if (fds[FD_CONTROL].revents)
                        supervise_on_control(s);
                if (fds[FD_SIGNAL].revents)
                        supervise_on_signal(s);
                if (fds[FD_GATE].revents)
                        on_gate(s);
                on_output(s, &s->pump_out, fds[FD_OUT].revents, &s->out->stdout_truncated);
                on_output(s, &s->pump_err, fds[FD_ERR].revents, &s->out->stderr_truncated);
                if (!was_alive) { /* a copy of the pipe may be open elsewhere, but its writers are dead */
                        end_without_input(&s->pump_out, fds[FD_OUT].revents);
                        end_without_input(&s->pump_err, fds[FD_ERR].revents);
                }
                if (fds[FD_IN].revents)
                        supervise_on_input(s, fds[FD_IN].revents);
                supervise_check_time(s);
        }
}

/* Usage is needed for the report, and to distinguish kills by the kernel from others. */
static bool wants_usage(const Supervisor *s) {
        bool clean = s->exited && WIFEXITED(s->wait_status) &&
                     WEXITSTATUS(s->wait_status) != EXIT_SIGNAL_BASE + SIGKILL;

        return s->o->report || !clean;
}

static void supervise_finish(Supervisor *s) {
        Outcome *out = s->out;
        int r;

        terminal_restore();
        if (out->started && !s->exited)
                out->wall_usec = clock_usec() - s->started;
        r = jail_finish(&s->jail, wants_usage(s) ? &out->usage : NULL);
        out->guards_missing |= s->jail.missing;
        out->guards = GUARD_ALL & ~out->guards_missing;
        out->disk_backing = s->jail.disk_backing;
        out->stdout_bytes = s->pump_out.bytes;
        out->stderr_bytes = s->pump_err.bytes;
        outcome_conclude(out, &(Ending) {
                .exited = s->exited,
                .wait_status = s->wait_status,
                .killed = s->killed,
                .cpu_time = s->o->cpu_time,
        });
        out->cleanup = r;
}

void supervise(const RunOptions *o, Outcome *ret) {
        Supervisor s = {
                .o = o,
                .out = ret,
                .signal_fd = -EBADF,
                .pipes = { -EBADF, -EBADF, -EBADF },
                .master = -EBADF,
                .window = terminal_size(),
                .deadline = o->timeout == USEC_INFINITY ? USEC_INFINITY : clock_usec() + o->timeout,
                .next_cpu_check = USEC_INFINITY,
                .give_up = USEC_INFINITY,
                .alive = true,
                .pump_out = PUMP_EMPTY,
                .pump_err = PUMP_EMPTY,
                .pump_in = PUMP_EMPTY,
                .gate = RUN_GATE_EMPTY,
        };
        Error error = { 0 };
        int r;

        *ret = (Outcome) { .reason = REASON_INTERNAL, .exit_code = -1 };
        s.signal_fd = supervise_open_signals();
        r = s.signal_fd < 0 ? error_set(&error, -errno, "signalfd: %m") : supervise_start(&s, &error);
        if (r < 0) {
                ret->exit_status = EXIT_OWN_FAILURE;
                (void) snprintf(ret->message, sizeof(ret->message), "%s", error.text);
        } else {
                supervise_tell_weak(&s);
                supervise_loop(&s);
                supervise_finish(&s);
        }
        run_gate_end(&s.gate);

        pump_done(&s.pump_out);
        pump_done(&s.pump_err);
        pump_done(&s.pump_in);
        for (int i = 0; i < 3; i++)
                (void) fd_close(s.pipes[i]);
        (void) fd_close(s.master);
        (void) fd_close(s.signal_fd);
}
