#include "jail/net.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define STACK_SIZE (64 * 1024)

#define PORTS_FILE "/proc/sys/net/ipv4/ip_unprivileged_port_start"

typedef struct Maker {
        int userns_fd; /* -EBADF: the host's */
        int result; /* the namespace, in the descriptor table that both share; or a negative errno */
} Maker;

int net_loopback_up(void) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

        if (fd < 0)
                return -errno;
        if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return -errno;
        return 0;
}

static int make(int userns_fd) {
        int r, fd;

        if (userns_fd >= 0 && setns(userns_fd, CLONE_NEWUSER) < 0)
                return -errno;
        if (unshare(CLONE_NEWNET) < 0)
                return -errno;
        r = net_loopback_up();
        if (r >= 0 && userns_fd < 0)
                r = file_write(AT_FDCWD, PORTS_FILE, "0");
        if (r < 0)
                return r;
        fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static int maker_main(void *arg) {
        Maker *m = arg;

        m->result = make(m->userns_fd);
        _exit(0);
}

int net_make(int userns_fd) {
        static _Alignas(16) char stack[STACK_SIZE]; /* we sleep while it is in use */
        Maker m = { .userns_fd = userns_fd, .result = -ECHILD };
        pid_t pid;

        /* Without a signal at its end, which nobody needs: we wait right here. */
        pid = clone(maker_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES, &m);
        if (pid < 0)
                return -errno;
        while (waitpid(pid, NULL, __WALL) < 0)
                if (errno != EINTR)
                        return -errno;
        return m.result;
}

int net_make_ahead(void) {
        return net_make(-EBADF);
}

int net_enter(int netns_fd) {
        return setns(netns_fd, CLONE_NEWNET) < 0 ? -errno : 0;
}
