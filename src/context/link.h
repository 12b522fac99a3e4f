/* link.h: lines to and from a driver, and what its program prints.
 *
 * Never waits; what cannot be written yet is kept up to a ceiling. Lines are bounded: a longer one is dropped whole, and so is a long one while the unfinished ones of
 * all links together are too much. What comes from the pipes is given on as UTF-8, in
 * pieces; a character that is not all there yet waits for its rest.
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
        const Mask *const *mask; /* where it is: a sandbox may get one later */
        int fds[_EXECUTION_CHANNEL_MAX]; /* -EBADF: not there */
        sd_event_source *io[_EXECUTION_CHANNEL_MAX];
        sd_event_source *kick;
        Text in, out;
        size_t scanned;  /* of in: there is no end of a line in it */
        size_t held;     /* of in: what was counted */
        Text pending[2]; /* of the pipes: what must wait */
        bool skipping;   /* the rest of a line that was too long */
        bool paused;
        uint64_t epoch;  /* changes when it is closed, for whoever is in the middle of it */
};

void context_link_init(ContextLink *l, const ContextLinkHandlers *handlers, sd_event *event);
int context_link_open(ContextLink *l, int fds[static _EXECUTION_CHANNEL_MAX]); /* takes them */
void context_link_close(ContextLink *l);
bool context_link_is_open(const ContextLink *l);
int context_link_send(ContextLink *l, const void *data, size_t size); /* -ENOBUFS: too much waits already */
void context_link_pause(ContextLink *l, bool pause);
/* All that the pipes have for now, and no more is held back. */
void context_link_finish(ContextLink *l); /* the lines too; closed() is not called */
void context_link_drain(ContextLink *l, bool final);
