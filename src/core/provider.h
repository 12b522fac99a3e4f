/* provider.h: the contract between the core and a provider, which makes sandboxes.
 *
 * The core calls ProviderOps, which every provider implements completely, and the capability tables, of which a
 * provider has some. The provider answers by ProviderEvents, never from within the call that asked. A call that
 * fails at once returns a negative errno, and no event follows.
 * The types are the core's own. No call returns a descriptor that a provider on a remote machine could not imitate:
 * segments and journals are files of the daemon that the provider writes to, input is any writable descriptor, and a file is
 * read through a descriptor of a regular file.
 * A provider must not know: the store, rules about states, who asked. */
#pragma once

#include "core/execution.h"
#include "core/fileop.h"
#include "core/sandbox.h"
#include "core/trees.h"

typedef struct Provider Provider;

/* A command. All members are borrowed for the call. */
typedef struct ProviderCommand {
        uint64_t number; /* chosen by the core, never used twice in a sandbox */
        const char *cwd;
        const Strv *args, *env; /* env: complete, with the values of secrets: wipe copies */
        uint32_t uid, gid;
        usec_t timeout_usec; /* 0: none. The provider kills it, whether the daemon lives or not */
        uint64_t output_max; /* bytes per stream; more is read and dropped */
        uint64_t nofile;
        bool stdin_open; /* stdin is a pipe until stdin_close(); else it is empty */
        bool stay;       /* more commands will follow: the provider may keep ready what it needs to run one */
        bool pty;        /* PROVIDER_PTY; all output goes to the first journal */
        uint16_t columns, rows;
        bool channel;    /* PROVIDER_CHANNELS: descriptor 3 is one end of a stream socket; nothing goes into the journals */
        bool segment;    /* the output goes to the sandbox's segment (base/segment.h), else to journals of its own */
        /* Duplicated by the provider. Journals: of stdout and stderr, open for appending; pty: the second is -EBADF.
         * Segment: data, and index, which is open for appending; both -EBADF if the provider has them. */
        int journals[_STREAM_MAX];
} ProviderCommand;

typedef enum ProviderSegment {
        PROVIDER_SEGMENT_NEVER,  /* what writes the output of this sandbox knows no segments */
        PROVIDER_SEGMENT_WANTED, /* the next command must bring it */
        PROVIDER_SEGMENT_KEPT,
} ProviderSegment;

typedef enum ProviderFailure {
        PROVIDER_FAILURE_OTHER,   /* neither of the following */
        PROVIDER_FAILURE_COMMAND, /* the program is missing or not executable */
        PROVIDER_FAILURE_WORKDIR, /* cwd cannot be entered */
} ProviderFailure;

/* A command that never ran. */
typedef struct ProviderNotStarted {
        uint64_t number;
        ProviderFailure kind;
        int error;          /* positive errno */
        const char *step;   /* the step that failed, for a person */
        const char *detail; /* the object that it failed for; may be "" */
} ProviderNotStarted;

/* The end of a command that ran. */
typedef struct ProviderEnd {
        uint64_t number;
        int exit_code; /* -1: a signal ended it */
        int signal;    /* 0: none */
        bool timed_out; /* timeout_usec */
        bool disk_full;
        ExecutionJournal journals[_STREAM_MAX]; /* at the end; a process left behind may append to them */
        usec_t wall_usec, user_usec, system_usec;
        uint64_t max_rss_bytes;
} ProviderEnd;

typedef struct ProviderEvents {
        /* It can serve requests. Called again after it was down: it repeats the pending requests itself, or
         * reports them as failed. */
        void (*up)(Provider *p, void *userdata);
        /* The process that makes sandboxes does not answer: none can be made meanwhile. */
        void (*silent)(const char *who, usec_t usec /* 0: it answers again */, void *userdata);
        void (*created)(Sandbox *sb, int pid /* of its first process on this host; 0: elsewhere */, uint32_t id_base, uint64_t guards_missing, const Error *error,
                        void *userdata);
        void (*gone)(Sandbox *sb, void *userdata); /* its processes have ended, by themselves or on request */
        void (*destroyed)(const char *id, const Error *error, void *userdata); /* nothing of it is left */
        void (*stopped)(Sandbox *sb, void *userdata);
        /* After exec_started/exec_exited for all commands that it knows; error: it is gone. */
        void (*adopted)(Sandbox *sb, const Error *error, void *userdata);
        void (*listed)(const char *id, void *userdata); /* NULL: the end of the list */
        void (*exec_started)(Sandbox *sb, uint64_t number, int pid, void *userdata);
        void (*exec_failed)(Sandbox *sb, const ProviderNotStarted *f, void *userdata);
        void (*exec_exited)(Sandbox *sb, const ProviderEnd *e, void *userdata); /* once; repeated after a restart of the daemon, until forget() */
        void (*exec_stdin)(Sandbox *sb, uint64_t number, int error, int fd, void *userdata); /* fd is the callee's to close */
        /* Of the capabilities. */
        void (*frozen)(Sandbox *sb, bool frozen, const Error *error, void *userdata);
        void (*reclaimed)(Sandbox *sb, const Error *error, void *userdata);
        void (*network)(Sandbox *sb, int error, uint8_t shape /* SpawnNetwork */, const int *fds, size_t n_fds, void *userdata); /* fds are the callee's to close */
        void (*socket)(Sandbox *sb, uint64_t token, int error, int fd, void *userdata); /* likewise */
        void (*exec_channel)(Sandbox *sb, uint64_t number, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata); /* likewise */
        void (*kept)(Sandbox *sb, unsigned number, int pid, const char *text, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata); /* likewise; pid 0: no such number */
        void (*tree_item)(uint64_t token, const TreeRef *ref, uint64_t bytes, void *userdata);
        void (*tree_done)(uint64_t token, int wait_status, uint64_t bytes, const Error *error, void *userdata);
        void (*zygote)(uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error, void *userdata); /* likewise; error NULL: its child is in the sandbox */
} ProviderEvents;

