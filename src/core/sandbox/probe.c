#include "core/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/internal.h"

#define PROBE_WORD    "cove-is-well"
#define PROBE_OUTPUT  PROBE_WORD "\n"
#define PROBE_NOFILE  64
#define OUTPUT_MAX    4096
#define OVERTIME_USEC (60 * USEC_PER_SEC) /* after that PID 1 ends it, in case no daemon is there to do so */
#define TEXT_MAX      256

typedef struct SandboxProbe {
        Sandbox *sandbox;
        uint64_t number;
        int output_fd;
        usec_t started, timeout_usec;
        sd_event_source *timer;
        bool interrupted; /* frozen meanwhile: the time was lost, not used */
        ProbeDone done;   /* NULL: the caller has cancelled */
        void *userdata;
} SandboxProbe;

static SandboxProbe *probe_free(SandboxProbe *p) {
        sd_event_source_disable_unref(p->timer);
        (void) fd_close(p->output_fd);
        free(p);
        return NULL;
}

void sandbox_probe_free(Sandbox *sb) {
        if (sb->probe)
                sb->probe = probe_free(sb->probe);
}

/* The callback may end the sandbox, or start another probe. */
static void core_probe_finish(SandboxProbe *p, bool healthy, const char *text) {
        Sandbox *sb = p->sandbox;
        ProbeDone done = p->done;
        void *userdata = p->userdata;
        usec_t duration = clock_usec() - p->started;

        sandbox_probe_free(sb);
        if (done)
                done(sb, healthy, text, duration, userdata);
}

/* Asking */

/* A number that no execution of the sandbox has or had, and no probe of an earlier daemon. */
static uint64_t next_number(void) {
        return PROBE_NUMBER_FIRST | clock_usec();
}

static char *probe_args[] = { (char *) "/bin/sh", (char *) "-c", (char *) "echo " PROBE_WORD, NULL };

static int send_command(SandboxProbe *p) {
        const Sandbox *sb = p->sandbox;
        Provider *provider = sb->manager->provider;
        _cleanup_close_ int output = memfd_create("cove-probe", MFD_CLOEXEC);
        _cleanup_close_ int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        const Strv args = { .items = probe_args, .n = ELEMENTSOF(probe_args) - 1 }, env = STRV_INIT(0);
        ProviderCommand c;
        int r;

        if (output < 0 || nothing < 0)
                return -errno;
        c = (ProviderCommand) {
                .number = next_number(),
                .cwd = "/",
                .args = &args,
                .env = &env,
                .uid = sb->spec.uid,
                .gid = sb->spec.gid,
                .timeout_usec = p->timeout_usec + OVERTIME_USEC,
                .output_max = OUTPUT_MAX,
                .nofile = PROBE_NOFILE,
                .stay = sb->pooled,
                .journals = { output, nothing },
        };
        r = provider->ops->exec(provider, p->sandbox, &c);
        if (r < 0)
                return r;
        p->number = c.number;
        (void) fd_close(p->output_fd);
        p->output_fd = TAKE_FD(output);
        return 0;
}

static bool is_frozen(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED || sb->activity == ACTIVITY_FREEZING;
}

static void kill_command(const SandboxProbe *p) {
        Provider *provider = p->sandbox->manager->provider;

        (void) provider->ops->signal(provider, p->sandbox, p->number, SIGKILL);
}

static int probe_on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        SandboxProbe *p = userdata;
        char text[TEXT_MAX];

        if (p->interrupted) {
                p->interrupted = is_frozen(p->sandbox);
                (void) sd_event_source_set_time_relative(source, p->timeout_usec);
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        kill_command(p);
        (void) snprintf(text, sizeof(text), "a command inside did not end within %llu ms",
                        (unsigned long long) (p->timeout_usec / USEC_PER_MSEC));
        core_probe_finish(p, /* healthy= */ false, text);
        return 0;
}

