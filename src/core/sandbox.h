/* sandbox.h: one sandbox, as the daemon knows it.
 *
 * Its spec (the request), its record, its executions, and the operations on it. Its state is a status and one
 * activity; every change of either goes through sandbox_move(), which checks the table of status.h, writes the
 * store, and only then notifies observers and watches.
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
#define SANDBOX_EXEC_TIMEOUT_DEFAULT (300 * USEC_PER_SEC) /* unless the create request names one */

typedef struct SandboxLimits {
        uint64_t memory_bytes;
        uint32_t cpu_milli;      /* 0: no quota */
        usec_t cpu_time_usec;    /* of all executions together; 0: none */
        uint64_t disk_bytes;
        uint32_t pids;
        usec_t exec_timeout_usec; /* default of executions; 0: none */
        uint64_t output_bytes;    /* journal of one stream of one execution */
        uint64_t nofile;
} SandboxLimits;

typedef struct SandboxVolume {
        char *name;   /* the caller's name for it */
        char *tree;   /* TREE_VOLUME */
        char *target; /* absolute, normalised */
        bool writable;
} SandboxVolume;

#define SANDBOX_VOLUMES_MAX 8

/* The request for a sandbox, described once: spec.c has the callers' names of the fields, the columns, bounds and
 * kinds. Strings are owned; NULL: not given. */
typedef struct SandboxSpec {
        char *name, *tenant; /* tenant "": none */
        char *template_name, *profile, *agent_type, *task_id;
        SandboxLimits limits;
        Strv env;
        char *workdir;
        uint32_t uid, gid;
        bool sudo;        /* its user may become root inside, by asking PID 1 */
        char *metadata; /* a JSON object, as text */
        char *dialect;  /* private text of the surface that made it; NULL: none */
        bool critical;
        usec_t timeout_usec; /* 0: none */
        OnTimeout on_timeout;
        uint8_t network;  /* NetworkMode of policy/egress.h */
        char *group;      /* isolated: name of the network group, within the tenant */
        char *policy;     /* policy/policy.h, normalised, as JSON text; NULL: none */
        /* Its writable layer is a tree of the depot: it can be copied, parked and restored, and outlives its
         * processes and a restart of the machine. */
        bool persistent;
        char *layer;      /* its TREE_LAYER, hex; NULL: template_name, or base, is one of the spawner's own */
        char *base;       /* the spawner's own template below a template that is only a disk; NULL: template_name */
        char *digest;     /* of the template at the creation; NULL: none */
        char *snapshot;   /* the snapshot that its disk began as; NULL: empty */
        char scratch[SANDBOX_ID_LENGTH + 1]; /* TREE_SCRATCH that its disk begins as, instead; "": none. Not in the store */
        bool takes_scratch; /* no other sandbox needs it: the disk takes it instead of copying */
        char *parent;     /* the sandbox that it was forked from; NULL: none */
        SandboxVolume *volumes;
        size_t n_volumes;
        bool record;      /* its input is recorded, for a replay */
        int hub_fd;       /* isolated, while it is being made: the group's hub, owned by the network keeper; < 0: none yet. Not in the store */
        uint32_t address; /* isolated: 10.213.x.y, host byte order */
        uint64_t said;    /* for shape_is_said(): the fields that the caller has given */
} SandboxSpec;

extern const Shape sandbox_limits_shape, sandbox_spec_shape;
/* The sets of the spec's columns that a sandbox, a snapshot and an agent execution keep. */
#define SPEC_OF_SANDBOX  SHAPE_SET_1
#define SPEC_OF_SNAPSHOT SHAPE_SET_2
#define SPEC_OF_JOB      SHAPE_SET_3
bool sandbox_spec_said(const SandboxSpec *spec, const char *name); /* whether the caller has given this field */

