#include "spawner/spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "jail/userns.h"
#include "spawner/image.h"
#include "spawner/task.h"
#include "spawner/trees.h"
#include "spawner/zygote.h"
#include "base/title.h"
#include "wire/channel.h"
#include "wire/codec.h"

#define BATCH      16 /* requests in a row, before other work has a turn */
#define SWEEP_USEC (100 * USEC_PER_MSEC)
#define POLL_USEC  10000
#define REST_USEC  (100 * USEC_PER_MSEC) /* after a failure of this process itself */

enum { FD_CHANNEL, FD_SIGNAL, FD_CHILDREN, _FD_MAX = FD_CHILDREN + IMAGES_MAX + TREES_RUNNING_MAX + ZYGOTES_MAX + ZYGOTE_FORKS_MAX };

void spawner_bind_to_keeper(const Spawner *s) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != s->keeper)
                _exit(EXIT_FAILURE);
}

void spawner_answer(Spawner *s, const SpawnMessage *message) {
        int r = outbox_send(&s->outbox, message, /* fds= */ NULL, /* n_fds= */ 0);

        if (r == -EPIPE || r == -ECONNRESET)
                s->ended = true;
        else if (r < 0) {
                log_error("spawner: an answer cannot be sent: %s", strerror(-r));
                _exit(EXIT_FAILURE); /* the next one sends HELLO, by which coved knows */
        }
}

void spawner_answer_done(Spawner *s, uint32_t serial) {
        spawner_answer(s, &(SpawnMessage) { .type = SPAWN_DONE, .serial = serial });
}

void spawner_answer_failed(Spawner *s, uint32_t serial, const Error *error) {
        SpawnMessage m = { .type = SPAWN_FAILED, .serial = serial, .failure.error = -error->code };

        (void) snprintf(m.failure.text, sizeof(m.failure.text), "%s", error->text);
        spawner_answer(s, &m);
}

static void say_hello(Spawner *s) {
        SpawnMessage hello = { .type = SPAWN_HELLO, .serial = s->first_serial };
        Cgroup cg = CGROUP_EMPTY;

        /* A plain user may see cgroups without having a right to them, and never has one to those of v1. */
        s->has_cgroups = cgroup_plan_lasting(s->options->instance, "hello", &cg, /* reterr= */ NULL) >= 0 &&
                         (s->privileged || cg.version == CGROUP_V2);
        hello.hello.privileged = s->privileged;
        hello.hello.cgroup_version = !s->has_cgroups ? 0 : cg.version == CGROUP_V2 ? 2 : 1;
        tree_jobs_describe(s, &hello.hello);
        spawner_answer(s, &hello);
}

void spawner_child_ended(Spawner *s, Child *child) {
        id_ranges_ended(&s->ranges, child->id_base);
        children_drop(&s->children, child);
}

static bool spawner_reap(Spawner *s, pid_t which) {
        pid_t pid = waitpid(which, NULL, WNOHANG);
        char id[JAIL_ID_LENGTH + 1];
        Child *child;

        if (pid <= 0)
                return false;
        child = children_find_pid(&s->children, pid);
        if (child) {
                memcpy(id, child->id, sizeof(id));
                spawner_child_ended(s, child);
                task_sandbox_ended(s, id);
        }
        return true;
}

/* A wait for any child makes the kernel scan all children, which may be thousands. So we wait for the one that the
 * signal names. A signal may stand for several children: a task looks for the child that it waits for, and the others
 * can wait for the sweep. */
static void spawner_on_signal(Spawner *s) {
        struct signalfd_siginfo info;

        while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
                (void) spawner_reap(s, (pid_t) info.ssi_pid);
        if (s->sweep == USEC_INFINITY)
                s->sweep = clock_usec() + SWEEP_USEC;
}

static void spawner_sweep(Spawner *s) {
        if (clock_usec() < s->sweep)
                return;
        while (spawner_reap(s, -1))
                ;
        s->sweep = USEC_INFINITY;
}

