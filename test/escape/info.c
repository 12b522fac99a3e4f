/* info.c: what the sandbox may learn about the host and about the one who started it. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe.h"

static bool is_password_hash(const char *line) {
        const char *field = strchr(line, ':');

        return field && (field[1] == '$' || field[1] == '_' ||
                                        (field[1] >= 'a' && field[1] <= 'z' && field[1] != 'x'));
}

static Verdict try_shadow(char **args) {
        static const char *const paths[] = {
                "/etc/shadow",
                "/etc/shadow-",
                "/etc/gshadow",
                "/etc/gshadow-",
                "/var/backups/shadow.bak",
                "/etc/security/opasswd",
        };
        char text[16384];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                if (read_file(paths[i], text, sizeof(text)) < 0)
                        continue;
                for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                        if (is_password_hash(line))
                                v = escaped("%s holds a password hash", paths[i]);
        }
        return v;
}

/* The arguments are names of the host's people and services which the sandbox's own files have no reason to know. */
static Verdict try_host_users(char **args) {
        static const char *const paths[] = { "/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid",
                "/etc/passwd-" };
        char text[65536];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                if (read_file(paths[i], text, sizeof(text)) < 0)
                        continue;
                for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                        size_t n = strcspn(line, ":");

                        for (char **name = args; *name; name++)
                                if (strlen(*name) == n && strncmp(line, *name, n) == 0)
                                        v = escaped("%s knows the host's \"%s\"", paths[i], *name);
                }
        }
        return v;
}

/* The arguments are paths which exist on the host. */
static Verdict try_host_paths(char **args) {
        Verdict v = HELD;

        if (!args[0])
                return broken("no path was given");
        for (char **path = args; *path; path++)
                v = worst(v, absent(*path));
        return v;
}

static Verdict try_homes(char **args) {
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/home");
        while (dir && (entry = readdir(dir)))
                if (entry->d_name[0] != '.' && strcmp(entry->d_name, "user") != 0)
                        v = escaped("/home/%s is there", entry->d_name);
        if (dir)
                (void) closedir(dir);
        return v;
}

static Verdict try_secrets(char **args) {
        static const char *const paths[] = {
                "/root/.ssh",
                "/root/.gnupg",
                "/root/.aws",
                "/root/.docker",
                "/root/.netrc",
                "/root/.bash_history",
                "/root/.git-credentials",
                "/home/user/.ssh",
                "/etc/ssh/ssh_host_rsa_key",
                "/etc/ssh/ssh_host_ecdsa_key",
                "/etc/ssh/ssh_host_ed25519_key",
                "/etc/ssl/private",
                "/etc/sudoers",
                "/etc/sudoers.d",
                "/etc/krb5.keytab",
                "/etc/docker",
                "/etc/kubernetes",
                "/var/lib/docker",
                "/var/lib/cove",
                "/var/log/journal",
                "/var/spool/cron",
                "/var/backups",
                "/var/mail/root",
                "/etc/crypttab",
                "/etc/fstab",
                "/etc/wireguard",
                "/etc/NetworkManager",
        };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                v = worst(v, masked(paths[i]));
        return v;
}

/* The argument is the host's. */
static Verdict try_machine_id(char **args) {
        static const char *const paths[] = { "/etc/machine-id", "/var/lib/dbus/machine-id", "/etc/hostid" };
        const char *id = arg_or_die(args, 0);
        char text[256];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                if (read_file(paths[i], text, sizeof(text)) > 0 && strstr(text, id))
                        v = escaped("%s is the host's", paths[i]);
        return v;
}

static Verdict try_top_level(char **args) {
        static const char *const allowed[] = {
                ".",
                "..",
                "bin",
                "boot",
                "dev",
                "etc",
                "home",
                "lib",
                "lib32",
                "lib64",
                "libx32",
                "media",
                "mnt",
                "opt",
                "proc",
                "root",
                "run",
                "sbin",
                "srv",
                "sys",
                "tmp",
                "usr",
                "var",
                "workspace",
        };
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/");
        if (!dir)
                return broken("/: %m");
        while ((entry = readdir(dir))) {
                bool known = false;

                for (size_t i = 0; i < ELEMENTSOF(allowed); i++)
                        known = known || strcmp(entry->d_name, allowed[i]) == 0;
                if (!known)
                        v = escaped("/%s is there", entry->d_name);
        }
        (void) closedir(dir);
        return v;
}

static Verdict find_sockets(const char *path, int depth) {
        char below[PATH_MAX];
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir(path);
        while (dir && (entry = readdir(dir))) {
                struct stat st;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                (void) snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
                if (lstat(below, &st) < 0)
                        continue;
                if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode))
                        v = escaped("%s leads to somebody outside", below);
                else if (S_ISDIR(st.st_mode) && depth > 0)
                        v = worst(v, find_sockets(below, depth - 1));
        }
        if (dir)
                (void) closedir(dir);
        return v;
}

