#include "client/execution/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "cli/terminal.h"
#include "client/execution/sink.h"
#include "client/execution/verdict.h"
#include "client/verbs.h"

#define INPUT_PIECE (1 << 20)
#define GRACE       (3 * USEC_PER_SEC) /* between passing a signal on and leaving */

enum { ON_SIGNALS, ON_INPUT, ON_OUT, ON_ERR, ON_LINK, _ON_MAX = ON_LINK + LINK_POLLS };

typedef struct Loop {
        const Session *session;
        Link *link;
        int signal_fd;
        Sink sinks[2];
        int sink_error;
        bool sized; /* a terminal that existed before this session has been told our size */
        bool input_over;
        bool input_is_file;
        char *input;
        unsigned n_interrupts;
        int ending;      /* the signal to leave with, which has been passed on */
        usec_t leave_at; /* when to leave then */
        int leaving;     /* the status to leave with; -1: stay */
        bool left;       /* by the key */
} Loop;

static int session_take_output(void *userdata, unsigned stream, const void *data, size_t size) {
        Loop *l = userdata;

        l->sink_error = sink_put(l->sinks + stream, data, size);
        return l->sink_error;
}

static bool session_is_full(void *userdata) {
        const Loop *l = userdata;
        return sink_waiting(l->sinks) > SINK_FULL || sink_waiting(l->sinks + 1) > SINK_FULL;
}

/* Ctrl-C is passed to the command: once to ask, twice to insist, and the third time leaves it. */
static void on_interrupt(Loop *l) {
        l->n_interrupts++;
        if (!l->link->execution || l->n_interrupts > 2 || l->session->role == SESSION_WATCHES)
                l->leaving = EXIT_SIGNAL_BASE + SIGINT;
        else
                (void) l->link->ops->signal(l->link, l->n_interrupts == 1 ? SIGINT : SIGKILL);
}

static void on_quit(Loop *l) {
        if (l->session->role == SESSION_WATCHES || !l->link->execution)
                l->leaving = EXIT_SIGNAL_BASE + SIGQUIT;
        else
                (void) l->link->ops->signal(l->link, SIGQUIT);
}

static void session_on_end(Loop *l, int signal) {
        if (l->session->role != SESSION_OWNS || !l->link->execution || l->ending) {
                l->leaving = EXIT_SIGNAL_BASE + signal;
                return;
        }
        l->ending = signal;
        l->leave_at = clock_usec() + GRACE;
        (void) l->link->ops->signal(l->link, signal);
}

static void pass_size(Loop *l) {
        struct winsize size = terminal_size();

        if (l->session->terminal)
                (void) l->link->ops->resize(l->link, size.ws_col, size.ws_row);
}

static void session_step_signals(Loop *l) {
        struct signalfd_siginfo info;

        while (l->leaving < 0 && read(l->signal_fd, &info, sizeof(info)) == sizeof(info))
                switch (info.ssi_signo) {
                case SIGINT: on_interrupt(l); break;
                case SIGQUIT: on_quit(l); break;
                case SIGWINCH: pass_size(l); break;
                default: session_on_end(l, (int) info.ssi_signo);
                }
}

/* Reads all available input, up to a piece: otherwise many small reads would become as many requests. */
static ssize_t read_input(const Loop *l) {
        size_t size = 0;

        for (;;) {
                ssize_t n = read(STDIN_FILENO, l->input + size, INPUT_PIECE - size);
                int more = 0;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return size > 0 ? (ssize_t) size : n < 0 ? -errno : 0;
                size += (size_t) n;
                if (size == INPUT_PIECE || (!l->input_is_file && (ioctl(STDIN_FILENO, FIONREAD, &more) < 0 || more == 0)))
                        return (ssize_t) size;
        }
}

static void session_step_input(Loop *l) {
        const char *key;
        ssize_t n = read_input(l);

        if (n < 0 && (n == -EAGAIN || n == -EIO)) {
                if (n == -EIO) /* our terminal is gone */
                        l->input_over = true;
                return;
        }
        if (n <= 0) {
                l->input_over = true;
                (void) l->link->ops->input(l->link, NULL, 0);
                return;
        }
        key = l->session->detach_key != SESSION_KEY_NONE ? memchr(l->input, l->session->detach_key, (size_t) n) : NULL;
        if (key)
                n = key - l->input;
        if (n > 0)
                (void) l->link->ops->input(l->link, l->input, (size_t) n);
        if (key) {
                l->left = true;
                l->leaving = 0;
        }
}

static bool session_wants_input(const Loop *l) {
        return l->session->input && !l->input_over && l->link->ops->takes_input(l->link);
}

static int wait_timeout(const Loop *l) {
        int timeout = l->link->ops->timeout_msec(l->link);

        if (l->leave_at > 0) {
                usec_t now = clock_usec();
                int left = now >= l->leave_at ? 0 : (int) ((l->leave_at - now) / USEC_PER_MSEC) + 1;

                timeout = timeout < 0 ? left : MIN_OF(timeout, left);
        }
        return timeout;
}

