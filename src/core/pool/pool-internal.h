/* pool-internal.h: what the files of the pool share among themselves. Nobody else includes it.
 *
 *      making → probing → idle → used → gone
 *         └────────┴───────┴──────────── gone   (ended: it failed, was evicted, given up, or its pool went)
 *
 * Every entry is one live sandbox, watched: it goes when its sandbox begins to end. */
#pragma once

#include "core/internal.h"
#include "core/pool.h"

#define POOL_LATENCIES 512 /* of the last claims */
#define POOL_MINUTES   60

typedef enum PoolEntryState {
        ENTRY_MAKING,
        ENTRY_PROBING,
        ENTRY_IDLE,
        ENTRY_USED, /* somebody's */
        _ENTRY_MAX,
} PoolEntryState;

typedef struct Pool Pool;

typedef struct PoolEntry {
        Pool *pool;
        Sandbox *sandbox;
        PoolEntryState state;
        usec_t born, idle_since, checked_at; /* monotonic */
        bool ending; /* we have asked for it */
        unsigned warmed; /* bit n: of the pool's contexts */
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
        SandboxSpec shape; /* what its sandboxes are made as; template_name NULL: it cannot be told, last_error says why */
        PoolEntry *entries[_ENTRY_MAX];
        unsigned n[_ENTRY_MAX];
        sd_event_source *eviction;

        /* What was asked for lately; pool-size.c */
        double level, peak; /* more than could be made in the same time: now, and at most */
        usec_t level_at, peak_at, make_usec;
        unsigned failures; /* one after the other */
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
        size_t next; /* whose turn it is to get one */
        bool started, stopping;
        sd_event_source *timer; /* to look whether something is to be made */
        sd_event_source *idle;  /* to make it, when the loop has nothing else to do */
        usec_t lacking_since;   /* 0: nothing lacks */
        usec_t asked_at;        /* the last claim */
};

/* pool.c */
bool pool_fits(const Pool *pool, const SandboxSpec *spec);

/* pool-entry.c: one sandbox from its making to its end */
int pool_make(Pool *pool); /* one more */
int pool_adopt(Pool *pool, Sandbox *sb);
void pool_entry_move(PoolEntry *e, PoolEntryState state);
void pool_entry_forget(PoolEntry *e); /* the sandbox stays */
void pool_entry_end(PoolEntry *e, const char *reason);
void pool_end_unclaimed(Pool *pool, const char *reason);
void pool_check(Pool *pool); /* whether those that stand ready are well */

/* pool-size.c: how many there shall be */
void pool_asked(Pool *pool); /* a claim, whether it found one or not */
unsigned pool_target(const Pool *pool);
void pool_made(Pool *pool, usec_t duration);
void pool_failed(Pool *pool, const char *text);
void pool_evict(Pool *pool);
void pool_refresh(Pool *pool); /* looks what its template and settings are now */
bool pool_entry_is_old(const PoolEntry *e);

/* pool-refill.c: making what lacks, when nobody waits */
int pools_refill_init(Pools *p);
void pools_refill(Pools *p); /* something may lack */
