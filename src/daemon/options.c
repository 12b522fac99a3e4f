#include "daemon/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
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
#define SANDBOXES_DEFAULT   10000
#define CONNECTIONS_DEFAULT 4096
#define IDLE_DEFAULT        620 /* more than what stands in front of us keeps its connections for, mostly 600 */
#define TEMPLATES_MAX       64

static int daemon_options_replace(char **target, const char *value, Error *reterr) {
        return string_copy(target, value) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}

/* Kinds of options: what most do with their value. */

static void *option_place(const Option *o, void *target) {
        return (char *) target + o->offset;
}

static int option_set_text(const Option *o, void *target, const char *value, Error *reterr) {
        return daemon_options_replace(option_place(o, target), value, reterr);
}

/* Absolute, but not resolved: a link may lead elsewhere when it is read again. */
static int option_set_file(const Option *o, void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *here = NULL, *path = NULL;

        if (!*value)
                return error_set(reterr, -EINVAL, "--%s: a %s is wanted", o->name, o->key ? o->key : "file");
        if (value[0] == '/')
                return option_set_text(o, target, value, reterr);
        here = getcwd(NULL, 0);
        if (!here || asprintf(&path, "%s/%s", here, value) < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "--%s: cannot find out where '%s' is", o->name, value);
        }
        return option_set_text(o, target, path, reterr);
}

/* Resolved, if it is there. */
static int option_set_place(const Option *o, void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *path = *value ? realpath(value, NULL) : NULL;

        return path ? option_set_text(o, target, path, reterr) : option_set_file(o, target, value, reterr);
}

static int option_set_true(const Option *o, void *target, const char *value, Error *reterr) {
        *(bool *) option_place(o, target) = true;
        return 0;
}

static int apply_flag(bool *flag, const char *name, const char *value, Error *reterr) {
        if (!value || strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strcmp(value, "on") == 0 || strcmp(value, "1") == 0)
                *flag = true;
        else if (strcmp(value, "no") == 0 || strcmp(value, "false") == 0 || strcmp(value, "off") == 0 || strcmp(value, "0") == 0)
                *flag = false;
        else
                return error_set(reterr, -EINVAL, "%s: '%s' is neither yes nor no", name, value);
        return 0;
}

static int option_set_flag(const Option *o, void *target, const char *value, Error *reterr) {
        return apply_flag(option_place(o, target), o->name, value, reterr);
}

static int option_set_number(const Option *o, void *target, const char *value, Error *reterr) {
        if (parse_uint64(value, o->min, o->max, option_place(o, target)) < 0)
                return error_set(reterr, -EINVAL, "--%s: '%s' is not a number from %llu to %llu", o->name, value,
                                (unsigned long long) o->min, (unsigned long long) o->max);
        return 0;
}

/* Those of a kind of their own. */

static int daemon_options_apply_verbose(void *target, const char *value, Error *reterr) {
        bool on = false;
        int r = apply_flag(&on, "verbose", value, reterr);

        ((DaemonOptions *) target)->log_level = on ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING;
        return r;
}

static int apply_log_format(void *target, const char *value, Error *reterr) {
        bool json = strcmp(value, "json") == 0;

        if (!json && strcmp(value, "text") != 0)
                return error_set(reterr, -EINVAL, "--log-format: '%s' is neither text nor json", value);
        ((DaemonOptions *) target)->log_json = json;
        return 0;
}

static int apply_log_level(void *target, const char *value, Error *reterr) {
        static const char *const names[] = { "error", "warning", "info", "debug" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(value, names[i]) == 0) {
                        ((DaemonOptions *) target)->log_level = (int) i;
                        return 0;
                }
        return error_set(reterr, -EINVAL, "--log-level: '%s' is none of error, warning, info, debug", value);
}

static int apply_journals(void *target, const char *value, Error *reterr) {
        uint64_t bytes;

        if (parse_size(value, &bytes) < 0 || bytes < (UINT64_C(1) << 20))
                return error_set(reterr, -EINVAL, "--journals: '%s' is no size of at least 1M, as in 10G", value);
        ((DaemonOptions *) target)->journal_total_bytes = bytes;
        return 0;
}

static int apply_keep_ended(void *target, const char *value, Error *reterr) {
        usec_t usec;

        if (parse_duration(value, &usec) < 0)
                return error_set(reterr, -EINVAL, "--keep-ended: '%s' is no time, as in 24h", value);
        ((DaemonOptions *) target)->keep_ended_usec = usec;
        return 0;
}

