/* What coved says to the gate, as an enemy may say it: each line is a message, one that begins with "+" brings the descriptors of a sandbox along.
 * The gate lives, and whoever gave a serial gets one answer. */
#include "fuzz.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "gate/control.h"
#include "gate/gate.h"
#include "gate/server.h"

#define MESSAGES_MAX 64

static int open_udp(void) {
        return socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void open_descriptors(int ret[static CONTROL_FDS_MAX]) {
        ret[0] = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        MUST(ret[0] >= 0 && listen(ret[0], 1) == 0);
        ret[1] = open_udp();
        ret[2] = open_udp();
        ret[3] = (int) syscall(SYS_pidfd_open, getpid(), 0);
        MUST(ret[1] >= 0 && ret[2] >= 0 && ret[3] >= 0);
}

static void send_line(int fd, const uint8_t *line, size_t size) {
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
        } ancillary = { 0 };
        struct iovec iov = { .iov_base = (void *) line, .iov_len = size };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
        int fds[CONTROL_FDS_MAX];

        if (line[0] == '+') {
                struct cmsghdr *c = &ancillary.align;

                iov.iov_base = (void *) (line + 1);
                iov.iov_len = size - 1;
                if (iov.iov_len == 0)
                        return;
                open_descriptors(fds);
                mh.msg_control = ancillary.data;
                mh.msg_controllen = sizeof(ancillary.data);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(fds));
                memcpy(CMSG_DATA(c), fds, sizeof(fds));
        }
        (void) sendmsg(fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
        for (size_t i = 0; line[0] == '+' && i < CONTROL_FDS_MAX; i++)
                (void) fd_close(fds[i]);
}

/* 1: does not answer with its serial, or says goodbye. */
static bool is_answered(const uint8_t *line, size_t size, json_int_t *ret_serial) {
        size_t skip = line[0] == '+';
        json_t *j = json_loadb((const char *) line + skip, size - skip, JSON_REJECT_DUPLICATES, NULL);
        json_t *serial = json_object_get(j, "serial");
        const char *verb = json_string_value(json_object_get(j, "do"));
        bool r = json_is_object(j) && json_is_integer(serial) && verb && strcmp(verb, "hello") != 0 && strcmp(verb, "list") != 0 &&
                        strcmp(verb, "quit") != 0;

        *ret_serial = json_integer_value(serial);
        json_decref(j);
        return r;
}

static void read_answers(int fd, json_int_t serial, bool wanted) {
        unsigned n = 0;

        for (;;) {
                int fds[CONTROL_FDS_MAX];
                json_t *j = NULL, *done;
                size_t n_fds = 0;
                int r = control_receive(fd, &j, fds, &n_fds);

                if (r <= 0)
                        break;
                MUST(n_fds == 0);
                done = json_object_get(j, "done") ? json_object_get(j, "done") : json_object_get(j, "failed");
                n += json_is_integer(done) && json_integer_value(done) == serial;
                json_decref(j);
        }
        MUST(!wanted || n == 1);
}

static void talk(Gate *g, int fd, const uint8_t *data, size_t size) {
        for (unsigned i = 0; i < MESSAGES_MAX && size > 0 && sd_event_get_state(g->event) != SD_EVENT_FINISHED; i++) {
                const uint8_t *end = memchr(data, '\n', size);
                size_t length = end ? (size_t) (end - data) : size;

                if (length > 0) {
                        json_int_t serial;
                        bool wanted = is_answered(data, length, &serial);

                        send_line(fd, data, length);
                        for (unsigned k = 0; k < 4 && sd_event_get_state(g->event) != SD_EVENT_FINISHED; k++)
                                MUST(sd_event_run(g->event, 0) >= 0);
                        read_answers(fd, serial, wanted);
                }
                length += end != NULL;
                data += length;
                size -= length;
        }
}

/* The system's authorities are read anew with each message that names others, which takes 60 ms with sanitizers; what they are is not the subject. */
static void leave_out_authorities(void) {
        MUST(setenv("SSL_CERT_FILE", "/dev/null", 1) == 0 && setenv("SSL_CERT_DIR", "/dev/null", 1) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        sd_event *event = NULL;
        Server *server = NULL;
        Gate *g = NULL;
        int pair[2];

        leave_out_authorities();
        MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
        MUST(sd_event_new(&event) >= 0);
        MUST(gate_new(event, &g, NULL) >= 0);
        MUST(server_new(g, pair[0], &server, NULL) >= 0);
        talk(g, pair[1], data, size);
        server_free(server);
        gate_free(g);
        sd_event_unref(event);
        (void) fd_close(pair[1]);
        return 0;
}
