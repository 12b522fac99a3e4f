#include "core/provider.h"

#include <errno.h>
#include <stddef.h>

static const struct {
        const char *name;
        size_t table; /* offset in struct Provider */
        const char *refusal;
} capabilities[_PROVIDER_CAPABILITY_MAX] = {
#define CAPABILITY(text, table) text, offsetof(Provider, table)
        [PROVIDER_PAUSE]    = { CAPABILITY("pause", pause),       "cannot pause sandboxes"                    },
        [PROVIDER_PTY]      = { CAPABILITY("pty", terminals),     "has no terminals"                          },
        [PROVIDER_HEALTH]   = { CAPABILITY("health", health),     "cannot check a sandbox's health"      },
        [PROVIDER_ARCHIVES] = { CAPABILITY("archives", archives), "cannot pack or unpack archives"            },
        [PROVIDER_PORTS]    = { CAPABILITY("ports", ports),       "cannot reach ports of sandboxes"           },
        [PROVIDER_EGRESS]   = { CAPABILITY("egress", egress),
                                "has no way out for sandboxes here: make the sandbox with network \"none\"" },
        [PROVIDER_GROUPS]   = { CAPABILITY("groups", groups),
                                "has no networks between sandboxes here: make the sandbox with network \"none\"" },
        [PROVIDER_TREES]    = { CAPABILITY("trees", trees),       "cannot store trees"                    },
        [PROVIDER_LAYERS]   = { CAPABILITY("layers", layers),     "cannot store layers of templates"      },
        [PROVIDER_DISKS]    = { CAPABILITY("disks", disks),       "has no disks that outlive sandboxes"       },
        [PROVIDER_CHANNELS] = { CAPABILITY("channels", channels), "cannot keep interpreters"                  },
        [PROVIDER_ZYGOTES]  = { CAPABILITY("zygotes", zygotes),   "has no zygotes"                            },
};

bool provider_has(const Provider *p, ProviderCapability what) {
        return p && *(const void *const *) (const void *) ((const char *) p + capabilities[what].table);
}

const char *provider_capability_name(ProviderCapability what) {
        return capabilities[what].name;
}

int provider_require(const Provider *p, ProviderCapability what, Error *reterr) {
        if (provider_has(p, what))
                return 0;
        if (p && p->no_disks && (what == PROVIDER_TREES || what == PROVIDER_LAYERS || what == PROVIDER_DISKS))
                return error_set(reterr, -EOPNOTSUPP, "%s", p->no_disks);
        return error_set(reterr, -EOPNOTSUPP, "provider '%s' %s", p ? p->ops->name : "none", capabilities[what].refusal);
}
