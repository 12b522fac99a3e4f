/* native-zygote.c: requests about zygotes, which belong to the spawner. Both ends of a child's channels are
 * made here; our ends are kept until the answer arrives. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "provider/native-internal.h"
#include "wire/channel.h"

struct NativeFork {
        uint64_t token;
        int ends[_EXECUTION_CHANNEL_MAX]; /* ours */
        NativeFork *prev, *next;
};

static void fork_close_ends(int ends[static _EXECUTION_CHANNEL_MAX]) {
        for (ExecutionChannelEnd i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                ends[i] = fd_close(ends[i]);
}

static void native_fork_free(Native *n, NativeFork *f) {
        DL_DELETE(n->forks, f);
        fork_close_ends(f->ends);
        free(f);
}

void native_forks_free(Native *n) {
        NativeFork *f, *next;

        DL_FOREACH_SAFE(n->forks, f, next)
                native_fork_free(n, f);
}

/* The mode lets the guest open /dev/stdout again for writing. */
static int fork_make_pipe(int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        (void) fchmod(fds[1], 0622);
        *ret_ours = fds[0];
        *ret_theirs = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int fork_make_ends(int ours[static _EXECUTION_CHANNEL_MAX], int theirs[static _EXECUTION_CHANNEL_MAX]) {
        int fds[2], r = 0;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        ours[EXECUTION_CHANNEL_LINK] = fds[0];
        theirs[EXECUTION_CHANNEL_LINK] = fds[1];
        if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        for (ExecutionChannelEnd i = EXECUTION_CHANNEL_OUT; i < _EXECUTION_CHANNEL_MAX && r >= 0; i++)
                r = fork_make_pipe(ours + i, theirs + i);
        return r;
}

/* Sends directory and environment ahead into the child's channel: the child reads them only once it is in
 * the sandbox. */
static int fork_send_surroundings(const ProviderZygote *what, int channel) {
        _cleanup_close_ int surroundings = native_command_surroundings(what->cwd, what->env);

        return surroundings < 0 ? surroundings : channel_send_bytes(channel, "", 1, &surroundings, 1, MSG_NOSIGNAL);
}

static int fork_ask(Native *n, const Sandbox *sb, const ProviderZygote *what, const int *theirs, uint64_t token) {
        SpawnMessage m = {
                .zygote = {
                        .gid = what->gid,
                        .nofile = what->nofile,
                        .nproc = what->nproc,
                        .file_bytes = what->file_bytes,
                        .no_processes = what->no_processes,
                },
        };

        (void) snprintf(m.zygote.id, sizeof(m.zygote.id), "%s", sb->id);
        (void) snprintf(m.zygote.template_name, sizeof(m.zygote.template_name), "%s", what->template_name);
        (void) snprintf(m.zygote.language, sizeof(m.zygote.language), "%s", what->language);
        return native_request_token(n, SPAWN_ZYGOTE, &m, token, theirs, _EXECUTION_CHANNEL_MAX);
}

static int native_fork(Provider *p, Sandbox *sb, const ProviderZygote *what, uint64_t token) {
        int theirs[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF }, r;
        Native *n = (Native *) p;
        NativeFork *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        *f = (NativeFork) { .token = token, .ends = { -EBADF, -EBADF, -EBADF } };
        DL_APPEND(n->forks, f);
        r = fork_make_ends(f->ends, theirs);
        if (r >= 0)
                r = fork_send_surroundings(what, f->ends[EXECUTION_CHANNEL_LINK]);
        if (r >= 0)
                r = fork_ask(n, sb, what, theirs, token);
        fork_close_ends(theirs);
        if (r < 0)
                native_fork_free(n, f);
        return r < 0 ? r : 0;
}

const ProviderZygotes native_zygotes = { .fork = native_fork };

void native_on_zygote_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        int ends[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF };
        bool forked = m->type == SPAWN_FORKED;
        Error error = { 0 };
        NativeFork *f;

        DL_SEARCH_SCALAR(n->forks, f, token, q->token);
        for (ExecutionChannelEnd i = 0; f && forked && i < _EXECUTION_CHANNEL_MAX; i++)
                ends[i] = TAKE_FD(f->ends[i]);
        if (f)
                native_fork_free(n, f);
        if (m->type == SPAWN_FAILED)
                native_failure(n, m, &error);
        else if (!forked)
                (void) error_set(&error, -EPROTO, "the spawner sent an unexpected answer");
        n->provider.events->zygote(q->token, forked ? m->forked.pid : 0, ends, forked ? NULL : &error, n->provider.userdata);
}
