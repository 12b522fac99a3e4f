/* HTTP heads, bodies and targets as guests and servers send them, and as smugglers do. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/http/http-frame.h"
#include "gate/http/http-head.h"
#include "gate/http/http-target.h"

static int read_request(const char *text, HttpHead *h) {
        size_t scanned = 0;

        return http_head_read_request((const uint8_t *) text, strlen(text), &scanned, h);
}

static int read_response(const char *text, bool bodyless, HttpHead *h) {
        size_t scanned = 0;

        return http_head_read_response((const uint8_t *) text, strlen(text), &scanned, bodyless, h);
}

TEST(request) {
        static const char text[] = "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nX-Empty:\r\nAccept:  a, b \t\r\n\r\nrest";
        HttpHead h = { 0 };
        size_t scanned = 0;

        for (size_t n = 0; n < sizeof(text) - 5; n++) {
                check_result("cut", http_head_read_request((const uint8_t *) text, n, &scanned, &h), 0);
                check_true("scanned", scanned <= n);
        }
        check_result("whole", http_head_read_request((const uint8_t *) text, sizeof(text) - 1, &scanned, &h), 1);
        check_string("method", h.method, "GET");
        check_string("target", h.target, "/a?b=c");
        check_uint("minor", h.minor, 1);
        check_uint("fields", h.n_fields, 3);
        check_string("empty", http_head_field(&h, "x-empty"), "");
        check_string("trimmed", http_head_field(&h, "accept"), "a, b");
        check_uint("size", h.size, sizeof(text) - 5);
        check_true("framing", h.framing == FRAMING_NONE && h.persistent);
        http_head_done(&h);
}

TEST(request_framing) {
        static const struct {
                const char *text;
                int result;
                HttpFraming framing;
                uint64_t length;
                bool persistent;
        } cases[] = {
                { "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 1, FRAMING_LENGTH, 5, true },
                { "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 1, FRAMING_NONE, 0, true },
                { "POST / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n", 1, FRAMING_LENGTH, 5, true },
                { "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 1, FRAMING_CHUNKED, 0, true },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\n\r\n", 1, FRAMING_CHUNKED, 0, true },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding: \x0b" "chunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", -EBADMSG },
                { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", -EBADMSG },
                { "GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n", 1, FRAMING_NONE, 0, false },
                { "GET / HTTP/1.0\r\n\r\n", 1, FRAMING_NONE, 0, false },
                { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 1, FRAMING_NONE, 0, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                HttpHead h = { 0 };

                check_result(cases[i].text, read_request(cases[i].text, &h), cases[i].result);
                if (cases[i].result == 1) {
                        check_int(cases[i].text, h.framing, cases[i].framing);
                        check_uint(cases[i].text, h.length, cases[i].length);
                        check_int(cases[i].text, h.persistent, cases[i].persistent);
                }
                http_head_done(&h);
        }
}

TEST(request_refused) {
        static const char *const cases[] = {
                "GET / HTTP/1.1\nHost: a\n\n",
                "GET / HTTP/1.1\r\nHost: a\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\n\n",
                "GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
                "GET / HTTP/1.1\r\nA: b\r\r\nHost: c\r\n\r\n",
                "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
                "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
                "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
                "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
                "GET / HTTP/1.1\r\n: a\r\n\r\n",
                "GET / HTTP/1.1\r\nnocolon\r\n\r\n",
                "GET / HTTP/1.1\r\nA: b\x01\r\n\r\n",
                "GET / HTTP/1.1\r\nA: b\x7f\r\n\r\n",
                "GET / HTTP/1.1\r\nA\xc3\xa4: b\r\n\r\n",
                "GET  / HTTP/1.1\r\n\r\n",
                "GET /  HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1 \r\n\r\n",
                "GET /\tHTTP/1.1\r\n\r\n",
                "GET /a b HTTP/1.1\r\n\r\n",
                "GET /a#b HTTP/1.1\r\n\r\n",
                "GET /a\\b HTTP/1.1\r\n\r\n",
                "GET /\xc3\xa4 HTTP/1.1\r\n\r\n",
                "GET /\x7f HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.2\r\n\r\n",
                "GET / HTTP/2.0\r\n\r\n",
                "GET / HTTP/01.1\r\n\r\n",
                "GET / http/1.1\r\n\r\n",
                "GET /\r\n\r\n",
                "G(T / HTTP/1.1\r\n\r\n",
                " GET / HTTP/1.1\r\n\r\n",
                "\r\nGET / HTTP/1.1\r\n\r\n",
                "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABC / HTTP/1.1\r\n\r\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                HttpHead h = { 0 };

                check_result(cases[i], read_request(cases[i], &h), -EBADMSG);
        }
}

TEST(request_with_nul) {
        static const char line[] = "GET /\0a HTTP/1.1\r\n\r\n", field[] = "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n";
        size_t scanned = 0;
        HttpHead h;

        check_result("in the line", http_head_read_request((const uint8_t *) line, sizeof(line) - 1, &scanned, &h), -EBADMSG);
        scanned = 0;
        check_result("in a field", http_head_read_request((const uint8_t *) field, sizeof(field) - 1, &scanned, &h), -EBADMSG);
}

TEST(request_bounds) {
        _cleanup_free_ char *text = malloc(2 * HEAD_MAX);
        size_t scanned = 0, n;
        HttpHead h = { 0 };

        n = (size_t) sprintf(text, "GET / HTTP/1.1\r\n");
        for (unsigned i = 0; i < HEAD_FIELDS_MAX; i++)
                n += (size_t) sprintf(text + n, "F%u: x\r\n", i);
        strcpy(text + n, "\r\n");
        check_result("as many as there may be", read_request(text, &h), 1);
        http_head_done(&h);
        strcpy(text + n, "One: more\r\n\r\n");
        check_result("one more", read_request(text, &h), -EMSGSIZE);

        memset(text, 'a', 2 * HEAD_MAX);
        memcpy(text, "GET /", 5);
        check_result("endless line", http_head_read_request((uint8_t *) text, HEAD_MAX - 1, &scanned, &h), 0);
        check_result("endless line", http_head_read_request((uint8_t *) text, HEAD_MAX, &scanned, &h), -EMSGSIZE);
        check_result("endless line", http_head_read_request((uint8_t *) text, 2 * HEAD_MAX, &scanned, &h), -EMSGSIZE);
}

TEST(response) {
        static const struct {
                const char *text;
                bool bodyless;
                int result;
                unsigned status;
                HttpFraming framing;
        } cases[] = {
                { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", false, 1, 200, FRAMING_LENGTH },
                { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true, 1, 200, FRAMING_NONE },
                { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, 1, 200, FRAMING_NONE },
                { "HTTP/1.1 200\r\n\r\n", false, 1, 200, FRAMING_CLOSE },
                { "HTTP/1.0 200 \r\n\r\n", false, 1, 200, FRAMING_CLOSE },
                { "HTTP/1.1 404 Not there, s\xc3\xb6rry\r\n\r\n", false, 1, 404, FRAMING_CLOSE },
                { "HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", false, 1, 204, FRAMING_NONE },
                { "HTTP/1.1 304 No\r\nContent-Length: 3\r\n\r\n", false, 1, 304, FRAMING_NONE },
                { "HTTP/1.1 101 Go\r\n\r\n", false, 1, 101, FRAMING_NONE },
                { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 1, 200, FRAMING_CHUNKED },
                { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1 2000 OK\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1 099 OK\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1 600 OK\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1  200 OK\r\n\r\n", false, -EBADMSG },
                { "HTTP/2 200 OK\r\n\r\n", false, -EBADMSG },
                { "ICY 200 OK\r\n\r\n", false, -EBADMSG },
                { "HTTP/1.1 200 O\x01K\r\n\r\n", false, -EBADMSG },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                HttpHead h = { 0 };

                check_result(cases[i].text, read_response(cases[i].text, cases[i].bodyless, &h), cases[i].result);
                if (cases[i].result == 1) {
                        check_uint(cases[i].text, h.status, cases[i].status);
                        check_int(cases[i].text, h.framing, cases[i].framing);
                        check_int(cases[i].text, h.persistent, h.framing != FRAMING_CLOSE);
                }
                http_head_done(&h);
        }
}

/* All of it in portions; the body goes to ret. Returns the bytes used. */
static ssize_t unframe(HttpFrame *f, const char *text, size_t portion, char *ret) {
        size_t size = strlen(text), used = 0, end = 0;

        while (!http_frame_is_over(f)) {
                const uint8_t *piece;
                size_t n_piece;
                ssize_t n = http_frame_next(f, (const uint8_t *) text + used, end - used, &piece, &n_piece);

                if (n < 0)
                        return n;
                memcpy(ret, piece ? piece : (const uint8_t *) "", n_piece);
                ret += n_piece;
                *ret = '\0';
                used += (size_t) n;
                if (n == 0) {
                        if (end == size)
                                break;
                        end = MIN_OF(end + portion, size);
                }
        }
        return (ssize_t) used;
}

