#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* Verdicts */

__attribute__((format(printf, 2, 0))) static void say(const char *word, const char *format, va_list ap) {
        int saved = errno;

        printf("%s: ", word);
        errno = saved;
        vprintf(format, ap);
        printf("\n");
        (void) fflush(stdout);
}

Verdict escaped(const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        say("escaped", format, ap);
        va_end(ap);
        return ESCAPED;
}

Verdict broken(const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        say("could not try", format, ap);
        va_end(ap);
        return BROKEN;
}

Verdict worst(Verdict a, Verdict b) {
        if (a == ESCAPED || b == ESCAPED)
                return ESCAPED;
        return a == BROKEN || b == BROKEN ? BROKEN : HELD;
}

Verdict refused(const char *what, long result) {
        if (result >= 0)
                return escaped("%s succeeded and gave %ld", what, result);
        if (errno == EPERM || errno == EACCES || errno == ENOSYS)
                return HELD;
        return escaped("%s was not refused but got as far as: %m", what);
}

Verdict failed(const char *what, long result) {
        return result >= 0 ? escaped("%s succeeded and gave %ld", what, result) : HELD;
}

/* Arguments */

const char *fact_or_die(const char *name) {
        char variable[64];
        const char *value;

        (void) snprintf(variable, sizeof(variable), "COVE_ESCAPE_%s", name);
        value = getenv(variable);
        if (!value || !*value)
                exit((int) broken("%s is not set", variable));
        return value;
}

const char *arg_or_die(char **args, size_t i) {
        for (size_t k = 0; k <= i; k++)
                if (!args[k])
                        exit((int) broken("argument %zu is missing", i + 1));
        return args[i];
}

long number_or_die(const char *text) {
        char *end;
        long number;

        errno = 0;
        number = strtol(text, &end, 10);
        if (errno != 0 || end == text || *end)
                exit((int) broken("\"%s\" is not a number", text));
        return number;
}

/* Files */

ssize_t read_file(const char *path, char *buffer, size_t size) {
        size_t n = 0;
        ssize_t k;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return -1;
        while (n < size - 1 && (k = read(fd, buffer + n, size - 1 - n)) > 0)
                n += (size_t) k;
        buffer[n] = '\0';
        (void) close(fd);
        return (ssize_t) n;
}

int write_file(const char *path, const char *text) {
        ssize_t n;
        int fd;

        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
                return -1;
        n = write(fd, text, strlen(text));
        (void) close(fd);
        return n == (ssize_t) strlen(text) ? 0 : -1;
}

int copy_self(const char *path, mode_t mode) {
        char buffer[65536];
        ssize_t n = 0;
        int from, to;

        from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
        if (from >= 0 && to >= 0)
                while ((n = read(from, buffer, sizeof(buffer))) > 0)
                        if (write(to, buffer, (size_t) n) != n)
                                break;
        (void) close(from);
        if (to < 0)
                return -1;
        (void) close(to);
        return n == 0 ? chmod(path, mode) : -1;
}

bool holds_token(int fd) {
        const char *token = fact_or_die("TOKEN");
        char text[4096];
        ssize_t n;

        n = pread(fd, text, sizeof(text) - 1, 0);
        if (n <= 0)
                return false;
        text[n] = '\0';
        return strstr(text, token);
}

Verdict reach_marker_at(int dirfd, const char *prefix) {
        char path[PATH_MAX];
        Verdict v = HELD;
        int fd;

        (void) snprintf(path, sizeof(path), "%s%s", prefix, fact_or_die("MARKER"));
        fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return HELD;
        if (holds_token(fd))
                v = escaped("a file of the host was read as %s", path);
        (void) close(fd);
        return v;
}

Verdict reach_marker(const char *prefix) {
        return reach_marker_at(AT_FDCWD, prefix);
}

