#include "gatekeeper/start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/reserve.h"
#include "base/strv.h"
#include "gate/claim.h"

#define CHANNEL_BUFFER (4 << 20)
#define VARIABLES_MAX  16

/* Our environment may have secrets in it. The gate gets only variables for OpenSSL, the resolver and
 * sanitizers. */
static const char *const passed_on[] = { "PATH",        "LANG",         "SSL_CERT_FILE", "SSL_CERT_DIR", "LOCALDOMAIN",
                                         "RES_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS" };

static int start_make_environment(Strv *ret) {
        for (char **e = environ; *e; e++) {
                size_t n = strcspn(*e, "=");

                for (size_t i = 0; i < ELEMENTSOF(passed_on); i++)
                        if (strlen(passed_on[i]) == n && strncmp(passed_on[i], *e, n) == 0) {
                                int r = strv_push(ret, *e);

                                if (r < 0)
                                        return r;
                        }
        }
        return 0;
}

int gate_start(const char *program, const char *socket_path, pid_t *ret, Error *reterr) {
        const char *argv[5] = { "cove-gate", "--socket", socket_path, log_json ? "--log-json" : NULL };
        char *nothing[] = { NULL };
        _cleanup_(strv_done) Strv env = STRV_INIT(VARIABLES_MAX);
        int r;

        if (!program)
                return error_set(reterr, -ENOENT, "cannot find cove-gate beside coved: is the installation complete?");
        r = start_make_environment(&env);
        if (r >= 0)
                r = program_start(&(ProgramStart) {
                        .path = program,
                        .argv = argv,
                        .environment = env.items ? env.items : nothing,
                        .fds = (const int[]) { -EBADF, STDERR_FILENO, STDERR_FILENO },
                        .n_fds = 3,
                        .session = true,
                }, ret);
        return r < 0 ? error_set(reterr, r, "cannot start '%s': %m", program) : 0;
}

int gate_connect(const char *socket_path) {
        _reserve_ bool held = reserve_enter();
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;
        int size = CHANNEL_BUFFER;

        if (strlen(socket_path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, socket_path, strlen(socket_path));
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int gate_evict(const char *socket_path) {
        _cleanup_close_ int pidfd = -EBADF;
        int r = claim_find(socket_path, &pidfd);

        if (r == -ESRCH)
                return 0;
        if (r >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
                r = -errno;
        return r < 0 ? r : 1;
}

/* While the gate is connected, its PID cannot be reused. */
void gate_kill_peer(int fd) {
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) >= 0 && peer.pid > 1)
                (void) kill(peer.pid, SIGKILL);
}