/* Operations of every provider. The comment names the event that answers. */
typedef struct ProviderOps {
        const char *name;
        int (*create)(Provider *p, Sandbox *sb, Error *reterr); /* created() */
        /* After a restart of the daemon: adopted(). Negative: it is gone; with error_is_shortage(), the daemon
         * lacks a resource: ask again. */
        int (*adopt)(Provider *p, Sandbox *sb);
        /* destroyed(); also for an unknown id, and twice. */
        int (*destroy)(Provider *p, const char *id, Sandbox *sb /* may be NULL: then only the id is known */);
        int (*list)(Provider *p); /* listed() for every id that something is left of */
        int (*stop)(Provider *p, Sandbox *sb, usec_t grace_usec); /* TERM to all executions, KILL after the grace time: stopped() when nothing runs */
        int (*usage)(Provider *p, Sandbox *sb, SandboxUsage *ret); /* returns at once the figures that are known */
        ProviderSegment (*segment)(Provider *p, const Sandbox *sb);
        int (*exec)(Provider *p, Sandbox *sb, const ProviderCommand *command); /* exec_started() and exec_exited(), or exec_failed() */
        int (*signal)(Provider *p, Sandbox *sb, uint64_t number, int signal); /* KILL goes to the whole process tree, others to the process group */
        int (*forget)(Provider *p, Sandbox *sb, uint64_t number); /* the end of the command is in the store */
        int (*stdin_open)(Provider *p, Sandbox *sb, uint64_t number); /* exec_stdin() */
        int (*stdin_close)(Provider *p, Sandbox *sb, uint64_t number); /* the reader sees the end when the descriptor of stdin_open() is closed too */
        /* Files: fileop.h has the answers and their rules. data_fd: WRITE: the read end of a pipe; duplicated. */
        int (*file_start)(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op);
        int (*file_commit)(Provider *p, FileOp *op); /* WRITE: all data is in the pipe. Without it, nothing is written */
        int (*file_pause)(Provider *p, FileOp *op, bool pause);
        /* Frees the provider's part of op, and undoes an unfinished operation; also called after its end. */
        void (*file_end)(Provider *p, FileOp *op);
        void (*release)(Provider *p, Sandbox *sb); /* frees the provider's data, not the sandbox */
        Provider *(*free)(Provider *p);
} ProviderOps;

/* Capabilities. provider_require() refuses an operation that needs a table that the provider lacks. */

typedef struct ProviderPause {
        int (*freeze)(Provider *p, Sandbox *sb, bool freeze); /* frozen() */
        /* For an id without a row, or with a doubtful one. 0: it is being frozen, without an event; 1: may_go,
         * and no process is in it: it is being destroyed, destroyed() follows. NULL: not supported. */
        int (*set_aside)(Provider *p, const char *id, bool may_go);
        /* Takes memory of a frozen one, as far as the host can: reclaimed(), possibly much later. NULL: not
         * supported. */
        int (*reclaim)(Provider *p, Sandbox *sb);
} ProviderPause;

typedef struct ProviderTerminals {
        int (*resize)(Provider *p, Sandbox *sb, uint64_t number, uint16_t columns, uint16_t rows);
} ProviderTerminals;

typedef struct ProviderHealth {
        int (*verify)(Provider *p, Sandbox *sb); /* checks that a live one answers: adopted(), as after adopt() */
} ProviderHealth;

/* PACK and UNPACK: returns the stream on which the archive program speaks wire/file.h. The op gets no more answers;
 * the caller still frees it. */
