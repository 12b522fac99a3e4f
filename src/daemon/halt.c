#include "daemon/halt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "core/run-names.h"
#include "daemon/state.h"
#include "gatekeeper/start.h"
#include "jail/cgroup.h"

#define HALT_PATIENCE (30 * USEC_PER_SEC)

typedef struct Halt {
        const char *instance;
        Error *reterr;
} Halt;

static int halt_one(const char *id, void *userdata) {
        const Halt *h = userdata;
        Cgroup cg;
        int r = cgroup_find(h->instance, id, &cg);

        if (r >= 0)
                r = cgroup_remove(&cg, HALT_PATIENCE);
        return r < 0 && r != -ENOENT ? error_set(h->reterr, r, "cannot end sandbox %s: %m", id) : 0;
}

static int halt_gate(const char *state_dir, Error *reterr) {
        char path[PATH_MAX];
        int r = snprintf(path, sizeof(path), "%s/run/" RUN_GATE, state_dir) < (int) sizeof(path) ? gate_evict(path) : -ENAMETOOLONG;

        return r < 0 ? error_set(reterr, r, "cannot end the gate of '%s': %m", state_dir) : 0;
}

static int halt_find(const char *state_dir, struct stat *ret) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/instance", state_dir) >= (int) sizeof(path))
                return -ENAMETOOLONG;
        return stat(path, ret) < 0 || stat(state_dir, ret) < 0 ? -errno : 0;
}

int halt_sandboxes(const char *state_dir, Error *reterr) {
        DaemonState state = STATE_EMPTY;
        struct stat owner;
        int r;

        r = halt_find(state_dir, &owner);
        if (r < 0)
                return r == -ENOENT ? 0 : error_set(reterr, r, "cannot look at '%s': %m", state_dir);
        r = state_open(state_dir, owner.st_uid, owner.st_gid, &state, reterr);
        if (r < 0)
                return r;
        r = cgroup_list(state.instance, halt_one, &(Halt) { state.instance, reterr });
        if (r < 0 && reterr->code == 0)
                (void) error_set(reterr, r, "cannot list the sandboxes of '%s': %m", state_dir);
        if (r >= 0)
                r = halt_gate(state_dir, reterr);
        state_close(&state);
        return r;
}
