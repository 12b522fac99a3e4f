/* What goes to and from a driver: lines in any pieces, what is too long, what the pipes bring, and what is hidden. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "context/internal.h"
#include "context/link.h"

typedef struct World {
        ContextLink link; /* first: what the handlers get */
        sd_event *event;
        int driver, out, err; /* the other ends */
        char said[4096];
        size_t n;
        unsigned n_lines, n_closed;
        size_t longest;
        bool close_in_line;
} World;

static void note(World *w, const char *what, const char *data, size_t size) {
        w->n += (size_t) snprintf(w->said + w->n, sizeof(w->said) - w->n, "%s[%.*s]", what, (int) size, data);
}

static void on_line(ContextLink *l, const char *line, size_t size) {
        World *w = (World *) l;

        w->n_lines++;
        w->longest = MAX_OF(w->longest, size);
        if (size < 100)
                note(w, "line", line, size);
        if (w->close_in_line)
                context_link_close(l);
}

static void on_stream(ContextLink *l, bool is_stderr, const char *data, size_t size) {
        note((World *) l, is_stderr ? "err" : "out", data, size);
}

static void on_closed(ContextLink *l) {
        ((World *) l)->n_closed++;
        context_link_close(l);
}

static const ContextLinkHandlers handlers = { on_line, on_stream, on_closed };

