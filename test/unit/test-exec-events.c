/* An execution as a stream of events: whole characters, true offsets, one end; and the text and negotiation below it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "api/accept.h"
#include "api/native/execution/exec.h"
#include "api/wait.h"
#include "base/fd.h"
#include "base/text.h"

/* The core, as far as a reader sees it: journals are files, watches are a list. */

static char journal_paths[_STREAM_MAX][64];
static int last_signal;

int execution_watch(Execution *x, ExecutionWatch *watch) {
        watch->execution = x;
        DL_APPEND(x->watches, watch);
        return 0;
}

void execution_unwatch(ExecutionWatch *watch) {
        if (!watch->execution)
                return;
        DL_DELETE(watch->execution->watches, watch);
        watch->execution = NULL;
}

struct OutputReader {
        int fd;
};

int execution_open_output(const Execution *x, ExecutionStream stream, OutputReader **ret) {
        OutputReader *o;

        if (x->journals_gone)
                return -ENODATA;
        if (x->spec.pty && stream == STREAM_STDERR)
                return -EINVAL;
        o = calloc(1, sizeof(*o));
        o->fd = open(journal_paths[stream], O_RDONLY | O_CLOEXEC);
        *ret = o;
        return 0;
}

OutputReader *output_close(OutputReader *o) {
        if (o)
                (void) close(o->fd);
        free(o);
        return NULL;
}

ssize_t output_read(void *reader, void *buffer, size_t size, uint64_t offset) {
        return mask_read_fd(&((OutputReader *) reader)->fd, buffer, size, offset);
}

uint64_t execution_output_size(const Execution *x, ExecutionStream stream, OutputReader *output) {
        return execution_ended(x) ? x->journals[stream].bytes : (uint64_t) lseek(output->fd, 0, SEEK_END);
}

ssize_t execution_read_output(const Execution *x, ExecutionStream stream, OutputReader *output, void *buffer, size_t size, uint64_t offset) {
        return mask_read(x->sandbox->mask, output_read, output, execution_output_size(x, stream, output), execution_ended(x), buffer, size, offset);
}

int execution_signal(Execution *x, int signal_number) {
        last_signal = signal_number;
        return 1;
}

json_t *api_execution_json(const Execution *x) {
        return json_pack("{s:s,s:i}", "id", x->id, "exitCode", x->exit_code);
}

/* The server: what was answered, and the function that fills it. */

static struct {
        unsigned status;
        HttpNext next;
        void *userdata;
        unsigned n_continued;
} answer;

int api_error(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) {
        answer.status = status;
        q->answered = true;
        return 0;
}

int api_errno(ApiRequest *q, int r, const char *text) {
        answer.status = 500;
        q->answered = true;
        return 0;
}

int http_add_header(HttpRequest *r, const char *name, const char *value) {
        return 0;
}

int http_answer_stream(HttpRequest *r, unsigned status, const char *type, uint64_t size, HttpNext next, void *userdata) {
        answer.status = status;
        answer.next = next;
        answer.userdata = userdata;
        return 0;
}

void http_request_continue(HttpRequest *r) {
        answer.n_continued++;
}

/* One execution and one reader of it. */

typedef struct Scene {
        Manager manager;
        Sandbox sandbox;
        Execution *x;
        ApiRequest q;
        char *got;
        size_t size;
        bool ended; /* the stream has */
} Scene;

static void scene_init(Scene *s) {
        *s = (Scene) { .x = calloc(1, sizeof(Execution)) };
        memset(&answer, 0, sizeof(answer));
        last_signal = 0;
        check_result("sd_event_new", sd_event_new(&s->manager.event), 0);
        s->sandbox.manager = &s->manager;
        s->x->sandbox = &s->sandbox;
        (void) strcpy(s->x->id, "e1");
        s->x->exit_code = -1;
        s->q.manager = &s->manager;
        for (ExecutionStream i = 0; i < _STREAM_MAX; i++) {
                const char *path = unit_path(i == STREAM_STDOUT ? "out" : "err");

                (void) snprintf(journal_paths[i], sizeof(journal_paths[i]), "%s", path);
                unit_write_file(journal_paths[i], "", 0);
        }
}

