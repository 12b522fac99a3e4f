#include "context/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "context/context.h"

#define OUT_MAX   (4 * CONTEXT_CODE_MAX)
#define READ_SIZE ((size_t) 64 << 10)
#define PIECE_MAX ((size_t) 64 << 10) /* bytes of a pipe, in one event */
#define TURNS_MAX 16                  /* reads before other links get a turn */
#define DRAIN_MAX 32                  /* reads: more than a pipe or a socket holds; a process that was left behind may write forever */
#define HELD_FREE ((size_t) 1 << 20)  /* of an unfinished line: every link may hold this much */
#define HELD_MAX  ((size_t) 256 << 20) /* of all links together: guests control the amount */

static size_t held; /* by all links */

static void count_held(ContextLink *l) {
        held += l->in.size - l->held;
        l->held = l->in.size;
}

void context_link_init(ContextLink *l, const ContextLinkHandlers *handlers, sd_event *event) {
        *l = (ContextLink) {
                .handlers = handlers,
                .event = event,
                .fds = { -EBADF, -EBADF, -EBADF },
                .in = TEXT_INIT(CONTEXT_EVENT_MAX),
                .out = TEXT_INIT(OUT_MAX),
                .pending = { TEXT_INIT(4 * PIECE_MAX), TEXT_INIT(4 * PIECE_MAX) },
        };
}

bool context_link_is_open(const ContextLink *l) {
        return l->fds[EXECUTION_CHANNEL_LINK] >= 0;
}

void context_link_close(ContextLink *l) {
        for (ExecutionChannelEnd i = 0; i < _EXECUTION_CHANNEL_MAX; i++) {
                l->io[i] = sd_event_source_disable_unref(l->io[i]);
                l->fds[i] = fd_close(l->fds[i]);
        }
        l->kick = sd_event_source_disable_unref(l->kick);
        text_done(&l->in);
        text_done(&l->out);
        for (int i = 0; i < 2; i++)
                text_done(&l->pending[i]);
        l->in.size = l->out.size = l->scanned = 0;
        count_held(l);
        l->skipping = false;
        l->epoch++;
}

/* Writing. */

static void update_events(ContextLink *l) {
        uint32_t events = (l->paused ? 0 : EPOLLIN) | (l->out.size > 0 ? EPOLLOUT : 0);

        if (l->io[EXECUTION_CHANNEL_LINK]) {
                (void) sd_event_source_set_io_events(l->io[EXECUTION_CHANNEL_LINK], events);
                /* A hang-up is reported whatever events were requested. */
                (void) sd_event_source_set_enabled(l->io[EXECUTION_CHANNEL_LINK], events == 0 ? SD_EVENT_OFF : SD_EVENT_ON);
        }
        for (ExecutionChannelEnd i = EXECUTION_CHANNEL_OUT; i < _EXECUTION_CHANNEL_MAX; i++)
                if (l->io[i])
                        (void) sd_event_source_set_enabled(l->io[i], l->paused ? SD_EVENT_OFF : SD_EVENT_ON);
}

static void context_link_flush(ContextLink *l) {
        while (l->out.size > 0) {
                ssize_t n = write(l->fds[EXECUTION_CHANNEL_LINK], l->out.data, l->out.size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno != EAGAIN)
                        l->out.size = 0; /* the reader is gone: the end is noticed on the other path */
                if (n <= 0)
                        break;
                text_consume(&l->out, (size_t) n);
        }
        if (l->out.size == 0)
                text_done(&l->out);
        update_events(l);
}

int context_link_send(ContextLink *l, const void *data, size_t size) {
        if (!context_link_is_open(l))
                return -EPIPE;
        if (l->out.size + size > OUT_MAX)
                return -ENOBUFS;
        text_put(&l->out, data, size);
        if (l->out.error < 0)
                return l->out.error;
        context_link_flush(l);
        return 0;
}

/* Reading lines. */

