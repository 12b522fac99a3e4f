#include "client/client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "client/waiting.h"

#define RECOVERY_MAX   (30 * USEC_PER_SEC) /* how long we wait for a daemon that has just started */
#define RECOVERY_PAUSE (100 * USEC_PER_MSEC)

void answer_done(Answer *a) {
        http_reader_done(&a->head);
        free(a->text);
        json_decref(a->json);
        *a = (Answer) { 0 };
}

int answer_collect(void *answer, const void *data, size_t size) {
        Answer *a = answer;

        if (a->size + size > ANSWER_MAX)
                return -EFBIG;
        if (ARRAY_RESERVE(a->text, a->room, a->size + size + 1) < 0)
                return -ENOMEM;
        memcpy(a->text + a->size, data, size);
        a->size += size;
        a->text[a->size] = '\0';
        return 0;
}

void answer_parse(Answer *a) {
        if (a->size > 0)
                a->json = json_parse(a->text, a->size, /* reterr= */ NULL);
}

static const json_t *error_object(const Answer *a) {
        return json_object_get(a->json, "error");
}

bool answer_has_code(const Answer *a, const char *code) {
        return strcmp(json_get_text_or(error_object(a), "code", ""), code) == 0;
}

/* Each complaint has its line; a message that only repeats the first is left out. */
static void tell_complaints(const json_t *complaints, const char *message) {
        const char *first = json_get_text(json_array_get(complaints, 0), "message");
        const json_t *complaint;
        size_t i;

        if (!first || !strstr(message, first))
                log_error("%s", message);
        json_array_foreach(complaints, i, complaint)
                log_error("%s: %s", json_get_text_or(complaint, "field", "?"), json_get_text_or(complaint, "message", "?"));
}

int answer_tell(const Answer *a) {
        const json_t *error = error_object(a);
        const char *message = json_get_text(error, "message"), *hint = json_get_text(error, "hint");

        if (!message)
                return log_failure(-EREMOTEIO, "the answer has HTTP status %u and no reason, which no cove daemon sends: check COVE_URL or --url, and what is on the way",
                                a->head.status);
        tell_complaints(json_object_get(error, "errors"), message);
        if (a->head.status == 401) /* the daemon's own hint is for programs: it names headers */
                hint = "set COVE_API_KEY, or give --key; the daemon's operator makes a key with `cove key create`";
        if (!hint && a->head.status == 404 && strncmp(message, "there is no sandbox '", 21) == 0)
                hint = "`cove ls -a` lists the sandboxes; an id can be shortened to its first 8 characters";
        if (!hint && a->head.status == 403 && strstr(message, "permission denied for this user"))
                hint = "as root inside: --user root";
        if (hint)
                log_error("hint: %s", hint);
        return -EREMOTEIO;
}

int answer_length(const Answer *a) {
        size_t n = a->size;

        while (n > 0 && a->text[n - 1] == '\n')
                n--;
        return (int) n;
}

void answer_print(const Answer *a) {
        if (a->size == 0)
                return;
        (void) fwrite(a->text, 1, a->size, stdout);
        if (a->text[a->size - 1] != '\n')
                putchar('\n');
}

/* The head of the response decides whether the request's sink or the answer gets the body. */
typedef struct ClientExchange {
        Call call;
        const Request *request;
        Answer *answer;
} ClientExchange;

static int client_take_body(void *userdata, const void *data, size_t size) {
        ClientExchange *x = userdata;
        bool good = x->call.answer.status >= 200 && x->call.answer.status < 300;

        return good && x->request->sink ? x->request->sink(x->request->sink_data, data, size)
                                        : answer_collect(x->answer, data, size);
}

static int client_exchange_once(const Place *p, const Request *request, Answer *ret, Error *reterr) {
        ClientExchange x = { .call = CALL_INIT, .request = request, .answer = ret };
        Request q = *request;
        int r;

        q.sink = client_take_body;
        q.sink_data = &x;
        r = call_start(&x.call, p, &q, reterr);
        if (r >= 0)
                r = call_run(&x.call, reterr);
        if (r >= 0) {
                ret->head = x.call.answer;
                x.call.answer = (HttpReader) { 0 };
                answer_parse(ret);
        }
        call_done(&x.call);
        return r;
}

