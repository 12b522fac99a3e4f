/* The resolver against a name server in the same loop: what it asks, what it joins, what it keeps, and that every call has an end. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/fd.h"
#include "gate/dns/dns-message.h"
#include "gate/dns/resolver.h"

typedef enum How { HOW_ANSWER, HOW_SILENT, HOW_NXDOMAIN, HOW_EMPTY, HOW_SERVFAIL, HOW_GARBAGE, HOW_OTHER_ID } How;

typedef struct Server {
        int fd;
        char address[32];
        sd_event_source *source;
        How how;
        uint32_t ttl;
        uint8_t last; /* of the address */
        unsigned n_questions;
        DnsQuestion question;
} Server;

typedef struct World {
        sd_event *event;
        Resolver *resolver;
        Server server;
        unsigned n_done;
        ResolverAnswer answer;
} World;

static size_t server_answer(Server *s, uint8_t *ret, size_t max) {
        IpAddress address = { .bytes = { [10] = 0xff, 0xff, 93, 184, 216, s->last } };
        DnsAnswer a = { .ttl = s->ttl };
        DnsQuestion q = s->question;

        if (s->how == HOW_NXDOMAIN)
                a.rcode = DNS_NXDOMAIN;
        if (s->how == HOW_SERVFAIL)
                a.rcode = DNS_SERVFAIL;
        if (s->how == HOW_OTHER_ID)
                q.id ^= 1;
        if (s->how == HOW_ANSWER || s->how == HOW_OTHER_ID) {
                a.addresses = &address;
                a.n_addresses = 1;
        }
        return dns_answer_write(&q, &a, ret, max);
}

static int on_question(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct sockaddr_in from;
        socklen_t from_size = sizeof(from);
        uint8_t buffer[DNS_UDP_SIZE_MAX];
        Server *s = userdata;
        uint16_t id = s->question.id;
        ssize_t size = recvfrom(fd, buffer, sizeof(buffer), MSG_DONTWAIT, (struct sockaddr *) &from, &from_size);

        if (size < 0)
                return 0;
        check_result("a good question", dns_question_parse(buffer, (size_t) size, &s->question), 0);
        if (s->n_questions == 0 || s->question.id != id) /* the same again: our answer took too long */
                s->n_questions++;
        if (s->how == HOW_SILENT)
                return 0;
        if (s->how == HOW_GARBAGE)
                memset(buffer + 12, 0xff, 30), size = 42, buffer[2] = 0x81;
        else
                size = (ssize_t) server_answer(s, buffer, sizeof(buffer));
        (void) sendto(fd, buffer, (size_t) size, 0, (struct sockaddr *) &from, from_size);
        return 0;
}

static void server_open(Server *s) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(a);

        s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        check_int("bind", bind(s->fd, (struct sockaddr *) &a, sizeof(a)), 0);
        check_int("name", getsockname(s->fd, (struct sockaddr *) &a, &size), 0);
        (void) snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", ntohs(a.sin_port));
}

static void world_open(World *w) {
        const char *server = w->server.address;
        Error error = { 0 };

        *w = (World) { .server = { .ttl = 60, .last = 34 } };
        check_true("event", sd_event_new(&w->event) >= 0);
        server_open(&w->server);
        check_true("listen", sd_event_add_io(w->event, &w->server.source, w->server.fd, 1, on_question, &w->server) >= 0);
        check_result("new", resolver_new(w->event, &w->resolver, &error), 0);
        check_result("servers", resolver_set_servers(w->resolver, &server, 1, &error), 0);
}

static void world_close(World *w) {
        resolver_free(w->resolver);
        sd_event_source_disable_unref(w->server.source);
        (void) fd_close(w->server.fd);
        sd_event_unref(w->event);
}

static void on_done(const ResolverAnswer *a, void *userdata) {
        World *w = userdata;

        w->answer = *a;
        w->n_done++;
}

