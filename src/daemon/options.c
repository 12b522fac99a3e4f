#include "daemon/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "cli/options.h"
#include "daemon/settings.h"
#include "wire/guard.h"

#define LISTEN_DEFAULT      "127.0.0.1:8787"
#define TLS_LISTEN_DEFAULT  "127.0.0.1:8443"
#define STATE_OF_ROOT       "/var/lib/cove"
#define STATE_OF_USER       ".local/share/cove"
#define USER_DEFAULT        "cove"
#define JOURNALS_DEFAULT    (UINT64_C(10) << 30)
#define KEEP_ENDED_DEFAULT  (24 * 3600 * USEC_PER_SEC)
#define IDLE_DEFAULT        620 /* longer than a proxy in front of us keeps its connections, usually 600 */
#define TEMPLATES_MAX       64

/* Makes a path absolute; the links of an existing one are resolved. */
static int daemon_path(const Option *o, void *target, const char *value, Error *reterr) {
        char *path = realpath(value, NULL);
        char **field = option_field(o, target);

        if (!*value)
                return error_set(reterr, -EINVAL, "--%s: %s is wanted", o->name, o->key);
        if (!path && value[0] != '/') {
                _cleanup_free_ char *here = getcwd(NULL, 0);

                if (!here || asprintf(&path, "%s/%s", here, value) < 0)
                        return error_set(reterr, -ENOMEM, "--%s: cannot find out where '%s' is", o->name, value);
        }
        if (!path)
                return option_copy(o, target, value, reterr);
        free(*field);
        *field = path;
        return 0;
}

/* Absolute, but not resolved: a link may lead elsewhere when it is read again. */
static int daemon_file(const Option *o, void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *here = NULL, *path = NULL;

        if (!*value)
                return error_set(reterr, -EINVAL, "--%s: a file is required", o->name);
        if (value[0] == '/')
                return option_copy(o, target, value, reterr);
        here = getcwd(NULL, 0);
        if (!here || asprintf(&path, "%s/%s", here, value) < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "--%s: cannot find out where '%s' is", o->name, value);
        }
        return option_copy(o, target, path, reterr);
}

/* The command line gives no value, the file gives yes or no. */
static int daemon_switch(const Option *o, void *target, const char *value, Error *reterr) {
        static const char *const words[][2] = { { "yes", "no" }, { "true", "false" }, { "on", "off" }, { "1", "0" } };
        bool *flag = option_field(o, target);

        *flag = !value;
        for (size_t i = 0; value && i < ELEMENTSOF(words); i++)
                for (size_t k = 0; k < 2; k++)
                        if (strcmp(value, words[i][k]) == 0) {
                                *flag = k == 0;
                                return 0;
                        }
        return value ? error_set(reterr, -EINVAL, "%s: '%s' is neither yes nor no", o->name, value) : 0;
}

static int daemon_verbose(const Option *o, void *target, const char *value, Error *reterr) {
        const Option on = { .name = "verbose" };
        bool debug = false;
        int r = daemon_switch(&on, &debug, value, reterr);

        ((DaemonOptions *) target)->log_level = debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING;
        return r;
}

static int daemon_log_format(const Option *o, void *target, const char *value, Error *reterr) {
        bool json = strcmp(value, "json") == 0;

        if (!json && strcmp(value, "text") != 0)
                return error_set(reterr, -EINVAL, "--log-format: '%s' is neither text nor json", value);
        ((DaemonOptions *) target)->log_json = json;
        return 0;
}

static int daemon_log_level(const Option *o, void *target, const char *value, Error *reterr) {
        static const char *const names[] = { "error", "warning", "info", "debug" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(value, names[i]) == 0) {
                        ((DaemonOptions *) target)->log_level = (int) i;
                        return 0;
                }
        return error_set(reterr, -EINVAL, "--log-level: '%s' is none of error, warning, info, debug", value);
}

static int daemon_journals(const Option *o, void *target, const char *value, Error *reterr) {
        uint64_t bytes;

        if (parse_size(value, &bytes) < 0 || bytes < (UINT64_C(1) << 20))
                return error_set(reterr, -EINVAL, "--journals: '%s' is not a size of at least 1M, such as 10G", value);
        ((DaemonOptions *) target)->journal_total_bytes = bytes;
        return 0;
}

static int daemon_keep_ended(const Option *o, void *target, const char *value, Error *reterr) {
        usec_t usec;

        if (parse_duration(value, &usec) < 0)
                return error_set(reterr, -EINVAL, "--keep-ended: '%s' is not a time, such as 24h", value);
        ((DaemonOptions *) target)->keep_ended_usec = usec;
        return 0;
}

