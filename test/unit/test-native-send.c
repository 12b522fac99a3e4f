/* Messages to PID 1s, which leave when what they follow from is written (provider/native-send.c). */
#include "unit.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "base/fd.h"
#include "provider/native-internal.h"
#include "wire/channel.h"

typedef struct World {
        Settle settle;
        SettleWriter writer;
        Native native;
        NativeGuest guests[2];
        int peers[2]; /* the ends of the PID 1s */
        unsigned n_writes;
} World;

static bool has_message(const World *w, unsigned i) {
        char byte;

        return recv(w->peers[i], &byte, sizeof(byte), MSG_DONTWAIT | MSG_PEEK) > 0;
}

static void on_write(void *userdata) {
        World *w = userdata;

        w->n_writes++;
        check_true("nothing has left", !has_message(w, 0) && !has_message(w, 1));
}

static void world_open(World *w) {
        *w = (World) { .writer = { .write = on_write, .userdata = w } };
        w->native.config.settle = &w->settle;
        w->native.guests_fd = epoll_create1(EPOLL_CLOEXEC);
        check_true("epoll", w->native.guests_fd >= 0);
        check_true("loop", sd_event_new(&w->native.event) >= 0);
        settle_add_writer(&w->settle, &w->writer);
        check_true("sending", native_sending_init(&w->native) >= 0);
        for (unsigned i = 0; i < 2; i++) {
                int fds[2];

                check_true("channel", channel_pair(fds) >= 0);
                w->guests[i] = (NativeGuest) { .native = &w->native, .fd = fds[0], .root_fd = -EBADF };
                w->peers[i] = fds[1];
        }
}

static void world_close(World *w) {
        for (unsigned i = 0; i < 2; i++) {
                native_send_forget(w->guests + i);
                (void) fd_close(w->guests[i].fd);
                (void) fd_close(w->peers[i]);
        }
        native_sending_done(&w->native);
        (void) fd_close(w->native.guests_fd);
        sd_event_unref(w->native.event);
}

static void send_one(World *w, unsigned i, bool may_wait) {
        check_true("send", native_send_guest(w->guests + i, "x", 1, NULL, 0, may_wait) >= 0);
}

TEST(what_follows_from_unwritten_rows_waits) {
        World w;

        world_open(&w);
        send_one(&w, 0, /* may_wait= */ false);
        check_true("nothing is unwritten: at once", has_message(&w, 0));
        settle_mark(&w.settle);
        send_one(&w, 1, /* may_wait= */ false);
        check_true("held", !has_message(&w, 1));
        w.settle.writers = NULL; /* it looks at both guests */
        settle_now(&w.settle);
        check_true("sent with the write", has_message(&w, 1));
        world_close(&w);
}

/* The moment that was chosen for the first one may come when another one has been added, the row of which is unwritten. */
TEST(what_is_in_no_hurry_waits_too) {
        World w;

        world_open(&w);
        send_one(&w, 0, /* may_wait= */ true);
        settle_mark(&w.settle);
        send_one(&w, 1, /* may_wait= */ true);
        check_true("both wait", !has_message(&w, 0) && !has_message(&w, 1));
        check_true("now", sd_event_source_set_time_relative(w.native.later, 0) >= 0);
        check_true("loop", sd_event_run(w.native.event, UINT64_MAX) >= 0);
        check_true("both have left", has_message(&w, 0) && has_message(&w, 1));
        check_int("after one write", w.n_writes, 1);
        world_close(&w);
}