static int daemon_options_apply_allow_missing(void *target, const char *value, Error *reterr) {
        Guard g = guard_from_name(value);

        if (g < 0)
                return error_set(reterr, -EINVAL, "--allow-missing: there is no guard '%s': see `cove doctor`", value);
        ((DaemonOptions *) target)->allow_missing |= GUARD_BIT(g);
        return 0;
}

static int daemon_options_apply_template(void *target, const char *value, Error *reterr) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value || equals[1] != '/')
                return error_set(reterr, -EINVAL, "--template: '%s' is not NAME=/DIRECTORY", value);
        if (strv_push(&((DaemonOptions *) target)->templates, value) < 0)
                return error_set(reterr, -E2BIG, "--template: at most %d", TEMPLATES_MAX);
        return 0;
}

static int apply_secret_key_fd(void *target, const char *value, Error *reterr) {
        uint64_t fd = 0;
        int r = option_set_number(&(Option) { .name = "secret-key-fd", .min = 3, .max = INT32_MAX }, &fd, value, reterr);

        ((DaemonOptions *) target)->secret_key_fd = r < 0 ? -EBADF : (int) fd;
        return r;
}

#define AT(member)                .offset = offsetof(DaemonOptions, member)
#define TEXT(member)              .set = option_set_text, AT(member)
#define FILE_AT(member)           .set = option_set_file, AT(member)
#define PLACE(member, what)       .set = option_set_place, AT(member), .key = (what)
#define TRUE(member)              .set = option_set_true, AT(member)
#define SWITCH(member)            .set = option_set_flag, AT(member)
#define NUMBER(member, low, high) .set = option_set_number, AT(member), .min = (low), .max = (high)

static const Option options[] = {
        { "listen", 0, "ADDRESS:PORT", "TCP address (default " LISTEN_DEFAULT "; port 0: any free one; none: no TCP)", TEXT(listen) },
        { "tls-cert", 0, "FILE", "serve https too, with this certificate (PEM, and those that lead to its\nauthority behind it); read again on SIGHUP", FILE_AT(tls_cert) },
        { "tls-key", 0, "FILE", "its key (PEM, without a passphrase)", FILE_AT(tls_key) },
        { "tls-listen", 0, "ADDRESS:PORT", "where (default " TLS_LISTEN_DEFAULT ")", TEXT(tls_listen) },
        { "public", 0, NULL, "allow an address that other machines can reach", SWITCH(public) },
        { "state", 0, "DIR", "everything lies below it (default " STATE_OF_ROOT ", for a plain\nuser ~/" STATE_OF_USER ")", PLACE(state_dir, "directory") },
        { "socket", 0, "PATH", "unix socket for its owner and root (default DIR/cove.sock)", PLACE(socket_path, "path") },
        { "config", 0, "FILE", "cove.yaml (default /etc/cove/cove.yaml, for a plain user\n~/.config/cove/cove.yaml, if it is there)", FILE_AT(config_file) },
        { "user", 0, "NAME", "whom to become when started as root (default " USER_DEFAULT "; root: nobody else)", TEXT(user) },
        { "stop-all", 0, NULL, "end all sandboxes on SIGTERM (default: they go on)", SWITCH(stop_all) },
        { "template", 0, "NAME=DIR", "a directory that sandboxes may start from", daemon_options_apply_template },
        { "journals", 0, "SIZE", "what the output of all ended commands may take (default 10G)", apply_journals },
        { "keep-ended", 0, "TIME", "how long an ended sandbox can still be looked at (default 24h)", apply_keep_ended },
        { "max-sandboxes", 0, "N", "at the same time (default 10000)", NUMBER(sandboxes_max, 1, 12288) },
        { "max-connections", 0, "N", "at the same time (default 4096)", NUMBER(connections_max, 8, 65536) },
        { "idle-timeout", 0, "SECONDS", "after which a silent connection is cut (default 620)", NUMBER(idle_seconds, 1, 86400) },
        { "allow-missing", 0, "GUARD", "make sandboxes also if this guard cannot be raised here", daemon_options_apply_allow_missing },
        { "secret-key-fd", 0, "N", "read the key of the secrets from this descriptor (default: the file\nDIR/secret.key, made when missing)", apply_secret_key_fd },
        { "check-config", 0, "FILE", "look for mistakes in a config file and end ('': the default one)", TEXT(check_file) },
        { "default-config", 0, NULL, "print a config file with all defaults and end", TRUE(default_config) },
        { "config-keys", 0, NULL, "print all keys of the config file as JSON and end", TRUE(config_keys) },
        { "check-policy", 0, "FILE|-", "look for mistakes in a policy and end", TEXT(policy_file) },
        { "explain-url", 0, "URL", "with --check-policy: say what would become of this, and end", TEXT(policy_url) },
        { "explain-method", 0, "METHOD", "with --explain-url (default: GET)", TEXT(policy_method) },
        { "policy-presets", 0, NULL, "print the policies that have a name as JSON and end", TRUE(policy_presets) },
        { "json", 0, NULL, "with --check-config and --check-policy: answer in JSON", TRUE(json) },
        { "routes", 0, NULL, "print the routes of the API as JSON and end", TRUE(routes) },
        { "metrics-table", 0, NULL, "print the table of metrics as JSON and end", TRUE(metrics_table) },
        { "log-format", 0, "FORMAT", "of lines on stderr: text (default) or json", apply_log_format },
        { "log-level", 0, "LEVEL", "error, warning (default), info (what happens to sandboxes) or debug", apply_log_level },
        { "verbose", 'v', NULL, "say more: --log-level debug", daemon_options_apply_verbose },
        { "help", 'h', NULL, "print this", TRUE(help) },
};

