/* cove-gate: the only way out of sandboxes that have one. gate.h explains how.
 *
 *      cove-gate --socket PATH                              for coved, which connects (control.h), and may die and connect again
 *      cove-gate --fd N                                     likewise, with a socket that already listens, or is connected
 *      cove-gate --single --policy-fd N --sockets-fd A,B,C --pid-fd N [--events-fd N]      for `cove run`
 *
 * Runs as the user who starts it, and needs no rights of that user: confine.h lists what is left. */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/program.h"
#include "base/strv.h"
#include "config.h"
#include "gate/confine.h"
#include "gate/gate.h"
#include "gate/relay/pipe.h"
#include "gate/server.h"
#include "gate/share.h"
#include "gate/single.h"

#define EXIT_OWN_FAILURE 125
#define LIST_MAX         64

typedef struct Options {
        const char *socket_path;
        int fd;
        bool single;
        SingleConfig config;
        Strv dns, reachable, packages;
} Options;

static void gate_print_help(void) {
        printf("Usage: cove-gate --socket PATH\n"
               "       cove-gate --fd N\n"
               "       cove-gate --single --policy-fd N --sockets-fd TCP,DNS,UDP --pid-fd N\n"
               "\n"
               "The one way out of sandboxes that have one. coved and cove start it.\n"
               "\n"
               "  --socket PATH        listen for coved there\n"
               "  --fd N               listen for coved on this socket, or speak to coved on it\n"
               "  --single             serve one sandbox, and end with it\n"
               "    --policy-fd N      its network policy, as JSON\n"
               "    --sockets-fd A,B,C sockets that were made in it: TCP listener, DNS, UDP\n"
               "    --pid-fd N         pidfd of its PID 1\n"
               "    --events-fd N      tell what was denied, in lines of JSON\n"
               "    --dns ADDRESS,…    name servers; the default is the host's\n"
               "    --reachable CIDR,… special addresses that policies may name\n"
               "    --packages RULE,…  registries that \"packages\" stands for, beside those that it knows;\n"
               "                       the variables https_proxy, http_proxy and no_proxy are for them\n"
               "  -v, --verbose        say more\n"
               "      --version        print the version\n"
               "  -h, --help           print this\n");
}

static int parse_fd(const char *name, const char *text, int *ret, Error *reterr) {
        uint64_t n;

        if (parse_uint64(text, 0, 1 << 20, &n) < 0)
                return error_set(reterr, -EINVAL, "%s: '%.40s' is no descriptor", name, text);
        *ret = (int) n;
        return 0;
}

static int parse_list(const char *name, const char *text, Strv *ret, Error *reterr) {
        _cleanup_free_ char *copy = strdup(text);
        char *rest = copy, *item;
        int r = copy ? 0 : -ENOMEM;

        while (r >= 0 && (item = strsep(&rest, ",")))
                r = strv_push(ret, item);
        return r < 0 ? error_set(reterr, r, "%s: %m", name) : 0;
}

static int parse_sockets(const char *text, int ret[static 3], Error *reterr) {
        Strv items = STRV_INIT(LIST_MAX);
        int r = parse_list("--sockets-fd", text, &items, reterr);

        if (r >= 0 && items.n != 3)
                r = error_set(reterr, -EINVAL, "--sockets-fd: '%.40s' are not three descriptors", text);
        for (size_t i = 0; r >= 0 && i < 3; i++)
                r = parse_fd("--sockets-fd", items.items[i], ret + i, reterr);
        strv_done(&items);
        return r;
}

enum { OPTION_SOCKET = 0x100, OPTION_FD, OPTION_SINGLE, OPTION_POLICY, OPTION_SOCKETS, OPTION_PID, OPTION_EVENTS, OPTION_DNS, OPTION_REACHABLE,
        OPTION_PACKAGES, OPTION_VERSION };

static const struct option long_options[] = {
        { "socket",     required_argument, NULL, OPTION_SOCKET    },
        { "fd",         required_argument, NULL, OPTION_FD        },
        { "single",     no_argument,       NULL, OPTION_SINGLE    },
        { "policy-fd",  required_argument, NULL, OPTION_POLICY    },
        { "sockets-fd", required_argument, NULL, OPTION_SOCKETS   },
        { "pid-fd",     required_argument, NULL, OPTION_PID       },
        { "events-fd",  required_argument, NULL, OPTION_EVENTS    },
        { "dns",        required_argument, NULL, OPTION_DNS       },
        { "reachable",  required_argument, NULL, OPTION_REACHABLE },
        { "packages",   required_argument, NULL, OPTION_PACKAGES  },
        { "verbose",    no_argument,       NULL, 'v'              },
        { "version",    no_argument,       NULL, OPTION_VERSION   },
        { "help",       no_argument,       NULL, 'h'              },
        { 0 },
};

