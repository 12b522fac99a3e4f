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
#define UID_OF_INIT     65533 /* only PID 1 has it */
#define DURATION_MAX    (365 * 24 * 3600 * USEC_PER_SEC)
#define LIST_MAX        1024
#define ENV_FILE_MAX    (16 << 20)
#define STRING_MAX      (128 * 1024)        /* the kernel's MAX_ARG_STRLEN */
#define STRINGS_MAX     (2 * 1024 * 1024 - 128 * 1024) /* a quarter of an 8 MiB stack, less some room */
#define PATH_OF_USER    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define PATH_OF_ROOT    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int run_size(const Option *o, void *target, const char *value, Error *reterr) {
        uint64_t bytes;
        int r = parse_size(value, &bytes);

        if (r == -EINVAL)
                return error_set(reterr, r,
                                "--%s: '%s' is no size; write a number with K, M, G or T, as in 512M",
                                o->name, value);
        if (r >= 0 && bytes < o->min && value[strspn(value, "0123456789")] == '\0' && bytes << 20 >= o->min)
                return error_set(reterr, -ERANGE, "--%s: %llu bytes is below the minimum of %lluM; did you mean %sM?", o->name, (unsigned long long) bytes,
                                (unsigned long long) (o->min >> 20), value);
        if (r < 0 || bytes < o->min || bytes > o->max)
                return error_set(reterr, -ERANGE, "--%s: '%s' is out of range (%llu%s to %lluT)", o->name, value,
                                (unsigned long long) (o->min < 1024 ? o->min : o->min >> 10), o->min < 1024 ? "" : "K",
                                (unsigned long long) (o->max >> 40));
        *(uint64_t *) option_field(o, target) = bytes;
        return 0;
}

static int run_duration(const Option *o, void *target, const char *value, Error *reterr) {
        usec_t usec;
        int r = parse_duration(value, &usec);

        if (r == -EINVAL)
                return error_set(reterr, r,
                                "--%s: '%s' is no time; write a number with us, ms, s, m, h or d, as in 30s",
                                o->name, value);
        if (r < 0 || usec == 0 || usec > DURATION_MAX)
                return error_set(reterr, -ERANGE, "--%s: '%s' is out of range (more than 0, up to 365d)", o->name, value);
        *(usec_t *) option_field(o, target) = usec;
        return 0;
}

static int run_cpus(const Option *o, void *target, const char *value, Error *reterr) {
        int r = parse_cpus(value, option_field(o, target));

        if (r < 0)
                return error_set(reterr, r, "--cpus: '%s' is not a number of cores from 0.01 to 4096, as in 0.5", value);
        return 0;
}

