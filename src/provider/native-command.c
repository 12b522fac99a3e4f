/* native-command.c: commands and operations on them, translated to the messages of wire/guest.h and back. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "provider/native-internal.h"

_Static_assert(SANDBOX_KEPT_TEXT_MAX == GUEST_KEPT_TEXT_MAX && (int) _EXECUTION_CHANNEL_MAX == GUEST_KEPT_FDS, "what PID 1 can keep");

/* Directory, arguments, environment: each ends with a NUL. The caller wipes them: an environment may have secrets in it. */
static char *command_strings(const char *cwd, const Strv *args, const Strv *env, size_t *ret_size) {
        const Strv *const lists[] = { args, env };
        size_t size = strlen(cwd) + 1;
        char *strings, *p;

        for (size_t l = 0; l < ELEMENTSOF(lists); l++)
                for (size_t i = 0; lists[l] && i < lists[l]->n; i++)
                        size += strlen(lists[l]->items[i]) + 1;
        strings = malloc(size);
        if (!strings)
                return NULL;
        p = stpcpy(strings, cwd) + 1;
        for (size_t l = 0; l < ELEMENTSOF(lists); l++)
                for (size_t i = 0; lists[l] && i < lists[l]->n; i++)
                        p = stpcpy(p, lists[l]->items[i]) + 1;
        *ret_size = size;
        return strings;
}

/* Sealed, so that what PID 1 checks is what it uses. */
static int command_blob(const char *data, size_t size) {
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

int native_command_surroundings(const char *cwd, const Strv *env) {
        size_t size;
        char *strings = command_strings(cwd, /* args= */ NULL, env, &size);
        int r;

        if (!strings)
                return -ENOMEM;
        r = command_blob(strings, size);
        explicit_bzero(strings, size);
        free(strings);
        return r;
}

/* Large strings are passed as a file. */
static int command_put(Provider *p, Sandbox *sb, GuestExec *e, const int journals[static _STREAM_MAX]) {
        _cleanup_close_ int blob = -EBADF;
        int fds[_STREAM_MAX + 1];
        size_t n_fds = 0;

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                if (journals[s] >= 0)
                        fds[n_fds++] = journals[s];
        if (e->strings_size > GUEST_INLINE_MAX) {
                blob = command_blob((const char *) e->strings, e->strings_size);
                if (blob < 0)
                        return blob;
                e->flags |= GUEST_EXEC_BLOB;
                e->strings = NULL;
                e->strings_size = 0;
                fds[n_fds++] = blob;
        }
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_EXEC, .exec = *e }, fds, n_fds);
}

ProviderSegment native_command_segment(Provider *p, const Sandbox *sb) {
        const NativeGuest *g = sb->provider_data;

        return !g || g->segment == GUEST_SEGMENT_UNKNOWN ? PROVIDER_SEGMENT_NEVER :
               g->segment == GUEST_SEGMENT_KEPT          ? PROVIDER_SEGMENT_KEPT :
                                                           PROVIDER_SEGMENT_WANTED;
}

int native_command(Provider *p, Sandbox *sb, const ProviderCommand *c) {
        size_t size;
        char *strings = command_strings(c->cwd, c->args, c->env, &size);
        GuestExec e = {
                .exec = c->number,
                .flags = (c->pty ? GUEST_EXEC_PTY : 0) | (c->stdin_open ? GUEST_EXEC_STDIN : 0) | (c->channel ? GUEST_EXEC_CHANNEL : 0) |
                         (c->stay ? GUEST_EXEC_STAY : 0) | (c->segment ? GUEST_EXEC_SEGMENT : 0),
                .uid = c->uid,
                .gid = c->gid,
                .columns = c->columns,
                .rows = c->rows,
                .timeout_usec = c->timeout_usec,
                .output_max = c->output_max,
                .nofile = c->nofile,
                .n_args = (uint32_t) c->args->n,
                .n_env = (uint32_t) c->env->n,
                .strings = (const uint8_t *) strings,
        };
        int r;

        if (!strings)
                return -ENOMEM;
        e.strings_size = size;
        r = command_put(p, sb, &e, c->journals);
        if (r >= 0 && c->segment)
                ((NativeGuest *) sb->provider_data)->segment = GUEST_SEGMENT_KEPT;
        explicit_bzero(strings, size);
        free(strings);
        return r;
}

int native_command_signal(Provider *p, Sandbox *sb, uint64_t number, int signal) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_SIGNAL, .signal = { .exec = number, .signal = signal } }, NULL, 0);
}

static int command_ask(Provider *p, Sandbox *sb, GuestType type, uint64_t number) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = type, .exec_id = number }, NULL, 0);
}

int native_command_forget(Provider *p, Sandbox *sb, uint64_t number) {
        return command_ask(p, sb, GUEST_FORGET, number);
}

int native_command_stdin_open(Provider *p, Sandbox *sb, uint64_t number) {
        return command_ask(p, sb, GUEST_STDIN_OPEN, number);
}

