#include "cli/run-gate.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/program.h"
#include "base/proxy.h"
#include "base/registries.h"
#include "cli/event-text.h"
#include "jail/net.h"

#define PROGRAM        "cove-gate"
#define NOBODY         65534
#define START_USEC     (10 * USEC_PER_SEC)
#define END_USEC       (2 * USEC_PER_SEC)
#define ENDING_USEC    500
#define COMPLAINT_SIZE 4096
#define WORDS_MAX      320
#define VARIABLES_MAX  3
#define VARIABLE_MAX   8192

/* The numbers at which the gate finds its descriptors. */
enum { PLACE_POLICY = 3, PLACE_SOCKETS, PLACE_PID = PLACE_SOCKETS + NET_SOCKETS_MAX, PLACE_EVENTS, _PLACE_END };

typedef struct Launch {
        int program_fd;
        int descriptors[_PLACE_END]; /* by place; 0–2 are the standard ones */
        Strv words, environment;
} Launch;

static int push_list(Strv *words, const char *option, const Strv *list) {
        int r = 0;

        for (size_t i = 0; i < list->n && r >= 0; i++)
                r = strv_push_all(words, (const char *const[]) { option, list->items[i], NULL });
        return r;
}

static int push_variable(Strv *environment, const char *name, const char *value) {
        char text[VARIABLE_MAX];
        int n = value ? snprintf(text, sizeof(text), "%s=%s", name, value) : 0;
        int r = n > 0 && (size_t) n < sizeof(text) ? strv_push(environment, text) : 0;

        explicit_bzero(text, sizeof(text));
        return r;
}

static int push_proxy(Strv *environment, const char *name, const char *url) {
        char shown[PROXY_SHOWN_MAX];
        ProxyServer server = { 0 };

        if (!url)
                return 0;
        if (proxy_parse(url, &server) < 0) {
                proxy_shown(url, shown);
                log_warning(REGISTRIES_PROXY_UNUSABLE, shown);
                return 0;
        }
        proxy_done(&server);
        return push_variable(environment, name, url);
}

/* Passes on the registries that this machine's own clients use, and their proxies. */
static int push_packages(Launch *l) {
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT;
        _cleanup_close_ int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = root < 0 ? -errno : registries_read(root, environ, &found);

        if (r >= 0)
                r = push_list(&l->words, "--packages", &found.hosts);
        if (r >= 0)
                r = push_proxy(&l->environment, "http_proxy", found.http_proxy);
        if (r >= 0)
                r = push_proxy(&l->environment, "https_proxy", found.https_proxy);
        return r < 0 ? r : push_variable(&l->environment, "no_proxy", found.no_proxy);
}

static int make_words(Launch *l, const RunNet *net) {
        Strv *words = &l->words;
        char sockets[64], number[3][16];
        int r = 0;

        (void) snprintf(sockets, sizeof(sockets), "%d,%d,%d", PLACE_SOCKETS, PLACE_SOCKETS + 1, PLACE_SOCKETS + 2);
        (void) snprintf(number[0], sizeof(number[0]), "%d", PLACE_POLICY);
        (void) snprintf(number[1], sizeof(number[1]), "%d", PLACE_PID);
        (void) snprintf(number[2], sizeof(number[2]), "%d", PLACE_EVENTS);
        const char *const first[] = {
                PROGRAM, "--single", "--policy-fd", number[0], "--sockets-fd", sockets, "--pid-fd", number[1], "--events-fd", number[2],
        };

        for (size_t i = 0; i < ELEMENTSOF(first) && r >= 0; i++)
                r = strv_push(words, first[i]);
        if (r >= 0)
                r = push_list(words, "--reachable", &net->reachable);
        if (r >= 0 && run_net_names_packages(net))
                r = push_packages(l);
        return r < 0 ? r : push_list(words, "--dns", &net->dns);
}

/* The gate's stderr is a file, from which we report one line. The file cannot grow, so endless complaints
 * are cut. */