static int daemon_allow_missing(const Option *o, void *target, const char *value, Error *reterr) {
        Guard g = guard_from_name(value);

        if (g < 0)
                return error_set(reterr, -EINVAL, "--allow-missing: there is no guard '%s': see `cove doctor`", value);
        ((DaemonOptions *) target)->allow_missing |= GUARD_BIT(g);
        return 0;
}

static int daemon_template(const Option *o, void *target, const char *value, Error *reterr) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value || equals[1] != '/')
                return error_set(reterr, -EINVAL, "--template: '%s' is not NAME=/DIRECTORY", value);
        if (strv_push(&((DaemonOptions *) target)->templates, value) < 0)
                return error_set(reterr, -E2BIG, "--template: at most %d", TEMPLATES_MAX);
        return 0;
}

static int daemon_secret_key_fd(const Option *o, void *target, const char *value, Error *reterr) {
        uint32_t fd = 0;
        int r = option_number32(o, &fd, value, reterr);

        ((DaemonOptions *) target)->secret_key_fd = r < 0 ? -EBADF : (int) fd;
        return r;
}

#define DAEMON_FIELD(field) OPTION_FIELD(DaemonOptions, field)
#define DAEMON_TEXT(field)  OPTION_COPY(DaemonOptions, field)
#define DAEMON_FLAG(field)  OPTION_FLAG(DaemonOptions, field)

static const Option options[] = {
        { "listen", 0, "ADDRESS:PORT", "TCP address (default " LISTEN_DEFAULT "; port 0: any free one; none: no TCP)", DAEMON_TEXT(listen) },
        { "tls-cert", 0, "FILE", "also serve https, with this certificate (PEM; intermediate\ncertificates follow it in the file); read again on SIGHUP", daemon_file, DAEMON_FIELD(tls_cert) },
        { "tls-key", 0, "FILE", "key of the certificate (PEM, without a passphrase)", daemon_file, DAEMON_FIELD(tls_key) },
        { "tls-listen", 0, "ADDRESS:PORT", "TCP address for https (default " TLS_LISTEN_DEFAULT ")", DAEMON_TEXT(tls_listen) },
        { "public", 0, NULL, "permit addresses that other machines can reach", daemon_switch, DAEMON_FIELD(public) },
        { "state", 0, "DIR", "the state directory (default " STATE_OF_ROOT ", for a plain\nuser ~/" STATE_OF_USER ")", daemon_path, DAEMON_FIELD(state_dir), .key = "a directory" },
        { "socket", 0, "PATH", "unix socket for its owner and root (default DIR/cove.sock)", daemon_path, DAEMON_FIELD(socket_path), .key = "a path" },
        { "config", 0, "FILE", "cove.yaml (default /etc/cove/cove.yaml, for a plain user\n~/.config/cove/cove.yaml, if it exists)", daemon_file, DAEMON_FIELD(config_file) },
        { "user", 0, "NAME", "the user to become when started as root (default " USER_DEFAULT ";\nroot: stay root)", DAEMON_TEXT(user) },
        { "stop-all", 0, NULL, "end all sandboxes on SIGTERM (default: they continue)", daemon_switch, DAEMON_FIELD(stop_all) },
        { "halt", 0, NULL, "end all sandboxes of the state directory, as a reboot would,\nand exit; no daemon may be serving it", DAEMON_FLAG(halt) },
        { "template", 0, "NAME=DIR", "a directory with a root file system, as a template", daemon_template },
        { "journals", 0, "SIZE", "disk space for the output of all commands (default 10G)", daemon_journals },
        { "keep-ended", 0, "TIME", "how long an ended sandbox can be inspected (default 24h)", daemon_keep_ended },
        { "max-sandboxes", 0, "N", "sandboxes at the same time; lowered if the limit of open files\nor limits.idRanges is too low (default 10000)", OPTION_NUMBER(DaemonOptions, sandboxes_max, 1, 49151) },
        { "max-connections", 0, "N", "connections at the same time, for each listener; lowered likewise\n(default 4096)", OPTION_NUMBER(DaemonOptions, connections_max, 8, 65536) },
        { "idle-timeout", 0, "SECONDS", "time after which an idle connection is closed (default 620)", OPTION_NUMBER(DaemonOptions, idle_seconds, 1, 86400) },
        { "allow-missing", 0, "GUARD", "create sandboxes even if this guard cannot be raised here", daemon_allow_missing },
        { "secret-key-fd", 0, "N", "read the key of the secrets from this descriptor (default: the file\nDIR/secret.key, created if missing)", daemon_secret_key_fd, .min = 3, .max = INT32_MAX },
        { "check-config", 0, "FILE", "check a config file and exit ('': the default one)", DAEMON_TEXT(check_file) },
        { "default-config", 0, NULL, "print a config file with all defaults and exit", DAEMON_FLAG(default_config) },
        { "config-keys", 0, NULL, "print all keys of the config file as JSON and exit", DAEMON_FLAG(config_keys) },
        { "check-policy", 0, "FILE|-", "check a policy and exit", DAEMON_TEXT(policy_file) },
        { "explain-url", 0, "URL", "with --check-policy: explain the decision about a request to URL", DAEMON_TEXT(policy_url) },
        { "explain-method", 0, "METHOD", "with --explain-url: method of the request (default GET)", DAEMON_TEXT(policy_method) },
        { "policy-packages", 0, NULL, "print the registries that the rule \"packages\" stands for here,\nas JSON, and exit", DAEMON_FLAG(policy_packages) },
        { "policy-presets", 0, NULL, "print the policy presets as JSON and exit", DAEMON_FLAG(policy_presets) },
        { "json", 0, NULL, "with --check-config and --check-policy: print the result as JSON", DAEMON_FLAG(json) },
        { "routes", 0, NULL, "print the routes of the API as JSON and exit", DAEMON_FLAG(routes) },
        { "metrics-table", 0, NULL, "print the table of metrics as JSON and exit", DAEMON_FLAG(metrics_table) },
        { "log-format", 0, "FORMAT", "format of the lines on stderr: text (default) or json", daemon_log_format },
        { "log-level", 0, "LEVEL", "error, warning (default), info (events of sandboxes) or debug", daemon_log_level },
        { "verbose", 'v', NULL, "the same as --log-level debug", daemon_verbose },
        OPTION_INSTEAD("port", 'p', "PORT", "write --listen ADDRESS:PORT, as in --listen 127.0.0.1:8787"),
        OPTION_INSTEAD("host", 0, "ADDRESS", "write --listen ADDRESS:PORT, as in --listen 127.0.0.1:8787"),
        OPTION_INSTEAD("detach", 'd', NULL, "the daemon stays in the foreground: `systemctl start cove` runs an installed one, a shell's & this one"),
        { "help", 'h', NULL, "print this", DAEMON_FLAG(help) },
};

