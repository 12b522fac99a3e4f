/* queue.h: which agent execution is next.
 *
 * Tenants in turn; within a tenant by priority, and first come first served among equals. What shall not begin yet waits aside. A lane
 * (tenant and profile) can be closed while its head waits for a sandbox of its own: others pass. In memory only, a few words per
 * execution; the store has the rest.
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

/* tenant, profile: NULL is "". */
int queue_add(Queue *q, const char *id, const char *tenant, const char *profile, uint64_t serial, int priority, usec_t since,
                usec_t not_before);
bool queue_remove(Queue *q, const char *id); /* false: it was not there */
const QueueEntry *queue_find(const Queue *q, const char *id);

/* Takes the next one out; false: nobody can begin. */
bool queue_take(Queue *q, QueueEntry *ret);

/* Those whose time has come are let in. Returns when the next one's does; USEC_INFINITY: there is none. */
usec_t queue_admit(Queue *q, usec_t now);

void queue_close(Queue *q, const char *tenant, const char *profile, bool closed);

size_t queue_size(const Queue *q);    /* all, those aside included */
size_t queue_delayed(const Queue *q); /* those aside */
size_t queue_size_of(const Queue *q, const char *tenant);
usec_t queue_oldest(const Queue *q, const char *tenant); /* the earliest `since` of those that could begin; USEC_INFINITY: none. tenant NULL: all */
void queue_each(const Queue *q, const char *tenant, void (*each)(const QueueEntry *e, void *userdata), void *userdata); /* in no order */
