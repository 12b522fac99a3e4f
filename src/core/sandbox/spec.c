/* spec.c: what was asked for: defaults, copies, and the end of it. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "core/sandbox.h"

#define MEMORY_DEFAULT       (UINT64_C(512) << 20)
#define DISK_DEFAULT         (UINT64_C(256) << 20) /* half of the memory: lies there, and is made in no time */
#define PIDS_DEFAULT         512
#define EXEC_TIMEOUT_DEFAULT (300 * USEC_PER_SEC)
#define OUTPUT_DEFAULT       (UINT64_C(64) << 20)
#define NOFILE_DEFAULT       4096
#define USER_DEFAULT         1000

/* Every string of it, so that none is forgotten when it is copied or freed. */
static const size_t texts[] = {
        offsetof(SandboxSpec, name),       offsetof(SandboxSpec, tenant),  offsetof(SandboxSpec, template_name),
        offsetof(SandboxSpec, profile),    offsetof(SandboxSpec, workdir), offsetof(SandboxSpec, agent_type),
        offsetof(SandboxSpec, task_id),    offsetof(SandboxSpec, group),   offsetof(SandboxSpec, metadata),
        offsetof(SandboxSpec, policy),     offsetof(SandboxSpec, layer),   offsetof(SandboxSpec, digest),
        offsetof(SandboxSpec, snapshot),   offsetof(SandboxSpec, parent),  offsetof(SandboxSpec, base),
        offsetof(SandboxSpec, dialect),
};

static char **text_at(const SandboxSpec *spec, size_t i) {
        return (char **) (void *) ((char *) (uintptr_t) spec + texts[i]);
}

void sandbox_spec_defaults(SandboxSpec *spec) {
        *spec = (SandboxSpec) {
                .limits = {
                        .memory_bytes = MEMORY_DEFAULT,
                        .disk_bytes = DISK_DEFAULT,
                        .pids = PIDS_DEFAULT,
                        .exec_timeout_usec = EXEC_TIMEOUT_DEFAULT,
                        .output_bytes = OUTPUT_DEFAULT,
                        .nofile = NOFILE_DEFAULT,
                },
                .env = STRV_INIT(SANDBOX_ENV_MAX),
                .uid = USER_DEFAULT,
                .gid = USER_DEFAULT,
                .hub_fd = -EBADF,
        };
}

void sandbox_volumes_done(SandboxSpec *spec) {
        for (size_t i = 0; i < spec->n_volumes; i++) {
                free(spec->volumes[i].name);
                free(spec->volumes[i].tree);
                free(spec->volumes[i].target);
        }
        free(spec->volumes);
        spec->volumes = NULL;
        spec->n_volumes = 0;
}

int sandbox_spec_add_volume(SandboxSpec *spec, const char *name, const char *tree, const char *target, bool writable) {
        SandboxVolume *list, v;

        if (spec->n_volumes >= SANDBOX_VOLUMES_MAX)
                return -E2BIG;
        list = reallocarray(spec->volumes, spec->n_volumes + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        spec->volumes = list;
        v = (SandboxVolume) { strdup(name), strdup(tree), strdup(target), writable };
        list[spec->n_volumes++] = v; /* whole or not, it goes with the rest */
        return v.name && v.tree && v.target ? 0 : -ENOMEM;
}

void sandbox_spec_done(SandboxSpec *spec) {
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                free(*text_at(spec, i));
        strv_done(&spec->env);
        sandbox_volumes_done(spec);
        *spec = (SandboxSpec) { .hub_fd = -EBADF };
}

int sandbox_spec_copy(const SandboxSpec *from, SandboxSpec *ret) {
        SandboxSpec copy = *from;
        int r = 0;

        copy.hub_fd = -EBADF;
        copy.scratch[0] = '\0'; /* is used once */
        copy.takes_scratch = false;
        copy.env = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        copy.volumes = NULL;
        copy.n_volumes = 0;
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                const char *text = *text_at(from, i);

                *text_at(&copy, i) = text ? strdup(text) : NULL;
                if (text && !*text_at(&copy, i))
                        r = -ENOMEM;
        }
        for (size_t i = 0; i < from->env.n && r >= 0; i++)
                r = strv_push(&copy.env, from->env.items[i]);
        for (size_t i = 0; i < from->n_volumes && r >= 0; i++) {
                const SandboxVolume *v = from->volumes + i;

                r = sandbox_spec_add_volume(&copy, v->name, v->tree, v->target, v->writable);
        }
        if (r < 0) {
                sandbox_spec_done(&copy);
                return r;
        }
        *ret = copy;
        return 0;
}

const char *sandbox_spec_base(const SandboxSpec *spec) {
        return spec->base ? spec->base : spec->template_name && !spec->layer ? spec->template_name : "host";
}

