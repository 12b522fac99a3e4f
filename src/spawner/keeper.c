#include "spawner/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beat.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/title.h"

#define DELAY_MIN   (10 * USEC_PER_MSEC)
#define DELAY_MAX   USEC_PER_SEC
#define LIVED_WELL  (100 * USEC_PER_MSEC) /* a worker that has lived that long is replaced at once */
#define KERNEL_LIMITS 10 /* times the limit, for a worker that waits for the kernel */
#define LAST_WAIT   USEC_PER_SEC

typedef struct Keeper {
        const SpawnerOptions *options;
        int signal_fd;
        pid_t worker; /* 0: none */
        usec_t started, delay;
        unsigned n_started;
        Beat beat;       /* of the worker */
        uint64_t n_turns; /* of its loop, as last seen */
        bool told;       /* the wait for the kernel has been logged */
} Keeper;

static bool has_hung_up(const Keeper *k) {
        struct pollfd fd = { .fd = k->options->channel_fd };

        return poll(&fd, 1, 0) > 0 && fd.revents;
}

static void start_worker(Keeper *k) {
        pid_t keeper = getpid();

        k->started = clock_usec();
        k->beat = (Beat) { 0 };
        k->n_turns = 0;
        k->told = false;
        if (k->options->turns)
                *k->options->turns = 0;
        k->worker = fork();
        if (k->worker == 0) {
                if (k->options->turns) /* shared by keeper and worker, but not by the worker's children */
                        (void) madvise((void *) k->options->turns, sizeof(*k->options->turns), MADV_DONTFORK);
                (void) fd_close(k->signal_fd);
                _exit(spawner_run(k->options, keeper, /* number= */ k->n_started));
        }
        if (k->worker < 0) {
                log_error("spawner: cannot fork: %m");
                k->worker = 0;
                return;
        }
        k->n_started++;
}

static void keeper_reap(Keeper *k) {
        struct signalfd_siginfo info;
        int status;
        pid_t pid;

        while (read(k->signal_fd, &info, sizeof(info)) == sizeof(info))
                ;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                if (pid != k->worker)
                        continue;
                k->worker = 0;
                if (!has_hung_up(k))
                        log_warning("spawner: the worker ended with %s %d, starting another one",
                                        WIFSIGNALED(status) ? "signal" : "status",
                                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
                if (clock_usec() - k->started >= LIVED_WELL)
                        k->delay = 0;
        }
}

/* Waits for a hang-up of the channel, the end of a child, or the timeout. */
static void wait_for_news(const Keeper *k, int timeout_msec) {
        struct pollfd fds[] = {
                { .fd = k->options->channel_fd },
                { .fd = k->signal_fd, .events = POLLIN },
        };

        (void) poll(fds, ELEMENTSOF(fds), timeout_msec);
}

static usec_t look_interval(const Keeper *k) {
        return k->options->hang_usec / BEATS_PER_LIMIT;
}

/* Whether the worker waits in the kernel, mostly for a disk: a new worker would wait there as well, and a kill
 * takes effect only when the disk answers. */
static bool worker_waits_for_kernel(const Keeper *k) {
        char path[32], text[1024];
        const char *end;

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) k->worker);
        if (file_read(AT_FDCWD, path, text, sizeof(text)) < 0)
                return false;
        end = strrchr(text, ')'); /* the name may contain a ')' */
        return end && strncmp(end, ") D", 3) == 0;
}

/* SIGCHLD only wakes the worker: it reports nothing that the worker would not notice by itself. */
static void look_after(Keeper *k) {
        usec_t now = clock_usec(), silent, limit;
        uint64_t n = *k->options->turns;

        if (now < k->beat.looked_at + look_interval(k))
                return;
        if (n != k->n_turns)
                beat_heard(&k->beat);
        k->n_turns = n;
        silent = beat_look(&k->beat, now, look_interval(k), /* waits= */ true);
        limit = n == 0 ? 10 * k->options->hang_usec : k->options->hang_usec;
        if (silent >= limit && silent < KERNEL_LIMITS * limit && worker_waits_for_kernel(k)) {
                if (!k->told)
                        log_error("spawner: the worker made no progress for %llu s: it waits for the kernel, for example for a disk that does not answer", (unsigned long long) (silent / USEC_PER_SEC));
                k->told = true;
                return;
        }
        if (silent < limit)
                k->told = false;
        else
                log_error("spawner: the worker made no progress for %llu s and is killed", (unsigned long long) (silent / USEC_PER_SEC));
        (void) kill(k->worker, silent >= limit ? SIGKILL : SIGCHLD);
}

static void wait_beside_worker(Keeper *k) {
        if (!k->options->turns) {
                wait_for_news(k, -1);
                return;
        }
        look_after(k);
        wait_for_news(k, (int) (look_interval(k) / USEC_PER_MSEC) + 1);
}

/* A worker that dies soon after its start is replaced after longer and longer delays. */
static void keeper_loop(Keeper *k) {
        usec_t now, due;

        while (!has_hung_up(k)) {
                keeper_reap(k);
                now = clock_usec();
                due = k->started + k->delay;
                if (k->worker > 0)
                        wait_beside_worker(k);
                else if (now < due)
                        wait_for_news(k, (int) ((due - now) / USEC_PER_MSEC) + 1);
                else {
                        k->delay = k->delay == 0 ? DELAY_MIN : MIN_OF(k->delay * 2, DELAY_MAX);
                        start_worker(k);
                }
        }
}

/* The worker sees the same end, and exits when it has finished its work. A worker that does not exit dies with us. */
static void await_worker(Keeper *k) {
        usec_t now, deadline = clock_usec() + LAST_WAIT;

        while (keeper_reap(k), k->worker > 0 && (now = clock_usec()) < deadline) {
                struct pollfd fd = { .fd = k->signal_fd, .events = POLLIN };

                (void) poll(&fd, 1, (int) ((deadline - now) / USEC_PER_MSEC) + 1);
        }
}

/* When memory is short, the kernel shall kill guests first. Children inherit the score, so PID 1 of every
 * sandbox has it too; PID 1 resets it for its guests, who then cannot undo that: a write to the old file leaves
 * the lower bound at 0, while the new file would lower it for all descendants. */
static void protect_from_oom(void) {
        if (file_write(AT_FDCWD, "/proc/self/oom_score_adj", "0") >= 0)
                (void) file_write(AT_FDCWD, "/proc/self/oom_adj", "-16");
}

int keeper_run(const SpawnerOptions *options) {
        SpawnerOptions own = *options;
        Keeper k = { .options = &own };
        void *page = own.hang_usec > 0 ? mmap(NULL, sizeof(*own.turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
        sigset_t child;

        own.turns = page == MAP_FAILED ? NULL : page;
        title_set("cove-keeper");
        (void) prctl(PR_SET_CHILD_SUBREAPER, 1); /* we inherit the sandboxes of a dead worker, and reap them whenever they end */
        protect_from_oom();
        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &child, NULL);
        k.signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
        if (k.signal_fd < 0) {
                log_error("spawner: signalfd: %m");
                return EXIT_FAILURE;
        }
        keeper_loop(&k);
        await_worker(&k);
        return EXIT_SUCCESS;
}
