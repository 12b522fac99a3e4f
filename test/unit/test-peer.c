/* The gate's connection to coved when something runs short: it waits, and does not spin. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "gate/peer.h"

#define ATTEMPTS 5
#define REST     (100 * USEC_PER_MSEC)

static struct {
        int error; /* 0: the kernel does it */
        unsigned n;
        usec_t first, last;
} sending, receiving;

static bool fails(typeof(sending) *what) {
        if (what->error == 0)
                return false;
        if (what->n++ == 0)
                what->first = clock_usec();
        what->last = clock_usec();
        errno = what->error;
        return true;
}

/* Instead of libc's: the kernel cannot be made to lack something on demand. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
        return fails(&sending) ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
        return fails(&receiving) ? -1 : syscall(SYS_recvmsg, fd, message, flags);
}

static void on_gone(Gate *g, void *userdata) {
        ++*(unsigned *) userdata;
}

static unsigned n_messages;
static void on_message(Gate *g, json_t *message, int *fds, size_t n_fds) {
        n_messages++;
}

static void until_tried(sd_event *event, typeof(sending) *what, const char *name) {
        for (unsigned i = 0; what->n < ATTEMPTS && i < 100000; i++)
                (void) sd_event_run(event, 50 * USEC_PER_MSEC);
        check_true(name, what->n >= ATTEMPTS);
        check_true(name, what->last - what->first >= (ATTEMPTS - 2) * REST);
}

TEST(a_shortage_is_waited_out) {
        static const int errors[] = { ENOBUFS, ETOOMANYREFS };

        for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
                unsigned gone = 0;
                Gate g = { 0 };
                int ends[2];
                char text[CONTROL_MESSAGE_MAX];
                json_t *message = NULL;
                int fds[CONTROL_FDS_MAX];
                size_t n_fds;

                assert_true(sd_event_new(&g.event) >= 0);
                assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
                check_result("peer", peer_new(&g, ends[0], &(PeerEvents) { .message = on_message, .broken = on_message, .cut = on_message, .gone = on_gone, .userdata = &gone }, NULL), 0);
                sending = (typeof(sending)) { .error = errors[i] };
                peer_answer(g.peer, json_pack("{s:i}", "done", 1));
                until_tried(g.event, &sending, "sending");
                sending.error = 0;
                for (unsigned k = 0; k < 1000 && recv(ends[1], text, sizeof(text), MSG_PEEK) < 0; k++)
                        (void) sd_event_run(g.event, 50 * USEC_PER_MSEC);
                check_result("it comes", control_receive(ends[1], &message, fds, &n_fds), 1);
                json_decref(message);

                n_messages = 0;
                receiving = (typeof(receiving)) { .error = errors[i] };
                check_true("send", send(ends[1], "{}", 2, 0) == 2);
                until_tried(g.event, &receiving, "receiving");
                receiving.error = 0;
                for (unsigned k = 0; k < 1000 && n_messages == 0; k++)
                        (void) sd_event_run(g.event, 50 * USEC_PER_MSEC);
                check_uint("it is heard", n_messages, 1);
                check_uint("nobody hung up", gone, 0);
                peer_free(g.peer);
                (void) fd_close(ends[1]);
                sd_event_unref(g.event);
        }
}
