#include "daemon/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/options.h"
#include "jail/guard.h"

#define LISTEN_DEFAULT      "127.0.0.1:8787"
#define STATE_OF_ROOT       "/var/lib/cove"
#define STATE_OF_USER       ".local/share/cove"
#define USER_DEFAULT        "cove"
#define JOURNALS_DEFAULT    (UINT64_C(10) << 30)
#define KEEP_ENDED_DEFAULT  (24 * 3600 * USEC_PER_SEC)
#define SANDBOXES_DEFAULT   10000
#define CONNECTIONS_DEFAULT 4096
#define IDLE_DEFAULT        60
#define TEMPLATES_MAX       64
#define CONFIG_MAX          (1 << 20)

static int replace(char **target, const char *value, Error *reterr) {
        char *copy = strdup(value);

        if (!copy)
                return error_set(reterr, -ENOMEM, "out of memory");
        free(*target);
        *target = copy;
        return 0;
}

static int apply_listen(void *target, const char *value, Error *reterr) {
        return replace(&((DaemonOptions *) target)->listen, value, reterr);
}

static int absolute(char **target, const char *name, const char *value, Error *reterr) {
        char *path = realpath(value, NULL);

        if (!path && value[0] != '/') {
                _cleanup_free_ char *here = getcwd(NULL, 0);

                if (!here || asprintf(&path, "%s/%s", here, value) < 0)
                        return error_set(reterr, -ENOMEM, "--%s: cannot find out where '%s' is", name, value);
        }
        if (!path)
                return replace(target, value, reterr);
        free(*target);
        *target = path;
        return 0;
}

static int apply_state(void *target, const char *value, Error *reterr) {
        if (!*value)
                return error_set(reterr, -EINVAL, "--state: a directory is wanted");
        return absolute(&((DaemonOptions *) target)->state_dir, "state", value, reterr);
}

static int apply_socket(void *target, const char *value, Error *reterr) {
        if (!*value)
                return error_set(reterr, -EINVAL, "--socket: a path is wanted");
        return absolute(&((DaemonOptions *) target)->socket_path, "socket", value, reterr);
}

static int apply_config(void *target, const char *value, Error *reterr) {
        return replace(&((DaemonOptions *) target)->config_file, value, reterr);
}

static int apply_user(void *target, const char *value, Error *reterr) {
        return replace(&((DaemonOptions *) target)->user, value, reterr);
}

static int apply_flag(bool *flag, const char *name, const char *value, Error *reterr) {
        if (!value || strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0)
                *flag = true;
        else if (strcmp(value, "no") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
                *flag = false;
        else
                return error_set(reterr, -EINVAL, "%s: '%s' is neither yes nor no", name, value);
        return 0;
}

static int apply_stop_all(void *target, const char *value, Error *reterr) {
        return apply_flag(&((DaemonOptions *) target)->stop_all, "stop-all", value, reterr);
}

static int apply_public(void *target, const char *value, Error *reterr) {
        return apply_flag(&((DaemonOptions *) target)->public, "public", value, reterr);
}

static int apply_help(void *target, const char *value, Error *reterr) {
        ((DaemonOptions *) target)->help = true;
        return 0;
}

static int apply_routes(void *target, const char *value, Error *reterr) {
        ((DaemonOptions *) target)->routes = true;
        return 0;
}

static int apply_metrics_table(void *target, const char *value, Error *reterr) {
        ((DaemonOptions *) target)->metrics_table = true;
        return 0;
}

static int apply_verbose(void *target, const char *value, Error *reterr) {
        bool on = false;
        int r = apply_flag(&on, "verbose", value, reterr);

        log_verbosity = on;
        return r;
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

static int apply_number(uint64_t *target, const char *name, uint64_t min, uint64_t max, const char *value, Error *reterr) {
        if (parse_uint64(value, min, max, target) < 0)
                return error_set(reterr, -EINVAL, "--%s: '%s' is not a number from %llu to %llu", name, value,
                                (unsigned long long) min, (unsigned long long) max);
        return 0;
}

static int apply_max_sandboxes(void *target, const char *value, Error *reterr) {
        return apply_number(&((DaemonOptions *) target)->sandboxes_max, "max-sandboxes", 1, 12288, value, reterr);
}

static int apply_max_connections(void *target, const char *value, Error *reterr) {
        return apply_number(&((DaemonOptions *) target)->connections_max, "max-connections", 8, 65536, value, reterr);
}

static int apply_idle(void *target, const char *value, Error *reterr) {
        return apply_number(&((DaemonOptions *) target)->idle_seconds, "idle-timeout", 1, 86400, value, reterr);
}

static int apply_allow_missing(void *target, const char *value, Error *reterr) {
        Guard g = guard_from_name(value);

        if (g < 0)
                return error_set(reterr, -EINVAL, "--allow-missing: there is no guard '%s': see `cove doctor`", value);
        ((DaemonOptions *) target)->allow_missing |= GUARD_BIT(g);
        return 0;
}

static int apply_template(void *target, const char *value, Error *reterr) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value || equals[1] != '/')
                return error_set(reterr, -EINVAL, "--template: '%s' is not NAME=/DIRECTORY", value);
        if (strv_push(&((DaemonOptions *) target)->templates, value) < 0)
                return error_set(reterr, -E2BIG, "--template: at most %d", TEMPLATES_MAX);
        return 0;
}

