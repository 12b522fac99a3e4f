/* HTTP answers, in one piece, in many, cut off and made up; and requests to a server that misbehaves. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "client/call.h"
#include "client/http/http.h"

typedef struct Record {
        char body[4096];
        size_t size;
        int answer; /* what the sink says */
} Record;

static int take(void *userdata, const void *data, size_t size) {
        Record *r = userdata;

        if (r->answer < 0)
                return r->answer;
        check_true("the body fits", r->size + size < sizeof(r->body));
        memcpy(r->body + r->size, data, size);
        r->size += size;
        r->body[r->size] = '\0';
        return 0;
}

/* Feeds it in portions of `portion` bytes; returns the bytes used, or the error. */
static ssize_t feed(HttpReader *h, const char *text, size_t size, size_t portion) {
        size_t used = 0;

        while (used < size) {
                size_t want = MIN_OF(portion, size - used);
                ssize_t n = http_reader_feed(h, text + used, want);

                if (n < 0)
                        return n;
                used += (size_t) n;
                if ((size_t) n < want)
                        break;
        }
        return (ssize_t) used;
}

static const size_t portions[] = { 1, 2, 3, 7, 64, 100000 };

typedef struct Good {
        const char *what, *text;
        bool bodyless;
        unsigned status;
        const char *body;
        size_t rest; /* bytes behind the answer */
} Good;

