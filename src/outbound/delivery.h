/* delivery.h: something that must get there: tried again with growing pauses, a bounded number of times, and visible meanwhile.
 *
 * A delivery is held in memory; whoever needs more (alerts, webhooks of agents) has its own row in the store and asks again after a
 * start. 2xx is delivered; 408, 425, 429, 5xx and no answer are tried again (Retry-After is obeyed up to the longest pause), mail
 * that was refused for now (4xx) too; any other answer is final.
 * Must not know: what is being delivered. */
#pragma once

#include "outbound/outbound.h"

typedef struct Deliveries Deliveries;

typedef struct DeliveryLimits {
        unsigned attempts_max;
        usec_t backoff_usec, backoff_max_usec; /* doubled each time, with a tenth of chance */
        unsigned queue_max;                    /* waiting and under way; beyond, the newest is refused with -EBUSY */
} DeliveryLimits;

typedef struct DeliveryStats {
        uint64_t pending, delivered, failed, retried, refused;
        char last_error[256]; /* "" : none so far */
        usec_t last_error_at; /* wall clock */
} DeliveryStats;

int deliveries_new(sd_event *event, Outbound *o, Deliveries **ret, Error *reterr);
Deliveries *deliveries_free(Deliveries *d);

/* Exactly once, never before the call that asked has returned. r: 0 delivered, else the last failure (-EREMOTEIO: an answer). attempts: how many were made. */
typedef void (*DeliveryDone)(int r, const char *text, unsigned attempts, void *userdata);

/* Copies the whole spec (no body_fd, no on_data). target: a short name for people ("slack", "webhook"). */
int delivery_add(Deliveries *d, const char *target, const OutboundSpec *spec, const DeliveryLimits *limits, DeliveryDone done,
                void *userdata, Error *reterr);
void deliveries_stats(const Deliveries *d, DeliveryStats *ret);
