#include "core/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/beat.h"
#include "base/fd.h"

struct Helper {
        sd_event_source *child;
        pid_t pid;
        int err;          /* our end of its stderr */
        char name[32]; /* without "cove-"; the name for messages */
        HelperEnded ended;
        void *userdata;
        Beat beat;
        sd_event_source *watch;
        usec_t hang_usec;
        bool killed; /* because it made no progress */
};

Helper *helper_free(Helper *h) {
        if (!h)
                return NULL;
        sd_event_source_disable_unref(h->watch);
        sd_event_source_disable_unref(h->child); /* kills and reaps it */
        (void) fd_close(h->err);
        free(h);
        return NULL;
}

void helper_stop(Helper *h) {
        (void) kill(h->pid, SIGTERM); /* the pid is valid: the loop reaps it only before the callback */
}

static void helper_explain(const Helper *h, const siginfo_t *si, Error *ret) {
        if (h->killed) {
                (void) error_set(ret, -ETIMEDOUT, "the %s program made no progress for %llu s and was killed", h->name,
                                (unsigned long long) (h->hang_usec / USEC_PER_SEC));
                return;
        }
        if (program_read_failure(h->err, ret) >= 0)
                return;
        if (si->si_code == CLD_EXITED)
                (void) error_set(ret, -EIO, "the %s program has ended with status %d", h->name, si->si_status);
        else
                (void) error_set(ret, -EIO, "the %s program was killed by signal %d", h->name, si->si_status);
}

static int helper_on_ended(sd_event_source *source, const siginfo_t *si, void *userdata) {
        Helper *h = userdata;
        const HelperEnded ended = h->ended;
        void *data = h->userdata;
        bool well = si->si_code == CLD_EXITED && si->si_status == 0;
        Error error = { 0 };

        if (!well)
                helper_explain(h, si, &error);
        (void) helper_free(h);
        ended(well ? NULL : &error, data);
        return 0;
}

static bool helper_is_stopped(const Helper *h) {
        char path[32], text[512], *end;

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) h->pid);
        if (file_read(AT_FDCWD, path, text, sizeof(text)) < 0)
                return false;
        end = strrchr(text, ')'); /* end of its name */
        return end && (strncmp(end, ") T", 3) == 0 || strncmp(end, ") t", 3) == 0);
}

static int helper_on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Helper *h = userdata;
        usec_t interval = h->hang_usec / BEATS_PER_LIMIT;

        if (beat_look(&h->beat, clock_usec(), interval, helper_is_stopped(h)) >= h->hang_usec) {
                h->killed = true;
                return kill(h->pid, SIGKILL) < 0 ? 0 : sd_event_source_set_enabled(source, SD_EVENT_OFF);
        }
        (void) sd_event_source_set_time_relative(source, interval);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int helper_watch(Helper *h, sd_event *event) {
        usec_t interval = h->hang_usec / BEATS_PER_LIMIT;

        return h->hang_usec == 0 ? 0 : sd_event_add_time_relative(event, &h->watch, CLOCK_MONOTONIC, interval, interval / 10, helper_on_look, h);
}

static int helper_spawn(Helper *h, const ProgramStart *start) {
        _cleanup_close_ int err = -EBADF;
        _cleanup_free_ char *path = NULL;
        ProgramStart own = *start;
        int fds[PROGRAM_FDS_MAX], r = start->path ? 0 : program_path(start->argv[0], &path);

        if (r >= 0)
                r = program_pipe(&h->err, &err);
        if (r < 0)
                return r;
        memcpy(fds, start->fds, start->n_fds * sizeof(int));
        fds[2] = err;
        own.fds = fds;
        own.path = path ? path : start->path;
        return program_start(&own, &h->pid);
}

int helper_start(sd_event *event, const ProgramStart *start, usec_t hang_usec, HelperEnded ended, void *userdata, Helper **ret) {
        Helper *h = calloc(1, sizeof(*h));
        int r;

        if (!h)
                return -ENOMEM;
        *h = (Helper) { .err = -EBADF, .hang_usec = hang_usec, .ended = ended, .userdata = userdata };
        (void) snprintf(h->name, sizeof(h->name), "%s", start->argv[0] + strlen("cove-")); /* argv may be freed before the name is needed */
        r = helper_spawn(h, start);
        if (r >= 0) {
                r = sd_event_add_child(event, &h->child, h->pid, WEXITED, helper_on_ended, h);
                if (r < 0)
                        program_kill(h->pid);
                else
                        (void) sd_event_source_set_child_process_own(h->child, true);
        }
        if (r >= 0)
                r = helper_watch(h, event);
        if (r < 0) {
                (void) helper_free(h);
                return r;
        }
        *ret = h;
        return 0;
}