TEST(frames) {
        static const struct {
                const char *text, *body;
                HttpFraming framing;
                uint64_t length;
                ssize_t used;
        } cases[] = {
                { "hello world", "hello", FRAMING_LENGTH, 5, 5 },
                { "hello world", "", FRAMING_NONE, 0, 0 },
                { "hello world", "hello world", FRAMING_CLOSE, 0, 11 },
                { "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nNEXT", "hello world", FRAMING_CHUNKED, 0, 26 },
                { "00a;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: yes\r\n\r\n", "0123456789", FRAMING_CHUNKED, 0, 42 },
                { "0\r\n\r\n", "", FRAMING_CHUNKED, 0, 5 },
                { "5\nhello\n0\n\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "5\r\nhelloo\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "5\r\nhello\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { " 5\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "5 \r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "0x5\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "-5\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "5;a\rb\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "10000000000000005\r\nhello\r\n0\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "0\r\nbad trailer\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
                { "0\r\nA : b\r\n\r\n", NULL, FRAMING_CHUNKED, 0, -EBADMSG },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (size_t portion = 1; portion < 8; portion++) {
                        char body[256] = "";
                        HttpFrame f;

                        http_frame_init(&f, cases[i].framing, cases[i].length);
                        check_result(cases[i].text, unframe(&f, cases[i].text, portion, body), cases[i].used);
                        if (!cases[i].body)
                                continue;
                        check_string(cases[i].text, body, cases[i].body);
                        check_uint(cases[i].text, f.total, strlen(body));
                        check_result("end", http_frame_end(&f), 0);
                }
}

TEST(frames_cut_off) {
        char body[64];
        HttpFrame f;

        http_frame_init(&f, FRAMING_LENGTH, 5);
        check_result("counted", unframe(&f, "hell", 4, body), 4);
        check_result("counted", http_frame_end(&f), -ECONNRESET);
        http_frame_init(&f, FRAMING_CHUNKED, 0);
        check_result("chunked", unframe(&f, "4\r\nhell\r\n0\r\n", 20, body), 12);
        check_result("chunked", http_frame_end(&f), -ECONNRESET);
}

TEST(paths) {
        static const struct {
                const char *path, *expected;
        } cases[] = {
                { "/", "/" },
                { "/a/b", "/a/b" },
                { "/a//b/", "/a//b/" },
                { "/a/./b", "/a/b" },
                { "/a/../b", "/b" },
                { "/a/..", "/" },
                { "/a/.", "/a/" },
                { "/..", "/" },
                { "/../../x", "/x" },
                { "/a/b/../../c", "/c" },
                { "/%61%2d%7E", "/a-~" },
                { "/%2e%2e/x", "/x" },
                { "/a/%2E%2e/x", "/x" },
                { "/@scope%2fname", "/@scope%2Fname" },
                { "/%c3%a4", "/%C3%A4" },
                { "/%252e%252e/", NULL },
                { "/a;v=1/b", "/a;v=1/b" },
                { "/...", "/..." },
                { "/a..b/.c", "/a..b/.c" },
                { "", NULL },
                { "a", NULL },
                { "/%", NULL },
                { "/%4", NULL },
                { "/%zz", NULL },
                { "/a%00b", NULL },
                { "/a/..%2fb", NULL },
                { "/a%2f..%2fb", NULL },
                { "/a%2F..", NULL },
                { "/a%5c..%5Cb", NULL },
                { "/a%2f../b", NULL },
                { "/a/..;/b", NULL },
                { "/a/..;x=y/b", NULL },
                { "/a/%2e%2e;/b", NULL },
                { "/a//../b", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *path = NULL;

                check_result(cases[i].path, http_path_normalise(cases[i].path, strlen(cases[i].path), &path), cases[i].expected ? 0 : -EBADMSG);
                if (cases[i].expected)
                        check_string(cases[i].path, path, cases[i].expected);
        }
}

TEST(targets) {
        HttpTarget t = { 0 };

        check_result("origin", http_target_parse("GET", "/a/../b?c=/../d", &t), 0);
        check_string("path", t.path, "/b");
        check_string("query", t.query, "c=/../d");
        check_true("authority", !t.authority);
        http_target_done(&t);

        check_result("absolute", http_target_parse("GET", "HTTP://example.org:80?q", &t), 0);
        check_string("path", t.path, "/");
        check_string("query", t.query, "q");
        check_string("authority", t.authority, "example.org:80");
        http_target_done(&t);

        check_result("absolute", http_target_parse("GET", "https://a/b", &t), 0);
        check_true("scheme", t.https);
        http_target_done(&t);

        check_result("asterisk", http_target_parse("OPTIONS", "*", &t), 0);
        check_string("path", t.path, "*");
        http_target_done(&t);

        check_result("asterisk for GET", http_target_parse("GET", "*", &t), -EBADMSG);
        check_result("authority form", http_target_parse("GET", "a:80", &t), -EBADMSG);
        check_result("other scheme", http_target_parse("GET", "ftp://a/", &t), -EBADMSG);
}

TEST(authorities) {
        static const struct {
                const char *text, *host;
                int result;
                uint16_t port;
                bool address;
        } cases[] = {
                { "example.org", "example.org", 0, 0, false },
                { "Example.ORG:8080", "example.org", 0, 8080, false },
                { "example.org.:80", "example.org", 0, 80, false },
                { "192.0.2.1", "", 0, 0, true },
                { "192.0.2.1:80", "", 0, 80, true },
                { "[2001:db8::1]:443", "", 0, 443, true },
                { "[2001:db8::1]", "", 0, 0, true },
                { "2001:db8::1", NULL, -EBADMSG },
                { "[192.0.2.1]", NULL, -EBADMSG },
                { "[example.org]", NULL, -EBADMSG },
                { "user@example.org", NULL, -EBADMSG },
                { "example.org:", NULL, -EBADMSG },
                { "example.org:0", NULL, -EBADMSG },
                { "example.org:65536", NULL, -EBADMSG },
                { "example.org:80:80", NULL, -EBADMSG },
                { "a b", NULL, -EBADMSG },
                { "a, b", NULL, -EBADMSG },
                { "a/b", NULL, -EBADMSG },
                { "", NULL, -EBADMSG },
                { "[::1", NULL, -EBADMSG },
                { "[::1]x", NULL, -EBADMSG },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                HttpAuthority a;

                check_result(cases[i].text, http_authority_parse(cases[i].text, &a), cases[i].result);
                if (cases[i].result < 0)
                        continue;
                check_string(cases[i].text, a.host, cases[i].host);
                check_uint(cases[i].text, a.port, cases[i].port);
                check_int(cases[i].text, a.is_address, cases[i].address);
        }
}

TEST(lists) {
        check_true("alone", http_list_has_word("close", "close"));
        check_true("among", http_list_has_word("keep-alive , CLOSE,x", "close"));
        check_true("part", !http_list_has_word("closed, xclose", "close"));
        check_true("empty", !http_list_has_word(",, ,", "close"));
}

TEST(sniffing) {
        static const struct {
                const char *text;
                int result;
        } cases[] = {
                { "", 0 },
                { "G", 0 },
                { "GET", 0 },
                { "GET ", 0 },
                { "GET /a", 0 },
                { "GET / HTTP/1.1\r\n", 1 },
                { "GET / HTTP/1.1\n", 1 },
                { "FOO * HTTP/1.0\r\nA: b", 1 },
                { "CONNECT a:443 HTTP/1.1\r\n", 1 },
                { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", -EPROTO },
                { "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", -EBADMSG },
                { "EHLO me\r\n", -EBADMSG },
                { "PING\r\n", -EBADMSG },
                { "\x16\x03\x01", -EBADMSG },
                { "GET \x01", -EBADMSG },
                { "GET /\r\n", 1 }, /* before there were versions */
                { "get key\r\n", -EBADMSG },
                { "\r\n", 0 },
                { "\r\nGET / HTTP/1.1\r\n", 1 },
                { " \n GET  /\tHTTP/1.1 \r\n", 1 },
                { "GET\t/ HTTP/1.1\r\n", 1 },
                { "abcdefghijabcdefghijabcdefghijabcd", -EBADMSG },
        };
        char line[5000];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_result(cases[i].text, http_sniff((const uint8_t *) cases[i].text, strlen(cases[i].text)), cases[i].result);
        memset(line, 'a', sizeof(line));
        memcpy(line, "GET /", 5);
        check_result("long", http_sniff((const uint8_t *) line, sizeof(line)), 1);
}
