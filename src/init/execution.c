#include "init/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "init/pty.h"
#include "init/sudo.h"

#define CTRL_D "\x04"

static Record *execution_record_of(const Executions *x, size_t i) {
        return x->pool.setting.board->records + i;
}

static uint32_t execution_state_of(const Executions *x, size_t i) {
        return atomic_load(&execution_record_of(x, i)->state);
}

/* Index, or -ESRCH. */
static int execution_find(const Executions *x, uint64_t exec) {
        for (size_t i = 0; i < x->n; i++)
                if (x->list[i].taken && !x->list[i].forgotten && x->list[i].exec == exec)
                        return (int) i;
        return -ESRCH;
}

static void execution_close_ends(InitExecution *e) {
        e->input_fd = fd_close(e->input_fd);
        for (ChannelEnd k = 0; k < _CHANNEL_END_MAX; k++)
                e->channel[k] = fd_close(e->channel[k]);
}

static void execution_release(Executions *x, size_t i) {
        execution_close_ends(x->list + i);
        x->list[i] = (InitExecution) { .input_fd = -EBADF, .channel = { -EBADF, -EBADF, -EBADF } };
        atomic_store(&execution_record_of(x, i)->untold, 0);
        atomic_store(&execution_record_of(x, i)->state, RECORD_FREE);
        while (x->n > 0 && !x->list[x->n - 1].taken)
                x->n--;
}

void executions_sweep(Executions *x) {
        for (size_t i = x->n; i > 0; i--) {
                const InitExecution *e = x->list + i - 1;
                bool told = e->taken && execution_state_of(x, i - 1) == RECORD_FAILED && !atomic_load(&execution_record_of(x, i - 1)->untold);

                if (e->taken && (e->forgotten || told) && !pool_has(&x->pool, (int32_t) i - 1))
                        execution_release(x, i - 1);
        }
}

static int execution_take(Executions *x, const GuestExec *exec) {
        Record *record;
        size_t i = 0;

        while (i < x->n && x->list[i].taken)
                i++;
        if (i == BOARD_RECORDS) {
                executions_sweep(x);
                for (i = 0; i < x->n && x->list[i].taken;)
                        i++;
                if (i == BOARD_RECORDS)
                        return -EAGAIN;
        }
        x->n = MAX_OF(x->n, i + 1);
        x->list[i] = (InitExecution) {
                .exec = exec->exec,
                .input_fd = -EBADF,
                .channel = { -EBADF, -EBADF, -EBADF },
                .taken = true,
                .terminal = exec->flags & GUEST_EXEC_PTY,
        };
        record = execution_record_of(x, i);
        record->exited = (GuestExited) { .exec = exec->exec };
        record->started_at = clock_usec();
        atomic_store(&record->untold, 0);
        atomic_store(&record->state, RECORD_STARTING);
        return (int) i;
}

/* Starting */

