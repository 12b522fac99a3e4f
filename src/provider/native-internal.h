/* native-internal.h: shared by the files of the native provider. */
#pragma once

#include <uthash.h>

#include "provider/native.h"
#include "provider/outbox.h"
#include "wire/spawn.h"

#define NATIVE_SOCKETS 8

/* A request that the spawner has not answered. */
typedef struct NativeRequest {
        uint32_t serial;
        SpawnMessage message;
        Sandbox *sandbox; /* NULL: nobody cares any more, or it is about an id only */
        uint64_t token;   /* of a call about trees, or of a zygote; 0: nobody waits for it */
        UT_hash_handle hh; /* by serial */
} NativeRequest;

typedef struct Native {
        Provider provider;
        NativeConfig config;
        sd_event *event;
        int run_fd;
        sd_event_source *io;
        ProviderOutbox outbox;
        uint32_t serial;
        NativeRequest *requests;
        int sockets[NATIVE_SOCKETS]; /* bound ahead: number i is called "spare-i.sock" */
        size_t n_sockets;
        sd_event_source *stock; /* runs when the loop is idle */
        bool up;
        char no_disks[256]; /* as the spawner has told */
        ProviderOps ops; /* by what we are allowed to */
} Native;

typedef enum GuestState {
        GUEST_WAITING,  /* for the spawner */
        GUEST_BOOTING,  /* PID 1 has not said READY */
        GUEST_ADOPTING, /* it was asked for its list */
        GUEST_UP,
        GUEST_LOST,
} GuestState;

typedef struct NativeGuest {
        Native *native;
        Sandbox *sandbox;
        GuestState state;
        int fd;
        int root_fd; /* the sandbox's root directory, by name only; -EBADF: not told */
        sd_event_source *io;
        ProviderOutbox outbox;
        bool in_callback, released;
        int pid;
        uint32_t id_base;
        uint64_t guards_missing;
} NativeGuest;

/* native-spawner.c */
int native_request(Native *n, SpawnType type, const SpawnMessage *message, Sandbox *sb, const int *fds, size_t n_fds);
int native_request_token(Native *n, SpawnType type, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds);
int native_request_tree(Native *n, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds);
int native_on_spawner(sd_event_source *source, int fd, uint32_t revents, void *userdata);
void native_forget_requests(Native *n, Sandbox *sb);

/* native-guest.c */
int native_sockets_init(Native *n);
void native_sockets_done(Native *n);
int native_guest_create(Provider *p, Sandbox *sb, Error *reterr);
void native_guest_created(NativeGuest *g, const SpawnCreated *created, int channel_fd);
int native_guest_adopt(Provider *p, Sandbox *sb);
int native_guest_verify(Provider *p, Sandbox *sb);
int native_guest_send(Provider *p, Sandbox *sb, const GuestMessage *message, const int *fds, size_t n_fds);
int native_guest_exec(Provider *p, Sandbox *sb, const GuestExec *exec, const int *fds, size_t n_fds);
void native_guest_release(Provider *p, Sandbox *sb);
void native_kill_own(NativeGuest *g); /* a plain user's: by ourselves */
void native_remove_socket(Native *n, const char *id);

/* native-tree.c */
int native_tree(Provider *p, const TreeRequest *request, const int *fds, uint64_t token);
int native_tree_cancel(Provider *p, uint64_t token);
void native_tree_hello(Native *n, const SpawnHello *hello);
void native_on_tree_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds);

/* native-zygote.c */
int native_zygote(Provider *p, const SpawnZygote *request, const int fds[static _EXECUTION_CHANNEL_MAX], uint64_t token);
void native_on_zygote_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds);

/* native-network.c */
void native_network_shape(const Sandbox *sb, SpawnCreate *ret);
int native_network(Provider *p, Sandbox *sb);
int native_socket(Provider *p, Sandbox *sb, const GuestSocket *socket);
void native_read_network(const Sandbox *sb, SandboxUsage *ret);
void native_on_sockets(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_socket_made(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