int sandbox_probe(Sandbox *sb, usec_t timeout_usec, ProbeDone done, void *userdata) {
        SandboxProbe *p;
        int r;

        if (!sandbox_can_run(sb))
                return -ESTALE;
        if (sb->probe)
                return -EALREADY;
        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        *p = (SandboxProbe) {
                .sandbox = sb,
                .output_fd = -EBADF,
                .started = clock_usec(),
                .timeout_usec = timeout_usec,
                .done = done,
                .userdata = userdata,
        };
        r = sd_event_add_time_relative(sb->manager->event, &p->timer, CLOCK_MONOTONIC, timeout_usec, 0, probe_on_time, p);
        if (r >= 0)
                r = send_command(p);
        if (r < 0) {
                probe_free(p);
                return r;
        }
        sb->probe = p;
        return 0;
}

void sandbox_probe_forget(Sandbox *sb, void *userdata) {
        if (sb->probe && sb->probe->userdata == userdata)
                sb->probe->done = NULL;
}

/* Answers */

/* NULL: the probe was given up, or an earlier daemon started it; its result is ignored. */
static SandboxProbe *probe_find(const Sandbox *sb, uint64_t number) {
        return sb->probe && sb->probe->number == number ? sb->probe : NULL;
}

static bool output_is_right(const SandboxProbe *p) {
        char output[sizeof(PROBE_OUTPUT)];
        ssize_t n = pread(p->output_fd, output, sizeof(output), 0);

        return n == sizeof(PROBE_OUTPUT) - 1 && memcmp(output, PROBE_OUTPUT, sizeof(PROBE_OUTPUT) - 1) == 0;
}

/* A stop of the programs inside also stops the probe. */
static bool was_stopped(const Sandbox *sb) {
        return sandbox_is_stopping(sb) || sb->status == SANDBOX_STOPPED;
}

void sandbox_probe_on_exited(Sandbox *sb, const ProviderEnd *e) {
        SandboxProbe *p = probe_find(sb, e->number);
        char text[TEXT_MAX];

        sb->cpu_others_usec += e->user_usec + e->system_usec;
        if (!p)
                return;
        if (e->signal == 0 && e->exit_code == 0 && output_is_right(p)) {
                core_probe_finish(p, /* healthy= */ true, NULL);
                return;
        }
        if (was_stopped(sb)) {
                core_probe_finish(p, /* healthy= */ true, "it was stopped meanwhile");
                return;
        }
        if (e->timed_out && send_command(p) >= 0)
                return; /* it was frozen for long: otherwise our timer fires before PID 1's */
        if (e->signal != 0)
                (void) snprintf(text, sizeof(text), "a command inside was killed by signal %d", e->signal);
        else if (e->exit_code != 0)
                (void) snprintf(text, sizeof(text), "a command inside ended with code %d", e->exit_code);
        else
                (void) snprintf(text, sizeof(text), "a command inside gave an unexpected answer");
        core_probe_finish(p, /* healthy= */ false, text);
}

/* A sandbox without a shell counts as healthy here, because it could start a process and report its failure. */
static bool lacks_a_shell(const ProviderNotStarted *f) {
        return f->kind == PROVIDER_FAILURE_COMMAND && f->error == ENOENT;
}

void sandbox_probe_on_failed(Sandbox *sb, const ProviderNotStarted *f) {
        SandboxProbe *p = probe_find(sb, f->number);
        char text[TEXT_MAX];

        if (!p)
                return;
        if (lacks_a_shell(f) || was_stopped(sb)) {
                core_probe_finish(p, /* healthy= */ true, was_stopped(sb) ? "it was stopped meanwhile" : "there is no /bin/sh inside");
                return;
        }
        (void) snprintf(text, sizeof(text), "no command can be started inside: %s: %s", f->step, strerror(f->error));
        core_probe_finish(p, /* healthy= */ false, text);
}

void sandbox_probe_on_frozen(Sandbox *sb) {
        if (sb->probe)
                sb->probe->interrupted = true;
}

void sandbox_probe_on_end(Sandbox *sb) {
        if (sb->probe)
                core_probe_finish(sb->probe, /* healthy= */ false, "the sandbox has ended");
}
