/* execution.h: one command in a sandbox.
 *
 * Its output goes to journals on disk, written by the sandbox's PID 1 whether the daemon lives or not; a reader
 * starts at any byte of a journal and watches for more. An execution ends exactly once, with a reason.
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
        STREAM_STDOUT, /* of a terminal: all output */
        STREAM_STDERR,
        _STREAM_MAX,
} ExecutionStream;

typedef struct ExecutionSpec {
        Strv args; /* the command and its arguments; a script is { "/bin/sh", "-c", script } */
        Strv env;  /* on top of the sandbox's */
        bool env_is_ours; /* env is the daemon's, not a caller's */
        char *cwd; /* NULL: the sandbox's workdir */
        bool has_user;
        uint32_t uid, gid;
        bool has_timeout;
        usec_t timeout_usec; /* 0: none */
        bool stdin_open;     /* stdin is a pipe; else it is empty */
        bool pty;
        uint16_t columns, rows;
        bool channel;        /* has one: execution_open_channel(); its output is read there and not from journals. Not in the store */
        bool of_template; /* the template's start or ready command (startup.h), not a caller's */
        bool background; /* shown in lists only; the daemon treats all executions alike */
        char *tag;
} ExecutionSpec;

void execution_spec_done(ExecutionSpec *spec);

typedef struct ExecutionJournal {
        uint64_t bytes; /* final when the execution has ended; a process left behind may still append to the file */
        bool truncated;
} ExecutionJournal;

/* The daemon's ends of a channel. PID 1 keeps them; these are copies. */
typedef enum ExecutionChannelEnd {
        EXECUTION_CHANNEL_LINK,
        EXECUTION_CHANNEL_OUT,
        EXECUTION_CHANNEL_ERR,
        _EXECUTION_CHANNEL_MAX,
} ExecutionChannelEnd;
/* Called once. The descriptors are the callee's. error: a positive errno; there are no descriptors then. */
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
        char *message;  /* for a person, unless it ended by itself; may be NULL */
        int pid;        /* inside */
        uint64_t memory_kills; /* the sandbox's count when it, or its current work, began: those are not its own. 0: unknown. Not in the store */
        int cwd_error;  /* positive errno: it never ran, because it could not change to its directory. Not in the store */
        bool unwritten; /* its end is not in the store yet; the provider keeps it until then */
        bool unconfirmed; /* loaded from the store, and its PID 1 has not reported it yet */
        usec_t started_at, ended_at; /* wall clock */
        int64_t born;     /* time of the request, by the clock that does not jump. Not in the store */
        usec_t duration_usec;
        usec_t user_usec, system_usec;
        uint64_t max_rss_bytes;
        ExecutionJournal journals[_STREAM_MAX];
        bool stdin_closed;
        bool journals_gone; /* removed to make room */
        bool has_files;     /* its output is in journals of its own, not in its sandbox's segment. Not in the store */
        struct {
                uint64_t n, first, last; /* records in the index: how many, and the places of two */
                uint64_t bytes[_STREAM_MAX];
        } pieces; /* of its output, as far as the index was read: segment.c's. Not in the store */
        ExecutionReason kill_reason; /* why the daemon has killed it; NONE: it has not */
        bool idle;           /* an interpreter that waits for code: does not count as work of its sandbox. Not in the store */
        ExecutionChannelOpened channel_opened; /* NULL: no request for the channel is pending */
        void *channel_userdata;
        LedgerEntry journal; /* the bytes of its journals: journal.c's */
        Execution *journal_prev, *journal_next; /* list of those that may grow */
        bool journal_grows;  /* in that list */

        struct ExecutionWatch *watches;
        struct ExecutionInput *input;
        void *follow; /* inotify sources of its own journals, while it has followers */
        bool followed; /* … of its sandbox's segment: in that list */
        Execution *followed_prev, *followed_next;
        unsigned n_followers;
        UT_hash_handle hh; /* by id, in its sandbox */
};

/* changed() is called when the execution starts, when it ends, and, with follow, when a journal has grown. */
typedef struct ExecutionWatch {
        void (*changed)(Execution *x, void *userdata);
        void *userdata;
        bool follow;
        struct ExecutionWatch *prev, *next;
        Execution *execution;
} ExecutionWatch;

int execution_watch(Execution *x, ExecutionWatch *watch);
void execution_unwatch(ExecutionWatch *watch); /* also if it never watched */

/* Whether any execution could be started now: 0, -ESTALE, -ENOSPC. For callers that destroy something before the
 * start. */
int execution_check_begin(Sandbox *sb, Error *reterr);

/* Returns at once with a `starting` execution that is in the store and was requested from the provider; watch it
 * for the rest. Takes the spec's contents on success. -ESTALE: the sandbox is not in a state to run anything
 * ("Sandbox not running (state: X)"). -EPERM: the caller may not run commands, or may not use the secrets that the
 * spec's environment names. */
int execution_start(Sandbox *sb, const Principal *who, ExecutionSpec *spec, Execution **ret, Error *reterr);

/* Number of processes of the sandbox that the kernel has killed at the memory limit; 0 when it is not known. */
uint64_t sandbox_memory_kills(Sandbox *sb);
/* Whether there are more kills than `before` that no execution has reported yet; marks them as reported. */
bool sandbox_take_memory_kill(Sandbox *sb, uint64_t before);

static inline bool execution_ended(const Execution *x) {
        return x->status == EXECUTION_EXITED;
}

/* Output for display: without the values that the sandbox was given (mask.h), which the files contain. The caller
 * closes the reader, before the daemon ends. -ENODATA: removed to make room. -EINVAL: the stderr of a terminal.
 * -EKEYREVOKED: the values to hide cannot be read. */
typedef struct OutputReader OutputReader;
int execution_open_output(const Execution *x, ExecutionStream stream, OutputReader **ret);

/* Number of bytes that can be read now; grows while it runs. */
uint64_t execution_output_size(const Execution *x, ExecutionStream stream, OutputReader *output);

/* Like pread(). 0: nothing for now, or the end. */
ssize_t execution_read_output(const Execution *x, ExecutionStream stream, OutputReader *output, void *buffer, size_t size, uint64_t offset);

/* For an execution with a channel, also one that has survived a restart of the daemon. opened is never called from
 * within the call, and not at all after the end: watch the execution. -EBUSY: another request is pending. -ESRCH:
 * it has ended. */
int execution_open_channel(Execution *x, ExecutionChannelOpened opened, void *userdata);
void execution_forget_channel(Execution *x); /* the caller has gone */
void execution_set_idle(Execution *x, bool idle);

/* Signal 9 kills the whole process tree. 1: sent, 0: it has ended already (a result, not an error). */
int execution_signal(Execution *x, int signal);

/* Kills what is left of an execution that is dying. This does not count as cancelled: its end tells what it died
 * of. */
void execution_sweep(Execution *x);
int execution_resize(Execution *x, uint16_t columns, uint16_t rows); /* -ENOTTY */

/* Queues input, up to a ceiling (-ENOBUFS), and writes it as the program reads. done is called once, when the
 * kernel has taken all of it or the program has ended; `written` is the number of bytes that the kernel took. */
typedef void (*ExecutionWritten)(Execution *x, int r, size_t written, void *userdata);
int execution_write(Execution *x, const void *data, size_t size, ExecutionWritten done, void *userdata);
/* Closes stdin after the queued input. Idempotent. 0: has ended or was closed already. */
int execution_close_stdin(Execution *x);
void execution_forget_writer(Execution *x, void *userdata);