static const Option options[] = {
        { "listen", 0, "ADDRESS:PORT", "TCP address (default " LISTEN_DEFAULT "; port 0: any free one; none: no TCP)", apply_listen },
        { "public", 0, NULL, "allow an address that other machines can reach", apply_public },
        { "state", 0, "DIR", "everything lies below it (default " STATE_OF_ROOT ", for a plain\nuser ~/" STATE_OF_USER ")", apply_state },
        { "socket", 0, "PATH", "unix socket for its owner and root (default DIR/cove.sock)", apply_socket },
        { "config", 0, "FILE", "lines of `option = value`, named as here", apply_config },
        { "user", 0, "NAME", "whom to become when started as root (default " USER_DEFAULT "; root: nobody else)", apply_user },
        { "stop-all", 0, NULL, "end all sandboxes on SIGTERM (default: they go on)", apply_stop_all },
        { "template", 0, "NAME=DIR", "a directory that sandboxes may start from", apply_template },
        { "journals", 0, "SIZE", "what the output of all ended commands may take (default 10G)", apply_journals },
        { "keep-ended", 0, "TIME", "how long an ended sandbox can still be looked at (default 24h)", apply_keep_ended },
        { "max-sandboxes", 0, "N", "at the same time (default 10000)", apply_max_sandboxes },
        { "max-connections", 0, "N", "at the same time (default 4096)", apply_max_connections },
        { "idle-timeout", 0, "SECONDS", "after which a silent connection is cut (default 60)", apply_idle },
        { "allow-missing", 0, "GUARD", "make sandboxes also if this guard cannot be raised here", apply_allow_missing },
        { "routes", 0, NULL, "print the routes of the API as JSON and end", apply_routes },
        { "metrics-table", 0, NULL, "print the table of metrics as JSON and end", apply_metrics_table },
        { "verbose", 'v', NULL, "say more", apply_verbose },
        { "help", 'h', NULL, "print this", apply_help },
};

void daemon_options_print_help(void) {
        printf("usage: cove serve [options]\n\n"
               "Serves sandboxes over HTTP. They outlive their clients, and this daemon: start it again,\n"
               "and they are still there.\n\n"
               "options:\n");
        options_print(options, ELEMENTSOF(options));
        printf("\nThe admin token is in DIR/admin.token. The API is described at /api/openapi.json.\n"
               "SIGTERM ends the daemon; sandboxes go on unless --stop-all was given.\n");
}

static char *trim(char *text) {
        char *end = text + strlen(text);

        text += strspn(text, " \t");
        while (end > text && strchr(" \t\r", end[-1]))
                *--end = '\0';
        return text;
}

static int apply_line(DaemonOptions *o, const char *file, unsigned number, char *line, Error *reterr) {
        char *equals, *name, *value = NULL;

        line = trim(line);
        if (!*line || *line == '#')
                return 0;
        equals = strchr(line, '=');
        if (equals) {
                *equals = '\0';
                value = trim(equals + 1);
        }
        name = trim(line);
        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                int r;

                if (strcmp(options[i].name, name) != 0 || strcmp(name, "config") == 0)
                        continue;
                if (options[i].argument && !value)
                        return error_set(reterr, -EINVAL, "%s:%u: '%s' wants a value: %s = …", file, number, name, name);
                r = options[i].apply(o, value, reterr);
                return r < 0 ? error_prefix(reterr, r, "%s:%u", file, number) : 0;
        }
        return error_set(reterr, -EINVAL, "%s:%u: there is no option '%s': see `cove serve --help`", file, number, name);
}

static int read_config(DaemonOptions *o, const char *file, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        unsigned number = 0;
        size_t size;
        int r;

        r = file_read_alloc(AT_FDCWD, file, CONFIG_MAX, &text, &size);
        if (r < 0)
                return error_set(reterr, r, "cannot read the config file '%s': %m", file);
        for (char *line = text, *next; line; line = next) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                r = apply_line(o, file, ++number, line, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int fill_defaults(DaemonOptions *o, Error *reterr) {
        const char *home = getenv("HOME");

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
int daemon_options_parse(DaemonOptions *o, int argc, char **argv, Error *reterr) {
        int r;

        *o = (DaemonOptions) {
                .journal_total_bytes = JOURNALS_DEFAULT,
                .keep_ended_usec = KEEP_ENDED_DEFAULT,
                .sandboxes_max = SANDBOXES_DEFAULT,
                .connections_max = CONNECTIONS_DEFAULT,
                .idle_seconds = IDLE_DEFAULT,
                .templates = STRV_INIT(TEMPLATES_MAX),
        };
        r = options_parse(options, ELEMENTSOF(options), argc, argv, o, reterr);
        if (r < 0)
                return r;
        if (r < argc)
                return error_set(reterr, -EINVAL, "'%s': cove serve takes options only", argv[r]);
        if (o->help || o->routes || o->metrics_table)
                return 0;
        if (o->config_file) {
                _cleanup_free_ char *file = TAKE_PTR(o->config_file);

                strv_done(&o->templates);
                o->templates = (Strv) STRV_INIT(TEMPLATES_MAX);
                r = read_config(o, file, reterr);
                if (r >= 0)
                        r = options_parse(options, ELEMENTSOF(options), argc, argv, o, reterr);
                if (r < 0)
                        return r;
        }
        return fill_defaults(o, reterr);
}

void daemon_options_done(DaemonOptions *o) {
        free(o->listen);
        free(o->state_dir);
        free(o->socket_path);
        free(o->config_file);
        free(o->user);
        strv_done(&o->templates);
}