static Verdict try_sockets(char **args) {
        static const char *const dirs[] = { "/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm", "/var/lib" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
                v = worst(v, find_sockets(dirs[i], 4));
        return v;
}

/* The argument is the host's name. */
static Verdict try_hostname(char **args) {
        const char *host = arg_or_die(args, 0);
        char text[256];
        struct utsname name;
        Verdict v = HELD;

        if (uname(&name) < 0)
                return broken("uname: %m");
        if (strcmp(name.nodename, host) == 0)
                v = escaped("the host's name is %s", host);
        if (read_file("/etc/hostname", text, sizeof(text)) > 0 && strncmp(text, host, strlen(host)) == 0 &&
                        text[strlen(host)] == '\n')
                v = escaped("/etc/hostname is the host's");
        return v;
}

/* The runner sets this variable for cove and does not ask cove to pass it on. */
#define SECRET "COVE_CALLER_SECRET"

static Verdict try_environment(char **args) {
        static const char *const allowed[] = { "HOME", "HOSTNAME", "LANG", "LC_ALL", "LOGNAME", "PATH",
                "PWD", "SHELL", "TERM", "TMPDIR", "USER" };
        Verdict v = HELD;

        for (char **variable = environ; *variable; variable++) {
                size_t n = strcspn(*variable, "=");
                bool known = strncmp(*variable, "COVE_ESCAPE_", strlen("COVE_ESCAPE_")) == 0;

                for (size_t i = 0; i < ELEMENTSOF(allowed); i++)
                        known = known || (strlen(allowed[i]) == n && strncmp(*variable, allowed[i], n) == 0);
                if (!known)
                        v = escaped("the variable %.*s was passed on", (int) n, *variable);
        }
        return getenv(SECRET) ? escaped("the caller's variable was passed on") : v;
}

static bool contains(const char *text, ssize_t n, const char *needle) {
        return n > 0 && memmem(text, (size_t) n, needle, strlen(needle));
}

static Verdict try_environment_of_others(char **args) {
        char path[64], text[65536];
        Verdict v = HELD;

        for (int pid = 1; pid < 64; pid++) {
                (void) snprintf(path, sizeof(path), "/proc/%d/environ", pid);
                if (contains(text, read_file(path, text, sizeof(text)), SECRET))
                        v = escaped("%s holds the caller's variables", path);
        }
        return v;
}

/* cove's own command line holds the token, as part of a host path. */
static Verdict try_command_line(char **args) {
        char path[64], text[65536];
        Verdict v = HELD;

        for (int pid = 1; pid < 64; pid++) {
                (void) snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
                if (contains(text, read_file(path, text, sizeof(text)), fact_or_die("TOKEN")))
                        v = escaped("%s tells how cove was called", path);
        }
        return v;
}

static Verdict try_exe(char **args) {
        char link[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", link, sizeof(link) - 1);
        Verdict v = HELD;

        if (n < 0)
                return broken("/proc/self/exe: %m");
        link[n] = '\0';
        if (strncmp(link, "/mnt/probe/", strlen("/mnt/probe/")) != 0)
                v = escaped("/proc/self/exe tells a path of the host: %s", link);
        return v;
}

/* clang-format off */
const Attempt info_attempts[] = {
        { "fs-shadow", try_shadow, AS_BOTH,
          "/etc is made up, and no password of the host is in it" },
        { "fs-host-users", try_host_users, AS_BOTH,
          "passwd and group are made up: names of the host are not told" },
        { "fs-host-paths", try_host_paths, AS_BOTH,
          "only the template is visible: not the host's homes, data and other top directories" },
        { "fs-homes", try_homes, AS_BOTH,
          "nobody's home is inside" },
        { "fs-secrets", try_secrets, AS_BOTH,
          "keys, credentials and system secrets of the host are not inside" },
        { "fs-machine-id", try_machine_id, AS_BOTH,
          "the machine id identifies the host and is not inside" },
        { "fs-top-level", try_top_level, AS_BOTH,
          "the root directory holds the known names only" },
        { "fs-sockets", try_sockets, AS_BOTH,
          "no socket or fifo of a host service lies in a shared directory" },
        { "info-hostname", try_hostname, AS_BOTH,
          "the name is the sandbox's own" },
        { "info-environment", try_environment, AS_BOTH,
          "only the variables that were given, and the basic ones" },
        { "info-environ", try_environment_of_others, AS_BOTH,
          "nor are the caller's variables in the memory of another process inside" },
        { "info-command-line", try_command_line, AS_BOTH,
          "the caller's command line names paths of the host" },
        { "info-exe", try_exe, AS_BOTH,
          "paths are those of the sandbox, also for files from outside" },
        { NULL },
};
/* clang-format on */
