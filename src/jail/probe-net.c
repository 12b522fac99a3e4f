#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/net.h"
#include "jail/probe.h"
#include "jail/userns.h"

static const struct {
        const char *name, *purpose, *done, *cure;
} networks[_SPAWN_NETWORK_MAX] = {
        [SPAWN_NETWORK_NONE] = { "none", "loopback only", "made one", "" },
        [SPAWN_NETWORK_GATED] = { "gated", "a way out through the gate: modes egress and open", "all addresses local, tproxy rules set",
                "modprobe nft_tproxy (a kernel with CONFIG_NF_TABLES_INET, CONFIG_NFT_TPROXY and IPv6)" },
        [SPAWN_NETWORK_LINKED] = { "linked", "a network between sandboxes: mode isolated", "veth to a namespace that routes",
                "modprobe bridge veth (a kernel with CONFIG_BRIDGE and CONFIG_VETH)" },
};

const char *probe_network_name(SpawnNetwork shape) {
        return networks[shape].name;
}

const char *probe_network_purpose(SpawnNetwork shape) {
        return networks[shape].purpose;
}

static void probe_net_fill(Finding *f, bool ok, const char *detail, const char *cure) {
        f->ok = ok;
        (void) snprintf(f->detail, sizeof(f->detail), "%.255s", detail);
        (void) snprintf(f->cure, sizeof(f->cure), "%s", ok ? "" : cure);
}

/* As for sandboxes: a network made by root belongs to the host's user namespace, a plain user's network to a
 * user namespace of its own. */
static int probe_net_try(SpawnNetwork shape, bool privileged, Error *reterr) {
        _cleanup_close_ int userns = -EBADF;
        NetRequest request = { .shape = shape, .userns_fd = -EBADF, .id = "probe", .address = 0x0ad50001, .hub_fd = -EBADF };
        Network n = NETWORK_EMPTY;
        int r;

        if (!privileged) {
                userns = userns_make(&(IdMap) { .outside_uid = geteuid(), .outside_gid = getegid(), .count = 1, .single = true });
                if (userns < 0)
                        return error_set(reterr, userns, "user namespace: %m");
                request.userns_fd = userns;
        }
        r = net_make(&request, &n, reterr);
        net_done(&n);
        return r;
}

void probe_networks(Probe *p) {
        for (SpawnNetwork shape = 0; shape < _SPAWN_NETWORK_MAX; shape++) {
                const char *cure = networks[shape].cure;
                Error error = { 0 };

                if (shape == SPAWN_NETWORK_LINKED && !p->privileged)
                        probe_net_fill(p->networks + shape, false, "only root makes networks between sandboxes", "sudo cove serve …");
                else if (probe_net_try(shape, p->privileged, &error) < 0)
                        probe_net_fill(p->networks + shape, false, error.text, cure);
                else
                        probe_net_fill(p->networks + shape, true, networks[shape].done, cure);
        }
}
