/* sandbox.h: one sandbox, as the daemon knows it.
 *
 * The record of what was asked for and what has become of it, its executions, and what can be done with it. Its state is a status and one
 * activity; every change of either goes through sandbox_move(), which asks the table of status.h, writes the store, and only then tells.
 * Must not know: HTTP, JSON beyond carrying a caller's metadata, namespaces, SQL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/shape.h"
#include "base/strv.h"
#include "core/prefix.h"
#include "core/status.h"

typedef struct Manager Manager;
typedef struct Execution Execution;
typedef struct Sandbox Sandbox;

#define SANDBOX_ID_LENGTH  ID_LENGTH
#define SANDBOX_NAME_MAX   63 /* [a-z0-9] and "-", "_", "." inside; begins with a letter or digit */
#define SANDBOX_ENV_MAX    1024
#define SANDBOX_TEXT_MAX   256   /* agent type, task id, profile, tag */
#define SANDBOX_METADATA_MAX 16384
#define SANDBOX_EXEC_TIMEOUT_DEFAULT (300 * USEC_PER_SEC) /* where a creator says nothing */

typedef struct SandboxLimits {
        uint64_t memory_bytes;
        uint32_t cpu_milli;      /* 0: no quota */
        usec_t cpu_time_usec;    /* of all executions together; 0: none */
        uint64_t disk_bytes;
        uint32_t pids;
        usec_t exec_timeout_usec; /* of an execution that names none; 0: none */
        uint64_t output_bytes;    /* journal of one stream of one execution */
        uint64_t nofile;
} SandboxLimits;

typedef struct SandboxVolume {
        char *name;   /* as the caller calls it */
        char *tree;   /* TREE_VOLUME */
        char *target; /* absolute, normalised */
        bool writable;
} SandboxVolume;

#define SANDBOX_VOLUMES_MAX 8

/* What was asked for, described once: spec.c has the names that callers use, the columns, bounds and kinds. Strings are owned; NULL where nothing was
 * said. */
typedef struct SandboxSpec {
        char *name, *tenant; /* tenant "": none */
        char *template_name, *profile, *agent_type, *task_id;
        SandboxLimits limits;
        Strv env;
        char *workdir;
        uint32_t uid, gid;
        bool sudo;        /* its user may become root inside, by asking PID 1 */
        char *metadata; /* a JSON object, as text */
        char *dialect;  /* what the surface by which it was made must remember of it: its own text, which nobody else reads; NULL: nothing */
        bool critical;
        usec_t timeout_usec; /* 0: none */
        OnTimeout on_timeout;
        uint8_t network;  /* NetworkMode of policy/egress.h */
        char *group;      /* isolated: with whom; within the tenant */
        char *policy;     /* policy/policy.h, normalised, as JSON text; NULL: none */
        bool persistent;  /* its writable layer is a tree of the depot: it can be copied, parked, restored; outlives processes and the machine's restart */
        char *layer;      /* TREE_LAYER that it stands on, hex; NULL: template_name, or base, is one of the spawner's own */
        char *base;       /* the spawner's own template below one that is a disk only; NULL: template_name */
        char *digest;     /* of the template, as it was then; NULL: none */
        char *snapshot;   /* the snapshot that its disk began as; NULL: empty */
        char scratch[SANDBOX_ID_LENGTH + 1]; /* TREE_SCRATCH that its disk begins as, instead; "": none. Not in the store */
        bool takes_scratch; /* which nobody else needs */
        char *parent;     /* the sandbox that it was forked from; NULL: none */
        SandboxVolume *volumes;
        size_t n_volumes;
        bool record;      /* what is put in is kept, for a replay */
        int hub_fd;       /* isolated, while it is being made: the group's hub; < 0: there is none yet. Its keeper's. Not in the store */
        uint32_t address; /* isolated: 10.213.x.y, host byte order */
        uint64_t said;    /* shape_is_said(): what a caller has given */
} SandboxSpec;

extern const Shape sandbox_limits_shape, sandbox_spec_shape;
/* Of the spec's columns, those that a sandbox keeps as asked for, what a snapshot and an agent execution keep of it. */
#define SPEC_OF_SANDBOX  SHAPE_SET_1
#define SPEC_OF_SNAPSHOT SHAPE_SET_2
#define SPEC_OF_JOB      SHAPE_SET_3
bool sandbox_spec_said(const SandboxSpec *spec, const char *name); /* whether a caller has given it */