static bool takes_requests(const Spawner *s) {
        return clock_usec() >= s->rest && outbox_is_empty(&s->outbox) && s->n_tasks < TASKS_MAX && s->n_images < IMAGES_MAX && !zygotes_are_busy(s);
}

/* The sender may wait for an answer; it gets one if at least the serial can be read. */
static void spawner_refuse(Spawner *s, const uint8_t *data, size_t size) {
        WireReader r = { .p = data, .end = data + size };
        Error error = { 0 };
        uint32_t serial;

        log_error("spawner: the daemon sent invalid data");
        (void) wire_get_uint(&r, 4);
        serial = (uint32_t) wire_get_uint(&r, 4);
        if (r.failed)
                return;
        (void) error_set(&error, -EBADMSG, "not a request");
        spawner_answer_failed(s, serial, &error);
}

static void spawner_on_request(Spawner *s, const uint8_t *data, size_t size, int *fds, size_t n_fds, bool is_short) {
        SpawnMessage request;
        Error error = { 0 };

        if (spawn_decode(data, size, &request) < 0)
                spawner_refuse(s, data, size);
        else if (!spawn_serials_go_together(request.serial, s->first_serial))
                log_debug("spawner: request %u was for an earlier spawner", request.serial); /* coved asks again when it gets our HELLO */
        else if (is_short) {
                (void) error_set(&error, -EMFILE, "cove-spawner has too many open files: %m; raise the limit of open files (LimitNOFILE=, ulimit -n)");
                spawner_answer_failed(s, request.serial, &error);
        } else
                spawner_handle(s, &request, fds, n_fds);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
}

static void spawner_rest(Spawner *s, const char *what, int r) {
        log_warning("spawner: %s for now: %s", what, strerror(-r));
        s->rest = clock_usec() + REST_USEC;
}

static void on_requests(Spawner *s) {
        for (int i = 0; i < BATCH && !s->ended && takes_requests(s); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX];
                int fds[CHANNEL_FDS_MAX], r;
                size_t size, n_fds;

                r = channel_receive_bytes(s->outbox.fd, MSG_DONTWAIT, buffer, sizeof(buffer), &size, fds, ELEMENTSOF(fds),
                                &n_fds);
                if (r == -EAGAIN)
                        return;
                if (r > 0)
                        spawner_on_request(s, buffer, size, fds, n_fds, r == CHANNEL_SHORT);
                else if (r == 0)
                        s->ended = true;
                else if (r == -EBADMSG)
                        log_error("spawner: the daemon sent invalid data");
                else
                        spawner_rest(s, "requests cannot be read", r);
        }
}

static void spawner_flush(Spawner *s) {
        int r = outbox_flush(&s->outbox);

        if (r < 0 && error_is_shortage(r))
                spawner_rest(s, "answers cannot be sent", r);
        else if (r < 0)
                s->ended = true;
}

/* A daemon that is gone has no requests: those still in the channel would make sandboxes without an owner. */
static void spawner_on_channel(Spawner *s, short revents) {
        if (revents & (POLLHUP | POLLERR | POLLNVAL)) {
                s->ended = true;
                return;
        }
        if (revents & POLLOUT)
                spawner_flush(s);
        if (revents & POLLIN)
                on_requests(s);
}

static const struct timespec *until(usec_t due, struct timespec *ret) {
        usec_t now = clock_usec(), left = due > now ? due - now : 0;

        if (due == USEC_INFINITY)
                return NULL;
        *ret = (struct timespec) { .tv_sec = (time_t) (left / USEC_PER_SEC), .tv_nsec = (long) (left % USEC_PER_SEC) * 1000 };
        return ret;
}

/* The time of the next work that no event announces. */
static usec_t spawner_next(const Spawner *s, bool rests) {
        usec_t due = MIN_OF(task_next(s), s->sweep);

        if (rests)
                due = MIN_OF(due, s->rest);
        due = MIN_OF(due, ahead_next(&s->ahead));
        due = MIN_OF(due, s->room_due);
        return MIN_OF(due, zygotes_next(s));
}