static void scene_done(Scene *s) {
        api_let_go(&s->q, s->ended);
        sd_event_unref(s->manager.event);
        free(s->x);
        free(s->got);
}

static void tell(Scene *s) {
        ExecutionWatch *w, *next;

        DL_FOREACH_SAFE(s->x->watches, w, next)
                w->changed(s->x, w->userdata);
}

static void start(Scene *s) {
        s->x->pid = 7;
        s->x->status = EXECUTION_RUNNING;
        tell(s);
}

static void say(Scene *s, ExecutionStream stream, const void *data, size_t size) {
        _cleanup_close_ int fd = open(journal_paths[stream], O_WRONLY | O_APPEND | O_CLOEXEC);

        check_result("write", fd_write_all(fd, data, size), 0);
        s->x->journals[stream].bytes += size;
        tell(s);
}

static void say_text(Scene *s, ExecutionStream stream, const char *text) {
        say(s, stream, text, strlen(text));
}

/* It tells its end, and is gone. */
static void end(Scene *s, int exit_code) {
        s->x->status = EXECUTION_EXITED;
        s->x->exit_code = exit_code;
        tell(s);
        check_true("nobody holds on to it", s->x->watches == NULL);
        free(s->x);
        s->x = NULL;
}

static void read_stream(Scene *s, size_t piece) {
        _cleanup_free_ char *buffer = malloc(piece);

        for (;;) {
                ssize_t n = answer.next(s->q.http, s->size, buffer, piece, answer.userdata);

                if (n == HTTP_STREAM_END)
                        s->ended = true;
                if (n == 0 || n == HTTP_STREAM_END)
                        return;
                check_true("fits", n > 0 && (size_t) n <= piece);
                s->got = realloc(s->got, s->size + (size_t) n + 1);
                memcpy(s->got + s->size, buffer, (size_t) n);
                s->size += (size_t) n;
                s->got[s->size] = '\0';
        }
}

static void follow(Scene *s, EventFormat format) {
        check_result("events_answer", events_answer(&s->q, s->x, &(EventOptions) { .format = format, .start = true }), 0);
        check_uint("status", answer.status, 200);
        check_true("answered", s->q.answered);
}

TEST(lines) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        read_stream(&s, 4096);
        check_true("nothing yet", s.size == 0 && !s.ended);
        start(&s);
        say_text(&s, STREAM_STDOUT, "one\n");
        read_stream(&s, 4096);
        say_text(&s, STREAM_STDERR, "two\n");
        read_stream(&s, 4096);
        say_text(&s, STREAM_STDOUT, "three\n");
        end(&s, 5);
        check_uint("woken by everything that happens", answer.n_continued, 5);
        read_stream(&s, 4096);
        check_string("events", s.got,
                        "{\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n"
                        "{\"type\":\"stdout\",\"data\":\"one\\n\",\"offset\":0}\n"
                        "{\"type\":\"stderr\",\"data\":\"two\\n\",\"offset\":0}\n"
                        "{\"type\":\"stdout\",\"data\":\"three\\n\",\"offset\":4}\n"
                        "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":5}\n");
        check_true("ended", s.ended);
        scene_done(&s);
}

TEST(server_sent_events) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_SSE);
        start(&s);
        say_text(&s, STREAM_STDOUT, "é");
        say_text(&s, STREAM_STDERR, "err\n");
        end(&s, 0);
        read_stream(&s, 4096);
        check_string("events", s.got,
                        "event: start\nid: 0:0\ndata: {\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n\n"
                        "event: stdout\nid: 2:0\ndata: {\"type\":\"stdout\",\"data\":\"é\",\"offset\":0}\n\n"
                        "event: stderr\nid: 2:4\ndata: {\"type\":\"stderr\",\"data\":\"err\\n\",\"offset\":0}\n\n"
                        "event: exit\nid: 2:4\ndata: {\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":0}\n\n");
        check_true("ended", s.ended);
        scene_done(&s);
}