static ResolverCall *ask(World *w, const char *name) {
        ResolverCall *c = resolver_ask(w->resolver, name, AF_INET, on_done, w);

        check_true("call", c != NULL);
        return c;
}

static void run_until(World *w, unsigned n_done) {
        usec_t end = clock_usec() + 60 * USEC_PER_SEC;

        while (w->n_done < n_done && clock_usec() < end)
                check_true("run", sd_event_run(w->event, 100 * USEC_PER_MSEC) >= 0);
        check_uint("answered", w->n_done, n_done);
}

/* Whatever happens by itself within a while. */
static void run_on(World *w) {
        for (int i = 0; i < 20; i++)
                (void) sd_event_run(w->event, 5 * USEC_PER_MSEC);
}

TEST(a_name_is_asked_once_and_then_known) {
        World w;

        world_open(&w);
        check_true("unknown", !resolver_knows(w.resolver, "example.org", AF_INET));
        (void) ask(&w, "example.org");
        check_uint("not from within", w.n_done, 0);
        run_until(&w, 1);
        check_result("found", w.answer.error, 0);
        check_uint("one", w.answer.n_addresses, 1);
        check_uint("address", w.answer.addresses[0].bytes[15], 34);
        check_uint("v4 mapped", w.answer.addresses[0].bytes[11], 0xff);
        check_true("ttl", w.answer.ttl >= 59 && w.answer.ttl <= 60);
        check_string("name asked", w.server.question.name, "example.org");
        check_uint("type asked", w.server.question.type, DNS_TYPE_A);

        check_true("known", resolver_knows(w.resolver, "example.org", AF_INET));
        check_true("not the other family", !resolver_knows(w.resolver, "example.org", AF_INET6));
        (void) ask(&w, "example.org");
        check_uint("not from within either", w.n_done, 1);
        run_until(&w, 2);
        check_uint("asked once", w.server.n_questions, 1);
        world_close(&w);
}

TEST(the_same_question_is_joined) {
        World w;

        world_open(&w);
        for (int i = 0; i < 10; i++)
                (void) ask(&w, "example.org");
        run_until(&w, 10);
        check_uint("asked once", w.server.n_questions, 1);
        world_close(&w);
}

TEST(a_ttl_of_0_is_a_second) {
        World w;

        world_open(&w);
        w.server.ttl = 0;
        (void) ask(&w, "example.org");
        run_until(&w, 1);
        check_uint("ttl", w.answer.ttl, 1);
        world_close(&w);
}

TEST(what_is_not_there_is_said) {
        static const struct {
                How how;
                int error;
                bool kept;
        } table[] = { { HOW_NXDOMAIN, -ENOENT, true }, { HOW_EMPTY, -ENODATA, true }, { HOW_SERVFAIL, -EHOSTUNREACH, false } };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                World w;

                world_open(&w);
                w.server.how = table[i].how;
                (void) ask(&w, "example.org");
                run_until(&w, 1);
                check_result("error", w.answer.error, table[i].error);
                check_uint("nothing", w.answer.n_addresses, 0);
                check_int("kept", resolver_knows(w.resolver, "example.org", AF_INET), table[i].kept);
                world_close(&w);
        }
}

TEST(a_server_that_is_not_there_is_an_error_at_once) {
        World w;

        world_open(&w);
        w.server.source = sd_event_source_disable_unref(w.server.source);
        w.server.fd = fd_close(w.server.fd);
        (void) ask(&w, "example.org");
        run_until(&w, 1);
        check_result("error", w.answer.error, -EHOSTUNREACH);
        world_close(&w);
}

