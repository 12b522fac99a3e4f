#include "spawner/ahead.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "jail/apart.h"
#include "jail/dev.h"
#include "jail/net.h"
#include "jail/tree.h"

void ahead_init(Ahead *a, bool privileged) {
        *a = (Ahead) { .home_netns_fd = -EBADF, .etc = SHAREDETC_EMPTY, .settings = NET_SETTINGS_EMPTY, .emptyns = EMPTYNS_NONE, .anonymous_fd = -EBADF, .anonymous_own_fd = -EBADF };
        a->etc_tried = !privileged;
        if (!privileged)
                return;
        a->stocks[SPAWN_NETWORK_NONE].wanted = true;
        a->home_netns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static bool stock_wants(const AheadStock *s) {
        return s->wanted && !s->broken && s->n < AHEAD_NETWORKS_MAX;
}

/* The shape with the smallest stock. */
static int next_shape(const Ahead *a) {
        int best = -ENOENT;

        for (int i = 0; i < _SPAWN_NETWORK_MAX && a->home_netns_fd >= 0; i++)
                if (stock_wants(a->stocks + i) && (best < 0 || a->stocks[i].n < a->stocks[best].n))
                        best = i;
        return best;
}

static bool wants_dev(const Ahead *a) {
        return a->home_netns_fd >= 0 && !a->dev_broken && a->n_devs < AHEAD_DEVS_MAX;
}

static bool wants_emptyns(const Ahead *a) {
        return a->home_netns_fd >= 0 && !a->emptyns_broken && a->emptyns.ns_fd < 0;
}

usec_t ahead_next(const Ahead *a) {
        return wants_emptyns(a) || wants_dev(a) || next_shape(a) >= 0 || !a->etc_tried ? a->rest : USEC_INFINITY;
}

/* A shortage passes, so it is no reason to give up for good. */
static void ahead_failed(Ahead *a, int r, bool *broken) {
        *broken = !error_is_shortage(r);
        a->rest = clock_usec() + AHEAD_REST_USEC;
}

int ahead_etc(Ahead *a, Error *reterr) {
        _cleanup_close_ int copy = -EBADF;
        int r;

        if (a->home_netns_fd < 0 || a->etc_broken) /* nothing is made ahead */
                return -EBADF;
        r = sharedetc_get(&a->etc, reterr);
        if (r < 0 || a->etc_tried)
                return r < 0 ? r : a->etc.tree;
        copy = tree_copy(a->etc.tree);
        if (copy < 0)
                ahead_failed(a, copy, &a->etc_broken);
        a->etc_tried = copy >= 0 || a->etc_broken;
        if (!a->etc_tried)
                return error_set(reterr, copy, "the shared /etc cannot be copied: %m");
        return copy < 0 ? -EBADF : a->etc.tree;
}

const EmptyNs *ahead_emptyns(Ahead *a) {
        Error error = { 0 };
        int r;

        if (!wants_emptyns(a) || clock_usec() < a->rest)
                return a->emptyns.ns_fd >= 0 ? &a->emptyns : NULL;
        r = emptyns_make(&a->emptyns, &error);
        if (r >= 0) {
                log_debug("sandboxes are started from an empty mount namespace");
                return &a->emptyns;
        }
        ahead_failed(a, r, &a->emptyns_broken);
        log_debug("sandboxes are started by pivot_root%s: %s", a->emptyns_broken ? "" : " for now", error.text);
        return NULL;
}

/* Does not wait: as long as it fails, each sandbox tries by itself, and waits. */
static int ahead_lock_anonymous(void) {
        bool has_all = false;
        int fd = apart_hold_anonymous(1, &has_all);

        return has_all ? fd : fd_close(fd);
}

int ahead_anonymous(Ahead *a) {
        if (a->anonymous_own_fd < 0)
                a->anonymous_own_fd = ahead_lock_anonymous();
        if (a->anonymous_fd < 0)
                a->anonymous_fd = ahead_lock_anonymous();
        return a->anonymous_fd;
}

static void make_dev(Ahead *a) {
        Error error = { 0 };
        int dev = dev_make(&error);

        if (dev >= 0) {
                a->devs[a->n_devs++] = dev;
                return;
        }
        ahead_failed(a, dev, &a->dev_broken);
        log_debug("each sandbox makes its own /dev%s: %s", a->dev_broken ? "" : " for now", error.text);
}

static void ahead_try_etc(Ahead *a) {
        Error error = { 0 };
        int r = ahead_etc(a, &error);

        if (r >= 0 || r == -EBADF)
                return; /* it was tried already, or rests */
        log_debug("the shared /etc: %s", error.text);
        a->etc_tried = !error_is_shortage(r);
        a->rest = clock_usec() + AHEAD_REST_USEC;
}

void ahead_make_one(Ahead *a) {
        int shape = next_shape(a);
        NetRequest request = { .userns_fd = -EBADF, .hub_fd = -EBADF, .settings = &a->settings };
        Error error = { 0 };
        AheadStock *s;
        int r;

        if (clock_usec() < ahead_next(a))
                return;
        if (wants_emptyns(a)) {
                (void) ahead_emptyns(a);
                return;
        }
        if (wants_dev(a)) {
                make_dev(a);
                return;
        }
        if (shape < 0) {
                ahead_try_etc(a);
                return;
        }
        s = a->stocks + shape;
        request.shape = (SpawnNetwork) shape;
        r = net_make(&request, s->networks + s->n, &error);
        if (r < 0) {
                ahead_failed(a, r, &s->broken);
                log_debug("each sandbox makes its own network namespace%s: %s", s->broken ? "" : " for now", error.text);
                return;
        }
        s->n++;
}

int ahead_take_dev(Ahead *a) {
        return a->n_devs > 0 ? a->devs[--a->n_devs] : -EBADF;
}

Network ahead_take_network(Ahead *a, SpawnNetwork shape) {
        Network none = NETWORK_EMPTY;
        AheadStock *s = a->stocks + shape;

        none.shape = shape;
        if (shape == SPAWN_NETWORK_GATED)
                s->wanted = true;
        return s->n > 0 ? s->networks[--s->n] : none;
}