void sandbox_spec_done(SandboxSpec *spec);
int sandbox_spec_add_volume(SandboxSpec *spec, const char *name, const char *tree, const char *target, bool writable); /* -E2BIG */
const char *sandbox_spec_base(const SandboxSpec *spec); /* the spawner's own template that it uses, unless it has a layer */
void sandbox_spec_defaults(SandboxSpec *spec); /* sets the default limits, user and template */
void sandbox_volumes_done(SandboxSpec *spec);
int sandbox_spec_copy(const SandboxSpec *from, SandboxSpec *ret); /* a deep copy, without the hub */

struct Sandbox {
        Manager *manager;
        char id[SANDBOX_ID_LENGTH + 1];
        SandboxSpec spec;
        SandboxStatus status;
        SandboxActivity activity; /* the operation in progress. Not in the store */
        /* With SANDBOX_PAUSED: paused to disk (status.h); a column of its own, because callers see "paused"
         * either way. Keeps its last value when the sandbox ends. */
        bool parked;
        char *reason;           /* why the status is what it is, for a person; may be NULL */
        usec_t created_at, changed_at; /* wall clock, microseconds since 1970 */
        usec_t ready_at;        /* 0: never was */
        usec_t resumed_at;      /* after the last pause; 0: never was paused */
        usec_t ended_at;        /* 0: has not */
        usec_t expires_at;      /* wall clock; 0: never */
        int64_t born;           /* as created_at, by the clock that does not jump; may lie before the machine's boot. Not in the store */
        usec_t heard_at;        /* last answer of its PID 1 to sandbox_verify() (monotonic). Not in the store */
        /* It was terminating when the daemon started with a store in doubt: its end waits until the doubt is
         * over. Not in the store. */
        bool doubted;
        bool unreached;         /* its PID 1 has not answered since the start of the daemon, whose recovery ended without it. Not in the store */
        usec_t claimed_at;      /* claimed from a pool; 0: was made for its caller */
        usec_t end_began_at;    /* wall clock; 0: not terminating. Not in the store */
        int unwritten;          /* 0, or the error of a failed write of its row or of an execution's: see row.c */
        uint64_t guards_missing;
        uint32_t id_base;
        int pid;                /* of PID 1, on the host; 0: none */

        Execution *executions;  /* by id */
        struct Segment *segment; /* segment.h: their output; NULL: no files are known. Not in the store */
        uint64_t last_execution; /* number of the newest */
        unsigned n_alive;       /* executions that have not ended */
        uint64_t operations;    /* executions and file operations so far: shows progress */
        uint64_t oom_seen;      /* the kernel's OOM kills that have been reported */
        usec_t cpu_read_at, cpu_read; /* for cpu_percent: time of the last reading (monotonic), and its value */
        SandboxStatus end_status; /* status after terminating */
        bool end_delete;          /* … or the sandbox is deleted */
        int create_error;         /* negative errno: its creation failed; `reason` has the text */
        usec_t stop_grace_usec;   /* of the last stop request */
        struct SandboxShift *shift; /* park.c: being parked or booted */
        bool pooled;              /* owned by a pool: in no listing, and no caller sees it. Independent of its state */

        /* Traffic through the gate, as reported last; the network keeper (core/network.h) writes and stores them. */
        uint64_t network_tx_bytes, network_rx_bytes, network_requests, network_denied;
        uint64_t network_denials;  /* that were told at once, each thing once in a while. Not in the store */
        char network_denial[160];  /* the last of them, in words */

        /* paused: its memory before the pause, and how much of it the host has reclaimed. Not in the store. */
        uint64_t memory_before, memory_reclaimed;
        usec_t cpu_before_usec; /* CPU time before it was parked */
        usec_t cpu_others_usec; /* CPU time inside that its owner has not used: before it had one, and of health checks */

        struct Enforce *enforce; /* enforce.h; NULL: not read yet. Not in the store */
        void *dialect; /* spec.dialect as parsed by its surface; NULL: not parsed yet. Not in the store */
        void (*dialect_free)(void *dialect);
        struct SandboxProbe *probe; /* in progress; NULL: none */
        bool tallied, tally_pooled; /* how it was counted; only tally.h writes these */
        struct Tally *tally_tenant, *tally_profile;
        Sandbox *ended_prev, *ended_next;

