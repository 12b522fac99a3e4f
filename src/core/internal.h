/* internal.h: what the files of the core share among themselves. Nobody else includes it. */
#pragma once

#include "core/manager.h"
#include "core/provider.h"
#include "core/rows.h"

/* sandbox.c: objects and their status */
Sandbox *sandbox_new(Manager *m);
void sandbox_drop(Sandbox *sb); /* it is gone: executions and all, out of every table; the object stays for those who hold a reference */
/* The one way from a state to another. -EPROTO: the table of status.h does not have it, nothing has changed. */
int sandbox_move(Sandbox *sb, SandboxState to, const char *reason);
int sandbox_set_activity(Sandbox *sb, SandboxActivity activity); /* with the status as it is */
int sandbox_read_usage(Sandbox *sb, SandboxUsage *ret); /* as the provider has it, less what was not its owner's */
void sandbox_tell(Sandbox *sb, Execution *x); /* watches */
bool sandbox_can_run(const Sandbox *sb);       /* a command, now */
const char *sandbox_state_text(const Sandbox *sb); /* why it cannot: "stopping", "pausing" or its status */
void sandbox_update_running(Sandbox *sb);     /* ready or running, by what is alive */
void sandbox_register(Sandbox *sb); /* by its id */
int sandbox_register_name(Sandbox *sb);
void manager_forget_name(Manager *m, const SandboxSpec *spec);
void sandbox_event(Sandbox *sb, const char *type, const Execution *x, const char *format, ...) _printf_(4, 5);

/* manager.c */
Sandbox *manager_find_named(Manager *m, const SandboxSpec *spec); /* the one that has the spec's name and is not about to end */

/* acquire.c */
int acquisitions_new(Manager *m);
void acquisitions_free(Manager *m);

/* calls.c: who waits for what */
typedef enum SandboxCallKind {
        CALL_CREATE,
        CALL_DELETE,
        CALL_PAUSE,
        CALL_RESUME,
        CALL_STOP,
        CALL_PARK,
        CALL_HOLD,
        CALL_NETWORK, /* claimed, and its network is not as its new owner wants it yet */
        _CALL_MAX,
} SandboxCallKind;

int sandbox_call_add(Sandbox *sb, SandboxCallKind kind, SandboxDone done, void *userdata);
void sandbox_call_withdraw(Sandbox *sb, SandboxCallKind kind, void *userdata);
/* All of that kind; done may be NULL, then nobody is told. False: one of them has deleted the sandbox, and it is gone. */
bool sandbox_call_finish(Sandbox *sb, SandboxCallKind kind, const Error *error);
bool sandbox_call_waits(const Sandbox *sb, SandboxCallKind kind); /* somebody does */
void sandbox_calls_free(Sandbox *sb);

/* lifecycle.c */
int sandbox_ask_to_stop(Sandbox *sb, usec_t grace_usec, SandboxActivity activity, ExecutionReason why); /* what runs in it */
void sandbox_serve_waiting(Sandbox *sb); /* pause, stop and hold that were asked for while something else was under way */

/* row.c: what its row has is what was answered */
int sandbox_row_try(Sandbox *sb) _must_check_;                /* before anything is done that only its row will tell after a restart */
void sandbox_row_wrote(Sandbox *sb, int r, const char *what); /* what became of the write. One that failed is tried again until it works */
bool sandbox_row_error(const Sandbox *sb, Error *ret);        /* what was done is not written down, in words */
void manager_retry_rows(Manager *m);

/* hold.c */
void sandbox_hold_now(Sandbox *sb); /* somebody waits for it */
bool sandbox_hold_on_frozen(Sandbox *sb, bool frozen, const Error *error); /* true: it was about that */

/* park.c */
void sandbox_boot(Sandbox *sb, SandboxDone done, void *userdata); /* a parked one */
bool sandbox_boot_heard(Sandbox *sb, const Error *error); /* what it waits for is there, or not. False: it is not being started again */
int sandbox_keep(Sandbox *sb, const char *reason); /* its processes are gone: parked, with what is left removed. -EOPNOTSUPP: has no disk of its own */
void sandbox_on_drained(Sandbox *sb);
bool sandbox_on_unloaded(Sandbox *sb); /* nothing of it is left in the kernel; true: that was wanted, and it lives on */
void sandbox_shift_give_up(Sandbox *sb); /* it ends: neither parked nor booted */

/* ending.c: from any live state to its end */
void sandbox_end(Sandbox *sb, SandboxStatus end_status, bool delete, const char *reason);
void sandbox_end_executions(Sandbox *sb, ExecutionReason why); /* those that nobody will see end */
int sandbox_delete_row(Sandbox *sb);
void sandbox_ask_to_destroy(Sandbox *sb);
void sandbox_on_destroyed(Manager *m, const char *id, const Error *error);