static void begin(World *w) {
        int fds[_EXECUTION_CHANNEL_MAX], pair[2];

        memset(w, 0, sizeof(*w));
        check_true("event", sd_event_new(&w->event) >= 0);
        check_result("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        fds[EXECUTION_CHANNEL_LINK] = pair[0];
        w->driver = pair[1];
        check_result("pipe", pipe2(pair, O_CLOEXEC), 0);
        fds[EXECUTION_CHANNEL_OUT] = pair[0];
        w->out = pair[1];
        check_result("pipe", pipe2(pair, O_CLOEXEC), 0);
        fds[EXECUTION_CHANNEL_ERR] = pair[0];
        w->err = pair[1];
        context_link_init(&w->link, &handlers, w->event);
        check_result("open", context_link_open(&w->link, fds), 0);
}

static void end(World *w) {
        context_link_close(&w->link);
        (void) fd_close(w->driver);
        (void) fd_close(w->out);
        (void) fd_close(w->err);
        sd_event_unref(w->event);
}

static void settle(World *w) {
        while (sd_event_run(w->event, 0) > 0)
                ;
}

static void say(int fd, const char *text) {
        check_result("write", fd_write_all(fd, text, strlen(text)), 0);
}

TEST(lines_in_any_pieces) {
        World w;

        begin(&w);
        say(w.driver, "one\n\ntw");
        settle(&w);
        say(w.driver, "o\nthree\nfo");
        settle(&w);
        check_string("said", w.said, "line[one]line[two]line[three]");
        say(w.driver, "ur\n");
        (void) fd_close(w.driver);
        w.driver = -EBADF;
        settle(&w);
        check_string("said", w.said, "line[one]line[two]line[three]line[four]");
        check_uint("closed", w.n_closed, 1);
        end(&w);
}

TEST(closed_by_whoever_gets_a_line) {
        World w;

        begin(&w);
        w.close_in_line = true;
        say(w.driver, "one\ntwo\n");
        settle(&w);
        check_uint("lines", w.n_lines, 1);
        check_uint("closed", w.n_closed, 0);
        end(&w);
}

TEST(too_long_is_dropped_whole) {
        size_t size = CONTEXT_EVENT_MAX + (1 << 20), at = 0;
        char *text = malloc(size);
        World w;

        begin(&w);
        memset(text, 'x', size);
        (void) fcntl(w.driver, F_SETFL, O_NONBLOCK);
        while (at < size) {
                ssize_t n = write(w.driver, text + at, size - at);

                at += n > 0 ? (size_t) n : 0;
                settle(&w);
        }
        say(w.driver, "\nnext\n");
        settle(&w);
        check_string("said", w.said, "line[next]");
        free(text);
        end(&w);
}

TEST(paused_and_gone_on) {
        World w;

        begin(&w);
        context_link_pause(&w.link, true);
        say(w.driver, "one\ntwo\n");
        say(w.out, "o");
        settle(&w);
        check_string("said", w.said, "");
        context_link_pause(&w.link, false);
        settle(&w);
        check_uint("lines", w.n_lines, 2);
        check_true("out", strstr(w.said, "out[o]") != NULL);
        end(&w);
}

TEST(characters_are_whole) {
        World w;

        begin(&w);
        say(w.out, "a\xc3");
        settle(&w);
        check_string("said", w.said, "out[a]");
        say(w.out, "\xa9\xff" "b");
        settle(&w);
        check_string("said", w.said, "out[a]out[\xc3\xa9\xef\xbf\xbd" "b]");
        w.n = 0;
        say(w.err, "x\xe2\x82");
        settle(&w);
        context_link_drain(&w.link, /* final= */ true);
        check_string("said", w.said, "err[x]err[\xef\xbf\xbd\xef\xbf\xbd]");
        end(&w);
}

TEST(values_are_hidden_across_pieces) {
        Mask *mask = mask_new();
        World w;

        check_true("mask", mask && mask_add(mask, "sesame-open", 11) == 1);
        begin(&w);
        w.link.mask = (const Mask *const *) &mask;
        say(w.out, "say sesa");
        settle(&w);
        check_true("held back", !strstr(w.said, "ses"));
        say(w.out, "me-open now");
        settle(&w);
        context_link_drain(&w.link, /* final= */ true);
        check_true("hidden", !strstr(w.said, "sesame") && strstr(w.said, "***"));
        end(&w);
        mask_unref(mask);
}

TEST(what_is_sent_waits_for_its_reader) {
        static char data[1 << 20];
        char *got = malloc(2 * sizeof(data));
        size_t at = 0;
        World w;

        begin(&w);
        memset(data, 'y', sizeof(data));
        check_result("send", context_link_send(&w.link, data, sizeof(data)), 0);
        check_result("send", context_link_send(&w.link, "end", 3), 0);
        (void) fcntl(w.driver, F_SETFL, O_NONBLOCK);
        while (at < sizeof(data) + 3) {
                ssize_t n = read(w.driver, got + at, 2 * sizeof(data) - at);

                at += n > 0 ? (size_t) n : 0;
                settle(&w);
        }
        check_true("in order", memcmp(got, data, sizeof(data)) == 0 && memcmp(got + sizeof(data), "end", 3) == 0);
        free(got);
        end(&w);
        check_result("closed", context_link_send(&w.link, "x", 1), -EPIPE);
}

TEST(events) {
        static const struct {
                const char *line;
                int r;
                const char *shown; /* without its time */
                uint64_t run;
        } rows[] = {
                { "{\"type\":\"ready\"}", 0, "{\"type\":\"ready\"}", 0 },
                { "{\"type\":\"end_of_execution\",\"run\":7}", 0, "{\"type\":\"end_of_execution\"}", 7 },
                { "{\"type\":\"result\",\"run\":1,\"text\":\"1\",\"html\":null,\"other\":2}", 0, "{\"extra\":{},\"is_main_result\":false,\"text\":\"1\",\"type\":\"result\"}", 1 },
                { "{\"type\":\"error\",\"run\":1,\"name\":\"N\"}", 0, "{\"name\":\"N\",\"traceback\":\"\",\"type\":\"error\",\"value\":\"\"}", 1 },
                { "{\"type\":\"result\",\"text\":1}", -EBADMSG, NULL, 0 },
                { "{\"type\":\"result\",\"chart\":[]}", -EBADMSG, NULL, 0 },
                { "{\"type\":\"stdout\"}", -EBADMSG, NULL, 0 },
                { "{\"type\":\"keepalive\"}", -EBADMSG, NULL, 0 },
                { "{\"type\":\"ready\",\"run\":-1}", -EBADMSG, NULL, 0 },
                { "{\"type\":\"ready\",\"run\":\"1\"}", -EBADMSG, NULL, 0 },
                { "[]", -EBADMSG, NULL, 0 },
                { "no JSON", -EBADMSG, NULL, 0 },
                { "", -EBADMSG, NULL, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                json_t *event = NULL;
                uint64_t run = 0;
                char *text;

                check_result(rows[i].line, context_event_read(rows[i].line, strlen(rows[i].line), NULL, &event, &run), rows[i].r);
                if (rows[i].r < 0)
                        continue;
                text = json_dumps(event, JSON_COMPACT | JSON_SORT_KEYS);
                check_string(rows[i].line, text, rows[i].shown);
                check_uint(rows[i].line, run, rows[i].run);
                free(text);
                json_decref(event);
        }
}

TEST(languages) {
        const char *source;
        size_t size;

        check_string("short", context_language("JS"), "javascript");
        check_string("own", context_language("python"), "python");
        check_true("none", !context_language("cobol"));
        check_string("default", context_default_language("default-ts"), "typescript");
        check_true("no default", !context_default_language("python"));
        for (const char *const *name = (const char *const[]) { "python", "javascript", "typescript", "bash", "r", "java", NULL }; *name; name++)
                check_result(*name, context_language_source(context_language_find(*name), &source, &size), 0);
}

