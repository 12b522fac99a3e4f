#include "core/execution/command.h"

#include <string.h>
#include <unistd.h>

#include "core/enforce.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/secrets.h"
#include "core/template.h"

#define ENVIRONMENT_MAX (2 * SANDBOX_ENV_MAX + 128)
#define STRINGS_MAX     (UINT32_C(2) << 20) /* the limit of execve with an 8 MiB stack */
#define PATH_OF_USER    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define PATH_OF_ROOT    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define PROGRAMS_OF_USER "/home/user/.local"
#define WORKDIR_DEFAULT "/workspace"
#define AUTHORITIES     "/etc/ssl/certs/ca-certificates.crt" /* Debian's list of certificate authorities */

static uint32_t user_of(const Execution *x) {
        return x->spec.has_user ? x->spec.uid : x->sandbox->spec.uid;
}

static bool command_is_on_base(const Execution *x) {
        const SandboxSpec *spec = &x->sandbox->spec;

        return !spec->layer && strcmp(sandbox_spec_base(spec), TEMPLATE_BASE) == 0;
}

/* The user of template base installs programs into the home directory. Commands find them without a login shell
 * too; the profile of a login shell says the same (jail/furniture.c). */
static bool command_has_own_programs(const Execution *x) {
        return user_of(x) != 0 && user_of(x) == x->sandbox->spec.uid && command_is_on_base(x);
}

static bool command_has_authorities(Manager *m) {
        usec_t now = clock_usec();

        if (m->authorities.looked_at == 0 || now - m->authorities.looked_at >= USEC_PER_SEC) {
                m->authorities.looked_at = now;
                m->authorities.there = access(AUTHORITIES, R_OK) == 0;
        }
        return m->authorities.there;
}

/* Clients that bring a list of authorities of their own (uv, Node.js, requests in a virtual environment) must be told
 * of the host's, or they do not trust the host's mirrors. uv does not read the permission in pip.conf either. */
static int command_tell_clients(const Execution *x, Strv *ret) {
        static const char *const told[] = {
                "UV_BREAK_SYSTEM_PACKAGES=true",
                "SSL_CERT_FILE=" AUTHORITIES,
                "REQUESTS_CA_BUNDLE=" AUTHORITIES,
                "NODE_EXTRA_CA_CERTS=" AUTHORITIES,
        };
        const size_t n = command_has_authorities(x->sandbox->manager) ? ELEMENTSOF(told) : 1;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0 && command_is_on_base(x); i++)
                r = strv_push(ret, told[i]);
        return r;
}

/* The sandbox's variables override the defaults; the execution's override both. */
static int command_make_environment(const Execution *x, Strv *ret) {
        bool root = user_of(x) == 0, own = command_has_own_programs(x);
        const char *const defaults[] = {
                root ? "PATH=" PATH_OF_ROOT : own ? "PATH=" PROGRAMS_OF_USER "/bin:" PATH_OF_USER : "PATH=" PATH_OF_USER,
                own ? "NPM_CONFIG_PREFIX=" PROGRAMS_OF_USER : NULL,
                own ? "NPM_CONFIG_GLOBALCONFIG=/etc/npmrc" : NULL,
                root ? "HOME=/root" : "HOME=/home/user",
                root ? "USER=root" : "USER=user",
                root ? "LOGNAME=root" : "LOGNAME=user",
                "SHELL=/bin/bash",
                "LANG=C.UTF-8",
                x->spec.pty ? "TERM=xterm-256color" : NULL,
        };
        const Strv *const given[] = { &x->sandbox->spec.env, &x->spec.env };
        const Enforce *e = sandbox_enforce(x->sandbox);
        int r;

        for (size_t i = 0; i < ELEMENTSOF(defaults); i++)
                if (defaults[i]) {
                        r = strv_push(ret, defaults[i]);
                        if (r < 0)
                                return r;
                }
        r = command_tell_clients(x, ret);
        if (r >= 0)
                r = network_environment(x->sandbox, ret);
        if (r < 0)
                return r;
        for (size_t g = e && !e->no_environment ? 0 : 1; g < ELEMENTSOF(given); g++)
                for (size_t i = 0; i < given[g]->n; i++) {
                        r = strv_set_env(ret, given[g]->items[i]);
                        if (r < 0)
                                return r;
                }
        return 0;
}

int command_environment(const Execution *x, Strv *ret, Error *reterr) {
        int r;

        *ret = (Strv) STRV_INIT(ENVIRONMENT_MAX);
        r = command_make_environment(x, ret);
        if (r < 0)
                return error_set(reterr, r, "cannot make the environment: %m");
        return secrets_resolve(x->sandbox, ret, reterr);
}

const char *command_workdir(const Sandbox *sb, const char *asked) {
        return asked ? asked : sb->spec.workdir ? sb->spec.workdir : WORKDIR_DEFAULT;
}

static size_t command_bytes(const ProviderCommand *c) {
        size_t size = strlen(c->cwd) + 1;

        for (size_t i = 0; i < c->args->n; i++)
                size += strlen(c->args->items[i]) + 1;
        for (size_t i = 0; i < c->env->n; i++)
                size += strlen(c->env->items[i]) + 1;
        return size;
}

int command_send(Execution *x, const Strv *env, const int journals[static _STREAM_MAX], Error *reterr) {
        const SandboxLimits *limits = &x->sandbox->spec.limits;
        Provider *p = x->sandbox->manager->provider;
        const ProviderCommand c = {
                .number = x->number,
                .cwd = command_workdir(x->sandbox, x->spec.cwd),
                .args = &x->spec.args,
                .env = env,
                .uid = user_of(x),
                .gid = x->spec.has_user ? x->spec.gid : x->sandbox->spec.gid,
                .timeout_usec = x->spec.has_timeout ? x->spec.timeout_usec : limits->exec_timeout_usec,
                .output_max = journal_grant(x),
                .nofile = limits->nofile,
                .stdin_open = x->spec.stdin_open,
                .pty = x->spec.pty,
                .columns = x->spec.columns,
                .rows = x->spec.rows,
                .channel = x->spec.channel,
                .segment = !x->has_files && !x->spec.channel,
                .journals = { journals[STREAM_STDOUT], journals[STREAM_STDERR] },
        };
        size_t size = command_bytes(&c);
        int r;

        if (size > STRINGS_MAX)
                return error_set(reterr, -E2BIG, "command and environment have %zu bytes together; the maximum is %u", size,
                                STRINGS_MAX);
        r = p->ops->exec(p, x->sandbox, &c);
        return r < 0 ? error_set(reterr, r, "cannot reach the sandbox: %m") : 0;
}
