#include "core/startup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manager.h"
#include "core/output.h"

#define LINE_MAX_SHOWN 200
#define TAIL_SIZE      4096

/* One execution makes all tries, so nothing else has to keep time. */
#define READY_LOOP "until /bin/sh -c \"$1\"; do sleep 0.2 || exit 1; done"

struct Startup {
        Execution *program, *check;      /* NULL: not started, or ended and reported */
        ExecutionWatch program_watch, check_watch;
        sd_event_source *later;          /* reports the result */
        int result;
        char text[LINE_MAX_SHOWN + 200];
        StartupDone done;
        void *userdata;
};

static Startup *startup_free(Startup *s) {
        if (s->program)
                execution_unwatch(&s->program_watch);
        if (s->check)
                execution_unwatch(&s->check_watch);
        sd_event_source_disable_unref(s->later);
        free(s);
        return NULL;
}

void startup_cancel(Startup *s) {
        (void) startup_free(s);
}

static int startup_on_later(sd_event_source *source, void *userdata) {
        Startup *s = userdata;
        StartupDone done = s->done;
        void *asker = s->userdata;
        char text[sizeof(s->text)];
        int r = s->result;

        memcpy(text, s->text, sizeof(text));
        (void) startup_free(s);
        done(r, text, asker);
        return 0;
}

/* The first result counts. */
static void startup_finish(Startup *s, int r) {
        if (sd_event_source_get_enabled(s->later, NULL) > 0)
                return;
        s->result = r;
        (void) sd_event_source_set_enabled(s->later, SD_EVENT_ONESHOT);
}

/* The last line of its output, from stderr if that has any. */
static void last_line(const Execution *x, char *ret, size_t size) {
        char tail[TAIL_SIZE + 1];

        *ret = '\0';
        for (int i = _STREAM_MAX - 1; i >= 0 && !*ret; i--) {
                _cleanup_output_ OutputReader *o = NULL;
                uint64_t bytes = execution_open_output(x, (ExecutionStream) i, &o) < 0 ? 0 : execution_output_size(x, (ExecutionStream) i, o);
                ssize_t n = bytes == 0 ? 0 : execution_read_output(x, (ExecutionStream) i, o, tail, TAIL_SIZE, bytes > TAIL_SIZE ? bytes - TAIL_SIZE : 0);
                const char *line;

                while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
                        n--;
                if (n <= 0)
                        continue;
                tail[n] = '\0';
                line = strrchr(tail, '\n');
                (void) snprintf(ret, size, ": %.*s", LINE_MAX_SHOWN - 3, line ? line + 1 : tail);
        }
}

static void on_program(Execution *x, void *userdata) {
        Startup *s = userdata;
        char line[LINE_MAX_SHOWN];

        if (!execution_ended(x)) {
                if (!s->check && x->status == EXECUTION_RUNNING)
                        startup_finish(s, 0);
                return;
        }
        execution_unwatch(&s->program_watch);
        s->program = NULL;
        if (x->exit_code == 0) { /* it may have become a daemon: the check decides */
                if (!s->check)
                        startup_finish(s, 0);
                return;
        }
        last_line(x, line, sizeof(line));
        if (x->exit_code > 0)
                (void) snprintf(s->text, sizeof(s->text), "the template's start command ended with status %d%s", x->exit_code, line);
        else
                (void) snprintf(s->text, sizeof(s->text), "the template's start command was ended by signal %d%s", x->signal, line);
        startup_finish(s, -ECHILD);
}

static void on_check(Execution *x, void *userdata) {
        Startup *s = userdata;
        char line[LINE_MAX_SHOWN];

        if (!execution_ended(x))
                return;
        execution_unwatch(&s->check_watch);
        s->check = NULL;
        if (x->exit_code == 0) {
                startup_finish(s, 0);
                return;
        }
        last_line(x, line, sizeof(line));
        (void) snprintf(s->text, sizeof(s->text), "the template's start command was not ready after %u seconds%s", (unsigned) (STARTUP_USEC / USEC_PER_SEC), line);
        startup_finish(s, -ECHILD);
}

static int startup_run(Sandbox *sb, const char *tag, const char *const args[], usec_t timeout_usec, Execution **ret, Error *reterr) {
        ExecutionSpec spec = { .args = STRV_INIT(SANDBOX_ENV_MAX), .has_timeout = true, .timeout_usec = timeout_usec, .background = true, .of_template = true };
        int r = 0;

        for (size_t i = 0; args[i] && r >= 0; i++)
                r = strv_push(&spec.args, args[i]);
        if (r >= 0 && !(spec.tag = strdup(tag)))
                r = -ENOMEM;
        if (r >= 0)
                r = execution_start(sb, &principal_daemon, &spec, ret, reterr);
        execution_spec_done(&spec);
        return r;
}

static int startup_watch(Execution *x, ExecutionWatch *w, void (*changed)(Execution *, void *), Startup *s) {
        *w = (ExecutionWatch) { .changed = changed, .userdata = s };
        return execution_watch(x, w);
}

static int begin_both(Startup *s, Sandbox *sb, const char *start, const char *ready, Error *reterr) {
        const char *const program[] = { "/bin/sh", "-c", start, NULL };
        const char *const check[] = { "/bin/sh", "-c", READY_LOOP, "ready", ready, NULL };
        int r = startup_run(sb, "start", program, 0, &s->program, reterr);

        if (r >= 0)
                r = startup_watch(s->program, &s->program_watch, on_program, s);
        if (r >= 0 && ready)
                r = startup_run(sb, "ready", check, STARTUP_USEC, &s->check, reterr);
        if (r >= 0 && ready)
                r = startup_watch(s->check, &s->check_watch, on_check, s);
        return r;
}

int startup_begin(Sandbox *sb, const char *start, const char *ready, StartupDone done, void *userdata, Startup **ret, Error *reterr) {
        Startup *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->done = done;
        s->userdata = userdata;
        r = sd_event_add_defer(sb->manager->event, &s->later, startup_on_later, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->later, SD_EVENT_OFF);
        if (r >= 0)
                r = begin_both(s, sb, start, ready && *ready ? ready : NULL, reterr);
        if (r < 0) {
                (void) startup_free(s);
                return reterr->text[0] ? r : error_set(reterr, r, "the template's start command: %s", strerror(-r));
        }
        *ret = s;
        return 0;
}