void sandbox_spec_done(SandboxSpec *spec);
int sandbox_spec_add_volume(SandboxSpec *spec, const char *name, const char *tree, const char *target, bool writable); /* -E2BIG */
const char *sandbox_spec_base(const SandboxSpec *spec); /* the spawner's own template that it stands on, unless it has a layer */
void sandbox_spec_defaults(SandboxSpec *spec); /* limits, user, template: what a caller who says nothing gets */
void sandbox_volumes_done(SandboxSpec *spec);
int sandbox_spec_copy(const SandboxSpec *from, SandboxSpec *ret); /* with everything it owns; the hub is not lent on */

struct Sandbox {
        Manager *manager;
        char id[SANDBOX_ID_LENGTH + 1];
        SandboxSpec spec;
        SandboxStatus status;
        SandboxActivity activity; /* what is under way with it. Not in the store */
        bool parked;            /* with SANDBOX_PAUSED: which kind of it (status.h), in a column of its own because callers see "paused" either way. Stays when
                                 * it ends, as what it was then */
        char *reason;           /* why the status is what it is, for a person; may be NULL */
        usec_t created_at, changed_at; /* wall clock, microseconds since 1970 */
        usec_t ready_at;        /* 0: never was */
        usec_t resumed_at;      /* after the last pause; 0: never was paused */
        usec_t ended_at;        /* 0: has not */
        usec_t expires_at;      /* wall clock; 0: never */
        int64_t born;           /* as created_at, by the clock that does not jump; may lie before the machine's start. Not in the store */
        usec_t heard_at;        /* when its PID 1 answered the last question whether it is there (monotonic). Not in the store */
        bool doubted;           /* its end was under way when the daemon began, and the store was in doubt: it waits until that is over. Not in the store */
        bool unreached;         /* its PID 1 has not answered since the daemon's start, which did not wait for it any longer. Not in the store */
        usec_t claimed_at;      /* out of a pool; 0: was made for its caller */
        usec_t end_began_at;    /* wall clock; 0: not terminating. Not in the store */
        int unwritten;          /* 0, or why its row, or that of one of its executions, is not what it should be: see row.c */
        uint64_t guards_missing;
        uint32_t id_base;
        int pid;                /* of PID 1, on the host; 0: none */

        Execution *executions;  /* by id */
        uint64_t last_execution; /* number of the newest */
        unsigned n_alive;       /* executions that have not ended */
        uint64_t operations;    /* executions and file operations so far: shows progress */
        uint64_t oom_seen;      /* kernel's kills that have been told already */
        usec_t cpu_read_at, cpu_read; /* for cpu_percent: when it was asked last (monotonic), and the answer */
        SandboxStatus end_status; /* what terminating leads to */
        bool end_delete;          /* … or to nothing at all */
        int create_error;         /* negative errno: it never came to be, and the reason says why */
        usec_t stop_grace_usec;   /* of the stop that was asked for last */
        struct SandboxShift *shift; /* being parked or booted: park.c's notes */
        bool pooled;              /* belongs to a pool and to nobody else: in no list, for no caller. A matter of ownership, in any state */

        /* Through the gate, as it has told last: core/network.h's keeper writes and stores them. */
        uint64_t network_tx_bytes, network_rx_bytes, network_requests, network_denied;
        uint64_t network_denials;  /* that were told at once, each thing once in a while. Not in the store */
        char network_denial[160];  /* the last of them, in words */

        uint64_t memory_before, memory_reclaimed; /* paused: what it held, and how much of that the host has back. Not in the store */
        usec_t cpu_before_usec; /* CPU time of former lives, before it was parked */
        usec_t cpu_others_usec; /* CPU time inside that is not its owner's: before it had one, and of looking after it */

        struct Enforce *enforce; /* enforce.h; NULL: not read yet. Not in the store */
        void *dialect; /* spec.dialect as its surface has read it; NULL: not read yet. Not in the store */
        void (*dialect_free)(void *dialect);
        struct SandboxProbe *probe; /* under way */
        bool tallied, tally_pooled; /* as it was counted: tally.h, which alone writes these */
        struct Tally *tally_tenant, *tally_profile;
        Sandbox *ended_prev, *ended_next;

