/* execution.h: one command in a sandbox.
 *
 * Its output goes to journals on disk, written by the sandbox's PID 1 whether the daemon lives or not; a reader takes the
 * journal from any byte and watches for more. Exactly one end, with its reason.
 * Must not know: HTTP, JSON, pipes inside. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "core/access.h"
#include "core/ledger-entry.h"
#include "core/sandbox.h"

#define EXECUTION_ID_MAX 24 /* "e" and a number */

typedef enum ExecutionStream {
        STREAM_STDOUT, /* of a terminal: everything */
        STREAM_STDERR,
        _STREAM_MAX,
} ExecutionStream;

typedef struct ExecutionSpec {
        Strv args; /* the command and its arguments; a script is { "/bin/sh", "-c", script } */
        Strv env;  /* on top of the sandbox's */
        bool env_is_ours; /* the daemon's own words, and no caller's */
        char *cwd; /* NULL: the sandbox's workdir */
        bool has_user;
        uint32_t uid, gid;
        bool has_timeout;
        usec_t timeout_usec; /* 0: none */
        bool stdin_open;     /* a pipe; else it reads nothing */
        bool pty;
        uint16_t columns, rows;
        bool channel;        /* has one: execution_open_channel(); what it prints is read there and not from journals. Not in the store */
        bool of_template; /* what a sandbox of it starts with (startup.h): no caller has asked for it */
        bool background; /* told to people who list; the daemon treats all alike */
        char *tag;
} ExecutionSpec;

void execution_spec_done(ExecutionSpec *spec);

typedef struct ExecutionJournal {
        uint64_t bytes; /* final, when the execution has ended; a process left behind may still add to the file */
        bool truncated;
} ExecutionJournal;

/* What PID 1 keeps of the channel, copied: descriptors that are the callee's. error: positive errno, and there are none. Once. */
typedef enum ExecutionChannelEnd {
        EXECUTION_CHANNEL_LINK,
        EXECUTION_CHANNEL_OUT,
        EXECUTION_CHANNEL_ERR,
        _EXECUTION_CHANNEL_MAX,
} ExecutionChannelEnd;
typedef void (*ExecutionChannelOpened)(Execution *x, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata);

struct Execution {
        Sandbox *sandbox;
        uint64_t number;
        char id[EXECUTION_ID_MAX];
        ExecutionSpec spec;
        ExecutionStatus status;
        ExecutionReason reason;
        int exit_code;  /* -1: none, because a signal ended it. 124, 126, 127 for the reasons that have them */
        int signal;     /* 0: none */
        char *message;  /* for a person, when it was not its own end; may be NULL */
        int pid;        /* inside */
        uint64_t memory_kills; /* of its sandbox when it began, or what it does now did: none of its own. 0: not looked at. Not in the store */
        int cwd_error;  /* positive errno: it never ran, because it could not begin in its directory. Not in the store */
        bool unwritten; /* its end: the provider keeps it until it is */
        bool unconfirmed; /* from the store, and its PID 1 has not been heard of it yet */
        usec_t started_at, ended_at; /* wall clock */
        int64_t born;     /* when it was asked for, by the clock that does not jump. Not in the store */
        usec_t duration_usec;
        usec_t user_usec, system_usec;
        uint64_t max_rss_bytes;
        ExecutionJournal journals[_STREAM_MAX];
        bool stdin_closed;
        bool journals_gone; /* removed to make room */
        ExecutionReason kill_reason; /* why we have killed it, if we have: its signal is our doing */
        bool idle;           /* an interpreter that waits for code: no work, as far as its sandbox is concerned. Not in the store */
        ExecutionChannelOpened channel_opened; /* NULL: nobody has asked */
        void *channel_userdata;
        LedgerEntry journal; /* what its journals hold: journal.c's */
        Execution *journal_prev, *journal_next; /* of those that may grow */
        bool journal_grows;  /* in that list */

        struct ExecutionWatch *watches;
        struct ExecutionInput *input;
        void *follow; /* inotify sources, while somebody follows */
        unsigned n_followers;
        UT_hash_handle hh; /* by id, in its sandbox */
};

/* Told when it starts, when it ends, and, while it follows, when a journal has grown. */
typedef struct ExecutionWatch {
        void (*changed)(Execution *x, void *userdata);
        void *userdata;
        bool follow;
        struct ExecutionWatch *prev, *next;
        Execution *execution;
} ExecutionWatch;

int execution_watch(Execution *x, ExecutionWatch *watch);
void execution_unwatch(ExecutionWatch *watch); /* also when it never watched */

/* Whether one could be started now, whatever it is: 0, -ESTALE, -ENOSPC. For those who have something to lose before they start it. */
int execution_check_begin(Sandbox *sb, Error *reterr);

/* Returns at once with a `starting` execution that is in the store and asked for; watch it for the rest. Takes the spec's
 * contents on success. -ESTALE: the sandbox is not in a state to run anything ("Sandbox not running (state: X)"). -EPERM: who may not run commands, or
 * not give it the secrets that the spec's environment names. */
int execution_start(Sandbox *sb, const Principal *who, ExecutionSpec *spec, Execution **ret, Error *reterr);

/* What the kernel has killed of the sandbox at its memory limit so far; 0 when it cannot be known. */
uint64_t sandbox_memory_kills(Sandbox *sb);
/* Whether it has killed more than `before`, and that has not been told yet. */
bool sandbox_take_memory_kill(Sandbox *sb, uint64_t before);

static inline bool execution_ended(const Execution *x) {
        return x->status == EXECUTION_EXITED;
}

/* What it has written, for whoever shows it: without the values that its sandbox was given (mask.h), which the journal has.
 * A descriptor of the journal, for the two below and for mask_pread(); the caller closes it. -ENODATA: removed to make room. -EINVAL:
 * the stderr of a terminal. -EKEYREVOKED: what has to be hidden is not known. */
int execution_open_output(const Execution *x, ExecutionStream stream);

/* What can be read now. While it runs this grows. */
uint64_t execution_output_size(const Execution *x, ExecutionStream stream, int output_fd);

/* Like pread(). 0: nothing for now, or the end. */
ssize_t execution_read_output(const Execution *x, ExecutionStream stream, int output_fd, void *buffer, size_t size, uint64_t offset);

/* Of one that has a channel; also of one that has outlived a restart. Not called from within; not at all when it has ended: watch it. One asker at a time: -EBUSY. */
int execution_open_channel(Execution *x, ExecutionChannelOpened opened, void *userdata);
void execution_forget_channel(Execution *x); /* the asker has gone */
void execution_set_idle(Execution *x, bool idle);

/* signal 9 kills the whole tree. 1: sent, 0: it has ended already (which is an answer, not an error). */
int execution_signal(Execution *x, int signal);

/* Kills what is left of one that is seen to be dying. That is nobody's request, and its end tells what it died of. */
void execution_sweep(Execution *x);
int execution_resize(Execution *x, uint16_t columns, uint16_t rows); /* -ENOTTY */

/* Input is queued up to a ceiling and written as the program reads. done is called once, when all of it has been taken by the
 * kernel, or the program has ended: written tells how much was. */
typedef void (*ExecutionWritten)(Execution *x, int r, size_t written, void *userdata);
int execution_write(Execution *x, const void *data, size_t size, ExecutionWritten done, void *userdata);
/* After what is queued. Idempotent. 0: has ended or was closed already. */
int execution_close_stdin(Execution *x);
void execution_forget_writer(Execution *x, void *userdata);
