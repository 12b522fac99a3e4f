#include "core/enforce.h"
#include "core/execution.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/execution/command.h"
#include "core/execution/segment.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/output.h"
#include "core/secrets.h"
#include "core/tally.h"

#define EXIT_TIMED_OUT      124
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define EXIT_SIGNAL_BASE    128
#define ENDED_MAX           1000 /* executions that a sandbox remembers; beyond that the oldest ended ones are removed */
#define KEPT_RUNNING        ((size_t) 64 << 10) /* bytes of arguments, and of environment, that are kept; PID 1 has all of them */
#define KEPT_ENDED          ((size_t) 4 << 10)

void execution_spec_done(ExecutionSpec *spec) {
        strv_done(&spec->args);
        strv_done(&spec->env);
        free(spec->cwd);
        free(spec->tag);
        memset(spec, 0, sizeof(*spec));
}

Execution *execution_new(Sandbox *sb, uint64_t number) {
        Execution *x = calloc(1, sizeof(*x));

        if (!x)
                return NULL;
        x->sandbox = sb;
        x->number = number;
        x->exit_code = -1;
        x->born = (int64_t) clock_usec();
        (void) snprintf(x->id, sizeof(x->id), "e%llu", (unsigned long long) number);
        HASH_ADD_STR(sb->executions, id, x);
        sb->last_execution = MAX_OF(sb->last_execution, number);
        return x;
}

Execution *execution_free(Execution *x) {
        ExecutionWatch *w, *next;

        if (!x)
                return NULL;
        DL_FOREACH_SAFE(x->watches, w, next)
                execution_unwatch(w);
        execution_unfollow(x);
        execution_input_free(x);
        journal_unlist(x);
        HASH_DEL(x->sandbox->executions, x);
        execution_spec_done(&x->spec);
        free(x->message);
        free(x);
        return NULL;
}

/* Cuts what is kept for display: a sandbox remembers a thousand executions, and a command may have megabytes of
 * both. */
void execution_trim(Execution *x) {
        if (execution_ended(x))
                strv_done(&x->spec.env); /* not used after the end */
        strv_cut(&x->spec.args, execution_ended(x) ? KEPT_ENDED : KEPT_RUNNING);
        strv_cut(&x->spec.env, KEPT_RUNNING);
}

void execution_count(Sandbox *sb, int change) {
        sb->n_alive += (unsigned) change;
        tally_executions(sb, change);
}

Execution *manager_find_execution(Sandbox *sb, const char *id) {
        Execution *x;

        HASH_FIND_STR(sb->executions, id, x);
        return x;
}

Execution *execution_by_number(Sandbox *sb, uint64_t number) {
        char id[EXECUTION_ID_MAX];

        (void) snprintf(id, sizeof(id), "e%llu", (unsigned long long) number);
        return manager_find_execution(sb, id);
}

void execution_set_idle(Execution *x, bool idle) {
        if (x->idle == idle || execution_ended(x))
                return;
        x->idle = idle;
        execution_count(x->sandbox, idle ? -1 : 1);
        sandbox_update_running(x->sandbox);
}

/* Watches: inotify watches the segment, or each journal, for as long as a caller follows it. */

static int on_journal(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        execution_tell(userdata);
        return 0;
}

static void free_follow(sd_event_source **sources) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                sd_event_source_unref(sources[s]);
        free(sources);
}

static int follow_journals(Execution *x) {
        sd_event_source **sources;

        if (x->follow)
                return 0;
        sources = calloc(_STREAM_MAX, sizeof(*sources));
        if (!sources)
                return -ENOMEM;
        for (ExecutionStream s = 0; s < (x->spec.pty ? STREAM_STDERR : _STREAM_MAX); s++) {
                _cleanup_close_ int fd = journal_open(x, s);
                int r = fd;

                if (r >= 0)
                        r = sd_event_add_inotify_fd(x->sandbox->manager->event, sources + s, fd, IN_MODIFY, on_journal, x);
                if (r < 0) {
                        free_follow(sources);
                        return r;
                }
        }
        x->follow = sources;
        return 0;
}

