#include "init/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "confine/caps.h"

uint64_t command_capabilities(uid_t uid) {
        return uid == 0 ? caps_guest_root() : 0;
}

/* The OOM killer may spare PID 1 but must not spare a guest. The file belongs to the host's root while we are
 * not dumpable, so we become dumpable for a moment. Even then no guest can inspect us, since it lacks a
 * capability that we have. */
static int reset_oom(void) {
        int r;

        if (prctl(PR_SET_DUMPABLE, 1) < 0)
                return -errno;
        r = file_write(AT_FDCWD, "/proc/self/oom_score_adj", "0");
        if (prctl(PR_SET_DUMPABLE, 0) < 0)
                return -errno;
        return r;
}

SpawnFailure command_prepare(const ShimSetting *setting, uid_t uid) {
        int r;

        if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                return (SpawnFailure) { .step = "subreaper", .error = errno };
        r = setting->reset_oom ? reset_oom() : 0;
        if (r < 0)
                return (SpawnFailure) { .step = "oom-score", .error = -r };
        r = caps_drop_bounding(caps_init(), command_capabilities(uid));
        if (r < 0)
                return (SpawnFailure) { .step = "bounding-set", .error = -r };
        if (!setting->serve->single_id && setgroups(0, NULL) < 0)
                return (SpawnFailure) { .step = "ids", .error = errno };
        return (SpawnFailure) { 0 };
}

/* A segment has the two places of the journals: both streams go to both. */
static void prepare_journals(Command *c, const GuestExec *exec, Board *board, GuestExited *counters, int fds[static _SHIM_DESCRIPTOR_MAX]) {
        bool segment = exec->flags & GUEST_EXEC_SEGMENT;

        c->journals[0] = (InitJournal) { .bytes = &counters->out_bytes, .truncated = &counters->out_truncated };
        c->journals[1] = (InitJournal) { .bytes = &counters->err_bytes, .truncated = &counters->err_truncated };
        for (int i = 0; i < 2; i++) {
                c->outputs[i] = TAKE_FD(fds[SHIM_OUT + i]);
                c->journals[i].from = -EBADF;
                c->journals[i].max = exec->output_max;
        }
        for (uint32_t i = 0; i < 2; i++)
                c->journals[i].to = (JournalSegment) {
                        .data = c->outputs[segment ? 0 : i],
                        .index = segment ? c->outputs[1] : -EBADF,
                        .exec = exec->exec,
                        .stream = i,
                        .end = &board->segment_end,
                };
}

/* The mode lets the guest open /dev/stdout again, to write. It gives others nothing, since no path leads them
 * to the pipe. */
static int command_open_output(InitJournal *j, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        (void) fchmod(fds[1], 0622);
        (void) fcntl(fds[0], F_SETFL, O_NONBLOCK); /* guest root may read from the pipe as well, and leave us nothing */
        j->from = fds[0];
        *ret_theirs = fds[1];
        return 0;
}

static int open_stdio(Command *c, const GuestExec *exec, int fds[static _SHIM_DESCRIPTOR_MAX], int stdio[static 3]) {
        if (exec->flags & GUEST_EXEC_PTY) {
                c->journals[0].terminal = true;
                c->journals[0].from = TAKE_FD(fds[SHIM_MASTER]);
                c->terminal_fd = TAKE_FD(fds[SHIM_STDIN]);
                for (int i = 0; i < 3; i++)
                        stdio[i] = c->terminal_fd;
                return 0;
        }
        stdio[0] = fds[SHIM_STDIN]; /* -EBADF: the command gets our own, /dev/null */
        if (exec->flags & GUEST_EXEC_CHANNEL) {
                stdio[1] = fds[SHIM_STREAM_OUT];
                stdio[2] = fds[SHIM_STREAM_ERR];
                return stdio[1] < 0 || stdio[2] < 0 || fds[SHIM_CHANNEL] < 0 ? -EBADF : 0;
        }
        for (int i = 0; i < 2; i++) {
                int r = command_open_output(c->journals + i, c->writers + i);
                if (r < 0)
                        return r;
                stdio[1 + i] = c->writers[i];
        }
        return 0;
}

