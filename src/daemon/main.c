/* coved: the daemon.
 *
 * The processes:
 *
 *      coved           runs as the user `cove` after its start; TCP and a unix socket; the store, the objects. Of the host's
 *                      files, it may use only the state directory
 *       └─ cove-keeper root (as coved was started); waits for the spawner, and replaces it
 *           └─ cove-spawner   root; creates and removes what needs privilege, asked by coved over a socket pair
 *      cove-init       PID 1 of each sandbox; it is a child of none of the above, and outlives them all
 *
 * The start is the list of steps below; the end undoes them in reverse order. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "api/api.h"
#include "api/policy.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/log.h"
#include "base/program.h"
#include "base/reserve.h"
#include "config/config.h"
#include "config/reload.h"
#include "core/manager.h"
#include "core/pool.h"
#include "core/provider.h"
#include "core/secrets.h"
#include "daemon/halt.h"
#include "daemon/loop.h"
#include "daemon/options.h"
#include "daemon/policies.h"
#include "daemon/privilege.h"
#include "daemon/rooms.h"
#include "daemon/settings.h"
#include "daemon/spawner.h"
#include "daemon/state.h"
#include "daemon/surfaces.h"
#include "observe/observe.h"
#include "provider/native.h"
#include "store/store.h"
#include "vault/vault.h"

#define EXIT_OWN_FAILURE 125
#define STOP_PATIENCE    (60 * USEC_PER_SEC)
#define DRAIN_USEC       (300 * USEC_PER_MSEC)

typedef struct Daemon {
        DaemonOptions options;
        Identity identity;
        uid_t started_as;
        size_t files; /* how many may be open */
        char files_cure[128];
        DaemonState state;
        int spawner_fd;
        char run_dir[4096], store_path[4096];
        sd_event *event;
        Settle settle;
        SettleWriter store_writer;
        Config *settings;
        Store *store;
        Access *access;
        Provider *provider;
        Manager *manager;
        HttpSockets sockets;
        Strv secrets; /* found in our environment */
        Rooms rooms;
        Api *api;
        sd_event_source *stop_timer;
} Daemon;

static int step_identity(Daemon *d, Error *reterr) {
        d->started_as = geteuid();
        return identity_find(d->options.user, &d->identity, reterr);
}

static int step_files(Daemon *d, Error *reterr) {
        return files_raise(&d->files, reterr);
}

/* No program that we start may inherit the secrets. */
static int step_secrets(Daemon *d, Error *reterr) {
        int fd = d->options.secret_key_fd, r;

        if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
                return error_set(reterr, -errno, "--secret-key-fd: %d is not open", fd);
        r = vault_take_environment(&d->settings->secrets.environment, &d->secrets);
        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
}

static int step_state(Daemon *d, Error *reterr) {
        int r = state_open(d->options.state_dir, d->identity.uid, d->identity.gid, &d->state, reterr);

        if (r < 0)
                return r;
        if ((size_t) snprintf(d->run_dir, sizeof(d->run_dir), "%s/run", d->options.state_dir) >= sizeof(d->run_dir) ||
                        (size_t) snprintf(d->store_path, sizeof(d->store_path), "%s/cove.db", d->options.state_dir) >=
                                        sizeof(d->store_path))
                return error_set(reterr, -ENAMETOOLONG, "--state: the path is too long");
        return 0;
}

static ApiConfig api_config(const Daemon *d) {
        return (ApiConfig) {
                .address = strcmp(d->options.listen, "none") == 0 ? NULL : d->options.listen,
                .public = d->options.public,
                .tls_address = d->options.tls_listen,
                .tls_certificate = d->options.tls_cert,
                .tls_key = d->options.tls_key,
                .socket_path = d->options.socket_path,
                .connections_max = (unsigned) d->options.connections_max,
                .idle_seconds = (unsigned) d->options.idle_seconds,
                .owner = d->started_as,
                .settle = d->manager ? d->manager->settle : NULL, /* the sockets are opened before there is one */
                .surfaces = daemon_surfaces,
        };
}

static int step_listen(Daemon *d, Error *reterr) {
        const ApiConfig config = api_config(d);
        int r = api_listen(&config, &d->sockets, reterr);

        if (r >= 0 && d->identity.drop)
                (void) lchown(d->options.socket_path, d->identity.uid, d->identity.gid); /* so that it may remove it */
        return r;
}

static int step_spawner(Daemon *d, Error *reterr) {
        const SpawnerArguments arguments = {
                .instance = d->state.instance,
                .templates = &d->options.templates,
                .state_dir = d->options.state_dir,
                .settings = d->settings,
        };

        return spawner_start(&arguments, &d->spawner_fd, reterr);
}

