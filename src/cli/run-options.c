#include "cli/run-options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/options.h"
#include "cli/run-rules.h"

#define MEMORY_DEFAULT  (UINT64_C(2) << 30)
#define MEMORY_MIN      (UINT64_C(4) << 20) /* setting up takes about one */
#define DISK_DEFAULT    (UINT64_C(1) << 30)
#define DISK_MIN        (UINT64_C(1) << 20)
#define BYTES_MAX       (UINT64_C(1) << 50)
#define PIDS_DEFAULT    512
#define NOFILE_DEFAULT  4096
#define USER_DEFAULT    1000
#define UID_MAX         65534
#define UID_OF_INIT     65533 /* nobody but PID 1 */
#define DURATION_MAX    (365 * 24 * 3600 * USEC_PER_SEC)
#define LIST_MAX        1024
#define ENV_FILE_MAX    (16 << 20)
#define STRING_MAX      (128 * 1024)        /* the kernel's MAX_ARG_STRLEN */
#define STRINGS_MAX     (2 * 1024 * 1024 - 128 * 1024) /* a quarter of an 8 MiB stack, less some room */
#define PATH_OF_USER    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define PATH_OF_ROOT    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int run_options_apply_size(const char *name, const char *value, uint64_t min, uint64_t max, uint64_t *ret, Error *reterr) {
        uint64_t bytes;
        int r = parse_size(value, &bytes);

        if (r == -EINVAL)
                return error_set(reterr, r, "--%s: '%s' is no size; write a number with K, M, G or T, as in 512M", name,
                                value);
        if (r < 0 || bytes < min || bytes > max)
                return error_set(reterr, -ERANGE, "--%s: '%s' is out of range (%llu%s to %lluT)", name, value,
                                (unsigned long long) (min < 1024 ? min : min >> 10), min < 1024 ? "" : "K",
                                (unsigned long long) (max >> 40));
        *ret = bytes;
        return 0;
}

static int apply_duration(const char *name, const char *value, usec_t *ret, Error *reterr) {
        usec_t usec;
        int r = parse_duration(value, &usec);

        if (r == -EINVAL)
                return error_set(reterr, r, "--%s: '%s' is no time; write a number with us, ms, s, m, h or d, as in 30s", name,
                                value);
        if (r < 0 || usec == 0 || usec > DURATION_MAX)
                return error_set(reterr, -ERANGE, "--%s: '%s' is out of range (more than 0, up to 365d)", name, value);
        *ret = usec;
        return 0;
}

static int run_options_apply_number(const char *name, const char *value, uint64_t min, uint64_t max, uint64_t *ret, Error *reterr) {
        int r = parse_uint64(value, min, max, ret);

        if (r < 0)
                return error_set(reterr, r, "--%s: '%s' is not a number from %llu to %llu", name, value,
                                (unsigned long long) min, (unsigned long long) max);
        return 0;
}

static int run_options_apply_memory(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        return run_options_apply_size("memory", value, MEMORY_MIN, BYTES_MAX, &o->spec.limits.memory_bytes, reterr);
}

static int run_options_apply_disk(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        o->disk_given = true;
        return run_options_apply_size("disk", value, DISK_MIN, BYTES_MAX, &o->spec.limits.disk_bytes, reterr);
}

static int run_options_apply_output_limit(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        return run_options_apply_size("output-limit", value, 1, BYTES_MAX, &o->output_max, reterr);
}

static int run_options_apply_cpus(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        int r = parse_cpus(value, &o->spec.limits.cpu_milli);

        if (r < 0)
                return error_set(reterr, r, "--cpus: '%s' is not a number of cores from 0.01 to 4096, as in 0.5", value);
        return 0;
}

static int run_options_apply_cpu_time(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        return apply_duration("cpu-time", value, &o->cpu_time, reterr);
}

static int run_options_apply_timeout(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        return apply_duration("timeout", value, &o->timeout, reterr);
}

static int run_options_apply_pids(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        uint64_t n;
        int r = run_options_apply_number("pids", value, 1, 4194303, &n, reterr);

        if (r < 0)
                return r;
        o->spec.limits.pids = (uint32_t) n;
        return 0;
}