static int start_following(Execution *x) {
        if (execution_ended(x))
                return 0;
        return x->has_files ? follow_journals(x) : segment_follow(x);
}

void execution_unfollow(Execution *x) {
        segment_unfollow(x);
        if (!x->follow)
                return;
        free_follow(x->follow);
        x->follow = NULL;
}

int execution_watch(Execution *x, ExecutionWatch *watch) {
        int r;

        if (watch->follow) {
                r = start_following(x);
                if (r < 0)
                        return r;
                x->n_followers++;
        }
        watch->execution = x;
        DL_APPEND(x->watches, watch);
        return 0;
}

void execution_unwatch(ExecutionWatch *watch) {
        Execution *x = watch->execution;

        if (!x)
                return;
        DL_DELETE(x->watches, watch);
        watch->execution = NULL;
        if (watch->follow && --x->n_followers == 0)
                execution_unfollow(x);
}

void execution_tell(Execution *x) {
        ExecutionWatch *w, *next;

        DL_FOREACH_SAFE(x->watches, w, next)
                w->changed(x, w->userdata);
}

/* Start. */

static int execution_check_state(const Sandbox *sb, Error *reterr) {
        if (!sandbox_can_run(sb))
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_state_text(sb));
        return 0;
}

static int check_user(const Sandbox *sb, const ExecutionSpec *spec, Error *reterr) {
        if (!sb->manager->provider->one_user || !spec->has_user || (spec->uid == sb->spec.uid && spec->gid == sb->spec.gid))
                return 0;
        return error_set(reterr, -EOPNOTSUPP,
                        "user %u:%u: the daemon runs as a plain user, whose sandboxes have one user each, here %u:%u; make one "
                        "with another",
                        spec->uid, spec->gid, sb->spec.uid, sb->spec.gid);
}

int execution_check_begin(Sandbox *sb, Error *reterr) {
        int r = execution_check_state(sb, reterr);

        return r < 0 ? r : manager_check_room(sb->manager, reterr);
}

static int execution_spec_check(Sandbox *sb, const ExecutionSpec *spec, Error *reterr) {
        const Provider *p = sb->manager->provider;
        int r;

        r = execution_check_begin(sb, reterr);
        if (r >= 0)
                r = check_user(sb, spec, reterr);
        if (r >= 0 && spec->pty)
                r = provider_require(p, PROVIDER_PTY, reterr);
        if (r >= 0 && spec->channel)
                r = provider_require(p, PROVIDER_CHANNELS, reterr);
        return r < 0 ? r : enforce_check_execution(sb, spec, reterr);
}

static int record_start(Execution *x, Error *reterr) {
        Store *store = x->sandbox->manager->store;
        int r;

        (void) store_begin(store);
        r = store_execution_insert(store, x);
        if (r >= 0) {
                sandbox_event(x->sandbox, "exec.start", x, "%s", x->spec.args.items[0]);
                r = store_counter_set(store, "executions_total", x->sandbox->manager->executions_total + 1);
        }
        r = store_end(store, r);
        return r < 0 ? error_set(reterr, r, "cannot save the execution: %m") : 0;
}

static void execution_began(Execution *x) {
        Sandbox *sb = x->sandbox;

        execution_count(sb, 1);
        sb->operations++;
        sb->manager->executions_total++;
        sandbox_update_running(sb);
        (void) sandbox_check_cpu_time(sb);
        observe_execution_started(x);
        execution_trim(x);
        sandbox_tell(sb, x);
}

/* Writes the row first, so that what runs is known. */
static int execution_ask(Execution *x, const Strv *env, const int journals[static _STREAM_MAX], Error *reterr) {
        Sandbox *sb = x->sandbox;
        int r = record_start(x, reterr);

        if (r < 0)
                return r;
        if (sb->n_alive == 0)
                network_execution(sb);
        r = command_send(x, env, journals, reterr);
        if (r < 0)
                store_may_lose(store_execution_delete(sb->manager->store, sb->id, x->number), "that a command was not started");
        return r;
}