/* Byte by byte it is the same. */
TEST(through_a_small_buffer) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        say_text(&s, STREAM_STDOUT, "some words");
        end(&s, 1);
        read_stream(&s, 1);
        check_string("events", s.got,
                        "{\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n"
                        "{\"type\":\"stdout\",\"data\":\"some words\",\"offset\":0}\n"
                        "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":1}\n");
        scene_done(&s);
}

/* What it writes may be seen before the word that it has started. */
TEST(start_comes_first) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        say_text(&s, STREAM_STDOUT, "early");
        read_stream(&s, 4096);
        check_uint("nothing yet", s.size, 0);
        start(&s);
        read_stream(&s, 4096);
        check_string("events", s.got,
                        "{\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n"
                        "{\"type\":\"stdout\",\"data\":\"early\",\"offset\":0}\n");
        scene_done(&s);
}

TEST(never_started) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        end(&s, 127);
        read_stream(&s, 4096);
        check_string("events", s.got, "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":127}\n");
        check_true("ended", s.ended);
        scene_done(&s);
}

TEST(characters_are_not_torn) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        read_stream(&s, 4096);
        say(&s, STREAM_STDOUT, "a\xe2", 2);
        read_stream(&s, 4096);
        say(&s, STREAM_STDOUT, "\x82", 1);
        read_stream(&s, 4096);
        say(&s, STREAM_STDOUT, "\xac\xf0", 2);
        read_stream(&s, 4096);
        end(&s, 0);
        read_stream(&s, 4096);
        check_string("events", s.got,
                        "{\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n"
                        "{\"type\":\"stdout\",\"data\":\"a\",\"offset\":0}\n"
                        "{\"type\":\"stdout\",\"data\":\"€\",\"offset\":1}\n"
                        "{\"type\":\"stdout\",\"data64\":\"8A==\",\"offset\":4}\n"
                        "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":0}\n");
        scene_done(&s);
}

TEST(bytes_that_are_no_text) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        say(&s, STREAM_STDOUT, "ok\xff\0", 4);
        end(&s, 0);
        read_stream(&s, 4096);
        check_part("events", s.got, "{\"type\":\"stdout\",\"data64\":\"b2v/AA==\",\"offset\":0}\n");
        scene_done(&s);
}

/* More than one event, more than one batch: every byte once. */
TEST(a_long_output) {
        const size_t size = 1000001;
        _cleanup_free_ char *data = malloc(size);
        size_t n_events = 0, n_bytes = 0;
        Scene s;

        memset(data, 'x', size);
        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        say(&s, STREAM_STDOUT, data, size);
        end(&s, 0);
        read_stream(&s, 100000);
        for (const char *p = s.got; (p = strstr(p, "\"data\":\"")); n_events++) {
                p += strlen("\"data\":\"");
                n_bytes += strspn(p, "x");
        }
        check_uint("bytes", n_bytes, size);
        check_true("in several events", n_events > 10);
        check_true("ended", s.ended);
        scene_done(&s);
}

/* Somebody who comes later, from a cursor. */
TEST(from_a_cursor) {
        Scene s;

        scene_init(&s);
        say_text(&s, STREAM_STDOUT, "0123456789");
        say_text(&s, STREAM_STDERR, "abc");
        s.x->status = EXECUTION_EXITED;
        s.x->exit_code = 3;
        check_result("events_answer", events_answer(&s.q, s.x, &(EventOptions) { .from = { 6, 3 } }), 0);
        free(TAKE_PTR(s.x));
        read_stream(&s, 4096);
        check_string("events", s.got,
                        "{\"type\":\"stdout\",\"data\":\"6789\",\"offset\":6}\n"
                        "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":3}\n");
        scene_done(&s);
}

