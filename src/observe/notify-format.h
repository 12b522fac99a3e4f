/* notify-format.h: a message as each kind of channel wants it.
 *
 * A message is {event, at, source, alert}, with the alert as the API shows it. What is in it may come from anywhere (names, texts of
 * sandboxes): each form escapes for itself.
 * Must not know: sending, the store. */
#pragma once

#include "config/config.h"
#include "json/json.h"
#include "outbound/outbound.h"

#define ENVELOPE_HEADERS_MAX 16

typedef struct Envelope {
        OutboundSpec spec; /* points to what follows, and into the channel's configuration */
        Strv headers;
        char *body;
} Envelope;

#define ENVELOPE_INIT { .spec = OUTBOUND_SPEC(IP_REACH_ALL), .headers = STRV_INIT(ENVELOPE_HEADERS_MAX) }

void envelope_done(Envelope *e);
#define _cleanup_envelope_ _cleanup_(envelope_done)

/* number: never used twice, for mail's Message-ID. */
int envelope_make(Envelope *e, const ChannelConfig *channel, json_t *message, uint64_t number, Error *reterr);

/* mail.c: headers and text, ready for DATA. The caller frees; NULL: no memory. */
char *notify_mail(const ChannelConfig *channel, json_t *message, uint64_t number, size_t *ret_size);

/* "[CRITICAL] High Failure Rate: fired" */
char *notify_headline(json_t *message);
/* The alert's member as text; "" when it has none. */
const char *notify_get(json_t *message, const char *key);