        struct Mask *mask;      /* mask.h: values that it was given; NULL: none */
        bool mask_lost;         /* … which cannot be read: none of its output is shown */

        struct SandboxDisk *disk; /* disk.h: operations in progress; NULL: none. Not in the store */
        void *provider_data;
        struct SandboxTimers *timers;
        struct SandboxWatch *watches;
        struct SandboxCall *calls; /* callers that wait for an operation */
        unsigned n_refs;        /* without the manager's */
        bool gone;
        UT_hash_handle hh;      /* by id */
        PrefixNode prefix;      /* by the beginning of its id */
};

/* A reference keeps the object, not the sandbox. After the sandbox is gone, the object has only its id and an
 * ended status: the functions below that change a sandbox do nothing or refuse, and there is no execution, watch,
 * caller or provider data. */
Sandbox *sandbox_ref(Sandbox *sb);   /* of NULL: NULL */
Sandbox *sandbox_unref(Sandbox *sb); /* NULL */
void sandbox_ref_set(Sandbox **at, Sandbox *sb); /* replaces the reference at `at` */

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

static inline bool sandbox_is_held(const Sandbox *sb) { /* or is being frozen for it, or being released */
        return sb->activity >= ACTIVITY_HOLDING && sb->activity <= ACTIVITY_RELEASING;
}

static inline bool sandbox_is_unloading(const Sandbox *sb) { /* its processes are being removed: to park it, or after a failed boot */
        return sb->activity >= ACTIVITY_DRAINING && sb->activity <= ACTIVITY_SYNCING;
}

static inline bool sandbox_is_booting(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED && (sb->activity == ACTIVITY_BOOTING || sb->activity == ACTIVITY_CONNECTING);
}

static inline bool sandbox_is_stopping(const Sandbox *sb) { /* for good or to be parked */
        return sb->activity == ACTIVITY_STOPPING || sb->activity == ACTIVITY_DRAINING;
}

/* Since when it has had an owner. */
static inline usec_t sandbox_owned_since(const Sandbox *sb) {
        return sb->claimed_at != 0 ? sb->claimed_at : sb->created_at;
}

/* changed() is called after every change of status (x NULL), and after every start and end of an execution. */
typedef struct SandboxWatch {
        void (*changed)(Sandbox *sb, Execution *x, void *userdata);
        void *userdata;
        struct SandboxWatch *prev, *next;
        Sandbox *sandbox;
} SandboxWatch;

void sandbox_watch(Sandbox *sb, SandboxWatch *watch);
void sandbox_unwatch(SandboxWatch *watch); /* also if it never watched */

/* The answer to one of the calls below; exactly once, possibly before the call returns. error NULL: success. After
 * a delete, sb is about to be freed: keep it by a reference only. */
typedef void (*SandboxDone)(Sandbox *sb, const Error *error, void *userdata);

/* -ESTALE: not in a state for it; the text is "… (state: X)". */
void sandbox_pause(Sandbox *sb, SandboxDone done, void *userdata);
void sandbox_resume(Sandbox *sb, SandboxDone done, void *userdata);

/* Parks the sandbox: pauses it to disk, without processes. -EOPNOTSUPP: its disk is not kept. -EBUSY: executions
 * run and end_processes is not set; the text names them. */
typedef struct SandboxParking {
        bool end_processes;
        usec_t grace_usec;    /* between TERM and KILL */
        ExecutionReason why;  /* reason of the ended executions */
        const char *reason;   /* of its status; may be NULL */
} SandboxParking;
void sandbox_park(Sandbox *sb, const SandboxParking *how, SandboxDone done, void *userdata);

/* Freezes the sandbox until sandbox_release(), while its disk is being copied. Its status does not change. The
 * caller must release it, and must handle a sandbox that is gone meanwhile: done is not called then. */
