#include "init/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "init/command.h"
#include "init/sudo.h"
#include "init/tree.h"
#include "wire/channel.h"

#define PARK_SEC         2 /* how long to wait for another execution */
#define PARKED_MAX       4
#define KILL_AGAIN_FIRST (5 * USEC_PER_MSEC)
#define KILL_AGAIN_MAX   (200 * USEC_PER_MSEC)
#define DISK_FULL_BYTES  (64 * 1024) /* with less free, there is no room for another file of any use */
#define POLL_MAX_MSEC    3600000
#define UNANNOUNCED_MSEC 3 /* a login shell that runs `true` has ended by then */

typedef struct Shim {
        const ShimSetting *setting;
        ShimSlot *slot;
        int channel_fd;
        SpawnFailure broken; /* error is not 0: no command can be started */
        const uint8_t *strings;
        int fds[_SHIM_DESCRIPTOR_MAX];
        bool stays; /* parked without a time limit */

        /* The execution */
        Record *record;
        Command command;
        bool announced;    /* the start has been reported */
        bool has_children; /* the command, or processes that it has left behind */
        bool killing;      /* the tree is killed until nothing is left of it */
        usec_t deadline, kill_again, kill_pause;
        struct rusage usage; /* of all reaped processes */
} Shim;

static void wake_init(const Shim *s, bool always) {
        if (always || atomic_load(&s->setting->board->watched))
                (void) kill(getppid(), SIGUSR1);
}

/* Never waits for the reader. A message that cannot be sent is left to PID 1, which sends it on another connection or
 * when there is room. */
static void shim_tell(Shim *s, const GuestMessage *m) {
        uint8_t buffer[512];
        ssize_t size = guest_encode(m, buffer, sizeof(buffer));
        int r = size < 0 ? (int) size :
                           channel_send_bytes(s->fds[SHIM_CONNECTION], buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);

        if (r < 0)
                atomic_store(&s->record->untold, 1);
        wake_init(s, r < 0);
}

/* The start */

static void shim_fail(Shim *s, const SpawnFailure *failure) {
        GuestMessage m = { .type = GUEST_EXEC_FAILED };
        GuestExecFailed *f = &m.exec_failed;

        f->exec = s->slot->exec.exec;
        f->error = failure->error;
        (void) snprintf(f->step, sizeof(f->step), "%s", failure->step);
        (void) snprintf(f->detail, sizeof(f->detail), "%.255s", failure->detail ? failure->detail : "");
        s->record->failed = *f;
        atomic_store(&s->record->state, RECORD_FAILED);
        shim_tell(s, &m);
        wake_init(s, /* PID 1 frees the record */ true); /* the record is PID 1's to free */
}

static void note_start(Shim *s) {
        const GuestExec *e = &s->slot->exec;

        s->record->started = (GuestStarted) { .exec = e->exec, .pid = s->command.pid, .flags = e->flags };
        atomic_store(&s->record->state, RECORD_RUNNING);
        wake_init(s, /* always= */ false);
}

/* Reports the start together with the first event, or soon: a command that ends at once shall not have to share
 * its CPU with the report of its start. */
static void announce(Shim *s) {
        GuestMessage m = { .type = GUEST_STARTED };

        if (s->announced)
                return;
        s->announced = true;
        m.started = s->record->started;
        shim_tell(s, &m);
}

/* The end */

static uint64_t shim_timeval_usec(const struct timeval *t) {
        return (uint64_t) t->tv_sec * USEC_PER_SEC + (uint64_t) t->tv_usec;
}

static void shim_add_usage(struct rusage *sum, const struct rusage *usage) {
        struct timeval t;

        timeradd(&sum->ru_utime, &usage->ru_utime, &t);
        sum->ru_utime = t;
        timeradd(&sum->ru_stime, &usage->ru_stime, &t);
        sum->ru_stime = t;
        sum->ru_maxrss = MAX_OF(sum->ru_maxrss, usage->ru_maxrss);
}