void daemon_options_print_help(void) {
        printf("usage: cove serve [options]\n\n"
               "Serves sandboxes over HTTP. They outlive their clients, and this daemon: start it again,\n"
               "and they are still there.\n\n"
               "options:\n");
        options_print(options, ELEMENTSOF(options));
        printf("\nThe admin token is in DIR/admin.token. The API is described at /api/openapi.json.\n"
               "SIGTERM ends the daemon; sandboxes go on unless --stop-all was given.\n"
               "SIGHUP reads the config file again. Its section `daemon` takes these options too.\n");
}

/* What only a command line can say. */
static bool is_for_the_file(const char *name) {
        static const char *const not[] = { "check-policy", "explain-url", "explain-method", "policy-presets", "config", "check-config", "default-config", "config-keys", "json", "routes",
                                            "metrics-table", "help" };

        for (size_t i = 0; i < ELEMENTSOF(not ); i++)
                if (strcmp(not[i], name) == 0)
                        return false;
        return true;
}

static int apply_named(DaemonOptions *o, const char *name, const char *value, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (strcmp(options[i].name, name) == 0 && is_for_the_file(name))
                        return options[i].set ? options[i].set(options + i, o, value, reterr) : options[i].apply(o, value, reterr);
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
                if (is_for_the_file(options[k].name) && seen++ == i)
                        return options[k].name;
        return NULL;
}

/* "option=value", checked when they were read. */
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

/* The file that was named, or the one at the usual place if there is one. */
static bool find_config(DaemonOptions *o) {
        if (o->config_file)
                return true;
        o->config_file = settings_default_path();
        return o->config_file && access(o->config_file, F_OK) == 0;
}

static int daemon_options_check_tls(DaemonOptions *o, Error *reterr) {
        if ((o->tls_cert != NULL) != (o->tls_key != NULL))
                return error_set(reterr, -EINVAL, "--tls-cert and --tls-key: one is of no use without the other");
        if (o->tls_listen && !o->tls_cert)
                return error_set(reterr, -EINVAL, "--tls-listen: say --tls-cert FILE and --tls-key FILE too");
        return o->tls_cert && !o->tls_listen ? daemon_options_replace(&o->tls_listen, TLS_LISTEN_DEFAULT, reterr) : 0;
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
                        return error_set(reterr, -ENOENT, "HOME is not set: say where the state shall lie with --state DIR");
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

/* The file first, so that the command line has the last word; to find the file, the command line is read twice. */
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
        if (o->help || o->routes || o->check_file || o->policy_file || o->policy_presets || o->default_config || o->config_keys || o->metrics_table)
                return 0;
        return parse_with_file(o, argc, argv, ret_settings, reterr);
}

void daemon_options_done(DaemonOptions *o) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (options[i].set == option_set_text || options[i].set == option_set_file || options[i].set == option_set_place)
                        free(*(char **) option_place(options + i, o));
        strv_done(&o->templates);
}