TEST(beyond_the_end) {
        Scene s;

        scene_init(&s);
        say_text(&s, STREAM_STDOUT, "0123456789");
        s.x->status = EXECUTION_EXITED;
        (void) events_answer(&s.q, s.x, &(EventOptions) { .from = { 11, 0 } });
        check_uint("status", answer.status, 416);
        scene_done(&s);
}

TEST(removed_to_make_room) {
        Scene s;

        scene_init(&s);
        s.x->status = EXECUTION_EXITED;
        s.x->journals[STREAM_STDOUT].bytes = 5;
        s.x->journals_gone = true;
        (void) events_answer(&s.q, s.x, &(EventOptions) { 0 });
        check_uint("status", answer.status, 410);
        scene_done(&s);
}

/* A journal that is shorter than what was said of it must not make a reader wait for ever. */
TEST(shorter_than_told) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        say_text(&s, STREAM_STDOUT, "abc");
        s.x->journals[STREAM_STDOUT].bytes = 1000;
        end(&s, 0);
        read_stream(&s, 4096);
        check_part("events", s.got, "\"data\":\"abc\"");
        check_true("ended", s.ended);
        scene_done(&s);
}

/* A reader of its own: takes so many bytes, and is full. */

typedef struct Sink {
        char text[64];
        size_t size, room;
        unsigned n_changed, n_ends;
        bool closes; /* itself, with the first piece */
} Sink;

static void sink_changed(Feed *f, void *userdata) {
        ((Sink *) userdata)->n_changed++;
}

static bool sink_full(const Feed *f, void *userdata) {
        return ((Sink *) userdata)->size >= ((Sink *) userdata)->room;
}

static ssize_t sink_piece(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        Sink *k = userdata;

        size = MIN_OF(size, k->room - k->size);
        memcpy(k->text + k->size, data, size);
        k->size += size;
        if (k->closes)
                feed_close(f);
        return (ssize_t) size;
}

static int sink_end(Feed *f, void *userdata) {
        ((Sink *) userdata)->n_ends++;
        return 0;
}

static const FeedReader sink_reader = { .piece_max = 4, .changed = sink_changed, .full = sink_full, .piece = sink_piece, .end = sink_end };

/* The journal keeps what a slow reader does not take, and the end waits behind it. */
TEST(a_slow_reader) {
        Sink k = { .room = 6 };
        Feed f;
        Scene s;

        scene_init(&s);
        check_result("open", feed_open(&f, s.x, (uint64_t[]) { 0, 0 }, &sink_reader, &k), 0);
        start(&s);
        say_text(&s, STREAM_STDOUT, "0123456789");
        check_result("full", feed_pump(&f), 1);
        check_uint("taken", f.journals[STREAM_STDOUT].offset, 6);
        end(&s, 0);
        check_uint("told of all", k.n_changed, 3);
        check_result("still full", feed_pump(&f), 1);
        check_uint("no end yet", k.n_ends, 0);
        k.room = sizeof(k.text);
        check_result("all", feed_pump(&f), 0);
        check_result("nothing more", feed_pump(&f), 0);
        check_string("text", k.text, "0123456789");
        check_uint("one end", k.n_ends, 1);
        feed_close(&f);
        scene_done(&s);
}

