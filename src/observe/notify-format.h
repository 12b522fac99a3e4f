/* notify-format.h: a message in the format of each kind of channel.
 *
 * A message is {event, at, source, alert}, with the alert as the API shows it. Its texts are untrusted (names, texts of
 * sandboxes); each format escapes them for itself.
 * Must not know: sending, the store. */
#pragma once

#include "config/config.h"
#include "json/json.h"
#include "outbound/outbound.h"

#define ENVELOPE_HEADERS_MAX 16

typedef struct Envelope {
        OutboundSpec spec; /* points to the members below, and into the channel's configuration */
        Strv headers;
        char *body;
} Envelope;

#define ENVELOPE_INIT { .spec = OUTBOUND_SPEC(IP_REACH_ALL), .headers = STRV_INIT(ENVELOPE_HEADERS_MAX) }

void envelope_done(Envelope *e);
#define _cleanup_envelope_ _cleanup_(envelope_done)

/* number: unique; for the Message-ID of mail. */
int envelope_make(Envelope *e, const ChannelConfig *channel, json_t *message, uint64_t number, Error *reterr);

/* notify-mail.c: headers and text, ready for DATA. The caller frees; NULL: no memory. */
char *notify_mail(const ChannelConfig *channel, json_t *message, uint64_t number, size_t *ret_size);

/* "[CRITICAL] High Failure Rate: fired" */
char *notify_headline(json_t *message);
/* A member of the alert as text; "" if it has none of that name. */
const char *notify_get(json_t *message, const char *key);

