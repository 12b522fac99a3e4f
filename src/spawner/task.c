#include "spawner/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"

#define REMOVE_PATIENCE  (30 * USEC_PER_SEC)
#define FREEZE_PATIENCE  (10 * USEC_PER_SEC)
#define RECLAIM_PATIENCE (60 * USEC_PER_SEC)
#define DELAY_MIN        ((usec_t) 500)
#define DELAY_OF_A_STOP  ((usec_t) 100) /* a sleeping process is frozen as soon as it is woken for it */
#define DELAY_OF_A_CHILD (5 * USEC_PER_MSEC) /* a signal reports its end, usually sooner */
#define DELAY_MAX        (20 * USEC_PER_MSEC)

typedef enum TaskKind {
        TASK_REMOVE,
        TASK_FREEZE,
        TASK_THAW,
        TASK_RECLAIM,
} TaskKind;

struct Task {
        Task *next;
        TaskKind kind;
        char id[JAIL_ID_LENGTH + 1];
        uint32_t serial;
        Error failure; /* code 0: none */
        usec_t deadline, due, delay;
        unsigned looks;
        pid_t helper;  /* reclaim: the process that waits for the kernel; reaped like all children */
        int helper_fd; /* the helper has the other end; -EBADF: none */
};

/* A child of ours is killed directly, and SIGCHLD reports its end. Meanwhile its group is touched only if necessary:
 * a v1 freezer keeps even killed processes from dying. From the second check on, and for sandboxes that are not our
 * children, the cgroup is used. */
static int look_at_end(Spawner *s, Task *t) {
        Child *child = children_find(&s->children, t->id);
        Cgroup cg;
        int r;

        if (child && t->looks > 0 && child_reap(child)) {
                spawner_child_ended(s, child);
                child = NULL;
        }
        if (child)
                (void) kill(child->pid, SIGKILL);
        r = cgroup_find(s->options->instance, t->id, &cg);
        if (r == -ENOENT)
                return child ? -EAGAIN : 0;
        if (r < 0)
                return r;
        if (child && t->looks == 0) {
                if (cg.version == CGROUP_V1)
                        (void) cgroup_freeze(&cg, false);
                t->delay = DELAY_OF_A_CHILD;
                return -EAGAIN;
        }
        r = cgroup_try_remove(&cg);
        if (r == -EBUSY)
                return -EAGAIN;
        return r < 0 ? r : child ? -EAGAIN : 0;
}

static int look_at_freezer(Spawner *s, Task *t) {
        Cgroup cg;
        int r = cgroup_find(s->options->instance, t->id, &cg);

        if (r == -ENOENT)
                return -EOPNOTSUPP; /* there is no group that could be frozen */
        return r < 0 ? r : cgroup_freeze(&cg, t->kind == TASK_FREEZE);
}

/* The kernel may write gigabytes to swap before it answers. */
_noreturn_ static void reclaim_main(const Cgroup *cg, int tell) {
        int8_t r = (int8_t) -cgroup_reclaim(cg);

        (void) write(tell, &r, sizeof(r));
        _exit(0);
}

static int start_reclaim(Task *t, const Cgroup *cg) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        t->helper = fork();
        if (t->helper == 0)
                reclaim_main(cg, fds[1]);
        (void) fd_close(fds[1]);
        if (t->helper < 0) {
                (void) fd_close(fds[0]);
                return -errno;
        }
        t->helper_fd = fds[0];
        return -EAGAIN;
}

static int look_at_reclaim(Spawner *s, Task *t) {
        int8_t said = 0;
        ssize_t n;
        Cgroup cg;
        int r;

        if (t->helper_fd < 0) {
                r = cgroup_find(s->options->instance, t->id, &cg);
                return r == -ENOENT ? -EOPNOTSUPP : r < 0 ? r : start_reclaim(t, &cg);
        }
        n = read(t->helper_fd, &said, sizeof(said));
        if (n < 0 && errno == EAGAIN)
                return -EAGAIN;
        return n == sizeof(said) ? -said : -EIO;
}

/* While the helper's end of the pipe is open, the helper lives and has its pid. */
static void end_helper(Task *t) {
        int8_t said;

        if (t->helper_fd < 0)
                return;
        if (read(t->helper_fd, &said, sizeof(said)) < 0 && errno == EAGAIN)
                (void) kill(t->helper, SIGKILL);
        t->helper_fd = fd_close(t->helper_fd);
}

/* A partly frozen sandbox is of no use to any caller, so it is thawed. */
static void give_up_freezing(Spawner *s, const Task *t) {
        Cgroup cg;

        if (t->kind == TASK_FREEZE && cgroup_find(s->options->instance, t->id, &cg) >= 0)
                (void) cgroup_freeze(&cg, false);
}

