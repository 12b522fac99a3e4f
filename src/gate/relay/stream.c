#include "gate/relay/stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"

static void bytes_done(StreamBytes *b) {
        if (b->data)
                explicit_bzero(b->data, b->touched); /* there may have been credentials in it */
        free(b->data);
        *b = (StreamBytes) { 0 };
}

static void bytes_use(StreamBytes *b, size_t size) {
        assert(size <= b->size);

        b->begin += size;
        b->size -= size;
        if (b->size == 0)
                b->begin = 0;
}

/* Makes room for `more` bytes behind the data. */
static int bytes_reserve(StreamBytes *b, size_t more) {
        size_t room = b->room > 0 ? b->room : 4096;
        uint8_t *data;

        if (b->begin + b->size + more <= b->room)
                return 0;
        if (b->size + more <= b->room) {
                memmove(b->data, b->data + b->begin, b->size);
                b->begin = 0;
                return 0;
        }
        while (room < b->size + more)
                room *= 2;
        data = malloc(room);
        if (!data)
                return -ENOMEM;
        if (b->size > 0)
                memcpy(data, b->data + b->begin, b->size);
        if (b->data)
                explicit_bzero(b->data, b->touched);
        free(b->data);
        *b = (StreamBytes) { .data = data, .size = b->size, .room = room, .touched = b->size };
        return 0;
}

/* Accounts for bytes that the caller wrote behind the data. */
static void bytes_added(StreamBytes *b, size_t size) {
        b->size += size;
        b->touched = MAX_OF(b->touched, b->begin + b->size);
}

Stream *stream_free(Stream *s) {
        if (!s)
                return NULL;
        sd_event_source_disable_unref(s->source);
        sd_event_source_disable_unref(s->timer);
        tls_session_free(s->tls);
        (void) fd_close(s->fd);
        bytes_done(&s->in);
        bytes_done(&s->out);
        free(s);
        return NULL;
}

size_t stream_held(const Stream *s) {
        return s ? sizeof(*s) + s->in.room + s->out.room + (s->tls ? STREAM_TLS : 0) : 0;
}

static int stream_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Stream *s = userdata;

        if ((revents & (EPOLLIN | EPOLLHUP | EPOLLERR)) || s->tls)
                s->readable = true;
        s->changed(s->userdata);
        return 0;
}

static int on_bucket(sd_event_source *source, uint64_t usec, void *userdata) {
        Stream *s = userdata;

        s->timer = sd_event_source_disable_unref(s->timer);
        s->readable = true;
        s->changed(s->userdata);
        return 0;
}

