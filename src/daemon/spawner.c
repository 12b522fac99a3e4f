#include "daemon/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"

#define ARGUMENTS_MAX  256
#define CHANNEL_BUFFER (4 << 20)
#define ZYGOTE_TEXT_MAX 2400

static int push_arguments(Strv *argv, const char *program, const SpawnerArguments *a) {
        char most[32], begin[32], shrink[32], hang[32], ranges[32];
        const char *const fixed[] = {
                program, "--channel", "3", "--instance", a->instance, "--state-dir", a->state_dir, "--storage-size", most, "--storage-reserve", begin, "--shrink-after", shrink,
                "--hang-after", hang, "--id-ranges", ranges, log_json ? "--log-json" : NULL, NULL,
        };
        int r;

        (void) snprintf(most, sizeof(most), "%llu", (unsigned long long) a->settings->storage.most_bytes);
        (void) snprintf(begin, sizeof(begin), "%llu", (unsigned long long) a->settings->storage.begin_bytes);
        (void) snprintf(shrink, sizeof(shrink), "%llu", (unsigned long long) a->settings->storage.shrink_usec);
        (void) snprintf(hang, sizeof(hang), "%llu", (unsigned long long) a->settings->cleanup.helper_timeout_usec);
        (void) snprintf(ranges, sizeof(ranges), "%u", a->settings->limits.id_ranges);
        r = strv_push_all(argv, fixed);
        if (r >= 0 && log_verbosity > 0)
                r = strv_push(argv, "--verbose");
        for (size_t i = 0; i < a->templates->n && r >= 0; i++)
                r = strv_push_all(argv, (const char *const[]) { "--template", a->templates->items[i], NULL });
        return r;
}

static bool is_template(const SpawnerArguments *a, const char *name) {
        size_t n = strlen(name);

        if (strcmp(name, "host") == 0 || strcmp(name, "base") == 0)
                return true;
        for (size_t i = 0; i < a->templates->n; i++)
                if (strncmp(a->templates->items[i], name, n) == 0 && a->templates->items[i][n] == '=')
                        return true;
        return false;
}

/* A zygote runs code of its template outside the sandbox, on the host's side. Templates that a tenant has
 * pulled or built are not trusted for that. */
static int push_zygote(Strv *argv, const SpawnerArguments *a, const ZygoteConfig *z, Error *reterr) {
        char text[ZYGOTE_TEXT_MAX];
        size_t at;
        int r;

        if (!is_template(a, z->template_name))
                return error_set(reterr, -EINVAL,
                                "zygotes: '%s' is neither host, nor base, nor a directory that the daemon was started with (--template %s=DIR); there are no zygotes of what "
                                "was pulled or built",
                                z->template_name, z->template_name);
        at = (size_t) snprintf(text, sizeof(text), "%s:%s:", z->template_name, z->language);
        for (size_t i = 0; i < z->imports.n && at < sizeof(text); i++)
                at += (size_t) snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? "," : "", z->imports.items[i]);
        r = at < sizeof(text) ? strv_push_all(argv, (const char *const[]) { "--zygote", text, NULL }) : -E2BIG;
        return r < 0 ? error_set(reterr, r, "zygotes: cannot be passed on: %m") : 0;
}

static int push_zygotes(Strv *argv, const SpawnerArguments *a, Error *reterr) {
        for (size_t i = 0; i < a->settings->n_zygotes; i++) {
                int r = push_zygote(argv, a, a->settings->zygotes + i, reterr);

                if (r < 0)
                        return r;
        }
        return 0;
}

int spawner_start(const SpawnerArguments *a, int *ret_fd, Error *reterr) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        _cleanup_free_ char *program = NULL;
        _cleanup_(strv_done) Strv argv = STRV_INIT(ARGUMENTS_MAX), zygotes = STRV_INIT(ARGUMENTS_MAX);
        int fds[2], r, size = CHANNEL_BUFFER;
        pid_t pid;

        r = program_path("cove-spawner", &program);
        if (r < 0)
                return error_set(reterr, r, "cannot find cove-spawner beside coved: is the installation complete?");
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return error_set(reterr, -errno, "cannot make a socket pair: %m");
        ours = fds[0];
        theirs = fds[1];
        (void) setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        (void) setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));

        r = push_zygotes(&zygotes, a, reterr);
        if (r < 0)
                return r;
        r = push_arguments(&argv, program, a);
        if (r >= 0)
                r = strv_extend(&argv, &zygotes);
        if (r >= 0) /* Ctrl-C must reach only the daemon, whose end also ends the spawner */
                r = program_start(&(ProgramStart) {
                        .path = program,
                        .argv = (const char *const *) argv.items,
                        .fds = (const int[]) { -EBADF, STDERR_FILENO, STDERR_FILENO, theirs },
                        .n_fds = 4,
                        .session = true,
                }, &pid);
        if (r < 0)
                return error_set(reterr, r, "cannot start '%s': %m", program);
        if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
                return error_set(reterr, -errno, "cannot set up the channel: %m");
        *ret_fd = TAKE_FD(ours);
        return 0;
}
