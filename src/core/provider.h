/* provider.h: the contract between the core and whoever makes sandboxes.
 *
 * The core asks by ProviderOps, which every provider has whole, and by the capability tables, of which a provider has some. The provider answers by
 * ProviderEvents, never from within the call that asked. A call that fails at once returns a negative errno and is followed by no event.
 * The words are the core's own. No call hands out a descriptor of a sandbox's kernel object that a remote machine could not imitate: journals are files of
 * the daemon that the provider writes to, input is any descriptor that can be written to, a file that is read comes as a regular file.
 * A provider must not know: the store, rules about states, who asked. */
#pragma once

#include "core/execution.h"
#include "core/fileop.h"
#include "core/sandbox.h"
#include "core/trees.h"

typedef struct Provider Provider;

/* A command, in full. All of it is borrowed for the call. */
typedef struct ProviderCommand {
        uint64_t number; /* chosen by the core, never used twice in a sandbox */
        const char *cwd;
        const Strv *args, *env; /* env: all of it, with the values of secrets: wipe copies */
        uint32_t uid, gid;
        usec_t timeout_usec; /* 0: none. The provider kills it, whether the daemon lives or not */
        uint64_t output_max; /* bytes per stream; more is read and dropped */
        uint64_t nofile;
        bool stdin_open; /* a pipe until stdin_close(); else it reads nothing */
        bool stay;       /* others will follow it: what it takes to run one may stay ready */
        bool pty;        /* PROVIDER_PTY; everything goes to the first journal */
        uint16_t columns, rows;
        bool channel;    /* PROVIDER_CHANNELS: descriptor 3 is one end of a stream socket; nothing goes into the journals */
        int journals[_STREAM_MAX]; /* open for appending, duplicated by the provider; pty: the second is -EBADF */
} ProviderCommand;

typedef enum ProviderFailure {
        PROVIDER_FAILURE_OTHER,   /* not the command's fault */
        PROVIDER_FAILURE_COMMAND, /* the program: missing, not executable */
        PROVIDER_FAILURE_WORKDIR, /* cwd */
} ProviderFailure;

/* A command that never ran. */
typedef struct ProviderNotStarted {
        uint64_t number;
        ProviderFailure kind;
        int error;          /* positive errno */
        const char *step;   /* which step failed, for a person */
        const char *detail; /* the object that it was about; may be "" */
} ProviderNotStarted;

/* The end of a command that ran. */
typedef struct ProviderEnd {
        uint64_t number;
        int exit_code; /* -1: a signal ended it */
        int signal;    /* 0: none */
        bool timed_out; /* timeout_usec */
        bool disk_full;
        ExecutionJournal journals[_STREAM_MAX]; /* at that moment; a process left behind may add to them */
        usec_t wall_usec, user_usec, system_usec;
        uint64_t max_rss_bytes;
} ProviderEnd;

