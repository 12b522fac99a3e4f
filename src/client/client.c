#include "client/client.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"

#define RECOVERY_MAX   (30 * USEC_PER_SEC) /* how long we wait for a daemon that has just started */
#define PATH_WORDS_MAX 4
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

void answer_tell(const Answer *a) {
        const json_t *error = error_object(a);
        const char *message = json_get_text(error, "message"), *hint = json_get_text(error, "hint");

        if (!message) {
                log_error("the daemon answers with status %u and says nothing about it", a->head.status);
                return;
        }
        tell_complaints(json_object_get(error, "errors"), message);
        if (hint)
                log_error("hint: %s", hint);
}

void answer_print(const Answer *a) {
        if (a->size == 0)
                return;
        (void) fwrite(a->text, 1, a->size, stdout);
        if (a->text[a->size - 1] != '\n')
                putchar('\n');
}

static int client_ask_once(const Place *p, const Request *q, Answer *ret, Error *reterr) {
        Call call = CALL_INIT;
        int r = call_start(&call, p, q, reterr);

        if (r >= 0)
                r = call_run(&call, reterr);
        if (r >= 0) {
                ret->head = call.answer;
                call.answer = (HttpReader) { 0 };
        }
        call_done(&call);
        return r;
}

static void take_a_breath(void) {
        (void) nanosleep(&(struct timespec) { .tv_nsec = (long) RECOVERY_PAUSE * 1000 }, NULL);
}

static bool is_recovering(const Answer *a) {
        return a->head.status == 503 && answer_has_code(a, "recovering");
}

int client_ask(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret, Error *reterr) {
        usec_t until = clock_usec() + RECOVERY_MAX;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_free_ char *text = NULL;
        Request q = REQUEST_INIT;
        int r;

        if (url->error < 0)
                return error_set(reterr, url->error, "out of memory");
        if (body) {
                text = json_builder_print(body, reterr);
                if (!text)
                        return reterr->code;
                q.type = "application/json";
                q.body = text;
                q.body_size = strlen(text);
        }
        q.method = method;
        q.path = url->text;
        q.accept = "application/json";
        q.sink = answer_collect;
        q.sink_data = &a;
        for (;;) {
                r = client_ask_once(p, &q, &a, reterr);
                if (r < 0)
                        return r;
                if (a.size > 0)
                        a.json = json_parse(a.text, a.size, /* reterr= */ NULL);
                if (!is_recovering(&a) || clock_usec() > until)
                        break;
                answer_done(&a);
                take_a_breath();
        }
        *ret = a;
        a = (Answer) { 0 };
        return 0;
}

int client_need(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret) {
        _cleanup_answer_ Answer a = { 0 };
        Error error = { 0 };
        int r = client_ask(p, method, url, body, &a, &error);

        if (r < 0) {
                log_error("%s", error.text);
                return r;
        }
        if (!answer_is_good(&a)) {
                answer_tell(&a);
                return -EREMOTEIO;
        }
        if (!a.json) {
                log_error("the daemon's answer is not JSON");
                return -EBADMSG;
        }
        *ret = a;
        a = (Answer) { 0 };
        return 0;
}

int client_need_path(const Place *p, JsonBuilder *body, Answer *ret, const char *path, ...) {
        char *words[PATH_WORDS_MAX];
        _cleanup_url_ Url u = { 0 };
        size_t n = 0;
        va_list ap;

        va_start(ap, path);
        for (const char *at = path; (at = strchr(at, '%')); at++) {
                assert(n < PATH_WORDS_MAX);
                words[n++] = va_arg(ap, char *);
        }
        va_end(ap);
        url_fill(&u, path, words);
        return client_need(p, body ? "POST" : NULL, &u, body, ret);
}

/* Which of the two sinks gets the body is known when the head is there. */
typedef struct Transfer {
        Call call;
        Answer refusal;
        const Request *request;
} Transfer;

static int client_take_body(void *userdata, const void *data, size_t size) {
        Transfer *t = userdata;

        if (t->call.answer.status < 200 || t->call.answer.status >= 300)
                return answer_collect(&t->refusal, data, size);
        return t->request->sink ? t->request->sink(t->request->sink_data, data, size) : 0;
}

static void transfer_done(Transfer *t) {
        call_done(&t->call);
        answer_done(&t->refusal);
}

static int transfer_once(Transfer *t, const Place *p, Error *reterr) {
        Request q = *t->request;
        int r;

        q.sink = client_take_body;
        q.sink_data = t;
        r = call_start(&t->call, p, &q, reterr);
        if (r >= 0)
                r = call_run(&t->call, reterr);
        t->refusal.head.status = t->call.answer.status;
        if (t->refusal.size > 0)
                t->refusal.json = json_parse(t->refusal.text, t->refusal.size, /* reterr= */ NULL);
        return r;
}

int client_transfer(const Place *p, const Request *q, const Error *error, HttpReader *ret_head) {
        usec_t until = clock_usec() + RECOVERY_MAX;
        Transfer t = { .call = CALL_INIT, .request = q };
        Error own = { 0 };
        int r;

        for (;;) {
                r = transfer_once(&t, p, &own);
                if (r < 0 || q->source || !is_recovering(&t.refusal) || clock_usec() > until)
                        break;
                transfer_done(&t);
                take_a_breath();
        }
        if (r < 0)
                log_error("%s", error && error->code < 0 ? error->text : own.text);
        else if (!answer_is_good(&t.refusal)) {
                answer_tell(&t.refusal);
                r = -EREMOTEIO;
        } else if (ret_head) {
                *ret_head = t.call.answer;
                t.call.answer = (HttpReader) { 0 };
        }
        transfer_done(&t);
        return r;
}

int client_receive(const Place *p, const Url *u, const char *accept, HttpBody sink, void *sink_data, const Error *error) {
        Request q = REQUEST_INIT;

        if (u->error < 0) {
                log_error("out of memory");
                return u->error;
        }
        q.path = u->text;
        q.accept = accept;
        q.sink = sink;
        q.sink_data = sink_data;
        return client_transfer(p, &q, error, /* ret_head= */ NULL);
}
