/* provider.h: who makes sandboxes.
 *
 * The core asks, a provider does, and tells by the events below; never from within the call that asked, so that nothing
 * happens in the middle of something else. A call that fails at once returns a negative errno and tells nothing.
 * A provider must not know: the store, rules about states, who asked. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"
#include "wire/guest.h"
#include "wire/spawn.h"
#include "wire/tree.h"

typedef struct Provider Provider;

typedef enum ProviderCapability {
        PROVIDER_PAUSE = 1 << 0,
        PROVIDER_PTY = 1 << 1,
        PROVIDER_FILES = 1 << 2,
        PROVIDER_USAGE = 1 << 3,
        PROVIDER_SURVIVES = 1 << 4, /* sandboxes outlive the daemon */
        PROVIDER_EGRESS = 1 << 5,   /* a way out through the gate */
        PROVIDER_GROUPS = 1 << 6,   /* networks between sandboxes */
        PROVIDER_PORTS = 1 << 7,    /* ports inside can be reached */
        PROVIDER_LAYERS = 1 << 8,   /* templates out of layers */
        PROVIDER_DISKS = 1 << 9,    /* disks that outlive their sandbox: snapshots, forks, parking, volumes */
} ProviderCapability;

typedef struct ProviderEvents {
        void (*up)(Provider *p, void *userdata); /* can be asked; again after it was down: what was asked before may be lost */
        void (*created)(Sandbox *sb, int pid, uint32_t id_base, uint64_t guards_missing, const Error *error, void *userdata);
        void (*gone)(Sandbox *sb, void *userdata); /* its processes are, by themselves or because of us */
        void (*destroyed)(const char *id, const Error *error, void *userdata); /* nothing of it is left in the kernel */
        void (*frozen)(Sandbox *sb, bool frozen, const Error *error, void *userdata);
        void (*reclaimed)(Sandbox *sb, const Error *error, void *userdata);
        void (*stopped)(Sandbox *sb, void *userdata);
        void (*exec_started)(Sandbox *sb, uint64_t exec, int pid, void *userdata);
        void (*exec_failed)(Sandbox *sb, const GuestExecFailed *f, void *userdata);
        void (*exec_exited)(Sandbox *sb, const GuestExited *e, void *userdata);
        void (*exec_stdin)(Sandbox *sb, uint64_t exec, int error, int fd, void *userdata); /* fd is the callee's to close */
        void (*exec_channel)(Sandbox *sb, uint64_t exec, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata); /* likewise */
        void (*kept)(Sandbox *sb, const GuestKept *what, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata); /* likewise */
        void (*adopted)(Sandbox *sb, const Error *error, void *userdata); /* after exec_started/exec_exited for all it knows; error: it is gone */
        void (*listed)(const char *id, void *userdata); /* NULL: that was the last */
        void (*network)(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata); /* as guest.h's SOCKETS; fds are the callee's to close */
        void (*socket)(Sandbox *sb, uint64_t token, int error, int fd, void *userdata); /* fd is the callee's to close */
        void (*tree_item)(uint64_t token, const TreeRef *ref, uint64_t bytes, void *userdata);
        void (*zygote)(uint64_t token, int pid, const Error *error, void *userdata); /* error NULL: its child is in the sandbox */
        void (*tree_done)(uint64_t token, int wait_status, uint64_t bytes, const Error *error, void *userdata);
} ProviderEvents;

typedef struct ProviderOps {
        const char *name;
        unsigned capabilities;
        int (*create)(Provider *p, Sandbox *sb, Error *reterr);
        int (*adopt)(Provider *p, Sandbox *sb); /* after a restart of ours */
        int (*destroy)(Provider *p, const char *id, Sandbox *sb /* may be NULL: then only the id is known */);
        int (*freeze)(Provider *p, Sandbox *sb, bool freeze);
        int (*reclaim)(Provider *p, Sandbox *sb); /* memory of a frozen one, as far as the host can: reclaimed(), possibly much later. NULL: cannot */
        int (*stop)(Provider *p, Sandbox *sb, usec_t grace_usec);
        int (*exec)(Provider *p, Sandbox *sb, const GuestExec *exec, const int *fds, size_t n_fds);
        int (*send)(Provider *p, Sandbox *sb, const GuestMessage *message, const int *fds, size_t n_fds);
        int (*usage)(Provider *p, Sandbox *sb, SandboxUsage *ret);
        int (*verify)(Provider *p, Sandbox *sb); /* asks a live one whether it is there: adopted(), as after adopt. NULL: cannot */
        int (*list)(Provider *p); /* every id that something is left of in the kernel */
        int (*network)(Provider *p, Sandbox *sb); /* its sockets: network() */
        int (*socket)(Provider *p, Sandbox *sb, const GuestSocket *socket); /* one inside: socket() */
        /* trees.h is the door to these. The answer by tree_done() with the token, after tree_item() for a LIST. fds: four for a RUN, else NULL; copied */
        int (*tree)(Provider *p, const TreeRequest *request, const int *fds, uint64_t token);
        int (*tree_cancel)(Provider *p, uint64_t token);
        int (*zygote)(Provider *p, const SpawnZygote *request, const int fds[static _EXECUTION_CHANNEL_MAX], uint64_t token); /* zygote.h; copied. NULL: cannot */
        void (*release)(Provider *p, Sandbox *sb); /* our memory of it, not the thing */
        Provider *(*free)(Provider *p);
} ProviderOps;

struct Provider {
        const ProviderOps *ops;
        const ProviderEvents *events;
        void *userdata;
        uint8_t depot;        /* DepotBacking, as the spawner has told */
        const char *no_disks; /* why there are no disks, and the cure; NULL: there are */
        bool one_user; /* in each sandbox: whoever it was made for */
};