int execution_start(Sandbox *sb, const Principal *who, ExecutionSpec *spec, Execution **ret, Error *reterr) {
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(0);
        int fds[_STREAM_MAX] = { -EBADF, -EBADF }, r;
        Execution *x;

        r = principal_check(who, MAY_EXEC, reterr);
        if (r >= 0)
                r = secrets_allow(who, &spec->env, reterr);
        if (r >= 0)
                r = execution_spec_check(sb, spec, reterr);
        if (r < 0)
                return r;
        r = segment_know(sb);
        if (r < 0)
                return error_set(reterr, r, "cannot read the index of the sandbox's output: %m");
        x = execution_new(sb, sb->last_execution + 1);
        if (!x)
                return error_set(reterr, -ENOMEM, "out of memory");
        x->spec = *spec;
        x->started_at = clock_wall_usec();

        r = command_environment(x, &env, reterr); /* first: a missing secret is not a failed start */
        if (r >= 0) {
                r = journal_open_files(x, fds);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot make the files of its output: %m");
        }
        if (r >= 0) {
                journal_began(x);
                r = execution_ask(x, &env, fds, reterr);
        }
        for (ExecutionStream i = 0; i < _STREAM_MAX; i++)
                (void) fd_close(fds[i]);
        if (r < 0) {
                memset(&x->spec, 0, sizeof(x->spec)); /* it still belongs to the caller */
                journal_remove(x);
                execution_free(x);
                return r;
        }

        memset(spec, 0, sizeof(*spec));
        execution_began(x);
        *ret = x;
        return 0;
}

void execution_on_started(Execution *x, int pid) {
        if (execution_ended(x))
                return;
        x->pid = pid;
        if (x->status == EXECUTION_RUNNING)
                return;
        x->status = EXECUTION_RUNNING;
        execution_tell(x);
}

/* End. */

static void forget_oldest(Sandbox *sb) {
        Execution *x, *next;

        if (HASH_COUNT(sb->executions) <= ENDED_MAX)
                return;
        HASH_ITER(hh, sb->executions, x, next)
                if (execution_ended(x) && !x->watches) {
                        store_may_lose(store_execution_delete(sb->manager->store, sb->id, x->number), "that an old execution is forgotten");
                        journal_remove(x);
                        execution_free(x);
                        return;
                }
}

/* True: the end is in the store. */
static bool execution_record_end(Execution *x) {
        Store *store = x->sandbox->manager->store;
        int r;

        (void) store_begin(store);
        r = store_execution_update(store, x);
        if (r >= 0 && x->exit_code >= 0)
                sandbox_event(x->sandbox, "exec.exit", x, "%s, code %d", execution_reason_name(x->reason), x->exit_code);
        else if (r >= 0)
                sandbox_event(x->sandbox, "exec.exit", x, "%s, signal %d", execution_reason_name(x->reason), x->signal);
        r = store_end(store, r);
        x->unwritten = r < 0;
        if (r < 0)
                sandbox_row_wrote(x->sandbox, r, "the end of an execution");
        return r >= 0;
}

void execution_written(Execution *x) {
        Provider *p = x->sandbox->manager->provider;

        x->unwritten = false;
        if (x->sandbox->provider_data)
                (void) p->ops->forget(p, x->sandbox, x->number);
}

static const char *security_kind(ExecutionReason reason) {
        switch (reason) {
        case EXECUTION_REASON_MEMORY: return "oom-kill";
        case EXECUTION_REASON_TIMEOUT:
        case EXECUTION_REASON_CPU_TIME: return "limit-kill";
        default: return NULL;
        }
}

static void observe(Execution *x) {
        const char *kind = security_kind(x->reason);

        observe_step(x->sandbox->manager, STEP_EXEC, x->sandbox, x, x->started_at, x->duration_usec);
        observe_execution_ended(x);
        if (kind)
                observe_security(x->sandbox->manager, kind, x->sandbox, "%s: %s", x->id, x->message ? x->message : kind);
}

