#include "docker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"
#include "probe.h"

#define DOCKER_PATIENCE (60 * USEC_PER_SEC)

/* The socket is there before the daemon listens on it, so it is asked for a connection. */
static int daemon_answers(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return -errno;
        if ((size_t) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
                        sizeof(address.sun_path))
                return -ENAMETOOLONG;
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        return 0;
}

static int daemon_wait(const char *socket_path, const char *log_path, Error *reterr) {
        usec_t until = clock_usec() + DOCKER_PATIENCE;

        while (daemon_answers(socket_path) < 0) {
                char line[ERROR_TEXT_MAX / 2];

                if (child_interrupted())
                        return error_set(reterr, -EINTR, "interrupted");
                if (clock_usec() > until) {
                        probe_last_line(log_path, line, sizeof(line));
                        return error_set(reterr, -ETIME, "a private dockerd does not answer: %s", line);
                }
                (void) usleep(100 * USEC_PER_MSEC);
        }
        return 0;
}

static int daemon_start(const char *dir, Error *reterr) {
        char program[PATH_MAX], data[128], exec[128], host[128], pidfile[128], log[128];
        const char *const argv[] = { program, data, exec, host, pidfile, "--bridge=none", "--iptables=false",
                "--ip6tables=false", "--ip-forward=false", NULL };
        _cleanup_close_ int log_fd = -EBADF;
        int stdio[3], r;
        pid_t pid;

        r = child_find("dockerd", program, sizeof(program));
        if (r < 0)
                return error_set(reterr, r, "dockerd is not installed (bench/setup installs it)");
        (void) snprintf(data, sizeof(data), "--data-root=%s/docker", dir);
        (void) snprintf(exec, sizeof(exec), "--exec-root=%s/docker-exec", dir);
        (void) snprintf(host, sizeof(host), "--host=unix://%s/docker.sock", dir);
        (void) snprintf(pidfile, sizeof(pidfile), "--pidfile=%s/docker.pid", dir);
        (void) snprintf(log, sizeof(log), "%s/docker.log", dir);

        log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (log_fd < 0)
                return error_set(reterr, -errno, "make '%s': %m", log);
        stdio[0] = child_quiet[0];
        stdio[1] = stdio[2] = log_fd;
        r = child_start(argv, stdio, &pid);
        if (r < 0)
                return error_set(reterr, r, "start %s: %m", program);

        return daemon_wait(host + sizeof("--host=unix://") - 1, log, reterr);
}

static int image_import(const char *docker, const char *dir, const char *root, Error *reterr) {
        char tar[PATH_MAX], archive[128], host[128], error_path[128];
        const char *const pack[] = { tar, "-C", root, "-cf", archive, ".", NULL };
        const char *const import[] = { docker, "-H", host, "import", archive, DOCKER_IMAGE, NULL };
        int r;

        r = child_find("tar", tar, sizeof(tar));
        if (r < 0)
                return error_set(reterr, r, "tar is not installed");
        (void) snprintf(archive, sizeof(archive), "%s/image.tar", dir);
        (void) snprintf(host, sizeof(host), "unix://%s/docker.sock", dir);
        (void) snprintf(error_path, sizeof(error_path), "%s/stderr", dir);

        r = probe_run(pack, error_path, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "pack the image");
        r = probe_run(import, error_path, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "docker import");
        return 0;
}

int docker_start(const char *docker, const char *scratch_dir, const char *root, Error *reterr) {
        int r;

        if (geteuid() != 0)
                return error_set(reterr, -EPERM, "a private dockerd needs root");
        r = daemon_start(scratch_dir, reterr);
        if (r < 0)
                return r;
        return image_import(docker, scratch_dir, root, reterr);
}
