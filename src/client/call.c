#include "client/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/fd.h"
#include "client/http/tunnel.h"

#define PIECE      65536
#define CHUNK_HEAD 10 /* eight digits and CRLF */
#define CHUNK_TAIL 2
#define READ_SIZE  131072

void call_done(Call *c) {
        c->fd = fd_close(c->fd);
        (void) fd_close(c->report);
        free(c->out);
        free(c->extra);
        http_reader_done(&c->answer);
        *c = (Call) CALL_INIT;
}

static bool is_chunked(const Request *q) {
        return q->source && q->source_size == CALL_SIZE_UNKNOWN;
}

static int print_framing(FILE *f, const Request *q) {
        if (is_chunked(q))
                return fprintf(f, "Transfer-Encoding: chunked\r\n");
        if (q->source)
                return fprintf(f, "Content-Length: %llu\r\n", (unsigned long long) q->source_size);
        if (q->body || (q->method && strcmp(q->method, "GET") != 0))
                return fprintf(f, "Content-Length: %zu\r\n", q->body_size);
        return 0;
}

/* Writes the head, and the body if the request has it whole. */
static int print_request(Call *c, const Place *place, const Request *q) {
        FILE *f = open_memstream(&c->out, &c->out_end);

        if (!f)
                return -ENOMEM;
        fprintf(f, "%s %s HTTP/1.1\r\n", q->method ? q->method : "GET", q->path);
        if (place->socket)
                fprintf(f, "Host: localhost\r\n");
        else
                fprintf(f, strchr(place->host, ':') ? "Host: [%s]:%s\r\n" : "Host: %s:%s\r\n", place->host, place->port);
        fprintf(f, "User-Agent: cove\r\nAccept: %s\r\n", q->accept ? q->accept : "*/*");
        fprintf(f, "Connection: %s\r\n", q->upgrade ? "Upgrade" : "close");
        if (place->key)
                fprintf(f, "Authorization: Bearer %s\r\n", place->key);
        if (q->type)
                fprintf(f, "Content-Type: %s\r\n", q->type);
        (void) print_framing(f, q);
        fprintf(f, "%s\r\n", q->headers ? q->headers : "");
        if (q->body_size > 0)
                (void) fwrite(q->body, 1, q->body_size, f);
        if (fclose(f) != 0)
                return -ENOMEM;
        c->out_room = c->out_end;
        return 0;
}

int call_start(Call *c, const Place *place, const Request *request, Error *reterr) {
        Call fresh = CALL_INIT;
        int r;

        fresh.place = place;
        fresh.request = *request;
        fresh.source_over = !request->source;
        fresh.source_left = request->source_size;
        http_reader_init(&fresh.answer, /* bodyless= */ request->method && strcmp(request->method, "HEAD") == 0, request->sink,
                        request->sink_data);
        r = request->path ? print_request(&fresh, place, request) : -ENOMEM;
        if (r < 0)
                r = error_set(reterr, r, "out of memory");
        else
                r = fresh.fd = place_connect(place, &fresh.report, reterr);
        if (r < 0) {
                call_done(&fresh);
                return r;
        }
        *c = fresh;
        return 0;
}

void call_poll(const Call *c, struct pollfd ret[static CALL_POLLS]) {
        bool has_out = c->out_end > c->out_start, wants_source = !has_out && !c->source_over && !c->deaf;
        bool waits_source = wants_source && c->request.source_fd >= 0;

        ret[0] = (struct pollfd) {
                .fd = c->fd,
                .events = (short) ((c->paused ? 0 : POLLIN) | (has_out || (wants_source && !waits_source) ? POLLOUT : 0)),
        };
        if (ret[0].events == 0)
                ret[0].fd = -1; /* otherwise a hang-up would wake us for nothing */
        ret[1] = (struct pollfd) { .fd = waits_source ? c->request.source_fd : -1, .events = POLLIN };
}

/* Asks the source, and frames what it gave. */
static int refill(Call *c) {
        bool chunked = is_chunked(&c->request);
        size_t start = chunked ? CHUNK_HEAD : 0, want = PIECE;
        char head[24];
        ssize_t n;
        int r = ARRAY_RESERVE(c->out, c->out_room, PIECE + CHUNK_HEAD + CHUNK_TAIL);

        if (r < 0)
                return r;
        if (!chunked)
                want = (size_t) MIN_OF((uint64_t) want, c->source_left);
        n = want > 0 ? c->request.source(c->request.source_data, c->out + start, want) : 0;
        if (n < 0)
                return (int) n;
        if (n == 0) {
                c->source_over = true;
                if (!chunked)
                        return c->source_left == 0 ? 0 : -ENODATA; /* less than was promised */
                memcpy(c->out, "0\r\n\r\n", 5);
                c->out_start = 0;
                c->out_end = 5;
                return 0;
        }
        c->out_start = 0;
        c->out_end = start + (size_t) n;
        if (chunked) {
                (void) snprintf(head, sizeof(head), "%08zx\r\n", (size_t) n);
                memcpy(c->out, head, CHUNK_HEAD);
                memcpy(c->out + c->out_end, "\r\n", CHUNK_TAIL);
                c->out_end += CHUNK_TAIL;
        } else
                c->source_left -= (uint64_t) n;
        return 0;
}

