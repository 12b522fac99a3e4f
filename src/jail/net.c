#include "jail/net.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define STACK_SIZE (64 * 1024)

int net_loopback_up(void) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

        if (fd < 0)
                return -errno;
        if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return -errno;
        return 0;
}

/* Situation: all but the memory and the descriptors is the helper's own. Our root directory changes under it when the
 * caller pivots, so that /proc is reached by a descriptor from before. */
static int helper_main(void *arg) {
        NetHelper *h = arg;
        int r;

        if (unshare(CLONE_NEWNET) < 0) {
                h->error = -errno;
                _exit(1);
        }
        r = net_loopback_up();
        if (r < 0) {
                h->error = r;
                _exit(1);
        }
        h->netns_fd = openat(h->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
        if (h->netns_fd < 0)
                h->error = -errno;
        _exit(0);
}

int net_begin(NetHelper *h) {
        static _Alignas(16) char stack[STACK_SIZE];

        *h = (NetHelper) { .netns_fd = -EBADF, .proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };
        if (h->proc_fd < 0)
                return -errno;
        h->pid = clone(helper_main, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, h);
        return h->pid < 0 ? -errno : 0;
}

int net_join(NetHelper *h) {
        while (waitpid(h->pid, NULL, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        h->pid = 0;
        h->proc_fd = fd_close(h->proc_fd);
        if (h->error < 0)
                return h->error;
        if (h->netns_fd < 0)
                return -ECHILD; /* killed before it was done */
        if (setns(h->netns_fd, CLONE_NEWNET) < 0)
                return -errno;
        h->netns_fd = fd_close(h->netns_fd);
        return 0;
}
