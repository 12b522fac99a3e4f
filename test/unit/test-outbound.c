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
        OutboundSpec s = OUTBOUND_SPEC(IP_REACH_ALL);

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

/* Whose they are, and with it where those who ask in somebody else's name may go. */
TEST(addresses) {
        static const struct {
                const char *text;
                IpKind kind;
        } all[] = {
                { "1.1.1.1", IP_PUBLIC },            { "8.8.8.8", IP_PUBLIC },           { "100.63.255.255", IP_PUBLIC },   { "172.32.0.1", IP_PUBLIC },
                { "223.255.255.255", IP_PUBLIC },    { "169.253.0.1", IP_PUBLIC },       { "11.0.0.0", IP_PUBLIC },         { "192.167.255.255", IP_PUBLIC },
                { "2606:4700::1111", IP_PUBLIC },    { "::ffff:8.8.8.8", IP_PUBLIC },    { "64:ff9b::8.8.8.8", IP_PUBLIC }, { "2002:808:808::1", IP_PUBLIC },
                { "10.255.1.1", IP_PRIVATE },        { "172.16.0.1", IP_PRIVATE },       { "172.31.255.255", IP_PRIVATE },  { "192.168.1.1", IP_PRIVATE },
                { "100.64.0.1", IP_PRIVATE },        { "198.19.0.1", IP_PRIVATE },       { "fd12::1", IP_PRIVATE },         { "2001::1", IP_PRIVATE },
                { "192.88.99.1", IP_PRIVATE },       { "64:ff9b::10.0.0.1", IP_PRIVATE }, { "2002:a00:1::", IP_PRIVATE },   { "4000::1", IP_PRIVATE },
                { "200::1", IP_PRIVATE },            { "e000::1", IP_PRIVATE },          { "fec0::1", IP_PRIVATE },         { "::ffff:0:10.0.0.1", IP_PRIVATE },
                { "127.0.0.1", IP_INSIDE },          { "127.255.0.1", IP_INSIDE },       { "0.0.0.0", IP_INSIDE },          { "0.1.2.3", IP_INSIDE },
                { "169.254.169.254", IP_INSIDE },    { "224.0.0.1", IP_INSIDE },         { "255.255.255.255", IP_INSIDE },  { "240.0.0.1", IP_INSIDE },
                { "100.100.100.200", IP_INSIDE },    { "::", IP_INSIDE },                { "::1", IP_INSIDE },              { "fe80::1", IP_INSIDE },
                { "ff02::1", IP_INSIDE },            { "::127.0.0.1", IP_INSIDE },       { "fd00:ec2::254", IP_INSIDE },    { "64:ff9b:1::a9fe:a9fe", IP_INSIDE },
                { "::ffff:127.0.0.1", IP_INSIDE },   { "::ffff:169.254.169.254", IP_INSIDE }, { "::ffff:0.0.0.0", IP_INSIDE }, { "64:ff9b::7f00:1", IP_INSIDE },
                { "64:ff9b::a9fe:a9fe", IP_INSIDE }, { "2002:7f00:1::", IP_INSIDE },     { "::ffff:0:127.0.0.1", IP_INSIDE },
        };
        IpAddress a;

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                check_result(all[i].text, ip_parse(all[i].text, &a), 0);
                check_int(all[i].text, ip_kind(&a), all[i].kind);
                check_int(all[i].text, address_is_reachable(&a, IP_REACH_PUBLIC, NULL, 0), all[i].kind == IP_PUBLIC);
                check_int(all[i].text, address_is_reachable(&a, IP_REACH_OUTSIDE, NULL, 0), all[i].kind != IP_INSIDE);
                check_true(all[i].text, address_is_reachable(&a, IP_REACH_ALL, NULL, 0));
                check_true(all[i].text, address_is_reachable(&a, IP_REACH_PUBLIC, &(IpRange) { a, 128 }, 1));
        }
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
        spec.reach = IP_REACH_PUBLIC;
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

/* A server that does not mean well: what it does, and what becomes of the request. */

static const char *redirect_to; /* of the one that runs */

static void play_trick(int fd, unsigned number, int record) {
        char buffer[8192];

        read_request(fd, record);
        (void) snprintf(buffer, sizeof(buffer), "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody", redirect_to);
        say(fd, buffer);
}

TEST(redirects_lead_nowhere_they_should_not) {
        static const struct {
                const char *to;
                int error;
                const char *words;
        } all[] = {
                { "http://10.0.0.1:1/", -EPERM, "private network" },
                { "http://127.0.0.1:1/", -EPERM, "private network" },
                { "http://2130706433:1/", -EPERM, "private network" },
                { "http://0x7f.1:1/", -EPERM, "private network" },
                { "http://0177.0.0.1:1/", -EPERM, "private network" },
                { "http://localhost:1/", -EPERM, "private network" },
                { "http://0.0.0.0:1/", -EPERM, "private network" },
                { "http://[::]:1/", -EPERM, "private network" },
                { "http://[::1]:1/", -EPERM, "private network" },
                { "http://[::ffff:127.0.0.1]:1/", -EPERM, "private network" },
                { "http://[64:ff9b::7f00:1]:1/", -EPERM, "private network" },
                { "http://[2002:7f00:1::]:1/", -EPERM, "private network" },
                { "http://169.254.169.254/latest/meta-data", -EPERM, "private network" },
                { "//127.0.0.1:1/", -EPERM, "private network" },
                { "/again", -EPERM, "private network" },
                { "file:///etc/passwd", -EPERM, "that is not https" },
                { "gopher://127.0.0.1:1/_x", -EPERM, "that is not https" },
                { "smtp://127.0.0.1:1/", -EPERM, "that is not https" },
                { "http://user:word@8.8.8.8/", -EPERM, "a name or a password" },
                { "http://[::1", -EPERM, "an invalid URL" },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                Server s;
                OutboundSpec spec;
                Answer a;

                redirect_to = all[i].to;
                s = server_start(play_trick);
                spec = to(s.url);
                spec.method = "GET";
                spec.redirects_max = 3;
                a = ask(&spec);
                server_stop(&s);
                check_result(all[i].to, a.result.error, all[i].error);
                check_part(all[i].to, a.result.text, all[i].words);
                check_true(all[i].to, a.result.final);
        }
}