int stream_new(sd_event *event, int fd, TlsSession *tls, struct Bucket **bucket, void (*changed)(void *userdata), void *userdata, Stream **ret) {
        Stream *s = calloc(1, sizeof(Stream));
        int r;

        assert(event);
        assert(ret);

        if (!s) {
                (void) fd_close(fd);
                tls_session_free(tls);
                return -ENOMEM;
        }
        *s = (Stream) {
                .event = event, .fd = fd, .tls = tls, .shaking = tls != NULL, .bucket = bucket, .readable = true, .changed = changed, .userdata = userdata,
        };
        r = sd_event_add_io(event, &s->source, fd, EPOLLIN, stream_on_ready, s);
        if (r < 0) {
                (void) stream_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

int stream_shake(Stream *s, Error *reterr) {
        int r;

        if (!s->shaking)
                return s->error;
        r = tls_handshake(s->tls, reterr);
        if (r == 0)
                s->shaking = false;
        else if (r != -EAGAIN)
                s->error = r;
        return r;
}

/* Reading. */

static ssize_t stream_read(Stream *s, void *data, size_t size) {
        ssize_t n;

        if (s->tls)
                return tls_read(s->tls, data, size);
        n = recv(s->fd, data, size, 0);
        if (n < 0)
                return errno == EINTR ? -EAGAIN : -errno;
        return n;
}

/* Returns how many of the bytes the bucket lets pass. 0: none yet; on_bucket() runs when it does. */
static size_t stream_ask_bucket(Stream *s, size_t size) {
        usec_t now;
        size_t n;

        if (!s->bucket || !*s->bucket)
                return size;
        now = clock_usec();
        n = bucket_take(*s->bucket, size, now);
        if (n > 0)
                return n;
        s->readable = false;
        s->timer = sd_event_source_disable_unref(s->timer);
        if (sd_event_add_time(s->event, &s->timer, CLOCK_MONOTONIC, bucket_ready_at(*s->bucket, now), 1000, on_bucket, s) < 0)
                s->error = -ENOMEM;
        return 0;
}

bool stream_fill(Stream *s) {
        size_t room = STREAM_IN - MIN_OF(s->in.size, (size_t) STREAM_IN), size;
        ssize_t n;

        if (!s->readable || s->ended || s->error < 0 || s->shaking || room == 0)
                return false;
        size = stream_ask_bucket(s, MIN_OF(room, (size_t) STREAM_PIECE));
        if (size == 0)
                return s->error < 0;
        if (bytes_reserve(&s->in, size) < 0) {
                s->error = -ENOMEM;
                return true;
        }
        n = stream_read(s, s->in.data + s->in.begin + s->in.size, size);
        if (s->bucket && *s->bucket)
                bucket_give_back(*s->bucket, size - (n > 0 ? (size_t) n : 0));
        if (n == -EAGAIN) {
                s->readable = false;
                return false;
        }
        if (n < 0)
                s->error = (int) n;
        else if (n == 0)
                s->ended = true;
        else
                bytes_added(&s->in, (size_t) n);
        return true;
}

void stream_use(Stream *s, size_t size) {
        bytes_use(&s->in, size);
}

/* Writing. */

static ssize_t stream_write(Stream *s, const void *data, size_t size) {
        ssize_t n;

        if (s->tls)
                return tls_write(s->tls, data, size);
        n = send(s->fd, data, size, MSG_NOSIGNAL);
        if (n < 0)
                return errno == EINTR ? -EAGAIN : -errno;
        return n;
}

/* Returns how many bytes were sent. The caller handles the rest, and the error in s->error. */
static size_t stream_send(Stream *s, const uint8_t *data, size_t size) {
        size_t sent = 0;

        while (sent < size) {
                ssize_t n = stream_write(s, data + sent, size - sent);

                if (n == -EAGAIN)
                        break;
                if (n < 0) {
                        s->error = (int) n;
                        break;
                }
                sent += (size_t) n;
        }
        return sent;
}

void stream_put(Stream *s, const void *data, size_t size) {
        size_t sent = 0;

        if (s->error < 0 || s->ending || size == 0)
                return;
        if (s->out.size == 0 && !s->shaking && size >= STREAM_LARGE)
                sent = stream_send(s, data, size);
        if (s->error < 0 || sent == size)
                return;
        if (bytes_reserve(&s->out, size - sent) < 0) {
                s->error = -ENOMEM;
                return;
        }
        memcpy(s->out.data + s->out.begin + s->out.size, (const uint8_t *) data + sent, size - sent);
        bytes_added(&s->out, size - sent);
}

bool stream_flush(Stream *s) {
        size_t n = 0;

        if (s->error < 0 || s->shaking)
                return false;
        if (s->out.size > 0) {
                n = stream_send(s, s->out.data + s->out.begin, s->out.size);
                bytes_use(&s->out, n);
        }
        if (s->out.size == 0 && s->ending && !s->said && s->error >= 0) {
                if (s->tls && tls_say_over(s->tls) == -EAGAIN)
                        return n > 0;
                (void) shutdown(s->fd, SHUT_WR);
                s->said = true;
                return true;
        }
        return n > 0;
}

void stream_end(Stream *s) {
        s->ending = true;
        (void) stream_flush(s);
}

void stream_rest(Stream *s) {
        (void) sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
}

/* An empty buffer keeps no more memory than the next read needs. */
static void bytes_rest(StreamBytes *b) {
        if (b->size == 0 && b->room > STREAM_PIECE)
                bytes_done(b);
}

int stream_watch(Stream *s, bool want_more) {
        bool reads = want_more && !s->ended && s->in.size < STREAM_IN && !s->timer, writes = s->out.size > 0 || (s->ending && !s->said);
        uint32_t events;
        int r;

        bytes_rest(&s->in);
        bytes_rest(&s->out);
        if (s->shaking) {
                reads = !tls_wants_write(s->tls);
                writes = !reads;
        }
        events = (reads ? (uint32_t) EPOLLIN : 0) | (writes ? (uint32_t) EPOLLOUT : 0);
        /* Off if nothing is waited for: epoll reports a hang-up even if it is not asked for, again and
         * again. */
        if (events == 0 || s->error < 0)
                return sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
        r = sd_event_source_set_io_events(s->source, events);
        return r < 0 ? r : sd_event_source_set_enabled(s->source, SD_EVENT_ON);
}
