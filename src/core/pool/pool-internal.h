/* pool-internal.h: declarations shared by the files of the pool; private to them.
 *
 *      making → probing → idle → used → gone
 *         └────────┴───────┴──────────── gone   (ended: it failed, was evicted or given up, or its pool was removed)
 *
 * Every entry is one live sandbox, and watches it: the entry is removed when the sandbox begins to end. */
#pragma once

#include "core/internal.h"
#include "core/pool.h"

#define POOL_LATENCIES 512 /* of the last claims */
#define POOL_MINUTES   60

typedef enum PoolEntryState {
        ENTRY_MAKING,
        ENTRY_PROBING,
        ENTRY_IDLE,
        ENTRY_USED, /* claimed */
        _ENTRY_MAX,
} PoolEntryState;

typedef struct Pool Pool;

typedef struct PoolEntry {
        Pool *pool;
        Sandbox *sandbox;
        PoolEntryState state;
        usec_t born, idle_since, checked_at; /* monotonic */
        bool ending; /* the pool has ended it */
        unsigned warmed; /* bit n: context n of the pool is ready */
        bool warming;
        SandboxWatch watch;
        struct PoolEntry *prev, *next; /* of the same state, oldest first */
} PoolEntry;

typedef struct PoolMinute {
        uint64_t minute; /* monotonic */
        uint64_t hits, misses;
} PoolMinute;

struct Pool {
        Pools *pools;
        PoolConfig config;
        SandboxSpec shape; /* spec of its sandboxes; template_name NULL: there is none, last_error says why */
        PoolEntry *entries[_ENTRY_MAX];
        unsigned n[_ENTRY_MAX];
        sd_event_source *eviction;

        /* Recent demand; pool-size.c */
        double level, peak; /* claims beyond what could be made in the same time: now, and the maximum */
        usec_t level_at, peak_at, make_usec;
        unsigned failures; /* consecutive ones */
        usec_t blocked_until;

        PoolMinute minutes[POOL_MINUTES];
        uint32_t latencies[POOL_LATENCIES];
        uint64_t created, claimed, released, destroyed, failed, missed;
        char last_error[POOL_ERROR_MAX];
};

struct Pools {
        Manager *manager;
        Pool **list;
        size_t n;
        size_t next; /* index of the pool that gets the next new sandbox */
        bool started, stopping;
        sd_event_source *timer; /* checks whether sandboxes are missing */
        sd_event_source *idle;  /* makes them when the loop has nothing else to do */
        usec_t lacking_since;   /* 0: none are missing */
        usec_t asked_at;        /* time of the last claim */
};

/* pool.c */
bool pool_fits(const Pool *pool, const SandboxSpec *spec);

/* pool-entry.c: one sandbox from its creation to its end */
int pool_make(Pool *pool); /* makes one more */
int pool_adopt(Pool *pool, Sandbox *sb);
void pool_entry_move(PoolEntry *e, PoolEntryState state);
void pool_entry_forget(PoolEntry *e); /* the sandbox stays */
void pool_entry_end(PoolEntry *e, const char *reason);
void pool_end_unclaimed(Pool *pool, const char *reason);
void pool_check(Pool *pool); /* probes the idle ones */

/* pool-size.c: the target number of idle sandboxes */
void pool_asked(Pool *pool); /* counts a claim, successful or not */
unsigned pool_target(const Pool *pool);
void pool_made(Pool *pool, usec_t duration);
void pool_failed(Pool *pool, const char *text);
void pool_evict(Pool *pool);
void pool_refresh(Pool *pool); /* reads its template and settings again */
bool pool_entry_is_old(const PoolEntry *e);

/* pool-refill.c: makes missing sandboxes when the loop is idle */
int pools_refill_init(Pools *p);
void pools_refill(Pools *p); /* call it when sandboxes may be missing */