TEST(redirects_have_an_end_and_take_nothing_along) {
        static const char *const headers[] = { "Authorization: Bearer word", "X-Other: stays", NULL };
        Server s, t;
        OutboundSpec spec;
        Answer a;
        _cleanup_free_ char *first = NULL, *second = NULL;
        const char *other;

        redirect_to = "/round";
        t = server_start(play_trick);
        spec = to(t.url);
        spec.method = "GET";
        spec.redirects_max = 3;
        spec.reach_elsewhere = IP_REACH_ALL;
        spec.headers = headers;
        a = ask(&spec);
        first = recorded(&t);
        check_result("round and round", a.result.error, -ELOOP);
        check_true("to the same host it takes the word along", strstr(strstr(first, "/round"), "Bearer word") != NULL);
        redirect_to = t.url;
        s = server_start(play_trick);
        spec.url = s.url;
        spec.redirects_max = 1;
        (void) ask(&spec);
        server_stop(&s);
        second = recorded(&t);
        server_stop(&t);
        other = strstr(second, "X-Other: stays"); /* both write to one file */
        check_true("it came", other && strstr(other + 1, "X-Other: stays"));
        check_true("with the word to the first", strstr(second, "Bearer word") && strstr(second, "Bearer word") < other + strlen("X-Other: stays"));
        check_true("and without to the other", !strstr(strstr(second, "Bearer word") + 1, "Bearer word"));
}

static void play_head(int fd, unsigned number, int record) {
        char line[1024];

        read_request(fd, record);
        memset(line, 'x', sizeof(line));
        memcpy(line, "X-A: ", 5);
        memcpy(line + sizeof(line) - 2, "\r\n", 2);
        say(fd, "HTTP/1.1 200 OK\r\n");
        while (send(fd, line, sizeof(line), MSG_NOSIGNAL) > 0)
                ;
}

static void play_drip(int fd, unsigned number, int record) {
        read_request(fd, record);
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx");
        play_silence(fd, number, record); /* until it is given up */
}

TEST(heads_have_a_limit_and_silence_an_end) {
        Server s = server_start(play_head);
        OutboundSpec spec = to(s.url);
        Answer a = ask(&spec);

        server_stop(&s);
        check_result("a head without an end", a.result.error, -EMSGSIZE);
        s = server_start(play_drip);
        spec = to(s.url);
        spec.timeout_usec = USEC_INFINITY;
        spec.stall_usec = 300 * USEC_PER_MSEC;
        a = ask(&spec);
        server_stop(&s);
        check_result("a body that stops", a.result.error, -ETIMEDOUT);
        check_part("in words", a.result.text, "nothing came");
}

/* The environment's proxy is for who asks for one, and is no way to what is near. What is near is refused at once where a proxy would be asked for it,
 * and when it is connected to where none would: so it is told from outside which it was, without a byte to anybody. */
TEST(proxies) {
        static const struct {
                const char *url, *none;
                bool proxied;
                int error;
        } all[] = {
                { "http://198.51.100.9/", "", true, 0 },
                { "http://far.example/", "far.example.org, r.example", true, 0 },
                { "http://169.254.7.7/", "", true, -EPERM },
                { "http://[::ffff:169.254.7.7]/", "10.0.0.0/8", true, -EPERM },
                { "http://0xa9fe0707/", "", true, -EPERM },
                { "http://169.254.7.7/", "10.0.0.0/8, 169.254.0.0/16", false, -EPERM },
                { "http://169.254.7.7/", "169.254.7.7", false, -EPERM },
                { "http://169.254.7.7/", "*", false, -EPERM },
                { "http://127.0.0.1:1/", "", false, -EPERM },
                { "http://localhost:1/", "", false, -EPERM },
                { "http://sub.localhost:1/", "", false, -EPERM },
        };
        Server s = server_start(play_ok);

        (void) setenv("http_proxy", s.url, 1);
        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                OutboundSpec spec = OUTBOUND_SPEC(IP_REACH_OUTSIDE);
                Loop l = loop_new();
                Answer a = { 0 };
                int r;

                spec.url = all[i].url;
                spec.method = "GET";
                spec.proxy = true;
                (void) setenv("no_proxy", all[i].none, 1);
                r = outbound_send(l.outbound, &spec, on_answer, &a, NULL, NULL);
                check_result(all[i].url, r, all[i].proxied ? all[i].error : 0);
                if (r >= 0) {
                        await(&l, &a);
                        check_result(all[i].url, a.result.error, all[i].error);
                }
                loop_done(&l);
        }
        (void) unsetenv("http_proxy");
        (void) unsetenv("no_proxy");
        server_stop(&s);
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
