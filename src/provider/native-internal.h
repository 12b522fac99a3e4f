/* native-internal.h: shared by the files of the native provider. */
#pragma once

#include <uthash.h>

#include "base/beat.h"
#include "provider/native.h"
#include "provider/outbox.h"
#include "wire/guest.h"
#include "wire/spawn.h"

#define NATIVE_SOCKETS 8

/* A request that the spawner has not answered. */
typedef struct NativeRequest {
        uint32_t serial;
        SpawnMessage message;
        Sandbox *sandbox; /* NULL: the sandbox was released, or the request is about an id only */
        uint64_t token;   /* identifies a call about trees or zygotes; 0: no caller waits */
        UT_hash_handle hh; /* by serial */
} NativeRequest;

typedef struct NativeFork NativeFork;

typedef struct NativeGuest NativeGuest;

typedef struct Native {
        Provider provider;
        NativeConfig config;
        sd_event *event;
        int run_fd;
        sd_event_source *io;
        ProviderOutbox outbox;
        SettleDoor door;         /* messages that wait for the end of the turn */
        NativeGuest *holding;    /* guests with messages that wait for that */
        NativeGuest *lazy;       /* guests with messages that go along with others, or leave later */
        sd_event_source *later;
        int guests_fd;           /* an epoll set with the channels of all guests */
        sd_event_source *guests;
        struct epoll_event *ready; /* of guests that are being served; a NULL for each that was closed meanwhile */
        int n_ready;
        uint32_t first_serial, serial; /* first: of the current spawner; serial: the last one used */
        NativeRequest *requests;
        int sockets[NATIVE_SOCKETS]; /* bound in advance: number i is called "spare-i.sock" */
        size_t n_sockets;
        sd_event_source *stock; /* binds spare sockets when the loop is idle */
        bool up;
        Beat beat; /* of the spawner */
        sd_event_source *pulse;
        bool pinged;   /* a ping is not answered yet */
        usec_t silent; /* how long it has been hanging; 0: it is not */
        int no_fds; /* why the current message has no descriptors; a negative errno */
        sd_event_source *list_again;
        sd_event_source *rest; /* ends a pause in which the channel is not read, after a resource shortage */
        char no_disks[256]; /* as reported by the spawner */
        NativeFork *forks; /* forks of zygotes, not answered yet */
} Native;

typedef enum GuestState {
        GUEST_WAITING,  /* waits for the spawner */
        GUEST_BOOTING,  /* PID 1 has not sent READY */
        GUEST_ADOPTING, /* it was asked for its list of executions */
        GUEST_UP,
        GUEST_APART, /* unreachable after a resource shortage; retried */
        GUEST_LOST,
} GuestState;

struct NativeGuest {
        Native *native;
        Sandbox *sandbox;
        GuestState state;
        int fd;
        int root_fd; /* the sandbox's root directory (O_PATH); -EBADF: not received */
        uint32_t events; /* that are waited for on fd; 0: it is not in the set */
        sd_event_source *frozen; /* adopted while frozen: reports this soon */
        sd_event_source *again;  /* retries the connection, or ends a pause */
        usec_t reached, delay;
        int no_fds; /* why the current message has no descriptors; an errno */
        ProviderOutbox outbox;
        NativeGuest **line; /* the list of the provider that it is in; NULL: no message waits */
        NativeGuest *line_prev, *line_next;
        bool in_callback, released;
        bool going; /* its destruction was requested: a hang-up means that it has died */
        int pid;
        uint32_t id_base;
        uint64_t guards_missing;
        GuestSegmentState segment;
};

/* native-spawner.c */
int native_request(Native *n, SpawnType type, const SpawnMessage *message, Sandbox *sb, const int *fds, size_t n_fds);
int native_request_token(Native *n, SpawnType type, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds);
int native_request_tree(Native *n, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds);
int native_spawner_attach(Native *n);
int native_receive(int fd, void *buffer, size_t size, size_t *ret_size, int *ret_fds, size_t *ret_n_fds); /* like channel_receive_bytes() */
void native_forget_requests(Native *n, Sandbox *sb);