TEST(from_now_on) {
        Sink k = { .room = sizeof(k.text) };
        Feed f;
        Scene s;

        scene_init(&s);
        say_text(&s, STREAM_STDOUT, "before");
        check_result("open", feed_open(&f, s.x, (uint64_t[]) { FEED_NOW, FEED_SKIP }, &sink_reader, &k), 0);
        check_uint("a stream that is not followed stands at its beginning", f.journals[STREAM_STDERR].offset, 0);
        say_text(&s, STREAM_STDOUT, "after");
        say_text(&s, STREAM_STDERR, "not this one");
        check_result("pump", feed_pump(&f), 0);
        check_string("text", k.text, "after");
        feed_close(&f);
        s.x->status = EXECUTION_EXITED;
        check_result("open", feed_open(&f, s.x, (uint64_t[]) { FEED_NOW, FEED_NOW }, &sink_reader, &k), 0);
        check_result("nothing comes any more", feed_pump(&f), 0);
        check_uint("one end", k.n_ends, 1);
        feed_close(&f);
        scene_done(&s);
}

/* A reader that has gone hears nothing more. */
TEST(closed_in_the_middle) {
        Sink k = { .room = sizeof(k.text), .closes = true };
        Feed f;
        Scene s;

        scene_init(&s);
        check_result("open", feed_open(&f, s.x, (uint64_t[]) { 0, 0 }, &sink_reader, &k), 0);
        say_text(&s, STREAM_STDOUT, "0123456789");
        check_result("pump", feed_pump(&f), 0);
        check_true("closed", f.over && s.x->watches == NULL);
        end(&s, 0);
        check_result("pump", feed_pump(&f), 0);
        check_string("the first piece only", k.text, "0123");
        check_uint("no end", k.n_ends, 0);
        feed_close(&f);
        scene_done(&s);
}

/* What a process left behind adds later is not part of it. */
TEST(longer_than_told) {
        Scene s;

        scene_init(&s);
        follow(&s, EVENTS_NDJSON);
        start(&s);
        say_text(&s, STREAM_STDOUT, "mine");
        unit_write_text(journal_paths[STREAM_STDOUT], "mine and more");
        end(&s, 0);
        read_stream(&s, 4096);
        check_part("events", s.got, "\"data\":\"mine\",");
        scene_done(&s);
}

TEST(what_there_is) {
        Scene s;

        scene_init(&s);
        start(&s);
        say_text(&s, STREAM_STDOUT, "so far");
        check_result("events_answer", events_answer(&s.q, s.x, &(EventOptions) { .no_follow = true }), 0);
        read_stream(&s, 4096);
        check_string("events", s.got, "{\"type\":\"stdout\",\"data\":\"so far\",\"offset\":0}\n");
        check_true("ended without an exit", s.ended);
        scene_done(&s);
}

/* Readers that go away at any point leave nothing behind; a bound command hears of it. */
TEST(reader_goes) {
        for (int stage = 0; stage < 4; stage++)
                for (int bind = 0; bind < 2; bind++) {
                        size_t before = unit_count_descriptors();
                        Scene s;

                        scene_init(&s);
                        (void) events_answer(&s.q, s.x, &(EventOptions) { .start = true, .bind = bind });
                        if (stage > 0)
                                start(&s);
                        if (stage > 1) {
                                say_text(&s, STREAM_STDOUT, "text");
                                read_stream(&s, 4096);
                        }
                        if (stage > 2)
                                end(&s, 0);
                        api_let_go(&s.q, false);
                        check_int("signal", last_signal, bind && stage < 3 ? SIGKILL : 0);
                        check_true("no watch", !s.x || !s.x->watches);
                        scene_done(&s);
                        check_uint("descriptors", unit_count_descriptors(), before);
                }
}

/* A request that waits: one answer, or none for a client that has left. */

typedef struct Patient {
        ApiWait wait;
        unsigned n_stops, n_answers, n_left;
} Patient;

static Patient patient_seen; /* of one that is gone */

static void patient_stop(ApiWait *w) {
        ((Patient *) w)->n_stops++;
        patient_seen = *(Patient *) w;
}

static void patient_answer(ApiWait *w) {
        ((Patient *) w)->n_answers++;
}

static void patient_left(ApiWait *w) {
        ((Patient *) w)->n_left++;
        patient_seen = *(Patient *) w;
}