/* The daemon starts without them too: a request that needs a missing one is refused with the reason. */
static int step_programs(Daemon *d, Error *reterr) {
        static const char *const programs[] = { "cove-archive", "cove-gate", "cove-registry", "cove-tree" };

        for (size_t i = 0; i < ELEMENTSOF(programs); i++) {
                int r = program_keep(programs[i]);

                if (r < 0)
                        log_warning("%s, which belongs beside coved, cannot be opened: %s. Operations that need it fail; install cove again", programs[i], strerror(-r));
        }
        return 0;
}

static int step_assume(Daemon *d, Error *reterr) {
        int r = identity_assume(&d->identity, reterr);

        if (r < 0)
                return r;
        if (access(d->run_dir, R_OK | W_OK | X_OK) < 0)
                return error_set(reterr, -errno,
                                "'%s' cannot be reached by %s: choose a directory whose parents other users may search, or another "
                                "--user",
                                d->options.state_dir, d->identity.name);
        return 0;
}

static void stop_now(Daemon *d) {
        (void) sd_notify(0, "STOPPING=1");
        (void) sd_event_exit(d->event, 0);
}

static int on_stop_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Daemon *d = userdata;

        stop_now(d);
        return 0;
}

/* With --stop-all: waits until the last sandbox is gone, up to a limit. */
static int on_each_stop(sd_event_source *source, uint64_t usec, void *userdata) {
        Daemon *d = userdata;
        ManagerStats stats;

        manager_stats(d->manager, &principal_daemon, &stats);
        if (stats.active + stats.provisioning + stats.terminating + stats.paused + stats.stopped + stats.pooled == 0) {
                stop_now(d);
                return 0;
        }
        (void) sd_event_source_set_time_relative(source, 5 * USEC_PER_MSEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int end_all(Daemon *d) {
        manager_end_all(d->manager, "the daemon was stopped with --stop-all");
        (void) sd_event_add_time_relative(d->event, NULL, CLOCK_MONOTONIC, STOP_PATIENCE, 0, on_stop_timer, d);
        return sd_event_add_time_relative(d->event, NULL, CLOCK_MONOTONIC, 0, 1, on_each_stop, d);
}

static int daemon_on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Daemon *d = userdata;

        if (d->manager->stopping) {
                stop_now(d); /* the second signal: stops at once */
                return 0;
        }
        d->manager->stopping = true;
        log_notice("%s: ending%s", info->ssi_signo == SIGINT ? "SIGINT" : "SIGTERM",
                        d->options.stop_all ? " with all sandboxes" : "; sandboxes continue");
        api_quiesce(d->api);
        pools_stop(d->rooms.pools);
        if (d->options.stop_all)
                return end_all(d);
        return sd_event_add_time_relative(d->event, &d->stop_timer, CLOCK_MONOTONIC, DRAIN_USEC, 0, on_stop_timer, d);
}

static int daemon_on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Daemon *d = userdata;

        if (!d->manager->stopping)
                (void) reload_now(d->rooms.api.reload); /* reports the result itself */
        return 0;
}

static int step_event(Daemon *d, Error *reterr) {
        static const struct {
                int number;
                sd_event_signal_handler_t handler;
        } signals[] = {
                { SIGTERM, daemon_on_signal },
                { SIGINT,  daemon_on_signal },
                { SIGHUP,  daemon_on_hangup },
        };
        sigset_t set;
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGCHLD);
        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) sigaddset(&set, signals[i].number);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);

        r = sd_event_new(&d->event);
        for (size_t i = 0; i < ELEMENTSOF(signals) && r >= 0; i++)
                r = sd_event_add_signal(d->event, NULL, signals[i].number, signals[i].handler, d);
        return r < 0 ? error_set(reterr, r, "cannot make an event loop: %m") : 0;
}

static void daemon_on_unwritten(void *userdata) {
        settle_mark(userdata);
}

static void daemon_write_store(void *userdata) {
        Daemon *d = userdata;

        store_flush_or_end(d->store);
}

static int step_store(Daemon *d, Error *reterr) {
        int r;

        (void) umask(077);
        r = store_open(d->store_path, &d->store, reterr);
        if (r < 0)
                return r;
        d->store_writer = (SettleWriter) { .write = daemon_write_store, .userdata = d };
        settle_add_writer(&d->settle, &d->store_writer);
        store_set_turn(d->store, daemon_on_unwritten, &d->settle);
        return 0;
}

static int step_access(Daemon *d, Error *reterr) {
        return access_new(d->store, d->options.state_dir, &d->access, reterr);
}