/* native-beat.c */
int native_beat_start(Native *n);
void native_beat_heard(Native *n); /* any message arrived */
void native_beat_answered(Native *n);

/* native-guest.c */
int native_sockets_init(Native *n);
void native_sockets_done(Native *n);
int native_guest_create(Provider *p, Sandbox *sb, Error *reterr);
void native_guest_created(NativeGuest *g, const SpawnCreated *created, int channel_fd);
int native_guest_adopt(Provider *p, Sandbox *sb);
int native_guest_send(Provider *p, Sandbox *sb, const GuestMessage *message, const int *fds, size_t n_fds);
void native_guest_release(Provider *p, Sandbox *sb);
void native_guest_going(NativeGuest *g); /* call before it is destroyed */
void native_remove_socket(Native *n, const char *id);

extern const ProviderHealth native_guest_health;

int native_guests_init(Native *n);
void native_guests_done(Native *n);
void native_guest_rest(NativeGuest *g); /* a shortage: it is neither read nor written for a while */
bool native_guest_listen(NativeGuest *g, uint32_t events); /* 0: to nothing. False: out of memory */

/* native-send.c: messages to PID 1s and to the spawner, at the end of the turn */
int native_sending_init(Native *n);
void native_sending_done(Native *n);
int native_send_spawner(Native *n, const void *data, size_t size, const int *fds, size_t n_fds);
int native_flush_spawner(Native *n); /* its channel has room */
int native_flush_guest(NativeGuest *g); /* likewise */
int native_send_guest(NativeGuest *g, const void *data, size_t size, const int *fds, size_t n_fds, bool may_wait);
void native_send_forget(NativeGuest *g); /* it is closed */

/* native-command.c */
ProviderSegment native_command_segment(Provider *p, const Sandbox *sb);
int native_command(Provider *p, Sandbox *sb, const ProviderCommand *command);
int native_command_signal(Provider *p, Sandbox *sb, uint64_t number, int signal);
int native_command_forget(Provider *p, Sandbox *sb, uint64_t number);
int native_command_stdin_open(Provider *p, Sandbox *sb, uint64_t number);
int native_command_stdin_close(Provider *p, Sandbox *sb, uint64_t number);
int native_command_surroundings(const char *cwd, const Strv *env); /* a sealed memory file with both */
void native_on_exec_started(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_exec_failed(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_exec_exited(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_exec_stdin(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_exec_channel(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_kept(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
extern const ProviderTerminals native_terminals;
extern const ProviderChannels native_channels;

/* native-file.c */
int native_file_start(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op);
int native_file_commit(Provider *p, FileOp *op);
int native_file_pause(Provider *p, FileOp *op, bool pause);
void native_file_end(Provider *p, FileOp *op);
extern const ProviderArchives native_archives;

/* native-tree.c */
extern const ProviderTrees native_trees;
void native_tree_hello(Native *n, const SpawnHello *hello);
void native_tree_room(Native *n, const SpawnRoom *room);
void native_failure(const Native *n, const SpawnMessage *m, Error *ret); /* the spawner's error, without the daemon's own paths */
void native_on_tree_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds);

/* native-zygote.c */
void native_forks_free(Native *n);
extern const ProviderZygotes native_zygotes;
void native_on_zygote_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds);

/* native-network.c */
void native_network_shape(const Sandbox *sb, SpawnCreate *ret);
extern const ProviderNetwork native_network;
extern const ProviderPorts native_ports;
void native_read_network(const Sandbox *sb, SandboxUsage *ret);
void native_on_sockets(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
void native_on_socket_made(NativeGuest *g, const GuestMessage *m, int *fds, size_t n_fds);
