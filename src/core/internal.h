/* internal.h: declarations shared by the files of the core; private to it. */
#pragma once

#include "core/manager.h"
#include "core/provider.h"
#include "core/rows.h"

/* sandbox.c: objects and their status */
Sandbox *sandbox_new(Manager *m);
void sandbox_drop(Sandbox *sb); /* removes it and its executions from every table; the object stays while there are references */
/* The only way to change the state. -EPROTO: the table of status.h does not allow the move; nothing has changed. */
int sandbox_move(Sandbox *sb, SandboxState to, const char *reason);
int sandbox_set_activity(Sandbox *sb, SandboxActivity activity); /* keeps the status */
int sandbox_read_usage(Sandbox *sb, SandboxUsage *ret); /* the provider's figures, without CPU time that is not its owner's */
void sandbox_tell(Sandbox *sb, Execution *x); /* calls the watches */
bool sandbox_can_run(const Sandbox *sb);       /* whether a command can be started now */
const char *sandbox_state_text(const Sandbox *sb); /* why it cannot: "stopping", "pausing" or its status */
void sandbox_update_running(Sandbox *sb);     /* sets ready or running, by the number of executions alive */
void sandbox_register(Sandbox *sb); /* by its id */
int sandbox_register_name(Sandbox *sb);
void manager_forget_name(Manager *m, const SandboxSpec *spec);
void sandbox_event(Sandbox *sb, const char *type, const Execution *x, const char *format, ...) _printf_(4, 5);

/* manager.c */
Sandbox *manager_find_named(Manager *m, const SandboxSpec *spec); /* the sandbox with the spec's name, unless it is ending */

/* acquire.c */
int acquisitions_new(Manager *m);
void acquisitions_free(Manager *m);

/* calls.c: callers that wait for an operation on a sandbox */
typedef enum SandboxCallKind {
        CALL_CREATE,
        CALL_DELETE,
        CALL_PAUSE,
        CALL_RESUME,
        CALL_STOP,
        CALL_PARK,
        CALL_HOLD,
        CALL_NETWORK, /* claimed; its network is being set up for its new owner */
        _CALL_MAX,
} SandboxCallKind;

int sandbox_call_add(Sandbox *sb, SandboxCallKind kind, SandboxDone done, void *userdata);
void sandbox_call_withdraw(Sandbox *sb, SandboxCallKind kind, void *userdata);
/* Answers all calls of that kind. False: a callback has deleted the sandbox, and it is gone. */
bool sandbox_call_finish(Sandbox *sb, SandboxCallKind kind, const Error *error);
bool sandbox_call_waits(const Sandbox *sb, SandboxCallKind kind); /* whether there is a call of that kind */
void sandbox_calls_free(Sandbox *sb);

/* lifecycle.c */
int sandbox_ask_to_stop(Sandbox *sb, usec_t grace_usec, SandboxActivity activity, ExecutionReason why); /* stops its executions */
void sandbox_serve_waiting(Sandbox *sb); /* begins a pause, stop or hold that was requested during another activity */

/* row.c: a sandbox's row agrees with the answers that callers got */
int sandbox_row_try(Sandbox *sb) _must_check_;                /* before a change that only the row will show after a restart */
void sandbox_row_wrote(Sandbox *sb, int r, const char *what); /* the result of a write; a failed one is retried until it works */
bool sandbox_row_error(const Sandbox *sb, Error *ret);        /* true: a change that was made is not in the store */
void manager_retry_rows(Manager *m);

/* hold.c */
void sandbox_hold_now(Sandbox *sb); /* for a CALL_HOLD that waits */
bool sandbox_hold_on_frozen(Sandbox *sb, bool frozen, const Error *error); /* true: the answer was for a hold or a release */

/* park.c */
void sandbox_boot(Sandbox *sb, SandboxDone done, void *userdata); /* a parked sandbox */
bool sandbox_boot_heard(Sandbox *sb, const Error *error); /* the answer that a boot waits for. False: it is not being booted */
/* Its processes are gone: removes the rest and parks it. -EOPNOTSUPP: it has no disk of its own. */
int sandbox_keep(Sandbox *sb, const char *reason);
void sandbox_on_drained(Sandbox *sb);
bool sandbox_on_unloaded(Sandbox *sb); /* nothing of it is left in the kernel; true: it was being unloaded or parked, and lives on */
void sandbox_shift_give_up(Sandbox *sb); /* it ends: cancels its parking or boot */

/* ending.c: from any live state to its end */
void sandbox_end(Sandbox *sb, SandboxStatus end_status, bool delete, const char *reason);
void sandbox_end_executions(Sandbox *sb, ExecutionReason why); /* those that the provider will not report any more */
int sandbox_delete_row(Sandbox *sb);
void sandbox_ask_to_destroy(Sandbox *sb);
void sandbox_on_destroyed(Manager *m, const char *id, const Error *error);