static int open_terminal(const Executions *x, const GuestExec *exec, int *ret_ours, int fds[static _SHIM_DESCRIPTOR_MAX]) {
        const struct winsize window = { .ws_col = exec->columns, .ws_row = exec->rows };
        int r;

        r = pty_open(&window, exec->uid, exec->gid, x->pool.setting.serve->single_id, fds + SHIM_MASTER, fds + SHIM_STDIN);
        if (r < 0)
                return r;
        /* Our descriptor, the shim's and the daemon's share one open file description. */
        if (fcntl(fds[SHIM_MASTER], F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                return -errno;
        *ret_ours = fcntl(fds[SHIM_MASTER], F_DUPFD_CLOEXEC, PRIVATE_FD_FIRST);
        return *ret_ours < 0 ? -errno : 0;
}

static int open_input(int *ret_ours, int fds[static _SHIM_DESCRIPTOR_MAX]) {
        int pipe_fds[2];

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return -errno;
        (void) fchmod(pipe_fds[0], 0644); /* the guest may open /dev/stdin again, to read */
        fds[SHIM_STDIN] = pipe_fds[0];
        *ret_ours = private_fd_consume(pipe_fds[1]);
        return *ret_ours < 0 ? *ret_ours : 0;
}

/* The guest may open the pipes again (/dev/stdout); the socket needs nothing. */
static int open_channel(int ours[static _CHANNEL_END_MAX], int fds[static _SHIM_DESCRIPTOR_MAX]) {
        int pair[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        fds[SHIM_CHANNEL] = pair[1];
        ours[CHANNEL_LINK] = r = private_fd_consume(pair[0]);
        for (int i = 0; r >= 0 && i < 2; i++) {
                if (pipe2(pair, O_CLOEXEC) < 0)
                        return -errno;
                (void) fchmod(pair[1], 0622);
                fds[SHIM_STREAM_OUT + i] = pair[1];
                ours[CHANNEL_OUT + i] = r = private_fd_consume(pair[0]);
        }
        return r < 0 ? r : 0;
}

/* An id of our own would make a guest our equal; an id that is not mapped belongs to no user. */
static int execution_check_ids(const Executions *x, const GuestExec *exec) {
        const InitServe *serve = x->pool.setting.serve;

        if (serve->single_id)
                return exec->uid == serve->uid && exec->gid == serve->gid ? 0 : -EPERM;
        return exec->uid == getuid() || exec->gid == getgid() ? -EPERM : 0;
}

/* Makes all checks that need no record. */
static const char *execution_check(const Executions *x, const GuestExec *exec, int *ret) {
        if (execution_find(x, exec->exec) >= 0) {
                *ret = -EEXIST;
                return "number";
        }
        *ret = execution_check_ids(x, exec);
        return "ids";
}

static int start_taken(Executions *x, size_t i, const GuestExec *exec, int fds[static _SHIM_DESCRIPTOR_MAX],
                const char **ret_step) {
        InitExecution *e = x->list + i;
        int r = 0;

        *ret_step = "terminal";
        if (exec->flags & GUEST_EXEC_PTY)
                r = open_terminal(x, exec, &e->input_fd, fds);
        else if (exec->flags & GUEST_EXEC_STDIN) {
                *ret_step = "pipe";
                r = open_input(&e->input_fd, fds);
        }
        if (r >= 0 && exec->flags & GUEST_EXEC_CHANNEL) {
                *ret_step = "channel";
                r = open_channel(e->channel, fds);
        }
        if (r < 0)
                return r;
        *ret_step = "fork";
        return pool_run(&x->pool, (int32_t) i, exec, fds);
}

static int execution_fail(const GuestExec *exec, int r, const char *step, GuestExecFailed *ret) {
        *ret = (GuestExecFailed) { .exec = exec->exec, .error = -r };
        (void) snprintf(ret->step, sizeof(ret->step), "%s", step);
        return r;
}

/* What a former PID 1 has written stays. */
static int take_segment(Executions *x, const int fds[static 2]) {
        int data = fcntl(fds[0], F_DUPFD_CLOEXEC, 0), index = fcntl(fds[1], F_DUPFD_CLOEXEC, 0);
        struct stat st;

        if (data < 0 || index < 0 || fstat(data, &st) < 0) {
                int r = -errno;

                (void) fd_close(data);
                (void) fd_close(index);
                return r;
        }
        (void) fd_close(x->segment[0]);
        (void) fd_close(x->segment[1]);
        x->segment[0] = data;
        x->segment[1] = index;
        if ((uint64_t) st.st_size > atomic_load(&x->pool.setting.board->segment_end))
                atomic_store(&x->pool.setting.board->segment_end, (uint64_t) st.st_size);
        return 0;
}

/* The files that the output goes to. Returns how many descriptors of the request they are. */
static int execution_take_outputs(Executions *x, const GuestExec *exec, const int *fds, size_t n_fds, int all[static _SHIM_DESCRIPTOR_MAX]) {
        bool may_lack = exec->flags & (GUEST_EXEC_SEGMENT | GUEST_EXEC_CHANNEL);
        size_t n = may_lack && n_fds < 2 ? 0 : exec->flags & GUEST_EXEC_PTY && !may_lack ? 1 : 2;
        int r = 0;

        if (n_fds != n + (exec->flags & GUEST_EXEC_BLOB ? 1 : 0))
                return -EBADMSG;
        if (exec->flags & GUEST_EXEC_SEGMENT && n > 0)
                r = take_segment(x, fds);
        if (exec->flags & GUEST_EXEC_SEGMENT && r >= 0 && x->segment[0] < 0)
                r = -EBADF;
        if (r < 0)
                return r;
        all[SHIM_OUT] = exec->flags & GUEST_EXEC_SEGMENT ? x->segment[0] : n > 0 ? fds[0] : -EBADF;
        all[SHIM_ERR] = exec->flags & GUEST_EXEC_SEGMENT ? x->segment[1] : n > 1 ? fds[1] : -EBADF;
        return (int) n;
}

int init_execution_start(Executions *x, int connection_fd, const GuestExec *exec, const int *fds, size_t n_fds,
                GuestExecFailed *ret_failed) {
        int all[_SHIM_DESCRIPTOR_MAX] = SHIM_DESCRIPTORS_NONE, i, r;
        const char *step;

        r = execution_take_outputs(x, exec, fds, n_fds, all);
        if (r < 0)
                return r == -EBADMSG ? r : execution_fail(exec, r, GUEST_STEP_SEGMENT, ret_failed);
        all[SHIM_CONNECTION] = connection_fd;
        if (exec->flags & GUEST_EXEC_BLOB)
                all[SHIM_BLOB] = fds[r];

        step = execution_check(x, exec, &r);
        if (r < 0)
                return execution_fail(exec, r, step, ret_failed);
        i = execution_take(x, exec);
        if (i < 0)
                return execution_fail(exec, i, "executions", ret_failed);

        r = start_taken(x, (size_t) i, exec, all, &step);
        for (ShimDescriptor k = SHIM_STDIN; k < _SHIM_DESCRIPTOR_MAX; k++)
                (void) fd_close(all[k]);
        if (r < 0) {
                execution_release(x, (size_t) i);
                return execution_fail(exec, r, step, ret_failed);
        }
        return 0;
}

/* While it is there */

void init_execution_signal(Executions *x, uint64_t exec, int signal_number) {
        int i = execution_find(x, exec);

        if (i >= 0 && (execution_state_of(x, (size_t) i) != RECORD_ENDED || signal_number == SIGKILL))
                (void) pool_signal(&x->pool, i, signal_number);
}

void executions_signal(Executions *x, int signal_number) {
        for (size_t i = 0; i < x->n; i++)
                if (x->list[i].taken)
                        (void) pool_signal(&x->pool, (int32_t) i, signal_number);
}

void init_execution_resize(Executions *x, const GuestResize *resize) {
        const struct winsize window = { .ws_col = resize->columns, .ws_row = resize->rows };
        int i = execution_find(x, resize->exec);

        if (i >= 0 && x->list[i].terminal && x->list[i].input_fd >= 0)
                (void) ioctl(x->list[i].input_fd, TIOCSWINSZ, &window);
}

int execution_input(const Executions *x, uint64_t exec) {
        int i = execution_find(x, exec);
        uint32_t state;

        if (i < 0)
                return -ESRCH;
        state = execution_state_of(x, (size_t) i);
        if (state == RECORD_ENDED || state == RECORD_FAILED)
                return -ESRCH;
        return x->list[i].input_closed ? -EBADF : x->list[i].input_fd;
}

const int *execution_channel(const Executions *x, uint64_t exec, int *ret_error) {
        int i = execution_find(x, exec);

        *ret_error = i < 0 ? -ESRCH : x->list[i].channel[CHANNEL_LINK] < 0 ? -EBADF : 0;
        return *ret_error < 0 ? NULL : x->list[i].channel;
}

void execution_close_input(Executions *x, uint64_t exec) {
        int i = execution_find(x, exec);
        InitExecution *e;

        if (i < 0 || x->list[i].input_closed)
                return;
        e = x->list + i;
        e->input_closed = true;
        if (e->terminal)
                (void) write(e->input_fd, CTRL_D, 1); /* the end of input of a terminal; resizing stays possible */
        else
                e->input_fd = fd_close(e->input_fd);
}

void execution_forget(Executions *x, uint64_t exec) {
        int i = execution_find(x, exec);

        if (i < 0 || execution_state_of(x, (size_t) i) != RECORD_ENDED)
                return;
        x->list[i].forgotten = true;
        execution_close_ends(x->list + i);
        if (!pool_has(&x->pool, i))
                execution_release(x, (size_t) i);
}

/* Telling */

void executions_list(Executions *x) {
        for (size_t i = 0; i < x->n; i++)
                if (x->list[i].taken && !x->list[i].forgotten)
                        atomic_store(&execution_record_of(x, i)->untold, 1);
}

static int tell_ended(const Record *record, InitLink *l) {
        GuestMessage m = { .type = GUEST_EXITED };

        m.exited = record->exited;
        return init_link_send(l, &m, -EBADF);
}

static int tell_running(const Record *record, InitLink *l) {
        GuestMessage m = { .type = GUEST_STARTED };
        int r;

        m.started = record->started;
        r = init_link_send(l, &m, -EBADF);
        /* The shim may have sent the end between our check of the state and our message: the end is then sent
         * again, to be the last message. */
        if (r >= 0 && atomic_load(&record->state) == RECORD_ENDED)
                r = tell_ended(record, l);
        return r;
}

static int tell_failed(const Record *record, InitLink *l) {
        GuestMessage m = { .type = GUEST_EXEC_FAILED };

        m.exec_failed = record->failed;
        return init_link_send(l, &m, -EBADF);
}

static int (*const tellers[])(const Record *record, InitLink *l) = {
        [RECORD_RUNNING] = tell_running,
        [RECORD_ENDED] = tell_ended,
        [RECORD_FAILED] = tell_failed,
};

int executions_tell(Executions *x, InitLink *l) {
        bool starting = false;

        for (size_t i = 0; i < x->n; i++) {
                Record *record = execution_record_of(x, i);
                uint32_t state;
                int r;

                if (!x->list[i].taken || x->list[i].forgotten || !atomic_exchange(&record->untold, 0))
                        continue;
                state = atomic_load(&record->state);
                starting |= state == RECORD_STARTING;
                r = state == RECORD_STARTING ? -EBUSY : tellers[state](record, l);
                if (r < 0)
                        atomic_store(&record->untold, 1);
                if (r < 0 && r != -EBUSY)
                        return r;
        }
        return starting ? -EBUSY : 0;
}

/* A guest's root may kill its shim. How the command ends is unknown then; SIGKILL is reported, since it is killed. */
void execution_lost(Executions *x, int32_t i) {
        Record *record = execution_record_of(x, (size_t) i);
        uint32_t state = atomic_load(&record->state);

        sudo_signal(x->pool.setting.board, i, record->exited.exec, SIGKILL);
        if (state == RECORD_STARTING || state == RECORD_RUNNING) {
                record->exited.wait_status = SIGKILL;
                record->exited.wall_usec = clock_usec() - record->started_at;
                atomic_store(&record->state, RECORD_ENDED);
        }
        atomic_store(&record->untold, 1);
}