static int run_options_apply_nofile(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        return run_options_apply_number("nofile", value, 3, 1048576, &o->nofile, reterr);
}

static int run_options_add_env(RunOptions *o, const char *assignment, Error *reterr) {
        int r;

        if (strlen(assignment) >= STRING_MAX)
                return error_set(reterr, -E2BIG, "environment variable '%.*s' has %zu bytes, at most %d are possible",
                                (int) strcspn(assignment, "="), assignment, strlen(assignment), STRING_MAX - 1);
        r = strv_set_env(&o->env, assignment);
        if (r >= 0 && o->env.n > RUN_ENV_MAX)
                r = -E2BIG;
        if (r == -E2BIG)
                return error_set(reterr, r, "too many environment variables: '%.*s' is number %d, at most %d are taken",
                                (int) strcspn(assignment, "="), assignment, RUN_ENV_MAX + 1, RUN_ENV_MAX);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        return 0;
}

static int run_options_apply_env(void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *assignment = NULL;
        const char *inherited;

        if (value[0] == '\0' || value[0] == '=')
                return error_set(reterr, -EINVAL, "--env: '%s' has no name; write NAME=value", value);
        if (strchr(value, '='))
                return run_options_add_env(target, value, reterr);

        inherited = getenv(value);
        if (!inherited)
                return error_set(reterr, -EINVAL, "--env: '%s' is not set here; write %s=value", value, value);
        if (asprintf(&assignment, "%s=%s", value, inherited) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        return run_options_add_env(target, assignment, reterr);
}

static int run_options_apply_env_file(void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        unsigned line_number = 0;
        size_t size;
        int r;

        r = file_read_alloc(AT_FDCWD, value, ENV_FILE_MAX, &text, &size);
        if (r < 0)
                return error_set(reterr, r, "--env-file: cannot read '%s': %m", value);

        for (char *line = text, *next; line < text + size; line = next) {
                char *end = memchr(line, '\n', (size_t) (text + size - line));

                line_number++;
                if (!end)
                        end = text + size;
                next = end + 1;
                if (memchr(line, 0, (size_t) (end - line)))
                        return error_set(reterr, -EINVAL, "--env-file: NUL byte in %s line %u", value, line_number);
                *end = '\0';
                if (line[0] == '\0' || line[0] == '#')
                        continue;
                if (line[0] == '=' || !strchr(line, '='))
                        return error_set(reterr, -EINVAL, "--env-file: %s line %u is not NAME=value: '%.60s'", value,
                                        line_number, line);
                r = run_options_add_env(target, line, reterr);
                if (r < 0)
                        return error_prefix(reterr, r, "--env-file: %s line %u", value, line_number);
        }
        return 0;
}

/* A path inside the sandbox: absolute, and without "..", which would mean another place than it says. */
static int inside_path(const char *name, const char *value, char **ret, Error *reterr) {
        int r = path_normalize(value, ret);

        if (r == -EINVAL)
                return error_set(reterr, r, "--%s: '%s' must be an absolute path inside the sandbox", name, value);
        if (r == -EXDEV)
                return error_set(reterr, r, "--%s: '%s' must not contain '..'", name, value);
        if (r == -ENAMETOOLONG)
                return error_set(reterr, r, "--%s: path of %zu bytes is too long: '%.40s…'", name, strlen(value), value);
        if (r < 0)
                return error_set(reterr, r, "--%s: '%s': %m", name, value);
        return 0;
}

static int run_options_apply_workdir(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        free(TAKE_PTR(o->workdir));
        return inside_path("workdir", value, &o->workdir, reterr);
}

static int run_options_apply_user(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        uint64_t uid;
        int r;

        if (strcmp(value, "user") == 0)
                uid = USER_DEFAULT;
        else if (strcmp(value, "root") == 0)
                uid = 0;
        else {
                r = parse_uint64(value, 0, UID_MAX, &uid);
                if (r >= 0 && uid == UID_OF_INIT)
                        return error_set(reterr, -EINVAL, "--user: '%s' is the id of the sandbox's PID 1; choose another", value);
                if (r < 0)
                        return error_set(reterr, r, "--user: '%s' is not 'user', 'root' or a number from 0 to %d", value,
                                        UID_MAX);
        }
        o->spec.uid = (uid_t) uid;
        o->spec.gid = (gid_t) uid;
        return 0;
}

static bool covers_guard(const char *path) {
        static const char *const guarded[] = { "/proc", "/dev", "/sys" };

        for (size_t i = 0; i < ELEMENTSOF(guarded); i++)
                if (path_is_below(path, guarded[i]))
                        return true;
        return strcmp(path, "/") == 0;
}

static int run_options_check_target(const char *name, const char *path, Error *reterr) {
        if (covers_guard(path))
                return error_set(reterr, -EINVAL, "--%s: '%s' is a place that the sandbox guards; choose another", name,
                                path);
        return 0;
}

/* SRC:DST[:rw|:ro]. The source may hold colons if the rest is unambiguous: the last absolute part is the target. */
static int split_bind(const char *value, char **ret_source, char **ret_target, bool *ret_writable) {
        _cleanup_free_ char *copy = strdup(value);
        bool writable = false;
        size_t n;
        char *colon;

        if (!copy)
                return -ENOMEM;
        n = strlen(copy);
        if (n > 3 && (strcmp(copy + n - 3, ":rw") == 0 || strcmp(copy + n - 3, ":ro") == 0)) {
                writable = copy[n - 1] == 'w';
                copy[n - 3] = '\0';
        }
        colon = strrchr(copy, ':');
        if (!colon || colon == copy || colon[1] == '\0')
                return -EINVAL;
        *colon = '\0';
        *ret_target = strdup(colon + 1);
        *ret_source = TAKE_PTR(copy);
        *ret_writable = writable;
        return *ret_target ? 0 : -ENOMEM;
}

static int add_bind(RunOptions *o, JailBind bind) {
        if (ARRAY_RESERVE(o->spec.binds, o->binds_room, o->spec.n_binds + 1) < 0)
                return -ENOMEM;
        bind.layer_fd = bind.source_fd = -EBADF;
        o->spec.binds[o->spec.n_binds++] = bind;
        return 0;
}

static int apply_bind(void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *source = NULL, *raw = NULL, *inside = NULL;
        RunOptions *o = target;
        bool writable;
        struct stat st;
        int r;

        if (o->spec.n_binds >= LIST_MAX)
                return error_set(reterr, -E2BIG, "--bind: more than %d, '%s' is one too many", LIST_MAX, value);
        r = split_bind(value, &source, &raw, &writable);
        if (r < 0)
                return error_set(reterr, r, "--bind: '%s' is not SOURCE:TARGET or SOURCE:TARGET:rw", value);
        r = inside_path("bind", raw, &inside, reterr);
        if (r < 0)
                return r;
        r = run_options_check_target("bind", inside, reterr);
        if (r < 0)
                return r;
        if (stat(source, &st) < 0)
                return error_set(reterr, -errno, "--bind: source '%s': %m", source);
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
                return error_set(reterr, -EINVAL, "--bind: source '%s' is neither a directory nor a file", source);
        if (access(source, R_OK) < 0)
                return error_set(reterr, -errno, "--bind: source '%s' cannot be read: %m", source);

        if (add_bind(o, (JailBind) { .source = source, .target = inside, .writable = writable }) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        source = inside = NULL;
        return 0;
}

static int apply_txn(void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *raw = NULL, *source = NULL, *inside = NULL;
        RunOptions *o = target;
        struct stat st;
        int r;

        if (o->txn.dir)
                return error_set(reterr, -EINVAL, "--txn: '%s' is the second; a run has one transaction", value);
        r = run_txn_split(value, &o->txn.dir, &raw);
        if (r < 0)
                return error_set(reterr, r, "--txn: '%s' is not DIR or DIR:TARGET", value);
        r = inside_path("txn", raw ? raw : "/workspace", &o->txn.target, reterr);
        if (r < 0)
                return r;
        r = run_options_check_target("txn", o->txn.target, reterr);
        if (r < 0)
                return r;
        if (stat(o->txn.dir, &st) < 0)
                return error_set(reterr, -errno, "--txn: '%s': %m", o->txn.dir);
        if (!S_ISDIR(st.st_mode))
                return error_set(reterr, -ENOTDIR, "--txn: '%s' is not a directory", o->txn.dir);
        if (access(o->txn.dir, R_OK | X_OK) < 0)
                return error_set(reterr, -errno, "--txn: '%s' cannot be read: %m", o->txn.dir);
        source = realpath(o->txn.dir, NULL);
        inside = strdup(o->txn.target);
        o->txn.bind = o->spec.n_binds;
        if (!source || !inside || add_bind(o, (JailBind) { .source = source, .target = inside, .writable = true }) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        source = inside = NULL;
        return 0;
}

static int apply_txn_id(void *target, const char *value, Error *reterr) {
        if (!txn_id_is_valid(value))
                return error_set(reterr, -EINVAL, "--txn-id: '%s' is no transaction's id: `cove txn ls` lists them", value);
        ((RunOptions *) target)->txn.id = value;
        return 0;
}

static int apply_txn_auto(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;

        if (strcmp(value, "commit") == 0)
                o->txn.at_end = TXN_AUTO_COMMIT;
        else if (strcmp(value, "discard") == 0)
                o->txn.at_end = TXN_AUTO_DISCARD;
        else
                return error_set(reterr, -EINVAL, "--txn-auto: '%s' is neither commit nor discard", value);
        return 0;
}

static int run_options_apply_file(void *target, const char *value, Error *reterr) {
        const char *equals = strchr(value, '=');
        _cleanup_free_ char *raw = NULL, *inside = NULL, *source = NULL;
        _cleanup_close_ int fd = -EBADF;
        RunOptions *o = target;
        struct stat st;
        int r;

        if (!equals || equals == value || equals[1] == '\0')
                return error_set(reterr, -EINVAL, "--file: '%s' is not TARGET=SOURCE", value);
        if (o->spec.n_files >= LIST_MAX)
                return error_set(reterr, -E2BIG, "--file: more than %d, '%s' is one too many", LIST_MAX, value);
        raw = strndup(value, (size_t) (equals - value));
        source = strdup(equals + 1);
        if (!raw || !source)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = inside_path("file", raw, &inside, reterr);
        if (r < 0)
                return r;
        r = run_options_check_target("file", inside, reterr);
        if (r < 0)
                return r;
        fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "--file: source '%s': %m", source);
        if (!S_ISREG(st.st_mode))
                return error_set(reterr, -EINVAL, "--file: source '%s' is not a regular file (for a directory: --bind)",
                                source);

        if (ARRAY_RESERVE(o->spec.files, o->files_room, o->spec.n_files + 1) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        o->spec.files[o->spec.n_files++] = (JailFile) {
                .source = TAKE_PTR(source),
                .target = TAKE_PTR(inside),
                .fd = TAKE_FD(fd),
        };
        return 0;
}

static int run_options_apply_template(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        struct stat st;

        o->spec.template_dir = NULL;
        if (strcmp(value, "host") == 0)
                return 0;
        if (stat(value, &st) < 0)
                return error_set(reterr, -errno, "--template: '%s': %m", value);
        if (!S_ISDIR(st.st_mode))
                return error_set(reterr, -ENOTDIR, "--template: '%s' is not a directory (and not 'host')", value);
        if (access(value, R_OK | X_OK) < 0)
                return error_set(reterr, -errno, "--template: '%s' cannot be read: %m", value);
        o->spec.template_dir = value;
        return 0;
}

static int apply_hostname(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        size_t n = strlen(value);

        if (n == 0 || n > 63 || strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != n ||
                        value[0] == '-' || value[0] == '.')
                return error_set(reterr, -EINVAL, "--hostname: '%.80s' is no host name (1 to 63 letters, digits, '-', '.')",
                                value);
        o->spec.hostname = value;
        return 0;
}

static int run_options_apply_keep(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;

        free(TAKE_PTR(o->keep));
        if (value[0] == '\0')
                return error_set(reterr, -EINVAL, "--keep: needs a directory, got ''");
        o->keep = strdup(value);
        return o->keep ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static int apply_report(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;

        if (value[0] == '\0')
                return error_set(reterr, -EINVAL, "--report: needs a file or '-', got ''");
        o->report = value;
        return 0;
}

static int run_options_apply_allow_missing(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        Guard g = guard_from_name(value);

        if (g < 0)
                return error_set(reterr, -EINVAL, "--allow-missing: there is no guard '%s'; `cove doctor` lists them", value);
        if (!guard_is_optional(g))
                return error_set(reterr, -EINVAL, "--allow-missing: there is no sandbox without the guard '%s'", value);
        o->spec.allow_missing |= GUARD_BIT(g);
        return 0;
}

static int run_options_apply_tty(void *target, const char *value, Error *reterr) {
        ((RunOptions *) target)->tty = true;
        return 0;
}

static int run_options_apply_verbose(void *target, const char *value, Error *reterr) {
        log_verbosity++;
        return 0;
}

static int run_options_apply_help(void *target, const char *value, Error *reterr) {
        ((RunOptions *) target)->help = true;
        return 0;
}

static const Option run_options[] = {
        { "memory", 0, "SIZE", "memory and swap of the whole sandbox (default 2G)", run_options_apply_memory },
        { "cpus", 0, "N", "share of cores, as in 0.5 (default: all)", run_options_apply_cpus },
        { "cpu-time", 0, "TIME", "CPU time of the whole sandbox (default: no limit)", run_options_apply_cpu_time },
        { "timeout", 0, "TIME", "wall time, as in 30s or 5m (default: no limit)", run_options_apply_timeout },
        { "pids", 0, "N", "processes at the same time (default 512)", run_options_apply_pids },
        { "disk", 0, "SIZE",
                "everything written; the guest meets ENOSPC. Up to half of --memory\n"
                "it lies in memory and counts as such, else in a disk image\n"
                "(default: half of --memory, at most 1G)",
                run_options_apply_disk },
        { "output-limit", 0, "SIZE", "stdout and stderr together; more ends the sandbox (status 137)", run_options_apply_output_limit },
        { "nofile", 0, "N", "open files of each process (default 4096)", run_options_apply_nofile },
        { "env", 'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's", run_options_apply_env },
        { "env-file", 0, "FILE", "lines of NAME=VALUE", run_options_apply_env_file },
        { "workdir", 'w', "DIR", "working directory (default /workspace); made if missing", run_options_apply_workdir },
        { "user", 'u', "USER", "user (uid 1000, default), root (of the sandbox) or a UID", run_options_apply_user },
        { "bind", 0, "SRC:DST[:rw]",
                "show a file or directory of the host inside, read-only\n"
                "unless :rw; its owner appears as the guest's user",
                apply_bind },
        { "txn", 0, "DIR[:TARGET]",
                "a directory of the host that the guest may change (at /workspace,\n"
                "and works in): the host's stays as it is, the changes are kept for\n"
                "cove diff, commit and discard",
                apply_txn },
        { "txn-id", 0, "ID", "go on with a kept transaction on --txn DIR", apply_txn_id },
        { "txn-auto", 0, "commit|discard", "at the end: take the changes if the command ended with 0; drop them", apply_txn_auto },
        { "file", 0, "DST=SRC", "put a copy of a file inside", run_options_apply_file },
        { "template", 0, "host|DIR", "what / starts from: the host's /usr (default), or a directory", run_options_apply_template },
        { "net", 0, "none|egress|open|host",
                "loopback only (default); what --allow names, through a gate;\n"
                "the world, through it, but no private networks; or the host's\n"
                "network, unguarded",
                apply_net },
        { "allow", 0, "RULE",
                "may be reached: example.org, *.example.org, https://example.org,\n"
                "tcp://example.org:5432, 203.0.113.0/24:8000-8100; means --net egress",
                apply_allow },
        { "deny", 0, "RULE", "may not be reached, whatever else allows it", apply_deny },
        { "plain-http", 0, NULL, "HTTP without TLS may go where rules allow it, too", apply_plain_http },
        { "reachable", 0, "CIDR", "private addresses that rules may name (default: none)", apply_reachable },
        { "dns", 0, "ADDRESS", "who looks names up for the gate (default: the host's)", apply_dns },
        { "quiet", 'q', NULL, "do not tell of each connection that is denied, nor of a transaction", apply_quiet },
        { "read-only-path", 0, "PATH", "a path of the sandbox that nobody can write to", apply_read_only_path },
        { "writable-path", 0, "PATH|none",
                "only such paths are writable, everything else is read-only;\n"
                "made if missing",
                apply_writable_path },
        { "deny-path", 0, "PATH", "a path of the sandbox that nobody can look into", apply_deny_path },
        { "max-file-size", 0, "SIZE", "of each file; beyond it the guest meets EFBIG (default: no limit)", apply_max_file_size },
        { "no-processes", 0, NULL, "the command may have threads, but make no processes", apply_no_processes },
        { "tty", 't', NULL, "give the command a terminal", run_options_apply_tty },
        { "hostname", 0, "NAME", "host name inside (default cove)", apply_hostname },
        { "keep", 0, "DIR",
                "leave the writable layer in DIR (new or empty); there is no\n"
                "limit on the disk then",
                run_options_apply_keep },
        { "report", 0, "FILE|-", "write a JSON report when it has ended (- is stdout)", apply_report },
        { "allow-missing", 0, "GUARD",
                "run also if this guard cannot be raised here; the report\n"
                "lists what was left out",
                run_options_apply_allow_missing },
        { "verbose", 'v', NULL, "say more", run_options_apply_verbose },
        { "help", 'h', NULL, "print this", run_options_apply_help },
};

void run_options_print_help(void) {
        printf("usage: cove run [options] -- COMMAND [ARG…]\n\n"
               "Runs the command in a sandbox of its own: no network unless you say so, no view of the host's files,\n"
               "processes or users, limits on everything, and nothing left when it ends.\n\n"
               "options:\n");
        options_print(run_options, ELEMENTSOF(run_options));
        printf("\nSIZE takes K, M, G, T; TIME takes us, ms, s, m, h, d.\n\n"
               "exit status: the command's own; 128+N when signal N ended it; 124 time (--timeout, --cpu-time);\n"
               "137 memory or output; 125 cove failed; 126 the command cannot be executed; 127 it was not found.\n");
}

static int check_strings(const RunOptions *o, Error *reterr) {
        size_t total = 0;

        for (size_t i = 0; i < o->command.n; i++) {
                size_t n = strlen(o->command.items[i]) + 1;
                if (n > STRING_MAX)
                        return error_set(reterr, -E2BIG, "argument %zu of the command has %zu bytes, at most %d are possible: "
                                                         "'%.40s…'",
                                        i, n - 1, STRING_MAX - 1, o->command.items[i]);
                total += n + sizeof(char *);
        }
        for (size_t i = 0; i < o->env.n; i++)
                total += strlen(o->env.items[i]) + 1 + sizeof(char *);
        if (total > STRINGS_MAX)
                return error_set(reterr, -E2BIG, "command and environment have %zu bytes together, at most %d are possible",
                                total, STRINGS_MAX);
        return 0;
}

/* What the guest's environment has when nothing was given. Goes first, so that --env wins. */
static int default_environment(RunOptions *o, Error *reterr) {
        const char *term = getenv("TERM");
        const struct {
                const char *name, *value;
        } defaults[] = {
                { "PATH",    o->spec.uid == 0 ? PATH_OF_ROOT : PATH_OF_USER  },
                { "HOME",    o->spec.uid == 0 ? "/root" : "/home/user"       },
                { "USER",    o->spec.uid == 0 ? "root" : "user"              },
                { "LOGNAME", o->spec.uid == 0 ? "root" : "user"              },
                { "SHELL",   "/bin/bash"                                     },
                { "LANG",    "C.UTF-8"                                       },
                { "TERM",    o->tty ? (term && *term ? term : "xterm") : NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(defaults); i++) {
                char text[256];

                if (!defaults[i].value || strv_get_env(&o->env, defaults[i].name))
                        continue;
                (void) snprintf(text, sizeof(text), "%s=%.200s", defaults[i].name, defaults[i].value);
                if (strv_push(&o->env, text) < 0)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        return 0;
}

static int finish_spec(RunOptions *o, Error *reterr) {
        uint64_t half = o->spec.limits.memory_bytes / 2;
        int r;

        if (o->keep && o->disk_given)
                return error_set(reterr, -EINVAL, "--disk cannot be enforced on the directory of --keep '%s': drop one of "
                                                  "the two",
                                o->keep);
        if (!o->disk_given)
                o->spec.limits.disk_bytes = MIN_OF(DISK_DEFAULT, half);
        if (!o->txn.dir && (o->txn.id || o->txn.at_end != TXN_AUTO_KEEP))
                return error_set(reterr, -EINVAL, "--txn-id and --txn-auto are for --txn DIR, which is missing");
        if (!o->workdir) {
                o->workdir = strdup(o->txn.dir ? o->txn.target : "/workspace");
                if (!o->workdir)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        o->spec.limits.count = o->report || o->cpu_time != USEC_INFINITY;
        o->spec.workdir = o->workdir;
        o->spec.keep_dir = o->keep;
        r = default_environment(o, reterr);
        if (r < 0)
                return r;
        r = id_make(o->spec.id);
        if (r < 0)
                return error_set(reterr, r, "cannot get random bytes: %m");
        return 0;
}

int run_options_parse(RunOptions *o, int argc, char **argv, Error *reterr) {
        int i, r;

        *o = (RunOptions) {
                .spec = {
                        .keep_fd = -EBADF,
                        .hostname = "cove",
                        .uid = USER_DEFAULT,
                        .gid = USER_DEFAULT,
                        .limits = { .memory_bytes = MEMORY_DEFAULT, .pids = PIDS_DEFAULT },
                },
                .command = STRV_INIT(RUN_ARGS_MAX),
                .env = STRV_INIT(RUN_ENV_MAX + RUN_ENV_DEFAULTS_MAX),
                .timeout = USEC_INFINITY,
                .cpu_time = USEC_INFINITY,
                .output_max = UINT64_MAX,
                .nofile = NOFILE_DEFAULT,
                .net = RUN_NET_INIT,
                .txn = RUN_TXN_INIT,
        };

        i = options_parse(run_options, ELEMENTSOF(run_options), argc, argv, o, reterr);
        if (i < 0)
                return i;
        if (o->help)
                return 0;
        if (i >= argc)
                return error_set(reterr, -EINVAL, "no command given: cove run [options] -- COMMAND [ARG…]");
        if (argv[i][0] == '\0')
                return error_set(reterr, -EINVAL, "the command is empty: ''");
        for (; i < argc; i++)
                if (strv_push(&o->command, argv[i]) < 0)
                        return error_set(reterr, -E2BIG, "the command has more than %d words", RUN_ARGS_MAX);
        r = check_strings(o, reterr);
        if (r < 0)
                return r;
        o->spec.rules = &o->rules;
        r = run_net_finish(&o->net, reterr);
        if (r < 0)
                return r;
        o->spec.net_host = o->net.mode == RUN_NET_HOST;
        if (run_net_is_gated(&o->net))
                o->spec.network.shape = SPAWN_NETWORK_GATED;
        return finish_spec(o, reterr);
}

void run_options_done(RunOptions *o) {
        for (size_t i = 0; i < o->spec.n_binds; i++) {
                free(o->spec.binds[i].source);
                free(o->spec.binds[i].target);
                (void) fd_close(o->spec.binds[i].layer_fd);
                (void) fd_close(o->spec.binds[i].source_fd);
        }
        for (size_t i = 0; i < o->spec.n_files; i++) {
                free(o->spec.files[i].source);
                free(o->spec.files[i].target);
                (void) fd_close(o->spec.files[i].fd);
        }
        free(o->spec.binds);
        free(o->spec.files);
        free(o->workdir);
        free(o->keep);
        (void) fd_close(o->spec.keep_fd);
        strv_done(&o->command);
        strv_done(&o->env);
        run_net_done(&o->net);
        run_txn_done(&o->txn);
}

const char *run_options_path(const RunOptions *o) {
        return strv_get_env(&o->env, "PATH"); /* there is always one, be it a default */
}
