#include "provider/native.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "jail/cgroup.h"
#include "provider/native-internal.h"

static void copy_id(SpawnMessage *m, const char *id) {
        (void) snprintf(m->id, sizeof(m->id), "%s", id);
}

static int native_destroy(Provider *p, const char *id, Sandbox *sb) {
        SpawnMessage m = { 0 };

        if (sb && sb->provider_data)
                native_guest_going(sb->provider_data);
        copy_id(&m, id);
        return native_request((Native *) p, SPAWN_DESTROY, &m, NULL, NULL, 0);
}

static int native_freeze(Provider *p, Sandbox *sb, bool freeze) {
        SpawnMessage m = { 0 };

        copy_id(&m, sb->id);
        return native_request((Native *) p, freeze ? SPAWN_FREEZE : SPAWN_THAW, &m, sb, NULL, 0);
}

static int native_set_aside(Provider *p, const char *id, bool may_go) {
        Native *n = (Native *) p;
        Cgroup cg = CGROUP_EMPTY;
        SpawnMessage m = { 0 };
        bool empty = may_go && cgroup_find(n->config.instance, id, &cg) >= 0 && cgroup_is_empty(&cg);
        int r;

        copy_id(&m, id);
        r = native_request(n, empty ? SPAWN_DESTROY : SPAWN_FREEZE, &m, /* sb= */ NULL, NULL, 0);
        return r < 0 ? r : empty;
}

static int native_reclaim(Provider *p, Sandbox *sb) {
        SpawnMessage m = { 0 };

        copy_id(&m, sb->id);
        return native_request((Native *) p, SPAWN_RECLAIM, &m, sb, NULL, 0);
}

static int native_list(Provider *p) {
        return native_request((Native *) p, SPAWN_LIST, &(SpawnMessage) { 0 }, NULL, NULL, 0);
}

static int native_stop(Provider *p, Sandbox *sb, usec_t grace_usec) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_STOP, .grace_usec = grace_usec }, NULL, 0);
}

/* The descriptor came from inside. Whatever it refers to, asking for its size does no harm. */
static void read_disk(const NativeGuest *g, SandboxUsage *ret) {
        struct statfs fs;

        if (!g || g->root_fd < 0 || fstatfs(g->root_fd, &fs) < 0 || fs.f_bfree > fs.f_blocks)
                return;
        ret->disk_bytes = (uint64_t) (fs.f_blocks - fs.f_bfree) * (uint64_t) fs.f_bsize;
        ret->has_disk = true;
}

/* Any user can read the counters of a cgroup. */
static int native_usage(Provider *p, Sandbox *sb, SandboxUsage *ret) {
        Native *n = (Native *) p;
        CgroupUsage usage = { 0 };
        Cgroup cg = CGROUP_EMPTY;
        int r;

        r = cgroup_open(n->config.instance, sb->id, &cg);
        if (r < 0)
                return r;
        r = cgroup_usage(&cg, &usage);
        cgroup_close(&cg);
        if (r < 0)
                return r;
        ret->memory_bytes = usage.memory_bytes;
        ret->memory_peak_bytes = usage.memory_peak_bytes;
        ret->has_memory = usage.has_memory_now;
        ret->cpu_usec = usage.cpu_usec;
        ret->has_cpu = usage.has_cpu;
        ret->pids = usage.pids;
        ret->has_pids = usage.has_pids;
        ret->io_read_bytes = usage.io_read_bytes;
        ret->io_write_bytes = usage.io_write_bytes;
        ret->has_io = usage.has_io_read && usage.has_io_write; /* both or none: one of them alone would look like the total */
        ret->oom_kills = usage.oom_kills;
        native_read_network(sb, ret);
        if (!sb->spec.persistent) /* otherwise the file system is shared with others */
                read_disk(sb->provider_data, ret);
        return 0;
}

static Provider *native_free(Provider *p) {
        Native *n = (Native *) p;
        NativeRequest *q, *next;

        if (!n)
                return NULL;
        HASH_ITER(hh, n->requests, q, next) {
                HASH_DEL(n->requests, q);
                free(q);
        }
        native_forks_free(n);
        native_sockets_done(n);
        sd_event_source_disable_unref(n->io);
        sd_event_source_disable_unref(n->pulse);
        sd_event_source_disable_unref(n->rest);
        sd_event_source_disable_unref(n->list_again);
        native_sending_done(n);
        native_guests_done(n);
        (void) fd_close(n->config.spawner_fd);
        (void) fd_close(n->run_fd);
        sd_event_unref(n->event);
        free(n);
        return NULL;
}

static const ProviderPause native_pause = { .freeze = native_freeze, .set_aside = native_set_aside, .reclaim = native_reclaim };

static const ProviderOps native_ops = {
        .name = "native",
        .create = native_guest_create,
        .adopt = native_guest_adopt,
        .destroy = native_destroy,
        .list = native_list,
        .stop = native_stop,
        .usage = native_usage,
        .segment = native_command_segment,
        .exec = native_command,
        .signal = native_command_signal,
        .forget = native_command_forget,
        .stdin_open = native_command_stdin_open,
        .stdin_close = native_command_stdin_close,
        .file_start = native_file_start,
        .file_commit = native_file_commit,
        .file_pause = native_file_pause,
        .file_end = native_file_end,
        .release = native_guest_release,
        .free = native_free,
};

int native_new(sd_event *event, const NativeConfig *config, Provider **ret, Error *reterr) {
        Native *n = calloc(1, sizeof(*n));
        int r;

        if (!n)
                return error_set(reterr, -ENOMEM, "out of memory");
        n->provider = (Provider) {
                .ops = &native_ops,
                .pause = &native_pause,
                .terminals = &native_terminals,
                .health = &native_guest_health,
                .archives = &native_archives,
                .ports = &native_ports,
                .egress = &native_network,
                .groups = config->privileged ? &native_network : NULL,
                .trees = config->privileged ? &native_trees : NULL,
                .channels = &native_channels,
                .zygotes = &native_zygotes,
                .one_user = !config->privileged,
        };
        native_tree_hello(n, &(SpawnHello) { .depot_reason = "the spawner has not said yet whether there is a place for trees" });
        n->config = *config;
        n->event = sd_event_ref(event);
        n->guests_fd = -EBADF;
        n->run_fd = open(config->run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (n->run_fd < 0) {
                r = error_set(reterr, -errno, "cannot open '%s': %m", config->run_dir);
                native_free(&n->provider);
                return r;
        }
        r = native_spawner_attach(n);
        if (r >= 0)
                r = native_sending_init(n);
        if (r >= 0)
                r = native_guests_init(n);
        if (r >= 0)
                r = native_sockets_init(n);
        if (r >= 0)
                r = native_beat_start(n);
        if (r < 0) {
                native_free(&n->provider);
                return error_set(reterr, r, "cannot listen to the spawner: %m");
        }
        *ret = &n->provider;
        return 0;
}
