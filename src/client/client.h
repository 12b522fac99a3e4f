/* client.h: asking the daemon something, and telling a person what came back.
 *
 * One question, one JSON answer. While the daemon is recovering after a start, waits for it. What went wrong is told here, once,
 * with the daemon's own words: its message, its complaints about fields, its hint.
 * Must not know: what the answers mean. */
#pragma once

#include "client/call.h"
#include "client/http/url.h"
#include "client/json.h"

#define ANSWER_MAX (256 << 20)

typedef struct Answer {
        HttpReader head;
        char *text; /* the body, with a NUL behind it */
        size_t size, room;
        json_t *json; /* NULL: it is none */
} Answer;

void answer_done(Answer *a);
#define _cleanup_answer_ _cleanup_(answer_done)

static inline bool answer_is_good(const Answer *a) {
        return a->head.status >= 200 && a->head.status < 300;
}

/* Says on stderr what an answer that is not good says. */
void answer_tell(const Answer *a);
bool answer_has_code(const Answer *a, const char *code); /* of its error object */

/* The daemon's JSON as it is, on stdout. */
void answer_print(const Answer *a);

/* Collects a body; an HttpBody with an Answer. */
int answer_collect(void *answer, const void *data, size_t size);

/* Any status is an answer. method NULL: GET; body NULL: none. */
int client_ask(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret, Error *reterr);

/* Wants a good answer, and tells when there is none. */
int client_need(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret);

/* Likewise, of a path in which each % is the next word. body NULL: GET, else POST. */
int client_need_path(const Place *p, JsonBuilder *body, Answer *ret, const char *path, ...);

/* For bodies of any size: a good answer's goes to the request's sink as it comes, any other answer is told. `error` has what the
 * source or the sink says of its own failure; NULL: nothing. ret_head, if wanted, is the caller's to end. */
int client_transfer(const Place *p, const Request *q, const Error *error, HttpReader *ret_head);

/* The body of a good answer to GET, as it comes. accept NULL: anything; error: as above. */
int client_receive(const Place *p, const Url *u, const char *accept, HttpBody sink, void *sink_data, const Error *error);