/* Returns false if the receiver of a line closed the link. */
static bool give_lines(ContextLink *l) {
        uint64_t epoch = l->epoch;
        size_t from = 0;

        while (from < l->in.size && !l->paused) {
                char *line = l->in.data + from, *end = memchr(line + l->scanned, '\n', l->in.size - from - l->scanned);

                if (!end) {
                        l->scanned = l->in.size - from;
                        break;
                }
                l->scanned = 0;
                *end = '\0';
                from = (size_t) (end + 1 - l->in.data);
                if (!l->skipping && end > line)
                        l->handlers->line(l, line, (size_t) (end - line));
                if (l->epoch != epoch)
                        return false;
                l->skipping = false;
        }
        if (from > 0)
                text_consume(&l->in, from);
        if (l->skipping && l->scanned == l->in.size)
                l->in.size = l->scanned = 0;
        if (l->in.size == 0)
                text_done(&l->in);
        count_held(l);
        return true;
}

static bool is_too_long(const ContextLink *l) {
        return l->in.size + READ_SIZE > CONTEXT_EVENT_MAX || (l->in.size > HELD_FREE && held + READ_SIZE > HELD_MAX);
}

/* -EPIPE: the other end is closed; -EAGAIN: no data at present; 0: data was read. */
static int read_link(ContextLink *l) {
        char *room;
        ssize_t n;

        if (is_too_long(l)) {
                text_done(&l->in);
                l->scanned = 0;
                l->skipping = true;
        }
        room = text_extend(&l->in, READ_SIZE);
        if (!room)
                return -ENOMEM;
        n = read(l->fds[EXECUTION_CHANNEL_LINK], room, READ_SIZE);
        l->in.size -= READ_SIZE - (n > 0 ? (size_t) n : 0);
        if (n < 0)
                return errno == EINTR || errno == EAGAIN ? -EAGAIN : -EPIPE;
        return n == 0 ? -EPIPE : 0;
}

static void on_lines(ContextLink *l) {
        uint64_t epoch = l->epoch;
        int r = 0;

        for (unsigned i = 0; i < TURNS_MAX && r == 0 && !l->paused; i++) {
                if (!give_lines(l)) /* lines left from before a pause */
                        return;
                if (l->paused)
                        return;
                r = read_link(l);
                if (!give_lines(l))
                        return;
        }
        if (r == -EAGAIN || r == 0 || l->epoch != epoch)
                return;
        context_link_drain(l, /* final= */ true);
        if (l->epoch == epoch)
                l->handlers->closed(l);
}

static int context_link_on(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ContextLink *l = userdata;
        uint64_t epoch = l->epoch;

        if (revents & EPOLLOUT)
                context_link_flush(l);
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR) && l->epoch == epoch) {
                if (!l->paused)
                        on_lines(l);
                else {
                        l->out.size = 0;
                        update_events(l);
                }
        }
        return 0;
}

/* Lines that came before a pause: no other event reports them. */
static int context_link_on_kick(sd_event_source *source, void *userdata) {
        ContextLink *l = userdata;

        if (!l->paused && context_link_is_open(l))
                on_lines(l);
        return 0;
}

void context_link_pause(ContextLink *l, bool pause) {
        if (l->paused == pause)
                return;
        l->paused = pause;
        update_events(l);
        if (pause || l->in.size == 0 || !context_link_is_open(l))
                return;
        l->kick = sd_event_source_disable_unref(l->kick);
        (void) sd_event_add_defer(l->event, &l->kick, context_link_on_kick, l);
}

/* The pipes. */

/* How much of the pending output may be passed on: whole characters, and nothing that may be the beginning of a
 * hidden value. Broken characters become U+FFFD. */
