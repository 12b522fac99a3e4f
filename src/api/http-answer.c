/* http-answer.c: answers: whole, from a file, as a stream, and the raw socket.
 *
 * An answer is created here and kept in the request; MHD gets it when it asks (rule 1 of http-internal.h). */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/http-internal.h"
#include "base/array.h"
#include "base/fd.h"
#include "base/text.h"

int http_add_header(HttpRequest *r, const char *name, const char *value) {
        HttpPair pair = { strdup(name), strdup(value) };

        if (!pair.name || !pair.value || ARRAY_EXTEND(r->headers, r->n_headers) < 0) {
                free(pair.name);
                free(pair.value);
                return -ENOMEM;
        }
        r->headers[r->n_headers++] = pair;
        return 0;
}

int http_format_header(HttpRequest *r, const char *name, const char *format, ...) {
        _cleanup_free_ char *value = NULL;
        va_list ap;

        va_start(ap, format);
        value = string_vformat(format, ap);
        va_end(ap);
        return value ? http_add_header(r, name, value) : -ENOMEM;
}

void http_answer_done(HttpRequest *r) {
        for (size_t i = 0; i < r->n_headers; i++) {
                free(r->headers[i].name);
                free(r->headers[i].value);
        }
        free(r->headers);
        r->headers = NULL;
        r->n_headers = 0;
        if (r->response)
                MHD_destroy_response(r->response);
        r->response = NULL;
}

static int http_answer_add_headers(HttpRequest *r, struct MHD_Response *response, const char *type) {
        bool last = r->connection->listener->server->quiesced || r->connection->over_limit || r->is_last;
        bool ok = !type || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES;

        for (size_t i = 0; i < r->n_headers && ok; i++)
                ok = MHD_add_response_header(response, r->headers[i].name, r->headers[i].value) == MHD_YES;
        if (ok && last && r->status != MHD_HTTP_SWITCHING_PROTOCOLS)
                ok = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
        return ok ? 0 : -ENOMEM;
}

/* Takes the response. It may be NULL if there was no memory; then a 500 is tried. */
static int api_http_answer(HttpRequest *r, unsigned status, const char *type, struct MHD_Response *response) {
        int k = 0;

        r->answered = true;
        r->status = status;
        if (!response || http_answer_add_headers(r, response, type) < 0) {
                if (response)
                        MHD_destroy_response(response);
                r->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
                r->answer_data = NULL;
                response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
                k = -ENOMEM;
        }
        r->response = response;
        if (r->plan.answering)
                r->plan.answering(r, r->status, r->plan.userdata);
        http_request_continue(r);
        return k;
}

int http_answer_take(HttpRequest *r, unsigned status, const char *type, char *data, size_t size) {
        struct MHD_Response *response;

        if (r->answered) {
                free(data);
                return -EALREADY;
        }
        if (size > HTTP_SMALL_MAX && r->plan.hold && !r->plan.hold(r, size, r->plan.userdata)) {
                free(data);
                return -ENOBUFS;
        }
        response = MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
        if (!response)
                free(data);
        r->answer_data = data;
        r->answer_size = size;
        return api_http_answer(r, status, type, response);
}

int http_answer(HttpRequest *r, unsigned status, const char *type, const void *data, size_t size) {
        char *copy = malloc(size > 0 ? size : 1);

        if (!copy)
                return r->answered ? -EALREADY : api_http_answer(r, status, type, NULL);
        if (size > 0)
                memcpy(copy, data, size);
        return http_answer_take(r, status, type, copy, size);
}

int http_answer_fd(HttpRequest *r, unsigned status, const char *type, int fd, uint64_t offset, uint64_t size) {
        struct MHD_Response *response;

        if (r->answered) {
                (void) fd_close(fd);
                return -EALREADY;
        }
        response = MHD_create_response_from_fd_at_offset64(size, fd, offset);
        if (!response)
                (void) fd_close(fd);
        return api_http_answer(r, status, type, response);
}