static int run_options_add_env(RunOptions *o, const char *assignment, Error *reterr) {
        int r;

        if (strlen(assignment) >= STRING_MAX)
                return error_set(reterr, -E2BIG, "environment variable '%.*s' has %zu bytes; the maximum is %d",
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

static int run_env(const Option *o, void *target, const char *value, Error *reterr) {
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

static int run_options_take_line(const Option *o, void *target, const OptionLine *line, Error *reterr) {
        int r;

        if (line->text[0] == '=' || !strchr(line->text, '='))
                return error_set(reterr, -EINVAL, "--env-file: %s line %u is not NAME=value: '%.60s'",
                                line->path, line->number, line->text);
        r = run_options_add_env(target, line->text, reterr);
        return r < 0 ? error_prefix(reterr, r, "--env-file: %s line %u", line->path, line->number) : 0;
}

static int run_env_file(const Option *o, void *target, const char *value, Error *reterr) {
        return option_each_line(o, value, ENV_FILE_MAX, run_options_take_line, target, reterr);
}

/* A path inside the sandbox must be absolute, and without "..", which may lead to another place than it
 * seems. */
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

static int run_workdir(const Option *o, void *target, const char *value, Error *reterr) {
        char **workdir = option_field(o, target);

        free(TAKE_PTR(*workdir));
        return inside_path(o->name, value, workdir, reterr);
}

static int run_user(const Option *o, void *target, const char *value, Error *reterr) {
        RunOptions *run = target;
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
        run->spec.uid = (uid_t) uid;
        run->spec.gid = (gid_t) uid;
        return 0;
}

static bool covers_guard(const char *path) {
        static const char *const guarded[] = { "/proc", "/dev", "/sys" };

        for (size_t i = 0; i < ELEMENTSOF(guarded); i++)
                if (path_is_below(path, guarded[i]))
                        return true;
        return strcmp(path, "/") == 0;
}

/* The place inside at which something of the host is mounted. */
static int run_options_target(const Option *o, const char *value, char **ret, Error *reterr) {
        int r = inside_path(o->name, value, ret, reterr);

        if (r >= 0 && covers_guard(*ret))
                return error_set(reterr, -EINVAL,
                                "--%s: '%s' is a place that the sandbox guards; choose another", o->name,
                                *ret);
        return r;
}

/* A directory of the host that we can look into. */
static int run_options_check_directory(const Option *o, const char *path, const char *alternative, Error *reterr) {
        struct stat st;

        if (stat(path, &st) < 0)
                return error_set(reterr, -errno, "--%s: '%s': %m", o->name, path);
        if (!S_ISDIR(st.st_mode))
                return error_set(reterr, -ENOTDIR, "--%s: '%s' is not a directory%s", o->name, path, alternative);
        if (access(path, R_OK | X_OK) < 0)
                return error_set(reterr, -errno, "--%s: '%s' cannot be read: %m", o->name, path);
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

static int add_bind(RunOptions *run, JailBind bind) {
        if (ARRAY_EXTEND(run->spec.binds, run->spec.n_binds) < 0)
                return -ENOMEM;
        bind.layer_fd = bind.source_fd = -EBADF;
        run->spec.binds[run->spec.n_binds++] = bind;
        return 0;
}

static int run_bind(const Option *o, void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *source = NULL, *raw = NULL, *inside = NULL;
        RunOptions *run = target;
        bool writable;
        struct stat st;
        int r;

        if (run->spec.n_binds >= LIST_MAX)
                return error_set(reterr, -E2BIG, "--bind: more than %d, '%s' is one too many", LIST_MAX, value);
        r = split_bind(value, &source, &raw, &writable);
        if (r < 0)
                return error_set(reterr, r, "--bind: '%s' is not SOURCE:TARGET or SOURCE:TARGET:rw", value);
        r = run_options_target(o, raw, &inside, reterr);
        if (r < 0)
                return r;
        if (stat(source, &st) < 0)
                return error_set(reterr, -errno, "--bind: source '%s': %m", source);
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
                return error_set(reterr, -EINVAL, "--bind: source '%s' is neither a directory nor a file", source);
        if (access(source, R_OK) < 0)
                return error_set(reterr, -errno, "--bind: source '%s' cannot be read: %m", source);

        if (add_bind(run, (JailBind) { .source = source, .target = inside, .writable = writable }) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        source = inside = NULL;
        return 0;
}

static int run_txn(const Option *o, void *target, const char *value, Error *reterr) {
        _cleanup_free_ char *raw = NULL, *source = NULL, *inside = NULL;
        RunOptions *run = target;
        int r;

        if (run->txn.dir)
                return error_set(reterr, -EINVAL, "--txn: '%s' is the second; a run has one transaction", value);
        r = run_txn_split(value, &run->txn.dir, &raw);
        if (r < 0)
                return error_set(reterr, r, "--txn: '%s' is not DIR or DIR:TARGET", value);
        r = run_options_target(o, raw ? raw : "/workspace", &run->txn.target, reterr);
        if (r >= 0)
                r = run_options_check_directory(o, run->txn.dir, "", reterr);
        if (r < 0)
                return r;
        source = realpath(run->txn.dir, NULL);
        inside = strdup(run->txn.target);
        run->txn.bind = run->spec.n_binds;
        if (!source || !inside || add_bind(run, (JailBind) { .source = source, .target = inside, .writable = true }) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        source = inside = NULL;
        return 0;
}

static int run_txn_id(const Option *o, void *target, const char *value, Error *reterr) {
        if (!txn_id_is_valid(value))
                return error_set(reterr, -EINVAL, "--txn-id: '%s' is no transaction's id: `cove txn ls` lists them", value);
        return option_text(o, target, value, reterr);
}

static int run_txn_auto(const Option *o, void *target, const char *value, Error *reterr) {
        bool commit = strcmp(value, "commit") == 0;

        if (!commit && strcmp(value, "discard") != 0)
                return error_set(reterr, -EINVAL, "--txn-auto: '%s' is neither commit nor discard", value);
        ((RunOptions *) target)->txn.at_end = commit ? TXN_AUTO_COMMIT : TXN_AUTO_DISCARD;
        return 0;
}

static int run_file(const Option *o, void *target, const char *value, Error *reterr) {
        const char *equals = strchr(value, '=');
        _cleanup_free_ char *raw = NULL, *inside = NULL, *source = NULL;
        _cleanup_close_ int fd = -EBADF;
        RunOptions *run = target;
        struct stat st;
        int r;

        if (!equals || equals == value || equals[1] == '\0')
                return error_set(reterr, -EINVAL, "--file: '%s' is not TARGET=SOURCE", value);
        if (run->spec.n_files >= LIST_MAX)
                return error_set(reterr, -E2BIG, "--file: more than %d, '%s' is one too many", LIST_MAX, value);
        raw = strndup(value, (size_t) (equals - value));
        source = strdup(equals + 1);
        if (!raw || !source)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = run_options_target(o, raw, &inside, reterr);
        if (r < 0)
                return r;
        fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "--file: source '%s': %m", source);
        if (!S_ISREG(st.st_mode))
                return error_set(reterr, -EINVAL, "--file: source '%s' is not a regular file (for a directory: --bind)",
                                source);

        if (ARRAY_EXTEND(run->spec.files, run->spec.n_files) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        run->spec.files[run->spec.n_files++] = (JailFile) {
                .source = TAKE_PTR(source), .target = TAKE_PTR(inside), .fd = TAKE_FD(fd)
        };
        return 0;
}

static int run_template(const Option *o, void *target, const char *value, Error *reterr) {
        bool host = strcmp(value, "host") == 0;
        int r = host ? 0 : run_options_check_directory(o, value, " (and not 'host')", reterr);

        return r < 0 ? r : option_text(o, target, host ? NULL : value, reterr);
}

static int run_hostname(const Option *o, void *target, const char *value, Error *reterr) {
        size_t n = strlen(value);

        if (n == 0 || n > 63 || strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != n ||
                        value[0] == '-' || value[0] == '.')
                return error_set(reterr, -EINVAL, "--hostname: '%.80s' is no host name (1 to 63 letters, digits, '-', '.')",
                                value);
        return option_text(o, target, value, reterr);
}

/* A text that must not be empty; the option's key describes it. */
static int run_named(const Option *o, void *target, const char *value, Error *reterr) {
        return value[0] == '\0' ? error_set(reterr, -EINVAL, "--%s: needs %s, got ''", o->name, o->key)
                                : option_text(o, target, value, reterr);
}

static int run_allow_missing(const Option *o, void *target, const char *value, Error *reterr) {
        Guard g = guard_from_name(value);

        if (g < 0)
                return error_set(reterr, -EINVAL, "--allow-missing: there is no guard '%s'; `cove doctor` lists them", value);
        if (!guard_is_optional(g))
                return error_set(reterr, -EINVAL, "--allow-missing: the guard '%s' cannot be left out", value);
        ((RunOptions *) target)->spec.allow_missing |= GUARD_BIT(g);
        return 0;
}

static int run_verbose(const Option *o, void *target, const char *value, Error *reterr) {
        log_verbosity++;
        return 0;
}

#define RUN_FIELD(field)     OPTION_FIELD(RunOptions, field)
#define RUN_SIZE(field, low) run_size, RUN_FIELD(field), .min = (low), .max = BYTES_MAX

static const Option run_options[] = {
        { "memory", 'm', "SIZE", "memory and swap of the whole sandbox (default 2G)", RUN_SIZE(spec.limits.memory_bytes, MEMORY_MIN), OPTION_HAS(RunOptions, memory_given) },
        { "cpus", 0, "N", "share of CPU cores, as in 0.5 (default: all)", run_cpus, RUN_FIELD(spec.limits.cpu_milli) },
        { "cpu-time", 0, "TIME", "CPU time of the whole sandbox (default: no limit)", run_duration, RUN_FIELD(cpu_time) },
        { "timeout", 0, "TIME", "wall-clock time, as in 30s or 5m (default: no limit)", run_duration, RUN_FIELD(timeout) },
        { "pids", 0, "N", "processes at the same time (default 512)", OPTION_NUMBER32(RunOptions, spec.limits.pids, 1, 4194303) },
        { "disk", 0, "SIZE",
                "files that the guest writes; beyond it ENOSPC. Up to half of --memory\n"
                "they are in memory and count as such, else in a disk image\n"
                "(default: half of --memory, at most 1G)",
                RUN_SIZE(spec.limits.disk_bytes, DISK_MIN), OPTION_HAS(RunOptions, disk_given) },
        { "output-limit", 0, "SIZE", "stdout and stderr together; more ends the sandbox (status 137)", RUN_SIZE(output_max, 1) },
        { "nofile", 0, "N", "open files of each process (default 4096)", OPTION_NUMBER(RunOptions, nofile, 3, 1048576) },
        { "env", 'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's value", run_env },
        { "env-file", 0, "FILE", "lines of NAME=VALUE", run_env_file },
        { "workdir", 'w', "DIR", "working directory (default /workspace); created if missing", run_workdir, RUN_FIELD(workdir) },
        { "user", 'u', "USER", "user (uid 1000, default), root (of the sandbox) or a UID", run_user },
        { "bind", 0, "SRC:DST[:rw]",
                "show a file or directory of the host inside, read-only\n"
                "unless :rw; its owner appears as the guest's user",
                run_bind },
        { "txn", 0, "DIR[:TARGET]",
                "start a transaction: the guest works on an overlay of DIR (at TARGET\n"
                "or /workspace); DIR is unchanged, and the changes are kept for\n"
                "cove diff, commit and discard",
                run_txn },
        { "txn-id", 0, "ID", "continue a kept transaction on --txn DIR", run_txn_id, RUN_FIELD(txn.id) },
        { "txn-auto", 0, "commit|discard", "at the end: apply the changes if the command ended with 0, or drop them", run_txn_auto },
        { "file", 0, "DST=SRC", "put a copy of a file inside", run_file },
        { "template", 0, "host|DIR", "root file system: the host's /usr (default), or a directory", run_template, RUN_FIELD(spec.template_dir) },
        { "net", 0, "none|egress|packages|open|host",
                "loopback only (default); destinations of --allow, through a gate;\n"
                "package registries, through it (`cove policy packages`);\n"
                "public addresses, through it; or the host's network, unguarded",
                run_net_mode },
        { "allow", 0, "RULE",
                "allow a destination: example.org, *.example.org, https://example.org,\n"
                "tcp://example.org:5432, 203.0.113.0/24:8000-8100, packages; implies\n"
                "--net egress",
                run_net_words, RUN_FIELD(net.allow) },
        { "deny", 0, "RULE", "deny a destination, even if another rule allows it", run_net_words, RUN_FIELD(net.deny) },
        { "plain-http", 0, NULL, "permit HTTP without TLS to the allowed destinations", OPTION_FLAG(RunOptions, net.plain_http) },
        { "reachable", 0, "CIDR", "private addresses that rules may name (default: none)", run_net_words, RUN_FIELD(net.reachable) },
        { "dns", 0, "ADDRESS", "DNS server of the gate (default: the host's)", run_net_words, RUN_FIELD(net.dns) },
        { "quiet", 'q', NULL, "do not report denials, a kept transaction, or a limit that is\nweaker than the one asked for", OPTION_FLAG(RunOptions, net.quiet) },
        { "read-only-path", 0, "PATH", "make a path in the sandbox read-only", run_rules_path, .min = RULES_READ_ONLY },
        { "writable-path", 0, "PATH|none",
                "make only such paths writable, everything else read-only;\n"
                "created if missing",
                run_rules_path, .min = RULES_WRITABLE },
        { "deny-path", 0, "PATH", "hide a path in the sandbox", run_rules_path, .min = RULES_DENIED },
        { "max-file-size", 0, "SIZE", "of each file; writes beyond it fail with EFBIG (default: no limit)", run_rules_file_size },
        { "no-processes", 0, NULL, "permit threads but no further processes", run_rules_no_processes },
        { "tty", 't', NULL, "give the command a terminal", OPTION_FLAG(RunOptions, tty) },
        { "interactive", 'i', NULL, "no effect: the command always has the caller's stdin", option_nothing },
        { "rm", 0, NULL, "no effect: the sandbox is always removed at the end", option_nothing },
        { "hostname", 0, "NAME", "host name inside (default cove)", run_hostname, RUN_FIELD(spec.hostname) },
        { "keep", 0, "DIR",
                "leave the writable layer in DIR (new or empty); there is no\n"
                "limit on the disk then",
                run_named, RUN_FIELD(keep), .key = "a directory" },
        { "report", 0, "FILE|-", "write a JSON report when it has ended (- is stdout)", run_named, RUN_FIELD(report), .key = "a file or '-'" },
        { "allow-missing", 0, "GUARD",
                "run even if this guard cannot be raised here; the report\n"
                "lists the missing guards",
                run_allow_missing },
        { "verbose", 'v', NULL, "print more messages", run_verbose },
        OPTION_INSTEAD("volume", 0, "SRC:DST", "write --bind SRC:DST to read it inside, --bind SRC:DST:rw to change it, --txn DIR to look at the changes first"),
        OPTION_INSTEAD("mount", 0, "…", "write --bind SRC:DST to read it inside, --bind SRC:DST:rw to change it, --txn DIR to look at the changes first"),
        OPTION_INSTEAD("name", 'n', "NAME", "a run is over when its command is, and has no name: --hostname NAME names it inside, `cove create --name NAME` makes one that stays"),
        OPTION_INSTEAD("detach", 'd', NULL, "a run ends with its caller: `cove create`, then `cove exec -d SANDBOX -- COMMAND`"),
        OPTION_INSTEAD("publish", 'p', "PORT", "a run serves nothing: `cove create`, `cove exec -d`, then `cove url SANDBOX PORT`"),
        { "network", 0, "MODE", NULL, run_net_mode }, /* as --net */
        OPTION_INSTEAD("entrypoint", 0, "PROGRAM", "the command is what stands behind the options: cove run -- PROGRAM"),
        OPTION_INSTEAD("image", 0, "IMAGE", "images are a daemon's: `cove template pull IMAGE`, then `cove create --template NAME`"),
        OPTION_INSTEAD("privileged", 0, NULL, "there is no sandbox without its guards; --user root is root inside"),
        OPTION_INSTEAD("cap-add", 0, "CAPABILITY", "there is no sandbox with capabilities of the host; --user root is root inside"),
        OPTION_INSTEAD("gpus", 0, "GPUS", "a sandbox has no device of the host"),
        OPTION_INSTEAD("read-only", 0, NULL, "write --writable-path none"),
        { "help", 'h', NULL, "print this", OPTION_FLAG(RunOptions, help) },
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
                        return error_set(reterr, -E2BIG, "argument %zu of the command has %zu bytes; the maximum is %d: "
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

/* The default environment of the guest. It comes first, so that --env overrides it. */
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

/* -v means verbose here. A user who knows it from another tool writes SRC:DST behind it, which would be
 * taken for the command. */
static int check_volume(int argc, char **argv, int command, Error *reterr) {
        const char *word = command < argc ? argv[command] : "";

        if (strcmp(argv[command - 1], "-v") != 0 || !strstr(word, ":/"))
                return 0;
        return error_set(reterr, -EINVAL, "-v '%s': -v is --verbose; write --bind SRC:DST to read it inside, --bind SRC:DST:rw to change it, --txn DIR to look at the changes first", word);
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
        r = check_volume(argc, argv, i, reterr);
        if (r < 0)
                return r;
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
        (void) fd_close(o->spec.keep_fd);
        strv_done(&o->command);
        strv_done(&o->env);
        run_net_done(&o->net);
        run_txn_done(&o->txn);
}

const char *run_options_path(const RunOptions *o) {
        return strv_get_env(&o->env, "PATH"); /* there is always one, at least the default */
}
