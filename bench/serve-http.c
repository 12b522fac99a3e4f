#include "serve-http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

#define HTTP_ROOM       16384u
#define HTTP_DRAIN_ROOM (1u << 20)
#define HTTP_HEAD_MAX   1024u
#define HTTP_PATH_MAX   512u

int http_open(Http *h, const char *socket_path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        if (strlen(socket_path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        strcpy(address.sun_path, socket_path);
        h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (h->fd < 0)
                return -errno;
        if (connect(h->fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        if (!h->buffer) {
                h->buffer = malloc(HTTP_ROOM);
                if (!h->buffer)
                        return -ENOMEM;
                h->room = HTTP_ROOM;
        }
        h->n = 0;
        return 0;
}

void http_done(Http *h) {
        (void) fd_close(h->fd);
        free(h->buffer);
        *h = (Http) HTTP_EMPTY;
}

static void path_expand(const char *path, const char *name, char ret[static HTTP_PATH_MAX]) {
        const char *mark = strstr(path, "%s");

        if (mark)
                (void) snprintf(ret, HTTP_PATH_MAX, "%.*s%s%s", (int) (mark - path), path, name, mark + 2);
        else
                (void) snprintf(ret, HTTP_PATH_MAX, "%s", path);
}

int http_ask(Http *h, const char *method, const char *path, const char *name, const char *body) {
        char request[HTTP_HEAD_MAX + 4096], full[HTTP_PATH_MAX];
        ssize_t sent;
        int n;

        path_expand(path, name, full);
        n = snprintf(request, sizeof(request),
                        "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                        "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                        method, full, body ? strlen(body) : 0, body ? body : "");
        if (n < 0 || (size_t) n >= sizeof(request))
                return -EMSGSIZE;
        h->n = 0;
        /* Small enough to go whole; a daemon that is gone is an answer, and not a signal. */
        sent = send(h->fd, request, (size_t) n, MSG_NOSIGNAL);
        return sent < 0 ? -errno : sent == n ? 0 : -EIO;
}

/* Where the body begins and how long it is; 0 when the head is not whole. */
static int head_parse(const Http *h, size_t *ret_body, size_t *ret_length) {
        const char *end = memmem(h->buffer, h->n, "\r\n\r\n", 4), *length;

        if (!end)
                return 0;
        length = strcasestr(h->buffer, "\r\nContent-Length:");
        if (strncmp(h->buffer, "HTTP/1.1 ", 9) != 0 || !length || length > end)
                return -EPROTO;
        *ret_body = (size_t) (end - h->buffer) + 4;
        *ret_length = strtoul(length + sizeof("\r\nContent-Length:") - 1, /* endptr= */ NULL, 10);
        return atoi(h->buffer + 9);
}

int http_hear(Http *h) {
        size_t body, length;
        ssize_t n;
        int r;

        if (h->room - h->n < HTTP_ROOM / 2) {
                char *more = h->room < HTTP_BODY_MAX ? realloc(h->buffer, h->room * 2) : NULL;

                if (!more)
                        return -E2BIG;
                h->buffer = more;
                h->room *= 2;
        }
        n = read(h->fd, h->buffer + h->n, h->room - h->n - 1);
        if (n < 0)
                return -errno;
        if (n == 0)
                return -ECONNRESET;
        h->n += (size_t) n;
        h->buffer[h->n] = '\0';

        r = head_parse(h, &body, &length);
        return r > 0 && h->n < body + length ? 0 : r;
}

const char *http_answer_body(const Http *h) {
        const char *end = strstr(h->buffer, "\r\n\r\n");

        return end ? end + 4 : "";
}

int http_call(Http *h, const char *method, const char *path, const char *name, const char *body,
                int status) {
        int r;

        r = http_ask(h, method, path, name, body);
        while (r == 0)
                r = http_hear(h);
        if (r < 0)
                return r;
        return r == status ? 0 : -EPROTO;
}

int http_answer_field(const Http *h, const char *field, char *ret, size_t size) {
        char mark[64];
        const char *begin;
        size_t n;

        (void) snprintf(mark, sizeof(mark), "\"%s\":\"", field);
        begin = strstr(http_answer_body(h), mark);
        if (!begin)
                return -ENOENT;
        begin += strlen(mark);
        n = strcspn(begin, "\"");
        if (n >= size)
                return -EMSGSIZE;
        memcpy(ret, begin, n);
        ret[n] = '\0';
        return 0;
}

size_t http_answer_count(const Http *h, const char *text) {
        size_t count = 0;

        for (const char *at = http_answer_body(h); (at = strstr(at, text)); at++)
                count++;
        return count;
}

int http_drain(const char *socket_path, const char *path, const char *name, uint64_t *ret_bytes) {
        _cleanup_(http_done) Http h = HTTP_EMPTY;
        _cleanup_free_ char *data = malloc(HTTP_DRAIN_ROOM);
        char request[HTTP_HEAD_MAX], full[HTTP_PATH_MAX];
        uint64_t bytes = 0;
        ssize_t n;
        int r;

        if (!data)
                return -ENOMEM;
        path_expand(path, name, full);
        (void) snprintf(request, sizeof(request),
                        "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", full);
        r = http_open(&h, socket_path);
        if (r >= 0)
                r = fd_write_all(h.fd, request, strlen(request));
        if (r < 0)
                return r;
        while ((n = read(h.fd, data, HTTP_DRAIN_ROOM)) > 0) {
                if (bytes == 0 && strncmp(data, "HTTP/1.1 200", MIN_OF((size_t) n, (size_t) 12)) != 0)
                        return -EPROTO;
                bytes += (uint64_t) n;
        }
        if (n < 0)
                return -errno;
        *ret_bytes = bytes; /* with the head and the marks between chunks: less than a thousandth */
        return 0;
}
