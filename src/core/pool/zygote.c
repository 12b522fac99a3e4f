#include "core/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "core/enforce.h"
#include "core/execution/command.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/provider.h"
#include "core/settings.h"
#include "wire/channel.h"

struct ZygoteCall {
        Manager *manager;
        uint64_t token;
        int fds[_EXECUTION_CHANNEL_MAX]; /* our ends */
        ZygoteDone done;
        void *userdata;
        ZygoteCall *prev, *next;
};

static const ZygoteConfig *core_zygote_find_line(const Manager *m, const SandboxSpec *spec, const char *language) {
        CoreSettings c = m->settings ? core_settings(m->settings) : (CoreSettings) { 0 };

        for (size_t i = 0; i < c.n_zygotes; i++)
                if (strcmp(c.zygotes[i].template_name, sandbox_spec_base(spec)) == 0 && (!language || strcmp(c.zygotes[i].language, language) == 0))
                        return c.zygotes + i;
        return NULL;
}

/* Root's processes may change who they are, and a zygote's child may not. A group's network is the host's, where it may not go. */
bool zygote_serves(const Manager *m, const SandboxSpec *spec) {
        return core_zygote_find_line(m, spec, /* language= */ NULL) && !spec->layer && spec->uid != 0 && spec->gid != 0 && m->provider && m->provider->ops->zygote &&
               !m->provider->one_user && network_shape(spec->network) != SPAWN_NETWORK_LINKED;
}

static void core_zygote_close_ends(int fds[static _EXECUTION_CHANNEL_MAX]) {
        for (int i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                fds[i] = fd_close(fds[i]);
}

/* A mode, so that the guest may open /dev/stdout again, to write. */
static int core_zygote_make_pipe(int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        (void) fchmod(fds[1], 0622);
        *ret_ours = fds[0];
        *ret_theirs = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int make_ends(int ours[static _EXECUTION_CHANNEL_MAX], int theirs[static _EXECUTION_CHANNEL_MAX]) {
        int fds[2], r = 0;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        ours[EXECUTION_CHANNEL_LINK] = fds[0];
        theirs[EXECUTION_CHANNEL_LINK] = fds[1];
        if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        for (int i = EXECUTION_CHANNEL_OUT; i < _EXECUTION_CHANNEL_MAX && r >= 0; i++)
                r = core_zygote_make_pipe(ours + i, theirs + i);
        return r;
}

/* What its child shall have around it waits in its channel, where nobody reads before it is in the sandbox. */
static int send_surroundings(Sandbox *sb, uint32_t uid, uint32_t gid, const char *cwd, int channel, Error *reterr) {
        const Execution asked = { .sandbox = sb, .spec = { .cwd = (char *) cwd, .uid = uid, .gid = gid, .has_user = true } };
        _cleanup_close_ int surroundings = -EBADF;
        int r = command_surroundings(&asked, &surroundings, reterr);

        if (r < 0)
                return r;
        r = channel_send_bytes(channel, "", 1, &surroundings, 1, MSG_NOSIGNAL);
        return r < 0 ? error_set(reterr, r, "cannot write to a new channel: %m") : 0;
}

static int core_zygote_ask(Sandbox *sb, const ZygoteConfig *line, uint32_t gid, const Enforce *enforce, const int *fds, uint64_t token) {
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
        return p->ops->zygote(p, &q, fds, token);
}

static ZygoteCall *core_zygote_call_new(Manager *m, ZygoteDone done, void *userdata) {
        ZygoteCall *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        *c = (ZygoteCall) { .manager = m, .token = ++m->last_zygote, .fds = { -EBADF, -EBADF, -EBADF }, .done = done, .userdata = userdata };
        DL_APPEND(m->zygote_calls, c);
        return c;
}

static ZygoteCall *core_zygote_call_free(ZygoteCall *c) {
        DL_DELETE(c->manager->zygote_calls, c);
        core_zygote_close_ends(c->fds);
        free(c);
        return NULL;
}

static int core_zygote_check(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const Enforce *enforce, Error *reterr) {
        if (!enforce || !core_zygote_find_line(sb->manager, &sb->spec, language) || !zygote_serves(sb->manager, &sb->spec) || uid != sb->spec.uid || gid == 0 ||
                        enforce->rules.flags & RULES_SEALED)
                return error_set(reterr, -EOPNOTSUPP, "there is no zygote for %s in this sandbox", language);
        if (!sandbox_can_run(sb))
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_status_name(sb->status));
        return 0;
}

int zygote_fork(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const char *cwd, ZygoteDone done, void *userdata, ZygoteCall **ret, Error *reterr) {
        const Enforce *enforce = sandbox_enforce(sb);
        int theirs[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF }, r;
        ZygoteCall *c;

        r = core_zygote_check(sb, language, uid, gid, enforce, reterr);
        if (r < 0)
                return r;
        c = core_zygote_call_new(sb->manager, done, userdata);
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = make_ends(c->fds, theirs);
        if (r < 0)
                (void) error_set(reterr, r, "cannot make a channel: %m");
        else
                r = send_surroundings(sb, uid, gid, cwd, c->fds[EXECUTION_CHANNEL_LINK], reterr);
        if (r >= 0) {
                r = core_zygote_ask(sb, core_zygote_find_line(sb->manager, &sb->spec, language), gid, enforce, theirs, c->token);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot ask the spawner: %m");
        }
        core_zygote_close_ends(theirs);
        if (r < 0) {
                core_zygote_call_free(c);
                return r;
        }
        *ret = c;
        return 0;
}

/* Its channel ends, and by that its child, if there is one. */
ZygoteCall *zygote_cancel(ZygoteCall *c) {
        return c ? core_zygote_call_free(c) : NULL;
}

void zygote_on_done(Manager *m, uint64_t token, int pid, const Error *error) {
        int fds[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF };
        ZygoteDone done;
        void *userdata;
        ZygoteCall *c;

        DL_SEARCH_SCALAR(m->zygote_calls, c, token, token);
        if (!c)
                return;
        done = c->done;
        userdata = c->userdata;
        for (int i = 0; i < _EXECUTION_CHANNEL_MAX && !error; i++)
                fds[i] = TAKE_FD(c->fds[i]);
        core_zygote_call_free(c);
        done(error ? error->code : 0, fds, pid, error, userdata);
}

void zygote_calls_free(Manager *m) {
        ZygoteCall *c, *next;

        DL_FOREACH_SAFE(m->zygote_calls, c, next)
                core_zygote_call_free(c);
}
