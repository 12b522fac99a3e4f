#include "spawner/ahead.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "jail/dev.h"
#include "jail/net.h"

void ahead_init(Ahead *a, bool privileged) {
        Error error = { 0 };

        *a = (Ahead) { .home_netns_fd = -EBADF, .dev_fd = -EBADF, .etc = SHAREDETC_EMPTY };
        a->etc_tried = !privileged;
        if (!privileged)
                return;
        a->stocks[SPAWN_NETWORK_NONE].wanted = true;
        a->home_netns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        a->dev_fd = dev_make_shared(&error);
        if (a->dev_fd < 0)
                log_debug("each sandbox makes its own /dev: %s", error.text);
}

static bool stock_wants(const AheadStock *s) {
        return s->wanted && !s->broken && s->n < AHEAD_NETWORKS_MAX;
}

/* The one that has least. */
static int next_shape(const Ahead *a) {
        int best = -ENOENT;

        for (int i = 0; i < _SPAWN_NETWORK_MAX && a->home_netns_fd >= 0; i++)
                if (stock_wants(a->stocks + i) && (best < 0 || a->stocks[i].n < a->stocks[best].n))
                        best = i;
        return best;
}

bool ahead_wants(const Ahead *a) {
        return next_shape(a) >= 0 || !a->etc_tried;
}

int ahead_etc(Ahead *a, Error *reterr) {
        int r;

        if (a->home_netns_fd < 0) /* nothing is made ahead */
                return -EBADF;
        a->etc_tried = true;
        r = sharedetc_get(&a->etc, reterr);
        return r < 0 ? r : a->etc.tree;
}

void ahead_make_one(Ahead *a) {
        int shape = next_shape(a);
        NetRequest request = { .userns_fd = -EBADF, .hub_fd = -EBADF };
        Error error = { 0 };
        AheadStock *s;

        if (shape < 0) {
                if (!a->etc_tried && ahead_etc(a, &error) < 0)
                        log_debug("/etc of template base: %s", error.text);
                a->etc_tried = true;
                return;
        }
        s = a->stocks + shape;
        request.shape = (SpawnNetwork) shape;
        if (net_make(&request, s->networks + s->n, &error) < 0) {
                log_debug("each sandbox makes its own network namespace: %s", error.text);
                s->broken = true;
                return;
        }
        s->n++;
}

Network ahead_take_network(Ahead *a, SpawnNetwork shape) {
        Network none = NETWORK_EMPTY;
        AheadStock *s = a->stocks + shape;

        none.shape = shape;
        if (shape == SPAWN_NETWORK_GATED)
                s->wanted = true;
        return s->n > 0 ? s->networks[--s->n] : none;
}
