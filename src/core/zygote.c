#include "core/zygote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/fd.h"
#include "config/config.h"
#include "core/command.h"
#include "core/enforce.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/provider.h"
#include "wire/channel.h"

struct ZygoteCall {
        Manager *manager;
        uint64_t token;
        int fd; /* our end of the channel */
        ZygoteDone done; /* NULL: has gone */
        void *userdata;
        ZygoteCall *prev, *next;
};

static const ZygoteConfig *find_line(const Manager *m, const SandboxSpec *spec, const char *language) {
        const Config *c = m->settings;

        for (size_t i = 0; c && i < c->n_zygotes; i++)
                if (strcmp(c->zygotes[i].template_name, sandbox_spec_base(spec)) == 0 && (!language || strcmp(c->zygotes[i].language, language) == 0))
                        return c->zygotes + i;
        return NULL;
}

/* Root's processes may change who they are, and a zygote's child may not. A group's network is the host's, where it may not go. */
bool zygote_serves(const Manager *m, const SandboxSpec *spec) {
        return find_line(m, spec, /* language= */ NULL) && !spec->layer && spec->uid != 0 && spec->gid != 0 && m->provider && m->provider->ops->zygote &&
               !m->provider->one_user && network_shape(spec->network) != SPAWN_NETWORK_LINKED;
}

/* What its child shall have around it waits in its channel, where nobody reads before it is in the sandbox. */
static int open_channel(Sandbox *sb, uint32_t uid, uint32_t gid, const char *cwd, int ret_fds[static 2], Error *reterr) {
        const Execution asked = { .sandbox = sb, .spec = { .cwd = (char *) cwd, .uid = uid, .gid = gid, .has_user = true } };
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF, surroundings = -EBADF;
        int fds[2], r;

        r = command_surroundings(&asked, &surroundings, reterr);
        if (r < 0)
                return r;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return error_set(reterr, -errno, "cannot make a channel: %m");
        ours = fds[0];
        theirs = fds[1];
        r = channel_send_bytes(ours, "", 1, &surroundings, 1, MSG_NOSIGNAL);
        if (r < 0)
                return error_set(reterr, r, "cannot write to a new channel: %m");
        ret_fds[0] = TAKE_FD(ours);
        ret_fds[1] = TAKE_FD(theirs);
        return 0;
}

static int ask(Sandbox *sb, const ZygoteConfig *line, uint32_t gid, const Enforce *enforce, int channel, uint64_t token) {
        Provider *p = sb->manager->provider;
        SpawnZygote q = {
                .gid = gid,
                .nofile = sb->spec.limits.nofile,
                .nproc = sb->spec.limits.pids,
                .file_bytes = enforce->rules.file_size_max,
                .no_processes = enforce->rules.flags & RULES_NO_PROCESSES,
        };

        (void) snprintf(q.id, sizeof(q.id), "%s", sb->id);
        (void) snprintf(q.template_name, sizeof(q.template_name), "%s", line->template_name);
        (void) snprintf(q.language, sizeof(q.language), "%s", line->language);
        return p->ops->zygote(p, &q, channel, token);
}

static ZygoteCall *call_new(Manager *m, int fd, ZygoteDone done, void *userdata) {
        ZygoteCall *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        *c = (ZygoteCall) { .manager = m, .token = ++m->last_zygote, .fd = fd, .done = done, .userdata = userdata };
        DL_APPEND(m->zygote_calls, c);
        return c;
}

static ZygoteCall *call_free(ZygoteCall *c) {
        DL_DELETE(c->manager->zygote_calls, c);
        (void) fd_close(c->fd);
        free(c);
        return NULL;
}

int zygote_fork(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const char *cwd, ZygoteDone done, void *userdata, ZygoteCall **ret, Error *reterr) {
        const ZygoteConfig *line = find_line(sb->manager, &sb->spec, language);
        const Enforce *enforce = sandbox_enforce(sb);
        _cleanup_close_ int theirs = -EBADF;
        int fds[2], r;
        ZygoteCall *c;

        if (!line || !enforce || !zygote_serves(sb->manager, &sb->spec) || uid != sb->spec.uid || gid == 0 || enforce->rules.flags & RULES_SEALED)
                return error_set(reterr, -EOPNOTSUPP, "there is no zygote for %s in this sandbox", language);
        if (!sandbox_can_run(sb))
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_status_name(sb->status));
        r = open_channel(sb, uid, gid, cwd, fds, reterr);
        if (r < 0)
                return r;
        theirs = fds[1];
        c = call_new(sb->manager, fds[0], done, userdata);
        if (!c) {
                (void) fd_close(fds[0]);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = ask(sb, line, gid, enforce, theirs, c->token);
        if (r < 0) {
                call_free(c);
                return error_set(reterr, r, "cannot ask the spawner: %m");
        }
        *ret = c;
        return 0;
}

/* Its channel ends, and by that its child, if there is one. */
ZygoteCall *zygote_cancel(ZygoteCall *c) {
        return c ? call_free(c) : NULL;
}

void zygote_on_done(Manager *m, uint64_t token, int pid, const Error *error) {
        ZygoteCall *c;

        DL_SEARCH_SCALAR(m->zygote_calls, c, token, token);
        if (!c)
                return;
        if (error)
                c->done(error->code, -EBADF, 0, error, c->userdata);
        else
                c->done(0, TAKE_FD(c->fd), pid, NULL, c->userdata);
        call_free(c);
}

void zygote_calls_free(Manager *m) {
        ZygoteCall *c, *next;

        DL_FOREACH_SAFE(m->zygote_calls, c, next)
                call_free(c);
}