typedef struct ProviderArchives {
        int (*take_channel)(Provider *p, FileOp *op);
} ProviderArchives;

typedef struct ProviderPorts {
        /* To the sandbox's loopback: socket() with a stream socket that is connecting. */
        int (*connect)(Provider *p, Sandbox *sb, uint16_t port, uint64_t token);
} ProviderPorts;

/* A datagram socket inside that represents an outside address. IPv6; IPv4 as ::ffff:a.b.c.d. */
typedef struct ProviderFlow {
        uint8_t local[16], remote[16]; /* bound to the outside address, connected to the guest's */
        uint16_t local_port, remote_port;
} ProviderFlow;

typedef struct ProviderNetwork {
        int (*sockets)(Provider *p, Sandbox *sb); /* the sockets that all outgoing traffic uses: network() */
        int (*flow)(Provider *p, Sandbox *sb, const ProviderFlow *flow, uint64_t token); /* socket() */
} ProviderNetwork;

/* Called by trees.h only. The answer is tree_done() with the token, after tree_item() for a LIST. fds: four for a
 * RUN, else NULL; copied. */
typedef struct ProviderTrees {
        int (*ask)(Provider *p, const TreeRequest *request, const int *fds, uint64_t token);
        int (*cancel)(Provider *p, uint64_t token);
} ProviderTrees;

/* Descriptors that a provider keeps for the daemon while the process inside lives, also over a restart of the
 * daemon. */
typedef struct ProviderChannels {
        int (*open)(Provider *p, Sandbox *sb, uint64_t number); /* the channel of an execution: exec_channel() */
        int (*keep)(Provider *p, Sandbox *sb, int pid, const int *fds /* _EXECUTION_CHANNEL_MAX; NULL: stop keeping */, const char *text);
        int (*ask_kept)(Provider *p, Sandbox *sb, unsigned number); /* kept() */
        int (*kill)(Provider *p, Sandbox *sb, int pid, int signal); /* a process inside that is not an execution */
} ProviderChannels;

typedef struct ProviderZygote {
        const char *template_name, *language; /* these identify the zygote */
        uint32_t gid; /* the user is the sandbox's own */
        uint64_t nofile, nproc, file_bytes; /* file_bytes 0: no limit */
        bool no_processes;
        const char *cwd;
        const Strv *env; /* with the values of secrets: wipe copies */
} ProviderZygote;

/* Called by zygote.h only. */
typedef struct ProviderZygotes {
        int (*fork)(Provider *p, Sandbox *sb, const ProviderZygote *what, uint64_t token); /* zygote() */
} ProviderZygotes;

typedef struct ProviderRoom { /* size of the depot. All 0: there is none, or it has no size of its own */
        uint64_t bytes;      /* taken from the disk */
        uint64_t used_bytes; /* used, of these */
        uint64_t most_bytes; /* maximum that it can take at present */
} ProviderRoom;

struct Provider {
        const ProviderOps *ops;
        /* Capabilities; NULL: not supported. May change with up(). */
        const ProviderPause *pause;
        const ProviderTerminals *terminals;
        const ProviderHealth *health;
        const ProviderArchives *archives;
        const ProviderPorts *ports;
        const ProviderNetwork *egress; /* a way out through the gate */
        const ProviderNetwork *groups; /* networks between sandboxes */
        const ProviderTrees *trees;    /* operations on trees */
        const ProviderTrees *layers;   /* … and keeping them: templates made of layers */
        const ProviderTrees *disks;    /* … and disks that outlive their sandbox: snapshots, forks, parking, volumes */
        const ProviderChannels *channels;
        const ProviderZygotes *zygotes;

        ProviderRoom room;    /* may change at any time */
        const char *no_disks; /* why there are no disks, and the cure; NULL: there are */
        bool one_user;        /* a sandbox has no other user than its spec's */
        const ProviderEvents *events;
        void *userdata;
};

typedef enum ProviderCapability {
        PROVIDER_PAUSE,
        PROVIDER_PTY,
        PROVIDER_HEALTH,
        PROVIDER_ARCHIVES,
        PROVIDER_PORTS,
        PROVIDER_EGRESS,
        PROVIDER_GROUPS,
        PROVIDER_TREES,
        PROVIDER_LAYERS,
        PROVIDER_DISKS,
        PROVIDER_CHANNELS,
        PROVIDER_ZYGOTES,
        _PROVIDER_CAPABILITY_MAX,
} ProviderCapability;

bool provider_has(const Provider *p, ProviderCapability what);
const char *provider_capability_name(ProviderCapability what);
/* The only place that refuses: -EOPNOTSUPP, with the capability in the text. p may be NULL. */
int provider_require(const Provider *p, ProviderCapability what, Error *reterr);