        struct Mask *mask;      /* mask.h: values that it was given; NULL: none */
        bool mask_lost;         /* … which cannot be read: nothing that it prints is shown */

        struct SandboxDisk *disk; /* disk.h: what is under way with it; NULL: nothing. Not in the store */
        void *provider_data;
        struct SandboxTimers *timers;
        struct SandboxWatch *watches;
        struct SandboxCall *calls; /* who waits for something to be done */
        unsigned n_refs;        /* of those who keep it, beside the manager */
        bool gone;
        UT_hash_handle hh;      /* by id */
        PrefixNode prefix;      /* by its beginning */
};

/* A reference keeps the object, not the sandbox. When the sandbox is gone, only its id is left in the object, with a status that has ended: the functions below that
 * change a sandbox then do nothing or refuse, and there is no execution, watch, caller or provider data. */
Sandbox *sandbox_ref(Sandbox *sb);   /* of NULL: NULL */
Sandbox *sandbox_unref(Sandbox *sb); /* NULL */
void sandbox_ref_set(Sandbox **at, Sandbox *sb); /* in place of the one before */

static inline bool sandbox_is_gone(const Sandbox *sb) {
        return sb->gone;
}

static inline Sandbox *sandbox_unless_gone(Sandbox *sb) { /* of NULL: NULL */
        return sb && !sb->gone ? sb : NULL;
}

static inline SandboxState sandbox_state(const Sandbox *sb) {
        return (SandboxState) { .status = sb->status, .parked = sb->parked, .activity = sb->activity };
}

static inline bool sandbox_is_up(const Sandbox *sb) {
        return sb->status == SANDBOX_READY || sb->status == SANDBOX_RUNNING;
}

static inline bool sandbox_is_ending(const Sandbox *sb) { /* or has ended */
        return sb->status >= SANDBOX_TERMINATING;
}

static inline bool sandbox_is_held(const Sandbox *sb) { /* or is about to be, or to be released */
        return sb->activity >= ACTIVITY_HOLDING && sb->activity <= ACTIVITY_RELEASING;
}

static inline bool sandbox_is_unloading(const Sandbox *sb) { /* loses its processes: to be parked, or after a boot that failed */
        return sb->activity >= ACTIVITY_DRAINING && sb->activity <= ACTIVITY_SYNCING;
}

static inline bool sandbox_is_booting(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED && (sb->activity == ACTIVITY_BOOTING || sb->activity == ACTIVITY_CONNECTING);
}

static inline bool sandbox_is_stopping(const Sandbox *sb) { /* for good or to be parked */
        return sb->activity == ACTIVITY_STOPPING || sb->activity == ACTIVITY_DRAINING;
}

/* Since when it belongs to somebody. */
static inline usec_t sandbox_owned_since(const Sandbox *sb) {
        return sb->claimed_at != 0 ? sb->claimed_at : sb->created_at;
}

/* Told after every change of status and after every start and end of an execution (then with it). */
typedef struct SandboxWatch {
        void (*changed)(Sandbox *sb, Execution *x, void *userdata);
        void *userdata;
        struct SandboxWatch *prev, *next;
        Sandbox *sandbox;
} SandboxWatch;

void sandbox_watch(Sandbox *sb, SandboxWatch *watch);
void sandbox_unwatch(SandboxWatch *watch); /* also when it never watched */

/* The answer to one of the calls below; exactly once, possibly before the call returns. error is NULL when it went well. After
 * a delete sb is about to go: keep it by a reference only. */
typedef void (*SandboxDone)(Sandbox *sb, const Error *error, void *userdata);

/* -ESTALE: not in a state for it; the error's text says "… (state: X)". */
void sandbox_pause(Sandbox *sb, SandboxDone done, void *userdata);
void sandbox_resume(Sandbox *sb, SandboxDone done, void *userdata);