static int step_send(Call *c, Error *reterr) {
        while (c->out_end > c->out_start) {
                ssize_t n = send(c->fd, c->out + c->out_start, c->out_end - c->out_start, MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return 0;
                if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
                        c->deaf = true;
                        c->out_start = c->out_end = 0;
                        return 0;
                }
                if (n < 0)
                        return error_set(reterr, -errno, "cannot send to the daemon: %m");
                c->out_start += (size_t) n;
        }
        return 0;
}

static int call_take_extra(Call *c, const char *data, size_t size) {
        if (size == 0 || c->answer.status != 101)
                return 0;
        c->extra = malloc(size);
        if (!c->extra)
                return -ENOMEM;
        memcpy(c->extra, data, size);
        c->extra_size = size;
        return 0;
}

static int at_end(Call *c, Error *reterr) {
        int r = tunnel_end(&c->report, reterr);

        if (r < 0)
                return r;
        r = http_reader_end(&c->answer);
        if (r < 0 && !http_reader_has_head(&c->answer) && c->answer.kept_size == 0)
                return error_set(reterr, r, "the daemon at %s closed the connection without an answer%s", c->place->label,
                                c->place->host && !c->place->tls ? ": if it speaks TLS, use https:// in the URL" : "");
        if (r < 0)
                return error_set(reterr, r, "the connection to the daemon at %s broke off in the middle of an answer", c->place->label);
        return 1;
}

#define TLS_ALERT 0x15 /* the first byte of a TLS server's answer to bytes that are not TLS */

static int call_tell_feed(const Call *c, int r, const char *first, Error *reterr) {
        if (r == -EBADMSG && *first == TLS_ALERT && !http_reader_has_head(&c->answer))
                return error_set(reterr, r, "%s speaks TLS: use https:// in the URL", c->place->label);
        if (r == -EBADMSG)
                return error_set(reterr, r, "the server at %s is not a cove daemon: its answer is not valid HTTP", c->place->label);
        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (reterr && reterr->code == 0) /* otherwise the sink has set the error */
                return error_set(reterr, r, "cannot take the answer: %m");
        return r;
}

static int step_receive(Call *c, Error *reterr) {
        char buffer[READ_SIZE];
        ssize_t n = recv(c->fd, buffer, sizeof(buffer), 0), used;
        int r;

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return 0;
        if (n <= 0)
                return at_end(c, reterr);
        used = http_reader_feed(&c->answer, buffer, (size_t) n);
        if (used < 0)
                return call_tell_feed(c, (int) used, buffer, reterr);
        if (!call_is_over(c))
                return 0;
        r = call_take_extra(c, buffer + used, (size_t) (n - used));
        return r < 0 ? call_tell_feed(c, r, buffer, reterr) : 1;
}

int call_step(Call *c, const struct pollfd polls[static CALL_POLLS], Error *reterr) {
        bool idle = c->out_end == c->out_start && !c->source_over && !c->deaf;
        int r;

        if (idle && (c->request.source_fd >= 0 ? polls[1].revents : polls[0].revents & POLLOUT)) {
                r = refill(c);
                if (r == -ENODATA)
                        return error_set(reterr, r, "the input became shorter while it was sent");
                if (r < 0)
                        return reterr && reterr->code != 0 ? r : error_set(reterr, r, "cannot read what is to be sent: %m");
        }
        if (c->out_end > c->out_start) {
                r = step_send(c, reterr);
                if (r < 0)
                        return r;
        }
        if (!c->paused && (polls[0].revents & (POLLIN | POLLHUP | POLLERR)))
                return step_receive(c, reterr);
        return 0;
}

int call_run(Call *c, Error *reterr) {
        for (;;) {
                struct pollfd polls[CALL_POLLS];
                int r;

                call_poll(c, polls);
                if (poll(polls, CALL_POLLS, -1) < 0) {
                        if (errno == EINTR)
                                continue;
                        return error_set(reterr, -errno, "cannot wait for the daemon: %m");
                }
                r = call_step(c, polls, reterr);
                if (r != 0)
                        return r < 0 ? r : 0;
        }
}
