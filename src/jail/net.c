#include "jail/net.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/net-internal.h"
#include "jail/tree.h"

#define STACK_SIZE (64 * 1024)

#define PORTS_SETTING "ip_unprivileged_port_start"

typedef struct NetMaker {
        const NetRequest *request;
        Network network; /* its descriptors are in the table that both processes share */
        Error *reterr;
        int result;
} NetMaker;

void net_done(Network *n) {
        n->netns_fd = fd_close(n->netns_fd);
        for (size_t i = 0; i < ELEMENTSOF(n->fds); i++)
                n->fds[i] = fd_close(n->fds[i]);
        n->n_fds = 0;
}

size_t net_shape_fds(SpawnNetwork shape) {
        static const size_t n[_SPAWN_NETWORK_MAX] = {
                [SPAWN_NETWORK_GATED] = 3,
                [SPAWN_NETWORK_LINKED] = 2,
        };

        return n[shape];
}

int net_loopback_up(void) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

        if (fd < 0)
                return -errno;
        if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return -errno;
        return 0;
}

int net_open_own(void) {
        int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static int setup(const NetRequest *q, Network *n, Error *reterr) {
        switch (q->shape) {
        case SPAWN_NETWORK_GATED: return net_setup_gated(n, reterr);
        case SPAWN_NETWORK_LINKED: return net_setup_linked(q, n, reterr);
        default: return 0;
        }
}

/* The old instance is freed with all its entries. */
static void net_settings_renew(NetSettings *s) {
        if (s->proc_fd >= 0 && s->n_used++ < NET_SETTINGS_USES)
                return;
        (void) fd_close(s->proc_fd);
        s->proc_fd = tree_make("proc", /* options= */ NULL, /* n_options= */ 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
        s->n_used = 1;
}

int net_write_setting(const NetRequest *q, const char *name, const char *value) {
        int proc_fd = q->settings ? q->settings->proc_fd : -EBADF;
        char path[80];

        (void) snprintf(path, sizeof(path), "%ssys/net/ipv4/%s", proc_fd >= 0 ? "" : "/proc/", name);
        return file_write(proc_fd >= 0 ? proc_fd : AT_FDCWD, path, value);
}

static int jail_net_make(const NetRequest *q, Network *n, Error *reterr) {
        int r;

        if (q->userns_fd >= 0 && setns(q->userns_fd, CLONE_NEWUSER) < 0)
                return error_set(reterr, -errno, "cannot enter the sandbox's user namespace: %m");
        if (unshare(CLONE_NEWNET) < 0)
                return error_set(reterr, -errno, "cannot make a network namespace: %m (see `cove doctor`)");
        r = net_loopback_up();
        if (r < 0)
                return error_set(reterr, r, "cannot bring loopback up: %m");
        if (q->userns_fd < 0 || q->open_ports) {
                r = net_write_setting(q, PORTS_SETTING, "0");
                if (r < 0)
                        return error_set(reterr, r, "cannot write net.ipv4." PORTS_SETTING ": %m");
        }
        n->shape = q->shape;
        n->netns_fd = net_open_own();
        if (n->netns_fd < 0)
                return error_set(reterr, n->netns_fd, "/proc/self/ns/net: %m");
        return setup(q, n, reterr);
}

static int net_maker_main(void *arg) {
        NetMaker *m = arg;

        m->result = jail_net_make(m->request, &m->network, m->reterr);
        _exit(0);
}

int net_make(const NetRequest *request, Network *ret, Error *reterr) {
        static _Alignas(16) char stack[STACK_SIZE]; /* may be static: this process sleeps while the child uses it */
        NetMaker m = { .request = request, .network = NETWORK_EMPTY, .reterr = reterr, .result = -ECHILD };
        pid_t pid;

        if (request->shape == SPAWN_NETWORK_LINKED && request->userns_fd >= 0)
                return error_set(reterr, -EOPNOTSUPP, "networks between sandboxes need `cove serve` to be started by root");

        if (request->settings)
                net_settings_renew(request->settings);
        /* The child sends no signal at its end: we wait right here. */
        pid = clone(net_maker_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES, &m);
        if (pid < 0)
                return error_set(reterr, -errno, "cannot clone: %m");
        while (waitpid(pid, NULL, __WALL) < 0)
                if (errno != EINTR)
                        return error_set(reterr, -errno, "cannot wait for who makes the network: %m");
        if (m.result == -ECHILD)
                return error_set(reterr, -ECHILD, "who made the network was killed");
        if (m.result < 0) {
                net_done(&m.network);
                return m.result;
        }
        *ret = m.network;
        return 0;
}

static bool net_is_same(int a, int b) {
        struct stat x, y;

        return a >= 0 && b >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int net_check_hub(int fd, Error *reterr) {
        _cleanup_close_ int own = net_open_own(), user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC), owner = -EBADF;

        if (own < 0 || user < 0)
                return error_set(reterr, own < 0 ? own : -errno, "/proc/self/ns: %m");
        if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET || net_is_same(fd, own))
                return error_set(reterr, -EINVAL, "the descriptor is no hub of a group's network");
        owner = ioctl(fd, NS_GET_USERNS);
        if (!net_is_same(owner, user))
                return error_set(reterr, -EPERM, "the hub of the group's network is not the host's");
        return 0;
}

int net_enter(int netns_fd) {
        return setns(netns_fd, CLONE_NEWNET) < 0 ? -errno : 0;
}