TEST(waiting) {
        static const ApiWaitKind kind = { patient_stop, patient_answer, patient_left };

        for (int how = 0; how < 3; how++) {
                Patient *p;
                Scene s;

                scene_init(&s);
                p = api_wait_new(&s.q, sizeof(*p), &kind, how == 0 ? USEC_PER_MSEC : USEC_INFINITY);
                check_true("state", p && s.q.state == p);
                while (how == 0 && p->n_answers == 0)
                        check_true("loop", sd_event_run(s.manager.event, UINT64_MAX) >= 0);
                if (how == 1)
                        api_wait_over(&p->wait);
                check_uint("answers", p->n_answers, how < 2);
                api_wait_over(&p->wait);
                check_uint("once", p->n_answers, 1);
                api_let_go(&s.q, true);
                check_uint("nobody has left", patient_seen.n_left, 0);
                scene_done(&s);
        }
}

TEST(waiting_in_vain) {
        static const ApiWaitKind kind = { patient_stop, patient_answer, patient_left };
        Patient *p;
        Scene s;

        scene_init(&s);
        p = api_wait_new(&s.q, sizeof(*p), &kind, USEC_PER_SEC);
        check_true("state", p != NULL);
        api_let_go(&s.q, false);
        check_true("left, and not answered", patient_seen.n_left == 1 && patient_seen.n_answers == 0 && patient_seen.n_stops == 1);
        check_true("gone", !s.q.state);
        scene_done(&s);
}

/* Not when it is the daemon that goes: commands outlive it. */
TEST(daemon_goes) {
        Scene s;

        scene_init(&s);
        (void) events_answer(&s.q, s.x, &(EventOptions) { .bind = true });
        s.manager.stopping = true;
        api_let_go(&s.q, false);
        check_int("signal", last_signal, 0);
        scene_done(&s);
}

/* Text. */

static void check_text(const char *what, Text *t, const char *expected) {
        text_put(t, "", 1);
        check_result(what, t->error, 0);
        check_string(what, t->data, expected);
        text_done(t);
}