/* manager.c */
int sandbox_write_down(Sandbox *sb); /* its row and what follows from it, in one transaction */
int sandbox_write_footprint(Sandbox *sb); /* before any of it is made */
int sandbox_proceed(Sandbox *sb, Error *reterr); /* its row is there, and its disk: the network, and what follows */
int sandbox_make(Sandbox *sb, Error *reterr); /* its row is there, and its network prepared: asks the provider */
int manager_create_pooled(Manager *m, SandboxSpec *spec, Sandbox **ret, Error *reterr); /* for nobody yet; watch it */

/* execution.c */
Execution *execution_new(Sandbox *sb, uint64_t number);
Execution *execution_free(Execution *x);
void execution_trim(Execution *x); /* when PID 1 has its command, and when it has ended */
void execution_count(Sandbox *sb, int change); /* of those that have not ended */
void execution_end(Execution *x, ExecutionReason reason, int exit_code, int signal, const char *message);
void execution_kill(Execution *x, ExecutionReason why);
void execution_tell(Execution *x);
Execution *execution_by_number(Sandbox *sb, uint64_t number);
void execution_on_started(Execution *x, int pid);
void execution_on_failed(Execution *x, const ProviderNotStarted *f);
bool execution_on_exited(Execution *x, const ProviderEnd *e); /* whether it is in the store; then the provider may forget it */
void execution_written(Execution *x);                         /* its end is in the store: nobody else need remember it */
void execution_unfollow(Execution *x);

/* channel.c */
void execution_on_channel(Execution *x, int error, int fds[static _EXECUTION_CHANNEL_MAX]); /* x may be NULL */

/* input.c */
void execution_on_stdin(Execution *x, int error, int fd);
void execution_input_free(Execution *x);

/* journal.c */
int journals_new(Manager *m, Error *reterr);
void journals_free(Manager *m);
void journals_recycle(Sandbox *sb); /* all of a sandbox that is gone */
int journals_sweep(Manager *m);     /* what belongs to no execution that we know: goes where it says nothing, else quarantine.h */
int journal_remove_stray(Manager *m, const char *name);
int journal_create(const Execution *x, ExecutionStream stream);
/* As it is, with what must not be shown: execution.h has what can be. Errors are those of execution_open_output(). */
int journal_open(const Execution *x, ExecutionStream stream);
uint64_t journal_size(const Execution *x, ExecutionStream stream, int journal_fd);
bool journal_is_stray(Manager *m, const char *name);
uint64_t journal_grant(const Execution *x); /* how much of one stream may be kept of one that is about to begin */
void journal_began(Execution *x);  /* counts, and is looked at while it grows */
void journal_ended(Execution *x);  /* counts what is there; makes room when there is too much */
void journal_unlist(Execution *x); /* does not count any more; the files stay */
void journal_remove(Execution *x); /* both files too */
void journals_charge(Sandbox *sb); /* it belongs to somebody else */

/* probe.c: a command inside that is no execution; its numbers are beyond all of theirs */
#define PROBE_NUMBER_FIRST (UINT64_C(1) << 63)
void sandbox_probe_on_exited(Sandbox *sb, const ProviderEnd *e);
void sandbox_probe_on_failed(Sandbox *sb, const ProviderNotStarted *f);
void sandbox_probe_on_frozen(Sandbox *sb);
void sandbox_probe_on_end(Sandbox *sb);
void sandbox_probe_free(Sandbox *sb);

/* timers.c */
int sandbox_arm_timers(Sandbox *sb);
/* It was paused: what was left of its time then, is left now, whatever the calendar says meanwhile. Before its status changes. */
void sandbox_time_stands(Sandbox *sb); /* it has just been paused: what is left of its time stays, whatever the calendar says */
void sandbox_time_goes_on(Sandbox *sb);
void sandbox_timers_free(Sandbox *sb);
int sandbox_retry_later(Sandbox *sb, void (*again)(Sandbox *sb)); /* in a second; one thing at a time. Its end, and who takes its processes down, forget it */
int sandbox_check_cpu_time(Sandbox *sb); /* arms the next look, if there is a limit and something runs */

/* lifecycle.c: the sandbox stands still, or goes on: frozen() */
int sandbox_freeze(Sandbox *sb, bool freeze, Error *reterr);

/* events.c: what a provider tells */
extern const ProviderEvents core_provider_events;
void sandbox_on_ready(Sandbox *sb);

/* reap.c */
void listing_on_listed(Manager *m, const char *id);
void listing_free(Manager *m);

/* trees.c */
void trees_on_item(Manager *m, uint64_t token, const TreeRef *ref, uint64_t bytes);
void trees_on_done(Manager *m, uint64_t token, int wait_status, uint64_t bytes, const Error *error);
void tree_calls_free(Manager *m); /* nobody is told any more */

/* zygote.c */
void zygote_on_done(Manager *m, uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error);
void zygote_calls_free(Manager *m);

/* recover.c */
void recover_start(Manager *m); /* when the provider is up */
void recovery_free(Manager *m);
void recover_on_listed(Manager *m, const char *id);
void recover_on_adopted(Sandbox *sb, const Error *error);
void recover_on_destroyed(Manager *m, const char *id);
