#include "core/execution/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/enforce.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/secret.h"
#include "core/secrets.h"

#define ENVIRONMENT_MAX (2 * SANDBOX_ENV_MAX + 128)
#define STRINGS_MAX     (UINT32_C(2) << 20) /* what execve takes with an 8 MiB stack */
#define PATH_OF_USER    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define PATH_OF_ROOT    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define WORKDIR_DEFAULT "/workspace"

static uint32_t user_of(const Execution *x) {
        return x->spec.has_user ? x->spec.uid : x->sandbox->spec.uid;
}

/* The sandbox's own, over what everybody has; the execution's over both. */
static int command_make_environment(const Execution *x, Strv *ret) {
        bool root = user_of(x) == 0;
        const char *const defaults[] = {
                root ? "PATH=" PATH_OF_ROOT : "PATH=" PATH_OF_USER,
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

static const char *working_directory(const Execution *x) {
        return x->spec.cwd ? x->spec.cwd : x->sandbox->spec.workdir ? x->sandbox->spec.workdir : WORKDIR_DEFAULT;
}

static size_t strings_size(const char *cwd, const Strv *args, const Strv *env) {
        size_t size = strlen(cwd) + 1;

        for (size_t i = 0; i < args->n; i++)
                size += strlen(args->items[i]) + 1;
        for (size_t i = 0; i < env->n; i++)
                size += strlen(env->items[i]) + 1;
        return size;
}

static void put_strings(const char *cwd, const Strv *args, const Strv *env, char *p) {
        const Strv *const lists[] = { args, env };

        p = stpcpy(p, cwd) + 1;
        for (size_t l = 0; l < ELEMENTSOF(lists); l++)
                for (size_t i = 0; i < lists[l]->n; i++)
                        p = stpcpy(p, lists[l]->items[i]) + 1;
}

/* Sealed, so that what PID 1 checks is what it uses. */
static int command_make_blob(const char *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("cove-strings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int r;

        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, data, size);
        if (r < 0)
                return r;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int command_surroundings(const Execution *x, int *ret_fd, Error *reterr) {
        static const Strv none = STRV_INIT(0);
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(0);
        const char *cwd = working_directory(x);
        char *strings;
        size_t size;
        int r;

        r = command_environment(x, &env, reterr);
        if (r < 0)
                return r;
        size = strings_size(cwd, &none, &env);
        strings = malloc(size);
        if (!strings)
                return error_set(reterr, -ENOMEM, "out of memory");
        put_strings(cwd, &none, &env, strings);
        r = command_make_blob(strings, size);
        secret_wipe(strings, size);
        free(strings);
        if (r < 0)
                return error_set(reterr, r, "cannot pass the environment on: %m");
        *ret_fd = r;
        return 0;
}

static void command_fill(const Execution *x, GuestExec *e) {
        const SandboxLimits *limits = &x->sandbox->spec.limits;

        *e = (GuestExec) {
                .exec = x->number,
                .flags = (x->spec.pty ? GUEST_EXEC_PTY : 0) | (x->spec.stdin_open ? GUEST_EXEC_STDIN : 0) | (x->spec.channel ? GUEST_EXEC_CHANNEL : 0),
                .uid = user_of(x),
                .gid = x->spec.has_user ? x->spec.gid : x->sandbox->spec.gid,
                .columns = x->spec.columns,
                .rows = x->spec.rows,
                .timeout_usec = x->spec.has_timeout ? x->spec.timeout_usec : limits->exec_timeout_usec,
                .output_max = limits->output_bytes,
                .nofile = limits->nofile,
                .n_args = (uint32_t) x->spec.args.n,
        };
}

/* Large ones travel as a file. */
static int send_strings(Execution *x, GuestExec *e, const char *strings, const int *journals, size_t n_journals, Error *reterr) {
        Provider *p = x->sandbox->manager->provider;
        _cleanup_close_ int blob = -EBADF;
        int fds[_STREAM_MAX + 1], r;
        size_t n_fds = 0;

        while (n_fds < n_journals) {
                fds[n_fds] = journals[n_fds];
                n_fds++;
        }
        e->strings = (const uint8_t *) strings;
        if (e->strings_size > GUEST_INLINE_MAX) {
                blob = command_make_blob(strings, e->strings_size);
                if (blob < 0)
                        return error_set(reterr, blob, "cannot pass the command on: %m");
                e->flags |= GUEST_EXEC_BLOB;
                e->strings = NULL;
                e->strings_size = 0;
                fds[n_fds++] = blob;
        }
        r = p->ops->exec(p, x->sandbox, e, fds, n_fds);
        return r < 0 ? error_set(reterr, r, "cannot reach the sandbox: %m") : 0;
}

int command_send(Execution *x, const Strv *env, const int *journals, size_t n_journals, Error *reterr) {
        const char *cwd = working_directory(x);
        size_t size = strings_size(cwd, &x->spec.args, env);
        char *strings;
        GuestExec e;
        int r;

        if (size > STRINGS_MAX)
                return error_set(reterr, -E2BIG, "command and environment have %zu bytes together, at most %u are possible", size,
                                STRINGS_MAX);
        strings = malloc(size);
        if (!strings)
                return error_set(reterr, -ENOMEM, "out of memory");
        put_strings(cwd, &x->spec.args, env, strings);
        command_fill(x, &e);
        e.n_env = (uint32_t) env->n;
        e.strings_size = (uint32_t) size;
        r = send_strings(x, &e, strings, journals, n_journals, reterr);
        secret_wipe(strings, size);
        free(strings);
        return r;
}
