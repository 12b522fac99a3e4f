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

/* Says on stderr what an answer that is not good says. Returns -EREMOTEIO. */
int answer_tell(const Answer *a);
bool answer_has_code(const Answer *a, const char *code); /* of its error object */

/* The daemon's JSON as it is, on stdout; or within something else, without the newline at its end: "%.*s". */
void answer_print(const Answer *a);
int answer_length(const Answer *a);

/* Collects a body; an HttpBody with an Answer. When all of it is there, it is read as JSON. */
int answer_collect(void *answer, const void *data, size_t size);
void answer_parse(Answer *a);

/* Any status is an answer. method NULL: GET; body NULL: none. */
int client_ask(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret, Error *reterr);

/* Likewise, of a path as url_of() takes it, and tells when there is no answer. */
int client_try(const Place *p, const char *method, JsonBuilder *body, Answer *ret, const char *path, ...) _printf_(5, 6);

/* Wants a good answer, and tells when there is none. */
int client_need(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret);
int client_need_path(const Place *p, JsonBuilder *body, Answer *ret, const char *path, ...)
                _printf_(4, 5); /* body NULL: GET, else POST */

/* Wants a good answer, whose body goes to the request's sink as it comes; where there is no sink, it is in *ret. `error` has what
 * the source or the sink says of its own failure; NULL: nothing. ret NULL: the answer does not matter. */
int client_transfer(const Place *p, const Request *q, const Error *error, Answer *ret);

/* A sink that writes to a descriptor. */
typedef struct ClientFile {
        int fd;
        const char *name; /* for people; NULL: it has none */
        uint64_t size;    /* so far */
        Error error;
} ClientFile;

int client_file_take(void *file, const void *data, size_t size);

/* The body of a good answer to GET, as it comes. accept NULL: anything; error: as above. */
int client_receive(const Place *p, const Url *u, const char *accept, HttpBody sink, void *sink_data, const Error *error);
