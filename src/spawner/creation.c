#include "spawner/creation.h"

#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "jail/jail.h"
#include "jail/view.h"
#include "spawner/ground.h"
#include "spawner/inside.h"
#include "spawner/task.h"
#include "spawner/zygote.h"

#define PIDS_ROOM 8 /* for shims and workers, so that a guest at its limit can still be reached */

static JailSpec creation_make_spec(const Spawner *s, const Creation *c, const Network *network, const JailTrees *trees) {
        const SpawnCreate *q = &c->request;
        const Template *t = template_find(&s->options->templates, q->template_name);
        JailSpec spec = {
                .template_dir = t->directory,
                .furnished = t->furnished,
                .trees = trees,
                .hostname = q->hostname,
                .workdir = q->workdir,
                .keep_fd = -EBADF,
                .uid = q->uid,
                .gid = q->gid,
                .sudo = q->sudo,
                .sudo_program = s->sudo_program,
                .network = *network,
                .limits = {
                        .memory_bytes = q->memory_bytes,
                        .cpu_milli = q->cpu_milli,
                        .pids = q->pids,
                        .pids_room = PIDS_ROOM,
                        .disk_bytes = q->disk_bytes,
                        .count = true,
                },
                .allow_missing = q->allow_missing,
                .rules = &q->rules,
                .detached = true,
                .instance = s->options->instance,
                .listen_fd = c->listen_fd,
                .disk_fd = c->disk_fd,
                .home_netns_fd = s->ahead.home_netns_fd,
                .dev_fd = -EBADF,
                .etc_fd = -EBADF,
                .anonymous_fd = -EBADF,
                .enterable = q->zygote && s->privileged,
        };

        memcpy(spec.id, q->id, sizeof(spec.id));
        return spec;
}

void creation_done(Creation *c) {
        c->listen_fd = fd_close(c->listen_fd);
        c->hub_fd = fd_close(c->hub_fd);
        c->disk_fd = fd_close(c->disk_fd);
}

bool creation_wants_image(const Spawner *s, const Creation *c) {
        const Network none = NETWORK_EMPTY;
        const JailSpec spec = creation_make_spec(s, c, &none, /* trees= */ NULL);

        return s->privileged && !c->request.kept && disk_choose(&spec, s->privileged) == DISK_IMAGE;
}

static int creation_hand_over(Spawner *s, const Creation *c, const Jail *jail) {
        const int fds[] = { jail->control_fd, jail->pidfd };

        return outbox_send(&s->outbox, &(SpawnMessage) {
                .type = SPAWN_CREATED,
                .serial = c->serial,
                .created = {
                        .pid = jail->pid,
                        .id_base = jail->id_base,
                        .guards_missing = jail->missing,
                        .disk_backing = (uint8_t) jail->disk_backing,
                },
        }, fds, ELEMENTSOF(fds));
}

/* Takes a network made ahead, or makes one here that the host's user namespace owns. Where that is not possible, the
 * jail makes one in the sandbox's own user namespace, but never a linked one. */
static int get_network(Spawner *s, const Creation *c, Network *ret, Error *reterr) {
        const NetRequest request = {
                .shape = (SpawnNetwork) c->request.network,
                .userns_fd = -EBADF,
                .id = c->request.id,
                .address = c->request.address,
                .hub_fd = c->hub_fd,
                .settings = &s->ahead.settings,
        };

        if (c->request.zygote && s->privileged) { /* the jail makes one of the sandbox's own: a process that enters has no right to the host's */
                ret->shape = request.shape;
                return 0;
        }
        if (request.shape == SPAWN_NETWORK_LINKED)
                return s->ahead.home_netns_fd < 0 ? error_set(reterr, -EOPNOTSUPP, "/proc/self/ns/net cannot be opened") :
                                                    net_make(&request, ret, reterr);
        *ret = ahead_take_network(&s->ahead, request.shape);
        if (ret->netns_fd < 0 && request.shape == SPAWN_NETWORK_GATED && s->ahead.home_netns_fd >= 0)
                (void) net_make(&request, ret, /* reterr= */ NULL);
        return 0;
}

/* A disk that began with a shared /etc must get one again, so a failure is an error: a kept disk has no other /etc. */
static int take_etc(Spawner *s, JailSpec *spec, Error *reterr) {
        int r = !jail_has_template(spec) ? ahead_etc(&s->ahead, reterr) : -EBADF;

        if (r < 0 && r != -EBADF)
                return r;
        spec->etc_fd = r;
        return 0;
}

static int creation_start(Spawner *s, const Creation *c, Child *child, Error *reterr) {
        static const int no_stdio[3] = { -EBADF, -EBADF, -EBADF };
        _cleanup_(net_done) Network network = NETWORK_EMPTY;
        _cleanup_(ground_done) JailTrees trees = JAIL_TREES_EMPTY;
        _cleanup_close_ int dev = -EBADF;
        JailSpec spec;
        Jail jail;
        int r;

        r = ground_is_needed(&c->request) ? ground_open(&s->depot, &c->request, &trees, reterr) : 0;
        if (r >= 0)
                r = get_network(s, c, &network, reterr);
        if (r < 0)
                return r;
        spec = creation_make_spec(s, c, &network, ground_is_needed(&c->request) ? &trees : NULL);
        r = take_etc(s, &spec, reterr);
        if (r < 0)
                return r;
        spec.settings = s->privileged ? &s->ahead.settings : NULL;
        spec.anonymous_fd = ahead_anonymous(&s->ahead);
        spec.emptyns = ahead_emptyns(&s->ahead);
        dev = spec.dev_fd = ahead_take_dev(&s->ahead);
        spec.first_core = s->next_core;
        s->next_core += view_count_cores(&spec);
        spec.id_ranges = &s->ranges;
        r = jail_start(&spec, no_stdio, inside_main, &spec, &jail, reterr);
        spawner_bind_to_keeper(s);
        if (r < 0)
                return r;
        child->id_base = jail.id_base;
        r = children_started(&s->children, child, jail.pid);
        if (r >= 0)
                r = creation_hand_over(s, c, &jail);
        if (r < 0) {
                (void) error_set(reterr, r, "cannot hand the sandbox over: %m");
                (void) jail_kill(&jail);
        }
        jail_release(&jail);
        return r;
}

void creation_run(Spawner *s, const Creation *c) {
        const char *id = c->request.id;
        Error error = { 0 };
        Child *child;
        int r;

        r = children_reserve(&s->children, id, &child);
        if (r < 0) {
                (void) error_set(&error, r, "cannot make sandbox %s: %m", id);
                spawner_answer_failed(s, c->serial, &error);
                return;
        }
        r = creation_start(s, c, child, &error);
        if (c->request.zygote)
                zygotes_expect(s, c->request.template_name);
        if (r >= 0)
                return;

        log_debug("sandbox %s cannot be made: %s", id, error.text);
        if (child->pid == 0)
                children_drop(&s->children, child);
        if (r == -EEXIST) /* an existing sandbox is not ours to remove */
                spawner_answer_failed(s, c->serial, &error);
        else
                task_remove(s, id, c->serial, &error);
}
