#include "spawner/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/directory.h"
#include "base/fd.h"
#include "base/log.h"
#include "jail/ids.h"
#include "spawner/zygote-internal.h"
#include "wire/channel.h"

#define LOADING_MAX (60 * USEC_PER_SEC)
#define LIVED_WELL  (30 * USEC_PER_SEC)
#define DELAY_MIN   (1 * USEC_PER_SEC)
#define DELAY_MAX   (60 * USEC_PER_SEC)
#define ENTRY_MAX   (10 * USEC_PER_SEC)
#define LAST_WAIT   (200 * USEC_PER_MSEC)
#define NPROC_MAX   4194303
#define NOFILE_MAX  1048576
#define CHANNEL_ENDS (ZYGOTE_FD_NAMESPACES - ZYGOTE_FD_CHANNEL)

void zygotes_init(Spawner *s) {
        const ZygoteLines *lines = &s->options->zygotes;

        if (!s->privileged || lines->n == 0)
                return;
        s->zygotes = calloc(1, sizeof(*s->zygotes));
        for (size_t i = 0; s->zygotes && i < lines->n; i++) {
                zygote_remove_group(s, i, LAST_WAIT); /* of a former worker's zygote, which died with that worker */
                if (template_find(&s->options->templates, lines->items[i].template_name))
                        s->zygotes->items[s->zygotes->n++] = (Zygote) { .line = lines->items + i, .fd = -EBADF, .due = USEC_INFINITY };
                else
                        log_error("zygote: there is no template '%s'", lines->items[i].template_name);
        }
}

static size_t spawner_zygote_number_of(const Spawner *s, const Zygote *z) {
        return (size_t) (z - s->zygotes->items);
}

/* Kills its processes, removes its group when they are dead, and schedules the next start after a delay. */
static void spawner_zygote_lose(Spawner *s, Zygote *z, const char *why) {
        usec_t now = clock_usec();

        if (z->pid > 0) {
                (void) kill(z->pid, SIGKILL); /* not reaped yet, so its pid is still its own */
                (void) waitpid(z->pid, NULL, 0);
        }
        z->fd = fd_close(z->fd);
        z->pid = 0;
        z->state = ZYGOTE_ABSENT;
        z->delay = z->started > 0 && now - z->started > LIVED_WELL ? DELAY_MIN : z->delay == 0 ? DELAY_MIN : MIN_OF(2 * z->delay, DELAY_MAX);
        z->due = z->wanted ? now + z->delay : USEC_INFINITY;
        zygote_remove_group(s, spawner_zygote_number_of(s, z), /* patience= */ 0); /* remains are handled before the next start */
        log_warning("zygote %s/%s (%s): %s; another one in %llu s", z->line->template_name, z->line->language, z->line->imports, why,
                        (unsigned long long) (z->delay / USEC_PER_SEC));
}

static void spawner_zygote_begin(Spawner *s, Zygote *z) {
        Error error = { 0 };
        int r;

        z->started = clock_usec();
        zygote_remove_group(s, spawner_zygote_number_of(s, z), /* patience= */ 0);
        z->cgroup = (Cgroup) CGROUP_EMPTY;
        r = zygote_start(s, z->line, spawner_zygote_number_of(s, z), &z->cgroup, &z->pid, &z->fd, &error);
        spawner_bind_to_keeper(s);
        if (r < 0) {
                spawner_zygote_lose(s, z, error.text);
                return;
        }
        z->state = ZYGOTE_LOADING;
        z->due = z->started + LOADING_MAX;
}

void zygotes_expect(Spawner *s, const char *template_name) {
        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++) {
                Zygote *z = s->zygotes->items + i;

                if (z->wanted || strcmp(z->line->template_name, template_name) != 0)
                        continue;
                z->wanted = true;
                z->due = clock_usec();
        }
}

void zygotes_end(Spawner *s) {
        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++) {
                Zygote *z = s->zygotes->items + i;

                z->wanted = false;
                if (z->pid > 0) {
                        (void) kill(z->pid, SIGKILL);
                        (void) waitpid(z->pid, NULL, 0);
                        zygote_remove_group(s, i, LAST_WAIT);
                }
        }
}

/* A fork leaves other threads behind, with what they held. */
static bool has_one_thread(pid_t pid) {
        _cleanup_directory_ DIR *d = NULL;
        char path[32];
        size_t n = 0;

        (void) snprintf(path, sizeof(path), "/proc/%d/task", pid);
        d = directory_open(AT_FDCWD, path);
        while (directory_next(d))
                n++;
        return n == 1;
}

