#include "spawner/ahead.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "jail/dev.h"
#include "jail/net.h"

void ahead_init(Ahead *a, bool privileged) {
        Error error = { 0 };

        *a = (Ahead) { .home_netns_fd = -EBADF, .dev_fd = -EBADF };
        if (!privileged)
                return;
        a->home_netns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        a->dev_fd = dev_make_shared(&error);
        if (a->dev_fd < 0)
                log_debug("each sandbox makes its own /dev: %s", error.text);
}

bool ahead_wants(const Ahead *a) {
        return a->home_netns_fd >= 0 && !a->networks_broken && a->n_networks < AHEAD_NETWORKS_MAX;
}

void ahead_make_one(Ahead *a) {
        int fd;

        if (!ahead_wants(a))
                return;
        fd = net_make_ahead();
        if (fd < 0) {
                log_debug("each sandbox makes its own network namespace: %s", strerror(-fd));
                a->networks_broken = true;
                return;
        }
        a->networks[a->n_networks++] = fd;
}

int ahead_take_network(Ahead *a) {
        return a->n_networks > 0 ? a->networks[--a->n_networks] : -EBADF;
}