static int step_manager(Daemon *d, Error *reterr) {
        const ManagerConfig config = {
                .state_dir = d->options.state_dir,
                .journal_total_bytes = d->options.journal_total_bytes,
                .keep_ended_usec = d->options.keep_ended_usec,
                .sandboxes_max = (unsigned) d->options.sandboxes_max,
                .recycle = d->started_as == 0,
                .templates = &d->options.templates,
                .helper_timeout_usec = d->settings->cleanup.helper_timeout_usec,
        };

        int r = manager_new(&config, d->settings, d->event, d->store, d->access, &d->manager, reterr);

        if (r < 0)
                return r;
        d->manager->settle = &d->settle;
        d->manager->read_policy = api_policy_enforce;
        return 0;
}

static void daemon_tell_share(const char *option, unsigned wanted, unsigned got, unsigned usual, const char *cure) {
        if (got < wanted && wanted != usual)
                log_warning("--%s: %u instead of %u: %s", option, got, wanted, cure);
        else if (got < wanted)
                log_info("--%s: %u: %s", option, got, cure);
}

/* Sandboxes of root have ranges of ids of their own, of which there are only so many. */
static void daemon_limit_sandboxes(Daemon *d, unsigned by_files, const char *files_cure) {
        unsigned ranges = d->started_as == 0 ? d->settings->limits.id_ranges : UINT_MAX;

        d->manager->held_max = MIN_OF(by_files, ranges);
        d->manager->held_cure = by_files <= ranges ? files_cure : "each needs a range of user ids: raise limits.idRanges";
        daemon_tell_share("max-sandboxes", (unsigned) d->options.sandboxes_max, d->manager->held_max, SANDBOXES_DEFAULT, d->manager->held_cure);
}

/* The number of sandboxes is known now, but none has been looked for yet. */
static int step_share(Daemon *d, Error *reterr) {
        unsigned sandboxes = (unsigned) d->options.sandboxes_max, connections = (unsigned) d->options.connections_max;
        FilesShare share;
        int r;

        r = files_share(d->files, manager_count_held(d->manager), sandboxes, connections, &share, reterr);
        if (r < 0)
                return r;
        (void) snprintf(d->files_cure, sizeof(d->files_cure), "coved may have only %zu open files: raise the limit of open files (LimitNOFILE=, ulimit -n)", d->files);
        daemon_limit_sandboxes(d, share.sandboxes_max, d->files_cure);
        daemon_tell_share("max-connections", connections, share.connections_max, CONNECTIONS_DEFAULT, d->files_cure);
        d->options.connections_max = share.connections_max;
        d->manager->requests_max = share.connections_max;
        r = reserve_make(d->files, share.reserve);
        return r < 0 ? error_set(reterr, r, "RLIMIT_NOFILE: %m") : 0;
}

static int step_provider(Daemon *d, Error *reterr) {
        const NativeConfig config = {
                .spawner_fd = d->spawner_fd,
                .run_dir = d->run_dir,
                .settle = &d->settle,
                .instance = d->state.instance,
                .privileged = d->started_as == 0,
                .allow_missing = d->options.allow_missing,
                .helper_timeout_usec = d->settings->cleanup.helper_timeout_usec,
        };
        int r = native_new(d->event, &config, &d->provider, reterr);

        if (r < 0)
                return r;
        d->spawner_fd = -EBADF;
        manager_set_provider(d->manager, d->provider);
        return 0;
}

static int step_rooms(Daemon *d, Error *reterr) {
        d->rooms.manager = d->manager;
        d->rooms.settings = &d->settings;
        d->rooms.config_file = d->options.config_file;
        d->rooms.run_dir = d->run_dir;
        d->rooms.secret_key_fd = d->options.secret_key_fd;
        d->rooms.environment = &d->secrets;
        return rooms_open(&d->rooms, reterr);
}

static int step_api(Daemon *d, Error *reterr) {
        const ApiConfig config = api_config(d);

        return api_new(d->event, d->manager, &d->rooms.api, &config, &d->sockets, &d->api, reterr);
}

static int step_tell(Daemon *d, Error *reterr) {
        const char *address = api_address(d->api), *tls = api_tls_address(d->api);

        if (log_json) { /* then all lines have the same form */
                if (tls)
                        log_notice("listening on https://%s", tls);
                log_notice("listening on http://%s, socket %s, admin token in %s/admin.token, running as %s, instance %s",
                                address ? address : "", d->options.socket_path, d->options.state_dir, d->identity.name, d->state.instance);
                (void) sd_notify(0, "READY=1");
                return 0;
        }
        if (address)
                printf("cove: listening on http://%s\n", address);
        if (tls)
                printf("cove: listening on https://%s\n", tls);
        printf("cove: socket %s\n", d->options.socket_path);
        printf("cove: admin token in %s/admin.token, running as %s, instance %s\n", d->options.state_dir, d->identity.name,
                        d->state.instance);
        (void) fflush(stdout);
        (void) sd_notify(0, "READY=1");
        return 0;
}

