/* link.h: lines to and from a driver, and its program's output.
 *
 * Never blocks; data that cannot be written yet is queued up to a ceiling. Lines are bounded: a longer one is dropped
 * whole, and so is a long one while the unfinished lines of all links together exceed their limit. Output from the
 * pipes is passed on as UTF-8, in pieces; an incomplete character waits for its rest.
 * Must not know: what lines mean. */
#pragma once

#include <systemd/sd-event.h>

#include "core/execution.h"
#include "core/mask.h"
#include "base/text.h"

typedef struct ContextLink ContextLink;

typedef struct ContextLinkHandlers {
        void (*line)(ContextLink *l, const char *line, size_t size); /* without the newline; NUL behind it */
        void (*stream)(ContextLink *l, bool is_stderr, const char *data, size_t size);
        void (*closed)(ContextLink *l); /* once; the link may be freed in it */
} ContextLinkHandlers;

struct ContextLink {
        const ContextLinkHandlers *handlers;
        sd_event *event;
        const Mask *const *mask; /* address of the pointer: a sandbox may get a mask later */
        int fds[_EXECUTION_CHANNEL_MAX]; /* -EBADF: none */
        sd_event_source *io[_EXECUTION_CHANNEL_MAX];
        sd_event_source *kick;
        Text in, out;
        size_t scanned;  /* bytes of in that contain no newline */
        size_t held;     /* bytes of in that count toward the limit of all links */
        Text pending[2]; /* of the pipes: bytes that must wait */
        bool skipping;   /* the rest of a line that was too long */
        bool paused;
        uint64_t epoch;  /* changes on close, so that a caller in the middle of a loop notices it */
};

void context_link_init(ContextLink *l, const ContextLinkHandlers *handlers, sd_event *event);
int context_link_open(ContextLink *l, int fds[static _EXECUTION_CHANNEL_MAX]); /* takes them */
void context_link_close(ContextLink *l);
bool context_link_is_open(const ContextLink *l);
int context_link_send(ContextLink *l, const void *data, size_t size); /* -ENOBUFS: too much is queued already */
void context_link_pause(ContextLink *l, bool pause);
/* Read everything that is available now; final: holds nothing back, neither incomplete characters nor possible
 * beginnings of a masked value. */
void context_link_finish(ContextLink *l); /* also reads the lines; closed() is not called */
void context_link_drain(ContextLink *l, bool final);