/* Returns 1 if the option only prints, and has printed. */
static int gate_take_option(Options *o, int option, Error *reterr) {
        switch (option) {
        case OPTION_SOCKET:
                o->socket_path = optarg;
                return 0;
        case OPTION_FD:
                return parse_fd("--fd", optarg, &o->fd, reterr);
        case OPTION_SINGLE:
                o->single = true;
                return 0;
        case OPTION_POLICY:
                return parse_fd("--policy-fd", optarg, &o->config.policy_fd, reterr);
        case OPTION_SOCKETS:
                return parse_sockets(optarg, o->config.sockets, reterr);
        case OPTION_PID:
                return parse_fd("--pid-fd", optarg, &o->config.pidfd, reterr);
        case OPTION_EVENTS:
                return parse_fd("--events-fd", optarg, &o->config.events_fd, reterr);
        case OPTION_DNS:
                return parse_list("--dns", optarg, &o->dns, reterr);
        case OPTION_REACHABLE:
                return parse_list("--reachable", optarg, &o->reachable, reterr);
        case OPTION_PACKAGES:
                return parse_list("--packages", optarg, &o->packages, reterr);
        case 'v':
                log_verbosity = 1;
                return 0;
        case OPTION_VERSION:
                printf("cove-gate %s\n", COVE_VERSION);
                return 1;
        case 'h':
                gate_print_help();
                return 1;
        default:
                return error_set(reterr, -EINVAL, "see cove-gate --help");
        }
}

static int check_options(const Options *o, Error *reterr) {
        if ((o->socket_path != NULL) + (o->fd >= 0) + o->single != 1)
                return error_set(reterr, -EINVAL, "one of --socket, --fd and --single is needed");
        if (o->single && (o->config.policy_fd < 0 || o->config.sockets[0] < 0 || o->config.pidfd < 0))
                return error_set(reterr, -EINVAL, "--single needs --policy-fd, --sockets-fd and --pid-fd");
        return 0;
}

static int parse_options(int argc, char **argv, Options *o, Error *reterr) {
        int option, r = 0;

        while (r == 0 && (option = getopt_long(argc, argv, "hv", long_options, NULL)) >= 0)
                r = gate_take_option(o, option, reterr);
        if (r != 0)
                return r;
        if (optind < argc)
                return error_set(reterr, -EINVAL, "'%.40s' is no option", argv[optind]);
        return check_options(o, reterr);
}

static int gate_on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int make_loop(sd_event **ret, Error *reterr) {
        static const int numbers[] = { SIGTERM, SIGINT };
        sigset_t set;
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGHUP, SIG_IGN); /* the gate outlives the terminal it was started from */
        (void) sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                (void) sigaddset(&set, numbers[i]);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        r = sd_event_new(ret);
        for (size_t i = 0; i < ELEMENTSOF(numbers) && r >= 0; i++)
                r = sd_event_add_signal(*ret, NULL, numbers[i], gate_on_signal, NULL);
        return r < 0 ? error_set(reterr, r, "cannot make an event loop: %m") : 0;
}

static int gate_serve(Gate *g, Options *o, Error *reterr) {
        Server *server = NULL;
        int fd = o->fd, r = 0;

        if (o->socket_path)
                r = server_listen(g, o->socket_path, &fd, reterr);
        if (r >= 0)
                r = gate_confine(reterr);
        if (r >= 0)
                r = server_new(g, fd, &server, reterr);
        if (r >= 0)
                r = share_loop(g);
        server_free(server);
        return r;
}

static int gate_serve_one(Gate *g, Options *o, Error *reterr) {
        Single *single = NULL;
        int r;

        o->config.dns = (const char *const *) o->dns.items;
        o->config.n_dns = o->dns.n;
        o->config.reachable = (const char *const *) o->reachable.items;
        o->config.n_reachable = o->reachable.n;
        o->config.packages = (const char *const *) o->packages.items;
        o->config.n_packages = o->packages.n;
        r = gate_confine(reterr);
        if (r >= 0)
                r = single_new(g, &o->config, &single, reterr);
        if (r >= 0)
                r = share_loop(g);
        single_free(single);
        return r;
}

static int gate_run(Options *o, Error *reterr) {
        sd_event *event = NULL;
        Gate *g = NULL;
        int r;

        r = make_loop(&event, reterr);
        if (r >= 0)
                r = gate_new(event, &g, reterr);
        if (r >= 0)
                r = o->single ? gate_serve_one(g, o, reterr) : gate_serve(g, o, reterr);
        gate_free(g);
        pipe_forget_all();
        sd_event_unref(event);
        return r;
}

int main(int argc, char **argv) {
        Options o = {
                .fd = -EBADF,
                .config = { .policy_fd = -EBADF, .sockets = { -EBADF, -EBADF, -EBADF }, .pidfd = -EBADF, .events_fd = -EBADF },
                .dns = STRV_INIT(LIST_MAX),
                .reachable = STRV_INIT(LIST_MAX),
                .packages = STRV_INIT(LIST_MAX),
        };
        Error error = { 0 };
        int r = parse_options(argc, argv, &o, &error);

        log_bounded = true;
        program_set_name("cove-gate");
        if (r == 0)
                r = gate_run(&o, &error);
        strv_done(&o.dns);
        strv_done(&o.reachable);
        strv_done(&o.packages);
        if (r >= 0)
                return 0;
        log_error("%s", *error.text ? error.text : strerror(-r));
        return EXIT_OWN_FAILURE;
}
