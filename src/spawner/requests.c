/* requests.c: one function for each request. */

#include <string.h>

#include "base/fd.h"
#include "spawner/image.h"
#include "spawner/spawner.h"
#include "spawner/task.h"
#include "spawner/trees.h"
#include "spawner/zygote.h"

static void requests_create(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        Creation c = {
                .serial = m->serial,
                .listen_fd = TAKE_FD(fds[0]),
                .hub_fd = n_fds > 1 ? TAKE_FD(fds[1]) : -EBADF,
                .disk_fd = -EBADF,
        };
        Error error = { 0 };
        int r;

        c.request = m->create; /* not above: with -ftrivial-auto-var-init gcc 12 mistakes the first bytes of its volumes for padding, and clears them */
        r = check_create(&m->create, &s->options->templates, s->privileged, &error);
        if (r >= 0)
                r = check_listen_socket(c.listen_fd, &error);
        if (r >= 0 && c.hub_fd >= 0)
                r = m->create.network == SPAWN_NETWORK_LINKED ? net_check_hub(c.hub_fd, &error) :
                                error_set(&error, -EINVAL, "a hub is for a sandbox in a group's network only");
        if (r >= 0 && (image_is_making(s, m->create.id) || task_is_removing(s, m->create.id)))
                r = error_set(&error, -EEXIST, "sandbox %s is being made or removed", m->create.id);

        if (r >= 0 && m->create.kept && tree_jobs_touch_disk(s, m->create.id))
                r = error_set(&error, -EBUSY, "the disk of sandbox %s is being replaced or removed", m->create.id);

        if (r < 0)
                spawner_answer_failed(s, m->serial, &error);
        else if (!creation_wants_image(s, &c))
                creation_run(s, &c);
        else if (image_start(s, &c, &error) < 0)
                spawner_answer_failed(s, m->serial, &error);
        creation_done(&c);
}

static void requests_destroy(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        image_cancel(s, m->id);
        task_remove(s, m->id, m->serial, /* failure= */ NULL);
}

static void freeze(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        task_freeze(s, m->id, m->serial, /* freeze= */ true);
}

static void thaw(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        task_freeze(s, m->id, m->serial, /* freeze= */ false);
}

static void reclaim(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        task_reclaim(s, m->id, m->serial);
}

typedef struct RequestsListing {
        Spawner *s;
        uint32_t serial;
} RequestsListing;

static int list_id(const char *id, void *userdata) {
        const RequestsListing *l = userdata;
        SpawnMessage item = { .type = SPAWN_ITEM, .serial = l->serial };

        memcpy(item.id, id, JAIL_ID_LENGTH + 1);
        spawner_answer(l->s, &item);
        return 0;
}

static void list_child(const Child *child, void *userdata) {
        const RequestsListing *l = userdata;
        Cgroup cg;

        if (cgroup_find(l->s->options->instance, child->id, &cg) == -ENOENT)
                (void) list_id(child->id, userdata);
}

/* Lists all sandboxes with a cgroup, and those that this process has made without one, as for a plain user. */
static void requests_list(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        RequestsListing l = { .s = s, .serial = m->serial };
        Error error = { 0 };
        int r = cgroup_list(s->options->instance, list_id, &l);

        if (r < 0) {
                (void) error_set(&error, r, "cannot list the cgroups: %m");
                spawner_answer_failed(s, m->serial, &error);
                return;
        }
        if (!s->privileged || !s->has_cgroups)
                children_walk(&s->children, list_child, &l);
        spawner_answer(s, &(SpawnMessage) { .type = SPAWN_END, .serial = m->serial });
}

static void requests_ping(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        spawner_answer_done(s, m->serial);
}

static const struct {
        void (*function)(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds);
        size_t min_fds, max_fds;
        bool names_id; /* in its field `id` */
} requests[_SPAWN_TYPE_MAX] = {
        [SPAWN_CREATE]  = { requests_create,  1, 2, false },
        [SPAWN_DESTROY] = { requests_destroy, 0, 0, true  },
        [SPAWN_FREEZE]  = { freeze,  0, 0, true  },
        [SPAWN_THAW]    = { thaw,    0, 0, true  },
        [SPAWN_RECLAIM] = { reclaim, 0, 0, true  },
        [SPAWN_LIST]    = { requests_list,    0, 0, false },
        [SPAWN_PING]    = { requests_ping,    0, 0, false },
        [SPAWN_TREE]    = { tree_jobs_ask, 0, 4, false },
        [SPAWN_ZYGOTE]  = { zygote_ask, 3, 3, false },
};

void spawner_handle(Spawner *s, const SpawnMessage *request, int *fds, size_t n_fds) {
        Error error = { 0 };
        int r = 0;

        if (!requests[request->type].function)
                r = error_set(&error, -EOPNOTSUPP, "%u is no request", request->type);
        else if (n_fds < requests[request->type].min_fds || n_fds > requests[request->type].max_fds)
                r = error_set(&error, -EBADMSG, "%zu descriptors came with the request, wanted %zu to %zu", n_fds,
                                requests[request->type].min_fds, requests[request->type].max_fds);
        else if (requests[request->type].names_id)
                r = check_id(request->id, &error);

        if (r < 0)
                spawner_answer_failed(s, request->serial, &error);
        else
                requests[request->type].function(s, request, fds, n_fds);
}