/* Paused with nothing but its disk (parked). -EOPNOTSUPP: its disk is not kept. -EBUSY: something runs in it and shall not be ended; the text names it. */
typedef struct SandboxParking {
        bool end_processes;
        usec_t grace_usec;    /* between asking them to end and ending them */
        ExecutionReason why;  /* what is said of them */
        const char *reason;   /* of its status; may be NULL */
} SandboxParking;
void sandbox_park(Sandbox *sb, const SandboxParking *how, SandboxDone done, void *userdata);

/* Everything in it stands still until sandbox_release(), for the moment that a copy of its disk takes. Its status stays. Who calls must come back, and must
 * cope with a sandbox that has gone meanwhile: done is not called then. */
int sandbox_hold(Sandbox *sb, SandboxDone done, void *userdata, Error *reterr);
void sandbox_release(Sandbox *sb);

/* A parked sandbox is not booted between the two: its disk becomes another one. -EBUSY: something else is under way. */
int sandbox_swap_begin(Sandbox *sb);
void sandbox_swap_end(Sandbox *sb); /* also if it was not begun */

void sandbox_stop(Sandbox *sb, usec_t grace_usec, SandboxDone done, void *userdata); /* ends what runs, keeps the disk */
void sandbox_start(Sandbox *sb, SandboxDone done, void *userdata);                   /* after a stop; else does nothing */
/* Ends it and forgets it. Not forced: refused while executions are alive (-EBUSY). Forced: from every state; twice is once. */
void sandbox_delete(Sandbox *sb, bool force, SandboxDone done, void *userdata);
/* Its work is done, well or not (completed, failed, terminated): it ends, what runs is killed, and its record stays for a while. Does
 * nothing to one that has ended or is about to. */
void sandbox_finish(Sandbox *sb, SandboxStatus end_status, const char *reason);
/* What a command of this user has around it, secrets and all: secrets_strv_done() frees it. */
int sandbox_environment(Sandbox *sb, uint32_t uid, Strv *ret, Error *reterr);
/* The other end of a channel that a process inside has which is no execution: PID 1 keeps a copy of it, with words of the caller's, also after a restart of ours. fds NULL: not any more.
 * What is kept is asked for by number, from 0 on, and told to whoever has hung itself into the manager; pid 0: there is none of that number. Who wants the descriptors takes them. */
#define SANDBOX_KEPT_TEXT_MAX 512 /* with its NUL */
typedef struct ChannelKeeper {
        void (*adopted)(Sandbox *sb, void *userdata);                                                    /* its PID 1 answers, after a start that did not wait for it: what it keeps can be asked for */
        void (*kept)(Sandbox *sb, unsigned number, int pid, const char *text, int *fds, void *userdata); /* as many as a channel of an execution has */
        void *userdata;
} ChannelKeeper;
int sandbox_keep_channel(Sandbox *sb, int pid, const int *fds, const char *text);
int sandbox_ask_kept(Sandbox *sb, unsigned number);
/* Work inside that is no execution has begun (1) or ended (-1): it counts like one. */
void sandbox_count_work(Sandbox *sb, int change);
/* A process inside that is no execution, by its number there. */
int sandbox_kill_process(Sandbox *sb, int pid, int signal);

/* From now on; 0: never. */
int sandbox_set_timeout(Sandbox *sb, usec_t timeout_usec, Error *reterr);
/* Its surface has something else to remember. Also to the store; on failure it is as before. */
int sandbox_set_dialect(Sandbox *sb, const char *text, Error *reterr);
void sandbox_dialect_forget(Sandbox *sb); /* its text is another one now */

/* A call whose asker has gone: its done function is not called any more. */
void sandbox_forget_caller(Sandbox *sb, void *userdata);

typedef struct SandboxUsage {
        uint64_t memory_bytes, memory_peak_bytes;
        usec_t cpu_usec;
        double cpu_percent; /* since the last time somebody asked, or since the start */
        uint64_t pids;
        uint64_t disk_bytes;
        uint64_t network_rx_bytes, network_tx_bytes, network_requests;
        uint64_t io_read_bytes, io_write_bytes;
        uint64_t oom_kills;
        bool has_memory, has_cpu, has_pids, has_disk, has_network, has_io;
} SandboxUsage;

int sandbox_usage(Sandbox *sb, SandboxUsage *ret);