/* Tries it, with a file that never has a name. */
static bool quota_is_full(void) {
        _cleanup_close_ int fd = open("/", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

        if (fd < 0)
                return errno == EDQUOT;
        return fallocate(fd, 0, 0, DISK_FULL_BYTES) < 0 && errno == EDQUOT;
}

static bool disk_is_full(bool has_quota) {
        struct statfs fs;

        if (statfs("/", &fs) >= 0 && ((uint64_t) fs.f_bavail * (uint64_t) fs.f_bsize < DISK_FULL_BYTES || (fs.f_files > 0 && fs.f_ffree == 0)))
                return true;
        return has_quota && quota_is_full();
}

static void end_command(Shim *s, int status) {
        GuestExited *e = &s->record->exited;
        GuestMessage m = { .type = GUEST_EXITED };

        s->command.pid = 0;
        s->deadline = USEC_INFINITY;
        command_drain(&s->command);

        e->wait_status = status;
        e->wall_usec = clock_usec() - s->command.started;
        e->user_usec = shim_timeval_usec(&s->usage.ru_utime);
        e->system_usec = shim_timeval_usec(&s->usage.ru_stime);
        e->max_rss_bytes = (uint64_t) s->usage.ru_maxrss * 1024;
        e->disk_full = status != 0 && s->setting->measure_disk && disk_is_full(s->setting->has_quota);
        m.exited = *e;
        announce(s);
        atomic_store(&s->record->state, RECORD_ENDED);
        shim_tell(s, &m);
        command_close_writers(&s->command);
}

static void shim_reap(Shim *s) {
        for (;;) {
                struct rusage usage;
                int status;
                pid_t pid = wait4(-1, &status, WNOHANG, &usage);

                if (pid < 0 && errno == EINTR)
                        continue;
                if (pid <= 0) {
                        s->has_children = pid == 0;
                        return;
                }
                shim_add_usage(&s->usage, &usage);
                if (pid == s->command.pid)
                        end_command(s, status);
        }
}

static void shim_kill_tree(Shim *s, usec_t now) {
        s->killing = true;
        sudo_signal(s->setting->board, atomic_load(&s->slot->record), s->slot->exec.exec, SIGKILL);
        (void) tree_kill();
        s->kill_pause = s->kill_pause == 0 ? KILL_AGAIN_FIRST : MIN_OF(2 * s->kill_pause, KILL_AGAIN_MAX);
        s->kill_again = now + s->kill_pause;
}

static void shim_on_signal(Shim *s) {
        struct signalfd_siginfo info[4];
        uint64_t signals;

        (void) read(s->setting->signal_fd, info, sizeof(info));
        shim_reap(s);
        signals = atomic_exchange(&s->slot->signals, 0);
        for (int n = 1; signals != 0 && n <= 64; n++) {
                if (!(signals & UINT64_C(1) << (n - 1)))
                        continue;
                if (n == SIGKILL)
                        shim_kill_tree(s, clock_usec());
                else if (s->command.pid > 0) /* not reaped yet: its pid cannot be reused */
                        (void) kill(-s->command.pid, n);
                else if (s->has_children)
                        (void) tree_signal(n);
        }
}

static void shim_check_time(Shim *s) {
        usec_t now;

        if (s->deadline == USEC_INFINITY && !s->killing)
                return;
        now = clock_usec();
        if (now >= s->deadline)
                shim_reap(s); /* the command may just have ended by itself */
        if (now >= s->deadline) {
                s->deadline = USEC_INFINITY;
                s->record->exited.timed_out = 1;
                shim_kill_tree(s, now);
        } else if (s->killing && s->has_children && now >= s->kill_again)
                shim_kill_tree(s, now);
}

static int shim_poll_timeout(const Shim *s, usec_t wait) {
        usec_t next = s->killing && s->has_children ? MIN_OF(s->deadline, s->kill_again) : s->deadline, now;

        if (!s->announced)
                wait = MIN_OF(wait, UNANNOUNCED_MSEC * USEC_PER_MSEC);
        else if (next != USEC_INFINITY) {
                now = clock_usec();
                wait = MIN_OF(wait, next > now ? next - now : 0);
        }
        if (wait == USEC_INFINITY)
                return -1;
        return (int) MIN_OF((wait + USEC_PER_MSEC - 1) / USEC_PER_MSEC, (usec_t) POLL_MAX_MSEC);
}

static bool shim_is_busy(const Shim *s) {
        return s->has_children || s->command.journals[0].from >= 0 || s->command.journals[1].from >= 0;
}

static void shim_loop(Shim *s) {
        InitJournal *journals = s->command.journals;

        while (shim_is_busy(s)) {
                usec_t wait[2];
                struct pollfd fds[] = {
                        { .fd = s->setting->signal_fd,               .events = POLLIN },
                        { .fd = journal_poll(journals + 0, wait + 0), .events = POLLIN },
                        { .fd = journal_poll(journals + 1, wait + 1), .events = POLLIN },
                };

                if (poll(fds, ELEMENTSOF(fds), shim_poll_timeout(s, MIN_OF(wait[0], wait[1]))) < 0 && errno != EINTR)
                        _exit(1); /* PID 1 does the rest */
                if (fds[0].revents == 0)
                        announce(s);
                else
                        shim_on_signal(s);
                for (int i = 0; i < 2; i++)
                        if (fds[1 + i].revents)
                                journal_pump(journals + i);
                shim_check_time(s);
        }
}

/* An execution from its beginning until nothing is left of it. */
static void shim_run(Shim *s) {
        const GuestExec *e = &s->slot->exec;
        SpawnFailure failure = s->broken;

        s->command = (Command) COMMAND_EMPTY;
        s->record = s->setting->board->records + atomic_load(&s->slot->record);
        s->deadline = USEC_INFINITY;
        s->killing = s->announced = s->has_children = false;
        s->kill_pause = 0;
        s->usage = (struct rusage) { 0 };

        if (failure.error == 0)
                (void) command_start(&s->command, s->setting, s->slot, &s->record->exited, s->strings, s->fds, &failure);
        if (failure.error != 0)
                shim_fail(s, &failure);
        else {
                note_start(s);
                s->has_children = true;
                if (e->timeout_usec > 0 && e->timeout_usec < USEC_INFINITY - s->command.started)
                        s->deadline = s->command.started + e->timeout_usec;
                shim_loop(s);
        }

        command_done(&s->command);
        for (int i = 0; i < _SHIM_DESCRIPTOR_MAX; i++)
                s->fds[i] = fd_close(s->fds[i]);
        atomic_store(&s->slot->record, BOARD_NO_RECORD);
}

/* Waits, parked, for another execution. False: none came in time. */
static bool await_next(Shim *s) {
        static uint8_t buffer[GUEST_INLINE_MAX];
        Board *board = s->setting->board;
        uint32_t expected = SHIM_PARKED;
        int fds[_SHIM_DESCRIPTOR_MAX], r;
        size_t size, n_fds = 0, next = 0;

        r = channel_receive_bytes(s->channel_fd, 0, buffer, sizeof(buffer), &size, fds, ELEMENTSOF(fds), &n_fds);
        if (r <= 0 && atomic_compare_exchange_strong(&s->slot->state, &expected, SHIM_GOING)) {
                (void) atomic_fetch_sub(&board->n_parked, 1);
                return false;
        }
        while (r == -EAGAIN) /* PID 1 has claimed this shim already: a message is on its way */
                r = channel_receive_bytes(s->channel_fd, 0, buffer, sizeof(buffer), &size, fds, ELEMENTSOF(fds), &n_fds);
        if (r <= 0)
                _exit(1);

        s->strings = buffer;
        for (int i = 0; i < _SHIM_DESCRIPTOR_MAX; i++) {
                bool came = s->slot->descriptors & 1u << i && next < n_fds;
                s->fds[i] = came ? fds[next++] : -EBADF;
        }
        return true;
}

/* Sets how long to wait. A sandbox of a pool may get its first command much later. */
static bool be_patient(const Shim *s) {
        const struct timeval patience = { .tv_sec = s->slot->exec.flags & GUEST_EXEC_STAY ? 0 : PARK_SEC }; /* 0: no limit */

        return setsockopt(s->channel_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) >= 0;
}

/* Waits for another execution. False: none came in time, or enough other shims are waiting. */
static bool shim_park(Shim *s) {
        Board *board = s->setting->board;

        if (atomic_fetch_add(&board->n_parked, 1) >= PARKED_MAX) {
                (void) atomic_fetch_sub(&board->n_parked, 1);
                return false;
        }
        if (s->slot->exec.flags & GUEST_EXEC_STAY || s->stays) {
                s->stays = s->slot->exec.flags & GUEST_EXEC_STAY;
                if (!be_patient(s)) {
                        (void) atomic_fetch_sub(&board->n_parked, 1);
                        return false;
                }
        }
        journal_release_buffer();
        atomic_store(&s->slot->state, SHIM_PARKED);
        wake_init(s, /* always= */ false);
        return await_next(s);
}

/* Prepares what all commands of this shim have in common. */
static SpawnFailure shim_prepare(const Shim *s) {
        static const struct timeval patience = { .tv_sec = PARK_SEC };
        SpawnFailure failure;

        (void) prctl(PR_SET_NAME, "cove-shim");
        failure = command_prepare(s->setting, s->slot->exec.uid);
        if (failure.error != 0)
                return failure;
        if (setsockopt(s->channel_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return (SpawnFailure) { .step = "channel", .error = errno };
        return (SpawnFailure) { 0 };
}

void shim_main(const ShimSetting *setting, ShimSlot *slot, int channel_fd, const uint8_t *strings,
                const int fds[static _SHIM_DESCRIPTOR_MAX]) {
        Shim s = { .setting = setting, .slot = slot, .channel_fd = channel_fd, .strings = strings };

        memcpy(s.fds, fds, sizeof(s.fds));
        atomic_store(&slot->pid, getpid());
        s.broken = shim_prepare(&s);
        if (!strings && !await_next(&s))
                _exit(0);
        do
                shim_run(&s);
        while (s.broken.error == 0 && shim_park(&s));
        _exit(0);
}
