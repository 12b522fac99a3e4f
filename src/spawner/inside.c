#include "spawner/inside.h"

#include "base/macro.h"
#include "base/title.h"
#include "init/serve.h"

void inside_main(const JailInside *inside, void *arg) {
        const JailSpec *spec = arg;

        title_set("cove-init");
        init_serve(&(InitServe) {
                .control_fd = inside->control_fd,
                .listen_fd = inside->listen_fd,
                .held_fds = inside->held_fds,
                .n_held = ELEMENTSOF(inside->held_fds),
                .network = inside->network,
                .net_fds = inside->net_fds,
                .meminfo_fd = inside->meminfo_fd,
                .usage_fd = inside->usage_fd,
                .guards_missing = inside->missing,
                .has_quota = jail_is_kept(spec),
                .single_id = inside->single_id,
                .uid = spec->uid,
                .gid = spec->gid,
                .workdir = spec->workdir,
                .pids = spec->limits.pids,
                .memory_bytes = spec->limits.memory_bytes,
                .file_size_max = spec->rules->file_size_max,
                .no_processes = spec->rules->flags & RULES_NO_PROCESSES,
                .sudo = spec->sudo,
        });
}
