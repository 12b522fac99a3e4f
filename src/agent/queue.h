/* queue.h: the queue of agent executions.
 *
 * Tenants take turns. Within a tenant the order is by priority, then first come, first served. Entries that must not
 * begin yet are delayed, outside the order. A lane (tenant and profile) can be closed while its first execution waits
 * for a sandbox; other lanes pass it. The queue is in memory only, with a few words per execution; the store has the
 * rest.
 * Must not know: the loop, the store, sandboxes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "agent/job.h"

typedef struct Queue Queue;

typedef struct QueueEntry {
        char id[JOB_ID_LENGTH + 1];
        uint64_t serial;
        int priority;
        usec_t since;      /* monotonic: when it could have begun */
        usec_t not_before; /* monotonic; 0: at once */
        struct QueueLane *lane;
        struct QueueEntry *prev, *next;
        UT_hash_handle hh;
} QueueEntry;

int queue_new(Queue **ret);
Queue *queue_free(Queue *q);

/* tenant, profile: NULL is the same as "". */
int queue_add(Queue *q, const char *id, const char *tenant, const char *profile, uint64_t serial, int priority, usec_t since,
                usec_t not_before);
bool queue_remove(Queue *q, const char *id); /* false: it was not in the queue */
const QueueEntry *queue_find(const Queue *q, const char *id);

/* Removes the next entry; false: none can begin. */
bool queue_take(Queue *q, QueueEntry *ret);

/* Puts delayed entries that are due into the order. Returns the time of the next; USEC_INFINITY: none is delayed. */
usec_t queue_admit(Queue *q, usec_t now);

void queue_close(Queue *q, const char *tenant, const char *profile, bool closed);

size_t queue_size(const Queue *q);    /* delayed ones included */
size_t queue_delayed(const Queue *q);
size_t queue_size_of(const Queue *q, const char *tenant); /* delayed ones included */
/* The earliest `since` of those that are not delayed; USEC_INFINITY: none. tenant NULL: all. */
usec_t queue_oldest(const Queue *q, const char *tenant);
void queue_each(const Queue *q, const char *tenant, void (*each)(const QueueEntry *e, void *userdata), void *userdata); /* in no order */