static size_t presentable(ContextLink *l, Text *p, bool final, Text *ret) {
        size_t shown = p->size, at = 0;
        _cleanup_free_ char *copy = NULL;

        if (l->mask && *l->mask) {
                copy = malloc(p->size + 1);
                if (!copy)
                        return 0;
                memcpy(copy, p->data, p->size);
                if (mask_apply(*l->mask, copy, p->size, &shown) < 0)
                        return 0;
                if (final)
                        shown = p->size;
        }
        while (at < shown) {
                const char *from = (copy ? copy : p->data) + at;
                bool cut = false;
                size_t n = utf8_prefix(from, shown - at, &cut);

                text_put(ret, from, n);
                at += n;
                if (at == shown || (cut && !final))
                        break;
                text_put_string(ret, "\xef\xbf\xbd");
                at++;
        }
        return at;
}

static void give_stream(ContextLink *l, int which, bool final) {
        _cleanup_text_ Text shown = TEXT_INIT(16 * PIECE_MAX);
        Text *p = &l->pending[which];
        size_t n;

        if (p->size == 0)
                return;
        n = presentable(l, p, final, &shown);
        if (n > 0)
                text_consume(p, n);
        if (p->size == 0)
                text_done(p);
        if (shown.size > 0 && shown.error == 0)
                l->handlers->stream(l, which == 1, shown.data, shown.size);
}

/* True: there may be more. */
static bool context_link_read_stream(ContextLink *l, int which) {
        ExecutionChannelEnd end = EXECUTION_CHANNEL_OUT + (unsigned) which;
        char *room;
        ssize_t n;

        if (l->fds[end] < 0)
                return false;
        room = text_extend(&l->pending[which], PIECE_MAX);
        if (!room)
                return false;
        n = read(l->fds[end], room, PIECE_MAX);
        l->pending[which].size -= PIECE_MAX - (n > 0 ? (size_t) n : 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                l->io[end] = sd_event_source_disable_unref(l->io[end]);
                l->fds[end] = fd_close(l->fds[end]);
        }
        return n > 0;
}

void context_link_drain(ContextLink *l, bool final) {
        uint64_t epoch = l->epoch;

        for (int which = 0; which < 2; which++) {
                for (unsigned i = 0; i < DRAIN_MAX && context_link_read_stream(l, which); i++) {
                        give_stream(l, which, /* final= */ false);
                        if (l->epoch != epoch)
                                return;
                }
                if (final)
                        give_stream(l, which, /* final= */ true);
                if (l->epoch != epoch)
                        return;
        }
}

/* The other end is closed: reads what is still on its way. */
void context_link_finish(ContextLink *l) {
        uint64_t epoch = l->epoch;

        l->paused = false;
        for (unsigned i = 0; i < DRAIN_MAX && give_lines(l) && l->epoch == epoch && read_link(l) == 0; i++)
                ;
        if (l->epoch == epoch)
                context_link_drain(l, /* final= */ true);
}

static int context_link_on_stream(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ContextLink *l = userdata;
        uint64_t epoch = l->epoch;

        for (int which = 0; which < 2; which++)
                if (l->epoch == epoch && l->fds[EXECUTION_CHANNEL_OUT + which] == fd) {
                        (void) context_link_read_stream(l, which);
                        give_stream(l, which, /* final= */ false);
                        return 0;
                }
        return 0;
}

int context_link_open(ContextLink *l, int fds[static _EXECUTION_CHANNEL_MAX]) {
        int r = 0;

        for (ExecutionChannelEnd i = 0; i < _EXECUTION_CHANNEL_MAX; i++) {
                l->fds[i] = TAKE_FD(fds[i]);
                if (l->fds[i] < 0)
                        continue;
                if (fcntl(l->fds[i], F_SETFL, O_NONBLOCK | (i == EXECUTION_CHANNEL_LINK ? O_RDWR : O_RDONLY)) < 0)
                        r = -errno;
                if (r >= 0)
                        r = sd_event_add_io(l->event, &l->io[i], l->fds[i], EPOLLIN, i == EXECUTION_CHANNEL_LINK ? context_link_on : context_link_on_stream, l);
        }
        l->paused = false;
        if (r < 0)
                context_link_close(l);
        return r;
}