int native_command_stdin_close(Provider *p, Sandbox *sb, uint64_t number) {
        return command_ask(p, sb, GUEST_STDIN_CLOSE, number);
}

static int native_command_resize(Provider *p, Sandbox *sb, uint64_t number, uint16_t columns, uint16_t rows) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_RESIZE, .resize = { .exec = number, .columns = columns, .rows = rows } }, NULL, 0);
}

static int native_channel_open(Provider *p, Sandbox *sb, uint64_t number) {
        return command_ask(p, sb, GUEST_CHANNEL_OPEN, number);
}

static int native_channel_keep(Provider *p, Sandbox *sb, int pid, const int *fds, const char *text) {
        GuestMessage m = { .type = GUEST_KEEP, .kept = { .pid = pid } };

        (void) snprintf(m.kept.text, sizeof(m.kept.text), "%s", text);
        return native_guest_send(p, sb, &m, fds, fds ? _EXECUTION_CHANNEL_MAX : 0);
}

static int native_channel_ask_kept(Provider *p, Sandbox *sb, unsigned number) {
        return command_ask(p, sb, GUEST_KEPT_ASK, number);
}

static int native_channel_kill(Provider *p, Sandbox *sb, int pid, int signal) {
        return native_guest_send(p, sb, &(GuestMessage) { .type = GUEST_KILL, .kill = { .pid = pid, .signal = signal } }, NULL, 0);
}

const ProviderTerminals native_terminals = { .resize = native_command_resize };

const ProviderChannels native_channels = {
        .open = native_channel_open,
        .keep = native_channel_keep,
        .ask_kept = native_channel_ask_kept,
        .kill = native_channel_kill,
};

/* From PID 1. */

void native_on_exec_started(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        g->native->provider.events->exec_started(g->sandbox, m->started.exec, m->started.pid, g->native->provider.userdata);
}

void native_on_exec_failed(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        const GuestExecFailed *f = &m->exec_failed;
        const ProviderNotStarted told = {
                .number = f->exec,
                .kind = strcmp(f->step, "exec") == 0    ? PROVIDER_FAILURE_COMMAND :
                        strcmp(f->step, "workdir") == 0 ? PROVIDER_FAILURE_WORKDIR :
                                                          PROVIDER_FAILURE_OTHER,
                .error = f->error,
                .step = f->step,
                .detail = f->detail,
        };

        if (strcmp(f->step, GUEST_STEP_SEGMENT) == 0 && g->segment == GUEST_SEGMENT_KEPT)
                g->segment = GUEST_SEGMENT_NONE; /* it had no descriptor left */
        g->native->provider.events->exec_failed(g->sandbox, &told, g->native->provider.userdata);
}

void native_on_exec_exited(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        const GuestExited *e = &m->exited;
        bool exited = WIFEXITED(e->wait_status);
        const ProviderEnd told = {
                .number = e->exec,
                .exit_code = exited ? WEXITSTATUS(e->wait_status) : -1,
                .signal = exited ? 0 : WTERMSIG(e->wait_status),
                .timed_out = e->timed_out,
                .disk_full = e->disk_full,
                .journals = {
                        [STREAM_STDOUT] = { e->out_bytes, e->out_truncated },
                        [STREAM_STDERR] = { e->err_bytes, e->err_truncated },
                },
                .wall_usec = e->wall_usec,
                .user_usec = e->user_usec,
                .system_usec = e->system_usec,
                .max_rss_bytes = e->max_rss_bytes,
        };

        g->native->provider.events->exec_exited(g->sandbox, &told, g->native->provider.userdata);
}

void native_on_exec_stdin(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int fd = n_fds > 0 ? TAKE_FD(fds[0]) : -EBADF;

        g->native->provider.events->exec_stdin(g->sandbox, m->stdin_.exec, fd < 0 && m->stdin_.error == 0 ? g->no_fds : m->stdin_.error,
                        fd, g->native->provider.userdata);
}

void native_on_exec_channel(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int ends[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF }, error = m->stdin_.error;

        if (error == 0 && n_fds != _EXECUTION_CHANNEL_MAX)
                error = g->no_fds;
        for (ExecutionChannelEnd i = 0; error == 0 && i < _EXECUTION_CHANNEL_MAX; i++)
                ends[i] = TAKE_FD(fds[i]);
        g->native->provider.events->exec_channel(g->sandbox, m->stdin_.exec, error, ends, g->native->provider.userdata);
}

void native_on_kept(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds) {
        int ends[_EXECUTION_CHANNEL_MAX] = { -EBADF, -EBADF, -EBADF };
        int pid = n_fds == _EXECUTION_CHANNEL_MAX ? m->kept.pid : 0;

        for (ExecutionChannelEnd i = 0; pid > 0 && i < _EXECUTION_CHANNEL_MAX; i++)
                ends[i] = TAKE_FD(fds[i]);
        g->native->provider.events->kept(g->sandbox, m->kept.number, pid, m->kept.text, ends, g->native->provider.userdata);
}