static const struct {
        const char *name;
        int (*function)(Daemon *d, Error *reterr);
} steps[] = {
        { "identity", step_identity },
        { "files",    step_files    }, /* before the spawner, which inherits the limit */
        { "secrets",  step_secrets  }, /* likewise: what it must not inherit */
        { "state",    step_state    }, /* as root: it may have to be made and handed over */
        { "listen",   step_listen   }, /* likewise: a low port, or a socket in another user's directory */
        { "spawner",  step_spawner  }, /* likewise: it stays root */
        { "programs", step_programs }, /* likewise: they may be where only root can go */
        { "assume",   step_assume   }, /* from here on coved is unprivileged */
        { "event",    step_event    },
        { "store",    step_store    },
        { "access",   step_access   },
        { "manager",  step_manager  }, /* loads what was there */
        { "share",    step_share    }, /* before any sandbox is looked for, and before any request is answered */
        { "provider", step_provider }, /* reports that it is up: then sandboxes are looked for */
        { "rooms",    step_rooms    }, /* all rooms beside the core */
        { "api",      step_api      }, /* answers 503 until that is over */
        { "tell",     step_tell     },
};

static int daemon_main_start(Daemon *d, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r = steps[i].function(d, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void daemon_stop(Daemon *d) {
        api_free(d->api);
        http_sockets_close(&d->sockets);
        rooms_close(&d->rooms);
        manager_free(d->manager);
        if (d->provider)
                d->provider->ops->free(d->provider);
        access_free(d->access);
        store_close(d->store);
        config_free(d->settings);
        (void) fd_close(d->spawner_fd);
        sd_event_source_unref(d->stop_timer);
        sd_event_unref(d->event);
        state_close(&d->state);
        secrets_strv_done(&d->secrets);
        daemon_options_done(&d->options);
}

static int daemon_print_text(char *text) {
        int r = text ? printf("%s", text) : -1;

        free(text);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

/* Handles options that need no daemon. */
static int print_and_end(const DaemonOptions *o) {
        if (o->policy_file)
                return policies_look(&(PoliciesQuestion) { o->policy_file, o->policy_url, o->policy_method, o->config_file, o->json });
        if (o->policy_packages)
                return policies_print_packages(o->config_file);
        if (o->policy_presets)
                return policies_print_presets();
        if (o->check_file)
                return settings_check(o->check_file, o->json);
        if (o->default_config)
                return daemon_print_text(config_print_commented());
        if (o->config_keys)
                return daemon_print_text(config_print_keys());
        if (o->routes)
                return api_print_routes(daemon_surfaces, stdout) < 0 ? EXIT_OWN_FAILURE : 0;
        if (o->metrics_table)
                return observe_print_table(stdout) < 0 ? EXIT_OWN_FAILURE : 0;
        daemon_options_print_help();
        return 0;
}

static void set_logging(const DaemonOptions *o) {
        log_json = o->log_json;
        log_bounded = true;
        log_infos = o->log_level >= LOG_LEVEL_INFO;
        log_verbosity = o->log_level == LOG_LEVEL_ERROR ? -1 : o->log_level >= LOG_LEVEL_DEBUG;
}

int main(int argc, char **argv) {
        Daemon d = { .secrets = STRV_INIT(SECRETS_MAX), .state = STATE_EMPTY, .spawner_fd = -EBADF, .sockets = HTTP_SOCKETS_EMPTY };
        Error error = { 0 };
        int r, status;

        (void) prctl(PR_SET_DUMPABLE, 0); /* values of secrets pass through here: no core dump, and no ptrace by processes of the same user */
        r = daemon_options_parse(&d.options, argc, argv, &d.settings, &error); /* the config too: while we may read it */
        if (r >= 0 && !d.settings) {
                status = print_and_end(&d.options);
                daemon_options_done(&d.options);
                return status;
        }
        if (r >= 0) {
                set_logging(&d.options);
                r = d.options.halt ? halt_sandboxes(d.options.state_dir, &error) : daemon_main_start(&d, &error);
        }
        if (r < 0) {
                log_error("%s", error.text);
                daemon_stop(&d);
                return EXIT_OWN_FAILURE;
        }
        status = d.options.halt ? 0 : loop_run(d.event, &d.settle);
        daemon_stop(&d);
        return status < 0 ? EXIT_OWN_FAILURE : status;
}