static int wait_for_something(Loop *l, struct pollfd polls[static _ON_MAX]) {
        if (!l->sized && l->session->role == SESSION_JOINS && l->link->ops->takes_input(l->link)) {
                l->sized = true;
                pass_size(l);
        }
        polls[ON_SIGNALS] = (struct pollfd) { .fd = l->signal_fd, .events = POLLIN };
        polls[ON_INPUT] = (struct pollfd) { .fd = session_wants_input(l) ? STDIN_FILENO : -1, .events = POLLIN };
        sink_poll(l->sinks, polls + ON_OUT);
        sink_poll(l->sinks + 1, polls + ON_ERR);
        l->link->ops->poll(l->link, polls + ON_LINK);
        return poll(polls, _ON_MAX, wait_timeout(l)) < 0 && errno != EINTR ? -errno : 0;
}

/* 1: the command has ended, 0: continue. */
static int session_step(Loop *l, Error *reterr) {
        struct pollfd polls[_ON_MAX] = { 0 };
        int r = wait_for_something(l, polls);

        if (r < 0)
                return error_set(reterr, r, "cannot wait: %m");
        if (polls[ON_SIGNALS].revents)
                session_step_signals(l);
        if (l->leave_at > 0 && clock_usec() >= l->leave_at)
                l->leaving = EXIT_SIGNAL_BASE + l->ending;
        for (int i = 0; i < 2 && r >= 0; i++)
                r = l->sink_error = sink_step(l->sinks + i, polls[ON_OUT + i].revents);
        if (r < 0)
                return r;
        if (polls[ON_INPUT].revents && l->leaving < 0)
                session_step_input(l);
        return l->link->ops->step(l->link, polls + ON_LINK, reterr);
}

/* The command's output could not be written. */
static int tell_sink(int error) {
        if (error == -EPIPE)
                return EXIT_SIGPIPE;
        errno = -error;
        log_error("cannot write the command's output: %m");
        return EXIT_OWN_FAILURE;
}

static int tell_lost(const Loop *l, const Error *error) {
        if (l->link->gone) {
                log_error("sandbox %s ended while the command ran", l->link->sandbox);
                return EXIT_SIGNAL_BASE + SIGKILL;
        }
        if (!l->link->refused)
                log_error("%s", error->text);
        return EXIT_OWN_FAILURE;
}

static int client_session_run(Loop *l) {
        Error error = { 0 };
        int r = 0;

        while (r == 0 && l->leaving < 0)
                r = session_step(l, &error);
        if (r >= 0 || l->sink_error == 0)
                for (int i = 0; i < 2 && l->sink_error == 0; i++)
                        l->sink_error = sink_flush(l->sinks + i);
        terminal_restore();
        if (l->sink_error < 0)
                return tell_sink(l->sink_error);
        if (r < 0)
                return tell_lost(l, &error);
        if (l->leaving >= 0)
                return l->leaving;
        return l->link->end && l->session->role != SESSION_WATCHES ? verdict_tell(l->link->end) : 0;
}

int session_run(const Session *s, Link *taken) {
        static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH };
        _cleanup_link_ Link *link = taken;
        Loop l = { .session = s, .link = link, .leaving = -1 };
        _cleanup_close_ int signal_fd = terminal_signals(signals, ELEMENTSOF(signals));
        _cleanup_free_ char *input = malloc(INPUT_PIECE);
        struct stat st = { 0 };
        int status;

        if (!link)
                return verb_refuse("out of memory");
        if (signal_fd < 0 || !input)
                return verb_refuse("cannot get ready for a command: %m");
        l.signal_fd = signal_fd;
        l.input = input;
        l.input_is_file = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
        link->handlers = (LinkHandlers) { .output = session_take_output, .is_full = session_is_full, .userdata = &l };
        sink_init(l.sinks, STDOUT_FILENO);
        sink_init(l.sinks + 1, STDERR_FILENO);
        if (s->terminal && s->input)
                (void) terminal_raw(STDIN_FILENO);
        status = client_session_run(&l);
        sink_done(l.sinks);
        sink_done(l.sinks + 1);
        if (l.left && link->execution)
                log_error("command %s goes on; `cove attach %s %s` follows it again", link->execution,
                                link->sandbox, link->execution);
        return status;
}

OPTION_KIND(session_key) {
        int *key = option_field(o, target);

        if (strcmp(value, "none") == 0) {
                *key = SESSION_KEY_NONE;
                return 0;
        }
        if (strlen(value) != 2 || value[0] != '^' || value[1] < '@' || value[1] > '~')
                return error_set(reterr, -EINVAL,
                                "--detach-key: '%s' is no key with Ctrl, as in ^P, and not none", value);
        *key = value[1] & 0x1f;
        return 0;
}