/* All fields are set; the execution does not change after this. */
static bool execution_conclude(Execution *x) {
        Sandbox *sb = x->sandbox;
        bool written;

        x->status = EXECUTION_EXITED;
        if (x->ended_at == 0)
                x->ended_at = clock_wall_usec();
        written = execution_record_end(x);
        if (!x->idle)
                execution_count(sb, -1);
        sandbox_update_running(sb);
        execution_input_free(x);
        journal_ended(x);
        execution_tell(x);
        sandbox_tell(sb, x);
        execution_unfollow(x);
        observe(x); /* after the callers that wait for it */
        execution_trim(x);
        forget_oldest(sb);
        return written;
}

static void measure_journals(Execution *x) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                _cleanup_output_ OutputReader *o = NULL;

                if (output_open(x, s, &o) >= 0)
                        x->journals[s].bytes = output_size(x, s, o);
        }
}

void execution_end(Execution *x, ExecutionReason reason, int exit_code, int signal_number, const char *message) {
        if (execution_ended(x))
                return;
        measure_journals(x);
        x->reason = reason;
        x->exit_code = exit_code;
        x->signal = signal_number;
        free(x->message);
        x->message = message ? strdup(message) : NULL;
        x->duration_usec = clock_wall_usec() > x->started_at ? clock_wall_usec() - x->started_at : 0;
        (void) execution_conclude(x);
}

void execution_on_failed(Execution *x, const ProviderNotStarted *f) {
        char message[512];

        if (f->kind == PROVIDER_FAILURE_COMMAND && (f->error == ENOENT || f->error == ENOTDIR)) {
                (void) snprintf(message, sizeof(message), "command not found in the sandbox: '%s'%s", f->detail,
                                strpbrk(f->detail, " \t\n") ? " (that is all one name; a shell takes a line: sh -c LINE)" :
                                strchr(f->detail, '/')        ? " (or the interpreter it names)" : "");
                execution_end(x, EXECUTION_REASON_NOT_FOUND, EXIT_NOT_FOUND, 0, message);
        } else if (f->kind == PROVIDER_FAILURE_COMMAND && f->error != ENOMEM && f->error != E2BIG) {
                (void) snprintf(message, sizeof(message), "cannot execute '%s': %s", f->detail, strerror(f->error));
                execution_end(x, EXECUTION_REASON_NOT_EXECUTABLE, EXIT_NOT_EXECUTABLE, 0, message);
        } else if (f->kind == PROVIDER_FAILURE_WORKDIR) {
                (void) snprintf(message, sizeof(message), "cannot change to directory '%s': %s", f->detail, strerror(f->error));
                x->cwd_error = f->error;
                execution_end(x, EXECUTION_REASON_NOT_EXECUTABLE, EXIT_NOT_EXECUTABLE, 0, message);
        } else {
                (void) snprintf(message, sizeof(message), "cannot start the command: %s: %s%s%s", f->step, f->detail,
                                f->detail[0] ? ": " : "", strerror(f->error));
                execution_end(x, EXECUTION_REASON_INTERNAL, -1, 0, message);
        }
}

/* The kernel counts its own kills. A shell reports a killed child as 137. The counter is read only when the
 * exit status suggests a kill. */
uint64_t sandbox_memory_kills(Sandbox *sb) {
        SandboxUsage usage = { 0 };

        return sb->manager->provider->ops->usage(sb->manager->provider, sb, &usage) < 0 ? 0 : usage.oom_kills;
}

bool sandbox_take_memory_kill(Sandbox *sb, uint64_t before) {
        uint64_t kills = sandbox_memory_kills(sb);

        if (kills <= sb->oom_seen || kills <= before)
                return false;
        sb->oom_seen = kills;
        return true;
}

static bool killed_for_memory(Execution *x) {
        if (x->signal != SIGKILL && x->exit_code != EXIT_SIGNAL_BASE + SIGKILL)
                return false;
        return sandbox_take_memory_kill(x->sandbox, x->memory_kills);
}

static void execution_explain(Execution *x, ExecutionReason reason, const char *message) {
        x->reason = reason;
        free(x->message);
        x->message = message ? strdup(message) : NULL;
}

