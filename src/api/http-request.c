/* http-request.c: the life of one request, driven by MHD's callbacks. */

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http-internal.h"
#include "base/log.h"

static HttpRequest *http_request_new(struct MHD_Connection *mhd, const char *path, const char *method, const char *version) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        HttpConnection *c = info ? info->socket_context : NULL;
        HttpRequest *r = c ? calloc(1, sizeof(*r)) : NULL;

        if (!r)
                return NULL;
        r->connection = c;
        r->path = path;
        r->method = method;
        r->is_1_1 = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
        c->request = r;
        return r;
}

static void http_request_free(HttpRequest *r) {
        http_answer_done(r);
        free(r->queries);
        free(r->query_text);
        free(r->body);
        free(r);
}

static size_t target_length(const HttpRequest *r) {
        return strlen(r->path) + r->query_size;
}

static bool head_too_large(const HttpRequest *r) {
        const union MHD_ConnectionInfo *info =
                        MHD_get_connection_info(r->connection->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

        return info && info->header_size > r->connection->listener->server->header_max;
}

/* Checks that apply to every request. */
static bool request_check(HttpRequest *r, const char *version) {
        bool strict = http_strict_head(r, version);
        int k = http_read_query(r), framing = strict ? http_strict_length(r) : -EBADMSG;

        r->unframed = framing < 0;
        r->is_last = r->unframed || r->length == UINT64_MAX;
        if (!strict)
                http_refuse(r, MHD_HTTP_BAD_REQUEST, "invalid",
                                "the request's head can be read in more than one way: blanks, line ends, control characters or fields do not follow HTTP/1.1");
        else if (framing == -EINVAL)
                http_refuse(r, MHD_HTTP_BAD_REQUEST, "invalid", "the length of the body is given in two ways, or is not valid");
        else if (framing < 0)
                http_refuse(r, MHD_HTTP_NOT_IMPLEMENTED, "unsupported", "the transfer coding is not supported");
        else if (r->connection->over_limit) {
                (void) http_add_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
                http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "unavailable", "there are too many connections");
        } else if (target_length(r) > STRANGER_TARGET_BYTES)
                http_refuse(r, MHD_HTTP_URI_TOO_LONG, "too_large", "path and query are longer than 16 KiB");
        else if (head_too_large(r))
                http_refuse(r, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", "the request's head is too large");
        else if (k == -EILSEQ)
                http_refuse(r, MHD_HTTP_BAD_REQUEST, "invalid", "the query has a bad percent-encoding, or a NUL byte");
        else if (k == -E2BIG)
                http_refuse(r, MHD_HTTP_BAD_REQUEST, "invalid", "the query has too many parameters");
        else if (k < 0)
                http_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR, "internal", "out of memory");
        return !r->answered;
}

static enum MHD_Result request_begin(HttpRequest *r, const char *version) {
        HttpServer *s = r->connection->listener->server;

        if (request_check(r, version)) {
                http_connection_set_quiet(r->connection, false);
                s->route(r, &r->plan, s->userdata);
                if (!r->answered && !r->plan.handle)
                        http_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR, "internal", "no surface handles this request");
                r->connection->is_known |= r->plan.known;
        }
        http_body_begin(r);
        if (r->discarding)
                http_connection_set_quiet(r->connection, true);
        if (r->response && (r->unframed || (r->discarding && http_header(r, MHD_HTTP_HEADER_EXPECT))))
                /* The body has no known end, or the client waits for our answer before it sends the body. */
                return http_queue(r);
        return r->discarding ? http_body_answer_in_time(r) : MHD_YES;
}

/* The request is complete. MHD calls this again until there is an answer. */
static enum MHD_Result request_complete(HttpRequest *r) {
        if (r->gone || r->sent_early)
                return MHD_NO;
        if (!r->answered && !r->handled) {
                r->handled = true;
                r->plan.handle(r, r->plan.userdata);
        } else if (!r->answered && r->plan.mode == HTTP_BODY_STREAM && !r->body_told) {
                r->body_told = true;
                (void) r->plan.body(r, NULL, 0, r->plan.userdata);
        }
        if (r->response)
                return http_queue(r);
        if (r->answered && !r->queued)
                return MHD_NO; /* no memory for an answer */
        http_set_flow(r, HTTP_PAUSING);
        return MHD_YES;
}

enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *path, const char *method,
                const char *version, const char *data, size_t *size, void **context) {
        HttpRequest *r = *context;

        if (!r) {
                r = http_request_new(mhd, path, method, version);
                if (!r)
                        return MHD_NO;
                *context = r;
                return request_begin(r, version);
        }
        if (*size > 0)
                return http_body_piece(r, data, size);
        return request_complete(r);
}

void http_on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code) {
        HttpRequest *r = *context;
        HttpConnection *c;

        if (!r)
                return;
        *context = NULL;
        c = r->connection;
        http_set_flow(r, HTTP_RUNNING);
        if (r->plan.closed)
                r->plan.closed(r, code == MHD_REQUEST_TERMINATED_COMPLETED_OK || r->sent_early, r->plan.userdata);
        http_connection_paused(c, false);
        c->request = NULL;
        http_connection_set_quiet(c, false);
        http_connection_set_quiet(c, true); /* counted from now on */
        http_request_free(r);
}

void http_request_continue(HttpRequest *r) {
        HttpListener *l = r->connection->listener;

        if (r->flow == HTTP_PAUSING) {
                http_set_flow(r, HTTP_RUNNING);
                l->again = true;
        } else if (r->flow == HTTP_PAUSED)
                http_set_flow(r, HTTP_CONTINUING);
        else
                return;
        http_listener_wake(l);
}

const char *http_method(const HttpRequest *r) {
        return r->method;
}

const char *http_path(const HttpRequest *r) {
        return r->path;
}

const char *http_header(const HttpRequest *r, const char *name) {
        return MHD_lookup_connection_value(r->connection->mhd, MHD_HEADER_KIND, name);
}

typedef struct HeaderEach {
        int (*each)(const char *name, const char *value, void *userdata);
        void *userdata;
        int result;
} HeaderEach;

static enum MHD_Result header_each(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
        HeaderEach *e = cls;

        e->result = e->each(name, value ? value : "", e->userdata);
        return e->result < 0 ? MHD_NO : MHD_YES;
}

int http_header_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata) {
        HeaderEach e = { each, userdata, 0 };

        (void) MHD_get_connection_values(r->connection->mhd, MHD_HEADER_KIND, header_each, &e);
        return e.result;
}

bool http_is_secure(const HttpRequest *r) {
        return r->connection->listener->https != NULL;
}

bool http_peer_is_unix(const HttpRequest *r, uid_t *ret_uid) {
        if (!r->connection->is_unix)
                return false;
        *ret_uid = r->connection->uid;
        return true;
}

void http_peer_print(const HttpRequest *r, char *ret, size_t size) {
        const union MHD_ConnectionInfo *info =
                        MHD_get_connection_info(r->connection->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        char host[64], port[16];
        const struct sockaddr *address = info ? info->client_addr : NULL;
        bool is_6 = address && address->sa_family == AF_INET6;

        if (r->connection->is_unix || !address)
                (void) snprintf(ret, size, "unix");
        else if (getnameinfo(address, is_6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in), host, sizeof(host), port,
                                 sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
                (void) snprintf(ret, size, is_6 ? "[%s]:%s" : "%s:%s", host, port);
        else
                (void) snprintf(ret, size, "unknown");
}

const char *http_body(const HttpRequest *r, size_t *ret_size) {
        *ret_size = r->body_size;
        return r->body ? r->body : "";
}
