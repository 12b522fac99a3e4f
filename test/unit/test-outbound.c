/* Requests to others: libcurl in the loop, against a server of our own in a child process. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/address.h"
#include "outbound/delivery.h"
#include "outbound/outbound.h"
#include "unit.h"

#define PATIENCE (60 * USEC_PER_SEC)

/* The server: one connection after the other, each played by a function. What it got is in a file. */

typedef struct Server {
        pid_t pid;
        int fd;
        unsigned port;
        char url[64], smtp[64];
        const char *record;
} Server;

static int listen_somewhere(unsigned *ret_port) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(a);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        assert_true(fd >= 0);
        assert_int_equal(bind(fd, (struct sockaddr *) &a, sizeof(a)), 0);
        assert_int_equal(listen(fd, 16), 0);
        assert_int_equal(getsockname(fd, (struct sockaddr *) &a, &size), 0);
        *ret_port = ntohs(a.sin_port);
        return fd;
}

typedef void (*Play)(int fd, unsigned number, int record);

static Server server_start(Play play) {
        Server s = { .record = unit_path("record") };
        int record = open(s.record, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);

        s.fd = listen_somewhere(&s.port);
        (void) snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%u/path?x=1", s.port);
        (void) snprintf(s.smtp, sizeof(s.smtp), "smtp://127.0.0.1:%u", s.port);
        s.pid = fork();
        assert_true(s.pid >= 0);
        if (s.pid == 0) {
                for (unsigned n = 1;; n++) {
                        int fd = accept(s.fd, NULL, NULL);

                        if (fd < 0)
                                _exit(0);
                        play(fd, n, record);
                        (void) close(fd);
                }
        }
        (void) close(record);
        return s;
}

static void server_stop(Server *s) {
        (void) kill(s->pid, SIGKILL);
        (void) waitpid(s->pid, NULL, 0);
        (void) close(s->fd);
}

static char *recorded(const Server *s) {
        char *text;

        assert_int_equal(file_read_alloc(AT_FDCWD, s->record, 1 << 20, &text, NULL), 0);
        return text;
}

/* Head and body, as long as the head says. */
static void read_request(int fd, int record) {
        static char buffer[1 << 18];
        size_t have = 0;

        for (;;) {
                ssize_t n = read(fd, buffer + have, sizeof(buffer) - 1 - have);
                const char *end, *length;

                if (n <= 0)
                        break;
                have += (size_t) n;
                buffer[have] = 0;
                end = strstr(buffer, "\r\n\r\n");
                if (!end)
                        continue;
                length = strcasestr(buffer, "content-length:");
                if (have >= (size_t) (end + 4 - buffer) + (length ? strtoul(length + 15, NULL, 10) : 0))
                        break;
        }
        (void) fd_write_all(record, buffer, have);
}

static void say(int fd, const char *text) {
        (void) fd_write_all(fd, text, strlen(text));
}