/* Silence, rubbish and somebody else's answers are the same: the call ends in time, and the resolver goes on. */
TEST(every_call_has_an_end) {
        static const How table[] = { HOW_SILENT, HOW_GARBAGE, HOW_OTHER_ID };
        World w[ELEMENTSOF(table)];
        usec_t begin = clock_usec();

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                world_open(w + i);
                w[i].server.how = table[i];
                (void) ask(w + i, "example.org");
        }
        while (w[0].n_done + w[1].n_done + w[2].n_done < ELEMENTSOF(table) && clock_usec() - begin < 60 * USEC_PER_SEC)
                for (size_t i = 0; i < ELEMENTSOF(table); i++)
                        (void) sd_event_run(w[i].event, 10 * USEC_PER_MSEC);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                check_uint("ended", w[i].n_done, 1);
                check_true("an error", w[i].answer.error == -ETIMEDOUT || w[i].answer.error == -EBADMSG);
                check_uint("nothing", w[i].answer.n_addresses, 0);
        }
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                w[i].server.how = HOW_ANSWER;
                (void) ask(w + i, "example.org");
                run_until(w + i, 2);
                if (w[i].answer.error < 0) { /* it was joined with the former question, which the servers still had some time for */
                        (void) ask(w + i, "example.org");
                        run_until(w + i, 3);
                }
                check_result("goes on", w[i].answer.error, 0);
                world_close(w + i);
        }
}

TEST(a_call_that_was_cancelled_is_silent) {
        ResolverCall *a, *b;
        World w;

        world_open(&w);
        a = ask(&w, "example.org");
        b = ask(&w, "example.org");
        check_true("cancel", !resolver_cancel(a));
        run_until(&w, 1);
        b = ask(&w, "example.org"); /* known: it lies ready */
        check_true("cancel", !resolver_cancel(b));
        check_true("nothing to cancel", !resolver_cancel(NULL));
        run_on(&w);
        check_uint("silent", w.n_done, 1);
        world_close(&w);
}

TEST(other_servers_get_what_is_under_way) {
        const char *address;
        Error error = { 0 };
        World w, other;

        world_open(&w);
        world_open(&other);
        w.server.how = HOW_SILENT;
        other.server.last = 99;
        (void) ask(&w, "example.org");
        run_on(&w);
        check_uint("asked", w.server.n_questions, 1);
        address = other.server.address;
        check_result("servers", resolver_set_servers(w.resolver, &address, 1, &error), 0);
        run_on(&other);
        run_until(&w, 1);
        check_result("answered", w.answer.error, 0);
        check_uint("by the other", w.answer.addresses[0].bytes[15], 99);
        world_close(&other);
        world_close(&w);
}

TEST(an_end_with_calls_open_is_clean) {
        size_t n = unit_count_descriptors();
        World w;

        world_open(&w);
        w.server.how = HOW_SILENT;
        (void) ask(&w, "a.example.org");
        (void) ask(&w, "b.example.org");
        run_on(&w);
        world_close(&w);
        check_uint("silent", w.n_done, 0);
        check_uint("descriptors", unit_count_descriptors(), n);
}

TEST(servers_are_checked_by_name) {
        static const char *const good[] = { "192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:53" };
        static const char *const bad[] = { "", "a", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:x", "[2001:db8::1", "[]:53",
                "[2001:db8::1]x", "2001:db8::1::2", "192.0.2", "localhost:53" };
        World w;

        world_open(&w);
        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                check_result(good[i], resolver_set_servers(w.resolver, good + i, 1, NULL), 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                Error error = { 0 };

                check_result(bad[i], resolver_set_servers(w.resolver, bad + i, 1, &error), -EINVAL);
                check_part("says which", error.text, bad[i]);
        }
        check_result("all of the good", resolver_set_servers(w.resolver, good, ELEMENTSOF(good), NULL), 0);
        world_close(&w);
}

TEST(without_servers_nobody_is_asked) {
        World w = { 0 };
        Error error = { 0 };

        check_true("event", sd_event_new(&w.event) >= 0);
        check_result("new", resolver_new(w.event, &w.resolver, &error), 0);
        (void) ask(&w, "example.org");
        run_until(&w, 1);
        check_result("error", w.answer.error, -EHOSTUNREACH);
        resolver_free(w.resolver);
        sd_event_unref(w.event);
}