static int open_complaints(void) {
        _cleanup_close_ int fd = memfd_create("complaints", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (fd < 0 || ftruncate(fd, COMPLAINT_SIZE) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static void read_complaints(int fd, char ret[static COMPLAINT_SIZE + 1]) {
        static const char prefix[] = "cove: ";
        ssize_t n = pread(fd, ret, COMPLAINT_SIZE, 0);

        ret[n < 0 ? 0 : n] = '\0';
        ret[strcspn(ret, "\n")] = '\0';
        if (strncmp(ret, prefix, strlen(prefix)) == 0)
                memmove(ret, ret + strlen(prefix), strlen(ret + strlen(prefix)) + 1);
}

/* If root starts the gate, it runs as `nobody`, because it reads what strangers send. */
static int drop_root(void) {
        if (geteuid() != 0)
                return 0;
        if (setgroups(0, NULL) < 0 || syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 ||
                        syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0)
                return -errno;
        return prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : 0;
}

/* Moves the descriptors out of the way first, then into place. */
static int place_descriptors(Launch *l) {
        for (size_t i = 0; i < _PLACE_END; i++) {
                l->descriptors[i] = fcntl(l->descriptors[i], F_DUPFD_CLOEXEC, 2 * _PLACE_END);
                if (l->descriptors[i] < 0)
                        return -errno;
        }
        l->program_fd = fcntl(l->program_fd, F_DUPFD_CLOEXEC, 2 * _PLACE_END);
        for (int i = 0; i < _PLACE_END; i++)
                if (l->program_fd < 0 || dup3(l->descriptors[i], i, 0) < 0)
                        return -errno;
        return kernel_close_range(_PLACE_END, ~0u, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : 0; /* also descriptors that our caller left open */
}

/* Runs in a copy of the supervisor, with everything that the supervisor has open. The gate inherits only the
 * descriptors in the list of places; the rest is closed at exec. */
static _noreturn_ void launch_main(Launch *l) {
        static char *const no_environment[] = { NULL };
        char *const *environment = l->environment.items ? l->environment.items : no_environment;
        sigset_t none;
        int r;

        (void) setsid(); /* Ctrl-C must reach only the supervisor */
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        r = place_descriptors(l);
        if (r >= 0)
                r = drop_root();
        if (r >= 0) {
                (void) syscall(SYS_execveat, l->program_fd, "", l->words.items, environment, AT_EMPTY_PATH);
                r = -errno;
        }
        dprintf(STDERR_FILENO, "cannot start " PROGRAM ": %s\n", strerror(-r));
        _exit(1);
}

static int run_gate_open_program(Error *reterr) {
        _cleanup_free_ char *path = NULL;
        int r = program_path(PROGRAM, &path), fd;

        if (r < 0)
                return error_set(reterr, r, "cannot find " PROGRAM ", which --net egress and open need; it belongs beside cove, or where it was installed");
        fd = open(path, O_PATH | O_CLOEXEC);
        return fd < 0 ? error_set(reterr, -errno, "'%s': %m", path) : fd;
}

static int launch(RunGate *g, Launch *l, const RunNet *net, const int *sockets, int pidfd, int complaints_fd, Error *reterr) {
        _cleanup_close_ int program = run_gate_open_program(reterr), policy = -EBADF, null = open("/dev/null", O_RDWR | O_CLOEXEC), theirs = -EBADF;
        int pipes[2], r;

        if (program < 0)
                return program;
        r = run_net_policy(net, &policy);
        if (r >= 0)
                r = make_words(l, net);
        if (r >= 0 && (null < 0 || pipe2(pipes, O_CLOEXEC) < 0))
                r = -errno;
        if (r < 0)
                return error_set(reterr, r, "cannot prepare the gate: %m");
        g->events_fd = pipes[0];
        theirs = pipes[1];
        l->program_fd = program;
        l->descriptors[0] = l->descriptors[1] = null;
        l->descriptors[2] = complaints_fd;
        l->descriptors[PLACE_POLICY] = policy;
        memcpy(l->descriptors + PLACE_SOCKETS, sockets, NET_SOCKETS_MAX * sizeof(int));
        l->descriptors[PLACE_PID] = pidfd;
        l->descriptors[PLACE_EVENTS] = theirs;
        g->pid = fork();
        if (g->pid == 0)
                launch_main(l);
        if (g->pid < 0) {
                g->pid = 0;
                return error_set(reterr, -errno, "cannot fork: %m");
        }
        return 0;
}

/* Events are lines of JSON. Only denials and limits are shown to the user. */
static void run_gate_on_line(RunGate *g, const char *line) {
        char kind[32] = "", text[1024] = "";

        if (!g->done) {
                g->done = strstr(line, "\"done\"") != NULL;
                return;
        }
        if (event_text(line, "event", kind, sizeof(kind)) < 0 || event_text(line, "text", text, sizeof(text)) < 0)
                return;
        if (!g->quiet && (strcmp(kind, "denied") == 0 || strcmp(kind, "limit") == 0))
                log_notice("%s: %s", kind, text);
        else
                log_debug("%s: %s", kind, text);
}

static void on_bytes(RunGate *g) {
        char *end;

        while ((end = memchr(g->line, '\n', g->size))) {
                size_t used = (size_t) (end - g->line) + 1;

                *end = '\0';
                run_gate_on_line(g, g->line);
                memmove(g->line, g->line + used, g->size - used);
                g->size -= used;
        }
        if (g->size == sizeof(g->line)) /* longer than any event */
                g->size = 0;
}

void run_gate_read(RunGate *g) {
        ssize_t n = read(g->events_fd, g->line + g->size, sizeof(g->line) - g->size);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return;
        if (n <= 0) {
                g->events_fd = fd_close(g->events_fd);
                return;
        }
        g->size += (size_t) n;
        on_bytes(g);
}

static void read_until(RunGate *g, usec_t deadline, bool stop_when_done) {
        while (g->events_fd >= 0 && !(stop_when_done && g->done)) {
                usec_t now = clock_usec();
                struct pollfd fd = { .fd = g->events_fd, .events = POLLIN };

                if (now >= deadline)
                        return;
                if (poll(&fd, 1, (int) ((deadline - now) / USEC_PER_MSEC) + 1) > 0)
                        run_gate_read(g);
        }
}

/* Gives the gate a moment to end by itself: its last events may tell why. */
static void run_gate_await_end(RunGate *g, usec_t deadline) {
        int r;

        while ((r = waitpid(g->pid, NULL, WNOHANG)) == 0 && clock_usec() < deadline)
                (void) usleep(ENDING_USEC);
        if (r > 0) {
                g->pid = 0;
                return;
        }
        (void) kill(g->pid, SIGKILL);
        while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        g->pid = 0;
}

int run_gate_start(RunGate *g, const RunNet *net, const int *sockets, int pidfd, Error *reterr) {
        _cleanup_close_ int complaints = open_complaints();
        char text[COMPLAINT_SIZE + 1];
        Launch l = { .words = STRV_INIT(WORDS_MAX), .environment = STRV_INIT(VARIABLES_MAX) };
        int r;

        if (complaints < 0)
                return error_set(reterr, complaints, "cannot make a file in memory: %m");
        g->quiet = net->quiet;
        r = launch(g, &l, net, sockets, pidfd, complaints, reterr);
        strv_done(&l.words);
        for (size_t i = 0; i < l.environment.n; i++)
                explicit_bzero(l.environment.items[i], strlen(l.environment.items[i]));
        strv_done(&l.environment);
        if (r >= 0)
                read_until(g, clock_usec() + START_USEC, /* stop_when_done= */ true);
        if (r >= 0 && !g->done) {
                run_gate_end(g);
                read_complaints(complaints, text);
                r = error_set(reterr, -EPROTO, "%.450s%s", text[0] ? text : "the gate does not start",
                                strstr(text, "requireTls") ? " (--plain-http)" : "");
        }
        if (r < 0)
                run_gate_end(g);
        return r;
}

void run_gate_end(RunGate *g) {
        if (g->pid == 0)
                return;
        read_until(g, clock_usec() + END_USEC, /* stop_when_done= */ false);
        run_gate_await_end(g, clock_usec() + END_USEC);
        g->events_fd = fd_close(g->events_fd);
}