TEST(quoted) {
        static const struct {
                const char *bytes;
                size_t size;
                const char *quoted;
        } cases[] = {
                { "",                      0, "\"\""                                    },
                { "plain text of more than eight bytes", 35, "\"plain text of more than eight bytes\"" },
                { "\"\\\b\t\n\f\r\x01\x1f\x7f", 10, "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\"" },
                { "seven.\"eight",        12, "\"seven.\\\"eight\""                     },
                { "seven..\\eight",       13, "\"seven..\\\\eight\""                    },
                { "a\0b",                  3, "\"a\\u0000b\""                           },
                { "é€😀",                  9, "\"é€😀\""                                },
                { "\xff\xc3",              2, "\"\\ufffd\\ufffd\""                      },
                { "\xc0\x80 \xed\xa0\x80", 6, "\"\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Text t = TEXT_INIT(1024);

                text_quote(&t, cases[i].bytes, cases[i].size);
                check_text("quoted", &t, cases[i].quoted);
        }
}

/* Whatever stands where in a group of eight is found. */
TEST(quoted_at_every_place) {
        static const char special[] = { '"', '\\', '\n', '\x1f', '\0' };

        for (size_t k = 0; k < ELEMENTSOF(special); k++)
                for (size_t i = 0; i < 24; i++) {
                        Text t = TEXT_INIT(1024);
                        char bytes[24];

                        memset(bytes, ' ', sizeof(bytes));
                        bytes[i] = special[k];
                        text_quote(&t, bytes, sizeof(bytes));
                        check_int("a backslash in its place", t.data[1 + i], '\\');
                        text_done(&t);
                }
}

TEST(in_base64) {
        static const char *const cases[][2] = {
                { "", "\"\"" },         { "f", "\"Zg==\"" },         { "fo", "\"Zm8=\"" },
                { "foo", "\"Zm9v\"" }, { "foobar", "\"Zm9vYmFy\"" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Text t = TEXT_INIT(1024);

                text_quote_base64(&t, cases[i][0], strlen(cases[i][0]));
                check_text("base64", &t, cases[i][1]);
        }
}

TEST(times) {
        static const struct {
                int64_t nsec;
                const char *text;
        } cases[] = {
                { 0,                          "\"1970-01-01T00:00:00.000Z\"" },
                { INT64_C(1234567890123456789), "\"2009-02-13T23:31:30.123Z\"" },
                { -1,                         "\"1969-12-31T23:59:59.999Z\"" },
                { INT64_MIN,                  "\"1677-09-21T00:12:43.145Z\"" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Text t = TEXT_INIT(1024);

                text_quote_time(&t, cases[i].nsec);
                check_text("time", &t, cases[i].text);
        }
}

TEST(ceiling) {
        Text t = TEXT_INIT(1000);

        for (int i = 0; i < 100; i++)
                text_put(&t, "0123456789", 10);
        check_result("all of it fits", t.error, 0);
        text_put(&t, "x", 1);
        check_result("one more does not", t.error, -EFBIG);
        check_uint("nothing is lost", t.size, 1000);
        text_put(&t, "x", 1);
        check_result("and that stays so", t.error, -EFBIG);
        text_done(&t);
}

TEST(whole_characters) {
        static const struct {
                const char *bytes;
                size_t size, prefix;
                bool cut;
        } cases[] = {
                { "",                         0,  0, false },
                { "ascii, and more than 8",  22, 22, false },
                { "é€😀",                     9,  9, false },
                { "123456789\xc3",           10,  9, true  },
                { "\xe2\x82",                 2,  0, true  },
                { "\xf0\x9f\x98",             3,  0, true  },
                { "a\xf4\x8f\xbf",            4,  1, true  },
                { "a\xf4\x90",                3,  1, false }, /* beyond U+10FFFF */
                { "\xed\xa0",                 2,  0, false }, /* a surrogate */
                { "\xc0",                     1,  0, false }, /* overlong */
                { "\xe0\x80",                 2,  0, false },
                { "ab\x80",                   3,  2, false },
                { "\xff",                     1,  0, false },
                { "\xc3z",                    2,  0, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                bool cut;

                check_uint("prefix", utf8_prefix(cases[i].bytes, cases[i].size, &cut), cases[i].prefix);
                check_int("cut", cut, cases[i].cut);
        }
}

/* Negotiation. */

TEST(accept) {
        static const char *const types[] = { "application/json", "application/x-ndjson", "text/event-stream" };
        static const struct {
                const char *header;
                int choice;
        } cases[] = {
                { NULL,                                                0       },
                { "",                                                  0       },
                { "*/*",                                               0       },
                { "application/*",                                     0       },
                { "text/*",                                            2       },
                { "application/json",                                  0       },
                { "APPLICATION/X-NDJSON",                              1       },
                { "text/event-stream",                                 2       },
                { "text/event-stream, */*",                            2       },
                { "application/json, text/event-stream",               0       },
                { "text/event-stream, application/json",               2       },
                { "text/event-stream;q=0.5, application/x-ndjson",     1       },
                { "application/json;q=0.2, text/event-stream;q=0.9",   2       },
                { "application/json;q=0, */*",                         1       },
                { "application/json; charset=utf-8; q=0.1, text/*",    2       },
                { " text/html , application/json ",                    0       },
                { "text/html",                                         -ENOENT },
                { "application/json;q=0",                              -ENOENT },
                { "application/json;q=x",                              -ENOENT },
                { "application/jsonx",                                 -ENOENT },
                { ",,;;q=,",                                           -ENOENT },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_result(cases[i].header ? cases[i].header : "no header",
                                accept_choose(cases[i].header, types, ELEMENTSOF(types)), cases[i].choice);
}
