/* native-spawner.c: requests to cove-spawner, and its answers.
 *
 * A spawner that dies is replaced by its keeper, and the new one sends HELLO. Unanswered requests that may be
 * repeated are sent again. A create may not be repeated, and fails; so do requests about trees, because a
 * RUN's descriptors are lost. A request's serial tells which spawner it is for, so the new one ignores old
 * requests that it still finds in the channel: each request is carried out once, in order. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/reserve.h"
#include "provider/native-internal.h"
#include "wire/channel.h"

#define LIST_AGAIN_USEC (1 * USEC_PER_SEC)
#define REST_USEC       (100 * USEC_PER_MSEC)
#define MESSAGES_AT_ONCE 8 /* before others get their turn: each may be a sandbox whose caller is answered */

static int send_request(Native *n, const SpawnMessage *m, const int *fds, size_t n_fds) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        ssize_t size = spawn_encode(m, buffer, sizeof(buffer));

        if (size < 0)
                return (int) size;
        return native_send_spawner(n, buffer, (size_t) size, fds, n_fds);
}

static uint32_t next_serial(Native *n) {
        NativeRequest *q;

        do {
                n->serial = n->first_serial + (n->serial + 1) % SPAWN_SERIALS;
                HASH_FIND(hh, n->requests, &n->serial, sizeof(n->serial), q);
        } while (q || n->serial == n->first_serial); /* the first serial is HELLO's */
        return n->serial;
}

static int native_spawner_request(Native *n, SpawnType type, const SpawnMessage *message, Sandbox *sb, uint64_t token, const int *fds, size_t n_fds) {
        NativeRequest *q = calloc(1, sizeof(*q));
        int r;

        if (!q)
                return -ENOMEM;
        q->message = *message;
        q->message.type = type;
        q->message.serial = q->serial = next_serial(n);
        q->sandbox = sb;
        q->token = token;
        r = send_request(n, &q->message, fds, n_fds);
        if (r < 0) {
                free(q);
                return r;
        }
        HASH_ADD(hh, n->requests, serial, sizeof(q->serial), q);
        return 0;
}

int native_request(Native *n, SpawnType type, const SpawnMessage *message, Sandbox *sb, const int *fds, size_t n_fds) {
        return native_spawner_request(n, type, message, sb, /* token= */ 0, fds, n_fds);
}

int native_request_token(Native *n, SpawnType type, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds) {
        return native_spawner_request(n, type, message, /* sb= */ NULL, token, fds, n_fds);
}

int native_request_tree(Native *n, const SpawnMessage *message, uint64_t token, const int *fds, size_t n_fds) {
        return native_request_token(n, SPAWN_TREE, message, token, fds, n_fds);
}

void native_forget_requests(Native *n, Sandbox *sb) {
        NativeRequest *q, *next;

        HASH_ITER(hh, n->requests, q, next)
                if (q->sandbox == sb)
                        q->sandbox = NULL;
}

/* Answers, one function each. They take the descriptors. */

/* The log has the whole text: its reader knows the host. */
void native_failure(const Native *n, const SpawnMessage *m, Error *ret) {
        const char *slash = strrchr(n->config.run_dir, '/');
        char state[PATH_MAX];

        (void) snprintf(state, sizeof(state), "%.*s", (int) (slash ? slash - n->config.run_dir : 0), n->config.run_dir);
        (void) error_set(ret, -m->failure.error, "%s", m->failure.text);
        error_hide(ret, "/sys/fs/cgroup");
        error_hide(ret, state);
        if (strcmp(ret->text, m->failure.text) != 0)
                log_warning("spawner: %s", m->failure.text);
}

static void on_create_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        Sandbox *sb = q->sandbox;
        NativeGuest *g = sb ? sb->provider_data : NULL;
        Error error = { 0 };

        if (!g)
                return; /* the sandbox is being destroyed, which also ends what was just created */
        if (m->type == SPAWN_CREATED && n_fds >= 1) {
                native_guest_created(g, &m->created, TAKE_FD(fds[0]));
                return;
        }
        if (m->type == SPAWN_FAILED)
                native_failure(n, m, &error);
        else if (m->type == SPAWN_CREATED)
                (void) error_set(&error, n->no_fds, "the sandbox cannot be taken over: %m");
        else
                (void) error_set(&error, -EPROTO, "the spawner sent an unexpected answer");
        n->provider.events->created(sb, 0, 0, 0, &error, n->provider.userdata);
}