static const Good good[] = {
        { "length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, "hello", 0 },
        { "length of 0", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, 404, "", 0 },
        { "length twice, the same", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nhi", false, 200, "hi", 0 },
        { "chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n006\r\n world\r\n0\r\n\r\n", false, 200,
          "hello world", 0 },
        { "chunk extensions and trailers", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;a=b\r\nhi\r\n0;x\r\nA: b\r\n\r\n",
          false, 200, "hi", 0 },
        { "upper case digits", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", false, 200,
          "0123456789", 0 },
        { "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", false, 200, "x", 0 },
        { "no reason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", false, 200, "x", 0 },
        { "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", true, 200, "", 0 },
        { "204", "HTTP/1.1 204 No Content\r\n\r\n", false, 204, "", 0 },
        { "100 before it", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", false, 201, "ok", 0 },
        { "101", "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x02hi", false, 101, "", 4 },
        { "more than the length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!!!", false, 200, "hi", 3 },
        { "more than the chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nabc", false, 200, "", 3 },
};

TEST(good_answers_in_any_portions) {
        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                for (size_t j = 0; j < ELEMENTSOF(portions); j++) {
                        const Good *g = good + i;
                        size_t size = strlen(g->text);
                        Record record = { 0 };
                        HttpReader h;

                        http_reader_init(&h, g->bodyless, take, &record);
                        check_result(g->what, feed(&h, g->text, size, portions[j]), (ssize_t) (size - g->rest));
                        check_true(g->what, http_reader_is_over(&h));
                        check_uint(g->what, h.status, g->status);
                        check_string(g->what, record.body, g->body);
                        check_uint(g->what, h.frame.total, strlen(g->body));
                        check_result(g->what, http_reader_end(&h), 0);
                        http_reader_done(&h);
                }
}

TEST(a_body_until_the_end) {
        static const char text[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it";
        Record record = { 0 };
        HttpReader h;

        http_reader_init(&h, false, take, &record);
        check_result("fed", feed(&h, text, strlen(text), 5), (ssize_t) strlen(text));
        check_true("goes on", !http_reader_is_over(&h));
        check_result("end", http_reader_end(&h), 0);
        check_string("body", record.body, "all of it");
        http_reader_done(&h);
}

TEST(headers_are_found) {
        static const char text[] = "HTTP/1.1 200 OK\r\nX-Next-Cursor:  abc d \t\r\nEmpty:\r\nContent-Length: 0\r\n\r\n";
        HttpReader h;

        http_reader_init(&h, false, /* body= */ NULL, NULL);
        check_result("fed", feed(&h, text, strlen(text), 100), (ssize_t) strlen(text));
        check_string("any case", http_reader_header(&h, "x-next-cursor"), "abc d");
        check_string("empty", http_reader_header(&h, "empty"), "");
        check_true("absent", !http_reader_header(&h, "X-Next"));
        http_reader_done(&h);
}

/* An answer that was cut off is never taken for a whole one. */
TEST(every_truncation_is_seen) {
        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                for (size_t size = 0; size < strlen(good[i].text) - good[i].rest; size++) {
                        Record record = { 0 };
                        HttpReader h;

                        http_reader_init(&h, good[i].bodyless, take, &record);
                        check_result(good[i].what, feed(&h, good[i].text, size, 100000), (ssize_t) size);
                        check_result(good[i].what, http_reader_end(&h), -ECONNRESET);
                        http_reader_done(&h);
                }
}

static const struct {
        const char *what, *text;
} bad[] = {
        { "no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n" },
        { "HTTP/2", "HTTP/2.0 200 OK\r\n\r\n" },
        { "status of letters", "HTTP/1.1 2x0 OK\r\n\r\n" },
        { "status of two digits", "HTTP/1.1 20 OK\r\n\r\n" },
        { "status of four digits", "HTTP/1.1 2000 OK\r\n\r\n" },
        { "status below 100", "HTTP/1.1 099 OK\r\n\r\n" },
        { "bare newlines", "HTTP/1.1 200 OK\nContent-Length: 1\r\n\r\nx" },
        { "no colon", "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n" },
        { "blank before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx" },
        { "empty name", "HTTP/1.1 200 OK\r\n: 1\r\n\r\nx" },
        { "folded header", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n" },
        { "control character", "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n" },
        { "length of letters", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" },
        { "negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" },
        { "length beyond all", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n" },
        { "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx" },
        { "length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { "another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" },
        { "chunk of letters", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n" },
        { "empty chunk head", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n" },
        { "chunk beyond all", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" },
        { "chunk longer than said", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n" },
        { "chunk with a bare newline", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n" },
        { "bad trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n" },
};

TEST(bad_answers_are_refused) {
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                for (size_t j = 0; j < ELEMENTSOF(portions); j++) {
                        Record record = { 0 };
                        HttpReader h;

                        http_reader_init(&h, false, take, &record);
                        check_result(bad[i].what, feed(&h, bad[i].text, strlen(bad[i].text), portions[j]), -EBADMSG);
                        http_reader_done(&h);
                }
}

TEST(a_nul_byte_is_refused) {
        static const char head[] = "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n";
        HttpReader h;

        http_reader_init(&h, false, take, NULL);
        check_result("head", http_reader_feed(&h, head, sizeof(head) - 1), -EBADMSG);
        http_reader_done(&h);
}

static void check_flood(const char *what, const char *start, const char *again) {
        ssize_t n = 0;
        HttpReader h;

        http_reader_init(&h, false, /* body= */ NULL, NULL);
        check_result(what, feed(&h, start, strlen(start), 1000), (ssize_t) strlen(start));
        for (size_t i = 0; i < 100000 && n >= 0; i++)
                n = feed(&h, again, strlen(again), 1000);
        check_result(what, n, -EBADMSG);
        http_reader_done(&h);
}

TEST(nothing_grows_without_end) {
        check_flood("status line", "HTTP/1.1 200 ", "O");
        check_flood("headers", "HTTP/1.1 200 OK\r\n", "A: b\r\n");
        check_flood("one header", "HTTP/1.1 200 OK\r\nA: ", "bbbbbbbbbb");
        check_flood("chunk head", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", ";aaaaaaaa");
        check_flood("trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ", "bbbbbbbb");
}

TEST(too_many_headers_are_refused) {
        char text[8192] = "HTTP/1.1 200 OK\r\n";
        HttpReader h;

        for (int i = 0; i <= HEAD_FIELDS_MAX; i++)
                strcat(text, "A: b\r\n");
        strcat(text, "\r\n");
        http_reader_init(&h, false, /* body= */ NULL, NULL);
        check_result("257 headers", http_reader_feed(&h, text, strlen(text)), -EBADMSG);
        http_reader_done(&h);
}

TEST(what_the_sink_says_comes_back) {
        static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        Record record = { .answer = -ENOSPC };
        HttpReader h;

        http_reader_init(&h, false, take, &record);
        check_result("sink", http_reader_feed(&h, text, strlen(text)), -ENOSPC);
        http_reader_done(&h);
}

/* Calls. */

/* A server in a child: reads `reads` bytes, or the head when it is 0, writes the text and hangs up. */
typedef struct Server {
        pid_t pid;
        Place place;
} Server;

static void serve(int listener, size_t reads, const char *text) {
        int fd = accept(listener, NULL, NULL);
        char buffer[65536];
        size_t got = 0;

        while (reads == 0 ? got < 4 || !memmem(buffer, got, "\r\n\r\n", 4) : got < reads) {
                ssize_t n = read(fd, buffer, reads == 0 ? sizeof(buffer) : MIN_OF(sizeof(buffer), reads - got));
                if (n <= 0)
                        break;
                got += (size_t) n;
        }
        (void) fd_write_all(fd, text, strlen(text));
        (void) close(fd);
        _exit(0);
}

static Server server_start(size_t reads, const char *text) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const char *path = unit_path("server.sock");
        Server s = { 0 };

        (void) unlink(path);
        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path ? path : "");
        check_result("bind", bind(listener, (struct sockaddr *) &address, sizeof(address)), 0);
        check_result("listen", listen(listener, 1), 0);
        s.pid = fork();
        if (s.pid == 0)
                serve(listener, reads, text);
        (void) close(listener);
        s.place.socket = strdup(path);
        s.place.label = strdup(path);
        return s;
}

static void server_stop(Server *s) {
        (void) kill(s->pid, SIGKILL);
        (void) waitpid(s->pid, NULL, 0);
        place_done(&s->place);
}

static ssize_t endless(void *userdata, void *buffer, size_t size) {
        memset(buffer, 'x', size);
        *(uint64_t *) userdata += size;
        return (ssize_t) size;
}

static int run_call(const Server *s, Request *q, Call *c, Record *record, Error *error) {
        int r;

        q->path = "/";
        q->sink = take;
        q->sink_data = record;
        r = call_start(c, &s->place, q, error);
        return r < 0 ? r : call_run(c, error);
}

TEST(a_refusal_in_the_middle_of_an_upload_is_heard) {
        Server s = server_start(100000, "HTTP/1.1 507 Full\r\nContent-Length: 4\r\n\r\nfull");
        Request q = REQUEST_INIT;
        Record record = { 0 };
        Error error = { 0 };
        Call c = CALL_INIT;
        uint64_t sent = 0;

        q.method = "PUT";
        q.source = endless;
        q.source_data = &sent;
        q.source_size = CALL_SIZE_UNKNOWN;
        check_result("call", run_call(&s, &q, &c, &record, &error), 0);
        check_uint("status", c.answer.status, 507);
        check_string("body", record.body, "full");
        check_true("sent something", sent > 0);
        call_done(&c);
        server_stop(&s);
}

TEST(a_hang_up_without_an_answer_is_told) {
        Server s = server_start(0, "");
        Request q = REQUEST_INIT;
        Record record = { 0 };
        Error error = { 0 };
        Call c = CALL_INIT;

        check_result("call", run_call(&s, &q, &c, &record, &error), -ECONNRESET);
        check_part("words", error.text, "without an answer");
        call_done(&c);
        server_stop(&s);
}

TEST(an_answer_that_breaks_off_is_told) {
        Server s = server_start(0, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
        Request q = REQUEST_INIT;
        Record record = { 0 };
        Error error = { 0 };
        Call c = CALL_INIT;

        check_result("call", run_call(&s, &q, &c, &record, &error), -ECONNRESET);
        check_part("words", error.text, "broke off");
        call_done(&c);
        server_stop(&s);
}

static ssize_t too_short(void *userdata, void *buffer, size_t size) {
        bool *done = userdata;
        ssize_t n = *done ? 0 : 3;

        *done = true;
        memset(buffer, 'x', 3);
        return n;
}

TEST(a_source_that_has_less_than_it_said_is_an_error) {
        Server s = server_start(0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        Request q = REQUEST_INIT;
        Record record = { 0 };
        Error error = { 0 };
        Call c = CALL_INIT;
        bool done = false;
        int r;

        q.method = "PUT";
        q.source = too_short;
        q.source_data = &done;
        q.source_size = 10;
        r = run_call(&s, &q, &c, &record, &error);
        check_true("refused, or the server was quicker", r == -ENODATA || r == 0);
        call_done(&c);
        server_stop(&s);
}

TEST(nobody_there_says_what_to_do) {
        Place place = { .socket = (char *) "/no/such/socket", .label = (char *) "/no/such/socket" };
        Request q = REQUEST_INIT;
        Error error = { 0 };
        Call c = CALL_INIT;

        q.path = "/";
        check_result("start", call_start(&c, &place, &q, &error), -ENOENT);
        check_string("words", error.text, "no daemon at /no/such/socket: start one with `cove serve`");
}

TEST(a_long_socket_path_works) {
        size_t before = unit_count_descriptors();
        char path[512] = "";
        Place place = { .socket = path, .label = path };
        Request q = REQUEST_INIT;
        Error error = { 0 };
        Call c = CALL_INIT;

        (void) snprintf(path, sizeof(path), "%s/", unit_directory());
        while (strlen(path) < 200)
                strcat(path, "./");
        strcat(path, "none.sock");
        q.path = "/";
        check_result("start", call_start(&c, &place, &q, &error), -ENOENT);
        check_part("words", error.text, "no daemon at");
        check_uint("descriptors", unit_count_descriptors(), before);
}
