#include "init/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "wire/channel.h"

int private_fd_consume(int fd) {
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, PRIVATE_FD_FIRST), r = moved < 0 ? -errno : moved;

        (void) fd_close(fd);
        return r;
}

static ShimSlot *slot_of(const InitPool *p, size_t i) {
        return p->setting.board->shims + i;
}

static void fill_slot(const InitPool *p, size_t i, int32_t record, const GuestExec *exec,
                const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        ShimSlot *slot = slot_of(p, i);

        slot->exec = *exec;
        atomic_store(&p->setting.board->nofile, exec->nofile);
        slot->descriptors = 0;
        for (int k = 0; k < _SHIM_DESCRIPTOR_MAX; k++)
                if (fds[k] >= 0)
                        slot->descriptors |= 1u << k;
        /* The cgroup has room for our own processes, which no guest may use. With a single id our processes
         * count as the guest user's. */
        slot->nproc = p->setting.serve->pids;
        if (p->setting.serve->single_id)
                slot->nproc += 1 + pool_count_busy(p);
        atomic_store(&slot->signals, 0);
        atomic_store(&slot->record, record);
}

static int send_job(const InitPool *p, size_t i, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        static const uint8_t nothing = 0; /* an empty datagram would look like our end */
        bool inlined = exec->strings_size > 0;
        int compact[_SHIM_DESCRIPTOR_MAX];
        size_t n = 0;

        for (int k = 0; k < _SHIM_DESCRIPTOR_MAX; k++)
                if (fds[k] >= 0)
                        compact[n++] = fds[k];
        return channel_send_bytes(p->shims[i].channel_fd, inlined ? exec->strings : &nothing,
                        inlined ? exec->strings_size : 1, compact, n, MSG_DONTWAIT);
}

/* A shim that is about to end changes the same word, so only one of us succeeds. */
static bool init_pool_claim(const InitPool *p, size_t i) {
        uint32_t expected = SHIM_PARKED;

        if (!atomic_compare_exchange_strong(&slot_of(p, i)->state, &expected, SHIM_BUSY))
                return false;
        (void) atomic_fetch_sub(&p->setting.board->n_parked, 1);
        return true;
}

static bool run_parked(InitPool *p, int32_t record, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        for (size_t i = 0; i < p->n; i++) {
                if (p->shims[i].pid == 0 || p->shims[i].root != (exec->uid == 0) || !init_pool_claim(p, i))
                        continue;
                fill_slot(p, i, record, exec, fds);
                if (send_job(p, i, exec, fds) >= 0)
                        return true;
                /* A guest has killed it, or it will end for lack of a channel. It never looked at the record. */
                atomic_store(&slot_of(p, i)->record, BOARD_NO_RECORD);
                p->shims[i].channel_fd = fd_close(p->shims[i].channel_fd);
        }
        return false;
}

/* strings NULL: there is no command yet. */
static int fork_shim(InitPool *p, size_t i, uid_t uid, const uint8_t *strings, const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        int pair[2], r;
        pid_t pid;

        r = channel_pair(pair);
        if (r < 0)
                return r;
        theirs = pair[1];
        ours = private_fd_consume(pair[0]);
        if (ours < 0)
                return ours;
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                if (kernel_close_range(PRIVATE_FD_FIRST, ~0u, 0) < 0)
                        _exit(1);
                shim_main(&p->setting, slot_of(p, i), theirs, strings, fds);
        }
        p->shims[i] = (PoolShim) { .pid = pid, .channel_fd = TAKE_FD(ours), .root = uid == 0 };
        p->n = MAX_OF(p->n, i + 1);
        return 0;
}

static int free_slot(const InitPool *p) {
        for (size_t i = 0; i < BOARD_SHIMS; i++)
                if (p->shims[i].pid == 0)
                        return (int) i;
        return -EAGAIN;
}

static int run_forked(InitPool *p, int32_t record, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        int i = free_slot(p), r;

        if (i < 0)
                return i;
        fill_slot(p, (size_t) i, record, exec, fds);
        atomic_store(&slot_of(p, (size_t) i)->state, SHIM_BUSY);
        r = fork_shim(p, (size_t) i, exec->uid, exec->strings ? exec->strings : (const uint8_t *) "", fds);
        if (r < 0)
                atomic_store(&slot_of(p, (size_t) i)->record, BOARD_NO_RECORD);
        return r;
}

/* Parked before it is forked: a claim right after finds the channel there. */
void pool_warm(InitPool *p) {
        static const int none[_SHIM_DESCRIPTOR_MAX] = SHIM_DESCRIPTORS_NONE;
        ShimSlot *slot = slot_of(p, 0);
        uid_t uid = p->setting.serve->uid;

        if (p->shims[0].pid != 0)
                return;
        slot->exec = (GuestExec) { .uid = uid };
        atomic_store(&slot->record, BOARD_NO_RECORD);
        atomic_store(&slot->state, SHIM_PARKED);
        (void) atomic_fetch_add(&p->setting.board->n_parked, 1);
        if (fork_shim(p, 0, uid, /* strings= */ NULL, none) < 0)
                (void) init_pool_claim(p, 0);
}

int pool_run(InitPool *p, int32_t record, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        return run_parked(p, record, exec, fds) ? 0 : run_forked(p, record, exec, fds);
}

static bool works_on(const InitPool *p, size_t i, int32_t record) {
        return p->shims[i].pid != 0 && atomic_load(&slot_of(p, i)->record) == record;
}

bool pool_signal(InitPool *p, int32_t record, int signal_number) {
        for (size_t i = 0; i < p->n; i++)
                if (works_on(p, i, record)) {
                        (void) atomic_fetch_or(&slot_of(p, i)->signals, UINT64_C(1) << (signal_number - 1));
                        (void) kill(p->shims[i].pid, SIGUSR1); /* our child, not reaped: its pid cannot be reused yet */
                        return true;
                }
        return false;
}

bool pool_has(const InitPool *p, int32_t record) {
        for (size_t i = 0; i < p->n; i++)
                if (works_on(p, i, record))
                        return true;
        return false;
}

size_t pool_count_busy(const InitPool *p) {
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += p->shims[i].pid != 0 && !works_on(p, i, BOARD_NO_RECORD);
        return n;
}

int pool_reaped(InitPool *p, pid_t pid, int32_t *ret_record) {
        for (size_t i = 0; i < p->n; i++) {
                PoolShim *shim = p->shims + i;

                if (shim->pid != pid)
                        continue;
                (void) init_pool_claim(p, i); /* killed while it was parked */
                atomic_store(&slot_of(p, i)->pid, 0);
                *ret_record = atomic_exchange(&slot_of(p, i)->record, BOARD_NO_RECORD);
                *shim = (PoolShim) { .channel_fd = fd_close(shim->channel_fd) };
                while (p->n > 0 && p->shims[p->n - 1].pid == 0)
                        p->n--;
                return 1;
        }
        return 0;
}