/* Refuses a request before a surface has been chosen, in the form that surfaces use. The texts need no
 * escapes. */
void http_refuse(HttpRequest *r, unsigned status, const char *code, const char *message) {
        char text[512];
        int n = snprintf(text, sizeof(text), "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n", code, message);

        (void) http_answer(r, status, "application/json", text, (size_t) n);
}

static ssize_t http_answer_stream_next(void *cls, uint64_t position, char *buffer, size_t size) {
        HttpRequest *r = cls;
        ssize_t n;

        if (r->gone)
                return MHD_CONTENT_READER_END_WITH_ERROR;
        n = r->stream_next(r, position, buffer, size, r->stream_userdata);
        settle_now(r->connection->listener->server->settle); /* MHD sends it */
        if (n == HTTP_STREAM_END) /* before the announced size this is an error */
                return r->stream_size == UINT64_MAX ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
        if (n < 0)
                return MHD_CONTENT_READER_END_WITH_ERROR;
        if (n == 0)
                http_set_flow(r, HTTP_PAUSING);
        return n;
}

/* Chunks are built in the connection's memory. A response of known size, or for HTTP/1.0, has a separate
 * block. */
int http_answer_stream(HttpRequest *r, unsigned status, const char *type, uint64_t size, HttpNext next, void *userdata) {
        bool chunked = size == UINT64_MAX && r->is_1_1;

        if (r->answered)
                return -EALREADY;
        r->stream_next = next;
        r->stream_userdata = userdata;
        r->stream_size = size;
        return api_http_answer(r, status, type,
                        MHD_create_response_from_callback(size == UINT64_MAX ? MHD_SIZE_UNKNOWN : size,
                                        chunked ? 1 : HTTP_STREAM_BLOCK, http_answer_stream_next, r, NULL));
}

static void http_answer_on_upgraded(void *cls, struct MHD_Connection *mhd, void *context, const char *extra, size_t extra_size, int fd,
                struct MHD_UpgradeResponseHandle *handle) {
        HttpRequest *r = cls;

        r->upgraded.handle = handle;
        http_set_flow(r, HTTP_UPGRADED);
        r->upgraded.upgraded(&r->upgraded, fd, extra, extra_size, r->upgraded.userdata);
}

int http_answer_upgrade(HttpRequest *r, const char *protocol, HttpUpgrade upgraded, void *userdata) {
        int k;

        if (r->answered)
                return -EALREADY;
        if (!r->is_1_1) {
                http_refuse(r, MHD_HTTP_BAD_REQUEST, "invalid", "another protocol can be spoken after HTTP/1.1 only");
                return -EPROTO;
        }
        r->upgraded = (HttpUpgraded) { .request = r, .upgraded = upgraded, .userdata = userdata };
        k = http_add_header(r, MHD_HTTP_HEADER_UPGRADE, protocol);
        if (k < 0)
                return api_http_answer(r, MHD_HTTP_SWITCHING_PROTOCOLS, NULL, NULL);
        return api_http_answer(r, MHD_HTTP_SWITCHING_PROTOCOLS, NULL, MHD_create_response_for_upgrade(http_answer_on_upgraded, r));
}

void http_upgraded_close(HttpUpgraded *u) {
        HttpRequest *r = u->request;

        if (r->flow != HTTP_UPGRADED)
                return;
        http_set_flow(r, HTTP_LEAVING);
        http_listener_wake(r->connection->listener);
}

/* MHD may send it before it returns to us. */
enum MHD_Result http_queue(HttpRequest *r) {
        enum MHD_Result k;

        settle_now(r->connection->listener->server->settle);
        k = MHD_queue_response(r->connection->mhd, r->status, r->response);

        r->queued = k == MHD_YES;
        r->answer_data = NULL;
        http_answer_done(r);
        return k;
}
