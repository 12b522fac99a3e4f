/* client.h: asks the daemon a question and reports the result to a person.
 *
 * One question, one JSON answer. While the daemon recovers after a start, the client waits for it. Failures
 * are reported here, once, in the daemon's own words: its message, its complaints about fields, its hint.
 * Must not know: what the answers mean. */
#pragma once

#include "client/call.h"
#include "client/http/url.h"
#include "client/json.h"

#define ANSWER_MAX (256 << 20)

typedef struct Answer {
        HttpReader head;
        char *text; /* the body, NUL-terminated */
        size_t size, room;
        json_t *json; /* NULL: the body is not JSON */
} Answer;

void answer_done(Answer *a);
#define _cleanup_answer_ _cleanup_(answer_done)

static inline bool answer_is_good(const Answer *a) {
        return a->head.status >= 200 && a->head.status < 300;
}

/* Prints a failed answer's message to stderr. Returns -EREMOTEIO. */
int answer_tell(const Answer *a);
bool answer_has_code(const Answer *a, const char *code); /* compares the code of its error object */

/* answer_print() prints the daemon's JSON unchanged to stdout. answer_length() is its length without the
 * final newline, for embedding: "%.*s". */
void answer_print(const Answer *a);
int answer_length(const Answer *a);

/* answer_collect() is an HttpBody that collects the body into an Answer. answer_parse() parses the complete
 * body as JSON. */
int answer_collect(void *answer, const void *data, size_t size);
void answer_parse(Answer *a);

/* Any status is an answer. method NULL: GET; body NULL: none. */
int client_ask(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret, Error *reterr);

/* Likewise, with a path as for url_of(); reports if there is no answer. */
int client_try(const Place *p, const char *method, JsonBuilder *body, Answer *ret, const char *path, ...) _printf_(5, 6);

/* Requires a successful answer; reports any failure. */
int client_need(const Place *p, const char *method, const Url *url, JsonBuilder *body, Answer *ret);
int client_need_path(const Place *p, JsonBuilder *body, Answer *ret, const char *path, ...)
                _printf_(4, 5); /* body NULL: GET, else POST */

/* Requires a successful answer. Its body goes to the request's sink as it arrives; without a sink, it is in
 * *ret. `error` has the message of a failure in the source or the sink; NULL: none. ret NULL: the answer is
 * discarded. */
int client_transfer(const Place *p, const Request *q, const Error *error, Answer *ret);

/* A sink that writes to a descriptor. */
typedef struct ClientFile {
        int fd;
        const char *name; /* for messages; NULL: none */
        uint64_t size;    /* so far */
        Error error;
} ClientFile;

int client_file_take(void *file, const void *data, size_t size);

/* GETs a URL and passes the body of a successful answer to a sink as it arrives. accept NULL: any type;
 * error: as above. */
int client_receive(const Place *p, const Url *u, const char *accept, HttpBody sink, void *sink_data, const Error *error);