int sandbox_hold(Sandbox *sb, SandboxDone done, void *userdata, Error *reterr);
void sandbox_release(Sandbox *sb);

/* Between these two calls a parked sandbox is not booted, because its disk is being replaced. -EBUSY: another
 * activity is in progress. */
int sandbox_swap_begin(Sandbox *sb);
void sandbox_swap_end(Sandbox *sb); /* also if it was not begun */

void sandbox_stop(Sandbox *sb, usec_t grace_usec, SandboxDone done, void *userdata); /* ends what runs, keeps the disk */
void sandbox_start(Sandbox *sb, SandboxDone done, void *userdata);                   /* after a stop; else does nothing */
/* Ends the sandbox and deletes its record. Without force: -EBUSY while executions are alive. With force: from
 * every state; idempotent. */
void sandbox_delete(Sandbox *sb, bool force, SandboxDone done, void *userdata);
/* Ends the sandbox with end_status (completed, failed, terminated): what runs is killed, and the record stays for
 * a while. Does nothing if it has ended or is ending. */
void sandbox_finish(Sandbox *sb, SandboxStatus end_status, const char *reason);
/* The complete environment of a command of this user, with the values of secrets: secrets_strv_done() frees it. */
int sandbox_environment(Sandbox *sb, uint32_t uid, Strv *ret, Error *reterr);
/* Channels of processes inside that are not executions: PID 1 keeps a copy of the daemon's ends, with a text of the
 * caller, also over a restart of the daemon. fds NULL: it stops keeping them. sandbox_ask_kept() asks for a kept
 * channel by its number, from 0 on; the answer is kept() of the keeper that is registered with the manager, with
 * pid 0 if there is none of that number. The callee takes the descriptors that it wants. */
#define SANDBOX_KEPT_TEXT_MAX 512 /* with its NUL */
typedef struct ChannelKeeper {
        /* Its PID 1 answers only after the recovery is over: kept channels can be asked for. */
        void (*adopted)(Sandbox *sb, void *userdata);
        void (*kept)(Sandbox *sb, unsigned number, int pid, const char *text, int *fds, void *userdata); /* fds: _EXECUTION_CHANNEL_MAX */
        void *userdata;
} ChannelKeeper;
int sandbox_keep_channel(Sandbox *sb, int pid, const int *fds, const char *text);
int sandbox_ask_kept(Sandbox *sb, unsigned number);
/* Work inside that is not an execution has begun (1) or ended (-1): it counts like an execution. */
void sandbox_count_work(Sandbox *sb, int change);
/* Signals a process inside that is not an execution; pid: as seen inside. */
int sandbox_kill_process(Sandbox *sb, int pid, int signal);

/* Counted from now; of a paused sandbox, from its resume. 0: never. */
int sandbox_set_timeout(Sandbox *sb, usec_t timeout_usec, Error *reterr);
/* Replaces spec.dialect, also in the store; on failure it stays as before. */
int sandbox_set_dialect(Sandbox *sb, const char *text, Error *reterr);
void sandbox_dialect_forget(Sandbox *sb); /* frees the parsed dialect: its text has changed */

/* The caller has gone: the done of its calls is not called any more. */
void sandbox_forget_caller(Sandbox *sb, void *userdata);

typedef struct SandboxUsage {
        uint64_t memory_bytes, memory_peak_bytes;
        usec_t cpu_usec;
        double cpu_percent; /* since the last call of sandbox_usage(), or since the start */
        uint64_t pids;
        uint64_t disk_bytes;
        uint64_t network_rx_bytes, network_tx_bytes, network_requests;
        uint64_t io_read_bytes, io_write_bytes;
        uint64_t oom_kills;
        bool has_memory, has_cpu, has_pids, has_disk, has_network, has_io;
} SandboxUsage;

int sandbox_usage(Sandbox *sb, SandboxUsage *ret);
