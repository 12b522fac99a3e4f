/* delivery.h: requests that are retried with growing pauses, a bounded number of times, and are visible in
 * the statistics meanwhile.
 *
 * A delivery is in memory only. Callers that need more (alerts, webhooks of agents) have their own rows in
 * the store and submit again after a start. 2xx is success. 408, 425, 429, 5xx and no response are retried
 * (Retry-After is honoured up to the longest pause), and so is mail that was refused temporarily (4xx). Any
 * other response is final.
 * Must not know: what is being delivered. */
#pragma once

#include "outbound/outbound.h"

typedef struct Deliveries Deliveries;

typedef struct DeliveryLimits {
        unsigned attempts_max;
        usec_t backoff_usec, backoff_max_usec; /* doubled each time, plus up to 10% of jitter */
        unsigned queue_max;                    /* waiting and under way; beyond, new ones get -EBUSY */
} DeliveryLimits;

typedef struct DeliveryStats {
        uint64_t pending, delivered, failed, retried, refused;
        char last_error[256]; /* "": none so far */
        usec_t last_error_at; /* wall clock */
} DeliveryStats;

int deliveries_new(sd_event *event, Outbound *o, Deliveries **ret, Error *reterr);
Deliveries *deliveries_free(Deliveries *d);

/* Called exactly once, never before delivery_add() has returned. r: 0 if delivered, else the last failure
 * (-EREMOTEIO: a response). attempts: the number of attempts. */
typedef void (*DeliveryDone)(int r, const char *text, unsigned attempts, void *userdata);

/* Copies the whole spec (no body_fd, no on_data). target: a short name for messages ("slack", "webhook"). */
int delivery_add(Deliveries *d, const char *target, const OutboundSpec *spec, const DeliveryLimits *limits, DeliveryDone done,
                void *userdata, Error *reterr);
void deliveries_stats(const Deliveries *d, DeliveryStats *ret);