static void spawner_zygote_on_socket(Spawner *s, Zygote *z) {
        char text[16];
        size_t size;
        int r = channel_receive_bytes(z->fd, MSG_DONTWAIT, text, sizeof(text), &size, NULL, 0, NULL);

        if (error_is_shortage(r))
                return;
        if (r != 1 || z->state != ZYGOTE_LOADING || size != strlen(ZYGOTE_READY)) {
                spawner_zygote_lose(s, z, z->state == ZYGOTE_LOADING ? "it ended while it loaded" : "it ended");
                return;
        }
        if (!has_one_thread(z->pid)) {
                spawner_zygote_lose(s, z, "one of its modules starts threads, which cannot be forked");
                return;
        }
        z->state = ZYGOTE_STANDS;
        z->due = USEC_INFINITY;
        log_info("zygote %s/%s (%s) is ready after %llu ms", z->line->template_name, z->line->language, z->line->imports,
                        (unsigned long long) ((clock_usec() - z->started) / USEC_PER_MSEC));
}

/* Children on their way */

static void spawner_zygote_answer(Spawner *s, ZygoteEntry *e, int pid, const Error *error) {
        if (error)
                spawner_answer_failed(s, e->serial, error);
        else
                spawner_answer(s, &(SpawnMessage) { .type = SPAWN_FORKED, .serial = e->serial, .forked.pid = pid });
        (void) fd_close(e->report_fd);
        *e = (ZygoteEntry) { .report_fd = -EBADF };
        s->zygotes->n_entries--;
}

static void spawner_zygote_fail(Spawner *s, ZygoteEntry *e, int r, const char *step) {
        Error error = { 0 };

        (void) error_set(&error, r, "a zygote's child could not enter sandbox %s (%s): %m", e->id, step);
        log_debug("%s", error.text);
        spawner_zygote_answer(s, e, 0, &error);
}

/* The sender is the process that the kernel names. */
static ssize_t receive_report(int fd, ZygoteReport *ret, pid_t *ret_pid) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
        ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

        *ret_pid = 0;
        if (n < 0)
                return -errno;
        if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
                struct ucred who;

                memcpy(&who, CMSG_DATA(c), sizeof(who));
                *ret_pid = who.pid;
        }
        return n;
}

