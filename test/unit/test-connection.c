/* Connections of a sandbox that has to wait for its turn (share.h). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "gate/dns/dns.h"
#include "gate/events.h"
#include "gate/relay/connection.h"
#include "gate/share.h"
#include "unit.h"

#define ASKED "GET / HTTP/1.1\r\nHost: somebody\r\n\r\n"

/* Both ends of the world listen at the same place: whoever connects there by the gate is connected to it. */
typedef struct World {
        Gate gate;
        GateSandbox sandbox, other;
        IpRange loopback;
        struct sockaddr_in address;
        int listener, guest;
} World;

static void tell(Gate *g, json_t *event, void *userdata) {
        json_decref(event);
}

static int accept_one(const World *w) {
        int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        check_true("accepted", fd >= 0);
        return fd;
}

static void world_init(World *w) {
        json_t *network = json_pack("{s:s, s:i}", "mode", "open", "maxRequestBytes", 1000000); /* so bytes are looked at */
        socklen_t size = sizeof(w->address);
        JsonComplaints c = { 0 };

        *w = (World) { .gate.control_fd = -EBADF, .gate.claim_fd = -EBADF, .gate.tell = tell, .gate.connections_max = 100 };
        w->sandbox = (GateSandbox) { .gate = &w->gate, .id = "late", .events = gate_events_new(), .share.is_late = true };
        w->other = (GateSandbox) { .gate = &w->gate, .id = "other" };
        HASH_ADD_STR(w->gate.sandboxes, id, &w->sandbox);
        HASH_ADD_STR(w->gate.sandboxes, id, &w->other);
        check_result("loop", sd_event_new(&w->gate.event), 0);
        check_result("pins", pins_new(&w->sandbox.pins), 0);
        check_result("policy", egress_policy_parse(network, "network", NULL, &w->sandbox.policy, &c), 0);
        check_true("no complaint", !json_has_complaints(&c));
        json_decref(network);
        check_result("loopback", ip_range_parse("127.0.0.0/8", &w->loopback), 0);
        w->gate.reachable = &w->loopback;
        w->gate.n_reachable = 1;

        w->address = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check_true("listens", bind(w->listener, (struct sockaddr *) &w->address, size) == 0 && listen(w->listener, 8) == 0 &&
                                              getsockname(w->listener, (struct sockaddr *) &w->address, &size) == 0);
        w->guest = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check_true("the guest connects", connect(w->guest, (struct sockaddr *) &w->address, size) == 0);
}

static void world_done(World *w) {
        connections_sandbox_gone(&w->sandbox);
        dns_sandbox_gone(&w->sandbox);
        share_sandbox_gone(&w->sandbox);
        HASH_CLEAR(hh, w->gate.sandboxes);
        egress_policy_done(&w->sandbox.policy);
        gate_events_free(w->sandbox.events);
        pins_free(w->sandbox.pins);
        sd_event_unref(w->gate.event);
        (void) fd_close(w->listener);
        (void) fd_close(w->guest);
}

/* Until nothing is left to do that can be done at once. */
static void settle(World *w) {
        while (sd_event_run(w->gate.event, 0) > 0)
                ;
}

static void check_arrives(World *w, int fd, const char *what, const char *expected) {
        char data[256] = "";
        ssize_t n = -1;

        for (int i = 0; n < 0 && i < 100; i++) {
                (void) sd_event_run(w->gate.event, 50 * USEC_PER_MSEC);
                n = recv(fd, data, sizeof(data) - 1, MSG_DONTWAIT);
        }
        check_string(what, data, expected);
}

/* A server speaks first while the guest's bytes wait to be looked at: so it is bytes, and nobody looks any more, who would take the descriptors away. */
TEST(not_looked_at_once_it_is_bytes) {
        World w;
        int upstream;

        world_init(&w);
        check_true("the guest asks", send(w.guest, ASKED, strlen(ASKED), MSG_NOSIGNAL) == (ssize_t) strlen(ASKED));
        connection_take(&w.sandbox, accept_one(&w));
        upstream = accept_one(&w);
        check_true("the server greets", send(upstream, "welcome", 7, MSG_NOSIGNAL) == 7);
        settle(&w);
        check_arrives(&w, w.guest, "the greeting", "welcome");
        check_arrives(&w, upstream, "what was asked", ASKED);
        check_uint("one connection", w.sandbox.n_connections, 1);
        (void) fd_close(upstream);
        world_done(&w);
}

/* Somebody who always has something to do, but lets others have their turn. */
typedef struct Busy {
        sd_event *event;
        sd_event_source *source;
        unsigned left;
} Busy;

static int on_busy(sd_event_source *source, void *userdata) {
        Busy *b = userdata;

        return --b->left > 0 ? share_again(b->event, &b->source, on_busy, b) : 0;
}

/* As by datagrams: who has had more than its share is answered when nothing of others is there to be done. */
TEST(questions_by_tcp_wait_for_others) {
        static const uint8_t question[] = { 0, 19, 0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 'a', 0, 0, 1, 0, 3 }; /* of a class that nobody has: refused at once */
        Busy busy = { .left = 100 };
        char answer[2];
        World w;

        world_init(&w);
        dns_take_connection(&w.sandbox, accept_one(&w));
        check_true("the guest asks", send(w.guest, question, sizeof(question), MSG_NOSIGNAL) == sizeof(question));
        busy.event = w.gate.event;
        check_result("somebody else", share_again(busy.event, &busy.source, on_busy, &busy), 0);
        while (busy.left > 1)
                (void) sd_event_run(w.gate.event, 0);
        check_true("no answer yet", recv(w.guest, answer, sizeof(answer), MSG_DONTWAIT) < 0);
        settle(&w);
        for (int i = 0; i < 100 && recv(w.guest, answer, sizeof(answer), MSG_DONTWAIT | MSG_PEEK) < 0; i++)
                (void) sd_event_run(w.gate.event, 50 * USEC_PER_MSEC);
        check_true("then it comes", recv(w.guest, answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer));
        sd_event_source_disable_unref(busy.source);
        world_done(&w);
}