/* Repeats the request while the daemon recovers, except for one with a source, which cannot be read twice.
 * The caller owns *ret also on failure. */
static int client_exchange(const Place *p, const Request *q, Answer *ret, Error *reterr) {
        usec_t until = clock_usec() + RECOVERY_MAX;

        for (;;) {
                int r = client_exchange_once(p, q, ret, reterr);

                if (r < 0 || q->source || ret->head.status != 503 || !answer_has_code(ret, "recovering") ||
                                clock_usec() > until)
                        return r;
                answer_done(ret);
                (void) nanosleep(&(struct timespec) { .tv_nsec = (long) RECOVERY_PAUSE * 1000 }, NULL);
        }
}

int client_ask(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret, Error *reterr) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_free_ char *text = body ? json_builder_print(body, reterr) : NULL;
        int r;

        if (body && !text)
                return reterr->code;
        waiting_begin();
        r = client_exchange(p,
                        &REQUEST(.method = method, .path = url_text(url), .accept = "application/json",
                                        .type = body ? "application/json" : NULL, .body = text,
                                        .body_size = body ? strlen(text) : 0),
                        &a, reterr);
        waiting_end();
        if (r < 0)
                return r;
        *ret = a;
        a = (Answer) { 0 };
        return 0;
}

static int client_ask_told(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret) {
        Error error = { 0 };
        int r = client_ask(p, method, url, body, ret, &error);

        return r < 0 ? log_failure(r, "%s", error.text) : 0;
}

int client_try(const Place *p, const char *method, JsonBuilder *body, Answer *ret, const char *path, ...) {
        _cleanup_url_ Url u = { 0 };
        va_list words;

        va_start(words, path);
        u = url_of_words(path, words);
        va_end(words);
        return client_ask_told(p, method, &u, body, ret);
}

int client_need(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret) {
        _cleanup_answer_ Answer a = { 0 };
        int r = client_ask_told(p, method, url, body, &a);

        if (r < 0)
                return r;
        if (!answer_is_good(&a))
                return answer_tell(&a);
        if (!a.json)
                return log_failure(-EBADMSG, "the daemon's answer is not JSON");
        *ret = a;
        a = (Answer) { 0 };
        return 0;
}

int client_need_path(const Place *p, JsonBuilder *body, Answer *ret, const char *path, ...) {
        _cleanup_url_ Url u = { 0 };
        va_list words;

        va_start(words, path);
        u = url_of_words(path, words);
        va_end(words);
        return client_need(p, body ? "POST" : NULL, &u, body, ret);
}

int client_transfer(const Place *p, const Request *q, const Error *error, Answer *ret) {
        _cleanup_answer_ Answer a = { 0 };
        Error own = { 0 };
        int r = client_exchange(p, q, &a, &own);

        if (r < 0)
                return log_failure(r, "%s", error && error->code < 0 ? error->text : own.text);
        if (!answer_is_good(&a))
                return answer_tell(&a);
        if (ret) {
                *ret = a;
                a = (Answer) { 0 };
        }
        return 0;
}

int client_file_take(void *file, const void *data, size_t size) {
        ClientFile *f = file;
        int r = fd_write_all(f->fd, data, size);

        if (r < 0)
                return error_set(&f->error, r, f->name ? "cannot write '%s': %m" : "cannot write %s: %m",
                                f->name ? f->name : "it");
        f->size += size;
        return 0;
}

int client_receive(const Place *p, const Url *u, const char *accept, HttpBody sink, void *sink_data, const Error *error) {
        return client_transfer(p,
                        &REQUEST(.path = url_text(u), .accept = accept, .sink = sink,
                                        .sink_data = sink_data),
                        error, /* ret= */ NULL);
}
