#include "core/zygote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fd.h"
#include "core/enforce.h"
#include "core/execution/command.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/provider.h"
#include "core/secrets.h"
#include "core/settings.h"

struct ZygoteCall {
        Manager *manager;
        uint64_t token;
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

/* Processes of root may change their identity, and a child of a zygote may not. The network of a group is the
 * host's, which a child of a zygote may not enter. */
bool zygote_serves(const Manager *m, const SandboxSpec *spec) {
        return core_zygote_find_line(m, spec, /* language= */ NULL) && !spec->layer && spec->uid != 0 && spec->gid != 0 && provider_has(m->provider, PROVIDER_ZYGOTES) &&
               !m->provider->one_user && network_shape(spec->network) != SPAWN_NETWORK_LINKED;
}

static int core_zygote_ask(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const char *cwd, const Enforce *enforce, uint64_t token, Error *reterr) {
        const Execution asked = { .sandbox = sb, .spec = { .uid = uid, .gid = gid, .has_user = true } };
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(0);
        Provider *p = sb->manager->provider;
        const ProviderZygote what = {
                .template_name = sandbox_spec_base(&sb->spec),
                .language = language,
                .gid = gid,
                .nofile = sb->spec.limits.nofile,
                .nproc = sb->spec.limits.pids,
                .file_bytes = enforce->rules.file_size_max,
                .no_processes = enforce->rules.flags & RULES_NO_PROCESSES,
                .cwd = command_workdir(sb, cwd),
                .env = &env,
        };
        int r = command_environment(&asked, &env, reterr);

        if (r < 0)
                return r;
        r = p->zygotes->fork(p, sb, &what, token);
        return r < 0 ? error_set(reterr, r, "cannot ask for a zygote: %m") : 0;
}

static ZygoteCall *core_zygote_call_new(Manager *m, ZygoteDone done, void *userdata) {
        ZygoteCall *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        *c = (ZygoteCall) { .manager = m, .token = ++m->last_zygote, .done = done, .userdata = userdata };
        DL_APPEND(m->zygote_calls, c);
        return c;
}

static ZygoteCall *core_zygote_call_free(ZygoteCall *c) {
        DL_DELETE(c->manager->zygote_calls, c);
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
        ZygoteCall *c;
        int r;

        r = core_zygote_check(sb, language, uid, gid, enforce, reterr);
        if (r < 0)
                return r;
        c = core_zygote_call_new(sb->manager, done, userdata);
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = core_zygote_ask(sb, language, uid, gid, cwd, enforce, c->token, reterr);
        if (r < 0) {
                core_zygote_call_free(c);
                return r;
        }
        *ret = c;
        return 0;
}

/* When the answer comes and finds no call, the channel is closed, and the child ends with it. */
ZygoteCall *zygote_cancel(ZygoteCall *c) {
        return c ? core_zygote_call_free(c) : NULL;
}

void zygote_on_done(Manager *m, uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error) {
        ZygoteDone done;
        void *userdata;
        ZygoteCall *c;

        DL_SEARCH_SCALAR(m->zygote_calls, c, token, token);
        if (!c) {
                for (int i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                        (void) fd_close(fds[i]);
                return;
        }
        done = c->done;
        userdata = c->userdata;
        core_zygote_call_free(c);
        done(error ? error->code : 0, fds, pid, error, userdata);
}

void zygote_calls_free(Manager *m) {
        ZygoteCall *c, *next;

        DL_FOREACH_SAFE(m->zygote_calls, c, next)
                core_zygote_call_free(c);
}
