/* What people read and what goes over the wire as text: ages, sizes, tables, URLs, base64, the handshake's hash, ends. */
#include "unit.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/column.h"
#include "client/execution/verdict.h"
#include "client/files/copy.h"
#include "client/http/digest.h"
#include "client/http/url.h"
#include "client/http/websocket.h"
#include "client/human.h"
#include "client/json.h"

/* What a program prints goes to a terminal, and gives it no commands; a progress bar may go back to the beginning of its line. */
TEST(output_of_programs) {
        static const struct {
                const char *said, *shown;
        } cases[] = {
                { "10%\r20%\n", "10%\r20%\n" },
                { "a\tb", "a\tb" },
                { "\x1b[2J", "?[2J" },
                { "\a\b\x7f", "???" },
                { "\xc2\x9b"
                  "2J",
                                "?2J" },
                { "\xc3\xa9", "\xc3\xa9" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char shown[64] = "";
                FILE *f = fmemopen(shown, sizeof(shown), "w");
                bool held = false;

                check_true("memory", f != NULL);
                human_put(f, cases[i].said, strlen(cases[i].said), &held);
                (void) fclose(f);
                check_string("output", shown, cases[i].shown);
        }
}

TEST(spans) {
        static const struct {
                usec_t usec;
                const char *text;
        } cases[] = {
                { 0, "0ms" },
                { 999 * USEC_PER_MSEC, "999ms" },
                { USEC_PER_SEC, "1s" },
                { 119 * USEC_PER_SEC, "119s" },
                { 120 * USEC_PER_SEC, "2m" },
                { 7199 * USEC_PER_SEC, "119m" },
                { 7200 * USEC_PER_SEC, "2h" },
                { 47 * 3600 * USEC_PER_SEC, "47h" },
                { 48 * 3600 * USEC_PER_SEC, "2d" },
                { USEC_INFINITY, "213503982d" },
        };
        char text[HUMAN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_string("span", human_span(cases[i].usec, text), cases[i].text);
}

TEST(sizes) {
        static const struct {
                double bytes;
                const char *text;
        } cases[] = {
                { 0, "0" },
                { 1, "1" },
                { 999, "999" },
                { 1000, "1K" },
                { 1536, "1.5K" },
                { 10240, "10K" },
                { 1048576, "1M" },
                { 3.25 * 1048576, "3.2M" },
                { 512.0 * 1048576, "512M" },
        };
        char text[HUMAN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_string("size", human_size(cases[i].bytes, text), cases[i].text);
        check_true("beyond all", strlen(human_size(1e30, text)) < HUMAN_MAX);
        check_string("negative", human_size(-5, text), "0");
}

TEST(times) {
        usec_t t;

        check_result("time", human_parse_time("1970-01-02T00:00:01.250Z", &t), 0);
        check_uint("time", t, 86401250000);
        check_result("no fraction", human_parse_time("2026-01-31T12:00:00Z", &t), 0);
        check_result("no zone", human_parse_time("2026-01-31T12:00:00", &t), -EINVAL);
        check_result("words", human_parse_time("yesterday", &t), -EINVAL);
        check_result("nothing", human_parse_time(NULL, &t), -EINVAL);
}

TEST(text_cannot_command_a_terminal) {
        static const struct {
                const char *text, *clean;
        } cases[] = {
                { "plain", "plain" },
                { "\033[31mred\a", "?[31mred?" },
                { "a\nb\tc", "a?b?c" },
                { "gr\xc3\xbc\xc3\x9f"
                  "e",
                                "gr\xc3\xbc\xc3\x9f"
                                "e" },
                { "c1: \xc2\x9b", "c1: ?" },
                { "broken \xff\xc3", "broken ??" },
        };

        (void) setlocale(LC_CTYPE, "C.UTF-8");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *clean = human_clean(cases[i].text);
                check_string("clean", clean, cases[i].clean);
        }
        check_uint("width", human_width("gr\xc3\xbc\xc3\x9f"
                                        "e"),
                        5);
        check_uint("wide", human_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
}

static char *print(const Table *t, const TableLook *look) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        check_result("printed", table_print(t, f, look), 0);
        (void) fclose(f);
        return text;
}

static Table *sample(void) {
        static const char *const heads[] = { "NAME", ">N", "WORDS", NULL };
        Table *t = table_new(heads);

        table_cell(t, "gr\xc3\xbcn");
        table_cell_format(t, "%d", 7);
        table_cell(t, "long words here");
        table_cell_colour(t, "b", COLOUR_RED);
        table_cell(t, "1000");
        table_cell(t, NULL);
        return t;
}

TEST(tables_are_aligned) {
        _cleanup_table_ Table *t = sample();
        _cleanup_free_ char *text = NULL;

        (void) setlocale(LC_CTYPE, "C.UTF-8");
        text = print(t, &(TableLook) { .newline = "\n" });
        check_string("table", text, "NAME     N  WORDS\ngr\xc3\xbcn     7  long words here\nb     1000  -\n");
}

TEST(tables_of_objects) {
        static const Column columns[] = {
                { "ID", "id", .otherwise = "none" },
                { ">MEMORY", "limits.memoryMB", cell_megabytes },
                { ">HITS", "rate", cell_number, .scale = 100, .digits = 1, .unit = "%" },
                { ">TOOK", "ms", cell_span, .scale = 1000 },
                { ">N", "n", cell_count },
                { ">SIZE", "size", cell_size },
        };
        static const char *const rows[] = {
                "{\"id\":\"a\",\"limits\":{\"memoryMB\":512},\"rate\":0.125,\"ms\":1500,\"n\":3,\"size\":2048}",
                "{\"limits\":7,\"rate\":null,\"ms\":-1,\"n\":\"x\"}",
        };
        _cleanup_table_ Table *t = columns_table(columns, ELEMENTSOF(columns));
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_json_ json_t *row = json_parse(rows[i], strlen(rows[i]), NULL);

                columns_add(t, columns, ELEMENTSOF(columns), row);
        }
        text = print(t, &(TableLook) { .newline = "\n" });
        check_string("table", text, "ID    MEMORY   HITS  TOOK  N  SIZE\na       512M  12.5%    1s  3    2K\nnone       -      -     -  0     0\n");
}

TEST(tables_fit_the_window) {
        _cleanup_table_ Table *t = sample();
        _cleanup_free_ char *text = NULL, *one = NULL;

        text = print(t, &(TableLook) { .newline = "\n", .width = 15 });
        check_string("cut", text, "NAME     N  WOR\ngr\xc3\xbcn     7  lon\nb     1000  -\n");
        one = print(t, &(TableLook) { .newline = "\n", .width = 3, .rows_max = 1 });
        check_string("narrow", one, "NAM\ngr\xc3\xbc\n");
}

TEST(tables_have_colours_when_asked) {
        _cleanup_table_ Table *t = sample();
        _cleanup_free_ char *text = print(t, &(TableLook) { .newline = "\n", .colours = true });

        check_part("red", text, "\033[31mb\033[0m     1000");
        check_part("head", text, "\033[1mNAME\033[0m");
}

TEST(urls_are_encoded) {
        const char *volatile nothing = NULL; /* the compiler shall not know */
        Url u = url_of("/api/sandbox/%s/exec/%s/output?path=%s&none=%s&from=%llu&n=%u&as=it,is", "a/b c", "e1", "/x&y=\xc3\xa9", nothing,
                        (unsigned long long) UINT64_MAX, 7U);

        url_query(&u, "none", NULL);
        url_query(&u, "q", "");
        check_string("url", u.text,
                        "/api/sandbox/a%2Fb%20c/exec/e1/output?path=%2Fx%26y%3D%C3%A9&from=18446744073709551615&n=7&as=it%2Cis&q=");
        check_int("error", u.error, 0);
        url_done(&u);
        u = url_of("/api/%s?a=%s", "x", nothing);
        check_string("no query", url_text(&u), "/api/x");
        url_done(&u);
        u = url_fill("/api/sandbox/%/exec/%?limit=9", (char *const[]) { (char *) "a b", (char *) "x/%" });
        url_query(&u, "q", "1");
        check_string("filled", u.text, "/api/sandbox/a%20b/exec/x%2F%25?limit=9&q=1");
        url_done(&u);
}

TEST(base64) {
        static const char *const pairs[][2] = {
                { "", "" },
                { "f", "Zg==" },
                { "fo", "Zm8=" },
                { "foo", "Zm9v" },
                { "foob", "Zm9vYg==" },
                { "\xff\xfe\xfd", "//79" },
        };
        static const char *const bad[] = { "Zg=", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Z g=", "Zm9\n", "====", "Zm9v=" };

        for (size_t i = 0; i < ELEMENTSOF(pairs); i++) {
                char text[32] = "";
                uint8_t bytes[32];
                size_t n = strlen(pairs[i][0]);

                client_base64_encode(pairs[i][0], n, text);
                check_string("encoded", text, pairs[i][1]);
                check_result("decoded", base64_decode(text, strlen(text), bytes), (ssize_t) n);
                check_true("bytes", memcmp(bytes, pairs[i][0], n) == 0);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                uint8_t bytes[32];
                check_result(bad[i], base64_decode(bad[i], strlen(bad[i]), bytes), -EBADMSG);
        }
}

static void check_sha1(const char *text, const char *expected) {
        uint8_t hash[SHA1_SIZE];
        char found[2 * SHA1_SIZE + 1];

        sha1(text, strlen(text), hash);
        for (size_t i = 0; i < SHA1_SIZE; i++)
                (void) snprintf(found + 2 * i, 3, "%02x", hash[i]);
        check_string(text, found, expected);
}

TEST(sha1_as_the_standard_has_it) {
        check_sha1("", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        check_sha1("abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
        check_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

TEST(the_handshake_of_the_rfc) {
        char key[WEBSOCKET_KEY_SIZE + 1];

        check_true("RFC 6455", websocket_accepts("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        check_true("another", !websocket_accepts("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp="));
        check_true("none", !websocket_accepts("dGhlIHNhbXBsZSBub25jZQ==", NULL));
        check_result("key", websocket_make_key(key), 0);
        check_uint("letters", strlen(key), WEBSOCKET_KEY_SIZE);
}

TEST(signal_names) {
        check_int("SIGKILL", verdict_signal_from_name("SIGKILL"), SIGKILL);
        check_int("TERM", verdict_signal_from_name("TERM"), SIGTERM);
        check_int("9", verdict_signal_from_name("9"), 9);
        check_int("RTMIN+1", verdict_signal_from_name("SIGRTMIN+1"), SIGRTMIN + 1);
        check_int("none", verdict_signal_from_name("SIGNOPE"), 0);
        check_int("zero", verdict_signal_from_name("0"), 0);
}

static void check_verdict(const char *text, int expected) {
        _cleanup_json_ json_t *j = json_parse(text, strlen(text), NULL);

        check_true(text, j != NULL);
        check_int(text, verdict_tell(j), expected);
}

TEST(ends_as_exit_statuses) {
        check_verdict("{\"reason\":\"exited\",\"exitCode\":0}", 0);
        check_verdict("{\"reason\":\"exited\",\"exitCode\":3,\"signal\":null}", 3);
        check_verdict("{\"reason\":\"signaled\",\"exitCode\":null,\"signal\":\"SIGSEGV\"}", 139);
        check_verdict("{\"reason\":\"timeout\",\"exitCode\":124,\"timedOut\":true}", 124);
        check_verdict("{\"reason\":\"cpu_time\",\"exitCode\":null,\"signal\":\"SIGKILL\"}", 124);
        check_verdict("{\"reason\":\"memory\",\"exitCode\":null,\"signal\":\"SIGKILL\"}", 137);
        check_verdict("{\"reason\":\"not_found\",\"exitCode\":127,\"message\":\"x\"}", 127);
        check_verdict("{\"reason\":\"not_executable\",\"exitCode\":126}", 126);
        check_verdict("{\"reason\":\"sandbox_ended\",\"exitCode\":null,\"signal\":null}", 137);
        check_verdict("{\"reason\":\"internal\",\"exitCode\":null}", 125);
        check_verdict("{\"reason\":\"exited\",\"exitCode\":4096}", 125);
        check_verdict("{}", 125);
        check_verdict("[]", 125);
}

TEST(requests_are_built) {
        const char *env[] = { "A=1", "B=", "C=x=y" };
        JsonBuilder b = { 0 };
        _cleanup_free_ char *text = NULL, *empty = NULL;
        Error error = { 0 };

        empty = json_builder_print(&b, &error);
        check_string("empty", empty, "{}");
        json_put_text(&b, "none", NULL);
        json_put_text(&b, "text", "\"\xc3\xa9");
        json_put_number(&b, "whole", 512);
        json_put_number(&b, "half", 0.5);
        json_put_true(&b, "object.yes");
        json_put_assignments(&b, "env", (char *const *) env, 3);
        json_put_words(&b, "words", (char *const *) env, 1);
        text = json_builder_print(&b, &error);
        check_string("built", text,
                        "{\"text\":\"\\\"\xc3\xa9\",\"whole\":512,\"half\":0.5,\"object\":{\"yes\":true},"
                        "\"env\":{\"A\":\"1\",\"B\":\"\",\"C\":\"x=y\"},\"words\":[\"A=1\"]}");
        json_builder_done(&b);
}

TEST(what_is_no_utf8_is_refused) {
        JsonBuilder b = { 0 };
        Error error = { 0 };

        json_put_text(&b, "cwd", "/\xff");
        json_put_text(&b, "fine", "x");
        check_true("refused", !json_builder_print(&b, &error));
        check_result("code", error.code, -EILSEQ);
        check_part("words", error.text, "cwd");
        json_builder_done(&b);
}

static void check_name(const char *path, const char *expected) {
        _cleanup_free_ char *name = copy_name(path);
        check_string(path, name, expected);
}

TEST(names_of_copies) {
        _cleanup_free_ char *joined = copy_join("dir/", "name"), *same = copy_join("dir", "");

        check_name("file", "file");
        check_name("a/b/file", "file");
        check_name("a/dir///", "dir");
        check_name("a/dir/.", "");
        check_name("..", "");
        check_name("/", "");
        check_name(".hidden", ".hidden");
        check_string("joined", joined, "dir/name");
        check_string("same", same, "dir");
}
