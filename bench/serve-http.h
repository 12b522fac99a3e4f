/* serve-http.h: as much of HTTP as a bench needs, and no more, so that little of the measured time is ours.
 *
 * One kept connection over the daemon's unix socket. A call is a write and some reads; asking and hearing are apart, so that
 * one thread can have a hundred under way.
 * Must not know: routes, what is measured. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"

#define HTTP_BODY_MAX (64u << 20)

typedef struct Http {
        int fd;
        char *buffer; /* the answer: head and body, terminated */
        size_t n, room;
} Http;

#define HTTP_EMPTY                                                                                          \
        { .fd = -EBADF }

int http_open(Http *h, const char *socket_path);
void http_done(Http *h);

/* path may hold one %s for the name that is given beside it; body may be NULL. */
int http_ask(Http *h, const char *method, const char *path, const char *name, const char *body);
/* Reads what there is, waits when nothing is: 0 when the answer is not whole yet, else its status. Only answers with a
 * Content-Length. */
int http_hear(Http *h);
/* Of the answer that http_hear() has told. */
const char *http_answer_body(const Http *h);

/* Both, until the answer is whole. Another status than this is -EPROTO. */
int http_call(Http *h, const char *method, const char *path, const char *name, const char *body, int status);

/* The text of a string field of the JSON answer: the first of that name. */
int http_answer_field(const Http *h, const char *field, char *ret, size_t size);
/* How often a text stands in the answer. */
size_t http_answer_count(const Http *h, const char *text);

/* An answer of any length to its end, in a connection of its own; counts and drops it. */
int http_drain(const char *socket_path, const char *path, const char *name, uint64_t *ret_bytes);