static int command_parse_strings(const GuestExec *exec, const uint8_t *strings, int blob_fd, Strings *ret) {
        if (exec->flags & GUEST_EXEC_BLOB)
                return strings_read(blob_fd, exec->n_args, exec->n_env, exec->uid, ret);
        return strings_parse(strings, exec->strings_size, exec->n_args, exec->n_env, exec->uid, ret);
}

SpawnSpec command_spec(const ShimSetting *setting, uid_t uid, gid_t gid, uint64_t nofile, uint64_t nproc, const Strings *strings) {
        return (SpawnSpec) {
                .argv = strings->argv,
                .envp = strings->envp,
                .path = strings->path,
                .workdir = *strings->workdir ? strings->workdir : setting->serve->workdir,
                .uid = uid,
                .gid = gid,
                .single_id = setting->serve->single_id,
                .capabilities = command_capabilities(uid),
                .rlimits = {
                        .nofile = nofile,
                        .data_bytes = setting->limit_memory ? setting->serve->memory_bytes : RLIMIT_VALUE_UNSET,
                        .nproc = setting->limit_pids || !setting->serve->single_id ? nproc : RLIMIT_VALUE_UNSET,
                        .cpu_seconds = RLIMIT_VALUE_UNSET,
                        .file_bytes = setting->serve->file_size_max,
                },
                .seccomp = false, /* loaded by PID 1 for all of its children */
                .no_processes = setting->serve->no_processes,
                .stdio = { -EBADF, -EBADF, -EBADF },
                .prepared = true,
        };
}

static pid_t spawn_command(const ShimSetting *setting, const ShimSlot *slot, const Strings *strings,
                const int stdio[static 3], int channel_fd, SpawnFailure *ret_failure) {
        const GuestExec *exec = &slot->exec;
        SpawnSpec spec = command_spec(setting, exec->uid, exec->gid, exec->nofile, slot->nproc, strings);

        memcpy(spec.stdio, stdio, sizeof(spec.stdio));
        spec.channel_fd = channel_fd;
        spec.terminal = exec->flags & GUEST_EXEC_PTY;
        return spawn(&spec, ret_failure);
}

/* The detail may point into strings that are freed soon. */
static void keep_detail(SpawnFailure *failure) {
        static char detail[GUEST_DETAIL_MAX];

        (void) snprintf(detail, sizeof(detail), "%s", failure->detail ? failure->detail : "");
        failure->detail = detail;
}

int command_start(Command *c, const ShimSetting *setting, const ShimSlot *slot, GuestExited *counters,
                const uint8_t *strings, int fds[static _SHIM_DESCRIPTOR_MAX], SpawnFailure *ret_failure) {
        int stdio[3] = { -EBADF, -EBADF, -EBADF }, r;
        Strings parsed;

        *c = (Command) COMMAND_EMPTY;
        prepare_journals(c, &slot->exec, setting->board, counters, fds);
        r = command_parse_strings(&slot->exec, strings, fds[SHIM_BLOB], &parsed);
        if (r < 0) {
                *ret_failure = (SpawnFailure) { .step = "strings", .error = -r };
                return r;
        }

        r = open_stdio(c, &slot->exec, fds, stdio);
        if (r < 0)
                *ret_failure = (SpawnFailure) { .step = "pipe", .error = -r };
        else {
                c->started = clock_usec();
                r = spawn_command(setting, slot, &parsed, stdio, fds[SHIM_CHANNEL], ret_failure);
        }
        if (r < 0)
                keep_detail(ret_failure);
        else
                c->pid = r;
        for (ShimDescriptor i = SHIM_STDIN; i < _SHIM_DESCRIPTOR_MAX; i++)
                fds[i] = fd_close(fds[i]);
        strings_done(&parsed);
        return MIN_OF(r, 0);
}

void command_drain(Command *c) {
        c->terminal_fd = fd_close(c->terminal_fd);
        for (int i = 0; i < 2; i++)
                journal_drain(c->journals + i);
}

void command_close_writers(Command *c) {
        for (int i = 0; i < 2; i++)
                c->writers[i] = fd_close(c->writers[i]);
}

void command_done(Command *c) {
        command_close_writers(c);
        c->terminal_fd = fd_close(c->terminal_fd);
        for (int i = 0; i < 2; i++) {
                init_journal_done(c->journals + i);
                c->outputs[i] = fd_close(c->outputs[i]);
        }
}