static void play_ok(int fd, unsigned number, int record) {
        read_request(fd, record);
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

static void play_redirect(int fd, unsigned number, int record) {
        read_request(fd, record);
        say(fd, "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

static void play_endless(int fd, unsigned number, int record) {
        static const char block[4096] = { 0 };

        read_request(fd, record);
        say(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
                ;
}

static void play_silence(int fd, unsigned number, int record) {
        char c;

        while (read(fd, &c, 1) > 0)
                ;
}

static void play_slow_start(int fd, unsigned number, int record) {
        read_request(fd, record);
        if (number < 3)
                say(fd, "HTTP/1.1 503 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy");
        else
                say(fd, "HTTP/1.1 204 Fine\r\nConnection: close\r\n\r\n");
}

static void play_never(int fd, unsigned number, int record) {
        read_request(fd, record);
        say(fd, "HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

static void play_refuse(int fd, unsigned number, int record) {
        read_request(fd, record);
        say(fd, "HTTP/1.1 403 No\r\nContent-Length: 6\r\nConnection: close\r\n\r\nno way");
}

static void play_later(int fd, unsigned number, int record) {
        read_request(fd, record);
        if (number == 1)
                say(fd, "HTTP/1.1 429 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        else
                say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

/* Line by line; number of the connection: 1 takes the mail, 2 knows nobody for now, others never. */
static void play_smtp(int fd, unsigned number, int record) {
        FILE *f = fdopen(dup(fd), "r");
        char line[1024];
        bool data = false;

        say(fd, "220 test\r\n");
        while (f && fgets(line, sizeof(line), f)) {
                (void) fd_write_all(record, line, strlen(line));
                if (data && strcmp(line, ".\r\n") != 0)
                        continue;
                if (strncmp(line, "EHLO", 4) == 0)
                        say(fd, "250-test\r\n250 8BITMIME\r\n");
                else if (strncmp(line, "RCPT", 4) == 0 && number > 1)
                        say(fd, number == 2 ? "451 not now\r\n" : "550 nobody\r\n");
                else if (strncmp(line, "DATA", 4) == 0)
                        say(fd, "354 go\r\n");
                else
                        say(fd, "250 ok\r\n");
                data = strncmp(line, "DATA", 4) == 0;
        }
        if (f)
                (void) fclose(f);
}

/* Our side. */

typedef struct Answer {
        unsigned n;
        int r;
        OutboundResult result;
        char body[64];
        size_t size;
        char text[256];
        unsigned attempts;
} Answer;

static void on_answer(const OutboundResult *result, void *userdata) {
        Answer *a = userdata;

        a->n++;
        a->result = *result;
        a->size = result->size;
        (void) snprintf(a->body, sizeof(a->body), "%s", result->body);
}

static void on_delivered(int r, const char *text, unsigned attempts, void *userdata) {
        Answer *a = userdata;

        a->n++;
        a->r = r;
        a->attempts = attempts;
        (void) snprintf(a->text, sizeof(a->text), "%s", text);
}

typedef struct Loop {
        sd_event *event;
        Outbound *outbound;
        Deliveries *deliveries;
} Loop;

static Loop loop_new(void) {
        Loop l = { 0 };

        assert_int_equal(sd_event_new(&l.event), 0);
        assert_int_equal(outbound_new(l.event, &l.outbound, NULL), 0);
        assert_int_equal(deliveries_new(l.event, l.outbound, &l.deliveries, NULL), 0);
        return l;
}

static void loop_done(Loop *l) {
        deliveries_free(l->deliveries);
        outbound_free(l->outbound);
        sd_event_unref(l->event);
}

static void await(Loop *l, const Answer *a) {
        usec_t end = clock_usec() + PATIENCE;

        while (a->n == 0 && clock_usec() < end)
                assert_true(sd_event_run(l->event, USEC_PER_SEC) >= 0);
        check_uint("ends", a->n, 1);
}

static Answer ask(const OutboundSpec *spec) {
        Loop l = loop_new();
        Error error = { 0 };
        Answer a = { 0 };

        check_result("asked", outbound_send(l.outbound, spec, on_answer, &a, NULL, &error), 0);
        check_uint("not before the call returns", a.n, 0);
        await(&l, &a);
        loop_done(&l);
        return a;
}

static OutboundSpec to(const char *url) {
        OutboundSpec s = OUTBOUND_SPEC_INIT;

        s.url = url;
        s.timeout_usec = PATIENCE;
        return s;
}

TEST(post_arrives_whole) {
        static const char *const headers[] = { "Content-Type: application/json", "X-One: 1", NULL };
        Server s = server_start(play_ok);
        OutboundSpec spec = to(s.url);
        Answer a;
        _cleanup_free_ char *got = NULL;

        spec.headers = headers;
        spec.body = "{\"a\":1}";
        spec.size = 7;
        a = ask(&spec);
        got = recorded(&s);
        server_stop(&s);
        check_result("no error", a.result.error, 0);
        check_uint("status", a.result.status, 200);
        check_string("answer", a.body, "hello");
        check_part("line", got, "POST /path?x=1 HTTP/1.1\r\n");
        check_part("type", got, "Content-Type: application/json\r\n");
        check_part("own header", got, "X-One: 1\r\n");
        check_part("body", got, "\r\n\r\n{\"a\":1}");
}

TEST(put_from_file_is_signed) {
        Server s = server_start(play_ok);
        OutboundSpec spec = to(s.url);
        char big[100000];
        Answer a;
        _cleanup_free_ char *got = NULL;
        int fd = open(unit_path("upload"), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);

        memset(big, 'x', sizeof(big));
        assert_int_equal(fd_write_all(fd, big, sizeof(big)), 0);
        spec.method = "PUT";
        spec.body_fd = fd;
        spec.sigv4 = "aws:amz:eu-west-1:s3";
        spec.access_key = "AKID";
        spec.secret_key = "SECRET";
        a = ask(&spec);
        got = recorded(&s);
        server_stop(&s);
        check_uint("status", a.result.status, 200);
        check_part("line", got, "PUT /path?x=1 HTTP/1.1\r\n");
        check_part("length", got, "Content-Length: 100000\r\n");
        check_part("signed", got, "Authorization: AWS4-HMAC-SHA256 Credential=AKID/");
        check_part("scope", got, "/eu-west-1/s3/aws4_request");
        check_true("the secret stays", !strstr(got, "SECRET"));
        check_true("all of it", strlen(strstr(got, "\r\n\r\n") + 4) == sizeof(big));
        check_true("the file is closed", fcntl(fd, F_GETFD) < 0);
}

TEST(proxies_of_the_environment_are_ignored) {
        Server s = server_start(play_ok);
        OutboundSpec spec = to(s.url);
        Answer a;

        (void) setenv("http_proxy", "http://127.0.0.1:1", 1);
        (void) setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
        a = ask(&spec);
        (void) unsetenv("http_proxy");
        (void) unsetenv("ALL_PROXY");
        server_stop(&s);
        check_uint("status", a.result.status, 200);
}

TEST(redirects_are_answers) {
        Server s = server_start(play_redirect);
        OutboundSpec spec = to(s.url);
        Answer a;
        _cleanup_free_ char *got = NULL;

        spec.method = "GET";
        a = ask(&spec);
        got = recorded(&s);
        server_stop(&s);
        check_uint("status", a.result.status, 302);
        check_true("only asked once", !strstr(got, "/other"));
}

TEST(answers_are_cut) {
        Server s = server_start(play_endless);
        OutboundSpec spec = to(s.url);
        Answer a;

        spec.answer_max = 10000;
        a = ask(&spec);
        server_stop(&s);
        check_result("no error", a.result.error, 0);
        check_uint("status", a.result.status, 200);
        check_uint("so much", a.size, 10000);
}

TEST(time_limit_is_kept_153) {
        Server s = server_start(play_silence);
        OutboundSpec spec = to(s.url);
        Answer a;

        spec.timeout_usec = 100 * USEC_PER_MSEC;
        a = ask(&spec);
        server_stop(&s);
        check_result("error", a.result.error, -ETIMEDOUT);
        check_true("words", a.result.text[0]);
}

TEST(nobody_there) {
        Server s = server_start(play_ok);
        OutboundSpec spec = to(s.url);
        Answer a;

        server_stop(&s);
        a = ask(&spec);
        check_result("error", a.result.error, -ECONNREFUSED);
        check_uint("status", a.result.status, 0);
}

TEST(cancelled_is_silent) {
        Server s = server_start(play_silence);
        OutboundSpec spec = to(s.url);
        Loop l = loop_new();
        OutboundRequest *q = NULL;
        Answer a = { 0 };

        check_result("asked", outbound_send(l.outbound, &spec, on_answer, &a, &q, NULL), 0);
        for (unsigned i = 0; i < 5; i++)
                assert_true(sd_event_run(l.event, 20 * USEC_PER_MSEC) >= 0);
        outbound_cancel(q);
        for (unsigned i = 0; i < 5; i++)
                assert_true(sd_event_run(l.event, 20 * USEC_PER_MSEC) >= 0);
        check_uint("nothing", a.n, 0);
        check_result("another", outbound_send(l.outbound, &spec, on_answer, &a, &q, NULL), 0);
        loop_done(&l); /* with one under way */
        check_uint("nothing", a.n, 0);
        server_stop(&s);
}

TEST(what_cannot_be_is_refused_at_once) {
        static const char *const injected[] = { "X-A: b\r\nX-Evil: c", NULL };
        static const char *const nameless[] = { ": b", NULL };
        static const char *const urls[] = { "file:///etc/passwd", "ftp://x/", "gopher://x", "", "http://", "http://a b/", NULL };
        Loop l = loop_new();
        OutboundSpec spec;
        Answer a = { 0 };
        Strv recipients = STRV_INIT(4);

        for (size_t i = 0; i < ELEMENTSOF(urls); i++) {
                spec = to(urls[i]);
                check_result(urls[i] ? urls[i] : "NULL", outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL), -EINVAL);
        }
        spec = to("http://127.0.0.1/");
        spec.headers = injected;
        check_result("line break", outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL), -EINVAL);
        spec.headers = nameless;
        check_result("no name", outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL), -EINVAL);
        spec.headers = NULL;
        spec.method = "GET /\r\n";
        check_result("method", outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL), -EINVAL);

        assert_int_equal(strv_push(&recipients, "a@b\r\nDATA"), 0);
        spec = to("smtp://127.0.0.1");
        spec.mail_from = "x@y";
        spec.mail_to = &recipients;
        check_result("recipient", outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL), -EINVAL);
        strv_done(&recipients);
        loop_done(&l);
}

TEST(addresses) {
        static const struct {
                const char *text;
                bool is_public;
        } all[] = {
                { "1.1.1.1", true },            { "8.8.8.8", true },          { "100.63.255.255", true },   { "172.32.0.1", true },
                { "223.255.255.255", true },    { "169.253.0.1", true },      { "11.0.0.0", true },         { "192.167.255.255", true },
                { "0.0.0.0", false },           { "10.255.1.1", false },      { "127.0.0.1", false },       { "127.255.0.1", false },
                { "169.254.169.254", false },   { "172.16.0.1", false },      { "172.31.255.255", false },  { "192.168.1.1", false },
                { "100.64.0.1", false },        { "198.19.0.1", false },      { "224.0.0.1", false },       { "255.255.255.255", false },
                { "2606:4700::1111", true },    { "::ffff:8.8.8.8", true },   { "64:ff9b::8.8.8.8", true }, { "2002:808:808::1", true },
                { "::", false },                { "::1", false },             { "fe80::1", false },         { "fd00::1", false },
                { "ff02::1", false },           { "::ffff:127.0.0.1", false }, { "::127.0.0.1", false },
                { "64:ff9b::169.254.169.254", false }, { "2002:7f00:1::", false }, { "2001::1", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
                struct sockaddr_in four = { .sin_family = AF_INET };
                bool is_four = inet_pton(AF_INET, all[i].text, &four.sin_addr) == 1;

                assert_true(is_four || inet_pton(AF_INET6, all[i].text, &six.sin6_addr) == 1);
                check_int(all[i].text, address_is_public(is_four ? (const struct sockaddr *) &four : (const struct sockaddr *) &six),
                                all[i].is_public);
        }
        check_true("a socket with a path", !address_is_public(&(struct sockaddr) { .sa_family = AF_UNIX }));
}

/* Where who asks in somebody else's name never goes. */
TEST(addresses_that_are_inside) {
        static const struct {
                const char *text;
                bool inside;
        } all[] = {
                { "127.0.0.1", true },        { "127.9.9.9", true },       { "0.0.0.0", true },           { "0.1.2.3", true },
                { "169.254.169.254", true },  { "224.0.0.1", true },       { "255.255.255.255", true },   { "240.0.0.1", true },
                { "::", true },               { "::1", true },             { "fe80::1", true },           { "ff02::1", true },
                { "::ffff:127.0.0.1", true }, { "::ffff:169.254.169.254", true }, { "64:ff9b::7f00:1", true }, { "64:ff9b::a9fe:a9fe", true },
                { "fd00:ec2::254", true },    { "64:ff9b:1::a9fe:a9fe", true }, { "100.100.100.200", true },
                { "2002:7f00:1::", true },    { "::127.0.0.1", true },     { "::ffff:0.0.0.0", true },
                { "9.9.9.9", false },         { "10.200.201.202", false }, { "192.168.200.201", false },  { "2620:fe::fe", false },
                { "fd12::1", false },         { "::ffff:9.9.9.9", false }, { "64:ff9b::909:909", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
                struct sockaddr_in four = { .sin_family = AF_INET };
                bool is_four = inet_pton(AF_INET, all[i].text, &four.sin_addr) == 1;

                assert_true(is_four || inet_pton(AF_INET6, all[i].text, &six.sin6_addr) == 1);
                check_int(all[i].text, address_is_inside(is_four ? (const struct sockaddr *) &four : (const struct sockaddr *) &six), all[i].inside);
        }
        check_true("a socket with a path", address_is_inside(&(struct sockaddr) { .sa_family = AF_UNIX }));
}

TEST(who_is_not_trusted_reaches_no_private_network) {
        const DeliveryLimits limits = { .attempts_max = 5, .backoff_usec = USEC_PER_MSEC, .backoff_max_usec = USEC_PER_MSEC, .queue_max = 5 };
        Server s = server_start(play_ok);
        OutboundSpec spec = to(s.url);
        Loop l = loop_new();
        Answer a = { 0 }, trusted = { 0 };
        _cleanup_free_ char *got = NULL;

        check_result("asked", outbound_send(l.outbound, &spec, on_answer, &trusted, NULL, NULL), 0);
        await(&l, &trusted); /* and leaves its connection open */
        check_uint("who is trusted does", trusted.result.status, 200);
        spec.public_only = true;
        spec.body = "not this";
        spec.size = strlen(spec.body);
        check_result("added", delivery_add(l.deliveries, "test", &spec, &limits, on_delivered, &a, NULL), 0);
        await(&l, &a);
        check_result("refused", a.r, -EPERM);
        check_uint("once and for all", a.attempts, 1);
        check_part("why", a.text, "private network");
        loop_done(&l);
        got = recorded(&s);
        server_stop(&s);
        check_true("nothing came", !strstr(got, "not this"));
}

static OutboundSpec mail(const Server *s, const Strv *recipients) {
        OutboundSpec spec = to(s->smtp);

        spec.mail_from = "cove@localhost";
        spec.mail_to = recipients;
        spec.body = "Subject: x\r\n\r\n.dot\r\n";
        spec.size = strlen(spec.body);
        return spec;
}

TEST(mail_is_taken_or_refused) {
        Strv recipients = STRV_INIT(4);
        Server s = server_start(play_smtp);
        OutboundSpec spec = mail(&s, &recipients);
        Answer a;
        _cleanup_free_ char *got = NULL;

        assert_int_equal(strv_push(&recipients, "ops@localhost"), 0);
        a = ask(&spec);
        check_result("taken", a.result.error, 0);
        check_uint("status", a.result.status, 0);
        a = ask(&spec);
        check_result("not now", a.result.error, -EPROTO);
        check_uint("status", a.result.status, 451);
        a = ask(&spec);
        check_uint("never", a.result.status, 550);

        spec.starttls = 1;
        a = ask(&spec);
        check_result("no STARTTLS", a.result.error, -EPROTONOSUPPORT);
        check_part("words", a.result.text, "STARTTLS");
        spec.starttls = 0;
        spec.user = "me";
        spec.password = "tellnobody";
        a = ask(&spec);
        check_result("a password never goes in the clear", a.result.error, -EPROTONOSUPPORT);

        got = recorded(&s);
        server_stop(&s);
        strv_done(&recipients);
        check_part("from", got, "MAIL FROM:<cove@localhost>");
        check_part("to", got, "RCPT TO:<ops@localhost>");
        check_part("dots", got, "\r\n..dot\r\n.\r\n");
        check_true("no password", !strstr(got, "AUTH"));
}

/* Deliveries. */

static const DeliveryLimits quick = {
        .attempts_max = 4,
        .backoff_usec = 10 * USEC_PER_MSEC,
        .backoff_max_usec = 2 * USEC_PER_SEC,
        .queue_max = 2,
};

static Answer deliver(const OutboundSpec *spec, DeliveryStats *ret_stats) {
        Loop l = loop_new();
        Error error = { 0 };
        Answer a = { 0 };

        check_result("taken", delivery_add(l.deliveries, "test", spec, &quick, on_delivered, &a, &error), 0);
        await(&l, &a);
        deliveries_stats(l.deliveries, ret_stats);
        loop_done(&l);
        return a;
}

TEST(delivery_is_tried_again) {
        Server s = server_start(play_slow_start);
        OutboundSpec spec = to(s.url);
        DeliveryStats stats;
        Answer a = deliver(&spec, &stats);

        server_stop(&s);
        check_result("delivered", a.r, 0);
        check_uint("attempts", a.attempts, 3);
        check_uint("delivered", stats.delivered, 1);
        check_uint("retried", stats.retried, 2);
        check_uint("pending", stats.pending, 0);
        check_part("the last failure is remembered", stats.last_error, "answered 503: busy");
}

TEST(delivery_gives_up) {
        Server s = server_start(play_never);
        OutboundSpec spec = to(s.url);
        DeliveryStats stats;
        Answer a = deliver(&spec, &stats);

        server_stop(&s);
        check_result("failed", a.r, -EREMOTEIO);
        check_uint("attempts", a.attempts, 4);
        check_uint("failed", stats.failed, 1);
        check_part("words", a.text, "500");
        a = deliver(&spec, &stats);
        check_result("nobody there", a.r, -ECONNREFUSED);
        check_uint("attempts", a.attempts, 4);
}

TEST(delivery_takes_no_for_an_answer) {
        Server s = server_start(play_refuse);
        OutboundSpec spec = to(s.url);
        DeliveryStats stats;
        Answer a = deliver(&spec, &stats);

        server_stop(&s);
        check_result("failed", a.r, -EREMOTEIO);
        check_uint("attempts", a.attempts, 1);
        check_string("words", a.text, "answered 403: no way");
}

TEST(delivery_waits_as_asked) {
        Server s = server_start(play_later);
        OutboundSpec spec = to(s.url);
        DeliveryStats stats;
        usec_t start = clock_usec();
        Answer a = deliver(&spec, &stats);

        server_stop(&s);
        check_result("delivered", a.r, 0);
        check_true("a second", clock_usec() - start >= USEC_PER_SEC);
}

TEST(delivery_mail_refused_for_good) {
        Strv recipients = STRV_INIT(4);
        Server s = server_start(play_smtp);
        OutboundSpec spec = mail(&s, &recipients);
        DeliveryStats stats;
        Answer a;

        assert_int_equal(strv_push(&recipients, "ops@localhost"), 0);
        (void) deliver(&spec, &stats);
        a = deliver(&spec, &stats); /* 451, then 550 */
        server_stop(&s);
        strv_done(&recipients);
        check_result("refused", a.r, -EPROTO);
        check_uint("attempts", a.attempts, 2);
}

TEST(delivery_queue_is_bounded) {
        Server s = server_start(play_silence);
        OutboundSpec spec = to(s.url);
        Loop l = loop_new();
        Answer a = { 0 };
        DeliveryStats stats;

        for (unsigned i = 0; i < quick.queue_max; i++)
                check_result("taken", delivery_add(l.deliveries, "test", &spec, &quick, on_delivered, &a, NULL), 0);
        check_result("refused", delivery_add(l.deliveries, "test", &spec, &quick, on_delivered, &a, NULL), -EBUSY);
        deliveries_stats(l.deliveries, &stats);
        check_uint("pending", stats.pending, 2);
        check_uint("refused", stats.refused, 1);
        loop_done(&l);
        server_stop(&s);
        check_uint("silent", a.n, 0);
}