typedef struct ProviderEvents {
        void (*up)(Provider *p, void *userdata); /* can be asked. Again after it was down: what was asked before is asked again by the provider, or told as failed */
        void (*silent)(const char *who, usec_t usec /* 0: it answers again */, void *userdata); /* what makes sandboxes: nothing can be made meanwhile */
        void (*created)(Sandbox *sb, int pid /* of its first process on this host; 0: elsewhere */, uint32_t id_base, uint64_t guards_missing, const Error *error,
                        void *userdata);
        void (*gone)(Sandbox *sb, void *userdata); /* its processes are, by themselves or because of us */
        void (*destroyed)(const char *id, const Error *error, void *userdata); /* nothing of it is left */
        void (*stopped)(Sandbox *sb, void *userdata);
        void (*adopted)(Sandbox *sb, const Error *error, void *userdata); /* after exec_started/exec_exited for all it knows; error: it is gone */
        void (*listed)(const char *id, void *userdata); /* NULL: that was the last */
        void (*exec_started)(Sandbox *sb, uint64_t number, int pid, void *userdata);
        void (*exec_failed)(Sandbox *sb, const ProviderNotStarted *f, void *userdata);
        void (*exec_exited)(Sandbox *sb, const ProviderEnd *e, void *userdata); /* once; after a restart again, until it is forgotten */
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

/* What every provider does. */
typedef struct ProviderOps {
        const char *name;
        int (*create)(Provider *p, Sandbox *sb, Error *reterr); /* created() */
        int (*adopt)(Provider *p, Sandbox *sb); /* after a restart of ours: adopted(). Negative: it is gone; or we lack something (error_is_shortage()): ask again */
        int (*destroy)(Provider *p, const char *id, Sandbox *sb /* may be NULL: then only the id is known */); /* destroyed(); also of an unknown id, and twice */
        int (*list)(Provider *p); /* every id that something is left of: listed() */
        int (*stop)(Provider *p, Sandbox *sb, usec_t grace_usec); /* TERM to all executions, KILL after the grace time: stopped() when nothing runs */
        int (*usage)(Provider *p, Sandbox *sb, SandboxUsage *ret); /* at once: what is known */
        int (*exec)(Provider *p, Sandbox *sb, const ProviderCommand *command); /* exec_started() and exec_exited(), or exec_failed() */
        int (*signal)(Provider *p, Sandbox *sb, uint64_t number, int signal); /* KILL goes to the whole tree, others to the process group */
        int (*forget)(Provider *p, Sandbox *sb, uint64_t number); /* its end is in the store */
        int (*stdin_open)(Provider *p, Sandbox *sb, uint64_t number); /* exec_stdin() */
        int (*stdin_close)(Provider *p, Sandbox *sb, uint64_t number); /* the reader sees the end when the descriptor of stdin_open() is closed too */
        /* Files: fileop.h has the answers, and what the provider may say. data_fd: write, the end of a pipe to read from; duplicated. */
        int (*file_start)(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op);
        int (*file_commit)(Provider *p, FileOp *op); /* write: all data is in the pipe. Without it nothing has happened */
        int (*file_pause)(Provider *p, FileOp *op, bool pause);
        void (*file_end)(Provider *p, FileOp *op); /* op goes, and what is half done is undone; after its own end, too */
        void (*release)(Provider *p, Sandbox *sb); /* our memory of it, not the thing */
        Provider *(*free)(Provider *p);
} ProviderOps;

/* What some do. A provider that lacks a table is refused what needs it, by provider_require(). */

typedef struct ProviderPause {
        int (*freeze)(Provider *p, Sandbox *sb, bool freeze); /* frozen() */
        int (*set_aside)(Provider *p, const char *id, bool may_go); /* one that the core has no row of, or doubts it. 0: it stands still, and nobody is told; 1: nobody is
                                                                     * in it and it may go: destroyed(). NULL: cannot */
        int (*reclaim)(Provider *p, Sandbox *sb); /* memory of a frozen one, as far as the host can: reclaimed(), possibly much later. NULL: cannot */
} ProviderPause;

typedef struct ProviderTerminals {
        int (*resize)(Provider *p, Sandbox *sb, uint64_t number, uint16_t columns, uint16_t rows);
} ProviderTerminals;

typedef struct ProviderHealth {
        int (*verify)(Provider *p, Sandbox *sb); /* asks a live one whether it is there: adopted(), as after adopt */
} ProviderHealth;

/* PACK and UNPACK: the stream that the archive program speaks wire/file.h on. The op stays to be freed and hears nothing more. */
typedef struct ProviderArchives {
        int (*take_channel)(Provider *p, FileOp *op);
} ProviderArchives;

typedef struct ProviderPorts {
        int (*connect)(Provider *p, Sandbox *sb, uint16_t port, uint64_t token); /* to the sandbox's own loopback: socket() with a stream, connecting */
} ProviderPorts;

/* A datagram socket inside that stands for an address of the world. IPv6; IPv4 as ::ffff:a.b.c.d. */
typedef struct ProviderFlow {
        uint8_t local[16], remote[16]; /* bound to the world's address, connected to the guest's */
        uint16_t local_port, remote_port;
} ProviderFlow;

typedef struct ProviderNetwork {
        int (*sockets)(Provider *p, Sandbox *sb); /* those by which everything leaves: network() */
        int (*flow)(Provider *p, Sandbox *sb, const ProviderFlow *flow, uint64_t token); /* socket() */
} ProviderNetwork;

/* trees.h is the door to these. The answer by tree_done() with the token, after tree_item() for a LIST. fds: four for a RUN, else NULL; copied. */
typedef struct ProviderTrees {
        int (*ask)(Provider *p, const TreeRequest *request, const int *fds, uint64_t token);
        int (*cancel)(Provider *p, uint64_t token);
} ProviderTrees;

/* Descriptors that a provider keeps for us while the process inside lives, also over a restart of ours. */
typedef struct ProviderChannels {
        int (*open)(Provider *p, Sandbox *sb, uint64_t number); /* of an execution: exec_channel() */
        int (*keep)(Provider *p, Sandbox *sb, int pid, const int *fds /* _EXECUTION_CHANNEL_MAX; NULL: not any more */, const char *text);
        int (*ask_kept)(Provider *p, Sandbox *sb, unsigned number); /* kept() */
        int (*kill)(Provider *p, Sandbox *sb, int pid, int signal); /* a process inside that is no execution */
} ProviderChannels;

typedef struct ProviderZygote {
        const char *template_name, *language; /* which zygote */
        uint32_t gid; /* the user is the sandbox's own */
        uint64_t nofile, nproc, file_bytes; /* file_bytes 0: no limit */
        bool no_processes;
        const char *cwd;
        const Strv *env; /* with the values of secrets: wipe copies */
} ProviderZygote;

/* zygote.h is the door to it. */
typedef struct ProviderZygotes {
        int (*fork)(Provider *p, Sandbox *sb, const ProviderZygote *what, uint64_t token); /* zygote() */
} ProviderZygotes;

typedef struct ProviderRoom { /* all 0: there is none, or it has no size of its own */
        uint64_t bytes;      /* taken from the disk */
        uint64_t used_bytes; /* of these */
        uint64_t most_bytes; /* that it can take at present */
} ProviderRoom;

struct Provider {
        const ProviderOps *ops;
        /* Capabilities; NULL: it has not. May change with up(). */
        const ProviderPause *pause;
        const ProviderTerminals *terminals;
        const ProviderHealth *health;
        const ProviderArchives *archives;
        const ProviderPorts *ports;
        const ProviderNetwork *egress; /* a way out through the gate */
        const ProviderNetwork *groups; /* networks between sandboxes */
        const ProviderTrees *trees;    /* trees can be looked at */
        const ProviderTrees *layers;   /* … and are kept: templates out of layers */
        const ProviderTrees *disks;    /* … and outlive their sandbox: snapshots, forks, parking, volumes */
        const ProviderChannels *channels;
        const ProviderZygotes *zygotes;

        ProviderRoom room;    /* of what outlives sandboxes; may change at any time */
        const char *no_disks; /* why there are no disks, and the cure; NULL: there are */
        bool one_user;        /* in each sandbox: whoever it was made for */
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
/* The one place that refuses: -EOPNOTSUPP, with the capability in the text. p may be NULL. */
int provider_require(const Provider *p, ProviderCapability what, Error *reterr);