/* NULL: the request succeeded. */
static const Error *native_spawner_failure(const Native *n, const SpawnMessage *m, Error *error) {
        if (m->type != SPAWN_FAILED)
                return NULL;
        native_failure(n, m, error);
        return error;
}

static void on_destroy_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        if (m->type != SPAWN_FAILED)
                native_remove_socket(n, q->message.id);
        n->provider.events->destroyed(q->message.id, native_spawner_failure(n, m, &(Error) { 0 }), n->provider.userdata);
}

static void on_freeze_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        if (q->sandbox)
                n->provider.events->frozen(q->sandbox, q->message.type == SPAWN_FREEZE, native_spawner_failure(n, m, &(Error) { 0 }),
                                n->provider.userdata);
}

static void on_reclaim_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        if (q->sandbox)
                n->provider.events->reclaimed(q->sandbox, native_spawner_failure(n, m, &(Error) { 0 }), n->provider.userdata);
}

static void on_ping_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        native_beat_answered(n);
}

static void native_list_again(Native *n);

static int on_list_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Native *n = userdata;

        if (native_request(n, SPAWN_LIST, &(SpawnMessage) { 0 }, NULL, NULL, 0) < 0)
                native_list_again(n);
        return 0;
}

static void native_list_again(Native *n) {
        (void) sd_event_source_set_time_relative(n->list_again, LIST_AGAIN_USEC);
        (void) sd_event_source_set_enabled(n->list_again, SD_EVENT_ONESHOT);
}

/* An incomplete list is useless: what it lacks would never be swept. */
static void on_list_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        if (m->type == SPAWN_FAILED) {
                log_warning("cannot list what is in the kernel, trying again: %s", m->failure.text);
                native_list_again(n);
        } else if (m->type == SPAWN_ITEM)
                n->provider.events->listed(m->id, n->provider.userdata);
        else
                n->provider.events->listed(NULL, n->provider.userdata);
}

static void (*const answers[])(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) = {
        [SPAWN_CREATE] = on_create_answer,
        [SPAWN_DESTROY] = on_destroy_answer,
        [SPAWN_FREEZE] = on_freeze_answer,
        [SPAWN_THAW] = on_freeze_answer,
        [SPAWN_LIST] = on_list_answer,
        [SPAWN_TREE] = native_on_tree_answer,
        [SPAWN_RECLAIM] = on_reclaim_answer,
        [SPAWN_ZYGOTE] = native_on_zygote_answer,
        [SPAWN_PING] = on_ping_answer,
};

static void native_spawner_finish(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        bool last = m->type != SPAWN_ITEM && m->type != SPAWN_TREE_ITEM;

        if (last)
                HASH_DEL(n->requests, q);
        answers[q->message.type](n, q, m, fds, n_fds);
        if (last)
                free(q);
}

/* A message cannot be received or sent for lack of resources: it stays where it is until there is room. */
static int native_spawner_rest(Native *n, int r) {
        log_warning("cannot speak with cove-spawner for now: %s", strerror(-r));
        (void) sd_event_source_set_time_relative(n->rest, REST_USEC);
        (void) sd_event_source_set_enabled(n->rest, SD_EVENT_ONESHOT);
        return sd_event_source_set_enabled(n->io, SD_EVENT_OFF);
}

/* The failure that a lost request gets. Without an error the request is sent again. */
static const WireSpawnFailure losses[_SPAWN_TYPE_MAX] = {
        [SPAWN_CREATE] = { .error = EAGAIN, .text = "the spawner died while it was made; try again" },
        [SPAWN_ZYGOTE] = { .error = EOPNOTSUPP, .text = "the spawner died, and its zygotes with it" },
        [SPAWN_PING] = { .error = ECONNRESET },
        [SPAWN_TREE] = { .error = ECONNRESET, .text = "the spawner died meanwhile; try again" },
};

static void ask_again(Native *n) {
        NativeRequest *q, *next;

        HASH_ITER(hh, n->requests, q, next) {
                SpawnMessage again = q->message;
                int r;

                if (spawn_serials_go_together(q->serial, n->first_serial) || losses[q->message.type].error != 0)
                        continue;
                again.serial = next_serial(n);
                r = send_request(n, &again, NULL, 0);
                if (r < 0) {
                        (void) native_spawner_rest(n, r);
                        return;
                }
                HASH_DEL(n->requests, q);
                q->message.serial = q->serial = again.serial;
                HASH_ADD(hh, n->requests, serial, sizeof(q->serial), q);
        }
}

