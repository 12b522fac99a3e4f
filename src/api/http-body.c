/* http-body.c: bodies of requests: collected, passed on, or dropped.
 *
 * MHD accepts no answer in the middle of a body. If only a little of the body is missing, the answer waits
 * for it, and the connection can continue. Else the answer is written directly to the socket, on which MHD
 * has nothing under way then, with the announcement of a close. The rest of the body is still read and
 * dropped for a while: a close with unread bytes would send a reset, which destroys the answer for clients
 * that send everything before they read. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/http-internal.h"

#define COLLECT_FIRST 4096

static const char body_not_ignored[] = "this request takes no body: one of up to 64 KiB is ignored, this one is larger";
static const char body_too_large[] = "the body is larger than this request may have";

static void body_start_stream(HttpRequest *r) {
        r->handled = true;
        r->plan.handle(r, r->plan.userdata);
}

static int body_grow(HttpRequest *r, size_t size) {
        size_t room = r->body_room;
        char *bigger;

        if (r->length != UINT64_MAX && room == 0)
                room = (size_t) r->length + 1; /* the limit was checked before */
        while (room < r->body_size + size + 1)
                room = room ? room * 2 : COLLECT_FIRST;
        if (room == r->body_room)
                return 0;
        bigger = realloc(r->body, room);
        if (!bigger)
                return -ENOMEM;
        r->body = bigger;
        r->body_room = room;
        return 0;
}

static void body_collect(HttpRequest *r, const char *data, size_t size) {
        if (size > r->plan.body_max - r->body_size)
                http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "too_large", body_too_large);
        else if (body_grow(r, size) < 0)
                http_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR, "internal", "out of memory");
        else {
                memcpy(r->body + r->body_size, data, size);
                r->body_size += size;
                r->body[r->body_size] = '\0';
        }
}

/* Returns the number of bytes not taken. */
static size_t body_stream(HttpRequest *r, const char *data, size_t size) {
        ssize_t n = r->plan.body(r, data, size, r->plan.userdata);

        if (n < 0) {
                r->discarding = r->body_told = true;
                return 0;
        }
        if ((size_t) n >= size)
                return 0;
        http_set_flow(r, HTTP_PAUSING);
        return size - (size_t) n;
}

static enum MHD_Result print_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
        fprintf(cls, "%s: %s\r\n", name, value);
        return MHD_YES;
}

/* Writes the answer to the socket itself. What cannot be sent at once is lost: the client is not reading. */
static void body_answer_early(HttpRequest *r) {
        char *text = NULL;
        size_t size;
        FILE *f;

        if (!r->response || !r->answer_data)
                return;
        f = open_memstream(&text, &size);
        if (!f)
                return;
        fprintf(f, "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Length: %zu\r\n", r->status,
                        MHD_get_reason_phrase_for(r->status), r->answer_size);
        (void) MHD_get_response_headers(r->response, print_header, f);
        (void) fputs("\r\n", f);
        (void) fwrite(r->answer_data, 1, r->answer_size, f);
        if (fclose(f) == 0) {
                settle_now(r->connection->listener->server->settle);
                r->sent_early = send(r->connection->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t) size;
                (void) shutdown(r->connection->fd, SHUT_WR);
        }
        free(text);
}

/* In these methods a body has no meaning (RFC 9110, 9.3), but some clients send one, mostly "{}". */
static bool body_means_nothing(const HttpRequest *r) {
        static const char *const bare[] = { MHD_HTTP_METHOD_GET, MHD_HTTP_METHOD_HEAD, MHD_HTTP_METHOD_DELETE };

        for (size_t i = 0; i < ELEMENTSOF(bare); i++)
                if (strcmp(r->method, bare[i]) == 0)
                        return true;
        return false;
}

static void body_ignore(HttpRequest *r) {
        if (!body_means_nothing(r))
                http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "too_large", "this request takes no body: send none");
        else if (r->length != UINT64_MAX && r->length > HTTP_IGNORED_MAX)
                http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "too_large", body_not_ignored);
        else
                r->ignoring = true;
}

/* Reads an ignored body, so that the next request of the connection is found. */
static void body_drop(HttpRequest *r, size_t size) {
        if (r->received + size > HTTP_IGNORED_MAX)
                http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "too_large", body_not_ignored);
}

void http_body_begin(HttpRequest *r) {
        if (!r->answered) {
                if (r->plan.mode == HTTP_BODY_NONE && r->length > 0)
                        body_ignore(r);
                else if (r->plan.mode == HTTP_BODY_COLLECT && r->length != UINT64_MAX && r->length > r->plan.body_max)
                        http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "too_large", body_too_large);
                else if (r->plan.mode == HTTP_BODY_STREAM)
                        body_start_stream(r);
        }
        r->discarding = r->answered && r->length > 0;
}

/* The number of bytes to come, as far as it is known. */
static uint64_t body_left(const HttpRequest *r) {
        return r->length == UINT64_MAX ? UINT64_MAX : r->length - r->received;
}

enum MHD_Result http_body_answer_in_time(HttpRequest *r) {
        if (r->sent_early || !r->response || body_left(r) <= HTTP_DISCARD_QUIETLY)
                return MHD_YES;
        body_answer_early(r);
        return r->sent_early ? MHD_YES : MHD_NO;
}

static enum MHD_Result body_discard(HttpRequest *r, size_t size) {
        r->discarded += size;
        if (r->discarded > STRANGER_BODY_BYTES)
                return MHD_NO;
        return http_body_answer_in_time(r);
}

enum MHD_Result http_body_piece(HttpRequest *r, const char *data, size_t *size) {
        size_t left = 0;

        if (r->gone)
                return MHD_NO;
        if (!r->answered && !r->discarding) {
                if (r->plan.mode == HTTP_BODY_STREAM)
                        left = body_stream(r, data, *size);
                else if (r->ignoring)
                        body_drop(r, *size);
                else
                        body_collect(r, data, *size);
        }
        if (r->answered) {
                left = 0;
                http_set_flow(r, HTTP_RUNNING);
                if (!r->discarding)
                        http_connection_set_quiet(r->connection, true);
                r->discarding = true;
        }
        r->received += *size - left;
        if (r->discarding && body_discard(r, *size) == MHD_NO)
                return MHD_NO;
        *size = left;
        return MHD_YES;
}