static const struct {
        const char *what;
        int (*look)(Spawner *s, Task *t); /* 0: over; -EAGAIN: not yet; else it failed */
        usec_t patience;
} kinds[] = {
        [TASK_REMOVE] = { "remove", look_at_end,     REMOVE_PATIENCE },
        [TASK_FREEZE] = { "freeze", look_at_freezer, FREEZE_PATIENCE },
        [TASK_THAW]   = { "thaw",   look_at_freezer, FREEZE_PATIENCE },
        [TASK_RECLAIM] = { "reclaim the memory of", look_at_reclaim, RECLAIM_PATIENCE },
};

static void task_answer(Spawner *s, const Task *t, int r, const char *why) {
        Error error = { 0 };

        if (r >= 0 && t->failure.code == 0) {
                spawner_answer_done(s, t->serial);
                return;
        }
        if (r < 0)
                (void) error_set(&error, r, "cannot %s sandbox %s: %s%s%m", kinds[t->kind].what, t->id, why, why[0] ? ": " : "");
        if (r < 0 && t->kind == TASK_REMOVE)
                log_error("%s", error.text);
        spawner_answer_failed(s, t->serial, t->failure.code < 0 ? &t->failure : &error);
}

/* True if the task is over. */
static bool task_look(Spawner *s, Task *t) {
        usec_t now = clock_usec();
        int r = kinds[t->kind].look(s, t);

        t->looks++;
        if (r == -EAGAIN && now < t->deadline) {
                t->due = now + t->delay;
                t->delay = MIN_OF(t->delay * 2, DELAY_MAX);
                return false;
        }
        if (r < 0)
                give_up_freezing(s, t);
        if (r == -EAGAIN)
                task_answer(s, t, -ETIMEDOUT, "its processes do not end");
        else
                task_answer(s, t, r, "");
        return true;
}

static void task_drop(Spawner *s, Task **place) {
        Task *t = *place;

        *place = t->next;
        s->n_tasks--;
        end_helper(t);
        free(t);
}

/* Handles all due tasks of a sandbox. */
static void look_at_all(Spawner *s, const char *id, usec_t due) {
        for (Task **place = &s->tasks; *place;) {
                Task *t = *place;

                if ((!id || strcmp(t->id, id) == 0) && t->due <= due && task_look(s, t))
                        task_drop(s, place);
                else
                        place = &t->next;
        }
}

/* A later request cancels the earlier ones. A removal stays: a second one is the same as the first. */
static void cancel_freezing(Spawner *s, const char *id) {
        for (Task **place = &s->tasks; *place;) {
                Task *t = *place;

                if (t->kind == TASK_REMOVE || strcmp(t->id, id) != 0) {
                        place = &t->next;
                        continue;
                }
                task_answer(s, t, -ECANCELED, "");
                task_drop(s, place);
        }
}

static void task_start(Spawner *s, TaskKind kind, const char *id, uint32_t serial, const Error *failure) {
        Task first = {
                .kind = kind,
                .serial = serial,
                .delay = kind == TASK_REMOVE ? DELAY_MIN : DELAY_OF_A_STOP,
                .deadline = clock_usec() + kinds[kind].patience,
                .helper_fd = -EBADF,
        }, *t;

        memcpy(first.id, id, sizeof(first.id));
        if (failure)
                first.failure = *failure;
        if (kind != TASK_RECLAIM)
                cancel_freezing(s, id);
        if (task_look(s, &first)) {
                end_helper(&first);
                return;
        }
        t = malloc(sizeof(*t));
        if (!t) {
                end_helper(&first);
                give_up_freezing(s, &first);
                task_answer(s, &first, -ENOMEM, "");
                return;
        }
        *t = first;
        t->next = s->tasks;
        s->tasks = t;
        s->n_tasks++;
}

void task_remove(Spawner *s, const char *id, uint32_t serial, const Error *failure) {
        task_start(s, TASK_REMOVE, id, serial, failure);
}

void task_freeze(Spawner *s, const char *id, uint32_t serial, bool freeze) {
        task_start(s, freeze ? TASK_FREEZE : TASK_THAW, id, serial, /* failure= */ NULL);
}

void task_reclaim(Spawner *s, const char *id, uint32_t serial) {
        task_start(s, TASK_RECLAIM, id, serial, /* failure= */ NULL);
}

bool task_is_removing(const Spawner *s, const char *id) {
        for (const Task *t = s->tasks; t; t = t->next)
                if (t->kind == TASK_REMOVE && strcmp(t->id, id) == 0)
                        return true;
        return false;
}

void task_sandbox_ended(Spawner *s, const char *id) {
        look_at_all(s, id, USEC_INFINITY);
}

void task_run_due(Spawner *s) {
        if (s->tasks)
                look_at_all(s, /* id= */ NULL, clock_usec());
}

usec_t task_next(const Spawner *s) {
        usec_t next = USEC_INFINITY;

        for (const Task *t = s->tasks; t; t = t->next)
                next = MIN_OF(next, t->due);
        return next;
}