void daemon_options_print_help(void) {
        printf("usage: cove serve [options]\n\n"
               "Starts the daemon in the foreground. It serves sandboxes over HTTP. They outlive their\n"
               "clients and the daemon: started again on the same directory, it still has them.\n\n"
               "options:\n");
        options_print(options, ELEMENTSOF(options));
        printf("\nThe admin token is in DIR/admin.token. The API is described at /api/openapi.json.\n"
               "SIGTERM ends the daemon; sandboxes continue unless --stop-all was given.\n"
               "SIGHUP reads the config file again. Its section `daemon` takes these options too.\n");
}

/* Whether the file may have the option; the others are only for the command line. */
static bool is_for_the_file(const Option *o) {
        static const char *const excluded[] = { "check-policy", "explain-url", "explain-method", "policy-packages", "policy-presets", "config",
                                            "check-config", "default-config", "config-keys", "json", "routes", "metrics-table", "halt", "help" };

        for (size_t i = 0; i < ELEMENTSOF(excluded); i++)
                if (strcmp(excluded[i], o->name) == 0)
                        return false;
        return o->set != option_instead;
}

static int apply_named(DaemonOptions *o, const char *name, const char *value, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (strcmp(options[i].name, name) == 0 && is_for_the_file(options + i))
                        return options[i].set(options + i, o, value, reterr);
        return -ENOENT;
}

int daemon_options_check(const char *name, const char *value, Error *reterr) {
        DaemonOptions scratch = { .templates = STRV_INIT(TEMPLATES_MAX), .secret_key_fd = -EBADF };
        int r = apply_named(&scratch, name, value, reterr);

        daemon_options_done(&scratch);
        return r;
}

const char *daemon_options_name(size_t i) {
        size_t seen = 0;

        for (size_t k = 0; k < ELEMENTSOF(options); k++)
                if (is_for_the_file(options + k) && seen++ == i)
                        return options[k].name;
        return NULL;
}