/* Whoever reads it has perhaps not chosen the limit. */
static void explain_limit(Execution *x, ExecutionReason reason) {
        char words[160];

        if (reason == EXECUTION_REASON_TIMEOUT)
                (void) snprintf(words, sizeof(words), "timed out after %.1f s: a longer limit is the command's own (timeoutSeconds, cove exec --timeout) or its sandbox's",
                                (double) x->duration_usec / USEC_PER_SEC);
        else
                (void) snprintf(words, sizeof(words), "out of memory: killed by the kernel at the sandbox's limit of %llu MB (limits.memoryMB, cove create --memory)",
                                (unsigned long long) (x->sandbox->spec.limits.memory_bytes >> 20));
        execution_explain(x, reason, words);
}

static void conclude_reason(Execution *x, const ProviderEnd *e) {
        x->exit_code = e->signal != 0 ? -1 : e->exit_code;
        x->signal = e->signal;
        x->reason = e->signal != 0 ? EXECUTION_REASON_SIGNALED : EXECUTION_REASON_EXITED;

        if (e->timed_out) {
                explain_limit(x, EXECUTION_REASON_TIMEOUT);
                x->exit_code = EXIT_TIMED_OUT;
        } else if (x->signal != 0 && x->kill_reason == EXECUTION_REASON_CPU_TIME) {
                execution_explain(x, EXECUTION_REASON_CPU_TIME, "the sandbox has used up its CPU time");
                x->exit_code = EXIT_TIMED_OUT;
        } else if (x->signal != 0 && execution_reason_words(x->kill_reason))
                execution_explain(x, x->kill_reason, execution_reason_words(x->kill_reason));
        else if (killed_for_memory(x))
                explain_limit(x, EXECUTION_REASON_MEMORY);
        else if (e->disk_full && x->exit_code != 0)
                execution_explain(x, EXECUTION_REASON_DISK, "failed with its disk full");
}

bool execution_on_exited(Execution *x, const ProviderEnd *e) {
        if (execution_ended(x))
                return !x->unwritten;
        x->duration_usec = e->wall_usec;
        x->user_usec = e->user_usec;
        x->system_usec = e->system_usec;
        x->max_rss_bytes = e->max_rss_bytes;
        memcpy(x->journals, e->journals, sizeof(x->journals));
        conclude_reason(x, e);
        return execution_conclude(x);
}

/* What can be asked of one that runs. */

int execution_signal(Execution *x, int signal_number) {
        Provider *p = x->sandbox->manager->provider;
        int r;

        if (signal_number == SIGKILL && x->kill_reason == EXECUTION_REASON_NONE && !execution_ended(x)) {
                x->kill_reason = EXECUTION_REASON_CANCELLED;
                store_may_lose(store_execution_update(x->sandbox->manager->store, x), "why a command is killed"); /* another daemon may report its end */
        }
        r = p->ops->signal(p, x->sandbox, x->number, signal_number);
        if (execution_ended(x))
                return 0;
        return r < 0 ? r : 1;
}

void execution_kill(Execution *x, ExecutionReason why) {
        if (execution_ended(x))
                return;
        x->kill_reason = why;
        store_may_lose(store_execution_update(x->sandbox->manager->store, x), "why a command is killed"); /* another daemon may report its end */
        (void) execution_signal(x, SIGKILL);
}

void execution_sweep(Execution *x) {
        Provider *p = x->sandbox->manager->provider;

        if (!execution_ended(x))
                (void) p->ops->signal(p, x->sandbox, x->number, SIGKILL);
}

int execution_resize(Execution *x, uint16_t columns, uint16_t rows) {
        Provider *p = x->sandbox->manager->provider;
        int r;

        if (!x->spec.pty)
                return -ENOTTY;
        if (execution_ended(x))
                return 0;
        x->spec.columns = columns;
        x->spec.rows = rows;
        r = provider_require(p, PROVIDER_PTY, NULL);
        return r < 0 ? r : p->terminals->resize(p, x->sandbox, x->number, columns, rows);
}