/* manager.c */
int sandbox_write_down(Sandbox *sb); /* its row, footprint and event, in one transaction */
int sandbox_write_footprint(Sandbox *sb); /* before any of it is made */
int sandbox_proceed(Sandbox *sb, Error *reterr); /* after its row and its disk: prepares the network, then sandbox_make() */
int sandbox_make(Sandbox *sb, Error *reterr); /* after its network is prepared: asks the provider */
int manager_create_pooled(Manager *m, SandboxSpec *spec, Sandbox **ret, Error *reterr); /* without an owner; watch it */

/* execution.c */
Execution *execution_new(Sandbox *sb, uint64_t number);
Execution *execution_free(Execution *x);
void execution_trim(Execution *x); /* cuts its arguments and environment: after PID 1 has the command, and after the end */
void execution_count(Sandbox *sb, int change); /* of the executions that have not ended */
void execution_end(Execution *x, ExecutionReason reason, int exit_code, int signal, const char *message);
void execution_kill(Execution *x, ExecutionReason why);
void execution_tell(Execution *x);
Execution *execution_by_number(Sandbox *sb, uint64_t number);
void execution_on_started(Execution *x, int pid);
void execution_on_failed(Execution *x, const ProviderNotStarted *f);
bool execution_on_exited(Execution *x, const ProviderEnd *e); /* true: its end is in the store, and the provider may forget it */
void execution_written(Execution *x);                         /* its end is in the store: the provider may forget it */
void execution_unfollow(Execution *x);

/* channel.c */
void execution_on_channel(Execution *x, int error, int fds[static _EXECUTION_CHANNEL_MAX]); /* x may be NULL */

/* input.c */
void execution_on_stdin(Execution *x, int error, int fd);
void execution_input_free(Execution *x);

/* journal.c */
int journals_new(Manager *m, Error *reterr);
void journals_free(Manager *m);
int journals_learn(Manager *m, Error *reterr); /* after the rows: which files exist */
void journals_recycle(Sandbox *sb); /* empties or removes the files of a sandbox that is gone */
int journals_sweep(Manager *m);     /* files of unknown executions: removes empty ones and spares, puts others into quarantine */
int journal_remove_stray(Manager *m, const char *name);
bool journal_is_stray(Manager *m, const char *name);
/* The descriptors of a ProviderCommand, which the caller closes. */
int journal_open_files(Execution *x, int fds[static _STREAM_MAX]);
int journal_open(const Execution *x, ExecutionStream stream); /* the file of one that has files (output.h reads it). -ENODATA */
void journal_remove(Execution *x); /* removes its output, or gives its space back */

/* journal-look.c */
uint64_t journal_grant(const Execution *x); /* bytes of one stream that an execution about to begin may keep */
void journal_began(Execution *x);  /* begins to charge it, and to check its growth */
void journal_ended(Execution *x);  /* charges its final size; makes room when all together are too large */
void journal_unlist(Execution *x); /* stops charging it; the files stay */
void journals_charge(Sandbox *sb); /* the sandbox has another owner */

/* probe.c: a command inside that is not an execution; its numbers are above those of all executions */
#define PROBE_NUMBER_FIRST (UINT64_C(1) << 63)
void sandbox_probe_on_exited(Sandbox *sb, const ProviderEnd *e);
void sandbox_probe_on_failed(Sandbox *sb, const ProviderNotStarted *f);
void sandbox_probe_on_frozen(Sandbox *sb);
void sandbox_probe_on_end(Sandbox *sb);
void sandbox_probe_free(Sandbox *sb);

/* timers.c */
int sandbox_arm_timers(Sandbox *sb);
/* A pause stops the timeout: the time that was left then is left after it, also if the calendar is set meanwhile. */
void sandbox_time_stands(Sandbox *sb);  /* right after the status has become paused */
void sandbox_time_goes_on(Sandbox *sb); /* right before the status leaves paused */
void sandbox_timers_free(Sandbox *sb);
int sandbox_retry_later(Sandbox *sb, void (*again)(Sandbox *sb)); /* in a second; replaces a pending retry. sandbox_timers_free() cancels it */
int sandbox_check_cpu_time(Sandbox *sb); /* also arms the next check, if there is a limit and something runs */

/* lifecycle.c: freezes or thaws the sandbox; the answer is frozen() */
int sandbox_freeze(Sandbox *sb, bool freeze, Error *reterr);

/* events.c: the provider's events */
extern const ProviderEvents core_provider_events;
void sandbox_on_ready(Sandbox *sb);

/* reap.c */
void listing_on_listed(Manager *m, const char *id);
void listing_free(Manager *m);

/* trees.c */
void trees_on_item(Manager *m, uint64_t token, const TreeRef *ref, uint64_t bytes);
void trees_on_done(Manager *m, uint64_t token, int wait_status, uint64_t bytes, const Error *error);
void tree_calls_free(Manager *m); /* without calling back */

/* zygote.c */
void zygote_on_done(Manager *m, uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error);
void zygote_calls_free(Manager *m);

/* recover.c */
void recover_start(Manager *m); /* called when the provider is up */
void recovery_free(Manager *m);
void recover_on_listed(Manager *m, const char *id);
void recover_on_adopted(Sandbox *sb, const Error *error);
void recover_on_destroyed(Manager *m, const char *id);
void recover_doubt_over(Manager *m);