static void spawner_loop(Spawner *s) {
        while (!s->ended) {
                if (s->options->turns)
                        ++*s->options->turns;

                /* Read once: if a rest ended between two reads, poll would wait without a timeout, and without
                 * the channel. */
                bool rests = clock_usec() < s->rest;
                struct timespec time;
                struct pollfd fds[_FD_MAX] = {
                        [FD_CHANNEL] = {
                                .fd = s->outbox.fd,
                                .events = (short) ((!rests && takes_requests(s) ? POLLIN : 0) |
                                                   (outbox_is_empty(&s->outbox) || rests ? 0 : POLLOUT)),
                        },
                        [FD_SIGNAL] = { .fd = s->signal_fd, .events = POLLIN },
                };
                size_t n_images = image_poll(s, fds + FD_CHILDREN);
                struct pollfd *trees = fds + FD_CHILDREN + n_images;
                size_t n_trees = tree_jobs_poll(s, trees);
                struct pollfd *zygotes = trees + n_trees;
                size_t n_zygotes = zygotes_poll(s, zygotes);

                usec_t due = spawner_next(s, rests);
                int n = ppoll(fds, FD_CHILDREN + n_images + n_trees + n_zygotes, until(due, &time), NULL);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        log_error("spawner: poll: %m");
                        if (!error_is_shortage(errno))
                                _exit(EXIT_FAILURE);
                        (void) usleep(POLL_USEC);
                        continue;
                }
                if (n == 0)
                        ahead_make_one(&s->ahead); /* no event waits */
                if (fds[FD_SIGNAL].revents)
                        spawner_on_signal(s);
                image_handle(s, fds + FD_CHILDREN, n_images);
                tree_jobs_handle(s, trees, n_trees);
                zygotes_handle(s, zygotes, n_zygotes);
                if (fds[FD_CHANNEL].revents)
                        spawner_on_channel(s, fds[FD_CHANNEL].revents);
                task_run_due(s);
                tree_room_run_due(s);
                zygotes_run_due(s);
                spawner_sweep(s);
        }
}

/* PID 1 of a busy sandbox holds a few descriptors for each execution. */
static void raise_limits(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
                limit.rlim_cur = limit.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &limit);
        }
}

/* Each create says why there are none, if so, and tries again. */
static void prepare_ranges(Spawner *s) {
        Error error = { 0 };

        id_ranges_init(&s->ranges, /* directory= */ NULL, s->options->id_ranges);
        if (!s->privileged)
                return;
        if (id_ranges_open(&s->ranges, &error) < 0)
                log_error("spawner: no ids for sandboxes: %s", error.text);
        else if (s->ranges.n_fit < s->ranges.n)
                log_notice("%u of %u ranges of user ids are left out: users or groups of this machine have ids in them (/etc/passwd, /etc/group, /etc/subuid, /etc/subgid)",
                                s->ranges.n - s->ranges.n_fit, s->ranges.n);
}

int spawner_run(const SpawnerOptions *options, pid_t keeper, unsigned number) {
        Spawner s = { .options = options, .keeper = keeper, .first_serial = spawn_serial_of(number), .sweep = USEC_INFINITY };
        sigset_t child;
        int r;

        title_set("cove-spawner");
        spawner_bind_to_keeper(&s);
        raise_limits();
        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &child, NULL);
        s.signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
        r = userns_is_host_root();
        if (s.signal_fd < 0 || r < 0) {
                log_error("spawner: cannot start: %s", strerror(r < 0 ? -r : errno));
                return EXIT_FAILURE;
        }
        s.privileged = r;
        prepare_ranges(&s);
        ahead_init(&s.ahead, s.privileged);
        outbox_init(&s.outbox, options->channel_fd);
        tree_jobs_init(&s);
        (void) program_path("cove-sudo", &s.sudo_program);
        zygotes_init(&s);

        say_hello(&s);
        spawner_loop(&s);
        zygotes_end(&s);
        return EXIT_SUCCESS;
}