static void spawner_zygote_on_report(Spawner *s, ZygoteEntry *e) {
        ZygoteReport r = { 0 };
        pid_t pid;
        ssize_t n = receive_report(e->report_fd, &r, &pid);
        int k;

        if (n == -EAGAIN)
                return;
        r.step[sizeof(r.step) - 1] = '\0';
        if (n != sizeof(r))
                spawner_zygote_fail(s, e, -ECHILD, "it died");
        else if (r.event == ZYGOTE_STARTED && r.pid > 0)
                spawner_zygote_answer(s, e, r.pid, NULL);
        else if (r.event == ZYGOTE_ENTERED) {
                k = pid > 0 ? zygote_move_in(s, e->id, pid) : -EBADMSG;
                if (k < 0 || send(e->report_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
                        spawner_zygote_fail(s, e, k < 0 ? k : -EPIPE, "cgroup");
        } else
                spawner_zygote_fail(s, e, r.error > 0 ? -r.error : -EBADMSG, r.step);
}

static Zygote *spawner_zygote_find(const Spawner *s, const char *template_name, const char *language) {
        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++) {
                Zygote *z = s->zygotes->items + i;

                if (z->state == ZYGOTE_STANDS && strcmp(z->line->template_name, template_name) == 0 && strcmp(z->line->language, language) == 0)
                        return z;
        }
        return NULL;
}

static int send_fork(const Zygote *z, const SpawnZygote *q, const ZygoteDoor *d, const int *channel, int report) {
        uid_t base = d->owner - d->owner % ID_RANGE_SIZE;
        ZygoteFork f = {
                .uid = d->owner,
                .gid = base + q->gid,
                .inside_uid = d->owner - base,
                .inside_gid = q->gid,
                .nofile = q->nofile,
                .nproc = q->nproc,
                .file_bytes = q->file_bytes,
                .n_tasks = (uint8_t) d->n_tasks,
                .n_early = (uint8_t) d->n_early,
                .waits = d->cgroup.version == CGROUP_V2,
                .no_processes = q->no_processes,
        };
        int fds[ZYGOTE_FD_TASKS + ZYGOTE_TASKS_MAX];

        fds[ZYGOTE_FD_REPORT] = report;
        memcpy(fds + ZYGOTE_FD_CHANNEL, channel, CHANNEL_ENDS * sizeof(int));
        memcpy(fds + ZYGOTE_FD_NAMESPACES, d->namespaces, sizeof(d->namespaces));
        memcpy(fds + ZYGOTE_FD_TASKS, d->tasks, d->n_tasks * sizeof(int));
        return channel_send_bytes(z->fd, &f, sizeof(f), fds, ZYGOTE_FD_TASKS + d->n_tasks, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int spawner_zygote_check(const SpawnZygote *q, Error *reterr) {
        int r = check_id(q->id, reterr);

        if (r >= 0 && (q->gid == 0 || q->gid >= JAIL_INIT_ID || q->nofile < 1 || q->nofile > NOFILE_MAX || q->nproc < 1 || q->nproc > NPROC_MAX))
                r = error_set(reterr, -ERANGE, "these are no limits, or no group, of a command");
        return r;
}

static int go(Spawner *s, const SpawnMessage *m, const int *channel, Error *reterr) {
        const Zygote *z = spawner_zygote_find(s, m->zygote.template_name, m->zygote.language);
        ZygoteEntry *e = s->zygotes ? s->zygotes->entries : NULL;
        int report[2], r;
        ZygoteDoor door;

        if (!z || zygotes_are_busy(s))
                return error_set(reterr, -EOPNOTSUPP, "no zygote of template '%s' for %s is ready", m->zygote.template_name, m->zygote.language);
        r = zygote_door_open(s, m->zygote.id, &door, reterr);
        if (r < 0)
                return r;
        r = channel_pair(report);
        if (r >= 0) {
                if (setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &(int) { 1 }, sizeof(int)) < 0)
                        r = -errno;
                if (r >= 0)
                        r = send_fork(z, &m->zygote, &door, channel, report[1]);
                (void) fd_close(report[1]);
                if (r < 0)
                        (void) fd_close(report[0]);
        }
        zygote_door_close(&door);
        if (r < 0)
                return error_set(reterr, r, "cannot ask the zygote: %m");
        while (e->taken)
                e++;
        *e = (ZygoteEntry) { .taken = true, .serial = m->serial, .report_fd = report[0], .deadline = clock_usec() + ENTRY_MAX };
        (void) snprintf(e->id, sizeof(e->id), "%s", m->zygote.id);
        s->zygotes->n_entries++;
        return 0;
}

void zygote_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds) {
        Error error = { 0 };
        int r = spawner_zygote_check(&m->zygote, &error);

        if (r >= 0)
                r = go(s, m, fds, &error);
        if (r < 0)
                spawner_answer_failed(s, m->serial, &error);
}

/* The loop */

bool zygotes_are_busy(const Spawner *s) {
        return s->zygotes && s->zygotes->n_entries >= ZYGOTE_FORKS_MAX;
}

size_t zygotes_poll(const Spawner *s, struct pollfd ret[static ZYGOTES_MAX + ZYGOTE_FORKS_MAX]) {
        size_t n = 0;

        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++)
                ret[n++] = (struct pollfd) { .fd = s->zygotes->items[i].fd, .events = POLLIN };
        for (size_t i = 0; s->zygotes && i < ZYGOTE_FORKS_MAX; i++)
                if (s->zygotes->entries[i].taken)
                        ret[n++] = (struct pollfd) { .fd = s->zygotes->entries[i].report_fd, .events = POLLIN };
        return n;
}

void zygotes_handle(Spawner *s, const struct pollfd *fds, size_t n) {
        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++)
                if (fds[i].revents && fds[i].fd == s->zygotes->items[i].fd)
                        spawner_zygote_on_socket(s, s->zygotes->items + i);
        for (size_t i = s->zygotes ? s->zygotes->n : n; i < n; i++)
                for (ZygoteEntry *e = s->zygotes->entries; fds[i].revents && e < s->zygotes->entries + ZYGOTE_FORKS_MAX; e++)
                        if (e->taken && e->report_fd == fds[i].fd) {
                                spawner_zygote_on_report(s, e);
                                break;
                        }
}

usec_t zygotes_next(const Spawner *s) {
        usec_t next = USEC_INFINITY;

        for (size_t i = 0; s->zygotes && i < s->zygotes->n; i++)
                next = MIN_OF(next, s->zygotes->items[i].due);
        for (size_t i = 0; s->zygotes && i < ZYGOTE_FORKS_MAX; i++)
                if (s->zygotes->entries[i].taken)
                        next = MIN_OF(next, s->zygotes->entries[i].deadline);
        return next;
}

void zygotes_run_due(Spawner *s) {
        usec_t now;

        if (!s->zygotes || zygotes_next(s) > (now = clock_usec()))
                return;
        for (size_t i = 0; i < s->zygotes->n; i++) {
                Zygote *z = s->zygotes->items + i;

                if (z->due > now)
                        continue;
                if (z->state == ZYGOTE_LOADING)
                        spawner_zygote_lose(s, z, "loading takes too long");
                else
                        spawner_zygote_begin(s, z);
        }
        for (ZygoteEntry *e = s->zygotes->entries; e < s->zygotes->entries + ZYGOTE_FORKS_MAX; e++)
                if (e->taken && e->deadline <= now)
                        spawner_zygote_fail(s, e, -ETIMEDOUT, "it does not answer");
}