/* Applies lines of "option=value", which were checked when they were read. */
static int apply_settings(DaemonOptions *o, const Config *c, Error *reterr) {
        for (size_t i = 0; i < c->daemon.n; i++) {
                const char *equals = strchr(c->daemon.items[i], '=');
                _cleanup_free_ char *name = strndup(c->daemon.items[i], (size_t) (equals - c->daemon.items[i]));
                int r;

                if (!name)
                        return error_set(reterr, -ENOMEM, "out of memory");
                r = apply_named(o, name, equals + 1, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Finds the file that was named, or the one at the usual place if it exists. */
static bool find_config(DaemonOptions *o) {
        if (o->config_file)
                return true;
        o->config_file = settings_default_path();
        return o->config_file && access(o->config_file, F_OK) == 0;
}

static int daemon_options_check_tls(DaemonOptions *o, Error *reterr) {
        if ((o->tls_cert != NULL) != (o->tls_key != NULL))
                return error_set(reterr, -EINVAL, "--tls-cert and --tls-key: give both or neither");
        if (o->tls_listen && !o->tls_cert)
                return error_set(reterr, -EINVAL, "--tls-listen: say --tls-cert FILE and --tls-key FILE too");
        return o->tls_cert && !o->tls_listen ? (o->tls_listen = strdup(TLS_LISTEN_DEFAULT))
                                                               ? 0
                                                               : error_set(reterr, -ENOMEM, "out of memory")
                                             : 0;
}

static int fill_defaults(DaemonOptions *o, Error *reterr) {
        const char *home = getenv("HOME");
        int r = daemon_options_check_tls(o, reterr);

        if (r < 0)
                return r;
        if (!o->listen && !(o->listen = strdup(LISTEN_DEFAULT)))
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!o->user && !(o->user = strdup(USER_DEFAULT)))
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!o->state_dir && geteuid() == 0)
                o->state_dir = strdup(STATE_OF_ROOT);
        else if (!o->state_dir) {
                if (!home || home[0] != '/')
                        return error_set(reterr, -ENOENT, "HOME is not set: name the state directory with --state DIR");
                if (asprintf(&o->state_dir, "%s/" STATE_OF_USER, home) < 0)
                        o->state_dir = NULL;
        }
        if (!o->state_dir)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!o->socket_path && asprintf(&o->socket_path, "%s/cove.sock", o->state_dir) < 0) {
                o->socket_path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return 0;
}

/* The file is applied first, so that the command line overrides it. The command line is read twice, because
 * it may name the file. */
static int parse_with_file(DaemonOptions *o, int argc, char **argv, Config **ret, Error *reterr) {
        _cleanup_config_ Config *c = NULL;
        bool there = find_config(o);
        int r;

        r = there ? settings_read(o->config_file, &c, reterr) : config_defaults(&c);
        if (r < 0)
                return there ? r : error_set(reterr, r, "out of memory");
        strv_done(&o->templates);
        o->allow_missing = 0;
        r = apply_settings(o, c, reterr);
        if (r >= 0)
                r = options_parse(options, ELEMENTSOF(options), argc, argv, o, reterr);
        if (r >= 0)
                r = fill_defaults(o, reterr);
        if (r >= 0)
                *ret = TAKE_PTR(c);
        return r;
}

int daemon_options_parse(DaemonOptions *o, int argc, char **argv, Config **ret_settings, Error *reterr) {
        int r;

        *o = (DaemonOptions) {
                .log_level = LOG_LEVEL_WARNING,
                .journal_total_bytes = JOURNALS_DEFAULT,
                .keep_ended_usec = KEEP_ENDED_DEFAULT,
                .sandboxes_max = SANDBOXES_DEFAULT,
                .connections_max = CONNECTIONS_DEFAULT,
                .idle_seconds = IDLE_DEFAULT,
                .templates = STRV_INIT(TEMPLATES_MAX),
                .secret_key_fd = -EBADF,
        };
        r = options_parse(options, ELEMENTSOF(options), argc, argv, o, reterr);
        if (r < 0)
                return r;
        if (r < argc)
                return error_set(reterr, -EINVAL, "'%s': cove serve takes options only", argv[r]);
        if (o->help || o->routes || o->check_file || o->policy_file || o->policy_packages || o->policy_presets || o->default_config || o->config_keys || o->metrics_table)
                return 0;
        return parse_with_file(o, argc, argv, ret_settings, reterr);
}

void daemon_options_done(DaemonOptions *o) {
        free(o->listen);
        free(o->tls_cert);
        free(o->tls_key);
        free(o->tls_listen);
        free(o->state_dir);
        free(o->socket_path);
        free(o->config_file);
        free(o->check_file);
        free(o->policy_file);
        free(o->policy_url);
        free(o->policy_method);
        free(o->user);
        strv_done(&o->templates);
}