/* A caller that is told of a loss may send a new request at once: it is for the new spawner, and comes after
 * the repeated ones. */
static void tell_losses(Native *n) {
        NativeRequest *q, *next;

        HASH_ITER(hh, n->requests, q, next) {
                const WireSpawnFailure *loss = &losses[q->message.type];
                SpawnMessage lost = { .type = SPAWN_FAILED, .serial = q->serial, .failure = *loss };

                if (loss->error != 0 && !spawn_serials_go_together(q->serial, n->first_serial))
                        native_spawner_finish(n, q, &lost, NULL, 0);
        }
}

static void native_spawner_on_hello(Native *n, const SpawnMessage *m) {
        native_tree_hello(n, &m->hello);
        n->first_serial = n->serial = m->serial;
        if (n->up)
                log_warning("the spawner died and is back");
        ask_again(n);
        tell_losses(n);
        n->up = true;
        n->provider.events->up(&n->provider, n->provider.userdata);
}

static void native_spawner_on_message(Native *n, const SpawnMessage *m, int *fds, size_t n_fds) {
        NativeRequest *q;

        if (m->type == SPAWN_HELLO) {
                native_spawner_on_hello(n, m);
                return;
        }
        if (m->type == SPAWN_ROOM) {
                native_tree_room(n, &m->room);
                return;
        }
        HASH_FIND(hh, n->requests, &m->serial, sizeof(m->serial), q);
        if (q)
                native_spawner_finish(n, q, m, fds, n_fds);
        else
                log_debug("the spawner sent an answer without a request: %u", m->serial);
}

/* Messages on these channels must not fail because others have taken all descriptors. */
int native_receive(int fd, void *buffer, size_t size, size_t *ret_size, int *ret_fds, size_t *ret_n_fds) {
        _reserve_ bool held = reserve_enter();

        return channel_receive_bytes(fd, MSG_DONTWAIT, buffer, size, ret_size, ret_fds, CHANNEL_FDS_MAX, ret_n_fds);
}

static int native_spawner_receive(Native *n) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        int fds[CHANNEL_FDS_MAX], r;
        size_t size, n_fds = 0;
        SpawnMessage m;

        r = native_receive(n->config.spawner_fd, buffer, sizeof(buffer), &size, fds, &n_fds);
        if (r <= 0)
                return r;
        native_beat_heard(n);
        n->no_fds = r == CHANNEL_SHORT ? -EMFILE : -EPROTO;
        r = spawn_decode(buffer, size, &m);
        if (r >= 0)
                native_spawner_on_message(n, &m, fds, n_fds);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
        return r < 0 ? r : 1;
}

static int native_on_rested(sd_event_source *source, uint64_t usec, void *userdata) {
        Native *n = userdata;
        int r = sd_event_source_set_enabled(n->io, SD_EVENT_ON);

        ask_again(n);
        return r;
}

/* Keeper and spawner are gone, and an unprivileged daemon cannot start them again: only a restart of the
 * daemon can. Sandboxes do not notice. */
static int native_on_spawner(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Native *n = userdata;
        int r = revents & EPOLLOUT ? native_flush_spawner(n) : 0;

        if (error_is_shortage(r))
                return native_spawner_rest(n, r);
        r = 1;
        for (unsigned i = 0; i < MESSAGES_AT_ONCE && r > 0; i++)
                r = native_spawner_receive(n);
        if (r == -EAGAIN || r > 0)
                return 0;
        if (error_is_shortage(r))
                return native_spawner_rest(n, r);
        if (r == -EBADMSG) {
                log_error("cove-spawner sent something that is no message of this version, ignoring");
                return 0;
        }
        log_error("cove-spawner is gone (killed?): ending, so that a restart of `cove serve` brings it back; sandboxes go on");
        return sd_event_exit(n->event, 1);
}

/* Both timers are created at the start: when they are needed, there may be no resources left to create them. */
int native_spawner_attach(Native *n) {
        int r = sd_event_add_io(n->event, &n->io, n->config.spawner_fd, EPOLLIN, native_on_spawner, n);

        if (r >= 0)
                r = sd_event_add_time_relative(n->event, &n->rest, CLOCK_MONOTONIC, REST_USEC, 0, native_on_rested, n);
        if (r >= 0)
                r = sd_event_source_set_enabled(n->rest, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(n->event, &n->list_again, CLOCK_MONOTONIC, LIST_AGAIN_USEC, 0, on_list_again, n);
        return r >= 0 ? sd_event_source_set_enabled(n->list_again, SD_EVENT_OFF) : r;
}
