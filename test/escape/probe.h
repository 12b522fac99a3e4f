/* probe.h: what every attempt to get out shares.
 *
 * An attempt is a short function that tries one way out of the sandbox and says how it went. Attempts are grouped by
 * theme, one file each; a file gives its table, closed by an empty entry, and probe.c lines the tables up.
 * Knows libc only. Runs inside a sandbox and nowhere else: probe.c checks that before every attempt.
 *
 * An attempt should do no harm when it succeeds: open for writing and write nothing, write back what was read, ask
 * with arguments that the kernel would refuse only after the check which matters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))

/* Also the exit status of the probe. */
typedef enum Verdict {
        HELD = 0,    /* the attempt failed, as it must */
        ESCAPED = 1, /* it did not; what was reached has been printed */
        BROKEN = 2,  /* it could not be carried out, which says nothing about the sandbox */
} Verdict;

typedef enum AttemptFlags {
        AS_USER = 1 << 0,
        AS_ROOT = 1 << 1,
        AS_BOTH = AS_USER | AS_ROOT,
        IN_PROCESS = 1
                     << 2, /* in the probe's first process: it ends all others, or wants to be the one that ends */
        WRECKS = 1 << 3, /* destroys what it can reach: asks for COVE_ESCAPE_WRECK=1 as well */
} AttemptFlags;

typedef struct Attempt {
        const char *name;
        Verdict (*run)(char **args); /* args end with NULL */
        unsigned flags;
        const char *why; /* why this must fail */
} Attempt;

extern const Attempt abi_attempts[], bind_attempts[], caps_attempts[], device_attempts[], fs_attempts[],
                gate_attempts[], info_attempts[], ipc_attempts[], limit_attempts[], mount_attempts[], net_attempts[],
                ns_attempts[], proc_attempts[], process_attempts[], syscall_attempts[], tty_attempts[],
                wreck_attempts[];

/* Verdicts. The first two print a line on stdout. */
Verdict escaped(const char *format, ...) __attribute__((format(printf, 1, 2)));
Verdict broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
Verdict worst(Verdict a, Verdict b); /* escaped before broken before held */

/* Judges the result of a call by its value and errno. "refused" accepts only the answers of somebody who looked at who
 * asks (EPERM, EACCES, ENOSYS): any other error means that the call went past the door. "failed" accepts any error. */
Verdict refused(const char *what, long result);
Verdict failed(const char *what, long result);

/* For calls whose effect somebody else judges. */
static inline void tried(long result) {
        (void) result;
}

/* What the runner knows about the host: the environment variable COVE_ESCAPE_<name>. */
const char *fact_or_die(const char *name);
const char *arg_or_die(char **args, size_t i);
long number_or_die(const char *text);

/* The host's marker file, by its absolute path with a prefix before it. Everybody may read it, so only its absence
 * protects it. */
Verdict reach_marker(const char *prefix);
Verdict reach_marker_at(int dirfd, const char *prefix);

/* Whether a file holds the runner's token. */
bool holds_token(int fd);

Verdict masked(const char *path);     /* cannot be opened, or reads as empty */
Verdict unwritable(const char *path); /* cannot be opened for writing; nothing is written */
Verdict absent(const char *path);

/* At most size - 1 bytes, terminated. Returns their number, or -1 with errno. */
ssize_t read_file(const char *path, char *buffer, size_t size);
int write_file(const char *path, const char *text);
int copy_self(const char *path, mode_t mode);

/* The hexadecimal number of a line like "CapEff:\t0000…" in /proc/self/status. */
bool status_number(const char *key, unsigned long long *ret);

/* Calls f(path) for each mount point of the sandbox and joins the verdicts. options are the mount's own flags. */
Verdict each_mount(Verdict (*f)(const char *point, const char *options, const char *type));

/* Runs f in a child and returns its verdict; a child killed by seccomp has been held. */
Verdict in_child(Verdict (*f)(char **args), char **args);

/* What `probe --whoami`, started from path, says about itself. drop_to: uid taken on before the exec, or (uid_t) -1.
 * Returns 0, or -1 when it could not be started, which is as good as held. */
int exec_whoami(const char *path, uid_t drop_to, uid_t *ret_euid, unsigned long long *ret_effective);