static bool is_null_device(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool is_empty_directory(int fd) {
        struct dirent *entry;
        int copy = dup(fd);
        bool empty = true;
        DIR *dir;

        dir = copy < 0 ? NULL : fdopendir(copy);
        if (!dir)
                return false;
        while ((entry = readdir(dir)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        empty = false;
        (void) closedir(dir);
        return empty;
}

Verdict masked(const char *path) {
        struct stat st;
        Verdict v = HELD;
        char c;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return HELD;
        if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
                if (!is_empty_directory(fd))
                        v = escaped("%s is a directory with something in it", path);
        } else if (!is_null_device(fd) && read(fd, &c, 1) > 0)
                v = escaped("%s can be read", path);
        (void) close(fd);
        return v;
}

Verdict unwritable(const char *path) {
        Verdict v = HELD;
        int fd;

        fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return HELD;
        if (!is_null_device(fd))
                v = escaped("%s was opened for writing", path);
        (void) close(fd);
        return v;
}

Verdict absent(const char *path) {
        struct stat st;

        return lstat(path, &st) == 0 ? escaped("%s is there", path) : HELD;
}

bool status_number(const char *key, unsigned long long *ret) {
        char text[8192], *line;

        if (read_file("/proc/self/status", text, sizeof(text)) < 0)
                return false;
        for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
                        return sscanf(line + strlen(key) + 1, "%llx", ret) == 1;
        return false;
}

Verdict each_mount(Verdict (*f)(const char *point, const char *options, const char *type)) {
        char line[4096], point[1024], options[512], type[64];
        Verdict v = HELD;
        size_t n = 0;
        FILE *file;

        file = fopen("/proc/self/mountinfo", "re");
        if (!file)
                return broken("/proc/self/mountinfo: %m");
        while (fgets(line, sizeof(line), file)) {
                const char *rest = strstr(line, " - ");

                if (!rest || sscanf(line, "%*d %*d %*s %*s %1023s %511s", point, options) != 2 ||
                                sscanf(rest, " - %63s", type) != 1)
                        continue;
                v = worst(v, f(point, options, type));
                n++;
        }
        (void) fclose(file);
        return n == 0 ? broken("/proc/self/mountinfo has no line that can be read") : v;
}

/* Processes */

Verdict in_child(Verdict (*f)(char **args), char **args) {
        int status;
        pid_t pid;

        (void) fflush(stdout);
        pid = fork();
        if (pid < 0)
                return broken("fork: %m");
        if (pid == 0) {
                Verdict v = f(args);

                (void) fflush(stdout);
                _exit((int) v);
        }
        if (waitpid(pid, &status, 0) != pid)
                return broken("waitpid: %m");
        if (WIFEXITED(status))
                return WEXITSTATUS(status) <= BROKEN ? (Verdict) WEXITSTATUS(status)
                                                     : broken("status %d", WEXITSTATUS(status));
        if (WTERMSIG(status) == SIGSYS)
                return HELD;
        return broken("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

int exec_whoami(const char *path, uid_t drop_to, uid_t *ret_euid, unsigned long long *ret_effective) {
        char text[128] = "";
        unsigned euid;
        int pipefd[2];
        ssize_t n;
        pid_t pid;

        if (pipe2(pipefd, O_CLOEXEC) < 0)
                return -1;
        pid = fork();
        if (pid < 0)
                return -1;
        if (pid == 0) {
                if (drop_to != (uid_t) -1 && setresuid(drop_to, drop_to, drop_to) < 0)
                        _exit(BROKEN);
                if (dup2(pipefd[1], STDOUT_FILENO) < 0)
                        _exit(BROKEN);
                (void) execl(path, path, "--whoami", (char *) NULL);
                _exit(BROKEN);
        }
        (void) close(pipefd[1]);
        n = read(pipefd[0], text, sizeof(text) - 1);
        (void) close(pipefd[0]);
        (void) waitpid(pid, NULL, 0);
        if (n <= 0 || sscanf(text, "%u %llx", &euid, ret_effective) != 2)
                return -1;
        *ret_euid = euid;
        return 0;
}
